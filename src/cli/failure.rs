//! Errors that end a command: a message and an exit code.

use std::path::Path;

use super::ProgramExit;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::reader::ReadError;

/// An error that ends the command.
#[derive(Debug)]
pub(super) struct CommandFailure {
    /// The messages to print.
    pub(super) diagnostics: Diagnostics,
    /// The exit code.
    pub(super) exit: ProgramExit,
}

impl CommandFailure {
    /// Wrong arguments or a wrong stack file.
    pub(super) fn usage(diagnostics: impl Into<Diagnostics>) -> Self {
        Self { diagnostics: diagnostics.into(), exit: ProgramExit::Usage }
    }

    /// Arguments that cannot be followed, and what to write instead.
    pub(super) fn arguments(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::usage(Diagnostic::new(Location::default(), what, help))
    }

    /// A file or folder that an argument names and that cannot be used so.
    pub(super) fn file(path: &Path, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::usage(Diagnostic::new(Location::file(path.display().to_string()), what, help))
    }

    /// Recordings, labels or rows that cannot be read, or a file that cannot be written.
    pub(super) fn input(diagnostics: impl Into<Diagnostics>) -> Self {
        Self { diagnostics: diagnostics.into(), exit: ProgramExit::BadInput }
    }

    /// Recordings, taken together, that what is asked cannot be answered from.
    pub(super) fn recordings(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::input(Diagnostic::new(Location::default(), what, help))
    }

    /// Nothing matched the request.
    pub(super) fn nothing(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { diagnostics: Diagnostic::new(Location::default(), what, help).into(), exit: ProgramExit::NothingMatched }
    }

    /// A defect of whenstop itself.
    pub(super) fn internal(what: &dyn std::fmt::Display) -> Self {
        let help = "this is a defect of whenstop: please report it with the command";
        Self {
            diagnostics: Diagnostic::new(Location::default(), what.to_string(), help).into(),
            exit: ProgramExit::Internal,
        }
    }
}

impl From<ReadError> for CommandFailure {
    fn from(error: ReadError) -> Self {
        if let ReadError::Strict(diagnostic) | ReadError::Labels(diagnostic) = error {
            return Self::input(diagnostic);
        }
        let exit =
            if matches!(error, ReadError::UnknownFormat { .. }) { ProgramExit::Usage } else { ProgramExit::BadInput };
        let mut what = error.to_string();
        if let Some(cause) = std::error::Error::source(&error) {
            what = format!("{what}: {cause}");
        }
        Self { diagnostics: Diagnostic::new(Location::default(), what, error.help()).into(), exit }
    }
}
