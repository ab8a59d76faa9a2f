//! `budget.csv`: success by budget, one line per step of each curve.

use super::{Cell, Line, Table};
use crate::aggregate::BudgetCurve;

/// How the curve and its interval are computed.
const METHOD: &str = "aalen-johansen, wilson on the effective n, tasks left out";
/// The same if runs were cut off while others went on.
const METHOD_OF_RANGE: &str = "bounds over cut-off runs, wilson on the effective n, tasks left out";

/// Maximum steps of a curve in the table unless all are asked for: more than a figure has pixel columns.
const DRAWN: usize = 1000;

/// The budget curves. Unless `whole`, a long curve is thinned to as many steps as can be drawn, keeping every step
/// with an interval and the last.
pub fn budget(curves: &[BudgetCurve], whole: bool) -> Table {
    let lines = curves.iter().flat_map(|curve| {
        let n = curve.curve.steps.len();
        let every = if whole { 1 } else { n.div_ceil(DRAWN).max(1) };
        let steps = curve.curve.steps.iter().zip(&curve.most.steps).zip(&curve.band).enumerate();
        let kept = steps.filter(move |(at, (_, band))| at % every == 0 || at + 1 == n || band.is_some());
        kept.map(|(_, ((step, most), interval))| {
            let is_range = curve.informative > 0;
            let is_point = step.incidence.total_cmp(&most.incidence).is_eq();
            let mut line = Line::default();
            line.push("suite", Cell::text(curve.suite.as_deref()));
            line.push("model", Cell::text(curve.model.as_deref()));
            line.push("unit", Cell::Text(curve.unit.name().to_owned()));
            line.push("tasks", Cell::Count(curve.tasks));
            line.push("cut_off", Cell::Count(curve.cut_off));
            line.push("budget", Cell::Number(step.at));
            line.push("cut_off_informative", Cell::Count(curve.informative));
            line.push("success_by_budget", Cell::number(is_point.then_some(step.incidence)));
            line.push("success_by_budget_min", Cell::Number(step.incidence));
            line.push("success_by_budget_max", Cell::Number(most.incidence));
            line.push("success_by_budget_low", Cell::number(interval.map(|interval| interval.low)));
            line.push("success_by_budget_high", Cell::number(interval.map(|interval| interval.high)));
            line.push("success_by_budget_n", Cell::Count(curve.runs));
            line.push("success_by_budget_of", Cell::Text("runs of known outcome".to_owned()));
            line.push(
                "success_by_budget_method",
                Cell::Text(if is_range { METHOD_OF_RANGE } else { METHOD }.to_owned()),
            );
            line.push("at_risk", Cell::Number(step.at_risk));
            line.push("known_to", Cell::number(curve.curve.known_to));
            line
        })
    });
    Table::of(lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Unit;
    use crate::stats::Interval;
    use crate::stats::incidence::{End, Ending, incidence_bounds};

    #[test]
    fn a_long_curve_is_thinned_to_what_can_be_drawn() {
        let endings: Vec<Ending> = (0..25_000).map(|at| Ending { at: f64::from(at), end: End::Success }).collect();
        let (curve, most) = incidence_bounds(&endings);
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
