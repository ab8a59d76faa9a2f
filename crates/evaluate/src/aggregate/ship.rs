//! Decides what to ship. This is the only place: a comparison, a sweep, the page's slider, a figure and a tuned stack
//! all ask [`decide`].
//!
//! A candidate is shipped if it is safe and worth it. "No stopping" always competes: where no candidate is worth
//! shipping, it wins.

use std::cmp::Ordering;

use crate::stats::{Estimate, Interval};

/// The least share of the measure that has to be saved beyond chance.
pub const LEAST_SAVED: f64 = 0.01;
/// The least share of the runs on which a number has to be known, for a decision and for a gate.
pub const MIN_KNOWN: f64 = 0.95;

/// What is asked of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShipTerms {
    /// The largest tolerated share of killed successes: in the mean over tasks, and of all of them.
    pub max_killed: f64,
    /// The least share of the runs on which kills and savings have to be known.
    pub min_known: f64,
}

/// What is known about a candidate. A number that is unknown is never in its favour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Whether it did anything.
    pub acted: bool,
    /// The share of the runs on which kills and savings are known, or bounded after a warning.
    pub known: f64,
    /// The share of a task's successes it kills, in the mean over tasks: the end of a bound that allows for the number of
    /// candidates, with every unknown run at its worst.
    pub killed_at_most: Option<f64>,
    /// The same as counted.
    pub killed: Option<f64>,
    /// The share of all successes that it kills, whatever their tasks, with every unknown run at its worst: a mean over
    /// tasks does not show that one task with most of the successes loses them.
    pub killed_of_all: Option<f64>,
    /// The share of the measure it saves usefully, with every unknown run at its worst.
    pub saved: Estimate,
    /// The cost of a success relative to no stopping, with every unknown run at its worst.
    pub cost: Estimate,
    /// If a lost success has a price: what it is worth per run.
    pub worth: Option<Estimate>,
    /// The number of frameworks that have a setting for it.
    pub hosts: usize,
    /// The number of its rules.
    pub rules: usize,
}

/// How a candidate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It may be shipped.
    Allowed,
    /// It is safe, but saves nothing beyond chance, or less than [`LEAST_SAVED`].
    SavesNothing,
    /// It is safe, but does not pay at the price of a lost success.
    DoesNotPay,
    /// It is safe, but makes successes dearer.
    Dearer,
    /// Too little is known to call it safe.
    Unknown,
    /// It may kill more than is tolerated.
    Unsafe,
    /// It did nothing.
    Idle,
}

impl Standing {
    /// True if it is safe but not worth shipping.
    pub fn is_not_worth_it(self) -> bool {
        matches!(self, Self::SavesNothing | Self::DoesNotPay | Self::Dearer)
    }

    /// The name in data for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::SavesNothing | Self::DoesNotPay | Self::Dearer => "not_worth_it",
            Self::Unknown => "unknown",
            Self::Unsafe => "unsafe",
            Self::Idle => "idle",
        }
    }
}

impl Candidate {
    /// How it stands under these terms.
    pub fn standing(&self, terms: ShipTerms) -> Standing {
        let is_within = |share: Option<f64>| matches!(share, Some(share) if share <= terms.max_killed);
        let above = |estimate: &Estimate, limit: f64| matches!(estimate.interval, Some(of) if of.low > limit);
        if !self.acted {
            Standing::Idle
        } else if ![self.killed_at_most, self.killed, self.killed_of_all].into_iter().all(is_within) {
            Standing::Unsafe
        } else if self.known < terms.min_known {
            Standing::Unknown
        } else if !above(&self.saved, LEAST_SAVED) {
            Standing::SavesNothing
        } else if let Some(worth) = &self.worth {
            if above(worth, 0.0) { Standing::Allowed } else { Standing::DoesNotPay }
        } else if self.cost.value.is_none() || above(&self.cost, 1.0) {
            Standing::Dearer
        } else {
            Standing::Allowed
        }
    }

    /// What candidates are ranked by, larger is better: worth if a lost success has a price, else cheaper successes.
    pub fn merit(&self) -> f64 {
        let merit = match &self.worth {
            Some(worth) => worth.value,
            None => self.cost.value.map(|cost| -cost),
        };
        merit.filter(|merit| merit.is_finite()).unwrap_or(f64::NEG_INFINITY)
    }
}

/// Why the candidate with the best numbers was passed over for one that is equal within chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The other kills fewer.
    Kills,
    /// More frameworks have a setting for the other.
    Settings,
    /// The other has fewer rules.
    Rules,
}

/// What to ship, and how every candidate stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ShipDecision {
    /// The index of the candidate to ship; `None` if no stopping is best.
    pub ship: Option<usize>,
    /// If the best by its numbers was passed over: its index, and why.
    pub tie: Option<(usize, TieBreak)>,
    /// How each candidate stands.
    pub standings: Vec<Standing>,
    /// If nothing is shipped: the candidate that comes nearest. A safe one before one of which too little is known,
    /// and that before one that may kill too many.
    pub nearest: Option<usize>,
}

/// A candidate with its index.
type Numbered<'c> = (usize, &'c Candidate);

/// The candidates that may be shipped.
pub fn allowed(candidates: &[Candidate], terms: ShipTerms) -> Vec<Numbered<'_>> {
    candidates.iter().enumerate().filter(|(_, of)| of.standing(terms) == Standing::Allowed).collect()
}

/// The one with the best numbers among candidates that may be shipped: all others are compared with it.
pub fn best_allowed<'c>(allowed: &[Numbered<'c>]) -> Option<Numbered<'c>> {
    allowed.iter().copied().min_by(|a, b| b.1.merit().total_cmp(&a.1.merit()).then(by_order(a, b)))
}

fn killed(candidate: &Candidate) -> f64 {
    candidate.killed.unwrap_or(f64::INFINITY)
}

/// The order of candidates that are equal within chance.
fn by_order((at, a): &Numbered<'_>, (bt, b): &Numbered<'_>) -> Ordering {
    let settled = killed(a).total_cmp(&killed(b)).then(b.hosts.cmp(&a.hosts)).then(a.rules.cmp(&b.rules));
    settled.then(b.merit().total_cmp(&a.merit())).then(at.cmp(bt))
}

/// Decides what to ship under `terms`: among the candidates that are safe and worth it, the one with the cheapest
/// successes (or worth most, if a lost success has a price). Candidates that are `equal` to it within chance go by
/// fewer kills, then by more frameworks with a setting, then by fewer rules, then by the order given.
pub fn decide(candidates: &[Candidate], terms: ShipTerms, equal: impl Fn(usize, usize) -> bool) -> ShipDecision {
    let standings: Vec<Standing> = candidates.iter().map(|candidate| candidate.standing(terms)).collect();
    let numbered = || candidates.iter().enumerate().zip(&standings).map(|((at, of), standing)| (at, of, *standing));
    let allowed = allowed(candidates, terms);
    let best = best_allowed(&allowed);
    let ship = best.and_then(|(best, _)| {
        allowed.iter().copied().filter(|(at, _)| *at == best || equal(*at, best)).min_by(by_order)
    });
    let tie = best.zip(ship).filter(|(best, ship)| best.0 != ship.0).map(|((at, best), (_, ship))| {
        let by = if killed(ship) < killed(best) {
            TieBreak::Kills
        } else if ship.hosts > best.hosts {
            TieBreak::Settings
        } else {
            TieBreak::Rules
        };
        (at, by)
    });
    let class = |standing: Standing| match standing {
        Standing::Allowed => 0,
        standing if standing.is_not_worth_it() => 1,
        Standing::Unknown => 2,
        Standing::Unsafe => 3,
        _ => 4,
    };
    let nearest = numbered().filter(|(.., standing)| *standing != Standing::Idle).min_by(|a, b| {
        let risk = |of: &Candidate| of.killed_at_most.or(of.killed).unwrap_or(f64::INFINITY);
        let saved = |of: &Candidate| of.saved.value.unwrap_or(f64::NEG_INFINITY);
        let by_class = class(a.2).cmp(&class(b.2));
        let within = if class(a.2) == 1 {
            saved(b.1).total_cmp(&saved(a.1))
        } else {
            risk(a.1).total_cmp(&risk(b.1)).then(saved(b.1).total_cmp(&saved(a.1)))
        };
        by_class.then(within).then(a.0.cmp(&b.0))
    });
    ShipDecision {
        ship: ship.map(|(at, _)| at),
        tie,
        standings,
        nearest: nearest.filter(|_| ship.is_none()).map(|(at, ..)| at),
    }
}

/// Whether an estimated ratio of two costs, or an estimated difference, leaves open which is larger: `neutral` is the
/// value for no difference. Without an interval it does.
pub fn is_open(estimate: &Estimate, neutral: f64) -> bool {
    estimate.interval.is_none_or(|Interval { low, high }| low <= neutral && neutral <= high)
}
