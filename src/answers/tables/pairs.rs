//! `pairs.csv`: every stack against the baseline, on the same runs.

use super::{Cell, Line, Table};
use crate::aggregate::{Difference, Pair};
use crate::stats::bounds::Dominance;

/// The comparisons with the baseline.
pub fn pairs(pairs: &[Pair]) -> Table {
    Table::of(pairs.iter().map(line).collect())
}

fn line(pair: &Pair) -> Line {
    let mut line = Line::default();
    let by = |difference: &Difference| Cell::Text(difference.adjusted_by.name().to_owned());
    line.push("stack", Cell::Text(pair.stack.to_string()));
    line.push("baseline", Cell::Text(pair.baseline.to_string()));
    line.push("stacks_compared", Cell::Count(pair.stacks_compared));
    line.push("successes", Cell::Count(pair.successes));
    line.push("killed_only_here", Cell::Count(pair.killed_here));
    line.push("killed_only_baseline", Cell::Count(pair.killed_there));
    line.push_comparison("killed_rate_difference", "tasks with a success", Some(&pair.fes_rate.comparison));
    line.push("killed_test", Cell::Text(pair.fes_rate.comparison.method.name().to_owned()));
    line.push("killed_p", Cell::number(pair.fes_rate.comparison.p));
    line.push("killed_p_adjusted", Cell::number(pair.fes_rate.p_adjusted));
    line.push("killed_p_adjusted_by", by(&pair.fes_rate));
    line.push("killed_sign_flip_p", Cell::number(pair.fes_sign_flip_p));
    line.push("saved_unit", Cell::Text(pair.unit.name().to_owned()));
    line.push_comparison("saved_share_difference", "tasks", Some(&pair.saved_ratio.comparison));
    line.push("saved_share_p", Cell::number(pair.saved_ratio.comparison.p));
    line.push("saved_share_p_adjusted", Cell::number(pair.saved_ratio.p_adjusted));
    line.push("saved_share_p_adjusted_by", by(&pair.saved_ratio));
    line.push_bounds("success_difference_bound", "runs", &pair.success);
    line.push("dominates", Cell::Text(dominates(pair.dominance).to_owned()));
    line
}

fn dominates(dominance: Dominance) -> &'static str {
    match dominance {
        Dominance::No => "no",
        Dominance::OnTheseRuns => "on these runs",
        Dominance::Confident => "yes",
    }
}
