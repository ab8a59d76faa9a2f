//! The events of a recording: messages, and the few other records that rules read.

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::fingerprint::{CachedPrint, Fingerprint};
use super::{Instant, JUDGE_TAKEN_OUT, Origin, PLAN_TAKEN_OUT, Text, Tokens, Usage, Usd, named};

/// A short string, such as the name of a tool or a model, or a call's id. Up to 23 bytes are stored inline, without a
/// heap allocation.
pub type Name = smol_str::SmolStr;

/// Raw JSON, kept verbatim for strategies that parse a framework's own structures.
pub type Json = Box<serde_json::value::RawValue>;

/// One recorded event.
#[derive(Clone, Debug)]
pub enum Event {
    /// A message of the conversation.
    Message(Message),
    /// A metrics report or a whole task-plan snapshot.
    Metrics(Metrics),
    /// The recorded reply of an LLM judge.
    Judge(JudgeReply),
    /// A grade of the state at this point of the run.
    Checkpoint(Checkpoint),
    /// A framework-specific record that some strategy reads (a goal row, a compaction boundary …).
    Note(Note),
}

impl Event {
    /// The message; `None` for any other event.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::Message(message) => Some(message),
            _ => None,
        }
    }

    /// When it was recorded, if it is a message with a timestamp. Other events have no time.
    pub fn ts(&self) -> Option<Instant> {
        self.message()?.ts
    }
}

/// The messages among events, in order.
#[doc(hidden)]
pub fn messages(events: &[Event]) -> impl DoubleEndedIterator<Item = &Message> {
    events.iter().filter_map(Event::message)
}

named! {
    /// The role of a message's author.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Role {
        /// System instructions.
        System = "system",
        /// The user, or a program in the user's place.
        User = "user",
        /// The agent under test.
        Assistant = "assistant",
        /// The result of a tool call.
        Tool = "tool",
    }
}

/// Which participant's conversation a message belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lane {
    /// The agent under test.
    #[default]
    Main,
    /// Text in the agent's name that no model call produced: a canned greeting, a synthetic error line.
    Canned,
    /// A simulated user, with its tool calls and their results. Neither its calls nor its tokens count.
    Counterpart,
    /// A sub-agent, by id. Its tokens count towards the run; its messages are not steps.
    Side(Name),
    /// A tool that the host ran on its own, with its result: no reply asked for it, and no model was shown it.
    Host,
}

/// What is known of the model call that produced a message, and further fields. Most messages have none, and a run may
/// have millions, so it is stored apart from them.
#[derive(Clone, Debug, Default)]
struct Apart {
    reasoning: Option<Text>,
    usage: Option<Usage>,
    cost: Option<Usd>,
    model: Option<Name>,
    finish_reason: Option<Name>,
    extra: Option<Json>,
}

impl Apart {
    fn is_empty(&self) -> bool {
        let Self { reasoning, usage, cost, model, finish_reason, extra } = self;
        let of_call = reasoning.is_some() || usage.is_some() || cost.is_some() || model.is_some();
        !of_call && finish_reason.is_none() && extra.is_none()
    }
}

/// One message.
#[derive(Clone, Debug)]
pub struct Message {
    /// The author's role.
    pub role: Role,
    /// Which participant's conversation it belongs to.
    pub lane: Lane,
    /// For a user message: who wrote it.
    pub origin: Origin,
    /// The text; `None` when the recording has null or nothing here, which differs from an empty text.
    pub content: Option<Text>,
    /// The tools called, in order.
    pub tool_calls: Vec<ToolCall>,
    /// For a tool result: the id of the call it answers.
    pub tool_call_id: Option<Name>,
    /// For a tool result, the tool's name; otherwise the speaker's name, when several share a role.
    pub name: Option<Name>,
    /// For a tool result: `true` if flagged as failed, `false` if flagged as successful, `None` if not flagged.
    pub is_error: Option<bool>,
    /// When the message was complete.
    pub ts: Option<Instant>,
    apart: Option<Box<Apart>>,
    content_print: CachedPrint,
    /// Only the fingerprint of the text is known.
    is_print: bool,
}

impl Message {
    /// An empty message of `role`.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            lane: Lane::Main,
            origin: Origin::Prompt,
            content: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            is_error: None,
            ts: None,
            apart: None,
            content_print: CachedPrint::default(),
            is_print: false,
        }
    }

    /// A message of `role` with the text `content`.
    pub fn saying(role: Role, content: impl Into<Text>) -> Self {
        Self { content: Some(content.into()), ..Self::new(role) }
    }

    /// A message of `role` of which only the fingerprint of the text is known ([`Fingerprint::from_text`]), as kept by
    /// a program that must not store texts. It is equal to every message with the same fingerprint; rules that read the
    /// text itself cannot be evaluated on it ([`Need::Texts`](crate::decision::Need)).
    pub fn with_print(role: Role, print: Fingerprint) -> Self {
        Self { content_print: print.into(), is_print: true, ..Self::new(role) }
    }

    /// True if only the fingerprint of its text is known.
    #[doc(hidden)]
    pub fn is_print(&self) -> bool {
        self.is_print && self.content.is_none() && self.content_print() != Fingerprint::from_text("")
    }

    /// Reasoning, where it is recorded separately from the text.
    pub fn reasoning(&self) -> Option<&Text> {
        self.apart.as_ref()?.reasoning.as_ref()
    }

    /// Tokens of the model call that produced this message.
    pub fn usage(&self) -> Option<Usage> {
        self.apart.as_ref()?.usage
    }

    /// The same, to be changed where there is one.
    #[doc(hidden)]
    pub fn usage_mut(&mut self) -> Option<&mut Usage> {
        self.apart.as_mut()?.usage.as_mut()
    }

    /// Cost of that model call.
    pub fn cost(&self) -> Option<Usd> {
        self.apart.as_ref()?.cost
    }

    /// The model that produced it.
    pub fn model(&self) -> Option<&str> {
        self.apart.as_ref()?.model.as_deref()
    }

    /// Why the model ended its reply, in the provider's terms.
    pub fn finish_reason(&self) -> Option<&str> {
        self.apart.as_ref()?.finish_reason.as_deref()
    }

    /// Sets [`Self::reasoning`].
    #[inline]
    pub fn set_reasoning(&mut self, reasoning: Option<Text>) {
        self.set(reasoning, |apart| &mut apart.reasoning);
    }

    /// Sets [`Self::usage`].
    #[inline]
    pub fn set_usage(&mut self, usage: Option<Usage>) {
        self.set(usage, |apart| &mut apart.usage);
    }

    /// Sets [`Self::cost`].
    #[inline]
    pub fn set_cost(&mut self, cost: Option<Usd>) {
        self.set(cost, |apart| &mut apart.cost);
    }

    /// Sets [`Self::model`].
    #[inline]
    pub fn set_model(&mut self, model: Option<Name>) {
        self.set(model, |apart| &mut apart.model);
    }

    /// Sets [`Self::finish_reason`].
    #[inline]
    pub fn set_finish_reason(&mut self, finish_reason: Option<Name>) {
        self.set(finish_reason, |apart| &mut apart.finish_reason);
    }

    /// Further fields that only some framework's rules read, as one JSON object.
    pub fn extra(&self) -> Option<&Json> {
        self.apart.as_ref()?.extra.as_ref()
    }

    /// Sets [`Self::extra`].
    #[inline]
    pub fn set_extra(&mut self, extra: Option<Json>) {
        self.set(extra, |apart| &mut apart.extra);
    }

    fn set<T>(&mut self, value: Option<T>, place: impl FnOnce(&mut Apart) -> &mut Option<T>) {
        if value.is_some() {
            *place(self.apart.get_or_insert_default()) = value;
        } else if let Some(apart) = &mut self.apart
            && place(apart).take().is_some()
            && apart.is_empty()
        {
            self.apart = None;
        }
    }

    /// The decoded text; empty when there is none.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match &self.content {
            Some(text) => text.as_str(),
            None => std::borrow::Cow::default(),
        }
    }

    /// True if neither the text nor its fingerprint is known. A reply without text that calls a tool may simply have had
    /// none; any other message had one.
    pub fn is_text_unknown(&self) -> bool {
        !self.is_print && self.content.as_ref().is_none_or(Text::is_not_recorded)
    }

    /// A text that was not recorded is no text: the two are written alike, and mean the same.
    pub(super) fn forget_unrecorded_text(&mut self) {
        if matches!(&self.content, Some(text) if text.is_not_recorded()) {
            self.content = None;
        }
    }

    /// Fingerprint of the text. That of a result whose text was not recorded equals no other of its run.
    pub fn content_print(&self) -> Fingerprint {
        if let Some(print) = self.content_print.get() {
            return print;
        }
        match &self.content {
            Some(text) if !text.is_not_recorded() => self.content_print.get_or_compute(|| text.print()),
            _ => Fingerprint::from_text(""),
        }
    }

    /// Gives what was not recorded of the run's event `index` fingerprints of their own: nobody knows whether two of them
    /// were equal, so they are not.
    pub(super) fn tell_unknown_apart(&self, index: usize) {
        if self.role == Role::Tool && self.is_text_unknown() {
            self.content_print.get_or_compute(|| Fingerprint::unknown(index, 0));
        }
        for (nth, call) in self.tool_calls.iter().enumerate().filter(|(_, call)| call.are_arguments_unknown()) {
            call.canonical_print.get_or_compute(|| Fingerprint::unknown(index, nth + 1));
        }
    }

    /// True when it has a text that is not empty.
    #[doc(hidden)]
    pub fn has_text(&self) -> bool {
        matches!(&self.content, Some(text) if !text.is_empty())
    }

    /// True when the message reports input or output tokens.
    pub fn has_usage(&self) -> bool {
        matches!(self.usage(), Some(usage) if !usage.is_empty())
    }

    /// Input plus output tokens of the model call; `None` when neither is known.
    #[doc(hidden)]
    pub fn total_tokens(&self) -> Option<Tokens> {
        self.usage()?.total()
    }

    /// True for a reply of the agent under test that came from a model call. Each such message begins a step.
    pub fn is_step(&self) -> bool {
        self.role == Role::Assistant && self.lane == Lane::Main
    }

    /// True for a call that the host made on its own.
    pub fn is_host_call(&self) -> bool {
        self.role == Role::Assistant && self.lane == Lane::Host
    }

    /// True for a tool result of the agent under test.
    pub fn is_result(&self) -> bool {
        self.role == Role::Tool && self.lane == Lane::Main
    }
}

/// A tool call the agent requested.
#[derive(Clone)]
pub struct ToolCall {
    /// The call's id; `None` in text protocols, which have no ids.
    pub id: Option<Name>,
    /// The tool's name.
    pub name: Name,
    /// The arguments as text: usually JSON, but it can be anything the model wrote.
    pub arguments: Text,
    canonical_print: CachedPrint,
    json: OnceLock<Option<Box<serde_json::Value>>>,
    is_print: bool,
}

/// Whether the arguments have been parsed yet is left out: it says when somebody asked, not what the call is.
impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("arguments", &self.arguments)
            .field("canonical_print", &self.canonical_print)
            .field("is_print", &self.is_print)
            .finish_non_exhaustive()
    }
}

impl ToolCall {
    /// A call of `name` with `arguments`: usually JSON, but any text is accepted.
    pub fn new(id: Option<&str>, name: &str, arguments: impl Into<Text>) -> Self {
        Self {
            id: id.map(Into::into),
            name: name.into(),
            arguments: arguments.into(),
            canonical_print: CachedPrint::default(),
            json: OnceLock::new(),
            is_print: false,
        }
    }

    /// A call of `name` of which only the fingerprint of the canonical arguments is known: that of another
    /// [`canonical_print`](Self::canonical_print). Rules that compare arguments in any other way cannot be evaluated on
    /// it ([`Need::Arguments`](crate::decision::Need)).
    pub fn with_print(id: Option<&str>, name: &str, print: Fingerprint) -> Self {
        Self { canonical_print: print.into(), is_print: true, ..Self::new(id, name, Text::plain("")) }
    }

    /// True if only the fingerprint of its arguments is known.
    #[doc(hidden)]
    pub fn is_print(&self) -> bool {
        self.is_print
    }

    /// True if neither the arguments nor their fingerprint is known.
    pub fn are_arguments_unknown(&self) -> bool {
        !self.is_print && self.arguments.is_not_recorded()
    }

    /// Fingerprint of the name and the canonical arguments: keys sorted at every level, no insignificant white space. That
    /// of a call whose arguments were not recorded equals no other of its run.
    pub fn canonical_print(&self) -> Fingerprint {
        if self.are_arguments_unknown() {
            let own = self.canonical_print.get();
            return own.unwrap_or_else(|| Fingerprint::from_canonical_call(&self.name, ""));
        }
        self.canonical_print.get_or_compute(|| Fingerprint::from_canonical_call(&self.name, &self.arguments.as_str()))
    }

    /// The arguments as a JSON value, `None` as in [`json_value`](super::json_value). They are parsed on the first request:
    /// most stacks that look at a call need them.
    pub fn json_arguments(&self) -> Option<&serde_json::Value> {
        self.json.get_or_init(|| super::json_value(&self.arguments.as_str()).map(Box::new)).as_deref()
    }
}

/// A metrics report of an experiment, or a snapshot of a whole task plan.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// The experiment's name.
    pub experiment: Option<Name>,
    /// Its status, in the framework's terms.
    pub status: Option<Name>,
    /// Metric values by name, in file order. Non-numeric values are found only in `plan`.
    pub values: Vec<(Name, f64)>,
    /// The whole task plan, as the framework wrote it.
    pub plan: Option<Json>,
}

/// A recorded judge call.
#[derive(Clone, Debug)]
pub struct JudgeReply {
    /// The raw text of the reply; `None` when the call failed.
    pub reply: Option<Text>,
    /// Why the call failed.
    pub error: Option<Name>,
    /// Tokens the judge call used.
    pub usage: Option<Usage>,
}

/// A grade of the state at one point of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Whether stopping here would have been a success.
    pub success: bool,
    /// The score, when graded.
    pub score: Option<f64>,
}

/// What kind of record a [`Note`] is, as far as rules distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carries {
    /// The state of a goal after a turn, with the verdict on that turn but without the judge's reply: a row of
    /// agentica's own log.
    GoalRow,
    /// A placeholder for a judge's reply that redaction removed.
    JudgeTakenOut,
    /// A placeholder for a task plan that redaction removed.
    PlanTakenOut,
    /// A record that no rule reads.
    Other,
}

/// A framework-specific record.
#[derive(Clone, Debug)]
pub struct Note {
    /// Its kind, as `system.kind`; for example `agentica.goal`.
    pub kind: Name,
    /// The record, verbatim.
    pub body: Json,
}

impl Note {
    /// The kind of a note that holds a [`Carries::GoalRow`].
    pub const GOAL_ROW: &'static str = "agentica.goal";

    /// True if the note records that the host shortened the context, under any framework's name for it.
    pub fn is_compaction(&self) -> bool {
        let name = self.kind.rsplit('.').next().unwrap_or_default();
        ["compact", "condens", "compress"].iter().any(|word| name.contains(word))
    }

    /// Which kind of record this is.
    pub fn carries(&self) -> Carries {
        match &*self.kind {
            Self::GOAL_ROW => Carries::GoalRow,
            JUDGE_TAKEN_OUT => Carries::JudgeTakenOut,
            PLAN_TAKEN_OUT => Carries::PlanTakenOut,
            _ => Carries::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_a_million_events_fits_into_memory() {
        assert!(size_of::<Event>() <= 168, "{} bytes", size_of::<Event>());
    }

    #[test]
    fn any_fingerprint_that_is_given_is_known() {
        let (message, call) = (Message::with_print(Role::Tool, Fingerprint(0)), ToolCall::new(None, "read", "{}"));
        assert!(message.is_print() && !message.is_text_unknown());
        assert_eq!(message.content_print(), message.clone().content_print());
        assert_ne!(message.content_print(), Message::saying(Role::Tool, "").content_print());
        let print = |print| ToolCall::with_print(None, "read", Fingerprint(print)).canonical_print();
        assert_eq!(print(0), print(0));
        assert_ne!(print(0), ToolCall::new(None, "read", "").canonical_print());
        assert_eq!(print(call.canonical_print().0), call.canonical_print());
    }
}
