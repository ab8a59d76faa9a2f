//! What a recording lets be read: which rules find in it what they need, and which would read a placeholder for it.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::decision::{Need, Requirement, RuleName};
use crate::text::conclusion_tag::has_conclusion;
use crate::text::experiment_tag::experiment_code;
use crate::transcript::{Carries, Event, Json, Lane, Message, Note, Role, Run, Secured, TOLD_COMMAND, ToolCall};

/// A rule that a recording does not let be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    /// The rule.
    pub rule: RuleName,
    /// What it needs.
    pub need: Need,
    /// The recording has it for some steps and not for others: what the rule read is too little.
    pub partly: bool,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, need, partly } = self;
        write!(f, "{rule}: {}no {}", if *partly { "at some steps " } else { "" }, need.name())
    }
}

/// How much of what a rule needs a recording holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holding {
    /// All of it.
    Throughout,
    /// For some steps and not for others.
    Partly,
    /// None of it.
    Nothing,
    /// None of it, since the recording is redacted: there is a placeholder that a rule would misread.
    TakenOut,
}

impl Holding {
    /// How much of `need` is in `run`.
    pub fn of(run: &Run, need: Need) -> Self {
        if is_taken_out(run, need) {
            Self::TakenOut
        } else if !has(run, need) {
            Self::Nothing
        } else if has_throughout(run, need) {
            Self::Throughout
        } else {
            Self::Partly
        }
    }
}

/// The requirements that a recording does not meet, or not at every step; `holding` says how much of each need it holds.
pub fn unread(requirements: &[Requirement], holding: impl Fn(Need) -> Holding) -> Vec<Unread> {
    let gap = |requirement: &Requirement| {
        let partly = match holding(requirement.need) {
            Holding::Throughout => return None,
            Holding::Partly => true,
            Holding::Nothing | Holding::TakenOut => false,
        };
        Some(Unread { rule: requirement.rule.clone(), need: requirement.need, partly })
    };
    requirements.iter().filter_map(gap).collect()
}

/// The requirements that `run` does not meet, or not at every step.
pub fn not_evaluable(run: &Run, requirements: &[Requirement]) -> Vec<Unread> {
    unread(requirements, |need| Holding::of(run, need))
}

/// Does every step carry what `need` adds up over steps? A sum with a hole in it is too small, so a rule that reads it
/// acts too late. True for what is not added up.
fn has_throughout(run: &Run, need: Need) -> bool {
    match need {
        Need::Usage => run.replies().all(Message::has_usage),
        Need::Cost => run.replies().all(|reply| reply.cost.is_some()),
        Need::Times => run.replies().all(|reply| reply.ts.is_some()),
        _ => true,
    }
}

/// Does a message carry a field that only one framework records?
fn has_field(message: &Message, name: &str) -> bool {
    let Some(extra) = &message.extra else { return false };
    serde_json::from_str::<BTreeMap<&str, &RawValue>>(extra.get()).is_ok_and(|fields| fields.contains_key(name))
}

/// Does a result carry what the tool gave its framework beside the text, as the reader keeps it?
fn has_details(message: &Message) -> bool {
    let native = |extra: &Json| serde_json::from_str::<serde_json::Value>(extra.get()).unwrap_or_default();
    message.is_result()
        && message.extra.as_ref().is_some_and(|extra| native(extra).pointer("/native/details").is_some())
}

/// Is this what a redacted recording no longer has? Without its plan it tells too few experiments or too many, and
/// a judge's verdicts that are left are not all of them.
pub(super) fn is_taken_out(run: &Run, need: Need) -> bool {
    let stands = |carries| notes(run).any(|note| note.carries() == carries);
    run.header.redacted
        && match need {
            Need::Texts => true,
            Need::Metrics | Need::Plan => stands(Carries::PlanTakenOut),
            Need::Judge => stands(Carries::JudgeTakenOut),
            Need::PlainArguments => {
                calls(run).any(|call| serde_json::from_str::<IgnoredAny>(&call.arguments.as_str()).is_err())
            }
            Need::ToolNames => calls(run).any(|call| is_told_command(&call.name)),
            _ => false,
        }
}

fn notes(run: &Run) -> impl Iterator<Item = &Note> {
    run.events().iter().filter_map(|event| match event {
        Event::Note(note) => Some(note),
        _ => None,
    })
}

fn calls(run: &Run) -> impl Iterator<Item = &ToolCall> {
    run.events().iter().filter_map(Event::message).flat_map(|message| &message.tool_calls)
}

/// Does the name stand for a word of a text: `command-3`?
fn is_told_command(name: &str) -> bool {
    let nth = name.strip_prefix(TOLD_COMMAND).and_then(|rest| rest.strip_prefix('-'));
    nth.is_some_and(|nth| !nth.is_empty() && nth.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Does the recording hold what `need` names, anywhere?
pub fn has(run: &Run, need: Need) -> bool {
    if is_taken_out(run, need) {
        return false;
    }
    let mut messages = run.events().iter().filter_map(Event::message);
    let is_call =
        |message: &Message| message.role == Role::Assistant && matches!(message.lane, Lane::Main | Lane::Side(_));
    match need {
        Need::Usage => messages.any(|message| is_call(message) && message.has_usage()),
        Need::Cost => messages.any(|message| is_call(message) && message.cost.is_some()),
        Need::Times => messages.any(|message| message.ts.is_some()),
        // A run that calls no tool lacks no result.
        Need::Results => {
            let mut called = false;
            messages.any(|message| {
                called |= message.is_step() && !message.tool_calls.is_empty();
                message.is_result()
            }) || !called
        }
        Need::WholeSession => !run.header.of_session,
        // A round that calls no tool lacks no flag: what its session flags is known from the others.
        Need::ErrorFlags => {
            let mut called = false;
            messages.any(|message| {
                called |= message.is_step() && !message.tool_calls.is_empty();
                message.is_result() && message.is_error.is_some()
            }) || (run.header.of_session && !called)
        }
        Need::Metrics => run.events().iter().any(|event| matches!(event, Event::Metrics(_))),
        Need::Plan => {
            run.events().iter().any(|event| matches!(event, Event::Metrics(metrics) if metrics.plan.is_some()))
        }
        // Taken out, or there.
        Need::Texts | Need::PlainArguments | Need::ToolNames => true,
        Need::Judge => run.events().iter().any(|event| match event {
            Event::Judge(_) => true,
            Event::Note(note) => note.carries() == Carries::GoalRow,
            _ => false,
        }),
        Need::FinishReasons => messages.any(|message| is_call(message) && message.finish_reason.is_some()),
        Need::Outcome => run.secured() != Secured::Unknown,
        Need::ExperimentTags => messages.filter(|message| message.is_step()).any(|reply| {
            let text = reply.text();
            has_conclusion(&text) || experiment_code(&text).is_some()
        }),
        Need::AgentNames => messages.any(|message| message.is_step() && message.name.is_some()),
        Need::GoalRows => notes(run).any(|note| note.carries() == Carries::GoalRow),
        Need::ResultDetails => messages.any(has_details),
        Need::Field(name) => messages.any(|message| has_field(message, name)),
        Need::Unrecorded(_) => false,
    }
}
