//! Success by budget: how much of what is ever achieved is achieved by how many steps or tokens.

use std::collections::BTreeMap;

use super::{Group, Label, Row, Unit};
use crate::stats::incidence::{End, Ending, Incidence, cumulative_incidence};
use crate::transcript::Outcome;

/// The curve of one stratum.
#[derive(Clone, Debug)]
pub struct BudgetCurve {
    /// The suite.
    pub suite: Option<Label>,
    /// The model.
    pub model: Option<Label>,
    /// What the budget is counted in.
    pub unit: Unit,
    /// Runs with a known outcome and a known cost.
    pub runs: u64,
    /// Runs cut off by their own cap: the recording cannot tell whether they would have succeeded.
    pub cut_off: u64,
    /// The curve.
    pub curve: Incidence,
}

/// One curve a suite and model, from the recordings themselves: any one stack's rows will do.
pub fn budget_curves(group: &Group<'_>, unit: Unit) -> Vec<BudgetCurve> {
    let mut strata: BTreeMap<(Option<Label>, Option<Label>), Vec<Ending>> = BTreeMap::new();
    for row in &group.rows {
        if let Some(ending) = ending(row, unit) {
            strata.entry((row.suite.clone(), row.model.clone())).or_default().push(ending);
        }
    }
    let curves = strata.into_iter().map(|((suite, model), endings)| BudgetCurve {
        suite,
        model,
        unit,
        runs: endings.len() as u64,
        cut_off: endings.iter().filter(|ending| ending.end == End::CutOff).count() as u64,
        curve: cumulative_incidence(&endings),
    });
    curves.collect()
}

/// A success counts at the point that secured it, where that is known; a capped failure is cut off.
fn ending(row: &Row, unit: Unit) -> Option<Ending> {
    let recorded = unit.recorded(row)?;
    let after = match unit {
        Unit::Steps => row.steps_after_secured.map(|steps| steps as f64),
        Unit::Tokens => row.tokens_after_secured.map(|tokens| tokens as f64),
        Unit::CostUsd => None,
    };
    let (at, end) = match row.outcome {
        Outcome::Success => (recorded - after.unwrap_or(0.0), End::Success),
        Outcome::Failure if row.end.is_censoring() => (recorded, End::CutOff),
        Outcome::Failure => (recorded, End::Failure),
        Outcome::Unknown => return None,
    };
    Some(Ending { at, end })
}
