//! The shipped stack as a stack file, with the grounds of its certificate.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Choice, Fate, Learned, LimitIx, Study};
use crate::aggregate::RecordedRun;
use crate::rule::Rule;
use crate::stack::Grounds;

/// What is shipped: one limit, or a list of rules.
#[derive(Clone, Debug, PartialEq)]
pub enum Shipped {
    /// One limit of the catalogue, certified on all tasks.
    Limit(Choice),
    /// A list, certified on the half of the tasks it was not learned from.
    List(Learned),
}

impl Shipped {
    /// What it does to a run of the study, by index.
    pub fn fate(&self, study: &Study, run: usize) -> Fate {
        match self {
            Self::Limit(choice) => study.fate(choice.at, run),
            Self::List(learned) => learned.list.fate(study, run),
        }
    }

    /// The share of the runs it was tuned on that it stops.
    fn stopped(&self, study: &Study) -> f64 {
        let runs = study.runs().len();
        let stops = |run: &usize| matches!(self.fate(study, *run), Fate::Stopped(_));
        if runs == 0 { 0.0 } else { (0..runs).filter(stops).count() as f64 / runs as f64 }
    }

    /// The limits of its rules, in the order they are consulted.
    fn places(&self) -> Vec<LimitIx> {
        match self {
            Self::Limit(choice) => vec![choice.at],
            Self::List(learned) => learned.list.rules.clone(),
        }
    }

    /// Its rules, in the order they are consulted.
    fn family_rules(&self, study: &Study) -> Vec<Rule> {
        self.places().into_iter().map(|at| study.rule(at)).collect()
    }

    /// The runs on which some of its rules cannot be evaluated, by index: their successes count as killed.
    pub fn unread(&self, study: &Study) -> Vec<usize> {
        let families: Vec<usize> = self.places().into_iter().map(|at| at.family).collect();
        let runs = families.into_iter().flat_map(|family| study.unread_by(family));
        runs.collect::<BTreeSet<usize>>().into_iter().collect()
    }

    /// What was chosen, as [`HeldOut::others`](super::HeldOut::others) compares it.
    pub fn name(&self, study: &Study) -> String {
        match self {
            Self::Limit(choice) => study.rule(choice.at).to_string(),
            Self::List(learned) => learned.list.name(study),
        }
    }

    /// Its rules as text, in the order they are consulted.
    pub fn rules(&self, study: &Study) -> Vec<String> {
        self.family_rules(study).iter().map(ToString::to_string).collect()
    }

    /// The step from which it is armed; 0 or 1 means from the start.
    pub fn from_step(&self) -> u64 {
        match self {
            Self::List(learned) => learned.list.from_step,
            Self::Limit(_) => 0,
        }
    }

    /// Its stop condition as text: `novelty <= 0.2, or errors.count >= 4; not before step 5`.
    pub fn condition(&self, study: &Study) -> String {
        let rules: Vec<String> = self.rules(study).iter().map(|rule| format!("`{rule}`")).collect();
        let from = if self.from_step() > 1 { format!(", not before step {}", self.from_step()) } else { String::new() };
        format!("{}{from}", rules.join(" or "))
    }

    /// Its `[[stack]]` under a name.
    pub fn stack(&self, study: &Study, name: &str) -> String {
        let mut text = format!("[[stack]]\nname = \"{name}\"\nany = [\n");
        for rule in self.family_rules(study) {
            let rule = format!("{{ signal = \"{}\", {} = {} }}", rule.signal.id, rule.comparator.name(), rule.limit);
            let _ = match self.from_step() {
                0 | 1 => writeln!(text, "  {rule},"),
                step => writeln!(text, "  {{ all = [{rule}, {{ signal = \"steps\", at_least = {step} }}] }},"),
            };
        }
        text + "]\n"
    }

    /// For each of its signals, the lowest and the highest reading in the recordings.
    fn ranges(&self, study: &Study) -> Vec<(String, f64, f64)> {
        let range = |at: &LimitIx| {
            let (low, high) = study.range(at.family)?;
            let rule = study.families()[at.family].first_rule();
            Some((rule.signal.id.to_owned(), low, high))
        };
        let mut ranges: Vec<(String, f64, f64)> = self.places().iter().filter_map(range).collect();
        ranges.sort_by(|a, b| a.0.cmp(&b.0));
        ranges.dedup();
        ranges
    }
}

/// The models or agents of the recordings, by name.
pub fn names_in(study: &Study, of: fn(&RecordedRun) -> Option<&str>) -> Vec<String> {
    let names = study.runs().iter().filter_map(|run| of(run.facts()));
    names.collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect()
}

/// The grounds of the certificate: the models and agents of the recordings, how often it stops, and the range of its
/// signals.
pub fn grounds(study: &Study, shipped: &Shipped, promise: String) -> Grounds {
    Grounds {
        promise,
        models: names_in(study, RecordedRun::model),
        agents: names_in(study, RecordedRun::agent),
        runs: u32::try_from(study.runs().len()).unwrap_or(u32::MAX),
        stopped: shipped.stopped(study),
        ranges: shipped.ranges(study),
    }
}
