//! Where each rule of a stack would have acted by itself, and what would change without it.

use super::columns::record;
use super::{Label, RunRows};
use crate::decision::Evidence;
use crate::replay::Replay;
use crate::transcript::Point;
use crate::verdict::Verdict;

record! {
    /// One rule of one stack on one run: a line of `firings.csv`.
    pub struct Firing {
        /// The run.
        run_id: Label;
        /// The stack.
        stack: Label;
        /// The rule.
        rule: Label;
        /// Where it would have acted first, were it the only rule.
        point: Point;
        /// The value of its signal there.
        observed: Option<f64>;
        /// Whether this rule stopped the run.
        first: bool;
        /// The verdict if this were the stack's only rule.
        verdict_alone: Verdict;
        /// The verdict if the stack did not have this rule.
        verdict_without: Verdict;
        /// Model calls paid for if the stack did not have this rule.
        steps_without: u64, "steps";
    }
}

/// The firings of a stack's rules on one run. Empty for strategies whose rules cannot be evaluated separately.
pub fn firings(rows: &RunRows, stack: &Label, run_id: &Label, rules: &[Label], replay: &Replay) -> Vec<Firing> {
    let Some(points) = &replay.first_firings else { return Vec::new() };
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
            steps_without: rows.ledger().paid_by(without).steps,
        });
    }
    firings
}
