//! The stacks that no other stack beats on both axes: successes kept and cost saved.

use std::collections::BTreeMap;

use super::group::rows_of_all;
use super::tasks::{present_tasks, resample_tasks};
use super::{Group, LEVEL, Label, RowView, RunEffect, SEED, Summary, Unit, beaten, useful_parts};
use crate::stats::frontier::{Tradeoff, hypervolume, membership};
use crate::stats::{Interval, RangeEstimate, Replicates};

/// Reference point of the hypervolume, the worst trade-off that counts: half of the successes kept, nothing saved.
/// Fixed, so that volumes of different comparisons are comparable.
pub const REFERENCE: Tradeoff = Tradeoff { retention: 0.5, cost: 1.0 };
/// Minimum tasks for [`frontier_spread`]: with fewer, the uncertainty of the frontier cannot be estimated.
const MIN_TASKS: usize = 8;

/// One stack on the two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontierPoint {
    /// The stack.
    pub stack: Label,
    /// The unit of the saving.
    pub unit: Unit,
    /// Successes killed over successes; corrected if label errors are given.
    pub fes_rate: RangeEstimate,
    /// Saved on failures and after success, over what was recorded.
    pub saved_ratio: RangeEstimate,
    /// True if no other stack kills no more and saves no less, with one of them strictly better. Point estimates only:
    /// chance is not accounted for.
    pub on_frontier: bool,
    /// A stack that is better on both counts beyond chance, if there is one: see [`beaten`](super::beaten()). A stack
    /// off the frontier may have none.
    pub beaten_by: Option<Label>,
}

impl FrontierPoint {
    /// Successes killed at most and cost saved at least (every unknown at its worst); `None` if either is unlimited.
    pub fn axes(&self) -> Option<(f64, f64)> {
        self.fes_rate.high.value.zip(self.saved_ratio.low.value)
    }

    /// Sets `beaten_by` of each of `points`, which must be in the order of `groups`.
    pub fn mark_beaten(points: &mut [Self], groups: &[Group<'_>], unit: Unit) {
        for (point, by) in points.iter_mut().zip(beaten(groups, unit)) {
            point.beaten_by = by.and_then(|at| groups.get(at)).map(|group| group.stack.clone());
        }
    }

    fn tradeoff(&self) -> Option<Tradeoff> {
        self.axes().map(|(fes, saved)| Tradeoff { retention: 1.0 - fes, cost: 1.0 - saved })
    }
}

/// Places every stack, in the order given. Savings from killed successes do not count. Leaves `beaten_by` empty: it
/// needs the rows, see [`FrontierPoint::mark_beaten`].
pub fn frontier(summaries: &[Summary], unit: Unit) -> Vec<FrontierPoint> {
    let mut points: Vec<FrontierPoint> = summaries
        .iter()
        .map(|summary| FrontierPoint {
            stack: summary.stack.clone(),
            unit,
            fes_rate: summary.fes_rate(),
            saved_ratio: summary.ratios_in(unit).useful,
            on_frontier: false,
            beaten_by: None,
        })
        .collect();
    let placed = points.clone();
    for point in &mut points {
        let Some((fes, saved)) = point.axes() else { continue };
        let beats = |other: &&FrontierPoint| {
            let Some((f, s)) = other.axes() else { return false };
            f <= fes && s >= saved && (f < fes || s > saved)
        };
        point.on_frontier = !placed.iter().any(|other| beats(&other));
    }
    points
}

/// The area between the frontier and [`REFERENCE`], at most 0.5; `None` if no point can be placed.
pub fn frontier_volume(points: &[FrontierPoint]) -> Option<f64> {
    let placed: Vec<Tradeoff> = points.iter().filter_map(FrontierPoint::tradeoff).collect();
    if placed.is_empty() { None } else { Some(hypervolume(&placed, REFERENCE)) }
}

/// The uncertainty of the frontier, over bootstrap resamples of the tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrontierSpread {
    /// For each stack, the share of resamples in which it is on the frontier; `None` if it cannot be placed.
    pub shares: Vec<Option<f64>>,
    /// The 95 % percentile interval of [`frontier_volume`].
    pub volume: Option<Interval>,
}

/// Computes the frontier in every resample. All groups must hold the same runs. Empty below 8 tasks.
pub fn frontier_spread(groups: &[Group<'_>], unit: Unit) -> FrontierSpread {
    let tasks: BTreeMap<usize, usize> = present_tasks(groups).into_iter().zip(0..).collect();
    if tasks.len() < MIN_TASKS {
        return FrontierSpread { shares: vec![None; groups.len()], volume: None };
    }
    let Some(rows) = rows_of_all(groups) else { return FrontierSpread::default() };
    let resamples = resample_tasks(groups, SEED);
    let ranks = resamples.ranks();
    let of_ending = |row: RowView<'_>| {
        let effect = RunEffect::from_row(row, unit);
        let number = |is: bool| f64::from(u8::from(is));
        let useful = useful_parts(&effect).unwrap_or_default();
        let is_success = effect.success().high;
        [number(is_success && effect.killed.high), number(is_success), useful.0, useful.1]
    };
    let addends: Vec<Sums> = rows.endings().map(of_ending).collect();
    // The sums of every group for each task, tasks in the order of the resamples.
    let mut sums = vec![Sums::default(); tasks.len() * groups.len()];
    for (at, group) in groups.iter().enumerate() {
        for row in group.rows() {
            let Some(rank) = tasks.get(&row.task()).and_then(|place| ranks.get(*place)) else { continue };
            add(&mut sums[rank * groups.len() + at], 1.0, addends[row.ending()]);
        }
    }
    // A task counts once, whatever the number of its successes.
    for [killed, successes, ..] in &mut sums {
        if *successes > 0.0 {
            *killed /= *successes;
            *successes = 1.0;
        }
    }
    let replicates: Vec<Vec<Tradeoff>> = resamples.map(|weights| {
        let mut total = vec![Sums::default(); groups.len()];
        for (weight, task) in weights.iter().zip(sums.chunks(groups.len())).filter(|(weight, _)| **weight > 0) {
            for (total, part) in total.iter_mut().zip(task) {
                add(total, f64::from(*weight), *part);
            }
        }
        total.into_iter().map(tradeoff).collect()
    });
    let shares = membership(&replicates).unwrap_or_default().into_iter().enumerate();
    let placed = |at: usize| replicates.iter().any(|points| points.get(at).is_some_and(|point| is_placed(*point)));
    let volume = |points: &Vec<Tradeoff>| {
        let defined: Vec<Tradeoff> = points.iter().copied().filter(|point| is_placed(*point)).collect();
        if defined.is_empty() { None } else { Some(hypervolume(&defined, REFERENCE)) }
    };
    FrontierSpread {
        shares: shares.map(|(at, share)| if placed(at) { Some(share) } else { None }).collect(),
        volume: replicates.iter().map(volume).collect::<Replicates>().interval(LEVEL),
    }
}

/// Killed and successes (of a task: the share killed, and 1), saved, recorded.
type Sums = [f64; 4];

fn add(total: &mut Sums, weight: f64, part: Sums) {
    for (total, part) in total.iter_mut().zip(part) {
        *total += weight * part;
    }
}

fn tradeoff([killed, successes, saved, recorded]: Sums) -> Tradeoff {
    Tradeoff { retention: 1.0 - killed / successes, cost: 1.0 - saved / recorded }
}

fn is_placed(point: Tradeoff) -> bool {
    point.retention.is_finite() && point.cost.is_finite()
}
