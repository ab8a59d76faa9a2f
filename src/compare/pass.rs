//! One pass over a corpus: what each run comes to, and all that is kept of it.

use std::sync::{PoisonError, RwLock};

use super::{Comparison, Shelf};
use crate::aggregate::{
    Firing, Firings, FiringsBuilder, FollowedBuilder, FollowedRow, FollowedRows, Row, Rows, RowsBuilder,
};
use crate::effect::EffectTable;
use crate::explain::{Story, Texts};
use crate::transcript::{Outcome, Run, Secured};
use crate::verdict::{Ledger, Work};

/// What the host keeps of a run that it stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// A success that is stopped early is lost.
    #[default]
    Nothing,
    /// A success is kept from its last edit on.
    Work,
    /// Either: the ends of a range.
    Unknown,
}

impl Keeps {
    /// The rows and firings of a run, judged so.
    fn rows_of(self, comparison: &Comparison<'_>, run: &Run, work: &Work) -> (Vec<Row>, Vec<Firing>) {
        let is_open = run.grade.outcome == Outcome::Success && run.secured() == Secured::Unverified;
        if self == Self::Nothing || !is_open {
            return comparison.rows_of(run);
        }
        // Whoever waits for a reply has nothing without it, and where nothing was changed there is nothing to keep.
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

/// What one run comes to.
#[derive(Debug)]
pub struct OfRun {
    /// A row for each stack.
    pub rows: Vec<Row>,
    /// What fired.
    pub firings: Vec<Firing>,
    /// What followed the stop of each row.
    pub followed: Vec<FollowedRow>,
    /// The run step by step, where it is told.
    story: Option<Story>,
}

/// How runs are looked at, from any thread.
pub struct Pass<'s> {
    comparison: Comparison<'s>,
    effects: EffectTable,
    keeps: Keeps,
    shelf: Option<RwLock<Shelf>>,
}

impl<'s> Pass<'s> {
    /// Rows, firings and what followed; no run is told.
    pub fn new(comparison: Comparison<'s>, effects: EffectTable) -> Self {
        Self { comparison, effects, keeps: Keeps::Nothing, shelf: None }
    }

    /// With what the host keeps of a run that it stops.
    #[must_use]
    pub fn keeping(mut self, keeps: Keeps) -> Self {
        self.keeps = keeps;
        self
    }

    /// With runs told step by step, those that matter most, for a page.
    #[must_use]
    pub fn telling(mut self, texts: Option<Texts>) -> Self {
        self.shelf = texts.map(|texts| RwLock::new(Shelf::new(texts)));
        self
    }

    /// The stacks.
    pub fn comparison(&self) -> &Comparison<'s> {
        &self.comparison
    }

    /// What a run comes to.
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

    /// Keeps the story of a run, where it has one; to be called in the order of the runs.
    pub fn tell(&self, run: &mut OfRun) {
        if let Some((story, shelf)) = run.story.take().zip(self.shelf.as_ref()) {
            shelf.write().unwrap_or_else(PoisonError::into_inner).put(&run.rows, story);
        }
    }

    /// The shelf of all that was told.
    pub fn into_shelf(self) -> Shelf {
        let told = self.shelf.map(|told| told.into_inner().unwrap_or_else(PoisonError::into_inner));
        told.unwrap_or_else(|| Shelf::new(Texts::None))
    }
}

/// All that runs came to, as columns.
#[derive(Default)]
pub struct Collected {
    rows: RowsBuilder,
    firings: FiringsBuilder,
    followed: FollowedBuilder,
}

impl Collected {
    /// Takes in what a run came to.
    pub fn take(&mut self, run: OfRun) {
        self.rows.extend(run.rows);
        self.firings.extend(run.firings);
        self.followed.extend(run.followed);
    }

    /// Rows, firings, and what followed.
    pub fn finish(self) -> (Rows, Firings, FollowedRows) {
        (self.rows.finish(), self.firings.finish(), self.followed.finish())
    }
}
