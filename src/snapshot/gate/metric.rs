//! The metric of a gate: a column of the summary, its possible values, and on how many runs it is known.

use std::fmt;

use crate::aggregate::{Count, Group, RowView, Summary, Unit};
use crate::report::known::{DIVERGED, UNGRADED, UNREAD, missing};

/// A column of the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Metric {
    name: String,
}

/// What must be known about a run for the number to be known on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// Nothing: the number is about the recording, or holds for every unknown.
    Recording,
    /// Every rule can be evaluated, and the run did not leave the recorded path.
    Stop,
    /// The same, and an outcome.
    Outcome,
}

/// Facts about the recordings, and bounds that hold whatever is unknown.
const OF_RECORDING: [&str; 13] = [
    "runs",
    "tasks",
    "diverged",
    "censored",
    "not_evaluable_runs",
    "unlabelled_runs",
    "unlabelled",
    "judged",
    "judged_successes",
    "judged_failures",
    "runs_with_tokens",
    "unknown_share",
    "unidentified_share",
];

/// Shares, by the suffix of their name without `_low`, `_high`, `_min`, `_max`.
const SHARES: [&str; 11] = [
    "_rate",
    "_rate_all",
    "_per_stop",
    "retention",
    "_rate_capped",
    "_recall",
    "_share",
    "_bound",
    "_bound_ci",
    "_saved_ratio",
    "_useful_saved_ratio",
];

impl Metric {
    /// The metric with that name.
    pub(super) fn named(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    /// The name of the estimate it belongs to, and which end of it.
    fn parts(&self) -> (&str, Option<&str>) {
        let ends = ["_low", "_high", "_min", "_max"];
        let found = ends.into_iter().find_map(|end| Some((self.name.strip_suffix(end)?, Some(end))));
        found.unwrap_or((&self.name, None))
    }

    /// Whether it is an end of an interval, which depends on the level.
    pub(super) fn is_interval_end(&self) -> bool {
        matches!(self.parts().1, Some("_low" | "_high")) && !self.parts().0.ends_with("_bound")
    }

    /// Whether it is a point estimate of a share of runs: a rate of false early stops, of stops and the like.
    pub(super) fn is_rate(&self) -> bool {
        let (stem, end) = self.parts();
        end.is_none() && (stem.ends_with("_rate") || stem == "retention" || stem == "stop_recall")
    }

    /// The upper end of its interval.
    pub(super) fn upper(&self) -> Self {
        Self { name: format!("{}_high", self.parts().0) }
    }

    /// The smallest and the largest possible value; `None` if there is no limit.
    pub(super) fn range(&self) -> (Option<f64>, Option<f64>) {
        let (stem, _) = self.parts();
        if SHARES.iter().any(|share| stem.ends_with(share)) {
            // A forced answer may cost more than the stop saved.
            let can_be_negative = stem.ends_with("saved_ratio");
            return (if can_be_negative { None } else { Some(0.0) }, Some(1.0));
        }
        (if stem == "tipping_point" { None } else { Some(0.0) }, None)
    }

    fn basis(&self) -> Basis {
        let (stem, _) = self.parts();
        let holds_anyway = ["_rate_all", "_bound", "_bound_ci"].iter().any(|end| stem.ends_with(end));
        if OF_RECORDING.contains(&stem) || holds_anyway || stem == "tipping_point" {
            return Basis::Recording;
        }
        let stops = ["stops", "stopped", "stop_rate", "unsupported_share"].contains(&stem);
        let spent =
            ["_at_stop", "_saved", "_saved_ratio"].iter().any(|end| stem.ends_with(end)) && !stem.contains("useful");
        if stops || spent { Basis::Stop } else { Basis::Outcome }
    }

    /// The counts of runs on which it is unknown, with what they lack, in words.
    fn causes(&self) -> &'static [(Count, &'static str)] {
        match self.basis() {
            Basis::Recording => &[],
            Basis::Stop => &[UNREAD, DIVERGED],
            Basis::Outcome => &[UNREAD, DIVERGED, UNGRADED],
        }
    }

    /// The unit, if the number is an amount.
    fn unit(&self) -> Option<&'static str> {
        ["tokens", "cost_usd", "ms"].into_iter().find(|unit| self.name.starts_with(&format!("{unit}_")))
    }

    /// The share of the runs of `group` on which it is known.
    pub(super) fn known_share(&self, group: &Group<'_>) -> f64 {
        let known = |row: RowView<'_>| {
            let told = match self.unit() {
                Some("tokens") => row.tokens_recorded().is_some(),
                Some("cost_usd") => row.cost_usd_recorded().is_some(),
                _ => true,
            };
            told && match self.basis() {
                Basis::Recording => true,
                Basis::Stop => !row.unknown().unread && !row.unknown().diverged,
                Basis::Outcome => row.unknown().is_none(),
            }
        };
        if group.is_empty() {
            return 0.0;
        }
        group.rows().filter(|row| known(*row)).count() as f64 / group.len() as f64
    }

    /// What is missing, in words; empty if nothing is.
    pub(super) fn missing(&self, summary: &Summary) -> String {
        let unit = match self.unit() {
            Some("tokens") => Some(Unit::Tokens),
            Some("cost_usd") => Some(Unit::CostUsd),
            _ => None,
        };
        missing(summary, self.causes(), unit)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}
