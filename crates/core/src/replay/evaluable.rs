//! Which rules a recording lets be evaluated, and which would misread a placeholder of a redacted recording.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::decision::{Need, Requirement, RuleName};
use crate::text::conclusion_tag::has_conclusion;
use crate::text::experiment_tag::experiment_code;
use crate::transcript::{
    Carries, Event, Header, Json, Lane, Message, Note, Requests, Role, Run, Secured, TOLD_COMMAND, ToolCall,
    is_replacement, messages,
};

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
    pub fn from_run(run: &Run, need: Need) -> Self {
        Recorded::from_run(run).holding(need)
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
    let gaps: Vec<Unread> = requirements.iter().filter_map(gap).collect();
    let lacks = |rule: &RuleName, need| gaps.iter().any(|gap| gap.rule == *rule && gap.need == need);
    let is_reason = |(nth, gap): &(usize, &Unread)| match gap.need {
        Need::Replies => true,
        // Only sums are known, and that is why nothing else is.
        _ if lacks(&gap.rule, Need::Replies) => false,
        // Where no requested call is recorded, that is why there are no results and no flags.
        Need::Results | Need::ErrorFlags => !lacks(&gap.rule, Need::Calls),
        // One reason is enough where several contents of a run are missing.
        need if need.is_of_contents() => {
            let is_same = |other: &Unread| (&other.rule, other.partly) == (&gap.rule, gap.partly);
            !gaps[..*nth].iter().any(|before| before.need.is_of_contents() && is_same(before))
        }
        _ => true,
    };
    gaps.iter().enumerate().filter(is_reason).map(|(_, gap)| gap.clone()).collect()
}

/// The requirements that `run` does not meet, or meets only at some steps.
pub fn not_evaluable(run: &Run, requirements: &[Requirement]) -> Vec<Unread> {
    unread(requirements, |need| Holding::from_run(run, need))
}

/// What a recording holds, finished or not.
#[derive(Clone, Copy)]
pub(super) struct Recorded<'r> {
    header: &'r Header,
    events: &'r [Event],
    /// The finished run; `None` while it is in progress.
    run: Option<&'r Run>,
}

impl<'r> Recorded<'r> {
    fn from_run(run: &'r Run) -> Self {
        Self { header: &run.header, events: run.events(), run: Some(run) }
    }

    /// A run in progress, which nobody has graded yet.
    pub(super) fn so_far(header: &'r Header, events: &'r [Event]) -> Self {
        Self { header, events, run: None }
    }

    /// How much of `need` is in it.
    fn holding(self, need: Need) -> Holding {
        if self.is_taken_out(need) {
            Holding::TakenOut
        } else if !self.is_there(need) {
            Holding::Nothing
        } else if self.has_throughout(need) {
            Holding::Throughout
        } else {
            Holding::Partly
        }
    }

    /// The same for a run in progress: what could not have come yet is not missing.
    pub(super) fn holding_so_far(self, need: Need) -> Holding {
        match self.holding(need) {
            Holding::Nothing if !self.is_due(need) => Holding::Throughout,
            holding => holding,
        }
    }

    /// True if something came that should have had what `need` names.
    fn is_due(self, need: Need) -> bool {
        match need {
            Need::Times => self.messages().next().is_some(),
            // The results of the latest reply may be on their way.
            Need::Results => self.messages().filter(|message| message.is_step()).count() > 1,
            Need::ErrorFlags | Need::ResultDetails => self.messages().any(Message::is_result),
            Need::WholeSession | Need::Answers | Need::Unrecorded(_) => true,
            _ => self.messages().any(Message::is_step),
        }
    }

    fn messages(self) -> impl Iterator<Item = &'r Message> {
        messages(self.events)
    }

    fn replies(self) -> impl Iterator<Item = &'r Message> {
        self.messages().filter(|message| message.is_step())
    }

    fn results(self) -> impl Iterator<Item = &'r Message> {
        self.messages().filter(|message| message.is_result())
    }

    fn calls(self) -> impl Iterator<Item = &'r ToolCall> {
        self.messages().flat_map(|message| &message.tool_calls)
    }

    fn makes_calls(self) -> bool {
        self.replies().any(|reply| !reply.tool_calls.is_empty())
    }

    fn notes(self) -> impl Iterator<Item = &'r Note> {
        self.events.iter().filter_map(|event| match event {
            Event::Note(note) => Some(note),
            _ => None,
        })
    }

    /// True if every step has what `need` sums over steps, or if `need` is not summed. A sum with gaps is too small, so
    /// a rule on it acts too late.
    fn has_throughout(self, need: Need) -> bool {
        match need {
            Need::Usage => self.replies().all(Message::has_usage),
            Need::Cost => self.replies().all(|reply| reply.cost().is_some()),
            Need::Times => self.replies().all(|reply| reply.ts.is_some()),
            Need::CallArguments => !self.calls().any(ToolCall::are_arguments_unknown),
            Need::ResultTexts => !self.results().any(Message::is_text_unknown),
            Need::ReplyTexts => !self.replies().any(lacks_its_text),
            _ => true,
        }
    }

    /// True if nothing was recorded of the contents that `need` names, though there were some.
    fn are_contents_unrecorded(self, need: Need) -> bool {
        let are_arguments_unrecorded =
            || self.calls().next().is_some() && self.calls().all(ToolCall::are_arguments_unknown);
        let are_results_unrecorded = || self.results().next().is_some() && self.results().all(Message::is_text_unknown);
        match need {
            Need::CallArguments => are_arguments_unrecorded(),
            Need::ResultTexts => are_results_unrecorded(),
            // An agent that only calls tools may say nothing; one whose calls and results are unrecorded, too, may have.
            Need::ReplyTexts => {
                self.replies().next().is_some()
                    && self.replies().all(Message::is_text_unknown)
                    && (self.replies().any(lacks_its_text) || are_arguments_unrecorded() || are_results_unrecorded())
            }
            _ => false,
        }
    }

    /// True if redaction removed this from the recording, or if only fingerprints of it were kept. With some plans
    /// removed, the number of experiments is wrong; with some of a judge's replies removed, those left are not all.
    fn is_taken_out(self, need: Need) -> bool {
        let stands = |carries| self.notes().any(|note| note.carries() == carries);
        let redacted = self.header.redacted;
        match need {
            Need::Texts => redacted || self.messages().any(Message::is_print) || self.calls().any(ToolCall::is_print),
            Need::Arguments => self.calls().any(ToolCall::is_print),
            Need::Metrics | Need::Plan => redacted && stands(Carries::PlanTakenOut),
            Need::Judge => redacted && stands(Carries::JudgeTakenOut),
            Need::PlainArguments => {
                let is_json = |call: &ToolCall| serde_json::from_str::<IgnoredAny>(&call.arguments.as_str()).is_ok();
                self.calls().any(|call| call.is_print() || redacted && !is_json(call))
            }
            Need::CallArguments | Need::ResultTexts | Need::ReplyTexts => self.are_contents_unrecorded(need),
            Need::ToolNames => redacted && self.calls().any(|call| is_replacement(TOLD_COMMAND, &call.name)),
            _ => false,
        }
    }

    /// True if the recording contains what `need` names, at any step, unless it was taken out.
    fn is_there(self, need: Need) -> bool {
        let mut messages = self.messages();
        let is_call =
            |message: &Message| message.role == Role::Assistant && matches!(message.lane, Lane::Main | Lane::Side(_));
        match need {
            Need::Usage => messages.any(|message| is_call(message) && message.has_usage()),
            Need::Cost => messages.any(|message| is_call(message) && message.cost().is_some()),
            Need::Times => messages.any(|message| message.ts.is_some()),
            Need::Calls => self.header.requests == Requests::Recorded,
            Need::Replies => self.header.requests != Requests::OnlySums,
            // A run without tool calls lacks no results.
            Need::Results => self.results().next().is_some() || !self.makes_calls(),
            Need::WholeSession => !self.header.of_session,
            // A round without tool calls lacks no flags: whether the session has flags is known from its other rounds.
            Need::ErrorFlags => {
                self.results().any(|result| result.is_error.is_some())
                    || (self.header.of_session && !self.makes_calls())
            }
            Need::Metrics => self.events.iter().any(|event| matches!(event, Event::Metrics(_))),
            Need::Plan => {
                self.events.iter().any(|event| matches!(event, Event::Metrics(metrics) if metrics.plan.is_some()))
            }
            // If they were not redacted, they are there.
            Need::Texts
            | Need::Arguments
            | Need::CallArguments
            | Need::ResultTexts
            | Need::ReplyTexts
            | Need::PlainArguments
            | Need::ToolNames => true,
            Need::Judge => self.events.iter().any(|event| match event {
                Event::Judge(_) => true,
                Event::Note(note) => note.carries() == Carries::GoalRow,
                _ => false,
            }),
            Need::FinishReasons => messages.any(|message| is_call(message) && message.finish_reason().is_some()),
            Need::Outcome => matches!(self.run, Some(run) if run.secured() != Secured::Unknown),
            Need::ExperimentTags => self.replies().any(|reply| {
                let text = reply.text();
                has_conclusion(&text) || experiment_code(&text).is_some()
            }),
            Need::AgentNames => self.replies().any(|reply| reply.name.is_some()),
            Need::GoalRows => self.notes().any(|note| note.carries() == Carries::GoalRow),
            Need::ResultDetails => messages.any(has_details),
            Need::Field(name) => messages.any(|message| has_field(message, name)),
            Need::Number(id) => self.run.is_none_or(|run| run.numbers().has_answers(id)),
            Need::Answers | Need::Unrecorded(_) => false,
        }
    }
}

/// True for a reply that neither says anything nor calls a tool, which no model call returns: its text was not recorded.
fn lacks_its_text(reply: &Message) -> bool {
    reply.is_text_unknown() && reply.tool_calls.is_empty() && reply.reasoning().is_none()
}

/// True if the recording contains what `need` names, at any step.
pub fn has(run: &Run, need: Need) -> bool {
    !is_taken_out(run, need) && Recorded::from_run(run).is_there(need)
}

/// True if redaction removed what `need` names from the recording, or if only fingerprints of it were kept.
pub(super) fn is_taken_out(run: &Run, need: Need) -> bool {
    Recorded::from_run(run).is_taken_out(need)
}

/// True if the message has a field that only one framework records.
fn has_field(message: &Message, name: &str) -> bool {
    let Some(extra) = message.extra() else { return false };
    serde_json::from_str::<BTreeMap<&str, &RawValue>>(extra.get()).is_ok_and(|fields| fields.contains_key(name))
}

/// True if the result has what the tool returned to its framework besides the text, where the reader keeps it.
fn has_details(message: &Message) -> bool {
    let native = |extra: &Json| serde_json::from_str::<serde_json::Value>(extra.get()).unwrap_or_default();
    let Some(extra) = message.extra() else { return false };
    message.is_result() && native(extra).pointer("/native/details").is_some()
}
