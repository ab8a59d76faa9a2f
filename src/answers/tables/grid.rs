//! `sweep.csv` of a grid: the stacks that were kept, with their results; and a shorter table for a terminal.

use super::overview::{interval, killed};
use super::{DataTable, NamedCells, TableCell};
use crate::aggregate::{Count, Summary, Unit};
use crate::sweep::engine::Tally;
use crate::sweep::{Find, WideGrid};
use crate::words::cut;

/// Most characters of a stack's name on a terminal; `sweep.csv` has the full name.
const NAME: usize = 28;

/// A kept stack with the results of its rows.
pub struct KeptStack<'a> {
    /// Its position in the grid, and why it was kept.
    pub find: &'a Find,
    /// Its summary, on the reported tasks.
    pub summary: &'a Summary,
    /// The share of task resamples in which no other kept stack beats it.
    pub resamples_on_frontier: Option<f64>,
}

/// The limits that a stack of the grid has, one cell an axis.
fn push_choices(line: &mut NamedCells, grid: &WideGrid, index: u64) {
    for (nth, (axis, choice)) in grid.axes.iter().zip(grid.choices(index)).enumerate() {
        let cell = match choice {
            Some(choice) => limits(&choice.limits),
            None => TableCell::Missing,
        };
        // Numbered, because axes may have the same name.
        line.push(format!("axis {}: {}", nth + 1, axis.name), cell);
    }
}

/// `sweep.csv`: the kept stacks, frontier first. `scale`: how many whole numbers of a tally make one unit.
pub fn grid(grid: &WideGrid, kept: &[KeptStack<'_>], unit: Unit) -> DataTable {
    let lines = kept.iter().map(|KeptStack { find, summary, resamples_on_frontier }| {
        let mut line = NamedCells::default();
        line.push("stack", TableCell::Text(summary.stack.to_string()));
        push_choices(&mut line, grid, find.index);
        line.push("stacks_alike", TableCell::Count(find.alike));
        line.push("on_frontier", TableCell::Text(if find.on_frontier { "yes" } else { "no" }.to_owned()));
        line.push("resamples_on_frontier", TableCell::number(*resamples_on_frontier));
        let best: Vec<&str> = find.best_by.iter().map(|objective| objective.name()).collect();
        line.push("best_by", TableCell::Text(best.join("+")));
        line.push("runs", TableCell::Count(summary.runs));
        line.push("tasks", TableCell::Count(summary.tasks));
        for count in [
            Count::Judged,
            Count::Stopped,
            Count::JudgedSuccesses,
            Count::Killed,
            Count::JudgedFailures,
            Count::NotEvaluableRuns,
        ] {
            line.push(count.name(), TableCell::Count(summary.counted(count)));
        }
        line.push_range("killed_rate", "successes and ungraded runs", &summary.estimates.fes_rate);
        line.push("killed_at_most", TableCell::number(summary.killed_at_most));
        line.push_range("failures_stopped_rate", "judged failures", &summary.estimates.stop_recall);
        line.push("saved_unit", TableCell::Text(unit.name().to_owned()));
        let ratios = summary.ratios_in(unit);
        line.push_range("saved_share", &format!("{} recorded", unit.name()), &ratios.useful);
        line.push_estimate("cost_of_success", "cost of a success without stopping", &ratios.cost_of_success.ratio);
        line
    });
    DataTable::from_lines(lines.collect())
}

/// Lines of `sweep-all.csv`: stacks by their position in the grid, with their counts and sums. `scale`: how many whole
/// numbers of a tally make one unit.
pub fn grid_lines(grid: &WideGrid, stacks: &[(u64, Tally)], unit: Unit, scale: f64) -> DataTable {
    let line = |(index, tally): &(u64, Tally)| {
        let mut line = NamedCells::default();
        line.push("stack", TableCell::Text(grid.name(*index)));
        push_choices(&mut line, grid, *index);
        let counts = [
            ("judged", tally.judged),
            ("judged_successes", tally.successes),
            ("judged_failures", tally.failures),
            ("stopped", tally.stops),
            ("killed", tally.killed),
            ("true_stops", tally.true_stops),
        ];
        for (name, count) in counts {
            line.push(name, TableCell::Count(count));
        }
        for (what, amount) in [("recorded", tally.recorded), ("spent", tally.spent), ("useful_saved", tally.useful)] {
            line.push(format!("{}_{what}", unit.name()), TableCell::number(Some(amount as f64 / scale)));
        }
        line.push("killed_rate", TableCell::number(tally.killed_rate()));
        line.push("saved_share", TableCell::number(tally.useful_ratio()));
        line.push("cost_of_success", TableCell::number(tally.cost_of_success()));
        line
    };
    DataTable::from_lines(stacks.iter().map(line).collect())
}

/// The kept stacks for a terminal; `*` marks the chosen one.
pub fn grid_overview(kept: &[&KeptStack<'_>], unit: Unit, chosen: Option<&str>) -> DataTable {
    let lines = kept.iter().map(|KeptStack { find, summary, resamples_on_frontier }| {
        let mut line = NamedCells::default();
        let mark = if chosen == Some(&*summary.stack) { " *" } else { "" };
        line.push("stack", TableCell::Text(cut(&summary.stack, NAME) + mark));
        line.push("stops", TableCell::Count(summary.counted(Count::Stopped)));
        line.push("killed, at most %", killed(summary));
        line.push(format!("{} saved, %", unit.noun()), interval(&summary.ratios_in(unit).useful));
        line.push(
            "unbeaten here",
            if find.on_frontier { TableCell::percent(*resamples_on_frontier) } else { TableCell::Missing },
        );
        line.push("alike", TableCell::Count(find.alike));
        line
    });
    DataTable::from_lines(lines.collect())
}

fn limits(limits: &[f64]) -> TableCell {
    match limits {
        [one] => TableCell::number(Some(*one)),
        several => TableCell::Text(several.iter().map(ToString::to_string).collect::<Vec<_>>().join(" & ")),
    }
}
