//! `budget.csv`: success by budget, one line a step of each curve.

use super::{Cell, Line, Table};
use crate::aggregate::BudgetCurve;

/// The budget curves.
pub fn budget(curves: &[BudgetCurve]) -> Table {
    let lines = curves.iter().flat_map(|curve| {
        curve.curve.steps.iter().map(|step| {
            let mut line = Line::default();
            line.push("suite", Cell::text(curve.suite.as_deref()));
            line.push("model", Cell::text(curve.model.as_deref()));
            line.push("unit", Cell::Text(curve.unit.name().to_owned()));
            line.push("runs", Cell::Count(curve.runs));
            line.push("cut_off", Cell::Count(curve.cut_off));
            line.push("budget", Cell::Number(step.at));
            line.push("success_by_budget", Cell::Number(step.incidence));
            line.push("at_risk", Cell::Number(step.at_risk));
            line.push("known_to", Cell::number(curve.curve.known_to));
            line
        })
    });
    Table::of(lines.collect())
}
