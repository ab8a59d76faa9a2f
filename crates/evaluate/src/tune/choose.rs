//! Chooses what to ship: the certified limit that saves most, or the reason why there is none.

use super::walk::Walks;
use super::{Appetite, Fate, Study, Walk, clean_tasks_needed};
use crate::aggregate::Unit;

/// Maximum limits examined when the most valuable one need not be the boldest.
const LOOKED_AT: usize = 200;

/// No more than this share of the runs may name no task where a certificate is asked for.
const UNNAMED: f64 = 0.05;

/// Whether so many of the runs name no task that nothing can be certified.
pub fn names_too_few_tasks(without: usize, runs: usize) -> bool {
    without as f64 > UNNAMED * runs as f64
}

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
    /// Too many runs name no task: trials of one task that are taken for tasks of their own make any certificate too sure.
    Unnamed {
        /// Number of runs that name none.
        without: usize,
        /// Number of runs.
        runs: usize,
    },
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
            _ if study.runs().iter().all(|run| run.outcome().grade().is_none()) => Err(Refusal::Ungraded),
            _ if names_too_few_tasks(study.without_task(), study.runs().len()) => {
                Err(Refusal::Unnamed { without: study.without_task(), runs: study.runs().len() })
            }
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
        let all = self.totals(tasks, |run| self.fate(family, limit, run)).all();
        let worth = price.map(|price| (all.unspent() - price * all.killed.numerator) / all.saved.n as f64);
        (all.saved_ratio().unwrap_or(0.0), worth.map(|worth| if worth.is_finite() { worth } else { 0.0 }))
    }

    /// What becomes of a run under the limit with that index.
    pub fn fate(&self, family: usize, limit: usize, run: usize) -> Fate {
        if self.is_unread(family, run) {
            return Fate::Unread;
        }
        self.fate_at(run, self.end_at(family, limit, run))
    }

    /// The end at which the limit with that index would stop a run that it can read.
    pub(super) fn end_at(&self, family: usize, limit: usize, run: usize) -> Option<usize> {
        self.first(family, self.families()[family].limits()[limit], run)
    }

    /// Walks the catalogue on these tasks and chooses; see [`Tuned`].
    pub fn tune(&self, tasks: &[usize], appetite: Appetite) -> Tuned {
        Walks::of(self).tune(tasks, appetite)
    }
}
