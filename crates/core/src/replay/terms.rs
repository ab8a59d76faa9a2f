//! How a strategy is started on a recording: without rules that would misread redacted data, and with the truth that a
//! simulated judge errs around.

use std::sync::Arc;

use super::evaluable::is_taken_out;
use crate::decision::{Decision, FirstFiring, Need, Requirement, RuleName, RuleReading, Strategy, Watch};
use crate::transcript::{Header, Moments, PointView, Run, Truth};

/// What only the whole recording determines about starting a strategy on it. For a live run nothing is known and no
/// rule is dropped: [`Terms::default`].
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Rules that would misread a placeholder in a redacted recording, or contents that were not recorded.
    dropped: Vec<RuleName>,
    /// The truth about the run, for a simulated judge.
    truth: Option<Truth>,
}

impl Terms {
    /// The terms for starting a strategy with these requirements on `run`.
    pub fn from_run(run: &Run, requirements: &[Requirement]) -> Self {
        let misreads = |requirement: &&Requirement| {
            let need = requirement.need;
            (run.header.redacted || need.is_of_contents()) && is_taken_out(run, need)
        };
        let asks_truth = requirements.iter().any(|requirement| requirement.need == Need::Outcome);
        Self {
            dropped: requirements.iter().filter(misreads).map(|requirement| requirement.rule.clone()).collect(),
            truth: if asks_truth { Some(Truth::from_run(run)) } else { None },
        }
    }

    /// The terms for a live run whose events will lack what `absent` names: the rules that need it are dropped.
    pub fn lacking(requirements: &[Requirement], absent: impl Fn(Need) -> bool) -> Self {
        let misreads = requirements.iter().filter(|requirement| absent(requirement.need));
        Self { dropped: misreads.map(|requirement| requirement.rule.clone()).collect(), truth: None }
    }

    /// True if the rule is dropped.
    pub fn drops(&self, rule: &RuleName) -> bool {
        self.dropped.contains(rule)
    }

    /// Starts the strategy on these terms.
    pub fn start<S: Strategy + ?Sized>(self, strategy: &Arc<S>, header: &Header) -> Box<dyn Watch> {
        let mut watch = Arc::clone(strategy).start(header);
        if let Some(truth) = self.truth {
            watch.seat_judge(truth);
        }
        if self.dropped.is_empty() {
            return watch;
        }
        let is_dropped = strategy.rules().iter().map(|rule| self.drops(rule)).collect();
        // A recording without points never shows it any, so no rule has acted.
        let first_firings = vec![None; watch.first_firings().unwrap_or_default().len()];
        Box::new(Remaining { watch, dropped: self.dropped, is_dropped, first_firings })
    }
}

/// A running strategy without some of its rules: the decisions of the dropped rules are discarded.
struct Remaining {
    watch: Box<dyn Watch>,
    dropped: Vec<RuleName>,
    /// One flag per rule of the strategy, in order.
    is_dropped: Vec<bool>,
    first_firings: Vec<FirstFiring>,
}

impl Watch for Remaining {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        let said_before = trail.len();
        self.watch.at(view, trail);
        let mut nth = 0;
        trail.retain(|decision| {
            nth += 1;
            nth <= said_before || !self.dropped.contains(&decision.rule)
        });
        let firings = self.watch.first_firings().unwrap_or_default().iter().zip(&self.is_dropped);
        self.first_firings = firings.map(|(firing, is_dropped)| firing.filter(|_| !is_dropped)).collect();
    }

    fn moments(&self) -> Moments {
        self.watch.moments()
    }

    fn readings(&self) -> Vec<RuleReading> {
        let mut readings = self.watch.readings();
        readings.retain(|reading| !self.dropped.contains(&reading.rule));
        readings
    }

    fn first_firings(&self) -> Option<&[FirstFiring]> {
        self.watch.first_firings().map(|_| &*self.first_firings)
    }

    fn conclude(&mut self) -> Vec<RuleName> {
        self.watch.conclude()
    }

    fn extra_calls(&self) -> u64 {
        self.watch.extra_calls()
    }
}
