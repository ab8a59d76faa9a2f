//! What the rules of a stack read, for people.

use super::Stack;
use crate::decision::{Probe, RuleName, RuleReading};
use crate::rule::Rule;
use crate::signal::Signal;
use crate::transcript::PointView;

/// The signals of every rule of a stack at work.
pub(super) struct StackProbe<'s> {
    rules: Vec<(RuleName, &'s Rule, Box<dyn Signal>)>,
}

impl<'s> StackProbe<'s> {
    pub(super) fn start(stack: &'s Stack) -> Self {
        let rules = stack.clauses.iter().flat_map(|clause| {
            let rules = clause.condition.rules().into_iter();
            rules.map(|rule| (clause.name.clone(), rule, rule.start()))
        });
        Self { rules: rules.collect() }
    }
}

impl Probe for StackProbe<'_> {
    fn read(&mut self, view: &PointView<'_>) -> Vec<RuleReading> {
        let read = self.rules.iter_mut().map(|(clause, rule, signal)| {
            let reading = signal.observe(view);
            RuleReading {
                clause: clause.clone(),
                signal: rule.signal.id,
                reading,
                limit: rule.limit,
                passes: reading.is_some_and(|reading| rule.comparator.passes(reading, rule.limit)),
            }
        });
        read.collect()
    }
}
