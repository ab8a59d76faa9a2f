//! A view of one row of the columns.

use serde::{Serialize, Serializer};

use super::Rows;
use super::marks::{Bit, Marks};
use crate::aggregate::{ExactnessName, Label, Row};
use crate::transcript::{EndCause, Outcome, Point};
use crate::verdict::{Doubts, Verdict};

/// One row, read from the columns on access. Its fields are documented at [`Row`].
#[derive(Clone, Copy, Debug)]
pub struct RowView<'r> {
    rows: &'r Rows,
    at: usize,
    ending: usize,
}

/// Getters for cells of an ending, by the name of their column.
macro_rules! of_ending {
    ($($field:ident: $cell:ty,)*) => {$(
        #[doc = concat!("See [`Row::", stringify!($field), "`].")]
        #[inline]
        pub fn $field(self) -> $cell {
            self.rows.endings.$field.get(self.ending)
        }
    )*};
}

/// Getters for bits of an ending.
macro_rules! of_marks {
    ($($field:ident: $bit:ident,)*) => {$(
        #[doc = concat!("See [`Row::", stringify!($field), "`].")]
        #[inline]
        pub fn $field(self) -> u8 {
            self.marks().bit(Bit::$bit)
        }
    )*};
}

/// Getters for cells of a run.
macro_rules! of_run {
    ($($field:ident: $cell:ty,)*) => {$(
        #[doc = concat!("See [`Row::", stringify!($field), "`].")]
        #[inline]
        pub fn $field(self) -> $cell {
            self.rows.runs.$field.get(self.run())
        }
    )*};
}

impl<'r> RowView<'r> {
    /// The row at `at`, which is below the length.
    #[inline]
    pub(in crate::aggregate) fn new(rows: &'r Rows, at: usize) -> Self {
        Self { rows, at, ending: rows.lines.ending.get(at) as usize }
    }

    /// The row at `at`, whose ending is already known.
    #[inline]
    pub(in crate::aggregate) fn with_ending(rows: &'r Rows, at: usize, ending: usize) -> Self {
        Self { rows, at, ending }
    }

    /// The index of the row's ending: rows that share it are equal in everything that does not name a stack or a rule.
    #[inline]
    pub(in crate::aggregate) fn ending(self) -> usize {
        self.ending
    }

    #[inline]
    fn run(self) -> usize {
        self.rows.endings.run.get(self.ending) as usize
    }

    #[inline]
    fn reason(self) -> usize {
        self.rows.lines.reason.get(self.at) as usize
    }

    /// The index of its task in [`Rows::tasks`].
    #[inline]
    pub fn task(self) -> usize {
        self.rows.task_of[self.run()] as usize
    }

    /// The cluster key: suite and task; a run without a task is a task of its own.
    #[inline]
    pub fn cluster(self) -> (&'r str, &'r str) {
        let (suite, task) = &self.rows.tasks[self.task()];
        (suite, task)
    }

    of_ending! {
        steps_at_stop: u64,
        stop_point: Option<Point>,
        tokens_at_stop: Option<u64>,
        cost_usd_at_stop: Option<f64>,
        ms_at_stop: Option<i64>,
        steps_low: u64,
        steps_high: Option<u64>,
        tokens_low: Option<u64>,
        tokens_high: Option<u64>,
        cost_usd_low: Option<f64>,
        cost_usd_high: Option<f64>,
        diverged_at: Option<Point>,
        interventions: u64,
        steps_after_secured: Option<u64>,
        tokens_after_secured: Option<u64>,
        cost_usd_after_secured: Option<f64>,
    }

    of_marks! {
        outcome_low: OutcomeLow,
        outcome_high: OutcomeHigh,
        stopped_low: StoppedLow,
        stopped_high: StoppedHigh,
        killed_low: KilledLow,
        killed_high: KilledHigh,
        true_stop_low: TrueStopLow,
        true_stop_high: TrueStopHigh,
    }

    #[inline]
    fn marks(self) -> Marks {
        self.rows.endings.marks.get(self.ending)
    }

    /// See [`Row::verdict`].
    #[inline]
    pub fn verdict(self) -> Verdict {
        self.marks().verdict()
    }

    /// See [`Row::outcome`].
    #[inline]
    pub fn outcome(self) -> Outcome {
        self.marks().outcome()
    }

    /// See [`Row::exactness`].
    #[inline]
    pub fn exactness(self) -> ExactnessName {
        self.marks().exactness()
    }

    /// See [`Row::unknown`].
    #[inline]
    pub fn unknown(self) -> Doubts {
        self.marks().unknown()
    }

    of_run! {
        end: EndCause,
        secured_step: Option<u32>,
        steps_recorded: u64,
        tokens_recorded: Option<u64>,
        cost_usd_recorded: Option<f64>,
        ms_recorded: Option<i64>,
        tokens_in_part: u8,
    }

    /// See [`Row::run_id`].
    #[inline]
    pub fn run_id(self) -> &'r Label {
        self.rows.names.label(self.rows.runs.run_id.get(self.run()))
    }

    /// See [`Row::task_id`].
    #[inline]
    pub fn task_id(self) -> Option<&'r Label> {
        self.rows.runs.task_id.get(self.run()).map(|name| self.rows.names.label(name))
    }

    /// See [`Row::suite`].
    #[inline]
    pub fn suite(self) -> Option<&'r Label> {
        self.rows.runs.suite.get(self.run()).map(|name| self.rows.names.label(name))
    }

    /// See [`Row::model`].
    #[inline]
    pub fn model(self) -> Option<&'r Label> {
        self.rows.runs.model.get(self.run()).map(|name| self.rows.names.label(name))
    }

    /// See [`Row::stack`].
    #[inline]
    pub fn stack(self) -> &'r Label {
        self.rows.names.label(self.rows.stacks.get(self.at).0)
    }

    /// See [`Row::profile`].
    #[inline]
    pub fn profile(self) -> &'r Label {
        self.rows.names.label(self.rows.stacks.get(self.at).1)
    }

    /// See [`Row::rule`].
    #[inline]
    pub fn rule(self) -> Option<&'r Label> {
        self.rows.reasons.rule.get(self.reason()).map(|name| self.rows.names.label(name))
    }

    /// See [`Row::observed`].
    #[inline]
    pub fn observed(self) -> Option<f64> {
        self.rows.reasons.observed.get(self.reason())
    }

    /// See [`Row::limit`].
    #[inline]
    pub fn limit(self) -> Option<f64> {
        self.rows.reasons.limit.get(self.reason())
    }

    /// See [`Row::not_evaluable`].
    #[inline]
    pub fn not_evaluable(self) -> &'r Label {
        self.rows.names.label(self.rows.reasons.not_evaluable.get(self.reason()))
    }

    /// See [`Row::action`].
    #[inline]
    pub fn action(self) -> Option<&'r Label> {
        self.rows.endings.action.get(self.ending).map(|name| self.rows.names.label(name))
    }

    /// True when the stack ended the run early.
    #[inline]
    pub fn is_stop(self) -> bool {
        self.stop_point().is_some()
    }

    /// True if the row may be counted in a rate: nothing about the recording is unknown. What the stack did plays no
    /// part in this, or the rate would be biased.
    #[inline]
    pub fn is_judged(self) -> bool {
        !self.unknown().of_recording()
    }

    /// Stopped early, for certain.
    #[inline]
    pub fn was_stopped(self) -> bool {
        self.stopped_low() == 1
    }

    /// The whole row.
    #[must_use]
    pub fn to_row(self) -> Row {
        Row {
            run_id: self.run_id().clone(),
            task_id: self.task_id().cloned(),
            suite: self.suite().cloned(),
            model: self.model().cloned(),
            stack: self.stack().clone(),
            verdict: self.verdict(),
            exactness: self.exactness(),
            outcome: self.outcome(),
            end: self.end(),
            secured_step: self.secured_step(),
            steps_recorded: self.steps_recorded(),
            steps_at_stop: self.steps_at_stop(),
            stop_point: self.stop_point(),
            rule: self.rule().cloned(),
            observed: self.observed(),
            limit: self.limit(),
            tokens_recorded: self.tokens_recorded(),
            tokens_at_stop: self.tokens_at_stop(),
            cost_usd_recorded: self.cost_usd_recorded(),
            cost_usd_at_stop: self.cost_usd_at_stop(),
            ms_recorded: self.ms_recorded(),
            ms_at_stop: self.ms_at_stop(),
            outcome_low: self.outcome_low(),
            outcome_high: self.outcome_high(),
            unknown: self.unknown(),
            stopped_low: self.stopped_low(),
            stopped_high: self.stopped_high(),
            killed_low: self.killed_low(),
            killed_high: self.killed_high(),
            true_stop_low: self.true_stop_low(),
            true_stop_high: self.true_stop_high(),
            steps_low: self.steps_low(),
            steps_high: self.steps_high(),
            tokens_low: self.tokens_low(),
            tokens_high: self.tokens_high(),
            cost_usd_low: self.cost_usd_low(),
            cost_usd_high: self.cost_usd_high(),
            tokens_in_part: self.tokens_in_part(),
            not_evaluable: self.not_evaluable().clone(),
            profile: self.profile().clone(),
            action: self.action().cloned(),
            diverged_at: self.diverged_at(),
            interventions: self.interventions(),
            steps_after_secured: self.steps_after_secured(),
            tokens_after_secured: self.tokens_after_secured(),
            cost_usd_after_secured: self.cost_usd_after_secured(),
        }
    }
}

impl Serialize for RowView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_row().serialize(serializer)
    }
}
