//! `summary.csv`: one line a stack with every count, rate and sum.

use super::{Cell, Line, Table};
use crate::aggregate::{SavingRatios, Savings, Summary};
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
    if let Some(corrected) = &summary.corrected {
        line.push_corrected(corrected);
    }
    push_bounds(summary, &mut line);
    for ((unit, savings), ratios) in summary.savings.iter().zip(&summary.ratios) {
        push_savings(unit.name(), savings.as_ref(), &mut line);
        push_ratios(ratios, &mut line);
    }
    line.push("ms_recorded", Cell::number(summary.sum("ms_recorded")));
    line.push("ms_at_stop", Cell::number(summary.sum("ms_at_stop")));
    line
}

fn push_rates(summary: &Summary, line: &mut Line) {
    let e = &summary.estimates;
    for (name, of, estimate) in [
        ("fes_rate", "successes", &e.fes_rate),
        ("fes_per_stop", "stops of known outcome", &e.fes_per_stop),
        ("retention", "successes", &e.retention),
        ("missed_stop_rate", "failures", &e.missed_stop_rate),
        ("missed_stop_rate_capped", "failures cut off by a cap", &e.missed_stop_rate_capped),
        ("stop_recall", "failures", &e.stop_recall),
        ("stop_rate", "runs", &e.stop_rate),
        ("unsupported_share", "runs", &e.unsupported_share),
        ("unidentified_share", "runs", &e.unidentified_share),
    ] {
        line.push_estimate(name, of, estimate);
    }
    line.push("fes_rate_design_effect", Cell::number(e.fes_rate.design_effect));
    line.push("fes_rate_effective_n", Cell::number(e.fes_rate.effective_n));
}

/// Bounds that hold whatever the unknown outcomes were, and the interval around them.
fn push_bounds(summary: &Summary, line: &mut Line) {
    line.push_bounds("success_bound", "runs", &summary.outcomes.success);
    line.push_bounds("retained_bound", "successes", &summary.outcomes.retained);
    line.push("tipping_point", Cell::number(summary.outcomes.tipping_point));
}

fn push_ratios(ratios: &SavingRatios, line: &mut Line) {
    let unit = ratios.unit.name();
    let recorded = format!("{unit} recorded");
    line.push_estimate(&format!("{unit}_saved_ratio"), &recorded, &ratios.saved);
    line.push_estimate(&format!("{unit}_useful_saved_ratio"), &recorded, &ratios.useful);
    line.push_estimate(&format!("{unit}_after_rework_ratio"), &recorded, &ratios.after_rework);
    line.push_estimate(&format!("{unit}_per_success"), "successes kept", &ratios.per_success);
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
    line.push(format!("{unit}_saved_rework_adjusted"), Cell::number(savings.and_then(|s| s.rework_adjusted)));
}
