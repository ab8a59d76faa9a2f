//! `sweep.csv`: every setting of a sweep with its rates, savings and differences to the baseline; and the same in
//! brief for a terminal.

use super::{Cell, Line, Table};
use crate::stats::{Adjustment, Estimate};
use crate::sweep::{Difference, Grid, Results, SettingResult};
use crate::verdict::Verdict;

/// `sweep.csv`, in grid order.
pub fn sweep(grid: &Grid, results: &Results) -> Table {
    let lines = results.settings.iter().map(|setting| {
        let mut line = Line::default();
        let summary = &setting.summary;
        line.push("setting", Cell::Text(summary.stack.to_string()));
        line.push("signal", Cell::Text(grid.axes.get(setting.axis).map(crate::sweep::Axis::name).unwrap_or_default()));
        line.push("limit", Cell::number(Some(setting.limit)));
        line.push("runs", Cell::Count(summary.runs));
        line.push("tasks", Cell::Count(summary.tasks));
        line.push("stops", Cell::Count(summary.stops()));
        for verdict in
            [Verdict::FalseEarlyStop, Verdict::UnverifiedFalseEarlyStop, Verdict::GoodTrim, Verdict::TrueStop]
        {
            line.push(verdict.name(), Cell::Count(summary.count(verdict)));
        }
        line.push("not_evaluable_runs", Cell::Count(setting.not_evaluable));
        push(&mut line, "fes_rate", &summary.estimates.fes_rate);
        if let Some(corrected) = &setting.corrected {
            push(&mut line, "fes_rate_corrected", &corrected.estimate);
            line.push("label_correction", Cell::Text(corrected.correction.name().to_owned()));
        }
        line.push("saved_unit", Cell::Text(results.unit.name().to_owned()));
        push(&mut line, "useful_saved_ratio", &setting.useful);
        let (fes, useful) = (setting.fes_difference.as_ref(), setting.useful_difference.as_ref());
        push_difference(&mut line, "fes_rate_difference", fes, results.fes_adjustment);
        push_difference(&mut line, "useful_saved_ratio_difference", useful, results.useful_adjustment);
        line.push("baseline", Cell::text(results.baseline_name()));
        line.push("on_frontier", Cell::Text(yes(setting.on_frontier)));
        line
    });
    Table::of(lines.collect())
}

/// The sweep for a terminal: the setting marked with `*` is the one chosen.
pub fn sweep_overview(results: &Results, chosen: Option<usize>) -> Table {
    let lines = results.settings.iter().enumerate().map(|(at, setting)| {
        let mut line = Line::default();
        let mark = if chosen == Some(at) { " *" } else { "" };
        line.push("setting", Cell::Text(format!("{}{mark}", setting.summary.stack)));
        line.push("stops", Cell::Count(setting.summary.stops()));
        line.push("killed", Cell::Count(setting.killed()));
        line.push("killed/successes", interval(&setting.summary.estimates.fes_rate));
        if let Some(corrected) = &setting.corrected {
            let clipped = if corrected.estimate.value.is_some() { "" } else { "undefined" };
            let cell = if clipped.is_empty() { interval(&corrected.estimate) } else { Cell::Text(clipped.to_owned()) };
            line.push("corrected for labels", cell);
        }
        line.push(format!("{} saved", results.unit.name()), interval(&setting.useful));
        if results.baseline.is_some() {
            line.push("killed vs base", difference(setting, setting.fes_difference.as_ref()));
            line.push("p (killed)", p_value(setting.fes_difference.as_ref()));
            line.push("saved vs base", difference(setting, setting.useful_difference.as_ref()));
            line.push("p (saved)", p_value(setting.useful_difference.as_ref()));
        }
        line.push("frontier", Cell::Text(yes(setting.on_frontier)));
        line
    });
    Table::of(lines.collect())
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

fn push(line: &mut Line, name: &str, estimate: &Estimate) {
    line.push_estimate(name, estimate);
    line.push(format!("{name}_method"), Cell::Text(estimate.method.name().to_owned()));
}

fn push_difference(line: &mut Line, name: &str, difference: Option<&Difference>, adjustment: Adjustment) {
    let comparison = difference.map(|difference| &difference.comparison);
    let interval = comparison.and_then(|comparison| comparison.interval);
    line.push(name, Cell::number(comparison.and_then(|comparison| comparison.value)));
    line.push(format!("{name}_low"), Cell::number(interval.map(|interval| interval.low)));
    line.push(format!("{name}_high"), Cell::number(interval.map(|interval| interval.high)));
    line.push(format!("{name}_tasks"), Cell::count(comparison.map(|comparison| comparison.clusters)));
    line.push(format!("{name}_method"), Cell::text(comparison.map(|comparison| comparison.method.name())));
    line.push(format!("{name}_p"), Cell::number(comparison.and_then(|comparison| comparison.p)));
    line.push(format!("{name}_p_adjusted"), Cell::number(difference.and_then(|difference| difference.p_adjusted)));
    line.push(format!("{name}_p_adjusted_by"), Cell::text(difference.map(|_| adjustment.name())));
}

fn interval(estimate: &Estimate) -> Cell {
    match (estimate.value, estimate.interval) {
        (Some(value), Some(interval)) => {
            Cell::Text(format!("{:.1} % ({:.1}–{:.1})", value * 100.0, interval.low * 100.0, interval.high * 100.0))
        }
        (value, _) => Cell::percent(value.filter(|value| value.is_finite())),
    }
}

fn difference(setting: &SettingResult, difference: Option<&Difference>) -> Cell {
    let Some(difference) = difference else {
        let is_baseline = setting.fes_difference.is_none();
        return if is_baseline { Cell::Text("baseline".to_owned()) } else { Cell::Missing };
    };
    difference.comparison.value.map_or(Cell::Missing, |value| Cell::Text(format!("{:+.1}", value * 100.0)))
}

fn p_value(difference: Option<&Difference>) -> Cell {
    let p = difference.and_then(|difference| difference.p_adjusted);
    p.map_or(Cell::Missing, |p| Cell::Text(format!("{p:.4}")))
}
