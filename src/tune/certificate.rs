//! What is shipped, as a stack file with the grounds of its certificate.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use xxhash_rust::xxh3::xxh3_128;

use super::{Choice, Learned, Study};
use crate::rule::Rule;
use crate::stack::Grounds;
use crate::transcript::Outcome;

/// What is shipped: one limit, or a list of rules.
#[derive(Clone, Debug, PartialEq)]
pub enum Shipped {
    /// One limit of the catalogue, certified on all tasks.
    Limit(Choice),
    /// A list, certified on the half of the tasks it was not learned from.
    List(Learned),
}

impl Shipped {
    /// Where it stops a run of the study it was tuned on.
    pub fn stop(&self, study: &Study, run: usize) -> Option<usize> {
        match self {
            Self::Limit(choice) => study.stop_at(choice.family, choice.limit, run),
            Self::List(learned) => learned.list.stop(study, run),
        }
    }

    /// Positions of the families of its rules, with the limit's position in each.
    fn places(&self) -> Vec<(usize, usize)> {
        match self {
            Self::Limit(choice) => vec![(choice.family, choice.limit)],
            Self::List(learned) => learned.list.rules.clone(),
        }
    }

    /// Its rules, in the order they are consulted.
    pub fn rules(&self, study: &Study) -> Vec<Rule> {
        let rule = |(family, limit): (usize, usize)| study.families().get(family).map(|family| family.rule(limit));
        self.places().into_iter().filter_map(rule).collect()
    }

    /// The step from which on it is armed; 0 or 1 is from the first.
    pub fn from_step(&self) -> u64 {
        match self {
            Self::Limit(_) => 0,
            Self::List(learned) => learned.list.from_step,
        }
    }

    /// What it stops on, in words: `novelty <= 0.2, or errors.count >= 4; not before step 5`.
    pub fn condition(&self, study: &Study) -> String {
        let rules: Vec<String> = self.rules(study).iter().map(|rule| format!("`{rule}`")).collect();
        let from = if self.from_step() > 1 { format!(", not before step {}", self.from_step()) } else { String::new() };
        format!("{}{from}", rules.join(" or "))
    }

    /// Its `[[stack]]`, under a name.
    pub fn stack(&self, study: &Study, name: &str) -> String {
        let mut text = format!("[[stack]]\nname = \"{name}\"\nany = [\n");
        for rule in self.rules(study) {
            let rule = format!("{{ signal = \"{}\", {} = {} }}", rule.signal.id, rule.comparator.key(), rule.limit);
            let _ = match self.from_step() {
                0 | 1 => writeln!(text, "  {rule},"),
                step => writeln!(text, "  {{ all = [{rule}, {{ signal = \"steps\", at_least = {step} }}] }},"),
            };
        }
        text + "]\n"
    }
}

/// On what recordings it was tuned: their models and agents, how often it stops, and how far its signals read.
pub fn grounds(study: &Study, shipped: &Shipped, promise: String) -> Grounds {
    let named = |of: fn(&super::Track) -> Option<&String>| -> Vec<String> {
        study.tracks().iter().filter_map(of).collect::<BTreeSet<_>>().into_iter().cloned().collect()
    };
    let runs = study.tracks().len();
    let stopped = (0..runs).filter(|run| shipped.stop(study, *run).is_some()).count();
    let range = |(family, _): &(usize, usize)| {
        let (low, high) = study.range(*family)?;
        let rule = study.families().get(*family)?.first_rule();
        Some((rule.signal.id.to_owned(), low, high))
    };
    let mut ranges: Vec<(String, f64, f64)> = shipped.places().iter().filter_map(range).collect();
    ranges.sort_by(|a, b| a.0.cmp(&b.0));
    ranges.dedup();
    Grounds {
        promise,
        models: named(|track| track.model.as_ref()),
        agents: named(|track| track.agent.as_ref()),
        runs: u32::try_from(runs).unwrap_or(u32::MAX),
        stopped: if runs == 0 { 0.0 } else { stopped as f64 / runs as f64 },
        ranges,
    }
}

/// A hash over the runs: suite, task, run, points at which they may be stopped, and outcome. The same recordings have the same
/// fingerprint, whatever the files they came from.
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
