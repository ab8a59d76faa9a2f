//! Chooses what to ship: of all certified limits, what [`decide`] chooses; or the reason why there is none.

use super::rate::Limit;
use super::study::EndIx;
use super::walk::Walks;
use super::{Appetite, Fate, LimitIx, Study, Walk, clean_tasks_needed};
use crate::aggregate::{Candidate, ShipDecision, Standing, Unit, decide};

/// Maximum limits of one family that are looked at: evenly spread over those that are certified and stop anything.
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
    /// Which limit.
    pub at: LimitIx,
    /// The p-value of the hypothesis "it kills more than alpha".
    pub p: f64,
    /// The share of delta it may spend, as a probability.
    pub delta: f64,
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
    /// No certified limit stops anything.
    StopsNothing,
    /// A lost success has a price, but the runs record no cost.
    NoCosts,
    /// What is certified is not worth shipping: the best of it, and how it stands.
    NotWorthIt(Choice, Standing),
}

/// The result of tuning on some tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// Number of tasks with a success.
    pub with_success: u64,
    /// The walk of each family.
    pub walks: Vec<Walk>,
    /// Every certified limit that stops anything, from bold to cautious within each family. Of limits that do the same
    /// to all runs only the boldest.
    pub choices: Vec<Choice>,
    /// What the decision looks at, for each of them.
    pub candidates: Vec<Candidate>,
    /// What is decided between them.
    pub decision: ShipDecision,
    /// What to ship: one of the choices.
    pub chosen: Result<Choice, Refusal>,
}

impl Tuned {
    /// The boldest certified limit of the budget family.
    pub fn budget(&self) -> Option<Choice> {
        let walk = self.walks.iter().find(|walk| walk.family == 0)?;
        Some(walk.choice(walk.boldest()?))
    }

    /// What is known about a choice.
    pub fn candidate(&self, choice: &Choice) -> Option<&Candidate> {
        self.choices.iter().zip(&self.candidates).find(|(of, _)| *of == choice).map(|(_, candidate)| candidate)
    }
}

impl Walk {
    fn choice(&self, limit: usize) -> Choice {
        Choice {
            at: LimitIx { family: self.family, limit },
            p: self.p.expect("a limit that passed has a p-value"),
            delta: self.delta,
        }
    }
}

impl Walks<'_> {
    /// Walks every family on these tasks and chooses.
    pub(super) fn tune(&self, tasks: &[usize], appetite: Appetite) -> Tuned {
        let study = self.study;
        let with_success = study.with_success(tasks);
        let walks = self.walk_all(tasks, appetite);
        let limits: Vec<(Limit, Choice)> = walks.iter().flat_map(|walk| self.certified(walk)).collect();
        let candidates: Vec<Candidate> = limits.iter().map(|(limit, _)| limit.rate(study, tasks, appetite)).collect();
        let decision =
            decide(&candidates, appetite.terms(), |a, b| limits[a].0.is_equal(&limits[b].0, tasks, appetite));
        let choices: Vec<Choice> = limits.into_iter().map(|(_, choice)| choice).collect();
        let nearest = decision.nearest.map(|at| Refusal::NotWorthIt(choices[at], decision.standings[at]));
        let least =
            study.families().iter().map(|family| clean_tasks_needed(appetite.alpha, appetite.delta * family.share()));
        let chosen = match decision.ship {
            _ if study.runs().iter().all(|run| run.outcome().grade().is_none()) => Err(Refusal::Ungraded),
            _ if names_too_few_tasks(study.without_task(), study.runs().len()) => {
                Err(Refusal::Unnamed { without: study.without_task(), runs: study.runs().len() })
            }
            _ if appetite.lost_success_costs.is_some() && study.unit() != Unit::CostUsd => Err(Refusal::NoCosts),
            Some(at) => Ok(choices[at]),
            None => Err(nearest.unwrap_or_else(|| {
                let needed = least.min().unwrap_or(u64::MAX);
                let few = Refusal::TooFewTasks { there: with_success, needed };
                if with_success < needed { few } else { Refusal::StopsNothing }
            })),
        };
        Tuned { with_success, walks, choices, candidates, decision, chosen }
    }

    /// The certified limits of a walk that stop anything, from the boldest on; of those that do the same, the boldest.
    fn certified(&self, walk: &Walk) -> Vec<(Limit, Choice)> {
        let study = self.study;
        let Some((low, high)) = study.range(walk.family) else { return Vec::new() };
        let is_live =
            |limit: &usize| study.fires_within(walk.family, study.families()[walk.family].limits()[*limit], low, high);
        let live: Vec<usize> = (0..walk.passed).rev().filter(is_live).collect();
        let mut limits: Vec<(Limit, Choice)> = Vec::new();
        let n = live.len().min(LOOKED_AT);
        for limit in (0..n).map(|nth| live[nth * live.len() / n]) {
            let of = self.effects.limit(study, LimitIx { family: walk.family, limit });
            if of.acts() && limits.last().is_none_or(|(last, _)| !last.is_as(&of)) {
                limits.push((of, walk.choice(limit)));
            }
        }
        limits
    }
}

impl Study {
    /// What becomes of a run under the limit with that index.
    pub fn fate(&self, at: LimitIx, run: usize) -> Fate {
        if self.is_unread(at.family, run) {
            return Fate::Unread;
        }
        self.fate_at(run, self.end_at(at, run))
    }

    /// The end at which the limit with that index would stop a run that it can read.
    pub(super) fn end_at(&self, at: LimitIx, run: usize) -> Option<EndIx> {
        self.first(at.family, self.families()[at.family].limits()[at.limit], run)
    }

    /// Walks the catalogue on these tasks and chooses; see [`Tuned`].
    pub fn tune(&self, tasks: &[usize], appetite: Appetite) -> Tuned {
        Walks::from_study(self).tune(tasks, appetite)
    }
}
