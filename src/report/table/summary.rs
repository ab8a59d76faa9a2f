//! `summary.csv`: one line per stack with every count, rate and sum.

use super::{Cell, Line, Table};
use crate::aggregate::{Count, Group, NetBenefit, Rows, SavingRatios, Savings, Summary, summarise};
use crate::verdict::Verdict;

/// Counts printed in addition to those of the verdicts. `judged` runs are graded and all of the stack's rules could be
/// evaluated on them; `killed` counts among these, `killed_at_most` with every unknown at its worst.
const COUNTS: [Count; 11] = [
    Count::Stopped,
    Count::Diverged,
    Count::Censored,
    Count::NotEvaluableRuns,
    Count::UnlabelledRuns,
    Count::Judged,
    Count::JudgedSuccesses,
    Count::JudgedFailures,
    Count::Killed,
    Count::KilledAtMost,
    Count::RunsWithTokens,
];

/// The table of all summaries.
pub fn summary(summaries: &[Summary]) -> Table {
    Table::of(summaries.iter().map(|summary| line(summary, Line::default())).collect())
}

/// The columns of the summary, in order.
pub fn summary_columns() -> Vec<String> {
    // An empty group has every column and no values.
    summary(&summarise(&[Group::empty(&Rows::default())], None)).columns
}

/// Appends the columns of one summary to `line`.
pub(super) fn line(summary: &Summary, mut line: Line) -> Line {
    line.push("stack", Cell::Text(summary.stack.to_string()));
    line.push("profile", Cell::text(Some(&*summary.profile).filter(|profile| !profile.is_empty())));
    line.push("runs", Cell::Count(summary.runs));
    line.push("tasks", Cell::Count(summary.tasks));
    line.push("stops", Cell::Count(summary.stops()));
    for verdict in Verdict::ALL {
        line.push(verdict.name(), Cell::Count(summary.count(verdict)));
    }
    for count in COUNTS {
        line.push(count.name(), Cell::Count(summary.counted(count)));
    }
    line.push("unknown_share", Cell::number(Some(summary.unknown_share())));
    push_rates(summary, &mut line);
    if let Some(corrected) = &summary.corrected {
        line.push_corrected(corrected);
    }
    push_bounds(summary, &mut line);
    for ((unit, savings), ratios) in summary.savings.iter().zip(&summary.ratios) {
        push_savings(unit.name(), savings.as_ref(), &mut line);
        push_ratios(ratios, &mut line);
    }
    if let Some(NetBenefit { price, a_run }) = &summary.net_benefit {
        line.push("lost_success_costs", Cell::Number(price.costs));
        line.push_range(&format!("{}_net_benefit", price.unit.name()), "judged runs", a_run);
    }
    let [ms_recorded, ms_at_stop] = summary.milliseconds();
    line.push("ms_recorded", Cell::number(ms_recorded));
    line.push("ms_at_stop", Cell::number(ms_at_stop));
    line
}

fn push_rates(summary: &Summary, line: &mut Line) {
    let e = &summary.estimates;
    for (name, of, range) in [
        ("fes_rate", "judged successes", &e.fes_rate),
        ("fes_rate_all", "successes and ungraded runs", &e.fes_rate_all),
        ("fes_per_stop", "judged stops", &e.fes_per_stop),
        ("retention", "judged successes", &e.retention),
        ("missed_stop_rate", "judged failures", &e.missed_stop_rate),
        ("missed_stop_rate_capped", "judged failures cut off by a cap", &e.missed_stop_rate_capped),
        ("stop_recall", "judged failures", &e.stop_recall),
        ("stop_rate", "runs whose rules could be read", &e.stop_rate),
    ] {
        line.push_range(name, of, range);
    }
    line.push_estimate("unsupported_share", "runs", &e.unsupported_share);
    line.push_estimate("unidentified_share", "runs", &e.unidentified_share);
    line.push("fes_rate_design_effect", Cell::number(e.fes_rate.high.design_effect));
    line.push("fes_rate_effective_n", Cell::number(e.fes_rate.high.effective_n));
}

/// Adds bounds that hold whatever the unknown outcomes were, and the interval around them.
fn push_bounds(summary: &Summary, line: &mut Line) {
    line.push_bounds("success_bound", "runs", &summary.outcomes.success);
    line.push_bounds("retained_bound", "successes", &summary.outcomes.retained);
    line.push("tipping_point", Cell::number(summary.outcomes.tipping_point));
}

fn push_ratios(ratios: &SavingRatios, line: &mut Line) {
    let unit = ratios.unit.name();
    let recorded = format!("{unit} recorded");
    line.push_range(&format!("{unit}_saved_ratio"), &recorded, &ratios.saved);
    line.push_range(&format!("{unit}_useful_saved_ratio"), &recorded, &ratios.useful);
    line.push_range(&format!("{unit}_per_success"), "successes kept", &ratios.per_success);
    line.push_estimate(&format!("{unit}_cost_of_success"), "the same without stopping", &ratios.cost_of_success.ratio);
    line.push(format!("{unit}_cost_of_success_p"), Cell::number(ratios.cost_of_success.p));
    line.push_range(&format!("{unit}_break_even"), "successes killed", &ratios.break_even);
}

fn push_savings(unit: &str, savings: Option<&Savings>, line: &mut Line) {
    let amount = |value: fn(&Savings) -> f64| Cell::number(savings.map(value));
    line.push(format!("{unit}_runs"), Cell::Count(savings.map_or(0, |s| s.runs)));
    line.push(format!("{unit}_recorded"), amount(|s| s.recorded));
    line.push(format!("{unit}_at_stop"), amount(|s| s.at_stop));
    line.push(format!("{unit}_saved"), amount(|s| s.saved));
    line.push(format!("{unit}_saved_on_failures"), amount(|s| s.on_failures));
    line.push(format!("{unit}_saved_after_success"), amount(|s| s.after_success));
    line.push(format!("{unit}_saved_unlabelled"), amount(|s| s.unlabelled));
    line.push(format!("{unit}_forfeited"), amount(|s| s.forfeited));
}
