//! What the recordings show after each stop of a comparison, per run and per stack: evidence that needs no labels.

use super::columns::{followed_columns, record};
use super::rows::FollowedView;
use super::{FollowedRows, Label, Row};
use crate::effects::{TailTokens, Work};
use crate::stats::{ClusterSums, Estimate, task_rate};
use crate::transcript::{Outcome, Point};
use crate::verdict::Ledger;

/// Declares [`FollowedRow`] from the list of columns.
macro_rules! declare {
    ({$($columns:tt)*} $run:tt $tail:tt $bit:tt) => {
        record! {
            /// What the recording holds after one stack's stop of one run: a line of `followed.csv`.
            pub struct FollowedRow { $($columns)* }
        }
    };
}
followed_columns!(declare);

impl FollowedRow {
    /// What followed the stop of each row of one run; `work` and `ledger` must come from the same run.
    pub fn from_run(rows: &[Row], work: &Work, ledger: &Ledger) -> Vec<Self> {
        let Some(first) = rows.first() else { return Vec::new() };
        let facts = RunFacts { cluster: cluster_of(first), tail: work.tail(), last_effect: work.last_effect() };
        rows.iter().map(|row| Self::from_row(row, &facts, work, ledger)).collect()
    }

    fn from_row(row: &Row, facts: &RunFacts, work: &Work, ledger: &Ledger) -> Self {
        let stopped = row.stopped_high > 0;
        let point = row.stop_point;
        // A stop that is only possible has no known point, so nothing is counted after it.
        let followed = if stopped { work.after(point) } else { crate::effects::Followed::default() };
        let (certain, possible) = followed.cut_short();
        let sure = row.stopped_low > 0;
        let after_stop =
            point.and_then(|point| Some(ledger.whole().tokens?.0.saturating_sub(ledger.until(point).tokens?.0)));
        Self {
            run_id: row.run_id.clone(),
            cluster: facts.cluster.clone(),
            stack: row.stack.clone(),
            stop_point: point,
            stopped_low: row.stopped_low,
            stopped_high: row.stopped_high,
            edits_low: if sure { followed.edits.low } else { 0 },
            edits_high: followed.edits.high,
            handovers_low: if sure { followed.handovers.low } else { 0 },
            handovers_high: followed.handovers.high,
            greens_low: if sure { followed.greens.low } else { 0 },
            greens_high: followed.greens.high,
            reply_to_come: u8::from(followed.reply),
            cut_short_low: u8::from(sure && certain),
            cut_short_high: u8::from(possible),
            tokens_after_stop: after_stop.filter(|_| stopped),
            tokens_after_last_effect: followed.tokens_after_last_effect.filter(|_| point.is_some()),
            tail_tokens_low: facts.tail.map(|tail| tail.least),
            tail_tokens_high: facts.tail.map(|tail| tail.most),
            tokens_recorded: row.tokens_recorded,
            steps_after_stop: point.filter(|_| stopped).map(|_| row.steps_recorded.saturating_sub(row.steps_at_stop)),
            last_effect_step: facts.last_effect.map(|step| step as u64),
            awaited: u8::from(work.is_awaited()),
            interrupted: u8::from(work.is_interrupted()),
            killed_high: u8::from(row.killed_high > 0 && row.outcome == Outcome::Success),
        }
    }
}

/// What all rows of a run share.
struct RunFacts {
    cluster: Label,
    tail: Option<TailTokens>,
    last_effect: Option<usize>,
}

/// Tasks of one name in two suites are two clusters.
fn cluster_of(row: &Row) -> Label {
    let task = row.task_id.as_ref().unwrap_or(&row.run_id);
    match &row.suite {
        Some(suite) => Label::from(format!("{suite}/{task}").as_str()),
        None => task.clone(),
    }
}

/// What followed the stops of one stack, over all runs.
#[derive(Clone, Debug)]
pub struct FollowedSummary {
    /// The stack.
    pub stack: Label,
    /// Number of runs.
    pub runs: u64,
    /// Stops, at least and at most.
    pub stops: (u64, u64),
    /// Stops that cut work short, at least and at most.
    pub cut_short: (u64, u64),
    /// Mean over tasks of the share of their runs cut short, lower bound, with its interval.
    pub cut_short_low: Estimate,
    /// The same, upper bound.
    pub cut_short_high: Estimate,
    /// Killed successes with no edit after the stop: at least and at most.
    pub killed_standing: (u64, u64),
    /// Successes that the stack stops early, certainly and at most.
    pub killed: (u64, u64),
    /// Runs whose tokens are known.
    pub runs_with_tokens: u64,
    /// Tokens after stops that no effect followed, as a share of all tokens; `None` if no run records tokens.
    pub saved_free: Option<f64>,
    /// Tokens after stops, as a share of all tokens; `None` if no run records tokens.
    pub saved: Option<f64>,
}

/// One summary per stack, in order of first appearance.
pub fn followed_by_stack(rows: &FollowedRows) -> Vec<FollowedSummary> {
    rows.map_stacks(summary)
}

/// Whether it stopped and may have killed a success that had changed something and whose reply nobody waited for.
fn is_killed_with_work(row: FollowedView<'_>) -> bool {
    let is_killed = row.killed_high() > 0 && row.stopped_low() > 0 && row.stop_point().is_some();
    is_killed && row.last_effect_step().is_some() && row.awaited() == 0
}

/// One entry per cluster of these rows, in name order, to which `add` adds each row.
fn by_cluster<'r, T: Default>(rows: &[FollowedView<'r>], mut add: impl FnMut(&mut T, FollowedView<'r>)) -> Vec<T> {
    let n = rows.iter().map(|row| row.cluster_place() + 1).max().unwrap_or_default();
    let mut clusters: Vec<Option<T>> = std::iter::repeat_with(|| None).take(n).collect();
    for row in rows {
        add(clusters[row.cluster_place()].get_or_insert_default(), *row);
    }
    clusters.into_iter().flatten().collect()
}

fn summary<'r>(stack: &Label, rows: &[FollowedView<'r>]) -> FollowedSummary {
    let count = |value: fn(FollowedView<'r>) -> bool| rows.iter().filter(|row| value(**row)).count() as u64;
    let known = || rows.iter().filter(|row| row.tokens_recorded().is_some());
    let whole: u64 = known().filter_map(|row| row.tokens_recorded()).sum();
    let share = |counts: fn(FollowedView<'r>) -> bool| {
        let saved: u64 = known().filter(|row| counts(**row)).filter_map(|row| row.tokens_after_stop()).sum();
        if whole == 0 { None } else { Some(saved as f64 / whole as f64) }
    };
    let rate = |value: fn(FollowedView<'r>) -> u8| {
        let add = |sums: &mut ClusterSums, row: FollowedView<'r>| sums.add(f64::from(value(row)), 1.0);
        task_rate(&by_cluster(rows, add), super::LEVEL)
    };
    FollowedSummary {
        stack: stack.clone(),
        runs: rows.len() as u64,
        stops: (count(|row| row.stopped_low() > 0), count(|row| row.stopped_high() > 0)),
        cut_short: (count(|row| row.cut_short_low() > 0), count(|row| row.cut_short_high() > 0)),
        cut_short_low: rate(FollowedView::cut_short_low),
        cut_short_high: rate(FollowedView::cut_short_high),
        killed_standing: (
            count(|row| is_killed_with_work(row) && row.edits_high() == 0),
            count(|row| is_killed_with_work(row) && row.edits_low() == 0),
        ),
        killed: (count(|row| row.killed_high() > 0 && row.stopped_low() > 0), count(|row| row.killed_high() > 0)),
        runs_with_tokens: known().count() as u64,
        saved_free: share(|row| row.stopped_low() > 0 && row.cut_short_high() == 0),
        saved: share(|row| row.stopped_low() > 0),
    }
}

/// How a stack's stops agree with the interruptions by people in the recordings.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The stack.
    pub stack: Label,
    /// Interrupted runs, and how many of them the stack would have stopped earlier.
    pub interrupted: (u64, u64),
    /// Median number of steps by which the stack stops before the person.
    pub steps_earlier: Option<u64>,
    /// Median number of tokens by which it stops before the person, over the runs that record tokens.
    pub tokens_earlier: Option<u64>,
    /// Runs that were not interrupted, and how many of them the stack would have stopped.
    pub others: (u64, u64),
    /// The difference of the two shares, with its interval clustered by task.
    pub difference: Option<crate::stats::ShareDifference>,
}

/// One entry per stack; empty if no recording was interrupted.
pub fn agreement(rows: &FollowedRows) -> Vec<Agreement> {
    if !rows.any_interrupted() {
        return Vec::new();
    }
    let lines = rows.map_stacks(|stack, rows| {
        let count = |of: u8| {
            let all = rows.iter().filter(|row| row.interrupted() == of);
            (all.clone().count() as u64, all.filter(|row| row.stopped_low() > 0).count() as u64)
        };
        let (interrupted, others) = (count(1), count(0));
        if interrupted.0 == 0 {
            return None;
        }
        let sums = by_cluster(rows, |sums: &mut [f64; 4], row| {
            let from = if row.interrupted() == 1 { 0 } else { 2 };
            sums[from] += f64::from(row.stopped_low());
            sums[from + 1] += 1.0;
        });
        Some(Agreement {
            stack: stack.clone(),
            interrupted,
            steps_earlier: earlier(rows, FollowedView::steps_after_stop),
            tokens_earlier: earlier(rows, FollowedView::tokens_after_stop),
            others,
            difference: crate::stats::difference_of_shares(&sums, super::LEVEL),
        })
    });
    lines.into_iter().flatten().collect()
}

/// The median of `after` over the interrupted runs that were stopped; the lower of two middle values.
fn earlier<'r>(rows: &[FollowedView<'r>], after: fn(FollowedView<'r>) -> Option<u64>) -> Option<u64> {
    let stopped = rows.iter().filter(|row| row.interrupted() == 1 && row.stopped_low() > 0);
    let mut counts: Vec<u64> = stopped.filter_map(|row| after(*row)).collect();
    counts.sort_unstable();
    counts.get(counts.len().checked_sub(1)? / 2).copied()
}
