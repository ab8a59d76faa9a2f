//! What followed the stops of a comparison, in each recording and over all: evidence that needs no label.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FollowedRows, Label, Row};
use crate::stats::{ClusterSums, Estimate, ratio_estimate};
use crate::transcript::{Outcome, Point};
use crate::verdict::{Ledger, Work};

/// What was still to come when one stack stopped one run. Field names are the columns of `followed.csv`, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FollowedRow {
    /// The run.
    pub run_id: Label,
    /// What it is clustered by: its task, or itself.
    pub cluster: Label,
    /// The stack.
    pub stack: Label,
    /// Where it stopped; empty when it did not.
    pub stop_point: Option<Point>,
    /// Ended early: at least this, 0 or 1.
    pub stopped_low: u8,
    /// Ended early: at most this.
    pub stopped_high: u8,
    /// Edits still to come, at least.
    pub edits_low: u64,
    /// Edits still to come, at most.
    pub edits_high: u64,
    /// Hand-overs still to come, at least.
    pub handovers_low: u64,
    /// Hand-overs still to come, at most.
    pub handovers_high: u64,
    /// Checks still to turn from red to green, at least.
    pub greens_low: u64,
    /// Checks still to turn from red to green, at most.
    pub greens_high: u64,
    /// 1 where the closing reply was still to come.
    pub reply_to_come: u8,
    /// 1 where an edit, a hand-over or a green check was surely still to come.
    pub cut_short_low: u8,
    /// 1 where one may have been.
    pub cut_short_high: u8,
    /// Tokens after the stop.
    pub tokens_after_stop: Option<u64>,
    /// Tokens after the last effect that followed, or after the stop.
    pub tokens_after_last_effect: Option<u64>,
    /// Tokens after the last effect of the whole run, at least: after the last that is possible.
    pub tail_tokens_low: Option<u64>,
    /// At most: after the last that is certain.
    pub tail_tokens_high: Option<u64>,
    /// Tokens of the whole run.
    pub tokens_recorded: Option<u64>,
    /// Steps after the stop.
    pub steps_after_stop: Option<u64>,
    /// The last step that changed something, handed over or turned a check green, surely or possibly; empty where none did.
    pub last_effect_step: Option<u64>,
    /// 1 where a person, or a simulated one, waits for the run's reply.
    pub awaited: u8,
    /// 1 where the recording itself ends in an interruption.
    pub interrupted: u8,
    /// 1 where the stop may have killed a graded success.
    pub killed_high: u8,
}

impl FollowedRow {
    /// Killed a success that had changed something, and was worth something without its reply?
    fn is_killed_with_work(&self) -> bool {
        self.killed_high > 0 && self.stop_point.is_some() && self.last_effect_step.is_some() && self.awaited == 0
    }

    /// What followed the stop of `row`, in the run that `work` and `ledger` were read off.
    pub fn of(row: &Row, work: &Work, ledger: &Ledger) -> Self {
        let stopped = row.stopped_high > 0;
        let point = row.stop_point;
        // A stop that is only possible has no place: it may have come before anything was done.
        let followed = if stopped { work.after(point) } else { crate::verdict::Followed::default() };
        let (certain, possible) = followed.cut_short();
        let sure = row.stopped_low > 0;
        let after_stop =
            point.and_then(|point| Some(ledger.whole().tokens?.0.saturating_sub(ledger.until(point).tokens?.0)));
        Self {
            run_id: row.run_id.clone(),
            cluster: row.task_id.clone().unwrap_or_else(|| row.run_id.clone()),
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
            tail_tokens_low: work.tail().map(|tail| tail.least),
            tail_tokens_high: work.tail().map(|tail| tail.most),
            tokens_recorded: row.tokens_recorded,
            steps_after_stop: point.filter(|_| stopped).map(|_| row.steps_recorded.saturating_sub(row.steps_at_stop)),
            last_effect_step: work.last_effect().map(|step| step as u64),
            awaited: u8::from(work.is_awaited()),
            interrupted: u8::from(work.is_interrupted()),
            killed_high: u8::from(row.killed_high > 0 && row.outcome == Outcome::Success),
        }
    }
}

/// What followed the stops of one stack.
#[derive(Clone, Debug)]
pub struct FollowedSummary {
    /// The stack.
    pub stack: Label,
    /// Runs it was tried on.
    pub runs: u64,
    /// Stops, at least and at most.
    pub stops: (u64, u64),
    /// Stops that cut work short, at least and at most.
    pub cut_short: (u64, u64),
    /// Runs cut short of all runs: at least, with its interval.
    pub cut_short_low: Estimate,
    /// Runs cut short of all runs: at most, with its interval.
    pub cut_short_high: Estimate,
    /// Killed successes after whose stop no edit followed: at least and at most.
    pub killed_standing: (u64, u64),
    /// Successes it may have killed.
    pub killed: u64,
    /// Runs whose tokens are known.
    pub runs_with_tokens: u64,
    /// Tokens after stops that nothing followed, of all tokens; `None` where no run tells.
    pub saved_free: Option<f64>,
    /// Tokens after stops, of all tokens.
    pub saved: Option<f64>,
}

/// One summary a stack, in the order the stacks first stand in.
pub fn followed_by_stack(rows: &FollowedRows) -> Vec<FollowedSummary> {
    rows.by_stack().map(|(stack, rows)| summary(stack, &rows)).collect()
}

fn summary(stack: &Label, rows: &[FollowedRow]) -> FollowedSummary {
    let count = |value: fn(&FollowedRow) -> bool| rows.iter().filter(|row| value(row)).count() as u64;
    let known: Vec<&FollowedRow> = rows.iter().filter(|row| row.tokens_recorded.is_some()).collect();
    let whole: u64 = known.iter().filter_map(|row| row.tokens_recorded).sum();
    let share = |counts: fn(&FollowedRow) -> bool| {
        let saved: u64 = known.iter().filter(|row| counts(row)).filter_map(|row| row.tokens_after_stop).sum();
        (whole > 0).then(|| saved as f64 / whole as f64)
    };
    let rate = |value: fn(&FollowedRow) -> u8| {
        let mut clusters: BTreeMap<&str, ClusterSums> = BTreeMap::new();
        for row in rows {
            clusters.entry(&row.cluster).or_default().add(f64::from(value(row)), 1.0);
        }
        ratio_estimate(&clusters.into_values().collect::<Vec<_>>(), super::LEVEL)
    };
    FollowedSummary {
        stack: stack.clone(),
        runs: rows.len() as u64,
        stops: (count(|row| row.stopped_low > 0), count(|row| row.stopped_high > 0)),
        cut_short: (count(|row| row.cut_short_low > 0), count(|row| row.cut_short_high > 0)),
        cut_short_low: rate(|row| row.cut_short_low),
        cut_short_high: rate(|row| row.cut_short_high),
        killed_standing: (
            count(|row| row.is_killed_with_work() && row.edits_high == 0),
            count(|row| row.is_killed_with_work() && row.edits_low == 0),
        ),
        killed: count(|row| row.killed_high > 0),
        runs_with_tokens: known.len() as u64,
        saved_free: share(|row| row.stopped_low > 0 && row.cut_short_high == 0),
        saved: share(|row| row.stopped_low > 0),
    }
}

/// How a stack's stops agree with those of the people in the recordings.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The stack.
    pub stack: Label,
    /// Interrupted runs, and how many of them it would have stopped earlier.
    pub interrupted: (u64, u64),
    /// How many steps before the person it would have stopped them: the median.
    pub steps_earlier: Option<u64>,
    /// How many tokens: the median of those that tell.
    pub tokens_earlier: Option<u64>,
    /// The other runs, and how many of them it would have stopped.
    pub others: (u64, u64),
    /// The difference of the two shares, with its interval over clusters.
    pub difference: Option<crate::stats::ShareDifference>,
}

/// One line a stack; none where no recording holds an interruption.
pub fn agreement(rows: &FollowedRows) -> Vec<Agreement> {
    let lines = rows.by_stack().filter_map(|(stack, rows)| {
        let count = |of: u8| {
            let all = rows.iter().filter(|row| row.interrupted == of);
            (all.clone().count() as u64, all.filter(|row| row.stopped_low > 0).count() as u64)
        };
        let (interrupted, others) = (count(1), count(0));
        let mut clusters: BTreeMap<&str, [f64; 4]> = BTreeMap::new();
        for row in &rows {
            let sums = clusters.entry(&row.cluster).or_default();
            let from = if row.interrupted == 1 { 0 } else { 2 };
            sums[from] += f64::from(row.stopped_low);
            sums[from + 1] += 1.0;
        }
        let sums: Vec<[f64; 4]> = clusters.into_values().collect();
        (interrupted.0 > 0).then(|| Agreement {
            stack: stack.clone(),
            interrupted,
            steps_earlier: earlier(&rows, |row| row.steps_after_stop),
            tokens_earlier: earlier(&rows, |row| row.tokens_after_stop),
            others,
            difference: crate::stats::difference_of_shares(&sums, super::LEVEL),
        })
    });
    lines.collect()
}

/// The median, over the interrupted runs it stops, of what came after the stop; of two middle ones the lower.
fn earlier(rows: &[FollowedRow], after: impl Fn(&FollowedRow) -> Option<u64>) -> Option<u64> {
    let stopped = rows.iter().filter(|row| row.interrupted == 1 && row.stopped_low > 0);
    let mut counts: Vec<u64> = stopped.filter_map(after).collect();
    counts.sort_unstable();
    counts.get(counts.len().checked_sub(1)? / 2).copied()
}
