//! `budget.csv`: success by budget, one line per step of each curve.

use super::{DataTable, FileColumns};
use crate::aggregate::BudgetCurve;
use crate::stats::Interval;
use crate::stats::incidence::IncidenceStep;

/// How the curve and its interval are computed.
const METHOD: &str = "gaffke";
/// The same if runs were cut off while others went on.
const METHOD_OF_RANGE: &str = "bounds over cut-off runs, gaffke";

/// Maximum steps of a curve in the table unless all are asked for: more than a figure has pixel columns.
const DRAWN: usize = 1000;

/// One step of a budget curve.
pub struct BudgetStep<'c> {
    curve: &'c BudgetCurve,
    /// The curve at this step, at least and at most.
    least: &'c IncidenceStep,
    most: &'c IncidenceStep,
    interval: Option<Interval>,
}

/// The budget curves. Unless `whole`, a long curve is thinned to as many steps as can be drawn, keeping every step
/// with an interval and the last.
pub fn budget(curves: &[BudgetCurve], whole: bool) -> DataTable {
    let mut steps = Vec::new();
    for curve in curves {
        let n = curve.curve.steps.len();
        let every = if whole { 1 } else { n.div_ceil(DRAWN).max(1) };
        let of_curve = curve.curve.steps.iter().zip(&curve.most.steps).zip(&curve.band).enumerate();
        for (at, ((least, most), interval)) in of_curve {
            if at % every == 0 || at + 1 == n || interval.is_some() {
                steps.push(BudgetStep { curve, least, most, interval: *interval });
            }
        }
    }
    budget_columns().table(steps)
}

/// The columns of `budget.csv`.
pub fn budget_columns<'c>() -> FileColumns<'c, BudgetStep<'c>> {
    FileColumns::new()
        .some_label("suite", "The suite; empty if the recordings name none.", |step: &BudgetStep<'c>| {
            step.curve.suite.as_ref()
        })
        .some_label("model", "The model; empty if the recordings name none.", |step| step.curve.model.as_ref())
        .text("unit", "The unit of the budget.", |step| step.curve.unit.name().to_owned())
        .count("tasks", "The tasks of the curve.", |step| step.curve.tasks)
        .count("cut_off", "Runs cut off by their own cap.", |step| step.curve.cut_off)
        .number("budget", "The budget.", |step| Some(step.least.at))
        .count(
            "cut_off_informative",
            "Of those, runs cut off while others went on: they make the curve a range.",
            |step| step.curve.informative,
        )
        .number(
            "success_by_budget",
            "The mean over tasks of the share of a task's runs that succeed within the budget; empty if it is a range.",
            known_success,
        )
        .number("success_by_budget_min", "The same, at least.", |step| Some(step.least.incidence))
        .number("success_by_budget_max", "The same, at most.", |step| Some(step.most.incidence))
        .ends("success_by_budget", "the 95 % interval, which covers both; not every step has one", |step| step.interval)
        .count("success_by_budget_n", "The runs of the curve.", |step| step.curve.runs)
        .text("success_by_budget_of", "What they are.", |_| "runs of known outcome".to_owned())
        .text("success_by_budget_method", "How the curve and its interval were computed.", |step| {
            if step.curve.informative > 0 { METHOD_OF_RANGE } else { METHOD }.to_owned()
        })
        .count("at_risk", "Runs that have not ended before this budget.", |step| step.least.at_risk)
        .number("known_to", "The budget up to which the curve is known; empty if it is known to its end.", |step| {
            step.curve.curve.known_to
        })
}

/// The curve at a step, if it is no range there.
fn known_success(step: &BudgetStep<'_>) -> Option<f64> {
    let BudgetStep { least, most, .. } = step;
    if least.incidence.total_cmp(&most.incidence).is_eq() { Some(least.incidence) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Unit;
    use crate::stats::incidence::{End, Ending, incidence_bounds};

    #[test]
    fn a_long_curve_is_thinned_to_what_can_be_drawn() {
        let endings: Vec<Ending> = (0..25_000).map(|at| Ending { at: f64::from(at), end: End::Success }).collect();
        let (curve, most) = incidence_bounds(&endings, &vec![0; endings.len()]);
        let n = curve.steps.len();
        let mut band = vec![None; n];
        band[n - 7] = Some(Interval { low: 0.1, high: 0.2 });
        let curve = BudgetCurve {
            suite: None,
            model: None,
            unit: Unit::Steps,
            runs: 25_000,
            tasks: 10,
            cut_off: 0,
            informative: 0,
            curve,
            most,
            band,
        };
        let lines = |whole| {
            let mut text = Vec::new();
            budget(std::slice::from_ref(&curve), whole).write_csv(&mut text).unwrap();
            String::from_utf8(text).unwrap().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let (all, thin) = (lines(true), lines(false));
        assert_eq!((n, all.len()), (25_000, 25_000));
        assert!((900..=1003).contains(&thin.len()), "{}", thin.len());
        assert_eq!((thin.first(), thin.last()), (all.first(), all.last()));
        assert!(thin.contains(&all[n - 7]) && thin.iter().all(|line| all.contains(line)));
    }
}
