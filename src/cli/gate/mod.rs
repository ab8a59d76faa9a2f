//! `whenstop accept`, `check` and `diff`: compare stop points with accepted ones, and numbers with gates.

mod accept;
mod check;
mod diff;
mod inputs;
mod replayed;
mod reports;
mod rule_sets;
mod told;

pub(super) use accept::{AcceptArgs, accept};
pub(super) use check::{CheckArgs, check};
pub(super) use diff::{DiffArgs, diff};
pub(super) use replayed::replayed;
pub(super) use reports::{ReportFormat, lint_report};

use std::path::Path;

use super::failure::Failure;
use super::inputs::read_text;
use crate::snapshot::Snapshot;

/// Reads the snapshot at `path`.
fn read_snapshot(path: &Path) -> Result<Snapshot, Failure> {
    let text = read_text(path, "write it first with `whenstop accept`").map_err(Failure::input)?;
    Snapshot::parse(&path.display().to_string(), &text).map_err(Failure::input)
}
