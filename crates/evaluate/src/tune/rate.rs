//! What tuning found as candidates for [`decide`](crate::aggregate::decide), so that it is judged as a comparison
//! judges stacks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::study::EndIx;
use super::{Appetite, Fate, LimitIx, Study};
use crate::aggregate::{
    Candidate, Entrant, LEVEL, Over, ShipTerms, TaskSums, cost_at_worst, is_open, killed_of_all, known_share,
    saved_at_worst,
};
use crate::stats::estimate::free_ratio_estimate;
use crate::stats::{ClusterSums, CostSums, Estimate, cost_estimate, net_worth};

impl Study {
    /// What becomes of the runs of one task. A run on which a rule cannot be evaluated spends everything and loses its
    /// success.
    fn sums(&self, task: usize, fate: impl Fn(usize) -> Fate) -> TaskSums {
        let mut sums = TaskSums::default();
        for run in self.tasks()[task].runs.clone() {
            let of = &self.runs()[run];
            let effect = match fate(run) {
                Fate::Untouched => of.effect(None, self.unit()),
                Fate::Stopped(point) => of.effect(Some(point), self.unit()),
                Fate::Unread => of.unread_effect(self.loses(run, Fate::Unread)),
            };
            sums.add(&effect, Over::All);
        }
        sums
    }

    /// Rates a strategy that is certified at the requested rate, or estimated to keep it, from its fate on each run.
    pub fn rate(
        &self,
        tasks: &[usize],
        appetite: Appetite,
        entrant: Entrant,
        fate: impl Fn(usize) -> Fate,
    ) -> Candidate {
        let effects: Vec<TaskSums> = tasks.iter().map(|task| self.sums(*task, &fate)).collect();
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
        killed: (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64),
        saved: saved_at_worst(tasks),
        cost: cost_at_worst(tasks),
        worth: appetite.lost_success_costs.map(worth),
        hosts: entrant.hosts,
        rules: entrant.rules,
    }
}

/// Whether the tasks leave open which of two strategies makes successes cheaper, or is worth more at a price: compared
/// task by task, as [`Contest`](crate::aggregate::Contest) does.
pub(super) fn is_equal(a: &[&TaskSums], b: &[&TaskSums], price: Option<f64>) -> bool {
    let pairs = || a.iter().zip(b).filter(|(a, _)| a.cost.n > 0);
    if let Some(price) = price {
        let worth = |task: &TaskSums| task.unspent() - price * task.killed.high.hits as f64;
        let sums: Vec<ClusterSums> =
            pairs().map(|(a, b)| ClusterSums::of_runs([(worth(a) - worth(b), a.cost.n as f64)])).collect();
        return is_open(&free_ratio_estimate(&sums, LEVEL), 0.0);
    }
    let against = |a: &CostSums, b: &CostSums| CostSums {
        spent_without: b.spent_with,
        successes_without: b.successes_with,
        ..*a
    };
    let sums: Vec<CostSums> = pairs().map(|(a, b)| against(&a.cost, &b.cost)).collect();
    is_open(&cost_estimate(&sums, LEVEL), 1.0)
}

/// What one limit does, by task: those that it leaves as they are, are not listed.
struct Touched {
    /// The run and the end of every stop.
    stops: Vec<(usize, EndIx)>,
    effects: BTreeMap<usize, TaskSums>,
}

/// What the limits of every family do, each computed once, when it is first asked for.
#[derive(Default)]
pub(super) struct EffectsByLimit {
    limits: RefCell<BTreeMap<LimitIx, Rc<Touched>>>,
    /// By family: the effects by task where no limit stops anything.
    untouched: RefCell<BTreeMap<usize, Rc<Vec<TaskSums>>>>,
}

/// A limit with what it does.
pub(super) struct Limit {
    family: usize,
    untouched: Rc<Vec<TaskSums>>,
    touched: Rc<Touched>,
}

impl Limit {
    /// Whether it stops anything.
    pub(super) fn acts(&self) -> bool {
        !self.touched.stops.is_empty()
    }

    /// Whether it stops the same runs at the same points as another.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.touched.stops == other.touched.stops
    }

    fn effects(&self, tasks: &[usize]) -> Vec<&TaskSums> {
        tasks.iter().map(|task| self.touched.effects.get(task).unwrap_or(&self.untouched[*task])).collect()
    }

    /// Rates it on these tasks.
    pub(super) fn rate(&self, study: &Study, tasks: &[usize], appetite: Appetite) -> Candidate {
        let entrant = Entrant { hosts: study.families()[self.family].hosts(), rules: 1, place: None };
        candidate(&self.effects(tasks), appetite, entrant)
    }

    /// Whether these tasks leave open which of two limits is better.
    pub(super) fn is_equal(&self, other: &Self, tasks: &[usize], appetite: Appetite) -> bool {
        is_equal(&self.effects(tasks), &other.effects(tasks), appetite.lost_success_costs)
    }
}

impl EffectsByLimit {
    /// A limit of a family.
    pub(super) fn limit(&self, study: &Study, at: LimitIx) -> Limit {
        let family = at.family;
        let untouched = Rc::clone(self.untouched.borrow_mut().entry(family).or_insert_with(|| {
            let fate = |run| if study.is_unread(family, run) { Fate::Unread } else { Fate::Untouched };
            Rc::new(study.all_tasks().into_iter().map(|task| study.sums(task, fate)).collect())
        }));
        let touched = Rc::clone(self.limits.borrow_mut().entry(at).or_insert_with(|| {
            let mut touched = Touched { stops: Vec::new(), effects: BTreeMap::new() };
            for (nth, task) in study.tasks().iter().enumerate() {
                let before = touched.stops.len();
                let read = task.runs.clone().filter(|run| !study.is_unread(family, *run));
                touched.stops.extend(read.filter_map(|run| Some((run, study.end_at(at, run)?))));
                if touched.stops.len() > before {
                    touched.effects.insert(nth, study.sums(nth, |run| study.fate(at, run)));
                }
            }
            Rc::new(touched)
        }));
        Limit { family, untouched, touched }
    }
}
