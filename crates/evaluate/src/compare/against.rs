//! Two sets of recordings, one made under the limit that the other is replayed under.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::against::{Attempt, NotComparable, PredictionCheck, measure};
use crate::aggregate::{Label, RunRows, Unit};
use crate::class::By;
use crate::decision::Strategy;
use crate::replay::{Replay, replay};
use crate::transcript::Run;
use crate::verdict::{Amounts, Assumptions};

/// A run, and how far it got under each stack.
#[derive(Clone, Debug)]
pub struct LimitedRun {
    run_id: Label,
    task: Label,
    suite: Label,
    model: Label,
    class: Option<Label>,
    /// Whether it succeeded; `None` if nobody graded it.
    success: Option<bool>,
    spent: Amounts,
    /// In the order of the stacks; `None` where a rule could not be read.
    under: Vec<Option<LimitReach>>,
}

/// How far a run got under a limit.
#[derive(Clone, Copy, Debug)]
struct LimitReach {
    /// Whether it got as far as the notice, or the stop if there is no notice.
    is_reached: bool,
    /// Whether it goes on where the limit ends it.
    is_cut: bool,
    /// Whether it held its success by then.
    keeps_success: bool,
    spent: Amounts,
}

impl LimitedRun {
    /// Replays a run under the stacks. `caps` are their limits on steps, in the same order: a run of exactly that length
    /// reached the limit, though nothing was left to end.
    pub fn replayed(run: &Run, stacks: &[Arc<dyn Strategy>], caps: &[Option<u32>], by: By) -> Self {
        let shared = RunRows::from_run(run, Assumptions::default());
        let (suite, task) = shared.facts().cluster();
        let mut under = Vec::new();
        for (stack, cap) in stacks.iter().zip(caps) {
            under.push(reach(run, &shared, &replay(run, stack), *cap));
        }
        Self {
            run_id: shared.facts().run_id().into(),
            task: task.into(),
            suite: suite.into(),
            model: shared.facts().model().unwrap_or_default().into(),
            class: by.label(run),
            success: run.grade.outcome.grade(),
            spent: shared.ledger().whole(),
            under,
        }
    }

    fn attempt(&self, stack: usize, unit: Unit, is_before: bool) -> Option<Attempt<'_>> {
        let reach = self.under.get(stack).copied().flatten()?;
        let is_success = self.success?;
        Some(Attempt {
            task: &self.task,
            model: &self.model,
            suite: &self.suite,
            is_success,
            is_reached: reach.is_reached,
            // A success that the run held by then is not lost. Under the limit, a run that goes on shows that it is not kept.
            is_cut: reach.is_cut && !(is_before && is_success && reach.keeps_success),
            steps: self.spent.steps,
            spent: unit.amount_in(self.spent),
            spent_under_limit: unit.amount_in(reach.spent),
        })
    }
}

fn reach(run: &Run, shared: &RunRows, replayed: &Replay, cap: Option<u32>) -> Option<LimitReach> {
    if !replayed.not_evaluable.is_empty() {
        return None;
    }
    let end = run.last_point();
    let mut is_reached = cap.is_some_and(|cap| run.steps().len() as u64 >= u64::from(cap));
    for decision in &replayed.trail {
        // What is said when everything has happened reaches nobody; a stop there ends the run where it ended.
        let is_heard = decision.diverges() && end.is_some_and(|end| decision.point < end);
        is_reached |= is_heard || decision.action.is_terminal();
    }
    let stop = replayed.stop.as_ref();
    Some(LimitReach {
        is_reached: is_reached || stop.is_some(),
        is_cut: stop.is_some(),
        keeps_success: matches!(stop, Some(stop) if shared.course().success_at(stop.point) == Some(true)),
        spent: shared.ledger().paid_by(stop.map(|stop| stop.point)),
    })
}

/// Both sets, in an order that does not depend on the order of the files.
#[derive(Clone, Debug)]
pub struct BeforeAndAfter {
    before: Vec<LimitedRun>,
    after: Vec<LimitedRun>,
    unit: Unit,
}

impl BeforeAndAfter {
    /// `before` without the limit, `after` with it.
    pub fn new(mut before: Vec<LimitedRun>, mut after: Vec<LimitedRun>) -> Self {
        before.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        after.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        let knows = |unit: Unit| {
            let mut runs = before.iter().chain(&after);
            runs.all(|run| unit.amount_in(run.spent).is_some())
        };
        let unit = [Unit::CostUsd, Unit::Tokens].into_iter().find(|unit| knows(*unit)).unwrap_or(Unit::Steps);
        Self { before, after, unit }
    }

    /// What the cost of a success is counted in: the dearest unit that is recorded of every run.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The classes of the runs before and after, by name.
    pub fn classes(&self) -> Vec<Label> {
        let classes: BTreeSet<&Label> =
            self.before.iter().chain(&self.after).filter_map(|run| run.class.as_ref()).collect();
        classes.into_iter().cloned().collect()
    }

    /// Runs that nobody graded, before and after.
    pub fn ungraded(&self) -> [usize; 2] {
        [&self.before, &self.after].map(|side| side.iter().filter(|run| run.success.is_none()).count())
    }

    /// Runs on which a rule of the stack could not be read, before and after.
    pub fn unread(&self, stack: usize) -> [usize; 2] {
        let is_unread = |run: &&LimitedRun| run.under.get(stack).is_some_and(Option::is_none);
        [&self.before, &self.after].map(|side| side.iter().filter(is_unread).count())
    }

    /// Holds the prediction for one stack against what was measured, on the runs of one class or on all.
    ///
    /// # Errors
    ///
    /// As of [`measure`].
    pub fn check(&self, stack: usize, class: Option<&Label>, margin: f64) -> Result<PredictionCheck, NotComparable> {
        let is_asked = |run: &&LimitedRun| class.is_none_or(|class| run.class.as_ref() == Some(class));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for run in self.before.iter().filter(is_asked) {
            before.extend(run.attempt(stack, self.unit, true));
        }
        for run in self.after.iter().filter(is_asked) {
            after.extend(run.attempt(stack, self.unit, false));
        }
        measure(&before, &after, margin)
    }
}
