//! The shipped stack as a stack file, with the grounds of its certificate.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use xxhash_rust::xxh3::xxh3_128;

use super::{Choice, GridChoice, Learned, Study};
use crate::rule::Rule;
use crate::stack::Grounds;
use crate::transcript::Outcome;

/// What is shipped: one limit, a list of rules, or a stack of a grid.
#[derive(Clone, Debug, PartialEq)]
pub enum Shipped {
    /// One limit of the catalogue, certified on all tasks.
    Limit(Choice),
    /// A list, certified on the half of the tasks it was not learned from.
    List(Learned),
    /// A stack of the user's own grid, chosen on one half of the tasks and certified on the other.
    Grid(GridChoice),
}

impl Shipped {
    /// The share of the runs it was tuned on that it stops.
    fn stopped(&self, study: &Study) -> f64 {
        let runs = study.tracks().len();
        let stops = |run: &usize| match self {
            Self::Limit(choice) => study.stop_at(choice.family, choice.limit, *run).is_some(),
            Self::List(learned) => learned.list.stop(study, *run).is_some(),
            Self::Grid(_) => false,
        };
        match self {
            Self::Grid(choice) => choice.stopped,
            _ if runs == 0 => 0.0,
            _ => (0..runs).filter(stops).count() as f64 / runs as f64,
        }
    }

    /// The families of its rules with the index of the limit in each; empty if its rules belong to no family.
    fn places(&self) -> Vec<(usize, usize)> {
        match self {
            Self::Limit(choice) => vec![(choice.family, choice.limit)],
            Self::List(learned) => learned.list.rules.clone(),
            Self::Grid(_) => Vec::new(),
        }
    }

    /// Its rules, in the order they are consulted.
    fn family_rules(&self, study: &Study) -> Vec<Rule> {
        let rule = |(family, limit): (usize, usize)| study.families().get(family).map(|family| family.rule(limit));
        self.places().into_iter().filter_map(rule).collect()
    }

    /// Its rules as text, in the order they are consulted.
    pub fn rules(&self, study: &Study) -> Vec<String> {
        match self {
            Self::Grid(choice) => choice.rules.clone(),
            _ => self.family_rules(study).iter().map(ToString::to_string).collect(),
        }
    }

    /// The step from which it is armed; 0 or 1 means from the start.
    pub fn from_step(&self) -> u64 {
        match self {
            Self::List(learned) => learned.list.from_step,
            Self::Limit(_) | Self::Grid(_) => 0,
        }
    }

    /// Its stop condition as text: `novelty <= 0.2, or errors.count >= 4; not before step 5`.
    pub fn condition(&self, study: &Study) -> String {
        let rules: Vec<String> = self.rules(study).iter().map(|rule| format!("`{rule}`")).collect();
        let from = if self.from_step() > 1 { format!(", not before step {}", self.from_step()) } else { String::new() };
        let between = if let Self::Grid(choice) = self { choice.combine.word() } else { " or " };
        format!("{}{from}", rules.join(between))
    }

    /// Its `[[stack]]` under a name; a grid's stack already has its text.
    pub fn stack(&self, study: &Study, name: &str) -> String {
        if let Self::Grid(choice) = self {
            return choice.written.clone();
        }
        let mut text = format!("[[stack]]\nname = \"{name}\"\nany = [\n");
        for rule in self.family_rules(study) {
            let rule = format!("{{ signal = \"{}\", {} = {} }}", rule.signal.id, rule.comparator.key(), rule.limit);
            let _ = match self.from_step() {
                0 | 1 => writeln!(text, "  {rule},"),
                step => writeln!(text, "  {{ all = [{rule}, {{ signal = \"steps\", at_least = {step} }}] }},"),
            };
        }
        text + "]\n"
    }

    /// For each of its signals, the lowest and the highest reading in the recordings.
    fn ranges(&self, study: &Study) -> Vec<(String, f64, f64)> {
        let range = |(family, _): &(usize, usize)| {
            let (low, high) = study.range(*family)?;
            let rule = study.families().get(*family)?.first_rule();
            Some((rule.signal.id.to_owned(), low, high))
        };
        let mut ranges: Vec<(String, f64, f64)> = match self {
            Self::Grid(choice) => choice.ranges.clone(),
            _ => self.places().iter().filter_map(range).collect(),
        };
        ranges.sort_by(|a, b| a.0.cmp(&b.0));
        ranges.dedup();
        ranges
    }
}

/// The grounds of the certificate: the models and agents of the recordings, how often it stops, and the range of its
/// signals.
pub fn grounds(study: &Study, shipped: &Shipped, promise: String) -> Grounds {
    let named = |of: fn(&super::Track) -> Option<&String>| -> Vec<String> {
        study.tracks().iter().filter_map(of).collect::<BTreeSet<_>>().into_iter().cloned().collect()
    };
    Grounds {
        promise,
        models: named(|track| track.model.as_ref()),
        agents: named(|track| track.agent.as_ref()),
        runs: u32::try_from(study.tracks().len()).unwrap_or(u32::MAX),
        stopped: shipped.stopped(study),
        ranges: shipped.ranges(study),
    }
}

/// A hash over the runs: suite, task, run, points at which they may be stopped, and outcome. The same recordings have
/// the same fingerprint, whatever files they came from.
pub fn fingerprint(study: &Study) -> String {
    let mut text = String::new();
    for track in study.tracks() {
        let outcome = match track.outcome {
            Outcome::Success => "success",
            Outcome::Failure => "failure",
            Outcome::Unknown => "unknown",
        };
        let points = track.ends().len();
        let _ =
            writeln!(text, "{}\u{1f}{}\u{1f}{}\u{1f}{points}\u{1f}{outcome}", track.suite, track.task, track.run_id);
    }
    format!("xxh3-128:{:032x}", xxh3_128(text.as_bytes()))
}
