//! Which recordings, stacks and snapshot to use: from the arguments, else from the project file.

use std::path::{Component, Path, PathBuf};

use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{CorpusArgs, READING, ReadingArgs, StackArgs, UnitOfRun, load_stack_file, read_text, unit};
use crate::cli::output::Output;
use crate::diagnostic::{Diagnostic, Location};
use crate::project::{self, ProjectSettings};

/// Inputs of a gate command. Missing ones come from `whenstop.toml`.
#[derive(Debug, clap::Args)]
pub(super) struct GateInputs {
    /// Files and folders of recordings; by default those of the project file.
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) stacks: StackArgs,
    /// Start the guards of stack files that the project file names. Look at them first if it comes from elsewhere.
    #[arg(long, hide_short_help = true)]
    pub(super) allow_commands: bool,
    /// The snapshot file.
    #[arg(long, value_name = "FILE")]
    pub(super) snapshot: Option<PathBuf>,
    /// The project file; by default `whenstop.toml`, if recordings or stacks are not given.
    #[arg(long, value_name = "FILE")]
    pub(super) project: Option<PathBuf>,
    /// What counts as a run: the whole recording (the default), or each round of it, from a prompt to the next.
    #[arg(long, value_parser = unit())]
    pub(super) unit: Option<UnitOfRun>,
    #[command(flatten, next_help_heading = READING)]
    pub(super) reading: ReadingArgs,
}

/// The inputs with all gaps filled.
pub(super) struct Inputs {
    pub(super) corpus: CorpusArgs,
    pub(super) stacks: StackArgs,
    pub(super) snapshot: Option<PathBuf>,
    pub(super) project: ProjectSettings,
}

impl GateInputs {
    /// Reads the project file if something is missing, or if it is requested.
    pub(super) fn resolve(&self, output: &Output) -> Result<Inputs, CommandFailure> {
        let project = self.read_project(output)?.unwrap_or_default();
        let paths = or(&self.paths, &project.recordings);
        let stacks = or(&self.stacks.stacks, &project.stacks);
        let no_stack = stacks.is_empty() && self.stacks.guards.guard.is_empty();
        let missing = match (paths.is_empty(), no_stack) {
            (false, false) => None,
            (true, _) => Some("no recordings are named"),
            (_, true) => Some("no stack is named"),
        };
        if let Some(what) = missing {
            let from = project.path.display().to_string();
            let (what, help) = if from.is_empty() {
                let help = "give PATH and `--stacks FILE`, or let `whenstop ci init PATH` write a project file once";
                (format!("{what}, and there is no `{}` here", project::FILE), help)
            } else {
                (what.to_owned(), "add `recordings = [\"PATH\"]` and `stacks = [\"FILE\"]`")
            };
            return Err(CommandFailure::usage(Diagnostic::new(Location::file(from), what, help)));
        }
        let mut guards = self.stacks.guards.clone();
        if self.stacks.stacks.is_empty() {
            refuse_quietly(&stacks, &project.path)?;
            guards.refused_by = Some(project.path.clone()).filter(|_| !self.allow_commands);
        }
        Ok(Inputs {
            corpus: CorpusArgs {
                paths,
                reading: self.reading_with(&project),
                unit: self.unit.or(project.unit).unwrap_or_default(),
            },
            stacks: StackArgs { stacks, guards },
            snapshot: self.snapshot.clone().or(project.snapshot.clone()),
            project,
        })
    }

    fn read_project(&self, output: &Output) -> Result<Option<ProjectSettings>, CommandFailure> {
        let path = match &self.project {
            Some(path) => path.clone(),
            None if !self.paths.is_empty() && !self.stacks.stacks.is_empty() => return Ok(None),
            None if !Path::new(project::FILE).exists() => return Ok(None),
            None => PathBuf::from(project::FILE),
        };
        let text = read_text(&path, "`whenstop ci init PATH` writes one").map_err(CommandFailure::usage)?;
        let project = ProjectSettings::parse(&path, &text).map_err(CommandFailure::usage)?;
        refuse_outside(&project).map_err(CommandFailure::usage)?;
        output.note(&format!("as {} says", path.display()));
        Ok(Some(project))
    }

    /// The reading options: arguments override the project file.
    fn reading_with(&self, project: &ProjectSettings) -> ReadingArgs {
        let (given, file) = (&self.reading, &project.reading);
        ReadingArgs {
            as_format: given.as_format.clone().or(file.as_format.clone()),
            labels: or(&given.labels, &file.labels),
            success_at: given.success_at.or(file.success_at),
            outcome: given.outcome.clone().or(file.outcome.clone()),
            price: given.price.clone().or(file.price.clone()),
            free_model: or(&given.free_model, &file.free_models),
            task: given.task.clone().or(file.task.clone()),
            model: given.model.clone().or(file.model.clone()),
            map: given.map.clone().or(file.map.clone()),
            label_columns: given.label_columns.clone().or(file.label_columns.clone()),
            run_id: given.run_id.clone().or(file.run.clone()),
            ..given.clone()
        }
    }
}

/// What the arguments give, else what the project file says.
fn or<T: Clone>(given: &[T], in_file: &[T]) -> Vec<T> {
    if given.is_empty() { in_file.to_vec() } else { given.to_vec() }
}

/// Refuses stack files outside the project's folder that cannot be read as such, without their lines: a project file
/// may be somebody else's, and the message may end in a public log.
fn refuse_quietly(stacks: &[String], project: &Path) -> Result<(), CommandFailure> {
    let project = project.canonicalize().unwrap_or_default();
    let folder = project.parent().unwrap_or(Path::new(""));
    let is_outside = |path: &Path| path.canonicalize().is_ok_and(|path| !path.starts_with(folder));
    let files = stacks.iter().filter(|named| !named.starts_with("preset:") && !named.starts_with("system:"));
    for path in files.map(Path::new).filter(|path| is_outside(path)) {
        if load_stack_file(path).is_err() {
            let help = "it is outside the project's folder, so its text is not shown: `whenstop rules lint FILE` does";
            return Err(CommandFailure::file(path, "not a stack file", help));
        }
    }
    Ok(())
}

/// Refuses a file or folder outside the project's own that a command would write because the project file says so: the
/// file may be somebody else's.
fn refuse_outside(project: &ProjectSettings) -> Result<(), Diagnostic> {
    let named = project.reports.iter().map(|(format, path)| (format!("reports.{format}"), path));
    let page = project.page.iter().map(|path| ("page".to_owned(), path));
    let snapshot = project.snapshot.iter().map(|path| ("snapshot".to_owned(), path));
    let folder = project.path.parent().unwrap_or(Path::new(""));
    for (key, path) in named.chain(page).chain(snapshot) {
        if path.as_os_str() != "-" && !is_inside(path, folder) {
            let what = format!("`{key}` leads out of the project's folder: `{}`", path.display());
            let help = "name a file below the project file, or give the place as an argument";
            return Err(Diagnostic::new(Location::file(project.path.display().to_string()), what, help));
        }
    }
    Ok(())
}

/// Whether the path stays in the folder, with its links followed, and out of what git keeps there.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| if path.as_os_str().is_empty() { Path::new(".") } else { path }.canonicalize();
    let Ok(folder) = real(folder) else { return false };
    // What is not there yet is made in the nearest folder that is.
    let Some(there) = path.ancestors().find_map(|above| real(above).ok()) else { return false };
    let is_plain = path.components().all(|part| part != Component::ParentDir && part.as_os_str() != ".git");
    is_plain && there.starts_with(folder)
}

impl Inputs {
    /// The snapshot file, or an error that says how to name one.
    pub(super) fn snapshot(&self) -> Result<&Path, CommandFailure> {
        self.snapshot.as_deref().ok_or_else(|| {
            let help = "give `--snapshot FILE`, or `snapshot = \"FILE\"` in the project file";
            CommandFailure::arguments("no snapshot file is named", help)
        })
    }
}
