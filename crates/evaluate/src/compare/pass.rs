//! One pass over a corpus: the results of each run, and what is kept of them.

use std::sync::{PoisonError, RwLock};

use super::{Comparison, Shelf};
use crate::aggregate::{
    Firing, Firings, FiringsBuilder, FollowedBuilder, FollowedRow, FollowedRows, Row, Rows, RowsBuilder,
};
use crate::effects::EffectTable;
use crate::effects::Work;
use crate::explain::{Story, Texts};
use crate::transcript::{Outcome, Run, Secured};
use crate::verdict::Ledger;

/// What the host keeps of a run that it stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing: a success that is stopped early is lost.
    #[default]
    Nothing,
    /// The work: a success is kept if it is stopped after its last edit.
    Work,
    /// Unknown: the two other answers are the ends of a range.
    Unknown,
}

impl Keeps {
    /// The rows and firings of a run under this assumption.
    fn rows_of(self, comparison: &Comparison<'_>, run: &Run, work: &Work) -> (Vec<Row>, Vec<Firing>) {
        let is_open = run.grade.outcome == Outcome::Success && run.secured() == Secured::Unverified;
        if self == Self::Nothing || !is_open {
            return comparison.rows_of(run);
        }
        // If a reply is awaited, the run is worth nothing without it; if nothing was changed, there is no work to
        // keep.
        let Some(standing) = work.standing().1.filter(|_| !work.is_awaited()) else { return comparison.rows_of(run) };
        let mut kept = run.clone();
        kept.grade.secured_step = Some(standing);
        let (kept, firings) = comparison.rows_of(&kept);
        if self == Self::Work {
            return (kept, firings);
        }
        let (mut rows, firings) = comparison.rows_of(run);
        for (row, kept) in rows.iter_mut().zip(kept) {
            row.killed_low = row.killed_low.min(kept.killed_low);
            row.outcome_high = row.outcome_high.max(kept.outcome_high);
        }
        (rows, firings)
    }
}

/// The result of one run: rows, firings, what followed, and its story if one was asked for.
#[derive(Debug)]
pub struct OfRun {
    /// One row per stack.
    pub rows: Vec<Row>,
    /// The firings of all stacks.
    pub firings: Vec<Firing>,
    /// What followed the stop of each row.
    pub followed: Vec<FollowedRow>,
    /// The run step by step, if it was chosen for the page.
    story: Option<Story>,
}

/// How every run of a pass is evaluated; usable from any thread.
pub struct Pass<'s> {
    comparison: Comparison<'s>,
    effects: EffectTable,
    keeps: Keeps,
    shelf: Option<RwLock<Shelf>>,
}

impl<'s> Pass<'s> {
    /// Computes rows, firings and what followed, but no stories.
    pub fn new(comparison: Comparison<'s>, effects: EffectTable) -> Self {
        Self { comparison, effects, keeps: Keeps::Nothing, shelf: None }
    }

    /// Sets what the host keeps of a run that it stops.
    #[must_use]
    pub fn keeping(mut self, keeps: Keeps) -> Self {
        self.keeps = keeps;
        self
    }

    /// Also tells the runs that matter most step by step, for a page; `None` tells none.
    #[must_use]
    pub fn telling(mut self, texts: Option<Texts>) -> Self {
        self.shelf = texts.map(|texts| RwLock::new(Shelf::new(texts)));
        self
    }

    /// The comparison: the stacks it replays.
    pub fn comparison(&self) -> &Comparison<'s> {
        &self.comparison
    }

    /// Evaluates one run.
    pub fn of(&self, run: &Run) -> OfRun {
        let ledger = Ledger::of(run);
        let work = Work::of(run, &self.effects, &ledger);
        let (rows, firings) = self.keeps.rows_of(&self.comparison, run, &work);
        let followed = rows.iter().map(|row| FollowedRow::of(row, &work, &ledger)).collect();
        let wanted = self.shelf.as_ref().and_then(|told| {
            let told = told.read().unwrap_or_else(PoisonError::into_inner);
            told.wants(&rows).then(|| told.texts())
        });
        let story = wanted.map(|texts| self.comparison.story_of(run, &rows, texts, &self.effects));
        OfRun { rows, firings, followed, story }
    }

    /// Stores the story of a run, if it has one. Call it in the order of the runs.
    pub fn tell(&self, run: &mut OfRun) {
        if let Some((story, shelf)) = run.story.take().zip(self.shelf.as_ref()) {
            shelf.write().unwrap_or_else(PoisonError::into_inner).put(&run.rows, story);
        }
    }

    /// The shelf with all stories.
    pub fn into_shelf(self) -> Shelf {
        let told = self.shelf.map(|told| told.into_inner().unwrap_or_else(PoisonError::into_inner));
        told.unwrap_or_else(|| Shelf::new(Texts::None))
    }
}

/// The results of all runs, as columns.
#[derive(Default)]
pub struct Collected {
    rows: RowsBuilder,
    firings: FiringsBuilder,
    followed: FollowedBuilder,
}

impl Collected {
    /// Adds the results of one run.
    pub fn take(&mut self, run: OfRun) {
        self.rows.extend(run.rows);
        self.firings.extend(run.firings);
        self.followed.extend(run.followed);
    }

    /// All rows, firings, and what followed.
    pub fn finish(self) -> (Rows, Firings, FollowedRows) {
        (self.rows.finish(), self.firings.finish(), self.followed.finish())
    }
}
