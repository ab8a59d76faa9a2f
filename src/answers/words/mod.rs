//! Verdicts, headlines and notes in English, and nothing else: no number is computed here, and nothing is looked up.

mod against;
mod followed;
mod forward;
mod headline;
mod known;
mod notes;
mod verdict;

pub use against::{against_line, against_notes, why_not_compared};
pub use followed::{agreement, verdict as followed_verdict};
pub use forward::{forward, forward_notes, periods};
pub use headline::headline;
pub use known::{known_on, missing};
pub use notes::{lacking, note, notes};
pub use verdict::{dearer, in_dollars, more_tasks, passed_over, verdict};

use crate::aggregate::WorseStratum;
use crate::stats::{Estimate, Interval, RangeEstimate};
use crate::words::{digits, known_percent, listed, percents, some_of};

/// Names as a list: `a, b and c`. Of more than `most` only the first: `a, b and 7 more`.
pub(crate) fn first_of(names: &[String], most: usize) -> String {
    if names.len() > most { some_of(names, most) } else { listed(names) }
}

/// The interval of a share behind it, in percent: ` (4.5–15)`; nothing if there is none.
pub(crate) fn ends(interval: Option<Interval>) -> String {
    crate::words::interval(interval.map(|interval| (interval.low, interval.high)))
}

/// A share with its interval: `12 % (8.5–16)`.
pub(crate) fn with_interval(estimate: &Estimate) -> String {
    known_percent(estimate.value) + &ends(estimate.interval)
}

/// A share in percent: `44 %`, `12–44 %` if known only within bounds, `≤44 %` if nothing limits it from below; `None` if
/// nothing is known.
pub fn bounded_percent(range: &RangeEstimate) -> Option<String> {
    match (range.low.value, range.high.value) {
        (Some(low), Some(high)) => Some(percents((low, high))),
        (None, Some(high)) => Some(format!("≤{} %", digits(high))),
        (Some(low), None) => Some(format!("≥{} %", digits(low))),
        (None, None) => None,
    }
}

/// Formats `kills 21 % of successes on airline, gpt-5, and 0.3 % over all`; `may kill` if it is known only within
/// bounds.
fn apart(worse: &WorseStratum) -> String {
    let rate = |range: &RangeEstimate| range.high.value.map(digits).unwrap_or_default();
    let named: Vec<&str> = [worse.suite.as_deref(), worse.model.as_deref()].into_iter().flatten().collect();
    format!(
        "{} {} % of successes on {}, and {} % on all others",
        if worse.fes_rate.is_point() { "kills" } else { "may kill" },
        rate(&worse.fes_rate),
        if named.is_empty() { "runs without suite and model".to_owned() } else { named.join(", ") },
        rate(&worse.rest),
    )
}
