//! Messages and events as the conditions see them.

use super::super::frame::native;
use crate::python::{self, Ascii, Strictness};
use crate::transcript::{self, Role, ToolCall};

/// A message or event of the conversation.
#[derive(Clone, Debug)]
pub struct TeamMessage {
    kind: String,
    pub(super) source: String,
    /// The printed form, in which texts are searched for.
    pub(super) text: String,
    /// Prompt and completion tokens.
    pub(super) usage: Option<(u64, u64)>,
    pub(super) target: Option<String>,
    /// Tools whose results are reported by this event.
    pub(super) executed: Vec<String>,
}

impl TeamMessage {
    fn new(kind: &str, source: &str, text: String) -> Self {
        Self { kind: kind.to_owned(), source: source.to_owned(), text, usage: None, target: None, executed: Vec::new() }
    }

    /// The type of a recorded message: its native type, or else one inferred from its content.
    pub fn from_message(message: &transcript::Message) -> Self {
        let source = message.name.as_deref();
        let text = message.text().into_owned();
        let mut out = match (message.role, native::word(message, "native")) {
            (Role::Tool, _) => Self::execution(&[message]),
            (_, Some(kind)) => Self::new(&kind, source.unwrap_or(default_source(message.role)), text),
            (Role::Assistant, None) if !message.tool_calls.is_empty() => Self::request(message),
            (role, None) => Self::new("TextMessage", source.unwrap_or(default_source(role)), text),
        };
        out.target = native::word(message, "target");
        out.usage = message.usage().map(|usage| (usage.input.unwrap_or(0), usage.output.unwrap_or(0)));
        out
    }

    fn request(message: &transcript::Message) -> Self {
        let calls: Vec<String> = message.tool_calls.iter().map(printed_call).collect();
        let source = message.name.as_deref().unwrap_or("assistant");
        Self::new("ToolCallRequestEvent", source, format!("[{}]", calls.join(", ")))
    }

    fn execution(results: &[&transcript::Message]) -> Self {
        let printed: Vec<String> = results.iter().map(|result| printed_result(result)).collect();
        let mut out = Self::new("ToolCallExecutionEvent", "assistant", format!("[{}]", printed.join(", ")));
        out.executed = results.iter().filter_map(|result| result.name.as_deref()).map(str::to_owned).collect();
        out
    }

    /// The name of the type.
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// Whether it is a chat message rather than an event.
    pub(super) fn is_chat(&self) -> bool {
        self.kind.ends_with("Message")
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }
}

fn default_source(role: Role) -> &'static str {
    if role == Role::User { "user" } else { "assistant" }
}

/// `FunctionCall(id='c1', arguments='{"x": 1}', name='read')`
fn printed_call(call: &ToolCall) -> String {
    let arguments = call.arguments.as_str();
    let arguments = match python::loads(&arguments, Strictness::Strict) {
        Some(value) => python::dumps(&value, Ascii::Escaped),
        None => arguments.into_owned(),
    };
    let id = python::repr_text(call.id.as_deref().unwrap_or_default());
    format!(
        "FunctionCall(id={id}, arguments={}, name={})",
        python::repr_text(&arguments),
        python::repr_text(&call.name)
    )
}

/// `FunctionExecutionResult(content='ok', name='read', call_id='c1', is_error=False)`
fn printed_result(result: &transcript::Message) -> String {
    let text = |text: Option<&str>| python::repr_text(text.unwrap_or_default());
    let is_error = if result.is_error == Some(true) { "True" } else { "False" };
    format!(
        "FunctionExecutionResult(content={}, name={}, call_id={}, is_error={is_error})",
        python::repr_text(&result.text()),
        text(result.name.as_deref()),
        text(result.tool_call_id.as_deref()),
    )
}

/// The messages of an agent's turn, collected as they arrive.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentTurn {
    reply: Option<transcript::Message>,
    results: Vec<transcript::Message>,
}

impl AgentTurn {
    pub(super) fn push(&mut self, message: &transcript::Message) {
        if message.is_result() {
            self.results.push(self.with_tool_name(message));
        } else {
            self.reply = Some(message.clone());
        }
    }

    /// A result without a tool name gets it from the call that it answers.
    fn with_tool_name(&self, result: &transcript::Message) -> transcript::Message {
        let mut result = result.clone();
        if result.name.is_none() {
            let calls = self.reply.iter().flat_map(|reply| &reply.tool_calls);
            let called = calls.filter(|call| call.id.is_some()).find(|call| call.id == result.tool_call_id);
            result.name = called.map(|call| call.name.clone());
        }
        result
    }

    /// The turn as one delta: thought, request, execution and one summary; or the text.
    pub(super) fn into_delta(self) -> Vec<TeamMessage> {
        let Some(reply) = self.reply else { return Vec::new() };
        if reply.tool_calls.is_empty() {
            return vec![TeamMessage::from_message(&reply)];
        }
        let source = reply.name.as_deref().unwrap_or("assistant");
        let mut delta = Vec::new();
        if !reply.text().is_empty() {
            delta.push(TeamMessage::new("ThoughtEvent", source, reply.text().into_owned()));
        }
        delta.push(TeamMessage::from_message(&reply));
        if !self.results.is_empty() {
            let results: Vec<&transcript::Message> = self.results.iter().collect();
            delta.push(TeamMessage { source: source.to_owned(), ..TeamMessage::execution(&results) });
            let texts: Vec<_> = self.results.iter().map(transcript::Message::text).collect();
            delta.push(TeamMessage::new("ToolCallSummaryMessage", source, texts.join("\n")));
        }
        delta
    }
}
