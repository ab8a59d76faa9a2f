//! Checks whether the certificate of a tuned stack holds on these recordings. It is void for models and agents the
//! stack was not tuned on, if its signals leave the range seen in tuning, or if it stops far more or fewer runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::aggregate::Row;
use crate::rule::Rule;
use crate::stack::{Grounds, Stack, StackFile};
use crate::stats::{ClusterSums, Interval, task_rate};
use crate::transcript::{Moment, Run};

/// A tuned stack with the grounds of its certificate.
#[derive(Clone, Debug)]
pub struct TunedStack {
    stack: Arc<Stack>,
    grounds: Grounds,
}

/// The properties of one run that the tuning recordings did not have.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    model: Option<String>,
    agent: Option<String>,
    /// For each range of the grounds, whether a reading leaves it.
    beyond: Vec<bool>,
    stopped: bool,
}

/// The properties of all runs, collected. Partial comparisons store theirs, so that [`Met::and`] can combine them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Met {
    stack: String,
    grounds: Grounds,
    runs: u64,
    stopped: u64,
    models: BTreeSet<String>,
    agents: BTreeSet<String>,
    beyond: Vec<u64>,
}

impl TunedStack {
    /// The tuned stacks of a file.
    pub fn from_file(file: &StackFile) -> Vec<Self> {
        let tuned =
            |(name, grounds): &(String, Grounds)| Some(Self { stack: file.stack(name)?, grounds: grounds.clone() });
        file.grounds().iter().filter_map(tuned).collect()
    }

    /// The properties of `run` that are not among the grounds; `rows` are the rows of that run.
    pub fn outside(&self, run: &Run, rows: &[Row]) -> Outside {
        let new = |name: &Option<String>, known: &[String]| name.clone().filter(|name| !known.contains(name));
        let rules: Vec<&Rule> = self.stack.clauses.iter().flat_map(|clause| clause.condition.rules()).collect();
        let beyond = self.grounds.ranges.iter().map(|(signal, low, high)| {
            let rule = rules.iter().find(|rule| rule.signal.id == signal);
            rule.is_some_and(|rule| leaves(rule, run, *low, *high))
        });
        let own = rows.iter().find(|row| *row.stack == *self.stack.name);
        Outside {
            model: new(&run.header.model, &self.grounds.models),
            agent: new(&run.header.agent, &self.grounds.agents),
            beyond: beyond.collect(),
            stopped: own.is_some_and(|row| row.stop_point.is_some()),
        }
    }
}

/// Whether the signal of `rule` is below `low` or above `high` at some step before the end of the run.
fn leaves(rule: &Rule, run: &Run, low: f64, high: f64) -> bool {
    let mut signal = rule.start();
    let end = run.last_point();
    run.views().any(|view| {
        let reading = signal.observe(&view);
        let counts = view.moment() == Moment::AfterTools && end.is_some_and(|end| view.point() < end);
        counts && reading.is_some_and(|reading| reading < low || reading > high)
    })
}

impl Met {
    /// Starts without any run.
    pub fn new(tuned: &TunedStack) -> Self {
        Self {
            stack: tuned.stack.name.clone(),
            grounds: tuned.grounds.clone(),
            runs: 0,
            stopped: 0,
            models: BTreeSet::new(),
            agents: BTreeSet::new(),
            beyond: vec![0; tuned.grounds.ranges.len()],
        }
    }

    /// Adds what other runs of the same comparison have.
    pub fn and(&mut self, other: Self) {
        self.runs += other.runs;
        self.stopped += other.stopped;
        self.models.extend(other.models);
        self.agents.extend(other.agents);
        self.beyond.iter_mut().zip(other.beyond).for_each(|(sum, beyond)| *sum += beyond);
    }

    /// Adds one run.
    pub fn take(&mut self, outside: Outside) {
        self.runs += 1;
        self.stopped += u64::from(outside.stopped);
        self.models.extend(outside.model);
        self.agents.extend(outside.agent);
        self.beyond.iter_mut().zip(outside.beyond).for_each(|(sum, beyond)| *sum += u64::from(beyond));
    }

    /// Why the certificate does not hold here, in one sentence; `None` if it holds.
    pub fn sentence(&self) -> Option<String> {
        let Grounds { models, agents, runs, stopped, ranges, .. } = &self.grounds;
        let mut why = Vec::new();
        for (what, new, known) in [("model", &self.models, models), ("agent", &self.agents, agents)] {
            if !new.is_empty() {
                why.push(format!("it was not tuned on {what} {}", some(new, known.is_empty())));
            }
        }
        for ((signal, low, high), beyond) in ranges.iter().zip(&self.beyond).filter(|(_, beyond)| **beyond > 0) {
            let runs = if *beyond == 1 { "1 run reads".to_owned() } else { format!("{beyond} runs read") };
            why.push(format!("{runs} `{signal}` outside {low} to {high}"));
        }
        if why.is_empty() && self.runs > 0 {
            let seen = self.stopped as f64 / self.runs as f64;
            // Compares both shares with their uncertainty: "far apart" means that the intervals do not overlap.
            let here = interval_of_share(seen, self.runs);
            let there = interval_of_share(*stopped, u64::from(*runs));
            if let (Some(here), Some(there)) = (here, there)
                && (here.low > there.high || here.high < there.low)
            {
                let percent = |share: f64| format!("{:.0} %", share * 100.0);
                why.push(format!(
                    "it stops {} of the runs, and stopped {} of those it was tuned on",
                    percent(seen),
                    percent(*stopped)
                ));
            }
        }
        if why.is_empty() {
            return None;
        }
        Some(format!("The certificate of `{}` does not hold for these recordings: {}.", self.stack, why.join("; ")))
    }
}

/// Level of the intervals behind "far more or fewer".
const LEVEL: f64 = 0.99;

/// The interval of a share of so many runs, each as a task of its own: grounds do not say whose runs were stopped.
fn interval_of_share(share: f64, runs: u64) -> Option<Interval> {
    let stopped = share * runs as f64;
    let of_run = |run: u64| ClusterSums::from_counts(u64::from((run as f64) + 0.5 < stopped), 1);
    task_rate(&(0..runs).map(of_run).collect::<Vec<_>>(), LEVEL).interval
}

/// The first few of the names, as a list.
fn some(names: &BTreeSet<String>, none_known: bool) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    let note = if none_known { " (none was recorded)" } else { "" };
    format!("{}{more}{note}", shown.join(", "))
}
