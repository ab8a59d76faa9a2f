//! Stores [`FollowedRow`]s as columns, about 8 bytes per row: stacks that stop a run at the same point share what
//! followed.

use std::ops::Range;

use rayon::prelude::*;

use super::column::{Cell, Column, frame};
use super::in_order;
use super::names::{Name, Names};
use super::repeating::Repeating;
use crate::aggregate::{FollowedRow, Label};
use crate::transcript::Point;

frame! {
    /// What all rows of a run share.
    Facts, Runs {
        run_id: Name,
        cluster: Name,
        tail_tokens_low: Option<u64>,
        tail_tokens_high: Option<u64>,
        tokens_recorded: Option<u64>,
        last_effect_step: Option<u64>,
        interrupted: u8,
        awaited: u8,
    }
}

frame! {
    /// What followed a stop; independent of the stack that stopped.
    Tail, Tails {
        run: u32,
        stop_point: Option<Point>,
        stopped_low: u8,
        stopped_high: u8,
        edits_low: u64,
        edits_high: u64,
        handovers_low: u64,
        handovers_high: u64,
        greens_low: u64,
        greens_high: u64,
        reply_to_come: u8,
        cut_short_low: u8,
        cut_short_high: u8,
        tokens_after_stop: Option<u64>,
        tokens_after_last_effect: Option<u64>,
        steps_after_stop: Option<u64>,
        killed_high: u8,
    }
}

frame! {
    /// One row. Its stack is in [`FollowedRows::stack_of`].
    Line, Lines {
        tail: u32,
    }
}

/// What followed the stops of all runs and stacks, in the order given.
#[derive(Clone, Debug, Default)]
pub struct FollowedRows {
    names: Names,
    runs: Runs,
    tails: Tails,
    lines: Lines,
    /// The stack of each row.
    stack_of: Repeating<Name>,
    /// The stacks, in the order given.
    stacks: Vec<Name>,
    /// For each run, the index of its cluster in name order.
    cluster_of: Vec<u32>,
}

/// The numbers of a [`FollowedRow`] that are summed over a stack's rows, without its names.
#[derive(Clone, Copy, Debug)]
pub(in crate::aggregate) struct FollowedNumbers {
    /// The index of its cluster in name order.
    pub(in crate::aggregate) cluster: u32,
    pub(in crate::aggregate) has_stop_point: bool,
    pub(in crate::aggregate) stopped_low: u8,
    pub(in crate::aggregate) stopped_high: u8,
    pub(in crate::aggregate) edits_low: u64,
    pub(in crate::aggregate) edits_high: u64,
    pub(in crate::aggregate) cut_short_low: u8,
    pub(in crate::aggregate) cut_short_high: u8,
    pub(in crate::aggregate) tokens_after_stop: Option<u64>,
    pub(in crate::aggregate) tokens_recorded: Option<u64>,
    pub(in crate::aggregate) steps_after_stop: Option<u64>,
    /// Whether the run has an effect that is certain or possible.
    pub(in crate::aggregate) has_effect: bool,
    pub(in crate::aggregate) interrupted: u8,
    pub(in crate::aggregate) awaited: u8,
    pub(in crate::aggregate) killed_high: u8,
}

impl FollowedRows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.lines.tail.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = FollowedRow> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The rows in this range of positions.
    pub fn range(&self, places: Range<usize>) -> impl Iterator<Item = FollowedRow> {
        places.map(|at| self.get(at))
    }

    /// One row per run, for what does not depend on the stack.
    pub fn of_runs(&self) -> impl Iterator<Item = FollowedRow> {
        self.runs().map(|(_, rows)| self.get(rows.start))
    }

    /// Each run with the range of its rows, which are consecutive.
    pub fn runs(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let run = |at: usize| self.tails.run.get(self.lines.tail.get(at) as usize);
        let mut next = 0;
        std::iter::from_fn(move || {
            let first = next;
            if first >= self.len() {
                return None;
            }
            let of = run(first);
            next = (first..self.len()).find(|at| run(*at) != of).unwrap_or(self.len());
            Some((&**self.names.label(self.runs.run_id.get(of as usize)), first..next))
        })
    }

    /// The numbers of each stack's rows, in the order the stacks were given. Only one stack's are in memory per thread.
    pub(in crate::aggregate) fn by_stack(&self) -> impl IndexedParallelIterator<Item = (&Label, Vec<FollowedNumbers>)> {
        let rows_of =
            move |stack: &Name| self.stack_of.positions(|of| of == *stack).map(|at| self.numbers(at)).collect();
        self.stacks.par_iter().map(move |stack| (self.names.label(*stack), rows_of(stack)))
    }

    /// Whether any recording ends in an interruption.
    pub(in crate::aggregate) fn any_interrupted(&self) -> bool {
        (0..self.runs.interrupted.len()).any(|run| self.runs.interrupted.get(run) == 1)
    }

    fn numbers(&self, at: usize) -> FollowedNumbers {
        let tail = self.lines.tail.get(at) as usize;
        let (runs, tails) = (&self.runs, &self.tails);
        let run = tails.run.get(tail) as usize;
        FollowedNumbers {
            cluster: self.cluster_of[run],
            has_stop_point: tails.stop_point.get(tail).is_some(),
            stopped_low: tails.stopped_low.get(tail),
            stopped_high: tails.stopped_high.get(tail),
            edits_low: tails.edits_low.get(tail),
            edits_high: tails.edits_high.get(tail),
            cut_short_low: tails.cut_short_low.get(tail),
            cut_short_high: tails.cut_short_high.get(tail),
            tokens_after_stop: tails.tokens_after_stop.get(tail),
            tokens_recorded: runs.tokens_recorded.get(run),
            steps_after_stop: tails.steps_after_stop.get(tail),
            has_effect: runs.last_effect_step.get(run).is_some(),
            interrupted: runs.interrupted.get(run),
            awaited: runs.awaited.get(run),
            killed_high: tails.killed_high.get(tail),
        }
    }

    fn get(&self, at: usize) -> FollowedRow {
        let label = |name| self.names.label(name).clone();
        let tail = self.lines.tail.get(at) as usize;
        let (runs, tails) = (&self.runs, &self.tails);
        let run = tails.run.get(tail) as usize;
        FollowedRow {
            run_id: label(runs.run_id.get(run)),
            cluster: label(runs.cluster.get(run)),
            stack: label(self.stack_of.get(at)),
            stop_point: tails.stop_point.get(tail),
            stopped_low: tails.stopped_low.get(tail),
            stopped_high: tails.stopped_high.get(tail),
            edits_low: tails.edits_low.get(tail),
            edits_high: tails.edits_high.get(tail),
            handovers_low: tails.handovers_low.get(tail),
            handovers_high: tails.handovers_high.get(tail),
            greens_low: tails.greens_low.get(tail),
            greens_high: tails.greens_high.get(tail),
            reply_to_come: tails.reply_to_come.get(tail),
            cut_short_low: tails.cut_short_low.get(tail),
            cut_short_high: tails.cut_short_high.get(tail),
            tokens_after_stop: tails.tokens_after_stop.get(tail),
            tokens_after_last_effect: tails.tokens_after_last_effect.get(tail),
            tail_tokens_low: runs.tail_tokens_low.get(run),
            tail_tokens_high: runs.tail_tokens_high.get(run),
            tokens_recorded: runs.tokens_recorded.get(run),
            steps_after_stop: tails.steps_after_stop.get(tail),
            last_effect_step: runs.last_effect_step.get(run),
            interrupted: runs.interrupted.get(run),
            awaited: runs.awaited.get(run),
            killed_high: tails.killed_high.get(tail),
        }
    }
}

impl FromIterator<FollowedRow> for FollowedRows {
    fn from_iter<I: IntoIterator<Item = FollowedRow>>(rows: I) -> Self {
        let mut builder = FollowedBuilder::default();
        builder.extend(rows);
        builder.finish()
    }
}

/// Builds [`FollowedRows`]. Consecutive rows of one run share what they have in common.
#[derive(Default)]
pub struct FollowedBuilder {
    names: Names,
    runs: Runs,
    tails: Tails,
    lines: Lines,
    stack_of: Repeating<Name>,
    stacks: Vec<Name>,
    /// The run of the last row.
    run: Option<Facts>,
    n_runs: u32,
    /// The tails of that run so far; the last one is number `n_tails - 1`.
    own: Vec<Tail>,
    n_tails: u32,
}

impl Extend<FollowedRow> for FollowedBuilder {
    fn extend<I: IntoIterator<Item = FollowedRow>>(&mut self, rows: I) {
        for row in rows {
            self.push(&row);
        }
    }
}

impl FollowedBuilder {
    /// Adds a row.
    pub fn push(&mut self, row: &FollowedRow) {
        let facts = Facts {
            run_id: self.names.number(&row.run_id),
            cluster: self.names.number(&row.cluster),
            tail_tokens_low: row.tail_tokens_low,
            tail_tokens_high: row.tail_tokens_high,
            tokens_recorded: row.tokens_recorded,
            last_effect_step: row.last_effect_step,
            interrupted: row.interrupted,
            awaited: row.awaited,
        };
        if !self.run.is_some_and(|run| run.is_same(&facts)) {
            self.runs.push(facts);
            self.run = Some(facts);
            self.n_runs = self.n_runs.checked_add(1).expect("fewer than 2^32 runs fit into memory");
            self.own.clear();
        }
        let tail = self.tail(row);
        let known = self.own.iter().rposition(|own| own.is_same(&tail));
        let place = known.unwrap_or_else(|| {
            self.tails.push(tail);
            self.own.push(tail);
            self.n_tails = self.n_tails.checked_add(1).expect("fewer than 2^32 tails fit into memory");
            self.own.len() - 1
        });
        let after = u32::try_from(self.own.len() - place).expect("no more tails than rows");
        let stack = self.names.number(&row.stack);
        if !self.stacks.contains(&stack) {
            self.stacks.push(stack);
        }
        self.stack_of.push(stack);
        self.lines.push(Line { tail: self.n_tails - after });
    }

    fn tail(&self, row: &FollowedRow) -> Tail {
        Tail {
            run: self.n_runs - 1,
            stop_point: row.stop_point,
            stopped_low: row.stopped_low,
            stopped_high: row.stopped_high,
            edits_low: row.edits_low,
            edits_high: row.edits_high,
            handovers_low: row.handovers_low,
            handovers_high: row.handovers_high,
            greens_low: row.greens_low,
            greens_high: row.greens_high,
            reply_to_come: row.reply_to_come,
            cut_short_low: row.cut_short_low,
            cut_short_high: row.cut_short_high,
            tokens_after_stop: row.tokens_after_stop,
            tokens_after_last_effect: row.tokens_after_last_effect,
            steps_after_stop: row.steps_after_stop,
            killed_high: row.killed_high,
        }
    }

    /// The rows so far.
    pub fn finish(self) -> FollowedRows {
        let Self { names, runs, tails, lines, stack_of, stacks, .. } = self;
        let clusters: Vec<&Label> = (0..runs.cluster.len()).map(|run| names.label(runs.cluster.get(run))).collect();
        let (_, cluster_of) = in_order(&clusters);
        FollowedRows { names, runs, tails, lines, stack_of, stacks, cluster_of }
    }
}
