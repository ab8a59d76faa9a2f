//! What plain limits on steps may do to agents that are told of their limit.

use serde::{Deserialize, Serialize};

use crate::aggregate::{Label, RowView, Rows, by_stack};
use crate::transcript::Outcome;

/// How many of the runs that were read tell their agents of a limit on steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldRuns {
    /// Runs in whose texts the agent is told.
    pub told: u64,
    /// All runs.
    pub runs: u64,
}

impl ToldRuns {
    /// Adds the runs of other recordings.
    pub fn add(&mut self, other: Self) {
        self.told += other.told;
        self.runs += other.runs;
    }
}

/// What plain limits on steps would kill if the agent were told of them, where it was told of a limit in the recordings:
/// nobody knows what it would have done under a lower one.
#[derive(Clone, Debug, PartialEq)]
pub struct UnderToldLimits {
    /// The runs that were read.
    pub told: ToldRuns,
    /// The largest share of the successes that each limit may kill: those with at least as many steps. Never empty.
    pub at_most: Vec<(Label, f64)>,
}

impl UnderToldLimits {
    /// `limits`: the stacks that end a run after so many steps and do not say that the agent is told. `None` if no agent
    /// was told, or no success has as many steps.
    pub fn from_rows(rows: &Rows, told: ToldRuns, limits: &[(Label, u32)]) -> Option<Self> {
        if told.told == 0 {
            return None;
        }
        let lengths = success_lengths(rows);
        let mut at_most = Vec::new();
        for (stack, limit) in limits {
            let running = lengths.iter().filter(|steps| **steps >= u64::from(*limit)).count();
            if running > 0 {
                at_most.push((stack.clone(), running as f64 / lengths.len() as f64));
            }
        }
        if at_most.is_empty() { None } else { Some(Self { told, at_most }) }
    }
}

/// The recorded steps of each success: the same under every stack, so those of the first are looked at.
fn success_lengths(rows: &Rows) -> Vec<u64> {
    let Some(group) = by_stack(rows).into_iter().next() else { return Vec::new() };
    group.rows().filter(|row| row.outcome() == Outcome::Success).map(RowView::steps_recorded).collect()
}
