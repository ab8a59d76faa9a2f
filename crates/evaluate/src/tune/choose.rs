//! Chooses what to ship: the certified limit that saves most, or the reason why there is none.

use super::walk::Walks;
use super::{Appetite, Study, Walk, clean_tasks_needed};
use crate::aggregate::Unit;

/// Maximum limits examined when the most valuable one need not be the boldest.
const LOOKED_AT: usize = 200;

/// A certified limit of one family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The family's index.
    pub family: usize,
    /// The limit's index within the family.
    pub limit: usize,
    /// The p-value of the hypothesis "it kills more than alpha".
    pub p: f64,
    /// The share of delta it may spend, as a probability.
    pub delta: f64,
    /// Useful saving over the recorded amount, on the tasks it was chosen on.
    pub saved: f64,
    /// If a lost success has a price: dollars per run not spent, less the price of the successes killed.
    pub worth: Option<f64>,
}

/// Why nothing can be recommended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// No run has an outcome.
    Ungraded,
    /// Too few tasks have a success, even if none of them were killed.
    TooFewTasks {
        /// Number of tasks with a success.
        there: u64,
        /// Number needed for the budget, which needs the fewest.
        needed: u64,
    },
    /// No certified limit saves anything.
    SavesNothing,
    /// A lost success has a price, but the runs record no cost.
    NoCosts,
    /// No certified limit is worth anything at the price of a lost success.
    NotWorthIt,
}

/// The result of tuning on some tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// Number of tasks with a success.
    pub with_success: u64,
    /// The walk of each family.
    pub walks: Vec<Walk>,
    /// What each family would ship, if anything.
    pub candidates: Vec<Choice>,
    /// What to ship: one of the candidates.
    pub chosen: Result<Choice, Refusal>,
}

impl Tuned {
    /// The candidate of the budget family alone.
    pub fn budget(&self) -> Option<Choice> {
        self.candidates.iter().find(|choice| choice.family == 0).copied()
    }
}

impl Walks<'_> {
    /// Walks every family on these tasks and chooses.
    pub(super) fn tune(&self, tasks: &[usize], appetite: Appetite) -> Tuned {
        let study = self.study;
        let with_success = study.with_success(tasks);
        let families = study.families().iter().enumerate();
        let walks: Vec<Walk> = families
            .map(|(at, family)| self.walk(at, tasks, appetite.alpha, appetite.delta * family.share(), appetite.bound))
            .collect();
        let candidates: Vec<Choice> = walks.iter().filter_map(|walk| self.candidate(walk, tasks, appetite)).collect();
        let value = |choice: &Choice| choice.worth.unwrap_or(choice.saved);
        // Among equals the earlier family: every host supports the budget.
        let best =
            candidates.iter().copied().reduce(|best, next| if value(&next) > value(&best) { next } else { best });
        let least =
            study.families().iter().map(|family| clean_tasks_needed(appetite.alpha, appetite.delta * family.share()));
        let chosen = match best {
            _ if study.tracks().iter().all(|track| track.outcome.grade().is_none()) => Err(Refusal::Ungraded),
            _ if appetite.lost_success_costs.is_some() && study.unit() != Unit::CostUsd => Err(Refusal::NoCosts),
            Some(choice) if value(&choice) > 0.0 => Ok(choice),
            Some(_) if appetite.lost_success_costs.is_some() => Err(Refusal::NotWorthIt),
            _ => {
                let needed = least.min().unwrap_or(u64::MAX);
                let few = Refusal::TooFewTasks { there: with_success, needed };
                Err(if with_success < needed { few } else { Refusal::SavesNothing })
            }
        };
        Tuned { with_success, walks, candidates, chosen }
    }

    /// The most valuable limit of a walk.
    fn candidate(&self, walk: &Walk, tasks: &[usize], appetite: Appetite) -> Option<Choice> {
        let boldest = walk.boldest()?;
        let limits: Vec<usize> = match appetite.lost_success_costs {
            None => vec![boldest],
            Some(_) => (0..LOOKED_AT).map(|nth| boldest - boldest * nth / LOOKED_AT).collect(),
        };
        let choices = limits.into_iter().map(|limit| {
            let (saved, worth) = self.study.value_of(walk.family, limit, tasks, appetite.lost_success_costs);
            Choice { family: walk.family, limit, p: walk.p.unwrap_or(1.0), delta: walk.delta, saved, worth }
        });
        let value = |choice: &Choice| choice.worth.unwrap_or(choice.saved);
        choices.reduce(|best, next| if value(&next) > value(&best) { next } else { best })
    }
}

impl Study {
    /// The useful saving of a limit on these tasks, as a share; and if a lost success has a price, its worth per run.
    fn value_of(&self, family: usize, limit: usize, tasks: &[usize], price: Option<f64>) -> (f64, Option<f64>) {
        let effects = self.effects(tasks, |run| self.stop_at(family, limit, run));
        let (saved, recorded) =
            (effects.sum(|effect| effect.saved.numerator), effects.sum(|effect| effect.saved.denominator));
        let worth = price.map(|price| {
            let runs = effects.sum(|effect| effect.saved.n as f64);
            (effects.sum(|effect| effect.unspent) - price * effects.sum(|effect| effect.killed.numerator)) / runs
        });
        let share = if recorded > 0.0 { saved / recorded } else { 0.0 };
        (share, worth.map(|worth| if worth.is_finite() { worth } else { 0.0 }))
    }

    /// Where the limit with that index would stop a run.
    pub fn stop_at(&self, family: usize, limit: usize, run: usize) -> Option<usize> {
        let limit = self.families().get(family)?.limits().get(limit)?;
        self.first(family, *limit, run)
    }

    /// Walks the catalogue on these tasks and chooses; see [`Tuned`].
    pub fn tune(&self, tasks: &[usize], appetite: Appetite) -> Tuned {
        Walks::of(self).tune(tasks, appetite)
    }
}
