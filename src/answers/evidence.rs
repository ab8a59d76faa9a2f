//! What was found out run by run: `compare` gathers it, `report` reads it from a folder, `merge` puts it together.

use super::FollowedReport;
use crate::aggregate::{Firings, Rows};
use crate::explain::Story;

/// What was found out run by run. Every answer begins here, whatever the source.
#[derive(Debug, Default)]
pub struct RunEvidence {
    /// One row per run and stack; the rows of a run stand together, in the order of the stacks.
    pub rows: Rows,
    /// The firings of all rules.
    pub firings: Firings,
    /// What followed the stops; `None` if nobody looked, or if only a part of the tasks is reported.
    pub followed: Option<FollowedReport>,
    /// Runs step by step, in any order; empty unless a page is made.
    pub stories: Vec<Story>,
}
