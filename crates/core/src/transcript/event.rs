//! What a recording is made of: messages, and the few other lines rules look at.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::fingerprint::{self, Fingerprint};
use super::{Instant, JUDGE_TAKEN_OUT, Origin, PLAN_TAKEN_OUT, Text, Usage, Usd};

/// A short text: of a tool, a call, a model. Up to 23 bytes it stands where it is and needs no memory of its own.
pub type Name = smol_str::SmolStr;

/// Raw JSON kept verbatim, for the systems that read a native structure themselves.
pub type Json = Box<serde_json::value::RawValue>;

/// One recorded line.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all events are messages")]
pub enum Event {
    /// A message of the conversation.
    Message(Message),
    /// A metrics report or a whole task-plan snapshot.
    Metrics(Metrics),
    /// The recorded reply of a judge.
    Judge(JudgeReply),
    /// The state was graded here.
    Checkpoint(Checkpoint),
    /// A framework-native record some system reads (a goal row, a compaction boundary …).
    Note(Note),
}

impl Event {
    /// The message, if this is one.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::Message(message) => Some(message),
            _ => None,
        }
    }

    /// When it was recorded.
    pub fn ts(&self) -> Option<Instant> {
        self.message().and_then(|message| message.ts)
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Instructions.
    System,
    /// The person served, or a program in their place.
    User,
    /// The agent under test.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// The name used in traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Whose conversation a message belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lane {
    /// The agent under test.
    #[default]
    Main,
    /// The agent's own words, but not a model call: a canned greeting, a synthetic error line.
    Canned,
    /// A simulated user, its tool calls and their results: neither its calls nor its tokens count.
    Counterpart,
    /// A sub-agent, by id: its tokens count in the run, its messages are not steps.
    Side(Name),
}

/// One message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Whose conversation this is.
    pub lane: Lane,
    /// In the user's name: whose words these are.
    pub origin: Origin,
    /// The text; `None` when the recording has none (null or absent), which is not the empty text.
    pub content: Option<Text>,
    /// Reasoning shown apart from the text.
    pub reasoning: Option<Text>,
    /// The tools asked for, in order.
    pub tool_calls: Vec<ToolCall>,
    /// For a tool result: the call it answers.
    pub tool_call_id: Option<Name>,
    /// For a tool result the tool's name; otherwise the speaker's, when several share a role.
    pub name: Option<Name>,
    /// For a tool result: flagged as failed, flagged as fine, or not flagged.
    pub is_error: Option<bool>,
    /// Tokens of the model call that made this message.
    pub usage: Option<Usage>,
    /// Cost of that call.
    pub cost: Option<Usd>,
    /// When the message was complete.
    pub ts: Option<Instant>,
    /// The model that made it.
    pub model: Option<Name>,
    /// Why the model ended its reply, in the provider's words.
    pub finish_reason: Option<Name>,
    /// Fields of the line that only some framework's rules read, as one JSON object.
    pub extra: Option<Json>,
    content_print: OnceLock<Fingerprint>,
}

impl Message {
    /// An empty message of `role`.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            lane: Lane::Main,
            origin: Origin::Prompt,
            content: None,
            reasoning: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            is_error: None,
            usage: None,
            cost: None,
            ts: None,
            model: None,
            finish_reason: None,
            extra: None,
            content_print: OnceLock::new(),
        }
    }

    /// A message of `role` saying `content`.
    pub fn saying(role: Role, content: impl Into<Text>) -> Self {
        Self { content: Some(content.into()), ..Self::new(role) }
    }

    /// The text, decoded; empty when there is none.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        self.content.as_ref().map_or_else(Default::default, Text::as_str)
    }

    /// Fingerprint of the text.
    pub fn content_print(&self) -> Fingerprint {
        *self.content_print.get_or_init(|| self.content.as_ref().map_or_else(|| fingerprint::of_text(""), Text::print))
    }

    /// True where tokens are recorded with it.
    pub fn has_usage(&self) -> bool {
        self.usage.is_some_and(|usage| !usage.is_empty())
    }

    /// True for a reply of the agent under test that was a model call: these are the steps.
    pub fn is_step(&self) -> bool {
        self.role == Role::Assistant && self.lane == Lane::Main
    }

    /// True for a tool result of the agent under test.
    pub fn is_result(&self) -> bool {
        self.role == Role::Tool && self.lane == Lane::Main
    }
}

/// A tool the agent asked for.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The call's id; absent in text protocols.
    pub id: Option<Name>,
    /// The tool's name.
    pub name: Name,
    /// The arguments, as text: JSON, or whatever the model wrote instead.
    pub arguments: Text,
    canonical_print: OnceLock<Fingerprint>,
}

impl ToolCall {
    /// A call of `name` with `arguments` (JSON text, or whatever the model wrote).
    pub fn new(id: Option<&str>, name: &str, arguments: impl Into<Text>) -> Self {
        Self {
            id: id.map(Into::into),
            name: name.into(),
            arguments: arguments.into(),
            canonical_print: OnceLock::new(),
        }
    }

    /// Name and canonical arguments: keys sorted at every level, no insignificant white space.
    pub fn canonical_print(&self) -> Fingerprint {
        *self.canonical_print.get_or_init(|| fingerprint::of_call_canonical(&self.name, &self.arguments.as_str()))
    }
}

/// A metrics report of an experiment, or a whole task plan.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// The experiment's name.
    pub experiment: Option<Name>,
    /// Its status, in the framework's words.
    pub status: Option<Name>,
    /// Metric values by name, in file order; non-numeric ones are left to `plan`.
    pub values: Vec<(Name, f64)>,
    /// The whole task plan as its framework wrote it.
    pub plan: Option<Json>,
}

/// A recorded judge call.
#[derive(Clone, Debug)]
pub struct JudgeReply {
    /// The raw text of the reply; `None` when the call failed.
    pub reply: Option<Text>,
    /// Why the call failed.
    pub error: Option<Name>,
    /// Tokens the judge cost.
    pub usage: Option<Usage>,
}

/// The state graded at this point of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Would stopping here have been a success?
    pub success: bool,
    /// The score, when graded.
    pub score: Option<f64>,
}

/// What a [`Note`] carries, as far as any rule asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carries {
    /// The state of a goal after a turn, with the verdict on that turn but without the judge's reply: a row of agentica's
    /// own log.
    GoalRow,
    /// Nothing: it stands where a judge's reply was taken out.
    JudgeTakenOut,
    /// Nothing: it stands where a task plan was taken out.
    PlanTakenOut,
    /// Something no rule asks for.
    Other,
}

/// A framework-native record.
#[derive(Clone, Debug)]
pub struct Note {
    /// What it is, as `system.kind`, for example `agentica.goal`.
    pub kind: Name,
    /// The record, verbatim.
    pub body: Json,
}

impl Note {
    /// The kind of a note that carries a [`Carries::GoalRow`].
    pub const GOAL_ROW: &'static str = "agentica.goal";

    /// True for the record that a host shortened the context, whatever it calls that.
    pub fn is_compaction(&self) -> bool {
        let name = self.kind.rsplit('.').next().unwrap_or_default();
        ["compact", "condens", "compress"].iter().any(|word| name.contains(word))
    }

    /// What it carries.
    pub fn carries(&self) -> Carries {
        match &*self.kind {
            Self::GOAL_ROW => Carries::GoalRow,
            JUDGE_TAKEN_OUT => Carries::JudgeTakenOut,
            PLAN_TAKEN_OUT => Carries::PlanTakenOut,
            _ => Carries::Other,
        }
    }
}
