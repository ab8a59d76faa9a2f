//! `whenstop ci diff`: shows what changed between two snapshots, two stack files, two corpora, or a snapshot and now. It
//! makes no judgement.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::inputs::GateInputs;
use super::replayed::{Replayed, replayed};
use super::reports::pretty;
use super::{read_snapshot, told};
use crate::aggregate::Rows;
use crate::cli::ProgramExit;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{READING, ReadingArgs, StackArgs};
use crate::cli::output::Output;
use crate::cli::values::{shell_path, shell_word};
use crate::review::{self, ChangeReview, CheckResult};
use crate::snapshot::StopSnapshot;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    whenstop ci diff old.snap new.snap                   # two snapshots\n  \
    whenstop ci diff old.toml new.toml --on runs         # two stack files, on the same recordings\n  \
    whenstop ci diff runs-may runs-june --stacks my.toml # two corpora, under the same stacks\n  \
    whenstop ci diff                                     # the snapshot against now, as whenstop.toml says\n  \
    whenstop ci diff runs --stacks my.toml --snapshot stops.snap")]
pub(in crate::cli) struct DiffArgs {
    /// OLD and NEW: two snapshots, two stack files (`.toml`), or two corpora. Or recordings to compare with
    /// `--snapshot`.
    #[arg(value_name = "OLD NEW|PATH")]
    paths: Vec<PathBuf>,
    /// The recordings on which two stack files are compared; by default those of the project file. Repeatable.
    #[arg(long, value_name = "PATH")]
    on: Vec<PathBuf>,
    /// A stack file, or `preset:NAME`, `preset:all`, `system:NAME`, `system:all`. Repeatable.
    #[arg(long, value_name = "FILE|preset:NAME|system:NAME")]
    stacks: Vec<String>,
    /// The snapshot file to compare with the recordings as they are now.
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// The project file; by default `whenstop.toml`, if recordings or stacks are not given.
    #[arg(long, value_name = "FILE")]
    project: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: DiffFormat,
    /// Print every changed run, not only those that matter most.
    #[arg(long)]
    all: bool,
    #[command(flatten, next_help_heading = READING)]
    reading: ReadingArgs,
}

/// Output formats of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// For people, at a terminal.
    #[default]
    Text,
    /// Markdown.
    Md,
    /// One JSON document (`whenstop schema check`).
    Json,
}

/// What kind of input a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputKind {
    Snapshot,
    Stacks,
    Corpus,
}

impl InputKind {
    fn from_path(path: &Path) -> Self {
        let name = path.to_string_lossy();
        if name.starts_with("preset:") || name.starts_with("system:") {
            return Self::Stacks;
        }
        match path.extension() {
            _ if is_snapshot(path) => Self::Snapshot,
            Some(extension) if extension == "toml" => Self::Stacks,
            _ => Self::Corpus,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "a snapshot",
            Self::Stacks => "a stack file",
            Self::Corpus => "a corpus",
        }
    }
}

/// True if the file begins as a snapshot does. Only its beginning is read: a corpus may be large.
fn is_snapshot(path: &Path) -> bool {
    let mut start = [0; 64];
    let Ok(mut file) = std::fs::File::open(path) else { return false };
    let Ok(n) = std::io::Read::read(&mut file, &mut start) else { return false };
    std::str::from_utf8(&start[..n]).is_ok_and(StopSnapshot::is_one)
}

/// `whenstop ci diff`.
pub(in crate::cli) fn diff(args: &DiffArgs, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let (review, snapshot) = match (&args.snapshot, &args.paths[..]) {
        (None, [old, new]) => (between(args, old, new, output)?, None),
        _ => against_snapshot(args, output)?,
    };
    let checked = CheckResult { snapshot, review: Some(review), ..CheckResult::default() };
    match (args.format, &checked.review) {
        (DiffFormat::Text, Some(review)) => told::changes(review, args.all, output)?,
        (DiffFormat::Text, None) => {}
        (DiffFormat::Md, _) => output.bytes(review::markdown(&checked, false).as_bytes()),
        (DiffFormat::Json, _) => output.bytes(pretty(&review::check_json(&checked, false)).as_bytes()),
    }
    Ok(ProgramExit::Done)
}

fn against_snapshot(args: &DiffArgs, output: &Output) -> Result<(ChangeReview, Option<String>), CommandFailure> {
    let inputs = inputs(args, args.paths.clone(), args.stacks.clone()).resolve(output)?;
    let path = inputs.snapshot()?;
    let before = read_snapshot(path)?;
    let now = replayed(&inputs.corpus, &inputs.stacks.load()?, &[], Some(&before), None, output)?;
    Ok((ChangeReview::between(&before, &now.snapshot, now.words), Some(path.display().to_string())))
}

/// What changed from `old` to `new`.
fn between(args: &DiffArgs, old: &Path, new: &Path, output: &Output) -> Result<ChangeReview, CommandFailure> {
    let pass =
        |paths: Vec<PathBuf>, stacks: Vec<String>, before: Option<&StopSnapshot>| -> Result<Replayed, CommandFailure> {
            let inputs = inputs(args, paths, stacks).resolve(output)?;
            replayed(&inputs.corpus, &inputs.stacks.load()?, &[], before, None, output)
        };
    let stacks = |path: &Path| vec![path.display().to_string()];
    match (InputKind::from_path(old), InputKind::from_path(new)) {
        (InputKind::Snapshot, InputKind::Snapshot) => {
            Ok(ChangeReview::between(&read_snapshot(old)?, &read_snapshot(new)?, BTreeMap::new()))
        }
        (InputKind::Snapshot, InputKind::Stacks) => {
            let before = read_snapshot(old)?;
            let now = pass(args.on.clone(), stacks(new), Some(&before))?;
            Ok(ChangeReview::between(&before, &now.snapshot, now.words))
        }
        (InputKind::Stacks, InputKind::Stacks) => {
            let before = pass(args.on.clone(), stacks(old), None)?.snapshot;
            let now = pass(args.on.clone(), stacks(new), Some(&before))?;
            Ok(ChangeReview::between(&before, &now.snapshot, now.words))
        }
        (InputKind::Corpus, InputKind::Corpus) => {
            let before = pass(vec![old.to_owned()], args.stacks.clone(), None)?;
            let now = pass(vec![new.to_owned()], args.stacks.clone(), Some(&before.snapshot))?;
            if let Some(tasks) = shared_tasks(&before.evidence.rows, &now.evidence.rows) {
                let stacks = match args.stacks.first() {
                    Some(stacks) => shell_word(stacks),
                    None => "FILE".into(),
                };
                output.note(&format!(
                    "{tasks} tasks are in both recordings: if a stack was in force in the second, `whenstop compare {} \
                     --stacks {stacks} --against {}` says whether it did what was predicted",
                    shell_path(old),
                    shell_path(new),
                ));
            }
            Ok(ChangeReview::between(&before.snapshot, &now.snapshot, now.words))
        }
        (old, new) => Err(CommandFailure::arguments(
            format!("{} cannot be held against {}", old.name(), new.name()),
            "give two snapshots, two stack files or two corpora; or `diff PATH --stacks FILE --snapshot FILE`",
        )),
    }
}

/// The number of tasks in both, if these are four fifths of either; `None` if they are fewer or a run names no task.
fn shared_tasks(before: &Rows, now: &Rows) -> Option<usize> {
    let tasks = |rows: &Rows| -> Option<BTreeSet<String>> {
        rows.iter().map(|row| row.task_id().map(ToString::to_string)).collect()
    };
    let (before, now) = (tasks(before)?, tasks(now)?);
    let shared = before.intersection(&now).count();
    let is_same = shared > 0 && 5 * shared >= 4 * before.len().max(now.len());
    if is_same { Some(shared) } else { None }
}

fn inputs(args: &DiffArgs, paths: Vec<PathBuf>, stacks: Vec<String>) -> GateInputs {
    GateInputs {
        paths,
        stacks: StackArgs::named(stacks),
        allow_commands: false,
        snapshot: args.snapshot.clone(),
        project: args.project.clone(),
        unit: None,
        reading: args.reading.clone(),
    }
}
