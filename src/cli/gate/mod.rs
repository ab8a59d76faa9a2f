//! `whenstop ci accept`, `review`, `check` and `diff`: compare stop points with accepted ones, and numbers with gates.

mod accept;
mod check;
mod diff;
mod inputs;
mod replayed;
mod reports;
mod review;
mod rule_sets;
mod told;

pub(super) use accept::{AcceptArgs, accept};
pub(super) use check::{CheckArgs, check};
pub(super) use diff::{DiffArgs, diff};
pub(super) use replayed::replayed;
pub(super) use reports::{ReportFormat, ReportTo, lint_report};
pub(super) use review::{ReviewArgs, review};

use std::path::Path;

use super::failure::CommandFailure;
use crate::diagnostic::{Diagnostic, Location};
use crate::reader::{add_input, read_whole_text};
use crate::snapshot::StopSnapshot;

/// Whether a CI system runs the program.
pub(super) fn is_ci() -> bool {
    matches!(std::env::var_os("CI"), Some(value) if !value.is_empty() && value != "false")
}

/// The most bytes of a snapshot: a line of it is a stop of a run under a stack.
const LARGEST_SNAPSHOT: u64 = 2 << 30;

/// Reads the snapshot at `path`, which the command depends on.
fn read_snapshot(path: &Path) -> Result<StopSnapshot, CommandFailure> {
    add_input(path);
    read_old_snapshot(path)
}

/// Reads the snapshot at `path`, which is about to be replaced.
fn read_old_snapshot(path: &Path) -> Result<StopSnapshot, CommandFailure> {
    let name = path.display().to_string();
    let text = read_whole_text(path, LARGEST_SNAPSHOT).map_err(|error| {
        let help = "write it first with `whenstop ci accept`";
        CommandFailure::input(Diagnostic::new(Location::file(&*name), format!("cannot read: {error}"), help))
    })?;
    StopSnapshot::parse(&name, &text).map_err(CommandFailure::input)
}
