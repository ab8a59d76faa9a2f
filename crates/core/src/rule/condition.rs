//! How rules combine: any, all (instant or latched), not.

use std::fmt;

use super::{Rule, WatchedRule};
use crate::decision::{Evidence, RuleName, RuleReading};
use crate::transcript::{Moment, PointView};

/// A rule, or a combination of them.
#[derive(Clone, Debug)]
pub enum Condition {
    /// One rule.
    Rule(Box<Rule>),
    /// Holds when a part holds.
    Any(Vec<Condition>),
    /// Holds when all parts hold: at the same point, or, latched, each at some point so far.
    All {
        /// The parts.
        parts: Vec<Condition>,
        /// Does a part that held once keep holding?
        latched: bool,
    },
    /// Holds when the part is known not to hold.
    Not(Box<Condition>),
}

impl Condition {
    /// When it is consulted, unless its clause says otherwise: where any of its rules waits for the next request, then.
    pub fn consulted_at(&self) -> Moment {
        let waits = |rule: &&Rule| rule.signal.at == Moment::BeforeRequest;
        if self.rules().iter().any(waits) { Moment::BeforeRequest } else { Moment::AfterTools }
    }

    /// The rules in it, in order.
    pub fn rules(&self) -> Vec<&Rule> {
        match self {
            Self::Rule(rule) => vec![rule],
            Self::Any(parts) | Self::All { parts, .. } => parts.iter().flat_map(Self::rules).collect(),
            Self::Not(part) => part.rules(),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, word: &str, parts: &[Self]| {
            write!(f, "{word}(")?;
            for (index, part) in parts.iter().enumerate() {
                write!(f, "{}{part}", if index > 0 { ", " } else { "" })?;
            }
            f.write_str(")")
        };
        match self {
            Self::Rule(rule) => rule.fmt(f),
            Self::Any(parts) => list(f, "any", parts),
            Self::All { parts, latched: false } => list(f, "all", parts),
            Self::All { parts, latched: true } => list(f, "all latched", parts),
            Self::Not(part) => write!(f, "not({part})"),
        }
    }
}

/// What a condition says at a point: it holds, it does not, or there is nothing to read yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// `None`: not known, because a signal has no reading yet.
    pub holds: Option<bool>,
    /// Reading and limit of the rule that decided.
    pub evidence: Evidence,
}

impl Reading {
    /// Nothing to read yet.
    pub const UNREAD: Self = Self { holds: None, evidence: Evidence::NONE };
}

/// A condition at work on one run.
pub struct Watching(Node);

enum Node {
    Rule(WatchedRule),
    Any(Vec<Node>),
    All(Vec<Node>),
    Latched(Vec<(Node, Option<Evidence>)>),
    Not(Box<Node>),
}

impl Watching {
    /// Starts the signals of `condition`.
    pub fn start(condition: &Condition) -> Self {
        Self(Node::start(condition))
    }

    /// Takes a point in; to be called at every point.
    pub fn observe(&mut self, view: &PointView<'_>) {
        self.0.observe(view);
    }

    /// What the condition says now. A latched `all` remembers the parts that hold when it is asked,
    /// so it is asked once at each point the clause is consulted at.
    pub fn read(&mut self) -> Reading {
        self.0.read()
    }

    /// What each of its rules reads now, as readings of the clause called `name`.
    pub fn readings(&self, name: &RuleName) -> Vec<RuleReading> {
        let mut all = Vec::new();
        self.0.tell(name, &mut all);
        all
    }
}

impl Node {
    fn start(condition: &Condition) -> Self {
        match condition {
            Condition::Rule(rule) => Self::Rule(WatchedRule::start(rule)),
            Condition::Any(parts) => Self::Any(parts.iter().map(Self::start).collect()),
            Condition::All { parts, latched: false } => Self::All(parts.iter().map(Self::start).collect()),
            Condition::All { parts, latched: true } => {
                Self::Latched(parts.iter().map(|part| (Self::start(part), None)).collect())
            }
            Condition::Not(part) => Self::Not(Box::new(Self::start(part))),
        }
    }

    fn observe(&mut self, view: &PointView<'_>) {
        match self {
            Self::Rule(rule) => rule.observe(view),
            Self::Any(parts) | Self::All(parts) => parts.iter_mut().for_each(|part| part.observe(view)),
            Self::Latched(parts) => parts.iter_mut().for_each(|(part, _)| part.observe(view)),
            Self::Not(part) => part.observe(view),
        }
    }

    fn tell(&self, name: &RuleName, all: &mut Vec<RuleReading>) {
        match self {
            Self::Rule(rule) => all.push(rule.told(name)),
            Self::Any(parts) | Self::All(parts) => parts.iter().for_each(|part| part.tell(name, all)),
            Self::Latched(parts) => parts.iter().for_each(|(part, _)| part.tell(name, all)),
            Self::Not(part) => part.tell(name, all),
        }
    }

    fn read(&mut self) -> Reading {
        match self {
            Self::Rule(rule) => rule.read(),
            Self::Any(parts) => {
                let readings: Vec<Reading> = parts.iter_mut().map(Self::read).collect();
                decide(&readings, true)
            }
            Self::All(parts) => {
                let readings: Vec<Reading> = parts.iter_mut().map(Self::read).collect();
                decide(&readings, false)
            }
            Self::Latched(parts) => read_latched(parts),
            Self::Not(part) => {
                let reading = part.read();
                Reading { holds: reading.holds.map(|holds| !holds), ..reading }
            }
        }
    }
}

/// Three-valued any (`decisive` true) or all (`decisive` false): one decisive part settles it, else one
/// unread part leaves it open.
fn decide(readings: &[Reading], decisive: bool) -> Reading {
    if let Some(reading) = readings.iter().find(|reading| reading.holds == Some(decisive)) {
        return *reading;
    }
    if readings.iter().any(|reading| reading.holds.is_none()) {
        return Reading::UNREAD;
    }
    let evidence = readings.first().map_or(Evidence::NONE, |reading| reading.evidence);
    Reading { holds: Some(!decisive), evidence }
}

fn read_latched(parts: &mut [(Node, Option<Evidence>)]) -> Reading {
    let mut last = Evidence::NONE;
    let mut all = true;
    for (part, latch) in parts {
        if latch.is_none() {
            let reading = part.read();
            if reading.holds == Some(true) {
                *latch = Some(reading.evidence);
            }
        }
        match latch {
            Some(evidence) => last = *evidence,
            None => all = false,
        }
    }
    Reading { holds: Some(all), evidence: last }
}
