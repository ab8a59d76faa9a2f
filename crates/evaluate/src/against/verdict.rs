//! What a comparison amounts to.

use crate::stats::distribution::t_quantile;

use super::cells::Side;
use super::estimates::CheckEstimates;

/// Why two recordings cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotComparable {
    /// No task is in both.
    NoSharedTask {
        /// Tasks before.
        before: usize,
        /// Tasks after.
        after: usize,
    },
    /// Under four fifths of the tasks are in both.
    FewShared {
        /// Tasks in both.
        shared: usize,
        /// Tasks before.
        before: usize,
        /// Tasks after.
        after: usize,
    },
    /// Too few tasks for an interval by task.
    FewTasks {
        /// Tasks in both.
        shared: usize,
        /// How many it takes.
        least: usize,
    },
    /// A model or a suite is on one side only.
    OneSided {
        /// `model` or `suite`.
        what: &'static str,
        /// The side that has them.
        side: Side,
        /// Their names, in order.
        names: Vec<String>,
    },
    /// No run before succeeded: there is nothing to lose.
    NoSuccessBefore,
    /// Too few successes reached the notice.
    FewEvents {
        /// How many did, both sides together.
        events: usize,
        /// How many it takes.
        least: usize,
    },
}

/// What it would take to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Tasks, with the trials there are.
    pub tasks: u64,
    /// Runs of each cell on each side, with the tasks there are; `None` where no number is enough, or where no cell was
    /// run twice.
    pub trials: Option<u64>,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CheckVerdict {
    /// The prediction held, within the margin.
    CameTrue,
    /// Fewer successes were lost than predicted.
    TooPessimistic,
    /// More were lost.
    TooOptimistic,
    /// The interval of the error holds 0 and reaches beyond the margin.
    CannotBeTold {
        /// Half of the interval's width.
        half_width: f64,
        /// What would do.
        needed: Needed,
    },
    /// Before the notice, too, the two sides differ beyond chance and margin.
    SomethingElseChanged,
    /// More than one run in fifty of AFTER goes on where the limit ends it.
    NotInForce,
}

/// The largest share of AFTER that may go on beyond the limit.
const MOST_OVER: f64 = 0.02;
/// The largest change before the notice that may have another cause without the comparison being about that cause.
const MOST_CONTROL: f64 = 0.03;

impl CheckVerdict {
    pub(super) fn from_estimates(estimates: &CheckEstimates, in_force: f64, n_tasks: usize, margin: f64) -> Self {
        if 1.0 - in_force > MOST_OVER {
            return Self::NotInForce;
        }
        if estimates.control.is_beyond_chance() && estimates.control.value.abs() > MOST_CONTROL {
            return Self::SomethingElseChanged;
        }
        if estimates.error.is_beyond_chance() {
            return if estimates.error.value < 0.0 { Self::TooPessimistic } else { Self::TooOptimistic };
        }
        let (Some(interval), Some(variance)) = (estimates.error.interval, estimates.variance) else {
            return Self::CannotBeTold { half_width: f64::INFINITY, needed: Needed { tasks: 0, trials: None } };
        };
        if interval.low >= -margin && interval.high <= margin {
            return Self::CameTrue;
        }
        let quantile = t_quantile(0.975, n_tasks as f64 - 1.0);
        // The t quantile of the larger number is smaller than this one; the count errs on the safe side by it.
        let tasks = count_at_least(n_tasks as f64 * quantile * quantile * variance.total / (margin * margin));
        let mut needed = Needed { tasks, trials: None };
        if let (Some(one_trial), Some(noise)) = (variance.one_trial, variance.trials) {
            let left = margin * margin / (quantile * quantile) - (variance.total - noise);
            needed.trials = if left > 0.0 { Some(count_at_least(one_trial / left)) } else { None };
        }
        Self::CannotBeTold { half_width: interval.width() / 2.0, needed }
    }
}

/// The least whole number from 1 that is not below `amount`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1; a larger one saturates")]
fn count_at_least(amount: f64) -> u64 {
    amount.ceil().max(1.0) as u64
}
