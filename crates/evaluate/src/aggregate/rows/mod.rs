//! Stores rows as columns: a [`Row`] takes half a kilobyte, here about 40 bytes.
//!
//! Three frames, joined by position. A run's facts are stored once for all stacks. So is each of its *endings*, the
//! result of a run under a stack: most stacks leave most runs alone, and those that stop a run often stop it at the
//! same point. A row itself stores only its stack, its ending, and the rule with the value it read. Names are kept in
//! a dictionary.

mod column;
mod firings;
mod followed;
mod kept;
mod marks;
mod names;
mod repeating;
mod view;

use foldhash::HashMap;

use self::column::{Cell, Column, frame};
use self::kept::Kept;
use self::marks::PackedMarks;
use self::names::{Name, Names};
use self::repeating::Repeating;
use super::columns::row_columns;
use super::{Label, Row};
use crate::parallel;
use crate::transcript::{EndCause, Point};

pub use self::firings::Firings;
pub(super) use self::followed::FollowedView;
pub use self::followed::{FollowedBuilder, FollowedRows};
pub use self::view::RowView;

/// Declares the frames of runs and endings from the list of columns.
macro_rules! declare {
    ($all:tt [$($run:ident: $of_run:ty,)*] [$($ending:ident: $of_ending:ty,)*] $bit:tt) => {
        frame! {
            /// What all rows of a run share.
            RunFacts, Runs {
                $($run: <$of_run as Kept>::Cell,)*
            }
        }

        frame! {
            /// The result of a run under a stack; independent of which stack it is.
            Ending, Endings {
                run: u32,
                marks: PackedMarks,
                $($ending: <$of_ending as Kept>::Cell,)*
            }
        }

        impl RunFacts {
            fn from_row(row: &Row, names: &mut Names) -> Self {
                Self { $($run: row.$run.keep(names),)* }
            }
        }

        impl Ending {
            fn from_row(row: &Row, run: u32, names: &mut Names) -> Self {
                Self { run, marks: PackedMarks::from_row(row), $($ending: row.$ending.keep(names),)* }
            }
        }
    };
}
row_columns!(declare);

frame! {
    /// One row: which run's ending it is, and why. Its stack is in [`Rows::stacks`].
    Line, Lines {
        ending: u32,
        reason: u32,
    }
}

frame! {
    /// Which rule stopped a run and the value it read (empty if none did), and which rules could not be evaluated.
    Reason, Reasons {
        rule: Option<Name>,
        observed: Option<f64>,
        limit: Option<f64>,
        not_evaluable: Name,
    }
}

/// The lookup key of a reason.
type ReasonKey = (Option<Name>, Option<u64>, Option<u64>, Name);

/// A stack and its profile.
type Stack = (Name, Name);

/// All rows of a comparison as columns, in the order given.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    names: Names,
    runs: Runs,
    endings: Endings,
    lines: Lines,
    /// The stack of each row.
    stacks: Repeating<Stack>,
    reasons: Reasons,
    /// Positions of rows and of their endings, by stack in the order given.
    by_stack: Vec<(Name, Vec<Place>)>,
    /// For each run, the index of its task in `tasks`.
    task_of: Vec<u32>,
    /// Suite and task name of each task, in name order; see [`RowView::cluster`].
    tasks: Vec<(Label, Label)>,
}

impl Rows {
    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.lines.ending.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row at `at`, if there is one.
    #[inline]
    pub fn get(&self, at: usize) -> Option<RowView<'_>> {
        if at < self.len() { Some(RowView::new(self, at)) } else { None }
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RowView<'_>> + Clone {
        (0..self.len()).map(|at| RowView::new(self, at))
    }

    /// One row per ending, for computations that depend on nothing else. The stack and rule of these rows are
    /// meaningless.
    pub(super) fn endings(&self) -> impl Iterator<Item = RowView<'_>> {
        (0..self.endings.run.len()).map(|ending| RowView::with_ending(self, usize::MAX, ending))
    }

    /// The rows for which `keep` is true, in their order.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(RowView<'_>) -> bool) -> Self {
        self.iter().filter(|row| keep(*row)).map(RowView::to_row).collect()
    }

    /// The rows of each stack, in the order the stacks were given.
    pub(super) fn stacks(&self) -> impl Iterator<Item = &[Place]> {
        self.by_stack.iter().map(|(_, places)| &**places)
    }

    /// The rows of one stack, in their order.
    pub fn for_stack(&self, stack: &Label) -> impl Iterator<Item = RowView<'_>> {
        let name = self.names.find(stack);
        let places = match self.by_stack.iter().find(|(stack, _)| Some(*stack) == name) {
            Some((_, places)) => &places[..],
            None => &[],
        };
        places.iter().map(|(at, ending)| RowView::with_ending(self, *at as usize, *ending as usize))
    }

    /// Suite and task name of every task, in name order, indexed by [`RowView::task`].
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.tasks.iter().map(|(suite, task)| (&**suite, &**task))
    }
}

impl FromIterator<Row> for Rows {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        let mut builder = RowsBuilder::default();
        builder.extend(rows);
        builder.finish()
    }
}

/// Builds [`Rows`]. Consecutive rows of one run share what they have in common.
#[derive(Default)]
pub struct RowsBuilder {
    /// The rows so far, neither by stack nor by task.
    rows: Rows,
    reason_places: HashMap<ReasonKey, u32>,
    /// The last reason without a rule, which most rows share.
    last_without_rule: Option<(ReasonKey, u32)>,
    /// The number of rows of each stack, in the order the stacks were given.
    n_rows: Vec<(Name, usize)>,
    /// Suite and task of each run.
    clusters: Vec<(Label, Label)>,
    /// The run of the last row.
    run: Option<RunFacts>,
    /// The endings of that run so far; the last one is number `n_endings - 1`.
    own: Vec<Ending>,
    n_endings: u32,
    /// The label shared by all runs without a suite.
    no_suite: Option<Label>,
}

impl Extend<Row> for RowsBuilder {
    fn extend<I: IntoIterator<Item = Row>>(&mut self, rows: I) {
        for row in rows {
            self.push(&row);
        }
    }
}

impl RowsBuilder {
    /// Adds a row.
    pub fn push(&mut self, row: &Row) {
        let facts = RunFacts::from_row(row, &mut self.rows.names);
        if !self.run.is_some_and(|run| run.is_same(&facts)) {
            self.rows.runs.push(facts);
            self.run = Some(facts);
            self.own.clear();
            let suite = row.suite.clone().unwrap_or_else(|| self.no_suite.get_or_insert_with(|| "".into()).clone());
            self.clusters.push((suite, row.task_id.clone().unwrap_or_else(|| row.run_id.clone())));
        }
        let run = u32::try_from(self.clusters.len() - 1).expect("fewer than 2^32 runs fit into memory");
        let ending = Ending::from_row(row, run, &mut self.rows.names);
        let known = self.own.iter().rposition(|own| own.is_same(&ending));
        let place = known.unwrap_or_else(|| {
            self.rows.endings.push(ending);
            self.own.push(ending);
            self.n_endings = self.n_endings.checked_add(1).expect("fewer than 2^32 endings fit into memory");
            self.own.len() - 1
        });
        let after = u32::try_from(self.own.len() - place).expect("no more endings than rows");
        let stack = self.rows.names.number(&row.stack);
        match self.n_rows.iter_mut().find(|(of, _)| *of == stack) {
            Some((_, n)) => *n += 1,
            None => self.n_rows.push((stack, 1)),
        }
        let profile = self.rows.names.number(&row.profile);
        self.rows.stacks.push((stack, profile));
        let line = Line { ending: self.n_endings - after, reason: self.reason(row) };
        self.rows.lines.push(line);
    }

    fn reason(&mut self, row: &Row) -> u32 {
        let rule = row.rule.as_ref().map(|rule| self.rows.names.number(rule));
        let not_evaluable = self.rows.names.number(&row.not_evaluable);
        let key = (rule, row.observed.map(f64::to_bits), row.limit.map(f64::to_bits), not_evaluable);
        if let Some((last, place)) = self.last_without_rule
            && last == key
        {
            return place;
        }
        let next = u32::try_from(self.reason_places.len()).expect("fewer than 2^32 reasons fit into memory");
        let place = *self.reason_places.entry(key).or_insert_with(|| {
            self.rows.reasons.push(Reason { rule, observed: row.observed, limit: row.limit, not_evaluable });
            next
        });
        if rule.is_none() {
            self.last_without_rule = Some((key, place));
        }
        place
    }

    /// The rows so far.
    pub fn finish(self) -> Rows {
        let (tasks, task_of) = in_order(&self.clusters);
        let rows = self.rows;
        let by_stack = by_stack(&rows.lines, &rows.stacks, &self.n_rows);
        Rows { by_stack, task_of, tasks, ..rows }
    }
}

/// The different ones of these in ascending order, and for each of these its place among them.
pub(super) fn in_order<T: Ord + Clone>(all: &[T]) -> (Vec<T>, Vec<u32>) {
    let mut different = all.to_vec();
    different.sort_unstable();
    different.dedup();
    let place = |one| different.binary_search(one).expect("each is among the different ones");
    let places =
        all.iter().map(|one| u32::try_from(place(one)).expect("fewer than 2^32 names fit into memory")).collect();
    (different, places)
}

/// The position of a row and of its ending.
pub(super) type Place = (u32, u32);

/// Positions of each stack's rows; `n_rows` gives the stacks and their row counts.
fn by_stack(lines: &Lines, stack_of: &Repeating<Stack>, n_rows: &[(Name, usize)]) -> Vec<(Name, Vec<Place>)> {
    let place = |at: usize| (u32::try_from(at).expect("fewer than 2^32 rows fit into memory"), lines.ending.get(at));
    let of_stack = |(stack, n): &(Name, usize)| {
        let mut places = Vec::with_capacity(*n);
        places.extend(stack_of.positions(|(of, _)| of == *stack).map(place));
        (*stack, places)
    };
    parallel::map(n_rows, of_stack)
}
