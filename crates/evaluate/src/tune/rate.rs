//! What tuning found as candidates for [`decide`](crate::aggregate::decide), so that it is judged as a comparison
//! judges stacks.

use std::collections::BTreeSet;

use super::study::EndIx;
use super::{Appetite, Fate, LimitIx, Study};
use crate::aggregate::{
    Candidate, Entrant, LEVEL, Over, ShipDecision, ShipTerms, TaskSums, allowed, best_allowed, cost_at_worst, decide,
    is_open, killed_of_all, known_share, saved_at_worst,
};
use crate::stats::estimate::free_ratio_estimate;
use crate::stats::{ClusterSums, CostSums, Estimate, net_worth, worth_at_cost};

impl Study {
    /// Rates a strategy that is certified at the requested rate, or estimated to keep it, from its fate on each run.
    pub fn rate(
        &self,
        tasks: &[usize],
        appetite: Appetite,
        entrant: Entrant,
        fate: impl Fn(usize) -> Fate,
    ) -> Candidate {
        let effects: Vec<TaskSums> = tasks.iter().map(|task| self.sums(*task, Over::All, &fate)).collect();
        candidate(&effects.iter().collect::<Vec<_>>(), appetite, entrant)
    }
}

impl Appetite {
    /// What it asks of a candidate.
    pub fn terms(&self) -> ShipTerms {
        ShipTerms { max_killed: self.alpha, min_known: crate::aggregate::MIN_KNOWN }
    }
}

/// The candidate with these effects by task. Its kills are those of the mean over tasks, which is what is certified.
pub(super) fn candidate(tasks: &[&TaskSums], appetite: Appetite, entrant: Entrant) -> Candidate {
    let losses: Vec<f64> = tasks.iter().filter_map(|task| task.killed_rate()).collect();
    let is_limited = tasks.iter().all(|task| task.unlimited == 0);
    let worth = |price| {
        if !is_limited {
            return Estimate::UNDEFINED;
        }
        let worth = tasks.iter().map(|task| task.worth.low).filter(|worth| worth.runs() > 0);
        net_worth(&worth.collect::<Vec<_>>(), price, LEVEL)
    };
    Candidate {
        acted: tasks.iter().any(|task| task.stops > 0),
        known: known_share(tasks),
        killed_at_most: Some(appetite.alpha),
        killed_of_all: killed_of_all(tasks).high.value(),
        killed: if losses.is_empty() { None } else { Some(losses.iter().sum::<f64>() / losses.len() as f64) },
        saved: saved_at_worst(tasks),
        cost: cost_at_worst(tasks),
        worth: appetite.lost_success_costs.map(worth),
        hosts: entrant.hosts,
        rules: entrant.rules,
    }
}

/// What decides between two strategies on one task: what they cost, and the successes they kill.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stake {
    cost: CostSums,
    killed: u64,
}

impl Stake {
    /// The stakes of a strategy with these effects by task.
    pub(super) fn by_task<'a>(tasks: impl IntoIterator<Item = &'a TaskSums>) -> Vec<Self> {
        tasks.into_iter().map(|task| Self { cost: task.cost, killed: task.killed.high.hits }).collect()
    }

    fn worth(&self, price: f64) -> f64 {
        self.cost.unspent() - price * self.killed as f64
    }
}

/// Whether the tasks leave open which of two strategies makes successes cheaper, or is worth more at a price: compared
/// task by task, as [`Contest`](crate::aggregate::Contest) does.
fn is_equal(a: &[Stake], b: &[Stake], price: Option<f64>) -> bool {
    let pairs = || a.iter().zip(b).filter(|(a, _)| a.cost.n > 0);
    if let Some(price) = price {
        let worth =
            |(a, b): (&Stake, &Stake)| ClusterSums::from_runs([(a.worth(price) - b.worth(price), a.cost.n as f64)]);
        let sums: Vec<ClusterSums> = pairs().map(worth).collect();
        return is_open(&free_ratio_estimate(&sums, LEVEL), 0.0);
    }
    let against = |(a, b): (&Stake, &Stake)| CostSums {
        spent_without: b.cost.spent_with,
        successes_without: b.cost.successes_with,
        ..a.cost
    };
    let sums: Vec<CostSums> = pairs().map(against).collect();
    is_open(&worth_at_cost(&sums, LEVEL), 0.0)
}

/// The choice between candidates on one set of tasks. It looks at them three times, so that what a candidate does by task
/// is needed for one candidate at a time only: to rate it, to keep what decides if it has the best numbers, and to compare
/// it with that one.
pub(super) struct SetChoice<'t> {
    tasks: &'t [usize],
    candidates: Vec<Candidate>,
    /// The one with the best numbers of those that may be shipped, and what decides between it and the others.
    best: Option<usize>,
    best_stakes: Vec<Stake>,
    /// The others that may be shipped.
    rivals: BTreeSet<usize>,
    /// Those of them that are equal to it within chance.
    equals: BTreeSet<usize>,
}

impl<'t> SetChoice<'t> {
    /// A choice without any candidate yet.
    pub(super) fn new(tasks: &'t [usize]) -> Self {
        let (rivals, equals) = (BTreeSet::new(), BTreeSet::new());
        Self { tasks, candidates: Vec::new(), best: None, best_stakes: Vec::new(), rivals, equals }
    }

    /// The tasks.
    pub(super) fn tasks(&self) -> &'t [usize] {
        self.tasks
    }

    /// Adds a candidate.
    pub(super) fn add(&mut self, candidate: &Candidate) {
        self.candidates.push(*candidate);
    }

    /// Finds the one with the best numbers, after all were added.
    pub(super) fn find_best(&mut self, appetite: Appetite) {
        let allowed = allowed(&self.candidates, appetite.terms());
        self.best = best_allowed(&allowed).map(|(best, _)| best);
        self.rivals = allowed.iter().map(|(nth, _)| *nth).filter(|nth| Some(*nth) != self.best).collect();
    }

    /// The one with the best numbers.
    pub(super) fn best(&self) -> Option<usize> {
        self.best
    }

    /// Sets what decides between that one and the others.
    pub(super) fn set_best(&mut self, stakes: Vec<Stake>) {
        self.best_stakes = stakes;
    }

    /// Whether a candidate is to be compared with the best.
    pub(super) fn is_rival(&self, candidate: usize) -> bool {
        self.rivals.contains(&candidate)
    }

    /// Compares a candidate with the best.
    pub(super) fn compare(&mut self, candidate: usize, stakes: &[Stake], appetite: Appetite) {
        if is_equal(stakes, &self.best_stakes, appetite.lost_success_costs) {
            self.equals.insert(candidate);
        }
    }

    /// The candidates, and what is decided between them.
    pub(super) fn decide(self, appetite: Appetite) -> (Vec<Candidate>, ShipDecision) {
        let decision = decide(&self.candidates, appetite.terms(), |nth, _| self.equals.contains(&nth));
        (self.candidates, decision)
    }
}

/// What one limit of a family does to the runs of a study. Moving from limit to limit costs what changes, so it is cheap
/// in the order of the limits.
pub(super) struct LimitEffects<'s> {
    study: &'s Study,
    family: usize,
    /// Where each run is stopped.
    ends: Vec<Option<EndIx>>,
    n_stopped: usize,
    /// What becomes of each task.
    sums: Vec<TaskSums>,
    moves: u64,
}

impl<'s> LimitEffects<'s> {
    /// What a limit does that stops nothing.
    pub(super) fn new(study: &'s Study, family: usize) -> Self {
        let fate = |run| if study.is_unread(family, run) { Fate::Unread } else { Fate::Untouched };
        let sums = study.all_tasks().into_iter().map(|task| study.sums(task, Over::All, fate)).collect();
        Self { study, family, ends: vec![None; study.runs().len()], n_stopped: 0, sums, moves: 0 }
    }

    /// Goes to the limit with this index.
    pub(super) fn move_to(&mut self, limit: usize) {
        let (study, family) = (self.study, self.family);
        let mut has_moved = false;
        for (nth, task) in study.tasks().iter().enumerate() {
            let mut is_same = true;
            for run in task.runs.clone().filter(|run| !study.is_unread(family, *run)) {
                let end = study.end_at(LimitIx { family, limit }, run);
                if end != self.ends[run] {
                    self.n_stopped -= usize::from(self.ends[run].is_some());
                    self.n_stopped += usize::from(end.is_some());
                    self.ends[run] = end;
                    is_same = false;
                }
            }
            if !is_same {
                let fate = |run| {
                    if study.is_unread(family, run) { Fate::Unread } else { Fate::from_end(self.ends[run]) }
                };
                self.sums[nth] = study.sums(nth, Over::All, fate);
                has_moved = true;
            }
        }
        self.moves += u64::from(has_moved);
    }

    /// How often a move changed where a run is stopped. As long as all moves are towards bolder limits, or all towards
    /// more cautious ones, two limits with the same number stop the same runs at the same points.
    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    /// Whether it stops anything.
    pub(super) fn acts(&self) -> bool {
        self.n_stopped > 0
    }

    /// Rates it on these tasks.
    pub(super) fn rate(&self, tasks: &[usize], appetite: Appetite) -> Candidate {
        let entrant = Entrant { hosts: self.study.families()[self.family].hosts(), rules: 1, place: None };
        let effects: Vec<&TaskSums> = tasks.iter().map(|task| &self.sums[*task]).collect();
        candidate(&effects, appetite, entrant)
    }

    /// What decides between it and another on these tasks.
    pub(super) fn stakes(&self, tasks: &[usize]) -> Vec<Stake> {
        Stake::by_task(tasks.iter().map(|task| &self.sums[*task]))
    }
}
