//! What tuning found as candidates for [`decide`](crate::aggregate::decide), so that it is judged as a comparison
//! judges stacks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::study::EndIx;
use super::{Appetite, Fate, LimitIx, Study};
use crate::aggregate::{Candidate, ContributedAmounts, Contribution, Ease, LEVEL, ShipTerms, Totals, is_open};
use crate::stats::estimate::free_ratio_estimate;
use crate::stats::{ClusterSums, CostSums, Estimate, WorthSums, cost_estimate, net_worth, ratio_estimate};

/// What a strategy does to the runs of one task, every unknown at its worst.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskEffect {
    pub(super) totals: Totals,
    worth: WorthSums,
    /// Number of graded runs.
    runs: u64,
    /// Number of graded runs that record what is spent, and that every rule can be evaluated on.
    known: u64,
}

impl TaskEffect {
    /// Of a strategy of which only the totals by task are known. Runs that cannot be judged are left out of them.
    pub(super) fn of(totals: Totals) -> Self {
        // Sums by task decide; how they are spread over the runs of a task does not matter.
        let mut worth = WorthSums::default();
        for nth in 0..totals.cost.n {
            worth.add(totals.unspent() / totals.cost.n as f64, (nth as f64) < totals.killed.numerator);
        }
        Self { totals, worth, runs: totals.cost.n, known: totals.cost.n }
    }
}

impl Study {
    /// What becomes of the runs of one task. A run on which a rule cannot be evaluated spends everything and loses its
    /// success.
    fn effect(&self, task: usize, fate: impl Fn(usize) -> Fate) -> TaskEffect {
        let mut effect = TaskEffect::default();
        for run in self.tasks()[task].runs.clone() {
            let fate = fate(run);
            let totals = if fate == Fate::Unread { self.unread_totals(run) } else { self.run_totals(run, fate) };
            let is_graded = self.runs()[run].outcome().grade().is_some();
            effect.runs += u64::from(is_graded);
            if totals.cost.n > 0 {
                effect.known += u64::from(is_graded && fate != Fate::Unread);
                effect.worth.add(totals.unspent(), totals.killed.numerator > 0.0);
            }
            effect.totals.merge(&totals);
        }
        effect
    }

    fn unread_totals(&self, run: usize) -> Totals {
        let mut totals = Totals::default();
        let of = &self.runs()[run];
        let Some(is_success) = of.outcome().grade() else { return totals };
        let is_killed = self.loses(run, Fate::Unread);
        let amounts = of.recorded().map(|recorded| ContributedAmounts {
            recorded,
            spent: Some(recorded),
            useful: Some(0.0),
            possible: None,
        });
        totals.add(&Contribution {
            is_success,
            is_stopped: false,
            is_killed,
            kept: f64::from(u8::from(is_success && !is_killed)),
            amounts,
            is_exact: true,
        });
        totals
    }

    /// Rates a strategy that is certified at the requested rate, or estimated to keep it, from its fate on each run.
    pub fn rate(&self, tasks: &[usize], appetite: Appetite, ease: Ease, fate: impl Fn(usize) -> Fate) -> Candidate {
        let effects: Vec<TaskEffect> = tasks.iter().map(|task| self.effect(*task, &fate)).collect();
        candidate(&effects.iter().collect::<Vec<_>>(), appetite, ease)
    }
}

impl Appetite {
    /// What it asks of a candidate.
    pub fn terms(&self) -> ShipTerms {
        ShipTerms { max_killed: self.alpha, min_known: crate::aggregate::MIN_KNOWN }
    }
}

/// The candidate with these effects by task. Its kills are those of the mean over tasks, which is what is certified.
pub(super) fn candidate(effects: &[&TaskEffect], appetite: Appetite, ease: Ease) -> Candidate {
    let count = |of: &dyn Fn(&TaskEffect) -> u64| effects.iter().map(|effect| of(effect)).sum::<u64>();
    let losses: Vec<f64> = effects.iter().filter_map(|effect| effect.totals.killed_rate()).collect();
    let killed = (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64);
    let is_limited = effects.iter().all(|effect| effect.totals.unlimited == 0 && effect.totals.inexact == 0);
    let limited = |estimate: &dyn Fn() -> Estimate| if is_limited { estimate() } else { Estimate::UNDEFINED };
    Candidate {
        acted: count(&|effect| effect.totals.stops) > 0,
        known: count(&|effect| effect.known) as f64 / count(&|effect| effect.runs).max(1) as f64,
        killed_at_most: Some(appetite.alpha),
        killed,
        saved: limited(&|| {
            ratio_estimate(&effects.iter().map(|effect| effect.totals.saved).collect::<Vec<_>>(), LEVEL)
        }),
        cost: limited(&|| cost_estimate(&effects.iter().map(|effect| effect.totals.cost).collect::<Vec<_>>(), LEVEL)),
        worth: appetite.lost_success_costs.map(|price| {
            limited(&|| net_worth(&effects.iter().map(|effect| effect.worth).collect::<Vec<_>>(), price, LEVEL))
        }),
        hosts: ease.hosts,
        rules: ease.rules,
    }
}

/// Whether the tasks leave open which of two strategies makes successes cheaper, or is worth more at a price: compared
/// task by task, as [`Contest`](crate::aggregate::Contest) does.
pub(super) fn is_equal(a: &[&TaskEffect], b: &[&TaskEffect], price: Option<f64>) -> bool {
    let pairs = || a.iter().zip(b).filter(|(a, _)| a.totals.cost.n > 0);
    if let Some(price) = price {
        let worth = |effect: &TaskEffect| effect.totals.unspent() - price * effect.totals.killed.numerator;
        let sums: Vec<ClusterSums> =
            pairs().map(|(a, b)| ClusterSums::of_runs([(worth(a) - worth(b), a.totals.cost.n as f64)])).collect();
        return is_open(&free_ratio_estimate(&sums, LEVEL), 0.0);
    }
    let sums: Vec<CostSums> = pairs()
        .map(|(a, b)| {
            let (a, b) = (a.totals.cost, b.totals.cost);
            CostSums { spent_without: b.spent_with, successes_without: b.successes_with, ..a }
        })
        .collect();
    is_open(&cost_estimate(&sums, LEVEL), 1.0)
}

/// What one limit does, by task: those that it leaves as they are, are not listed.
struct Touched {
    /// The run and the end of every stop.
    stops: Vec<(usize, EndIx)>,
    effects: BTreeMap<usize, TaskEffect>,
}

/// What the limits of every family do, each computed once, when it is first asked for.
#[derive(Default)]
pub(super) struct EffectsByLimit {
    limits: RefCell<BTreeMap<LimitIx, Rc<Touched>>>,
    /// By family: the effects by task where no limit stops anything.
    untouched: RefCell<BTreeMap<usize, Rc<Vec<TaskEffect>>>>,
}

/// A limit with what it does.
pub(super) struct Limit {
    family: usize,
    untouched: Rc<Vec<TaskEffect>>,
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

    fn effects(&self, tasks: &[usize]) -> Vec<&TaskEffect> {
        tasks.iter().map(|task| self.touched.effects.get(task).unwrap_or(&self.untouched[*task])).collect()
    }

    /// Rates it on these tasks.
    pub(super) fn rate(&self, study: &Study, tasks: &[usize], appetite: Appetite) -> Candidate {
        let ease = Ease { hosts: study.families()[self.family].hosts(), rules: 1 };
        candidate(&self.effects(tasks), appetite, ease)
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
            Rc::new(study.all_tasks().into_iter().map(|task| study.effect(task, fate)).collect())
        }));
        let touched = Rc::clone(self.limits.borrow_mut().entry(at).or_insert_with(|| {
            let mut touched = Touched { stops: Vec::new(), effects: BTreeMap::new() };
            for (nth, task) in study.tasks().iter().enumerate() {
                let before = touched.stops.len();
                let read = task.runs.clone().filter(|run| !study.is_unread(family, *run));
                touched.stops.extend(read.filter_map(|run| Some((run, study.end_at(at, run)?))));
                if touched.stops.len() > before {
                    touched.effects.insert(nth, study.effect(nth, |run| study.fate(at, run)));
                }
            }
            Rc::new(touched)
        }));
        Limit { family, untouched, touched }
    }
}
