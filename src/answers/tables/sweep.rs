//! `sweep.csv`: every setting of a sweep with its rates, savings and differences from the baseline; and a shorter
//! table for a terminal.

use super::overview::{corrected_interval, interval, killed};
use super::{Cell, Line, Table};
use crate::aggregate::{Count, Difference};
use crate::sweep::{Grid, Results, SettingResult};
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
        line.push_range("killed_rate", "successes and ungraded runs", &summary.estimates.fes_rate);
        if let Some(corrected) = &setting.summary.corrected {
            line.push_corrected(corrected);
        }
        line.push("saved_unit", Cell::Text(results.unit.name().to_owned()));
        line.push_range("saved_share", &format!("{} recorded", results.unit.name()), &setting.useful);
        let (killed, useful) = (setting.killed_difference.as_ref(), setting.useful_difference.as_ref());
        push_difference(&mut line, "killed_rate_difference", "tasks with a success", killed);
        push_difference(&mut line, "saved_share_difference", "tasks", useful);
        line.push("baseline", Cell::text(results.baseline_name()));
        line.push("on_frontier", Cell::Text(yes(setting.on_frontier)));
        line
    });
    Table::of(lines.collect())
}

/// The sweep for a terminal: `*` marks the chosen setting, and differences beyond chance.
pub fn sweep_overview(results: &Results, chosen: Option<usize>) -> Table {
    let lines = results.settings.iter().enumerate().map(|(at, setting)| {
        let mut line = Line::default();
        let mark = if chosen == Some(at) { " *" } else { "" };
        line.push("setting", Cell::Text(format!("{}{mark}", setting.summary.stack)));
        line.push("stops", Cell::Count(setting.summary.counted(Count::Stopped)));
        line.push("killed, at most %", killed(&setting.summary));
        if let Some(corrected) = &setting.summary.corrected {
            line.push("corrected for labels", corrected_interval(corrected));
        }
        line.push(format!("{} saved, %", results.unit.noun()), interval(&setting.useful));
        if results.baseline.is_some() {
            line.push("vs base: killed", difference(setting, setting.killed_difference.as_ref()));
            line.push("saved", difference(setting, setting.useful_difference.as_ref()));
        }
        line
    });
    Table::of(lines.collect())
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

fn push_difference(line: &mut Line, name: &str, of: &str, difference: Option<&Difference>) {
    line.push_comparison(name, of, difference.map(|difference| &difference.comparison));
    line.push(format!("{name}_p"), Cell::number(difference.and_then(|difference| difference.comparison.p)));
    line.push(format!("{name}_p_adjusted"), Cell::number(difference.and_then(|difference| difference.p_adjusted)));
    let by = difference.map(|difference| difference.adjusted_by.name());
    line.push(format!("{name}_p_adjusted_by"), Cell::text(by));
}

/// A difference in percentage points; starred if it is beyond chance after adjustment (5 %).
fn difference(setting: &SettingResult, difference: Option<&Difference>) -> Cell {
    let Some(difference) = difference else {
        let is_baseline = setting.killed_difference.is_none();
        return if is_baseline { Cell::Text("base".to_owned()) } else { Cell::Missing };
    };
    let Some(value) = difference.comparison.value else { return Cell::Missing };
    let star = if difference.p_adjusted.is_some_and(|p| p <= 0.05) { "*" } else { "" };
    Cell::Text(format!("{:+.1}{star}", value * 100.0))
}
