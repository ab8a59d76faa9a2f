//! A view of one row of the columns.

use serde::{Serialize, Serializer};

use super::Rows;
use super::kept::{Kept, Viewed};
use super::marks::{Bit, PackedMarks};
use crate::aggregate::columns::row_columns;
use crate::aggregate::{ExactnessName, Label, Row};
use crate::transcript::{EndCause, Outcome, Point};
use crate::verdict::{Doubts, Verdict};

/// One row, read from the columns on access. Its fields are documented at [`Row`].
#[derive(Clone, Copy, Debug)]
pub struct RowView<'r> {
    rows: &'r Rows,
    at: usize,
    ending: usize,
    /// Of the ending, read once since nearly every field needs one of the two.
    run: u32,
    marks: PackedMarks,
}

/// Declares the getters of the columns of runs and endings, and of the bits.
macro_rules! declare {
    ($all:tt [$($run:ident: $of_run:ty,)*] [$($ending:ident: $of_ending:ty,)*] [$($bit:ident: $which:ident,)*]) => {
        impl<'r> RowView<'r> {$(
            #[doc = concat!("See [`Row::", stringify!($run), "`].")]
            #[inline]
            pub fn $run(self) -> <$of_run as Viewed>::View<'r> {
                <$of_run as Kept>::view(self.rows.runs.$run.get(self.run()), &self.rows.names)
            }
        )*}

        impl<'r> RowView<'r> {$(
            #[doc = concat!("See [`Row::", stringify!($ending), "`].")]
            #[inline]
            pub fn $ending(self) -> <$of_ending as Viewed>::View<'r> {
                <$of_ending as Kept>::view(self.rows.endings.$ending.get(self.ending), &self.rows.names)
            }
        )*}

        impl RowView<'_> {$(
            #[doc = concat!("See [`Row::", stringify!($bit), "`].")]
            #[inline]
            pub fn $bit(self) -> u8 {
                self.marks.bit(Bit::$which)
            }
        )*}
    };
}
row_columns!(declare);

/// Declares the conversion into an owned row, from the list of columns.
macro_rules! declare_owned {
    ({$($(#[$($meta:tt)*])* $name:ident: $cell:ty $(, $unit:literal)?;)*} $run:tt $ending:tt $bit:tt) => {
        impl RowView<'_> {
            /// The whole row.
            #[must_use]
            pub fn to_row(self) -> Row {
                Row { $($name: <$cell as Viewed>::owned(self.$name()),)* }
            }
        }
    };
}
row_columns!(declare_owned);

impl<'r> RowView<'r> {
    /// The row at `at`, which is below the length.
    #[inline]
    pub(in crate::aggregate) fn new(rows: &'r Rows, at: usize) -> Self {
        Self::with_ending(rows, at, rows.lines.ending.get(at) as usize)
    }

    /// The row at `at`, whose ending is already known.
    #[inline]
    pub(in crate::aggregate) fn with_ending(rows: &'r Rows, at: usize, ending: usize) -> Self {
        Self { rows, at, ending, run: rows.endings.run.get(ending), marks: rows.endings.marks.get(ending) }
    }

    /// The index of the row's ending: rows that share it are equal in everything that does not name a stack or a rule.
    #[inline]
    pub(in crate::aggregate) fn ending(self) -> usize {
        self.ending
    }

    #[inline]
    fn run(self) -> usize {
        self.run as usize
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

    /// See [`Row::verdict`].
    #[inline]
    pub fn verdict(self) -> Verdict {
        self.marks.verdict()
    }

    /// See [`Row::outcome`].
    #[inline]
    pub fn outcome(self) -> Outcome {
        self.marks.outcome()
    }

    /// See [`Row::exactness`].
    #[inline]
    pub fn exactness(self) -> ExactnessName {
        self.marks.exactness()
    }

    /// See [`Row::unknown`].
    #[inline]
    pub fn unknown(self) -> Doubts {
        self.marks.unknown()
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

    /// True when the stack ended the run early.
    #[inline]
    pub fn is_stop(self) -> bool {
        self.stop_point().is_some()
    }

    /// True if the row may be counted in a rate: nothing about the recording is unknown. What the stack did plays no
    /// part in this, or the rate would be biased.
    #[inline]
    pub fn is_judged(self) -> bool {
        !self.unknown().come_from_recording()
    }

    /// Stopped early, for certain.
    #[inline]
    pub fn was_stopped(self) -> bool {
        self.stopped_low() == 1
    }
}

impl Serialize for RowView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_row().serialize(serializer)
    }
}
