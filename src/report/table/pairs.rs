//! `pairs.csv`: every stack against the baseline, on the same runs.

use super::{Cell, Line, Table};
use crate::aggregate::Pair;
use crate::stats::Comparison;
use crate::stats::bounds::Dominance;

/// The comparisons with the baseline.
pub fn pairs(pairs: &[Pair]) -> Table {
    Table::of(pairs.iter().map(line).collect())
}

fn line(pair: &Pair) -> Line {
    let mut line = Line::default();
    line.push("stack", Cell::Text(pair.stack.to_string()));
    line.push("baseline", Cell::Text(pair.baseline.to_string()));
    line.push("successes", Cell::Count(pair.successes));
    line.push("fes_only_here", Cell::Count(pair.killed_here));
    line.push("fes_only_baseline", Cell::Count(pair.killed_there));
    push_comparison(&mut line, "fes_rate_difference", &pair.fes_rate);
    line.push("fes_test", Cell::Text(pair.fes_test.method.name().to_owned()));
    line.push("fes_p", Cell::number(pair.fes_test.p));
    line.push("fes_p_adjusted", Cell::number(pair.fes_p_adjusted));
    line.push("fes_p_adjusted_by", Cell::Text(pair.adjusted_by.name().to_owned()));
    line.push("fes_sign_flip_p", Cell::number(pair.fes_sign_flip_p));
    line.push("saved_unit", Cell::Text(pair.unit.name().to_owned()));
    push_comparison(&mut line, "saved_ratio_difference", &pair.saved_ratio);
    line.push("saved_ratio_p", Cell::number(pair.saved_ratio.p));
    let bounds = pair.success.bounds;
    line.push("success_difference_bound_low", Cell::number(bounds.map(|bounds| bounds.low)));
    line.push("success_difference_bound_high", Cell::number(bounds.map(|bounds| bounds.high)));
    line.push("dominates", Cell::Text(dominates(pair.dominance).to_owned()));
    line
}

/// Adds a difference as `x`, `x_low`, `x_high`, `x_n` (tasks), `x_method`.
fn push_comparison(line: &mut Line, name: &str, comparison: &Comparison) {
    line.push(name, Cell::number(comparison.value));
    line.push(format!("{name}_low"), Cell::number(comparison.interval.map(|interval| interval.low)));
    line.push(format!("{name}_high"), Cell::number(comparison.interval.map(|interval| interval.high)));
    line.push(format!("{name}_n"), Cell::Count(comparison.clusters));
    line.push(format!("{name}_method"), Cell::Text(comparison.method.name().to_owned()));
}

fn dominates(dominance: Dominance) -> &'static str {
    match dominance {
        Dominance::No => "no",
        Dominance::OnTheseRuns => "on these runs",
        Dominance::Confident => "yes",
    }
}
