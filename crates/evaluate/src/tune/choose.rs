//! Chooses what to ship: of all certified limits, what [`decide`](crate::aggregate::decide) chooses; or the reason why there is none.

use std::collections::{BTreeMap, BTreeSet};

use super::rate::{LimitEffects, SetChoice};
use super::study::EndIx;
use super::{Appetite, Fate, LimitIx, Study, Tuner, Walk, clean_tasks_needed, names_too_few_tasks};
use crate::aggregate::{Candidate, ShipDecision, Standing, Unit};

/// Maximum limits of one family that are looked at: evenly spread over those that are certified and stop anything.
const LOOKED_AT: usize = 200;

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

impl Tuner<'_> {
    /// Walks every family on each of these sets of tasks and chooses. What a limit does is found once for all sets, and
    /// forgotten before the next: memory is bounded by tasks and candidates.
    pub(super) fn tune_each(&self, sets: &[Vec<usize>], appetite: Appetite) -> Vec<Tuned> {
        let study = self.study;
        let mut searches: Vec<TaskSearch<'_>> =
            sets.iter().map(|tasks| TaskSearch::new(study, tasks, self.walk_all(tasks, appetite))).collect();
        let looked_at = searches.iter().flat_map(|search| search.looked_at.iter().copied()).collect();
        self.visit(&looked_at, |at, effects| {
            for search in searches.iter_mut().filter(|search| search.looked_at.contains(&at)) {
                search.add(at, effects, appetite);
            }
        });
        for search in &mut searches {
            search.set.find_best(appetite);
        }
        let bests = searches.iter().filter_map(TaskSearch::best_limit).collect();
        self.visit(&bests, |at, effects| {
            for search in searches.iter_mut().filter(|search| search.best_limit() == Some(at)) {
                search.set.set_best(effects.stakes(search.set.tasks()));
            }
        });
        let rivals = searches.iter().flat_map(TaskSearch::rivals).collect();
        self.visit(&rivals, |at, effects| {
            for search in &mut searches {
                if let Some(nth) = search.places.get(&at).copied().filter(|nth| search.set.is_rival(*nth)) {
                    search.set.compare(nth, &effects.stakes(search.set.tasks()), appetite);
                }
            }
        });
        searches.into_iter().map(|search| search.tuned(study, appetite)).collect()
    }

    /// Goes through limits, from bold to cautious within each family, with what each does.
    fn visit(&self, limits: &BTreeSet<LimitIx>, mut see: impl FnMut(LimitIx, &LimitEffects<'_>)) {
        for family in 0..self.study.families().len() {
            let of_family = limits.range(LimitIx { family, limit: 0 }..=LimitIx { family, limit: usize::MAX });
            let mut effects = None;
            for at in of_family.rev() {
                let effects = effects.get_or_insert_with(|| LimitEffects::new(self.study, family));
                effects.move_to(at.limit);
                see(*at, effects);
            }
        }
    }
}

/// The search for what to ship on one set of tasks.
struct TaskSearch<'t> {
    set: SetChoice<'t>,
    walks: Vec<Walk>,
    /// The certified limits that are looked at.
    looked_at: BTreeSet<LimitIx>,
    /// The family of the last choice, and the moves it was made after: a limit that does the same is no other choice.
    last: Option<(usize, u64)>,
    choices: Vec<Choice>,
    /// The choices by their limit.
    places: BTreeMap<LimitIx, usize>,
}

impl<'t> TaskSearch<'t> {
    fn new(study: &Study, tasks: &'t [usize], walks: Vec<Walk>) -> Self {
        let looked_at = walks.iter().flat_map(|walk| looked_at(study, walk)).collect();
        let set = SetChoice::new(tasks);
        Self { set, walks, looked_at, last: None, choices: Vec::new(), places: BTreeMap::new() }
    }

    /// Takes a limit as a choice if it stops anything and does something else than the last choice of its family.
    fn add(&mut self, at: LimitIx, effects: &LimitEffects<'_>, appetite: Appetite) {
        let state = Some((at.family, effects.moves()));
        if effects.acts() && self.last != state {
            self.last = state;
            self.places.insert(at, self.choices.len());
            self.choices.push(self.walks[at.family].choice(at.limit));
            self.set.add(&effects.rate(self.set.tasks(), appetite));
        }
    }

    fn best_limit(&self) -> Option<LimitIx> {
        Some(self.choices[self.set.best()?].at)
    }

    fn rivals(&self) -> impl Iterator<Item = LimitIx> {
        self.places.iter().filter(|(_, nth)| self.set.is_rival(**nth)).map(|(at, _)| *at)
    }

    fn tuned(self, study: &Study, appetite: Appetite) -> Tuned {
        let Self { set, walks, choices, .. } = self;
        let with_success = study.with_success(set.tasks());
        let (candidates, decision) = set.decide(appetite);
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
}

/// Certified limits of a walk that may fire, at most [`LOOKED_AT`] of them.
fn looked_at(study: &Study, walk: &Walk) -> Vec<LimitIx> {
    let family = walk.family;
    let Some((low, high)) = study.range(family) else { return Vec::new() };
    let is_live = |limit: &usize| study.fires_within(family, study.families()[family].limits()[*limit], low, high);
    let live: Vec<usize> = (0..walk.passed).rev().filter(is_live).collect();
    let n = live.len().min(LOOKED_AT);
    (0..n).map(|nth| LimitIx { family, limit: live[nth * live.len() / n] }).collect()
}

impl Study {
    /// What becomes of a run under the limit with that index.
    pub fn fate(&self, at: LimitIx, run: usize) -> Fate {
        if self.is_unread(at.family, run) {
            return Fate::Unread;
        }
        Fate::from_end(self.end_at(at, run))
    }

    /// The end at which the limit with that index would stop a run that it can read.
    pub(super) fn end_at(&self, at: LimitIx, run: usize) -> Option<EndIx> {
        self.first(at.family, self.families()[at.family].limits()[at.limit], run)
    }

    /// Walks the catalogue on these tasks and chooses; see [`Tuned`].
    pub fn tune(&self, tasks: &[usize], appetite: Appetite) -> Tuned {
        Tuner::new(self).tune(tasks, appetite)
    }
}
