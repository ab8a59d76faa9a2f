//! What a limit was predicted to do, against what happened when it was in force.
//!
//! BEFORE are runs without the limit, AFTER are runs of the same tasks by the same models with it. A replay of the limit on
//! BEFORE predicts which successes are lost; AFTER says which really were. The comparison is made by cell (task, model and
//! suite): means over a cell's runs, summed over the cells that both sides have. Intervals are by task.
//!
//! Whether the replay was right is asked only *from the notice on*: the point at which the agent is told that the end is
//! near or, for a stop that it is not told of, the stop itself. Nothing can differ before it through the limit, so what
//! differs there is the control: another prompt, another model version, another decoding.
//!
//! Shares are of the successes before, in [-1, 1]: 0.1 is ten of a hundred successes.

mod by_step;
mod cells;
mod estimates;
mod verdict;

pub use by_step::SolvedByStep;
pub use cells::{Attempt, Side};
pub use estimates::{CheckEstimates, CostBeforeAndAfter, ShareOfSuccesses};
pub use verdict::{CheckVerdict, Needed, NotComparable};

/// A comparison of one limit's prediction with what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionCheck {
    /// How many tasks both sides share.
    pub tasks: usize,
    /// How many cells (task, model and suite) both sides share.
    pub cells: usize,
    /// Runs in those cells, before and after.
    pub runs: [usize; 2],
    /// Successes among them, before and after.
    pub successes: [usize; 2],
    /// The share of the AFTER runs that end where the limit would have ended them, in [0, 1].
    pub in_force: f64,
    /// The numbers.
    pub estimates: CheckEstimates,
    /// What was solved by each step, on both sides.
    pub by_step: Vec<SolvedByStep>,
    /// What they amount to.
    pub verdict: CheckVerdict,
}

/// Holds the prediction for `before` against `after`.
///
/// `margin`: the largest error that counts as none, as a share of the successes (0.03 is 3 points).
///
/// # Errors
///
/// The two sides cannot be compared: they share too few tasks, a model or a suite is on one side only, or too few
/// successes got as far as the notice.
pub fn measure(before: &[Attempt<'_>], after: &[Attempt<'_>], margin: f64) -> Result<PredictionCheck, NotComparable> {
    let cells = cells::shared_cells(before, after)?;
    let estimates = CheckEstimates::from_cells(&cells.shared);
    let in_force = cells.in_force();
    let verdict = CheckVerdict::from_estimates(&estimates, in_force, cells.n_tasks, margin);
    Ok(PredictionCheck {
        tasks: cells.n_tasks,
        cells: cells.shared.len(),
        runs: [Side::Before, Side::After].map(|side| cells.n_runs(side)),
        successes: [Side::Before, Side::After].map(|side| cells.n_successes(side)),
        in_force,
        estimates,
        by_step: cells.by_step.curves(),
        verdict,
    })
}

#[cfg(test)]
mod tests;
