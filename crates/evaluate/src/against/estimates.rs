//! The numbers: predicted, really lost, control, error and the cost of a success, each with an interval by task.

use crate::stats::Interval;
use crate::stats::distribution::{normal_quantile, t_quantile};

use super::cells::{Means, PairedCell};

/// A share of the successes before, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareOfSuccesses {
    /// The estimate, in [-1, 1].
    pub value: f64,
    /// The interval; `None` with fewer than two tasks.
    pub interval: Option<Interval>,
}

/// What a success costs: amounts spent by all runs over successes, in the unit of the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CostBeforeAndAfter {
    /// As recorded before; `None` where an amount is unknown or nothing succeeds.
    pub recorded: Option<f64>,
    /// What the replay predicts under the limit.
    pub predicted: Option<f64>,
    /// As measured under the limit.
    pub real: Option<f64>,
}

/// What the comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckEstimates {
    /// Predicted by the replay: successes that the limit cuts.
    pub killed: ShareOfSuccesses,
    /// Successes that had reached the notice: the most that a limit can take which the agent is told of.
    pub at_risk: ShareOfSuccesses,
    /// Successes really lost, net: before less after.
    pub lost: ShareOfSuccesses,
    /// Successes gained before the notice, after less before: nothing should change there.
    pub control: ShareOfSuccesses,
    /// What was lost beyond the replay among the runs that reached the notice. Below 0 the replay was too pessimistic.
    pub error: ShareOfSuccesses,
    /// The share of runs that reached the notice, before and after, in [0, 1].
    pub reached: [f64; 2],
    /// The cost of a success.
    pub cost: CostBeforeAndAfter,
    /// The part of the error's variance that repeated trials of one cell show, in [0, 1]; `None` where no cell has two
    /// runs on a side.
    pub noise: Option<f64>,
    /// The error that would be found four times out of five; `None` with fewer than two tasks.
    pub detectable: Option<f64>,
    /// The variance of the error.
    pub(super) variance: Option<ErrorVariance>,
}

/// The variance of the error, and its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorVariance {
    /// With the runs there are.
    pub(super) total: f64,
    /// Of it, what would be left with one run a cell and side times that number: the noise of trials, were there one run
    /// a side. `None` where no cell has two runs on a side.
    pub(super) one_trial: Option<f64>,
    /// Of `total`, the noise of the trials that there are.
    pub(super) trials: Option<f64>,
}

impl CheckEstimates {
    pub(super) fn from_cells(cells: &[PairedCell]) -> Self {
        let sum = |value: fn(&PairedCell) -> f64| cells.iter().map(value).sum::<f64>();
        let successes = sum(|cell| cell.before.success);
        let share = |numerator: fn(&PairedCell) -> f64| {
            let value = sum(numerator) / successes;
            let influence = |cell: &PairedCell| (numerator(cell) - value * cell.before.success) / successes;
            ShareOfSuccesses::by_task(cells, value, influence)
        };
        let error = Error::from_cells(cells, successes);
        let variance = error.variance(cells);
        let detectable = variance.map(|variance| {
            let n_tasks = count_tasks(cells) as f64;
            (t_quantile(0.975, n_tasks - 1.0) + normal_quantile(0.8)) * variance.total.sqrt()
        });
        Self {
            killed: share(|cell| cell.before.killed),
            at_risk: share(|cell| cell.before.at_risk),
            lost: share(|cell| cell.before.success - cell.after.success),
            control: share(|cell| cell.after.success_before_notice - cell.before.success_before_notice),
            error: ShareOfSuccesses::by_task(cells, error.value, |cell| error.influence(cell)),
            reached: [sum(|cell| cell.before.reached), sum(|cell| cell.after.reached)].map(|n| n / cells.len() as f64),
            cost: CostBeforeAndAfter::from_cells(cells),
            noise: variance.and_then(|variance| Some((variance.trials? / variance.total).min(1.0))),
            detectable,
            variance,
        }
    }
}

impl ShareOfSuccesses {
    /// An estimate that each cell moves by its `influence`. Its interval is `None` with fewer than two tasks.
    fn by_task(cells: &[PairedCell], value: f64, influence: impl Fn(&PairedCell) -> f64) -> Self {
        let interval = variance_by_task(cells, influence).map(|variance| {
            let half = t_quantile(0.975, count_tasks(cells) as f64 - 1.0) * variance.sqrt();
            Interval::around(value, half)
        });
        Self { value, interval }
    }

    /// Whether the interval lies wholly on one side of 0.
    pub fn is_beyond_chance(&self) -> bool {
        matches!(self.interval, Some(interval) if !interval.contains(0.0))
    }
}

impl CostBeforeAndAfter {
    fn from_cells(cells: &[PairedCell]) -> Self {
        Self {
            recorded: cost(cells, |cell| cell.before.spent, |cell| cell.before.success),
            predicted: cost(
                cells,
                |cell| cell.before.spent_under_limit,
                |cell| cell.before.success - cell.before.killed,
            ),
            real: cost(cells, |cell| cell.after.spent, |cell| cell.after.success),
        }
    }
}

fn cost(cells: &[PairedCell], spent: fn(&PairedCell) -> Option<f64>, successes: fn(&PairedCell) -> f64) -> Option<f64> {
    let mut total = 0.0;
    for cell in cells {
        total += spent(cell)?;
    }
    let n: f64 = cells.iter().map(successes).sum();
    if n > 0.0 { Some(total / n) } else { None }
}

/// What was lost beyond the replay from the notice on, as a share of the successes before: R(q − q')/S, where q is the
/// share of the runs reaching the notice that succeed within the limit, R the mean of the two numbers that reach it, and S
/// the successes before.
struct Error {
    value: f64,
    successes: f64,
    reached: f64,
    reached_before: f64,
    reached_after: f64,
    rate_before: f64,
    rate_after: f64,
}

impl Error {
    fn from_cells(cells: &[PairedCell], successes: f64) -> Self {
        let sum = |value: fn(&PairedCell) -> f64| cells.iter().map(value).sum::<f64>();
        let reached_before = sum(|cell| cell.before.reached);
        let reached_after = sum(|cell| cell.after.reached);
        let rate_before = ratio_or_zero(sum(|cell| cell.before.reached_success), reached_before);
        let rate_after = ratio_or_zero(sum(|cell| cell.after.reached_success), reached_after);
        let reached = f64::midpoint(reached_before, reached_after);
        let value = reached * (rate_before - rate_after) / successes;
        Self { value, successes, reached, reached_before, reached_after, rate_before, rate_after }
    }

    /// The weights of a run before in the estimate's first-order expansion: for success from the notice on, for having
    /// reached it, for success.
    fn weights_before(&self) -> [f64; 3] {
        let slope = ratio_or_zero(self.reached, self.reached_before);
        let half_gap = (self.rate_before - self.rate_after) / 2.0;
        [slope, half_gap - slope * self.rate_before, -self.value].map(|weight| weight / self.successes)
    }

    /// The same for a run after.
    fn weights_after(&self) -> [f64; 3] {
        let slope = ratio_or_zero(self.reached, self.reached_after);
        let half_gap = (self.rate_before - self.rate_after) / 2.0;
        [-slope, half_gap + slope * self.rate_after, 0.0].map(|weight| weight / self.successes)
    }

    /// How much a cell moves the estimate.
    fn influence(&self, cell: &PairedCell) -> f64 {
        weighted(&cell.before, self.weights_before()) + weighted(&cell.after, self.weights_after())
    }

    fn variance(&self, cells: &[PairedCell]) -> Option<ErrorVariance> {
        let total = variance_by_task(cells, |cell| self.influence(cell))?;
        // A cell with one run on a side shows no noise of its own; it is taken to have the mean noise of the others.
        let [before, after] = [
            Noise::from_side(cells, self.weights_before(), |cell| &cell.before),
            Noise::from_side(cells, self.weights_after(), |cell| &cell.after),
        ];
        let (Some(before), Some(after)) = (before, after) else {
            return Some(ErrorVariance { total, one_trial: None, trials: None });
        };
        let one_trial = Some(before.one_trial + after.one_trial);
        let trials = Some((before.trials + after.trials).min(total));
        Some(ErrorVariance { total, one_trial, trials })
    }
}

/// The noise of trials on one side, summed over the cells.
struct Noise {
    /// Were there one run a cell.
    one_trial: f64,
    /// With the runs there are.
    trials: f64,
}

impl Noise {
    fn from_side(cells: &[PairedCell], weights: [f64; 3], side: fn(&PairedCell) -> &Means) -> Option<Self> {
        let known: Vec<f64> =
            cells.iter().filter_map(|cell| side(cell).spread).map(|spread| spread.variance_of_sum(weights)).collect();
        if known.is_empty() {
            return None;
        }
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let trials = cells.iter().map(|cell| mean / side(cell).runs as f64).sum();
        Some(Self { one_trial: mean * cells.len() as f64, trials })
    }
}

fn weighted(means: &Means, weights: [f64; 3]) -> f64 {
    weights[0] * means.reached_success + weights[1] * means.reached + weights[2] * means.success
}

fn ratio_or_zero(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { 0.0 }
}

fn count_tasks(cells: &[PairedCell]) -> usize {
    cells.iter().map(|cell| cell.task).max().map_or(0, |last| last + 1)
}

/// T/(T − 1) times the sum of squares of the influences, summed by task first. `None` with fewer than two tasks.
fn variance_by_task(cells: &[PairedCell], influence: impl Fn(&PairedCell) -> f64) -> Option<f64> {
    let n_tasks = count_tasks(cells);
    if n_tasks < 2 {
        return None;
    }
    let mut by_task = vec![0.0; n_tasks];
    for cell in cells {
        by_task[cell.task] += influence(cell);
    }
    let squares: f64 = by_task.iter().map(|value| value * value).sum();
    Some(squares * n_tasks as f64 / (n_tasks as f64 - 1.0))
}
