//! Combinations of rules: any, all (at once or latched), at least some of several, not, lately.

use std::fmt;

use smallvec::SmallVec;

use super::{Comparator, Rule, WatchedRule};
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

    /// A reading compared with a limit.
    pub fn compared(reading: Option<f64>, comparator: Comparator, limit: f64) -> Self {
        let Some(reading) = reading else { return Self::UNREAD };
        Self { holds: Some(comparator.passes(reading, limit)), evidence: Evidence::new(reading, limit) }
    }
}

/// A condition watched on one run: its rules, and how their values combine.
pub(crate) struct Watching {
    /// In the order of [`Condition::rules`].
    rules: SmallVec<[WatchedRule; 1]>,
    state: ConditionState,
    /// The current step.
    step: u32,
}

impl Watching {
    /// Starts the signals of `condition`.
    pub(crate) fn start(condition: &Condition) -> Self {
        let mut rules = SmallVec::new();
        condition.each_rule(&mut |rule| rules.push(WatchedRule::start(rule)));
        Self { rules, state: ConditionState::start(condition), step: 0 }
    }

    /// Takes the next point. Must be called for every point of the run, or at least for those of [`Condition::moments`].
    pub(crate) fn observe(&mut self, view: &PointView<'_>) {
        self.step = view.point().step;
        self.rules.iter_mut().for_each(|rule| rule.observe(view));
    }

    /// Adds the current reading of each of its rules, attributed to the clause called `name`.
    pub(crate) fn tell(&self, name: &RuleName, all: &mut Vec<RuleReading>) {
        all.extend(self.rules.iter().map(|rule| rule.told(name)));
    }

    /// The condition's current value; see [`ConditionState::read`].
    pub(crate) fn read(&mut self) -> ConditionValue {
        let rules = &self.rules;
        self.state.read(self.step, &|rule| rules[rule].read())
    }
}

/// How the values of a condition's rules combine, with what it remembers from one point to the next.
#[derive(Clone, Debug)]
pub enum ConditionState {
    /// The value of the rule with this index among [`Condition::rules`].
    Rule(usize),
    /// See [`Condition::Any`].
    Any(Vec<Self>),
    /// See [`Condition::All`].
    All(Vec<Self>),
    /// The same if latched: each part, with the evidence when it first held.
    Latched(Vec<(Self, Option<Evidence>)>),
    /// See [`Condition::Some`].
    Some {
        /// How many parts must hold.
        least: usize,
        /// The parts.
        parts: Vec<Self>,
    },
    /// See [`Condition::Not`].
    Not(Box<Self>),
    /// See [`Condition::Lately`].
    Lately(Box<Lately>),
}

/// A part, and the steps at which it last held and was last unread.
#[derive(Clone, Debug)]
pub struct Lately {
    within: u32,
    part: ConditionState,
    held: Option<(u32, Evidence)>,
    unread: Option<u32>,
}

impl Lately {
    fn read(&mut self, step: u32, values: RuleValues<'_>) -> ConditionValue {
        let value = self.part.read(step, values);
        match value.holds {
            Some(true) => self.held = Some((step, value.evidence)),
            Some(false) => {}
            None => self.unread = Some(step),
        }
        let is_recent = |at: u32| step.saturating_sub(at) < self.within;
        match self.held.filter(|(at, _)| is_recent(*at)) {
            Some((_, evidence)) => ConditionValue { holds: Some(true), evidence },
            None if self.unread.is_some_and(is_recent) => ConditionValue::UNREAD,
            None => ConditionValue { holds: Some(false), ..value },
        }
    }
}

/// The value of each rule at a point, by its index.
type RuleValues<'v> = &'v dyn Fn(usize) -> ConditionValue;

impl ConditionState {
    /// Before the first point.
    pub fn start(condition: &Condition) -> Self {
        Self::after_rules(condition, &mut 0)
    }

    /// The same for a part; `n` is the number of rules before it, and is raised by its own.
    fn after_rules(condition: &Condition, n: &mut usize) -> Self {
        let mut all =
            |parts: &[Condition]| -> Vec<Self> { parts.iter().map(|part| Self::after_rules(part, n)).collect() };
        match condition {
            Condition::Rule(_) => {
                *n += 1;
                Self::Rule(*n - 1)
            }
            Condition::Any(parts) => Self::Any(all(parts)),
            Condition::All { parts, latched: false } => Self::All(all(parts)),
            Condition::All { parts, latched: true } => {
                Self::Latched(all(parts).into_iter().map(|part| (part, None)).collect())
            }
            Condition::Some { least, parts } => Self::Some { least: *least, parts: all(parts) },
            Condition::Not(part) => Self::Not(Box::new(Self::after_rules(part, n))),
            Condition::Lately { within, part } => {
                let part = Self::after_rules(part, n);
                Self::Lately(Box::new(Lately { within: *within, part, held: None, unread: None }))
            }
        }
    }

    /// The condition's value at the next point, where its rules have these values. A latched `all` remembers which parts
    /// held when this was called, so call it exactly once at each point at which the clause is checked.
    pub fn read(&mut self, step: u32, values: RuleValues<'_>) -> ConditionValue {
        match self {
            Self::Rule(rule) => values(*rule),
            Self::Any(parts) => decide(parts.iter_mut().map(|part| part.read(step, values)), true),
            Self::All(parts) => decide(parts.iter_mut().map(|part| part.read(step, values)), false),
            Self::Latched(parts) => read_latched(parts, step, values),
            Self::Some { least, parts } => {
                let fails_at = parts.len().saturating_sub(*least) + 1;
                count(parts.iter_mut().map(|part| part.read(step, values)), *least, fails_at)
            }
            Self::Not(part) => {
                let value = part.read(step, values);
                ConditionValue { holds: value.holds.map(|holds| !holds), ..value }
            }
            Self::Lately(lately) => lately.read(step, values),
        }
    }
}

/// Three-valued any (`decisive` true) or all (`decisive` false). The first part with the decisive value decides; without
/// one, an unread part leaves the result unknown. All parts are read: they may remember.
fn decide(parts: impl Iterator<Item = ConditionValue>, decisive: bool) -> ConditionValue {
    let (mut decided, mut first, mut is_read) = (None, None, true);
    for part in parts {
        if part.holds == Some(decisive) {
            decided.get_or_insert(part);
        }
        first.get_or_insert(part.evidence);
        is_read &= part.holds.is_some();
    }
    match decided {
        Some(part) => part,
        None if is_read => ConditionValue { holds: Some(!decisive), evidence: first.unwrap_or(Evidence::NONE) },
        None => ConditionValue::UNREAD,
    }
}

/// Three-valued "at least `least` hold". It fails once `fails_at` parts fail. The evidence is that of the part by which it
/// holds or fails. All parts are read: they may remember.
fn count(parts: impl Iterator<Item = ConditionValue>, least: usize, fails_at: usize) -> ConditionValue {
    let (mut n_holding, mut n_failing) = (0, 0);
    let (mut holds_by, mut fails_by) = (None, None);
    for part in parts {
        match part.holds {
            Some(true) => {
                n_holding += 1;
                if n_holding == least {
                    holds_by = Some(part);
                }
            }
            Some(false) => {
                n_failing += 1;
                if n_failing == fails_at {
                    fails_by = Some(part);
                }
            }
            None => {}
        }
    }
    if least == 0 {
        return ConditionValue { holds: Some(true), evidence: Evidence::NONE };
    }
    holds_by.or(fails_by).unwrap_or(ConditionValue::UNREAD)
}

fn read_latched(parts: &mut [(ConditionState, Option<Evidence>)], step: u32, values: RuleValues<'_>) -> ConditionValue {
    let mut last = Evidence::NONE;
    let mut all = true;
    for (part, latch) in parts {
        if latch.is_none() {
            let value = part.read(step, values);
            if value.holds == Some(true) {
                *latch = Some(value.evidence);
            }
        }
        match latch {
            Some(evidence) => last = *evidence,
            None => all = false,
        }
    }
    ConditionValue { holds: Some(all), evidence: last }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A condition over rules with these values, point by point: `1` holds, `0` does not, `?` cannot be read.
    fn read(mut condition: ConditionState, rules: &[&str]) -> Vec<ConditionValue> {
        let read = |nth: usize| {
            let value = |rule: usize| match &rules[rule][nth..=nth] {
                "?" => ConditionValue::UNREAD,
                text => ConditionValue { holds: Some(text == "1"), evidence: Evidence::new(rule as f64, nth as f64) },
            };
            condition.read(u32::try_from(nth).unwrap(), &value)
        };
        (0..rules[0].len()).map(read).collect()
    }

    /// Its values, in the same letters.
    fn values(condition: ConditionState, rules: &[&str]) -> String {
        let letter = |value: ConditionValue| match value.holds {
            Some(true) => '1',
            Some(false) => '0',
            None => '?',
        };
        read(condition, rules).into_iter().map(letter).collect()
    }

    /// Whose evidence it has at each point: the rule, and the point it was read at; `-` for none.
    fn evidence(condition: ConditionState, rules: &[&str]) -> String {
        let from = |value: ConditionValue| match (value.evidence.observed, value.evidence.limit) {
            (Some(rule), Some(nth)) => format!("{rule}@{nth}"),
            _ => "-".to_owned(),
        };
        read(condition, rules).into_iter().map(from).collect::<Vec<_>>().join(" ")
    }

    fn rules(n: usize) -> Vec<ConditionState> {
        (0..n).map(ConditionState::Rule).collect()
    }

    #[test]
    fn three_values_combine() {
        let two = ["111000???", "10?10?10?"];
        let some = |least, parts| ConditionState::Some { least, parts };
        assert_eq!(values(ConditionState::Any(rules(2)), &two), "11110?1??");
        assert_eq!(values(ConditionState::All(rules(2)), &two), "10?000?0?");
        assert_eq!(values(ConditionState::Not(Box::new(ConditionState::Rule(0))), &two), "000111???");
        assert_eq!(values(some(1, rules(2)), &two), "11110?1??");
        assert_eq!(values(some(2, rules(2)), &two), "10?000?0?");
        assert_eq!(values(some(2, rules(3)), &["110?", "1011", "0?11"]), "1?11");
    }

    #[test]
    fn the_evidence_is_that_of_the_part_that_decides() {
        let two = ["111000???", "10?10?10?"];
        let some = |least, n| ConditionState::Some { least, parts: rules(n) };
        assert_eq!(evidence(ConditionState::Any(rules(2)), &two), "0@0 0@1 0@2 1@3 0@4 - 1@6 - -");
        assert_eq!(evidence(ConditionState::All(rules(2)), &two), "0@0 1@1 - 0@3 0@4 0@5 - 1@7 -");
        assert_eq!(evidence(ConditionState::Not(Box::new(ConditionState::Rule(0))), &["10?"]), "0@0 0@1 -");
        assert_eq!(evidence(some(1, 2), &two), "0@0 0@1 0@2 1@3 1@4 - 1@6 - -");
        let three = ["110?0", "10110", "0?111"];
        assert_eq!((&*values(some(2, 3), &three), &*evidence(some(2, 3), &three)), ("1?110", "1@0 - 2@2 2@3 1@4"));
        assert_eq!(evidence(some(0, 2), &["0", "0"]), "-");
    }

    fn latched(n: usize) -> ConditionState {
        ConditionState::Latched(rules(n).into_iter().map(|part| (part, None)).collect())
    }

    #[test]
    fn latched_holds_from_the_greatest_first_point_on() {
        let (early, late) = ("0100?0", "000010");
        assert_eq!(values(latched(2), &[early, late]), "000011");
        // The last part that has held, as it first did.
        assert_eq!(evidence(latched(2), &[early, late]), "- 0@1 0@1 0@1 1@4 1@4");
        assert_eq!(evidence(latched(2), &[late, early]), "- 1@1 1@1 1@1 1@1 1@1");
        assert_eq!(values(latched(1), &["???"]), "000");
        assert_eq!(values(latched(0), &["???"]), "111");
    }

    #[test]
    fn lately_looks_back_so_many_steps() {
        let lately = Lately { within: 3, part: ConditionState::Rule(0), held: None, unread: None };
        let lately = ConditionState::Lately(Box::new(lately));
        assert_eq!(values(lately.clone(), &["0100?000"]), "0111???0");
        assert_eq!(evidence(lately, &["0100?000"]), "0@0 0@1 0@1 0@1 - - - 0@7");
    }
}
