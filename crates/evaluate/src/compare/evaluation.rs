//! The front door: runs and strategies in, rows, firings and what followed out.

use std::sync::{Arc, PoisonError, RwLock};

use super::{Comparison, KeptStories, Met, Outside, StackInfo, TunedStack};
use crate::aggregate::{Firing, Firings, FollowedBuilder, FollowedRow, FollowedRows, Row, Rows, RowsBuilder, RunRows};
use crate::decision::Strategy;
use crate::effects::{EffectTable, Work};
use crate::explain::{Story, Texts};
use crate::transcript::{Outcome, Run, Secured};
use crate::verdict::Assumptions;

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
    fn rows_of(self, comparison: &Comparison<'_>, run: &Run, shared: &RunRows, work: &Work) -> (Vec<Row>, Vec<Firing>) {
        let is_open = run.grade.outcome == Outcome::Success && run.secured() == Secured::Unverified;
        if self == Self::Nothing || !is_open {
            return comparison.rows_sharing(shared, run);
        }
        // If a reply is awaited, the run is worth nothing without it; if nothing was changed, there is no work to
        // keep.
        let Some(standing) = work.standing().1.filter(|_| !work.is_awaited()) else {
            return comparison.rows_sharing(shared, run);
        };
        let mut kept = run.clone();
        kept.grade.secured_step = Some(standing);
        let (kept, firings) = comparison.rows_of(&kept);
        if self == Self::Work {
            return (kept, firings);
        }
        let (mut rows, firings) = comparison.rows_sharing(shared, run);
        for (row, kept) in rows.iter_mut().zip(kept) {
            row.killed_low = row.killed_low.min(kept.killed_low);
            row.outcome_high = row.outcome_high.max(kept.outcome_high);
        }
        (rows, firings)
    }
}

/// How runs are evaluated, besides the strategies they are replayed under.
#[derive(Clone, Debug, Default)]
pub struct EvaluationOptions<'g> {
    /// What is assumed about what the recordings do not show.
    pub assumptions: Assumptions,
    /// The effects of tools and commands that the user's files add.
    pub effects: EffectTable,
    /// What the host keeps of a run that it stops.
    pub keeps: Keeps,
    /// Also keeps the runs that matter most step by step, for a page, with this much of their texts.
    pub stories: Option<Texts>,
    /// The tuned stacks among the strategies, whose certificates may not hold for these runs.
    pub grounds: &'g [TunedStack],
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
    /// For each tuned stack, how the run differs from those it was tuned on.
    pub outside: Vec<Outside>,
    /// The run step by step, if it was chosen for the page.
    story: Option<Story>,
}

/// Evaluates runs under strategies, from any thread.
pub struct Evaluator<'s> {
    comparison: Comparison<'s>,
    effects: EffectTable,
    keeps: Keeps,
    grounds: &'s [TunedStack],
    stories_kept: Option<RwLock<KeptStories>>,
}

impl<'s> Evaluator<'s> {
    /// Prepares the strategies for replay.
    pub fn new(strategies: &'s [Arc<dyn Strategy>], options: EvaluationOptions<'s>) -> Self {
        let EvaluationOptions { assumptions, effects, keeps, stories, grounds } = options;
        let comparison = Comparison::new(strategies, assumptions);
        Self {
            comparison,
            effects,
            keeps,
            grounds,
            stories_kept: stories.map(|texts| RwLock::new(KeptStories::new(texts))),
        }
    }

    /// The strategies' names, profiles and rules, in order.
    pub fn stacks(&self) -> &[StackInfo] {
        self.comparison.infos()
    }

    /// Evaluates one run.
    pub fn evaluate(&self, run: &Run) -> OfRun {
        let shared = self.comparison.shared(run);
        let work = Work::from_run(run, &self.effects, shared.ledger());
        let (rows, firings) = self.keeps.rows_of(&self.comparison, run, &shared, &work);
        let followed = FollowedRow::from_run(&rows, &work, shared.ledger());
        let story = self.wanted_texts(&rows).map(|texts| self.comparison.story_of(run, &rows, texts, &self.effects));
        let outside = self.grounds.iter().map(|tuned| tuned.outside(run, &rows)).collect();
        OfRun { rows, firings, followed, outside, story }
    }

    /// How much text the story of a run with these rows has, if its story is wanted.
    fn wanted_texts(&self, rows: &[Row]) -> Option<Texts> {
        let stories = self.stories_kept.as_ref()?.read().unwrap_or_else(PoisonError::into_inner);
        if stories.wants(rows) { Some(stories.texts()) } else { None }
    }

    /// Stores the story of a run, if it has one. Call it in the order of the runs.
    pub fn keep_story(&self, run: &mut OfRun) {
        if let Some((story, stories)) = run.story.take().zip(self.stories_kept.as_ref()) {
            stories.write().unwrap_or_else(PoisonError::into_inner).put(&run.rows, story);
        }
    }

    /// One for each tuned stack, without any run.
    pub fn met(&self) -> Vec<Met> {
        self.grounds.iter().map(Met::new).collect()
    }

    /// Where the results of runs are gathered, in the order of the runs.
    pub fn gather(&self) -> Gathered<'_> {
        Gathered {
            evaluator: self,
            rows: RowsBuilder::default(),
            firings: Firings::default(),
            followed: FollowedBuilder::default(),
            met: self.met(),
            waiting: Waiting::default(),
        }
    }

    /// The stories kept so far; none are left afterwards.
    pub fn take_stories(&self) -> KeptStories {
        let empty = KeptStories::new(Texts::None);
        match &self.stories_kept {
            Some(stories) => std::mem::replace(&mut *stories.write().unwrap_or_else(PoisonError::into_inner), empty),
            None => empty,
        }
    }
}

/// The results of runs, as columns.
pub struct Gathered<'e> {
    evaluator: &'e Evaluator<'e>,
    rows: RowsBuilder,
    firings: Firings,
    followed: FollowedBuilder,
    met: Vec<Met>,
    waiting: Waiting,
}

/// Results that are not in columns yet: enough of them are worth two threads.
#[derive(Default)]
struct Waiting {
    rows: Vec<Vec<Row>>,
    others: Vec<(Vec<Firing>, Vec<FollowedRow>)>,
    n_rows: usize,
}

/// Rows that wait at most, some megabytes.
const MOST_WAITING: usize = 4096;

impl Gathered<'_> {
    /// Adds the results of one run.
    pub fn take(&mut self, mut run: OfRun) {
        self.evaluator.keep_story(&mut run);
        self.met.iter_mut().zip(run.outside).for_each(|(met, outside)| met.take(outside));
        self.waiting.n_rows += run.rows.len();
        self.waiting.rows.push(run.rows);
        self.waiting.others.push((run.firings, run.followed));
        if self.waiting.n_rows >= MOST_WAITING {
            self.settle();
        }
    }

    /// Puts what waits into columns.
    fn settle(&mut self) {
        let Waiting { rows: waiting_rows, others, .. } = std::mem::take(&mut self.waiting);
        let (rows, firings, followed) = (&mut self.rows, &mut self.firings, &mut self.followed);
        rayon::join(
            || waiting_rows.into_iter().for_each(|of_run| rows.extend(of_run)),
            || {
                for (of_run, followed_of_run) in others {
                    firings.extend(of_run);
                    followed.extend(followed_of_run);
                }
            },
        );
    }

    /// All results.
    pub fn finish(mut self) -> Evaluation {
        self.settle();
        Evaluation {
            rows: self.rows.finish(),
            firings: self.firings,
            followed: self.followed.finish(),
            stacks: self.evaluator.stacks().to_vec(),
            stories: self.evaluator.take_stories().into_stories(),
            void: self.met.iter().filter_map(Met::sentence).collect(),
        }
    }
}

/// What strategies would have done to runs.
#[derive(Debug)]
pub struct Evaluation {
    /// One row per run and stack, in the order of the runs.
    pub rows: Rows,
    /// The rules that fired.
    pub firings: Firings,
    /// What followed the stops.
    pub followed: FollowedRows,
    /// The strategies' names, profiles and rules, in order.
    pub stacks: Vec<StackInfo>,
    /// The runs that matter most, step by step, if they were asked for.
    pub stories: Vec<Story>,
    /// One sentence per tuned stack whose certificate does not hold for these runs, with the reason.
    pub void: Vec<String>,
}

impl Evaluation {
    /// Evaluates runs one after another. A corpus that is read on several threads shares an [`Evaluator`] between them and
    /// gathers the results in order; the numbers are the same.
    pub fn from_runs<'r>(
        runs: impl IntoIterator<Item = &'r Run>,
        strategies: &[Arc<dyn Strategy>],
        options: EvaluationOptions<'_>,
    ) -> Self {
        let evaluator = Evaluator::new(strategies, options);
        let mut gathered = evaluator.gather();
        runs.into_iter().for_each(|run| gathered.take(evaluator.evaluate(run)));
        gathered.finish()
    }
}
