//! Where each rule of a stack would have acted by itself, and what would change without it.

use serde::{Deserialize, Serialize};

use super::{Label, RunRows};
use crate::decision::Evidence;
use crate::replay::Replay;
use crate::transcript::Point;
use crate::verdict::Verdict;

/// One rule of one stack on one run: the columns of `firings.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Firing {
    /// The run.
    pub run_id: Label,
    /// The stack.
    pub stack: Label,
    /// The rule.
    pub rule: Label,
    /// Where it would have acted first, were it the only rule.
    pub point: Point,
    /// The value of its signal there.
    pub observed: Option<f64>,
    /// Whether this rule stopped the run.
    pub first: bool,
    /// The verdict if this were the stack's only rule.
    pub verdict_alone: Verdict,
    /// The verdict if the stack did not have this rule.
    pub verdict_without: Verdict,
    /// Model calls paid for if the stack did not have this rule.
    pub steps_without: u64,
}

impl Firing {
    /// The header of `firings.csv`, written even if no rule fired.
    pub const HEADER: &str = "run_id,stack,rule,point,observed,first,verdict_alone,verdict_without,steps_without";
}

/// The firings of a stack's rules on one run. Empty for strategies whose rules cannot be evaluated separately.
pub fn firings(rows: &RunRows, stack: &Label, run_id: &Label, rules: &[Label], replay: &Replay) -> Vec<Firing> {
    let Some(points) = &replay.first_firings else { return Vec::new() };
    let whole = rows.ledger().whole().steps;
    let end = rows.ledger().end();
    let early = |point: Point| end.is_some_and(|end| point < end);
    let stop = replay.stop.as_ref();
    let mut firings = Vec::new();
    for (index, (rule, firing)) in rules.iter().zip(points).enumerate() {
        let Some((point, Evidence { observed, .. })) = *firing else { continue };
        let others = points.iter().enumerate().filter(|(other, _)| *other != index);
        let without = others.filter_map(|(_, firing)| firing.map(|(point, _)| point)).filter(|&p| early(p)).min();
        firings.push(Firing {
            run_id: run_id.clone(),
            stack: stack.clone(),
            rule: rule.clone(),
            point,
            observed,
            first: stop.is_some_and(|stop| stop.rule.as_str() == &**rule),
            verdict_alone: rows.course().verdict(Some(point).filter(|&point| early(point))),
            verdict_without: rows.course().verdict(without),
            steps_without: without.map_or(whole, |point| rows.ledger().until(point).steps),
        });
    }
    firings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Moment;

    #[test]
    fn the_header_names_the_fields() {
        let firing = Firing {
            run_id: "run".into(),
            stack: "stack".into(),
            rule: "rule".into(),
            point: Point::new(0, Moment::AfterTools),
            observed: None,
            first: false,
            verdict_alone: Verdict::TrueStop,
            verdict_without: Verdict::TrueStop,
            steps_without: 1,
        };
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(firing).unwrap();
        let written = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        assert_eq!(written.lines().next(), Some(Firing::HEADER));
    }
}
