//! Stores [`FollowedRow`]s as columns, about 8 bytes per row: stacks that stop a run at the same point share what
//! followed.

use std::ops::Range;

use super::column::{Cell, Column, frame};
use super::in_order;
use super::kept::{Kept, Viewed};
use super::names::{Name, Names};
use super::repeating::Repeating;
use crate::aggregate::columns::followed_columns;
use crate::aggregate::{FollowedRow, Label};
use crate::parallel;
use crate::transcript::Point;

/// Declares the frames of runs and of what followed their stops, and a view of both, from the list of columns.
macro_rules! declare {
    (
        {$($(#[$($meta:tt)*])* $name:ident: $cell:ty $(, $unit:literal)?;)*}
        [$($run:ident: $of_run:ty,)*] [$($tail:ident: $of_tail:ty,)*] $bit:tt
    ) => {
        frame! {
            /// What all rows of a run share.
            Facts, Runs {
                $($run: <$of_run as Kept>::Cell,)*
            }
        }

        frame! {
            /// What followed a stop; independent of the stack that stopped.
            Tail, Tails {
                run: u32,
                $($tail: <$of_tail as Kept>::Cell,)*
            }
        }

        impl Facts {
            fn from_row(row: &FollowedRow, names: &mut Names) -> Self {
                Self { $($run: row.$run.keep(names),)* }
            }
        }

        impl Tail {
            fn from_row(row: &FollowedRow, run: u32, names: &mut Names) -> Self {
                Self { run, $($tail: row.$tail.keep(names),)* }
            }
        }

        impl<'r> FollowedView<'r> {
            $(pub(in crate::aggregate) fn $run(self) -> <$of_run as Viewed>::View<'r> {
                <$of_run as Kept>::view(self.rows.runs.$run.get(self.run), &self.rows.names)
            })*

            $(pub(in crate::aggregate) fn $tail(self) -> <$of_tail as Viewed>::View<'r> {
                <$of_tail as Kept>::view(self.rows.tails.$tail.get(self.tail), &self.rows.names)
            })*

            fn to_row(self) -> FollowedRow {
                FollowedRow { $($name: <$cell as Viewed>::owned(self.$name()),)* }
            }
        }
    };
}
followed_columns!(declare);

/// What followed the stops of all runs and stacks, in the order given.
#[derive(Clone, Debug, Default)]
pub struct FollowedRows {
    names: Names,
    runs: Runs,
    tails: Tails,
    /// What followed the stop of each row, by its place in `tails`.
    tail_of: Column<u32>,
    /// The stack of each row.
    stack_of: Repeating<Name>,
    /// The stacks, in the order given.
    stacks: Vec<Name>,
    /// For each run, the index of its cluster in name order.
    cluster_of: Vec<u32>,
}

/// One row, read from the columns on access. Its fields are documented at [`FollowedRow`].
#[derive(Clone, Copy, Debug)]
pub(in crate::aggregate) struct FollowedView<'r> {
    rows: &'r FollowedRows,
    at: usize,
    tail: usize,
    run: usize,
}

impl FollowedRows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.tail_of.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = FollowedRow> {
        (0..self.len()).map(|at| self.view(at).to_row())
    }

    /// The rows in this range of positions.
    pub fn range(&self, places: Range<usize>) -> impl Iterator<Item = FollowedRow> {
        places.map(|at| self.view(at).to_row())
    }

    /// One row per run, for what does not depend on the stack.
    pub fn one_per_run(&self) -> impl Iterator<Item = FollowedRow> {
        self.runs().map(|(_, rows)| self.view(rows.start).to_row())
    }

    /// Each run with the range of its rows, which are consecutive.
    pub fn runs(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let run = |at: usize| self.tails.run.get(self.tail_of.get(at) as usize);
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

    /// What `work` makes of each stack's rows, in the order the stacks were given. Only one stack's are in memory per
    /// thread.
    pub(in crate::aggregate) fn map_stacks<T: Send>(
        &self,
        work: impl Fn(&Label, &[FollowedView<'_>]) -> T + Sync,
    ) -> Vec<T> {
        parallel::map(&self.stacks, |stack| {
            let rows: Vec<FollowedView<'_>> =
                self.stack_of.positions(|of| of == *stack).map(|at| self.view(at)).collect();
            work(self.names.label(*stack), &rows)
        })
    }

    /// Whether any recording ends in an interruption.
    pub(in crate::aggregate) fn any_interrupted(&self) -> bool {
        (0..self.runs.interrupted.len()).any(|run| self.runs.interrupted.get(run) == 1)
    }

    fn view(&self, at: usize) -> FollowedView<'_> {
        let tail = self.tail_of.get(at) as usize;
        FollowedView { rows: self, at, tail, run: self.tails.run.get(tail) as usize }
    }
}

impl<'r> FollowedView<'r> {
    /// The index of its cluster in name order.
    pub(in crate::aggregate) fn cluster_place(self) -> usize {
        self.rows.cluster_of[self.run] as usize
    }

    fn stack(self) -> &'r Label {
        self.rows.names.label(self.rows.stack_of.get(self.at))
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
    /// The rows so far, whose clusters are not yet in order.
    rows: FollowedRows,
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
        let rows = &mut self.rows;
        let facts = Facts::from_row(row, &mut rows.names);
        if !self.run.is_some_and(|run| run.is_same(&facts)) {
            rows.runs.push(facts);
            self.run = Some(facts);
            self.n_runs = self.n_runs.checked_add(1).expect("fewer than 2^32 runs fit into memory");
            self.own.clear();
        }
        let tail = Tail::from_row(row, self.n_runs - 1, &mut rows.names);
        let known = self.own.iter().rposition(|own| own.is_same(&tail));
        let place = known.unwrap_or_else(|| {
            rows.tails.push(tail);
            self.own.push(tail);
            self.n_tails = self.n_tails.checked_add(1).expect("fewer than 2^32 tails fit into memory");
            self.own.len() - 1
        });
        let after = u32::try_from(self.own.len() - place).expect("no more tails than rows");
        let stack = rows.names.number(&row.stack);
        if !rows.stacks.contains(&stack) {
            rows.stacks.push(stack);
        }
        rows.stack_of.push(stack);
        rows.tail_of.push(self.n_tails - after);
    }

    /// The rows so far.
    pub fn finish(self) -> FollowedRows {
        let rows = self.rows;
        let clusters = &rows.runs.cluster;
        let clusters: Vec<&Label> = (0..clusters.len()).map(|run| rows.names.label(clusters.get(run))).collect();
        let (_, cluster_of) = in_order(&clusters);
        FollowedRows { cluster_of, ..rows }
    }
}
