//! Stop-point snapshots: where each stack stopped each run of a corpus when somebody last accepted it, with the
//! resulting numbers, as small, sorted, reviewable text; their differences; and gates.
//!
//! The text has a section for each stack, with its rules and numbers at the top. Two branches that changed different
//! stacks merge cleanly; two that changed the same stack both changed its head, and conflict.

mod corpus;
mod cut_short;
mod gate;
mod numbers;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::aggregate::{BestUnit, RowView, Rows, by_stack, summarise};
use crate::transcript::Point;
use crate::verdict::Verdict;

pub use corpus::CorpusPrint;
pub use cut_short::CutShortGate;
pub use gate::{Gate, GateResult, MIN_KNOWN};
pub use numbers::{BoundedNumber, StackNumbers};

/// The stop of one stack on one run, as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StopLine {
    /// The rule that stopped; `None` if none did, written as `-`.
    pub rule: Option<String>,
    /// The point, or `end`.
    pub stop: String,
    /// The verdict.
    pub verdict: String,
}

impl StopLine {
    /// A stop by `rule` at `at`, or no stop.
    pub fn new(rule: Option<&str>, at: Option<Point>, verdict: Verdict) -> Self {
        Self { rule: rule.map(str::to_owned), stop: known_or("end", at), verdict: verdict.to_string() }
    }

    /// The stop of a row.
    fn from_row(row: RowView<'_>) -> Self {
        Self::new(row.rule().map(|rule| &**rule), row.stop_point(), row.verdict())
    }

    /// For people: `2:after_tools by steps >= 3 (killed_verified)`.
    pub fn told(&self) -> String {
        let verdict = if self.verdict == Verdict::CleanPass.name() { "left alone" } else { &self.verdict };
        match &self.rule {
            None => format!("no stop ({verdict})"),
            Some(rule) => format!("{} by {rule} ({verdict})", self.stop),
        }
    }
}

/// The rules a stack consulted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSet {
    /// Their source: `own rules`, or a framework with the version whose behaviour this is.
    pub source: String,
    /// 16 hexadecimal digits: equal for equal rules and settings, whatever the stack is called.
    pub print: String,
}

/// What one stack did on all runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackStops {
    /// Its rules; `None` if the snapshot was made from rows alone.
    pub rules: Option<RuleSet>,
    /// The numbers that result from its stops; `None` if the snapshot was made from rows alone.
    pub numbers: Option<StackNumbers>,
    /// Its stops by run.
    pub stops: BTreeMap<String, StopLine>,
}

impl StackStops {
    /// The numbers: as written, else computed from the verdicts as far as possible.
    pub fn numbers(&self) -> StackNumbers {
        self.numbers.clone().unwrap_or_else(|| StackNumbers::from_verdicts(&self.stops))
    }
}

/// Stop points by stack and run, and what they were taken from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StopSnapshot {
    /// The version of whenstop that took the snapshot; `None` if it was made from rows alone.
    pub whenstop: Option<String>,
    /// The recordings; `None` if it was made from rows alone.
    pub corpus: Option<CorpusPrint>,
    /// The stacks by name.
    pub stacks: BTreeMap<String, StackStops>,
}

impl StopSnapshot {
    /// Takes only the stop points of `rows`.
    pub fn from_rows(rows: &Rows) -> Self {
        let mut stacks: BTreeMap<String, StackStops> = BTreeMap::new();
        for row in rows.iter() {
            let stack = stacks.entry(row.stack().to_string()).or_default();
            stack.stops.insert(row.run_id().to_string(), StopLine::from_row(row));
        }
        Self { stacks, ..Self::default() }
    }

    /// Takes the stop points with everything that makes them comparable: the recordings, each stack's rules by its
    /// name, and the numbers.
    pub fn accepted(rows: &Rows, corpus: CorpusPrint, rules: &BTreeMap<String, RuleSet>) -> Self {
        let mut snapshot = Self::from_rows(rows);
        snapshot.whenstop = Some(env!("CARGO_PKG_VERSION").to_owned());
        snapshot.corpus = Some(corpus);
        let groups = by_stack(rows);
        let unit = BestUnit::from_groups(&groups).unit;
        for (summary, group) in summarise(&groups, None).iter().zip(&groups) {
            if let Some(stack) = snapshot.stacks.get_mut(&*summary.stack) {
                stack.rules = rules.get(&*summary.stack).cloned();
                stack.numbers = Some(StackNumbers::from_summary(summary, group, unit));
            }
        }
        snapshot
    }

    /// Number of stop points.
    pub fn len(&self) -> usize {
        self.stacks.values().map(|stack| stack.stops.len()).sum()
    }

    /// True if there are no stop points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stop of `stack` on `run`.
    pub fn stop(&self, stack: &str, run: &str) -> Option<&StopLine> {
        self.stacks.get(stack)?.stops.get(run)
    }

    /// The ids of the runs.
    pub fn runs(&self) -> BTreeSet<&str> {
        self.stacks.values().flat_map(|stack| stack.stops.keys()).map(String::as_str).collect()
    }
}

/// The value as text, or `unknown` in its place.
pub(crate) fn known_or(unknown: &str, value: Option<impl ToString>) -> String {
    match value {
        Some(value) => value.to_string(),
        None => unknown.to_owned(),
    }
}
