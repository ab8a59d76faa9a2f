//! Combinations of rules: any, all (at once or latched), at least some of several, not, lately.

use std::fmt;

use super::{Rule, WatchedRule};
use crate::decision::{Evidence, RuleName, RuleReading};
use crate::transcript::{Moment, Moments, PointView};

/// A rule, or a combination of them.
#[derive(Clone, Debug)]
pub enum Condition {
    /// One rule.
    Rule(Box<Rule>),
    /// Holds when at least one part holds.
    Any(Vec<Condition>),
    /// Holds when all parts hold: at the same point or, if latched, each at some point so far.
    All {
        /// The parts.
        parts: Vec<Condition>,
        /// Whether a part that held once counts as holding from then on.
        latched: bool,
    },
    /// Holds when at least `least` parts hold at the same point.
    Some {
        /// How many parts must hold.
        least: usize,
        /// The parts.
        parts: Vec<Condition>,
    },
    /// Holds when the part is known not to hold. If the part cannot be read yet, neither can this.
    Not(Box<Condition>),
    /// Holds when the part held at a point of the last `within` steps, the current one included.
    Lately {
        /// The number of steps; 1 is the current step alone.
        within: u32,
        /// The part.
        part: Box<Condition>,
    },
}

impl Condition {
    /// The moment at which it is checked unless its clause names another: before the next request if any of its rules
    /// defaults to that, else after the tools.
    pub fn consulted_at(&self) -> Moment {
        let waits = |rule: &&Rule| rule.signal.at == Moment::BeforeRequest;
        if self.rules().iter().any(waits) { Moment::BeforeRequest } else { Moment::AfterTools }
    }

    /// The moments at which it must be shown the run before it is read.
    pub fn moments(&self) -> Moments {
        let mut moments = Moments::NONE;
        self.each_rule(&mut |rule| moments = moments.and(rule.signal.looks_at));
        moments
    }

    /// The rules in it, in order.
    pub fn rules(&self) -> Vec<&Rule> {
        let mut rules = Vec::new();
        self.each_rule(&mut |rule| rules.push(rule));
        rules
    }

    /// Calls `each` with the rules in it, in order: what is asked at every replay takes no list.
    pub(crate) fn each_rule<'c>(&'c self, each: &mut dyn FnMut(&'c Rule)) {
        match self {
            Self::Rule(rule) => each(rule),
            Self::Any(parts) | Self::All { parts, .. } | Self::Some { parts, .. } => {
                for part in parts {
                    part.each_rule(each);
                }
            }
            Self::Not(part) | Self::Lately { part, .. } => part.each_rule(each),
        }
    }

    /// The rules in it, in order, to be changed.
    pub(crate) fn rules_mut(&mut self) -> Vec<&mut Rule> {
        match self {
            Self::Rule(rule) => vec![rule],
            Self::Any(parts) | Self::All { parts, .. } | Self::Some { parts, .. } => {
                parts.iter_mut().flat_map(Self::rules_mut).collect()
            }
            Self::Not(part) | Self::Lately { part, .. } => part.rules_mut(),
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
            Self::Some { least, parts } => list(f, &format!("{least} of "), parts),
            Self::Not(part) => write!(f, "not({part})"),
            Self::Lately { within: 1, part } => write!(f, "lately({part}, 1 step)"),
            Self::Lately { within, part } => write!(f, "lately({part}, {within} steps)"),
        }
    }
}

/// The value of a condition at a point: it holds, it does not, or there is nothing to read yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConditionValue {
    /// `None` if unknown because a signal has no reading yet.
    pub holds: Option<bool>,
    /// Reading and limit of the rule that decided.
    pub evidence: Evidence,
}

impl ConditionValue {
    /// Nothing to read yet.
    pub const UNREAD: Self = Self { holds: None, evidence: Evidence::NONE };
}

/// The state of a condition for one run.
pub(crate) enum Watching {
    Rule(WatchedRule),
    Any(Vec<Watching>),
    All(Vec<Watching>),
    Latched(Vec<(Watching, Option<Evidence>)>),
    Some { least: usize, parts: Vec<Watching> },
    Not(Box<Watching>),
    Lately(Box<Lately>),
}

/// A part, and the steps at which it last held and was last unread.
pub(crate) struct Lately {
    within: u32,
    part: Watching,
    /// The current step.
    step: u32,
    held: Option<(u32, Evidence)>,
    unread: Option<u32>,
}

impl Lately {
    fn read(&mut self) -> ConditionValue {
        let reading = self.part.read();
        match reading.holds {
            Some(true) => self.held = Some((self.step, reading.evidence)),
            Some(false) => {}
            None => self.unread = Some(self.step),
        }
        let is_recent = |step: u32| self.step.saturating_sub(step) < self.within;
        match self.held.filter(|(step, _)| is_recent(*step)) {
            Some((_, evidence)) => ConditionValue { holds: Some(true), evidence },
            None if self.unread.is_some_and(is_recent) => ConditionValue::UNREAD,
            None => ConditionValue { holds: Some(false), ..reading },
        }
    }
}

impl Watching {
    /// Starts the signals of `condition`.
    pub(crate) fn start(condition: &Condition) -> Self {
        match condition {
            Condition::Rule(rule) => Self::Rule(WatchedRule::start(rule)),
            Condition::Any(parts) => Self::Any(parts.iter().map(Self::start).collect()),
            Condition::All { parts, latched: false } => Self::All(parts.iter().map(Self::start).collect()),
            Condition::All { parts, latched: true } => {
                Self::Latched(parts.iter().map(|part| (Self::start(part), None)).collect())
            }
            Condition::Some { least, parts } => {
                Self::Some { least: *least, parts: parts.iter().map(Self::start).collect() }
            }
            Condition::Not(part) => Self::Not(Box::new(Self::start(part))),
            Condition::Lately { within, part } => {
                let part = Self::start(part);
                Self::Lately(Box::new(Lately { within: *within, part, step: 0, held: None, unread: None }))
            }
        }
    }

    /// Takes the next point. Must be called for every point of the run, or at least for those of [`Condition::moments`].
    pub(crate) fn observe(&mut self, view: &PointView<'_>) {
        match self {
            Self::Rule(rule) => rule.observe(view),
            Self::Any(parts) | Self::All(parts) | Self::Some { parts, .. } => {
                for part in parts {
                    part.observe(view);
                }
            }
            Self::Latched(parts) => parts.iter_mut().for_each(|(part, _)| part.observe(view)),
            Self::Not(part) => part.observe(view),
            Self::Lately(lately) => {
                lately.step = view.point().step;
                lately.part.observe(view);
            }
        }
    }

    /// Adds the current reading of each of its rules, attributed to the clause called `name`.
    pub(crate) fn tell(&self, name: &RuleName, all: &mut Vec<RuleReading>) {
        match self {
            Self::Rule(rule) => all.push(rule.told(name)),
            Self::Any(parts) | Self::All(parts) | Self::Some { parts, .. } => {
                for part in parts {
                    part.tell(name, all);
                }
            }
            Self::Latched(parts) => parts.iter().for_each(|(part, _)| part.tell(name, all)),
            Self::Not(part) => part.tell(name, all),
            Self::Lately(lately) => lately.part.tell(name, all),
        }
    }

    /// The condition's current value. A latched `all` remembers which parts held when this was called, so call it
    /// exactly once at each point at which the clause is checked.
    pub(crate) fn read(&mut self) -> ConditionValue {
        match self {
            Self::Rule(rule) => rule.read(),
            Self::Any(parts) => {
                let readings: Vec<ConditionValue> = parts.iter_mut().map(Self::read).collect();
                decide(&readings, true)
            }
            Self::All(parts) => {
                let readings: Vec<ConditionValue> = parts.iter_mut().map(Self::read).collect();
                decide(&readings, false)
            }
            Self::Latched(parts) => read_latched(parts),
            Self::Some { least, parts } => {
                let readings: Vec<ConditionValue> = parts.iter_mut().map(Self::read).collect();
                count(&readings, *least)
            }
            Self::Not(part) => {
                let reading = part.read();
                ConditionValue { holds: reading.holds.map(|holds| !holds), ..reading }
            }
            Self::Lately(lately) => lately.read(),
        }
    }
}

/// Three-valued any (`decisive` true) or all (`decisive` false). One part with the decisive value decides; otherwise
/// one unread part leaves the result unknown.
fn decide(readings: &[ConditionValue], decisive: bool) -> ConditionValue {
    if let Some(reading) = readings.iter().find(|reading| reading.holds == Some(decisive)) {
        return *reading;
    }
    if readings.iter().any(|reading| reading.holds.is_none()) {
        return ConditionValue::UNREAD;
    }
    let evidence = readings.first().map_or(Evidence::NONE, |reading| reading.evidence);
    ConditionValue { holds: Some(!decisive), evidence }
}

/// Three-valued "at least `least` hold". The evidence is that of the part that makes them enough, or too few.
fn count(readings: &[ConditionValue], least: usize) -> ConditionValue {
    let nth = |holds: bool, n: usize| {
        let of = readings.iter().filter(|reading| reading.holds == Some(holds)).nth(n)?;
        Some(ConditionValue { holds: Some(holds), evidence: of.evidence })
    };
    let Some(before_last) = least.checked_sub(1) else {
        return ConditionValue { holds: Some(true), evidence: Evidence::NONE };
    };
    let enough = nth(true, before_last);
    let too_few = nth(false, readings.len().saturating_sub(least));
    enough.or(too_few).unwrap_or(ConditionValue::UNREAD)
}

fn read_latched(parts: &mut [(Watching, Option<Evidence>)]) -> ConditionValue {
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
    ConditionValue { holds: Some(all), evidence: last }
}
