//! `walk-forward.csv`, and the shorter table of the same for a terminal.

use super::{DataTable, FileColumns, TableCell};
use crate::aggregate::{Forward, ForwardPeriod, LEVEL, Unit};
use crate::stats::{Estimate, RangeEstimate};
use crate::words::{counts, cut, digits, dollars, grouped, span, thousands};

/// Most characters of a stack's name on a terminal.
const NAME: usize = 26;

/// The columns of `walk-forward.csv`: every period.
pub fn forward_columns() -> FileColumns<'static, ForwardPeriod> {
    FileColumns::new()
        .text("period", "The day, ISO week or month in which the runs started, in UTC.", |of: &ForwardPeriod| {
            of.period.name()
        })
        .text("first_day", "Its first day.", |of| of.period.first_day())
        .count("past_runs", "Runs of all periods before.", |of| of.past)
        .some_label("stack", "The stack that those would have shipped; empty if none.", |of| of.stack.as_ref())
        .count("runs", "Runs of the period.", |of| of.runs)
        .count("successes", "Successes among them.", |of| of.successes)
        .count("failures", "Failures among them.", |of| of.failures)
        .some_count("killed_min", "Successes killed by the stack, at least.", |of| {
            of.stack.as_ref().map(|_| of.all.killed.low.hits)
        })
        .some_count("killed_max", "Successes killed at most: ungraded runs that it stops are successes here.", |of| {
            of.stack.as_ref().map(|_| of.all.killed.high.hits)
        })
        .range(
            "killed_rate",
            |_| "successes, by task".to_owned(),
            "The share of a task's successes that is killed, in the mean over tasks.",
            killed_rate,
        )
        .number("saved_share_min", "Saved on failures and after success, over recorded, at least.", |of| {
            if of.stack.is_some() { of.saved().low } else { None }
        })
        .number("saved_share_max", "The same at most.", |of| if of.stack.is_some() { of.saved().high } else { None })
        .text("unit", "The unit of the amounts: `steps`, `tokens` or `cost_usd`.", |of| of.unit.name().to_owned())
        .number("recorded", "The amount recorded.", |of| Some(of.recorded()))
        .number("spent_min", "The amount spent under the stack, at least.", |of| of.spent().low)
        .number("spent_max", "The same at most; empty when nothing limits it.", |of| of.spent().high)
        .count(
            "unmeasured",
            "Runs that do not record the amount: they are in none of these.",
            ForwardPeriod::unmeasured,
        )
}

/// Undefined where there is no stack.
fn killed_rate(period: &ForwardPeriod) -> RangeEstimate {
    match period.stack {
        Some(_) => period.killed_rate(LEVEL),
        None => RangeEstimate::exactly(Estimate::UNDEFINED),
    }
}

/// The periods for a terminal.
pub fn forward_overview(forward: &Forward) -> DataTable {
    let unit = forward.unit();
    let spent = format!("{} spent", unit.noun());
    let columns = [forward.length.name(), "limit", "runs", "killed", "mean, %", "saved, %", &spent];
    let mut rows = Vec::new();
    for period in &forward.periods {
        let mut row = vec![TableCell::Text(period.period.name())];
        row.push(TableCell::some_text(period.stack.as_ref().map(|stack| cut(stack, NAME))));
        row.push(TableCell::Text(grouped(period.runs)));
        row.extend(what_it_did(period));
        row.push(TableCell::Text(amount(period.recorded(), unit)));
        rows.push(row);
    }
    DataTable::new(columns, rows)
}

/// Killed of all successes, the mean over tasks, and what is saved; nothing where there is no stack.
fn what_it_did(period: &ForwardPeriod) -> [TableCell; 3] {
    if period.stack.is_none() {
        return [TableCell::Missing, TableCell::Missing, TableCell::Missing];
    }
    let killed = period.all.killed;
    let hits = counts((killed.low.hits, killed.high.hits));
    let rate = period.killed_rate(LEVEL).bounds().map(|rate| span(rate.low, rate.high));
    let saved = period.saved();
    let saved = match (saved.low, saved.high) {
        (Some(low), Some(high)) => Some(span(low, high)),
        (None, Some(high)) => Some(format!("≤{}", digits(high))),
        (_, None) => None,
    };
    [
        TableCell::Text(format!("{hits}/{}", killed.high.of)),
        TableCell::text(rate.as_deref()),
        TableCell::text(saved.as_deref()),
    ]
}

fn amount(amount: f64, unit: Unit) -> String {
    if unit == Unit::CostUsd {
        return format!("${}", dollars(amount));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of steps or tokens")]
    thousands(amount as u64)
}
