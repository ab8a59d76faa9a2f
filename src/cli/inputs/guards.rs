//! Guards: rules of the user's own in other programs, named on the command line or in a stack file.

use std::fmt;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use sha2::{Digest as _, Sha256};

use crate::catalog::Strategies;
use crate::cli::ProgramExit;
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::decision::{Program, Strategy, Trouble};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::guard::{EventWriter, Guard, GuardFailure};
use crate::reader::{add_input, trace};
use crate::stack::{GuardCommand, Guards};

/// Guards, and who may start them.
#[derive(Clone, Debug, Default, Args)]
pub(in crate::cli) struct GuardArgs {
    /// A rule of your own, in any language: a name, and the command of a program that is asked at every point
    /// (`rules new` writes one). Repeatable.
    ///
    /// Quotes group words; there is no shell.
    #[arg(long, value_name = "NAME=COMMAND", value_parser = named)]
    pub(in crate::cli) guard: Vec<GuardCommand>,
    /// Guards of a program that embeds whenstop.
    #[arg(skip)]
    pub(in crate::cli) embedded: Embedded,
    /// The project file that names the stack files, if its guards must not be started.
    #[arg(skip)]
    pub(in crate::cli) refused_by: Option<PathBuf>,
}

/// Strategies that were not loaded from a file.
#[derive(Clone, Default)]
pub(in crate::cli) struct Embedded(pub(in crate::cli) Strategies);

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|strategy| strategy.name())).finish()
    }
}

fn named(text: &str) -> Result<GuardCommand, String> {
    let (name, command) = text
        .split_once('=')
        .filter(|(name, _)| !name.trim().is_empty())
        .ok_or_else(|| "give a name and a command, such as `mine='python3 my_guard.py'`".to_owned())?;
    let command = split(command)?;
    Ok(GuardCommand { name: name.trim().to_owned(), command, ..GuardCommand::default() })
}

/// The words of a command, with quotes as a shell has them.
pub(in crate::cli) fn split(command: &str) -> Result<Vec<String>, String> {
    match shlex::split(command) {
        Some(words) if words.is_empty() => Err("the command is empty".to_owned()),
        Some(words) => Ok(words),
        None => Err(format!("a quote is not closed in `{command}`")),
    }
}

impl GuardArgs {
    /// Whether no guard is named.
    pub(in crate::cli) fn is_empty(&self) -> bool {
        self.guard.is_empty() && self.embedded.0.is_empty()
    }

    /// The guards named on the command line and those of an embedding program.
    pub(in crate::cli) fn load(&self) -> Result<Vec<Arc<dyn Strategy>>, Diagnostic> {
        let mut all: Strategies = Vec::new();
        for guard in &self.guard {
            all.push(started(guard, None)?);
        }
        all.extend(self.embedded.0.iter().cloned());
        Ok(all)
    }

    /// The same, where only numbers are of use: those that rules read.
    pub(in crate::cli) fn numbers(&self) -> Result<Guards, CommandFailure> {
        let mut guards = Guards::default();
        for guard in self.load().map_err(CommandFailure::usage)? {
            if guard.number().is_none() {
                let what =
                    format!("the guard `{}` decides, and answers with no number to find a limit for", guard.name());
                let help =
                    "let its handshake say `\"answers\": [\"reading\"]`; `whenstop compare` shows what it decides";
                return Err(CommandFailure::arguments(what, help));
            }
            guards.add(&guard);
        }
        Ok(guards)
    }

    /// Starts a guard of the stack file at `path`.
    pub(in crate::cli) fn start(&self, guard: &GuardCommand, path: &Path) -> Result<Arc<dyn Strategy>, Diagnostic> {
        if let Some(project) = &self.refused_by {
            let what = format!("a guard that would start `{}`", guard.command.join(" "));
            let help = format!(
                "{} names this file, and may come from elsewhere: look at both, then add `--allow-commands`",
                project.display()
            );
            return Err(guard.places.at_name("command", what, help));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        started(guard, folder).map(|guard| guard as Arc<dyn Strategy>)
    }
}

/// Starts a guard, with relative paths relative to `folder`. Only a program that cannot be run at all is an error.
pub(in crate::cli) fn started(guard: &GuardCommand, folder: Option<&Path>) -> Result<Arc<Guard>, Diagnostic> {
    let time_limit = guard.time_limit.unwrap_or(GuardCommand::TIME_LIMIT);
    let program = Program { command: guard.command.clone(), version: None, files: files(&guard.command, folder) };
    let open = opener(guard.command.clone(), folder.map(Path::to_owned), time_limit);
    let strategy = Guard::new(&guard.name, program, open, WRITE_EVENT);
    match strategy.broken() {
        Some(failure @ GuardFailure::NotStarted(_)) => {
            let what = format!("guard `{}` {failure}", guard.name);
            Err(guard.places.at_name("command", what, failure.help()))
        }
        _ => Ok(Arc::new(strategy)),
    }
}

/// Events as in `whenstop trace v1`.
pub(in crate::cli) const WRITE_EVENT: EventWriter = |event, to| trace::write_event(event, to);

#[cfg(unix)]
fn opener(command: Vec<String>, folder: Option<PathBuf>, time_limit: u32) -> Box<crate::guard::Opener> {
    let launch = crate::guard::process::Launch { command, folder, time_limit };
    Box::new(move || launch.start())
}

#[cfg(not(unix))]
fn opener(command: Vec<String>, _: Option<PathBuf>, _: u32) -> Box<crate::guard::Opener> {
    let why = format!("{}: commands need Linux or macOS; in Python, pass a function instead", command.join(" "));
    Box::new(move || Err(GuardFailure::NotStarted(why.clone())))
}

/// The files that a command names, with their SHA-256.
fn files(command: &[String], folder: Option<&Path>) -> Vec<(String, String)> {
    let of_word = |word: &String| {
        let path = folder.unwrap_or(Path::new("")).join(word);
        add_input(&path);
        if !path.is_file() {
            return None;
        }
        let bytes = std::fs::read(&path).ok()?;
        let hash = Sha256::digest(&bytes).iter().fold(String::new(), |mut hash, byte| {
            let _ = write!(hash, "{byte:02x}");
            hash
        });
        Some((word.clone(), hash))
    };
    command.iter().filter_map(of_word).collect()
}

/// Reports what went wrong with guards, and returns how many kinds of failure there were.
///
/// # Errors
/// If one of them was given up, since what it says of the other runs would depend on the order in which it was asked; and
/// for every failure if `strict`.
pub(in crate::cli) fn tell_troubles(
    strategies: &[Arc<dyn Strategy>],
    strict: bool,
    output: &Output,
) -> Result<usize, CommandFailure> {
    let (mut n, mut fatal) = (0, Vec::new());
    // Several stacks may read the number of one guard.
    let mut told: Vec<Trouble> = Vec::new();
    for trouble in strategies.iter().flat_map(|strategy| strategy.troubles()) {
        if told.contains(&trouble) {
            continue;
        }
        told.push(trouble.clone());
        n += 1;
        let diagnostic = Diagnostic::new(Location::default(), &trouble.what, &trouble.help);
        if trouble.gave_up || strict {
            fatal.push(diagnostic);
        } else {
            output.error(&diagnostic);
        }
    }
    match Diagnostics::from_list(fatal) {
        None => Ok(n),
        Some(diagnostics) => Err(CommandFailure { diagnostics, exit: ProgramExit::BadInput }),
    }
}
