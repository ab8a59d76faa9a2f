//! Which rules a recording lets be evaluated, and which would misread a placeholder of a redacted recording.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::decision::{Need, Requirement, RuleName};
use crate::text::conclusion_tag::has_conclusion;
use crate::text::experiment_tag::experiment_code;
use crate::transcript::{Carries, Event, Json, Lane, Message, Note, Role, Run, Secured, TOLD_COMMAND, ToolCall};

/// A rule that cannot be evaluated on a recording, or only at some steps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    /// The rule.
    pub rule: RuleName,
    /// What the rule needs and the recording lacks.
    pub need: Need,
    /// True if the recording has it at some steps and not at others, so that a sum is too small.
    pub partly: bool,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, need, partly } = self;
        write!(f, "{rule}: {}no {}", if *partly { "at some steps " } else { "" }, need.name())
    }
}

/// How much of what a rule needs is in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holding {
    /// All of it.
    Throughout,
    /// For some steps and not for others.
    Partly,
    /// None of it.
    Nothing,
    /// None of it, because the recording is redacted: a rule would misread the placeholder.
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

/// The requirements a recording does not meet, or meets only at some steps. `holding` says how much of each need is in
/// the recording.
pub fn unread(requirements: &[Requirement], holding: impl Fn(Need) -> Holding) -> Vec<Unread> {
    let gap = |requirement: &Requirement| {
        let partly = match holding(requirement.need) {
            Holding::Throughout => return None,
            Holding::Partly => true,
            Holding::Nothing | Holding::TakenOut => false,
        };
        Some(Unread { rule: requirement.rule.clone(), need: requirement.need, partly })
    };
    let mut unread: Vec<Unread> = requirements.iter().filter_map(gap).collect();
    // Where no call is recorded, that is why there are no results and no flags.
    let without_calls: Vec<RuleName> =
        unread.iter().filter(|unread| unread.need == Need::Calls).map(|unread| unread.rule.clone()).collect();
    let follows = |need| matches!(need, Need::Results | Need::ErrorFlags);
    unread.retain(|unread| !(follows(unread.need) && without_calls.contains(&unread.rule)));
    unread
}

/// The requirements that `run` does not meet, or meets only at some steps.
pub fn not_evaluable(run: &Run, requirements: &[Requirement]) -> Vec<Unread> {
    unread(requirements, |need| Holding::of(run, need))
}

/// True if every step has what `need` sums over steps, or if `need` is not summed. A sum with gaps is too small, so a
/// rule on it acts too late.
fn has_throughout(run: &Run, need: Need) -> bool {
    match need {
        Need::Usage => run.replies().all(Message::has_usage),
        Need::Cost => run.replies().all(|reply| reply.cost.is_some()),
        Need::Times => run.replies().all(|reply| reply.ts.is_some()),
        _ => true,
    }
}

/// True if the message has a field that only one framework records.
fn has_field(message: &Message, name: &str) -> bool {
    let Some(extra) = &message.extra else { return false };
    serde_json::from_str::<BTreeMap<&str, &RawValue>>(extra.get()).is_ok_and(|fields| fields.contains_key(name))
}

/// True if the result has what the tool returned to its framework besides the text, where the reader keeps it.
fn has_details(message: &Message) -> bool {
    let native = |extra: &Json| serde_json::from_str::<serde_json::Value>(extra.get()).unwrap_or_default();
    message.is_result()
        && message.extra.as_ref().is_some_and(|extra| native(extra).pointer("/native/details").is_some())
}

/// True if redaction removed this from the recording. With some plans removed, the number of experiments is wrong; with
/// some of a judge's replies removed, those left are not all.
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

/// True if the name stands for a word of a text: `command-3`.
fn is_told_command(name: &str) -> bool {
    let nth = name.strip_prefix(TOLD_COMMAND).and_then(|rest| rest.strip_prefix('-'));
    nth.is_some_and(|nth| !nth.is_empty() && nth.bytes().all(|byte| byte.is_ascii_digit()))
}

/// True if the recording contains what `need` names, at any step.
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
        Need::Calls => !run.header.calls_unrecorded,
        // A run without tool calls lacks no results.
        Need::Results => {
            let mut called = false;
            messages.any(|message| {
                called |= message.is_step() && !message.tool_calls.is_empty();
                message.is_result()
            }) || !called
        }
        Need::WholeSession => !run.header.of_session,
        // A round without tool calls lacks no flags: whether the session has flags is known from its other rounds.
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
        // If they were not redacted, they are there.
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
