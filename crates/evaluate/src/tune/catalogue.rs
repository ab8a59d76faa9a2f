//! The fixed catalogue: families of one rule each, fixed before any recording is read.

use std::sync::Arc;

use crate::rule::{Comparator, Condition, Rule};
use crate::signal;
use crate::stack::{Clause, Stack};

/// The signals a budget may use. The default, `steps`, is one that every host supports.
pub const BUDGETS: [&str; 3] = ["steps", "tokens.total", "cost"];

/// One signal with its comparator and its limits from cautious to bold: if a limit fires, all bolder limits fire too,
/// no later.
#[derive(Clone, Debug)]
pub struct Family {
    /// The rule at its most cautious limit.
    rule: Rule,
    limits: Vec<f64>,
    /// The share of delta that its walk may spend.
    share: f64,
    /// The number of frameworks that have a setting for it.
    hosts: usize,
}

impl Family {
    /// The family of a signal without options. `None` for an unknown signal.
    fn from_id(id: &str, comparator: Comparator, limits: Vec<f64>, share: f64) -> Option<Self> {
        let first = *limits.first()?;
        Some(Self { rule: Rule::new(signal::find(id)?, comparator, first), limits, share, hosts: 0 })
    }

    /// The signal with its comparator, without a limit: `novelty <=`.
    pub fn name(&self) -> String {
        format!("{} {}", self.rule.signal.id, self.rule.comparator.sign())
    }

    /// The rule at the limit with that index.
    pub fn rule(&self, at: usize) -> Rule {
        Rule { limit: self.limits[at], ..self.rule.clone() }
    }

    /// The rule at the most cautious limit.
    pub fn first_rule(&self) -> &Rule {
        &self.rule
    }

    /// The limits, from cautious to bold.
    pub fn limits(&self) -> &[f64] {
        &self.limits
    }

    /// The share of delta that its walk may spend.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The same family, for which so many frameworks have a setting: this decides between equals.
    #[must_use]
    pub fn held_by(mut self, hosts: usize) -> Self {
        self.hosts = hosts;
        self
    }

    /// The number of frameworks that have a setting for it.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// The stack of the rule at the limit with that index.
    pub fn stack(&self, name: &str, at: usize) -> Arc<Stack> {
        let clause = Clause::stop_on(Condition::Rule(Box::new(self.rule(at))));
        Arc::new(Stack { name: name.to_owned(), clauses: vec![clause], cap: None })
    }
}

/// The six families of the catalogue. The budget gets half of delta and therefore needs the fewest tasks; the five
/// others get a tenth each. `budget` is one of [`BUDGETS`].
pub fn catalogue(budget: &str) -> Vec<Family> {
    let tenth = 0.1;
    let families = [
        Family::from_id(budget, Comparator::AtLeast, budget_limits(budget), 0.5),
        Family::from_id("call_result.count", Comparator::AtLeast, counts(2), tenth),
        Family::from_id("call.count", Comparator::AtLeast, counts(2), tenth),
        Family::from_id("errors.count", Comparator::AtLeast, counts(1), tenth),
        Family::from_id("call.repeated", Comparator::AtLeast, shares(10), tenth),
        Family::from_id("novelty", Comparator::AtMost, shares(100).into_iter().rev().collect(), tenth),
    ];
    families.into_iter().flatten().collect()
}

/// The families a list of rules may be made of: the catalogue and some more. Signals of text amounts and replies are
/// left out: they identify the scaffold.
pub fn pool(budget: &str) -> Vec<Family> {
    let mut families = catalogue(budget);
    let further = ["result.count", "result.streak", "call_result.streak", "call.streak", "call.cycle", "errors.streak"];
    families.extend(further.into_iter().filter_map(|id| Family::from_id(id, Comparator::AtLeast, counts(2), 0.0)));
    families
}

/// Whole numbers from far above any reading down to `least`, denser where they are small.
fn counts(least: u32) -> Vec<f64> {
    let mut all: Vec<u32> = (least..=50).collect();
    all.extend((0..).map(|power| 50.0 * 1.1_f64.powi(power + 1)).take_while(|limit| *limit < 10_000.0).map(rounded));
    all.into_iter().rev().map(f64::from).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number below 10,000")]
fn rounded(limit: f64) -> u32 {
    limit.round() as u32
}

/// The shares k/n in descending order, from 1 to 1/n.
fn shares(n: u32) -> Vec<f64> {
    (1..=n).rev().map(|part| f64::from(part) / f64::from(n)).collect()
}

/// Steps one by one up to 200, and everything else to three digits: adjacent limits differ by at most 1 %.
fn budget_limits(signal: &str) -> Vec<f64> {
    let (least, most) = match signal {
        "steps" => (200.0_f64, 1e6),
        "tokens.total" => (1e3, 1e10),
        _ => (1e-3, 1e5),
    };
    let mut limits: Vec<f64> = Vec::new();
    if signal == "steps" {
        limits.extend((1..200).map(f64::from));
    }
    let mut decade = 10.0_f64.powf(least.log10().floor());
    while decade < most {
        // Ten digits hide the floating-point noise of 0.001 * 123.
        let of_decade = (100..1_000).map(|digits| format!("{:.10}", decade * f64::from(digits) / 100.0));
        let of_decade = of_decade.filter_map(|limit| limit.parse::<f64>().ok());
        limits.extend(of_decade.filter(|limit| *limit >= least && (signal != "steps" || limit.fract() == 0.0)));
        decade *= 10.0;
    }
    limits.reverse();
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_families_share_delta_and_go_from_cautious_to_bold() {
        for budget in BUDGETS {
            let families = catalogue(budget);
            assert_eq!(families.len(), 6);
            assert!((families.iter().map(Family::share).sum::<f64>() - 1.0).abs() < 1e-12);
            for family in families.iter().chain(&pool(budget)) {
                let rises = family.first_rule().comparator == Comparator::AtMost;
                let ordered = |pair: &[f64]| if rises { pair[0] < pair[1] } else { pair[0] > pair[1] };
                assert!(family.limits().windows(2).all(ordered), "{}", family.name());
                assert!(family.limits().len() < 10_000, "{}", family.name());
            }
        }
        let names: Vec<String> = catalogue("steps").iter().map(Family::name).collect();
        assert_eq!(
            names[1..],
            ["call_result.count >=", "call.count >=", "errors.count >=", "call.repeated >=", "novelty <="]
        );
        assert_eq!(catalogue("steps")[0].limits().last(), Some(&1.0));
        assert!(catalogue("cost")[0].limits().contains(&0.25));
    }
}
