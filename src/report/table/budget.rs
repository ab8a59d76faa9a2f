//! `budget.csv`: success by budget, one line a step of each curve.

use super::{Cell, Line, Table};
use crate::aggregate::BudgetCurve;

/// How the curve and its interval are made.
const METHOD: &str = "aalen-johansen, wilson on the effective n, tasks left out";
/// The same where runs were cut off before others went on.
const METHOD_OF_RANGE: &str = "bounds over cut-off runs, wilson on the effective n, tasks left out";

/// The budget curves.
pub fn budget(curves: &[BudgetCurve]) -> Table {
    let lines = curves.iter().flat_map(|curve| {
        let steps = curve.curve.steps.iter().zip(&curve.most.steps).zip(&curve.band);
        steps.map(|((step, most), interval)| {
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
