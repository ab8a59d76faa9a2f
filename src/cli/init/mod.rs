//! `whenstop ci init`: reads recordings and writes what a team needs to check them: a project file, stacks, a snapshot,
//! and a workflow.

mod files;

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::ProgramExit;
use super::failure::CommandFailure;
use super::gate::{is_ci, replayed};
use super::inputs::{CorpusArgs, LoadedStacks, READING, ReadingArgs, StackArgs, UnitOfRun, starter};
use super::output::Output;
use super::values::share;
use crate::answers::{Tolerances, words};
use crate::diagnostic::{Diagnostic, Location};
use crate::project;
use crate::reader::{LARGEST_WHOLE, read_whole_text};
use crate::report::{Manifest, Publication, write_text};
use files::InitInputs;

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    whenstop ci init runs                                # then `whenstop ci check` alone does it all\n  \
    whenstop ci init runs --stacks my.toml --ci gitlab\n  \
    whenstop ci init runs --labels labels.csv --max-killed 0.02\n\n\
    It writes whenstop.toml, stacks.toml (without `--stacks`), whenstop.snap and a workflow file, and no file that is there.")]
pub(super) struct Args {
    /// Files and folders of recordings, in whatever format they have.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// A stack file, or `preset:NAME`, `system:NAME`; by default a starter file of four stacks is written. Repeatable.
    #[arg(long, value_name = "FILE|preset:NAME|system:NAME")]
    stacks: Vec<String>,
    /// The CI system to write a file for; by default the one in use here, or both if none is. Repeatable.
    #[arg(long, value_enum)]
    ci: Vec<Ci>,
    /// The share of successes a stack may kill, compared with the upper end of its interval.
    #[arg(long, value_name = "RATE", default_value_t = Tolerances::DEFAULT_MAX_KILLED, value_parser = share)]
    max_killed: f64,
    /// The command with which CI installs whenstop, which is in no registry; by default from a wheel in the repository.
    #[arg(long, value_name = "COMMAND", default_value = INSTALL, value_parser = one_line)]
    install: String,
    /// On GitHub, use this copy of whenstop's own action instead: OWNER/REPOSITORY@VERSION.
    #[arg(long, value_name = "ACTION", value_parser = one_line, conflicts_with = "install")]
    action: Option<String>,
    /// Overwrite existing files.
    #[arg(long, hide_short_help = true)]
    force: bool,
    #[command(flatten, next_help_heading = READING)]
    reading: ReadingArgs,
}

/// How CI installs whenstop by default: the wheel of this version, which carries the program.
const INSTALL: &str = concat!("pip install .whenstop/whenstop-", env!("CARGO_PKG_VERSION"), "-*.whl");

/// A CI system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Ci {
    /// `.github/workflows/whenstop.yml`.
    Github,
    /// `.gitlab-ci.yml`, or a file to include in it.
    Gitlab,
    /// None.
    None,
}

impl Ci {
    /// The systems in use in this folder; both if none is.
    fn in_use() -> Vec<Self> {
        let gitlab = Path::new(".gitlab-ci.yml").exists();
        let github = Path::new(".github").exists();
        match (github, gitlab) {
            (true, false) => vec![Self::Github],
            (false, true) => vec![Self::Gitlab],
            _ => vec![Self::Github, Self::Gitlab],
        }
    }
}

/// Checks a word or command that is inserted into one line of a workflow.
fn one_line(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err("write it in one line".to_owned());
    }
    Ok(text.trim().to_owned())
}

/// `whenstop ci init`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    if is_ci() {
        let help = "run it on your own machine, review what it wrote, and commit it";
        return Err(CommandFailure::arguments("nothing is set up under CI", help));
    }
    let project = Path::new(project::FILE);
    if project.exists() && !args.force {
        let help = "edit it, or write it anew with `--force`; `whenstop ci accept` writes the snapshot";
        return Err(CommandFailure::file(project, "there is a project file already", help));
    }
    let corpus = CorpusArgs { paths: args.paths.clone(), reading: args.reading.clone(), unit: UnitOfRun::Run };
    let (stacks, starter) = stacks(args, &corpus)?;
    let replay = |loaded: LoadedStacks| replayed(&corpus, &loaded, &[], None, None, output);
    let replayed = stacks.load().and_then(replay).inspect_err(|_| {
        // Leaves no files behind if nothing could be set up.
        if let Some((path, _)) = &starter {
            let _ = std::fs::remove_file(path);
        }
    })?;
    let appetite = Tolerances { max_killed: args.max_killed, ..Tolerances::default() };
    let publication = Publication::new(replayed.evidence, Manifest { appetite, ..replayed.manifest });
    let first = publication.first();
    let found = InitInputs {
        args,
        headline: publication.headline_words(),
        stacks: &stacks.stacks,
        is_starter: starter.is_some(),
        summaries: publication.summaries(),
        ungraded: first.is_ungraded(),
    };

    let mut written = Vec::new();
    written.push((project.to_owned(), found.project_file()));
    if let Some((path, text)) = starter {
        written.push((path, text));
    }
    written.push((PathBuf::from(files::SNAPSHOT), replayed.snapshot.to_text()));
    let systems = if args.ci.is_empty() { Ci::in_use() } else { args.ci.clone() };
    for ci in systems {
        match ci {
            Ci::Github => {
                let text = files::github(&args.install, args.action.as_deref());
                written.push((PathBuf::from(".github/workflows/whenstop.yml"), text));
            }
            Ci::Gitlab => written.push((gitlab_file(), files::gitlab(&args.install))),
            Ci::None => {}
        }
    }
    output.paragraph(&found.headline);
    output.paragraph(&words::verdict(&first.verdict()));
    output.data("\n");
    for (path, text) in &written {
        write(path, text, args.force, output)?;
    }
    output.data("\n");
    if args.action.is_none() && args.install == INSTALL {
        output.paragraph(
            "CI installs whenstop from a wheel: put the one of this version into .whenstop/ (`maturin build --release` in \
             python/ of a checkout makes it), or write another way with `--install COMMAND`.",
        );
        output.data("\n");
    }
    tell_next_steps(&found, output);
    Ok(ProgramExit::Done)
}

/// The requested stacks, or by default the starter stacks with the file to write them to. An existing file is used as
/// it is.
fn stacks(args: &Args, corpus: &CorpusArgs) -> Result<(StackArgs, Option<(PathBuf, String)>), CommandFailure> {
    if !args.stacks.is_empty() {
        return Ok((StackArgs::named(args.stacks.clone()), None));
    }
    let path = PathBuf::from(files::STACKS);
    let named = StackArgs::named(vec![files::STACKS.to_owned()]);
    if path.exists() {
        return Ok((named, None));
    }
    // The file must exist to be replayed, and is kept.
    let text = starter(&corpus.runs())?;
    write_text(&path, &text).map_err(CommandFailure::input)?;
    Ok((named, Some((path, text))))
}

/// The GitLab file, or a separate file to include if there already is one.
fn gitlab_file() -> PathBuf {
    let main = PathBuf::from(".gitlab-ci.yml");
    if main.exists() { PathBuf::from(".gitlab/whenstop.gitlab-ci.yml") } else { main }
}

/// Writes a file that does not exist, or any file with `force`; reports which.
fn write(path: &Path, text: &str, force: bool, output: &Output) -> Result<(), CommandFailure> {
    let name = path.display();
    let is_there = read_whole_text(path, LARGEST_WHOLE);
    match is_there {
        Ok(there) if there == text => output.data(&format!("written  {name}\n")),
        Ok(_) if !force => output.data(&format!("kept     {name}, which was there (`--force` writes over it)\n")),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound && !force => {
            output.data(&format!("kept     {name}, which is there and cannot be read\n"));
        }
        _ => {
            write_text(path, text).map_err(CommandFailure::input)?;
            output.data(&format!("written  {name}\n"));
        }
    }
    Ok(())
}

fn tell_next_steps(found: &InitInputs<'_>, output: &Output) {
    for path in found.outside() {
        output.warning(&Diagnostic::new(
            Location::file(path),
            "these recordings are outside of this folder: CI will not find them",
            "copy them here (`whenstop convert PATH --redact --out runs.jsonl` takes the texts out), or fetch them in the workflow",
        ));
    }
    if Path::new(".gitlab/whenstop.gitlab-ci.yml").exists() {
        output.paragraph("include it in .gitlab-ci.yml: `include: [{ local: .gitlab/whenstop.gitlab-ci.yml }]`");
    }
    output.paragraph(
        "next: `whenstop ci check`, which passes now; commit these files; change a limit in the stacks and check again; \
         `whenstop ci review` takes the change over",
    );
}
