//! The handshake: what a guard says about itself before the first run.

use serde::Deserialize;
use whenstop_core::decision::{Need, Requirement, RuleName};
use whenstop_core::transcript::{Moment, named};

use super::answer::AnswerKind;
use super::failure::beginning;
use super::{GuardFailure, PROTOCOL};

named! {
    /// Something a recording may lack. What a guard does not name here is not sent to it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GuardInput {
        /// `usage` of messages.
        Tokens = "tokens" => Need::Usage,
        /// `cost_usd` of messages.
        Cost = "cost" => Need::Cost,
        /// `ts` of messages, and `started_at` of the run.
        Times = "times" => Need::Times,
        /// `is_error` of tool results.
        Errors = "errors" => Need::ErrorFlags,
        /// Tool calls. They are always sent where they are recorded, but some recorders leave them out.
        Calls = "calls" => Need::Calls,
        /// The results of tool calls. They are always sent where they are recorded.
        Results = "results" => Need::Results,
        /// The words of texts and arguments. Without this, texts are only compared with each other, which redacted
        /// recordings allow as well; they are always sent.
        Texts = "texts" => Need::Texts,
        /// `finish_reason` of messages.
        FinishReasons = "finish_reasons" => Need::FinishReasons,
        /// Events of type `metrics`.
        Metrics = "metrics" => Need::Metrics,
        /// The task plans among them.
        Plan = "plan" => Need::Plan,
        /// Events of type `judge`.
        Judge = "judge" => Need::Judge,
    }

    /// What a recording must contain.
    pub fn need() -> Need;
}

/// One rule of a guard.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleHello {
    /// Its name in tables.
    pub name: String,
    /// What it reads, besides what the whole guard reads.
    #[serde(default)]
    pub reads: Vec<GuardInput>,
}

/// What a guard says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its own version.
    pub version: Option<String>,
    /// What all its rules read.
    pub reads: Vec<GuardInput>,
    /// The moments at which it is asked.
    pub points: Vec<Moment>,
    /// What it may answer besides `continue`.
    pub answers: Vec<AnswerKind>,
    /// Its rules, in the order in which they are consulted; at least one.
    pub rules: Vec<RuleHello>,
}

/// The answer to the handshake, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireHello {
    id: String,
    protocol: serde_json::Value,
    version: Option<String>,
    #[serde(default)]
    reads: Vec<GuardInput>,
    points: Option<Vec<String>>,
    answers: Option<Vec<AnswerKind>>,
    #[serde(default)]
    rules: Vec<WireRule>,
}

/// The name of a rule, or the rule with what it reads.
#[derive(Deserialize)]
#[serde(untagged)]
enum WireRule {
    Name(String),
    Rule(RuleHello),
}

impl Hello {
    /// The question.
    pub(super) fn question() -> String {
        format!("{{\"id\":\"{}\",\"type\":\"hello\",\"protocol\":{PROTOCOL}}}\n", Self::ID)
    }

    /// The id of the question.
    const ID: &'static str = "hello";

    /// Reads the answer of the guard called `name`, which is also its only rule if it names none.
    pub(super) fn parse(line: &[u8], name: &str) -> Result<Self, GuardFailure> {
        GuardFailure::unless_object(line)?;
        let wire: WireHello = match serde_json::from_slice(line) {
            Ok(wire) => wire,
            Err(error) => return Err(other_version(line).unwrap_or_else(|| GuardFailure::foreign(line, error))),
        };
        if wire.protocol.as_u64() != Some(u64::from(PROTOCOL)) {
            return Err(GuardFailure::Version(wire.protocol.to_string()));
        }
        if wire.id != Self::ID {
            return Err(GuardFailure::foreign(line, "its `id` is not that of the handshake"));
        }
        let points = wire.points.unwrap_or_else(|| vec![Moment::AfterTools.name().to_owned()]);
        let points: Result<Vec<Moment>, GuardFailure> = points.iter().map(|name| moment(name, line)).collect();
        let rule = |rule| match rule {
            WireRule::Name(name) => RuleHello { name, reads: Vec::new() },
            WireRule::Rule(rule) => rule,
        };
        let mut rules: Vec<RuleHello> = wire.rules.into_iter().map(rule).collect();
        let is_unnamed = rules.is_empty();
        if is_unnamed {
            rules.push(RuleHello { name: name.to_owned(), reads: Vec::new() });
        }
        for (nth, rule) in rules.iter().enumerate() {
            if rules[..nth].iter().any(|other| other.name == rule.name) {
                return Err(GuardFailure::foreign(line, format!("two rules are called `{}`", rule.name)));
            }
        }
        let answers = wire.answers.unwrap_or_else(|| AnswerKind::ACTS.to_vec());
        if answers.contains(&AnswerKind::Reading) && (answers.len() > 1 || rules.len() > 1) {
            let why = "a guard that answers `reading` answers nothing else, and has one number";
            return Err(GuardFailure::foreign(line, why));
        }
        if answers.contains(&AnswerKind::Reading) && is_unnamed {
            "score".clone_into(&mut rules[0].name);
        }
        Ok(Self { version: wire.version, reads: wire.reads, points: points?, answers, rules })
    }

    /// A guard about which nothing is known, because its handshake failed.
    pub(super) fn unknown(name: &str) -> Self {
        let rules = vec![RuleHello { name: name.to_owned(), reads: Vec::new() }];
        Self { version: None, reads: Vec::new(), points: Vec::new(), answers: AnswerKind::ACTS.to_vec(), rules }
    }

    /// The first part in which this handshake differs from another, as it is in each.
    pub(super) fn difference(&self, other: &Self) -> (String, String) {
        let parts = |hello: &Self| {
            let Self { version, reads, points, answers, rules } = hello;
            let version = version.as_deref().unwrap_or("none");
            [
                format!("version {version}"),
                format!("reads {reads:?}"),
                format!("points {points:?}"),
                format!("answers {answers:?}"),
                format!("rules {:?}", rules.iter().map(|rule| (&rule.name, &rule.reads)).collect::<Vec<_>>()),
            ]
            .map(|part| beginning(&part))
        };
        parts(self).into_iter().zip(parts(other)).find(|(one, other)| one != other).unwrap_or_default()
    }

    /// The name of the number that it answers with, if it decides nothing.
    pub fn number(&self) -> Option<&str> {
        let rule = self.rules.first().filter(|_| self.answers.contains(&AnswerKind::Reading));
        rule.map(|rule| rule.name.as_str())
    }

    /// True if some rule reads it, so that it is sent.
    pub fn reads(&self, what: GuardInput) -> bool {
        self.reads.contains(&what) || self.rules.iter().any(|rule| rule.reads.contains(&what))
    }

    /// What each rule needs from a recording.
    pub(super) fn requirements(&self) -> Vec<Requirement> {
        let mut all: Vec<Requirement> = Vec::new();
        for rule in &self.rules {
            let needs = self.reads.iter().chain(&rule.reads).map(|reads| reads.need());
            all.extend(needs.map(|need| Requirement { rule: RuleName::new(rule.name.as_str()), need }));
        }
        all.sort();
        all.dedup();
        all
    }
}

/// The failure of an answer that has a protocol version other than ours, whatever else it has.
fn other_version(line: &[u8]) -> Option<GuardFailure> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let version = value.get("protocol")?;
    if *version == PROTOCOL { None } else { Some(GuardFailure::Version(version.to_string())) }
}

fn moment(name: &str, line: &[u8]) -> Result<Moment, GuardFailure> {
    name.parse().map_err(|()| {
        let known = Moment::ALL.map(Moment::name).join(", ");
        GuardFailure::foreign(line, format!("`{name}` is not a point; there are {known}"))
    })
}
