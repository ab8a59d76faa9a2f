//! `summary.csv`: one line a stack with every count, rate and sum.

use super::{Cell, Line, Table};
use crate::aggregate::{Savings, Summary};
use crate::verdict::Verdict;

/// The whole summary.
pub fn summary(summaries: &[Summary]) -> Table {
    Table::of(summaries.iter().map(|summary| line(summary, Line::default())).collect())
}

/// The line of one summary, after what `line` already holds.
pub(super) fn line(summary: &Summary, mut line: Line) -> Line {
    line.push("stack", Cell::Text(summary.stack.to_string()));
    line.push("profile", Cell::text(Some(&*summary.profile).filter(|profile| !profile.is_empty())));
    line.push("runs", Cell::Count(summary.runs));
    line.push("tasks", Cell::Count(summary.tasks));
    line.push("stops", Cell::Count(summary.stops()));
    for verdict in Verdict::ALL {
        line.push(verdict.name(), Cell::Count(summary.count(verdict)));
    }
    for count in ["diverged", "censored", "not_evaluable_runs", "runs_with_tokens"] {
        line.push(count, Cell::Count(summary.counted(count)));
    }
    push_rates(summary, &mut line);
    push_bounds(summary, &mut line);
    for (unit, savings) in &summary.savings {
        push_savings(unit.name(), savings.as_ref(), &mut line);
    }
    line.push("ms_recorded", Cell::number(summary.sum("ms_recorded")));
    line.push("ms_at_stop", Cell::number(summary.sum("ms_at_stop")));
    line
}

fn push_rates(summary: &Summary, line: &mut Line) {
    let e = &summary.estimates;
    for (name, estimate) in [
        ("fes_rate", &e.fes_rate),
        ("fes_per_stop", &e.fes_per_stop),
        ("retention", &e.retention),
        ("missed_stop_rate", &e.missed_stop_rate),
        ("missed_stop_rate_capped", &e.missed_stop_rate_capped),
        ("stop_recall", &e.stop_recall),
        ("stop_rate", &e.stop_rate),
        ("unsupported_share", &e.unsupported_share),
        ("steps_saved_ratio", &e.steps_saved_ratio),
        ("tokens_saved_ratio", &e.tokens_saved_ratio),
        ("cost_usd_saved_ratio", &e.cost_saved_ratio),
    ] {
        line.push_estimate(name, estimate);
    }
    line.push("rates_method", Cell::Text(e.fes_rate.method.name().to_owned()));
    line.push("ratios_method", Cell::Text(e.steps_saved_ratio.method.name().to_owned()));
    line.push("fes_rate_design_effect", Cell::number(e.fes_rate.design_effect));
    line.push("fes_rate_effective_n", Cell::number(e.fes_rate.effective_n));
}

/// Bounds that hold whatever the unknown outcomes were, and the interval around them.
fn push_bounds(summary: &Summary, line: &mut Line) {
    for (name, estimate) in
        [("success_bound", &summary.outcomes.success), ("retained_bound", &summary.outcomes.retained)]
    {
        line.push(format!("{name}_low"), Cell::number(estimate.bounds.map(|bounds| bounds.low)));
        line.push(format!("{name}_high"), Cell::number(estimate.bounds.map(|bounds| bounds.high)));
        line.push(format!("{name}_ci_low"), Cell::number(estimate.interval.map(|interval| interval.low)));
        line.push(format!("{name}_ci_high"), Cell::number(estimate.interval.map(|interval| interval.high)));
        line.push(format!("{name}_n"), Cell::Count(estimate.n));
    }
    line.push("bounds_method", Cell::Text(summary.outcomes.success.method.name().to_owned()));
    line.push("unidentified_share", Cell::number(summary.outcomes.success.unidentified()));
    line.push("tipping_point", Cell::number(summary.outcomes.tipping_point));
}

fn push_savings(unit: &str, savings: Option<&Savings>, line: &mut Line) {
    let amount = |value: fn(&Savings) -> f64| Cell::number(savings.map(value));
    line.push(format!("{unit}_recorded"), amount(|s| s.recorded));
    line.push(format!("{unit}_at_stop"), amount(|s| s.at_stop));
    line.push(format!("{unit}_saved"), amount(|s| s.saved));
    line.push(format!("{unit}_saved_on_failures"), amount(|s| s.on_failures));
    line.push(format!("{unit}_saved_after_success"), amount(|s| s.after_success));
    line.push(format!("{unit}_saved_unlabelled"), amount(|s| s.unlabelled));
    line.push(format!("{unit}_forfeited"), amount(|s| s.forfeited));
    line.push(format!("{unit}_saved_rework_adjusted"), Cell::number(savings.and_then(|s| s.rework_adjusted)));
    line.push(format!("{unit}_per_success"), Cell::number(savings.and_then(|s| s.per_success)));
}
