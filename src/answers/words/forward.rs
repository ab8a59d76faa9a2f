//! Whether what the past would have shipped held, in sentences.

use super::ends;
use crate::aggregate::{Ends, Forward, ForwardFinding, Held, LEVEL, PeriodLength, Share};
use crate::diagnostic::count;
use crate::stats::RangeEstimate;
use crate::words::{chosen_percent, listed, percents};

/// The most periods that are named in a sentence.
const NAMED: usize = 3;

/// Whether it held. `why`: why the runs before the last period would have shipped nothing.
pub fn forward(forward: &Forward, why: &str) -> String {
    let noun = forward.length.name();
    let Some(finding) = forward.finding() else {
        return format!(
            "There is no limit to judge: before none of the {} would the runs so far have shipped one. Before the last: {why}",
            count(forward.periods.len() as u64, noun)
        );
    };
    let tolerated = chosen_percent(forward.max_killed);
    let whole = format!(
        "{} in {}, where {tolerated} are tolerated",
        killed(finding.killed, &finding.killed_rate),
        count(finding.periods as u64, noun)
    );
    let saved = saved(forward, &finding);
    match finding.held {
        Held::Yes => {
            format!("Yes: the limit chosen from the {noun}s before would have held. It killed {whole}, and {saved}.")
        }
        Held::No if finding.broken.is_empty() => {
            format!("No: the limit chosen from the {noun}s before would not have held. It killed {whole}, and {saved}.")
        }
        Held::No => format!("No: {}. In all it killed {whole}, and {saved}.", broken(forward, &finding)),
        Held::Open => {
            let why = if finding.killed_rate.is_point() { "that may be chance" } else { "not all outcomes are known" };
            format!(
                "Whether the limit chosen from the {noun}s before would have held is not known: it killed {whole}, but {why}. It {saved}."
            )
        }
    }
}

/// The periods in which it did not hold, the worst of them with its numbers.
fn broken(forward: &Forward, finding: &ForwardFinding) -> String {
    let noun = forward.length.name();
    let periods: Vec<_> = finding.broken.iter().filter_map(|at| forward.periods.get(*at)).collect();
    let names: Vec<String> = periods.iter().map(|period| period.period.name()).collect();
    let periods_named =
        if names.len() > NAMED { format!("{} of {} {noun}s", names.len(), finding.periods) } else { listed(&names) };
    let rate = |of: &RangeEstimate| of.low.value.unwrap_or(0.0);
    let worst = periods.into_iter().max_by(|a, b| rate(&a.killed_rate(LEVEL)).total_cmp(&rate(&b.killed_rate(LEVEL))));
    let broken = format!("the limit chosen from the {noun}s before would not have held in {periods_named}");
    let Some(worst) = worst else { return broken };
    let Some(stack) = &worst.stack else { return broken };
    let when = if names.len() > 1 { format!(" in {}", worst.period.name()) } else { String::new() };
    let killed = killed(worst.all.killed, &worst.killed_rate(LEVEL));
    format!("{broken}, where `{stack}` killed {killed}{when}")
}

/// `3 of 120 successes, 2.1 % (0.5–5.8) averaged over tasks`.
fn killed(killed: Ends<Share>, rate: &RangeEstimate) -> String {
    let hits = if killed.low.hits == killed.high.hits {
        killed.low.hits.to_string()
    } else {
        format!("{} to {}", killed.low.hits, killed.high.hits)
    };
    let share = match rate.bounds() {
        Some(bounds) => {
            format!(", {}{} averaged over tasks", percents((bounds.low, bounds.high)), ends(rate.interval()))
        }
        None => String::new(),
    };
    format!("{hits} of {} successes{share}", killed.high.of)
}

/// `saved 12 % of the tokens`.
fn saved(forward: &Forward, finding: &ForwardFinding) -> String {
    let unit = forward.unit().noun();
    match (finding.saved.low, finding.saved.high) {
        (Some(low), Some(high)) => format!("saved {} of the {unit}", percents((low, high))),
        _ => format!("what it saved of the {unit} is not known"),
    }
}

/// What the periods of a length are.
pub fn periods(length: PeriodLength) -> &'static str {
    match length {
        PeriodLength::Day => "days, in UTC",
        PeriodLength::Week => "ISO weeks, from Monday on, in UTC",
        PeriodLength::Month => "months, in UTC",
    }
}

/// What has to be known to read it. `noun`: what counts as a run, in the plural.
pub fn forward_notes(forward: &Forward, noun: &str) -> Vec<String> {
    let length = forward.length.name();
    let mut notes = vec![
        format!("{}, by the start of the {noun}", periods(forward.length)),
        format!(
            "limit: what `tune` ships from all {noun} of the {length}s before, and nothing else; killed, mean (over tasks) and \
             saved: what it did in the {length}, from the lowest to the highest value that the recordings allow"
        ),
    ];
    if forward.undated > 0 {
        notes.push(format!("{noun} without a date, which are in no {length} and in no number: {}", forward.undated));
    }
    let unmeasured: u64 = forward.periods.iter().map(crate::aggregate::ForwardPeriod::unmeasured).sum();
    if unmeasured > 0 {
        let unit = forward.unit().noun();
        notes.push(format!(
            "{noun} that do not record their {unit}, which are not in what is spent and saved: {unmeasured}"
        ));
    }
    notes
}
