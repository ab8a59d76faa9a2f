//! What a host writes to the hook's standard input: one JSON object per event. Fields are read one by one, so that a
//! field of an unexpected type costs only that field.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::transcript::{Fingerprint, Instant, ToolCall, named};

/// One event.
#[derive(Debug)]
pub struct Payload<'p> {
    fields: BTreeMap<Cow<'p, str>, &'p RawValue>,
}

named! {
    /// An event by its name in the hosts' payloads.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PayloadEvent {
        /// A prompt was submitted.
        UserPromptSubmit = "UserPromptSubmit",
        /// A tool is about to run.
        PreToolUse = "PreToolUse",
        /// A tool failed.
        PostToolUseFailure = "PostToolUseFailure",
        /// All calls of a reply are done; the next request is about to be made.
        PostToolBatch = "PostToolBatch",
        /// The agent handed back.
        Stop = "Stop",
        /// The request for the reply failed.
        StopFailure = "StopFailure",
        /// A sub-agent is done.
        SubagentStop = "SubagentStop",
        /// A session begins or goes on.
        SessionStart = "SessionStart",
        /// A session ends.
        SessionEnd = "SessionEnd",
    }
}

/// One call of a batch, with its result.
#[derive(Debug)]
pub struct BatchCall<'p>(Payload<'p>);

impl<'p> Payload<'p> {
    /// Reads an event; `None` if the text is not a JSON object.
    pub fn parse(text: &'p str) -> Option<Self> {
        serde_json::from_str(text).ok().map(|fields| Self { fields })
    }

    /// Which event it is; `None` for one that the hook does not need.
    pub fn event(&self) -> Option<PayloadEvent> {
        self.text("hook_event_name")?.parse().ok()
    }

    /// A text field; `None` if it is absent or something else.
    pub fn text(&self, field: &str) -> Option<String> {
        text(self.fields.get(field)?)
    }

    /// A flag; false if it is absent or something else.
    pub fn flag(&self, field: &str) -> bool {
        matches!(self.fields.get(field), Some(value) if value.get() == "true")
    }

    /// The id of the call that it is about, under which the transcript knows it too. Qwen Code gives some events an id of
    /// their own in `tool_use_id`.
    pub fn call_id(&self) -> String {
        self.text("tool_call_id").or_else(|| self.text("tool_use_id")).unwrap_or_default()
    }

    /// The time it states, in milliseconds since the epoch. Claude Code states none.
    pub fn time(&self) -> Option<i64> {
        Some(Instant::from_iso(&self.text("timestamp")?)?.0)
    }

    /// True if it comes from a sub-agent.
    pub fn is_side(&self) -> bool {
        !self.text("agent_id").unwrap_or_default().is_empty()
    }

    /// The calls of a batch.
    pub fn calls(&self) -> Vec<BatchCall<'p>> {
        let Some(calls) = self.fields.get("tool_calls") else { return Vec::new() };
        let calls: Vec<&'p RawValue> = serde_json::from_str(calls.get()).unwrap_or_default();
        calls.into_iter().filter_map(|call| Payload::parse(call.get()).map(BatchCall)).collect()
    }

    /// The names of its fields, in order.
    pub fn field_names(&self) -> Vec<String> {
        self.fields.keys().map(|name| name.clone().into_owned()).collect()
    }
}

impl<'p> BatchCall<'p> {
    /// The tool's name.
    pub fn name(&self) -> String {
        self.0.text("tool_name").unwrap_or_default()
    }

    /// Its id.
    pub fn id(&self) -> String {
        self.0.call_id()
    }

    /// The arguments as JSON text.
    pub fn arguments(&self) -> &'p str {
        if let Some(value) = self.0.fields.get("tool_input") { value.get() } else { "" }
    }

    /// The fingerprint of the name and the arguments.
    pub fn print(&self) -> Fingerprint {
        ToolCall::new(None, &self.name(), self.arguments()).canonical_print()
    }

    /// The result as the model is shown it; `None` if there is none.
    pub fn result(&self) -> Option<String> {
        let value = self.0.fields.get("tool_response").filter(|value| value.get() != "null")?;
        Some(
            text(value).or_else(|| parts(value)).or_else(|| responses(value)).unwrap_or_else(|| value.get().to_owned()),
        )
    }

    /// Whether it failed, as far as the batch says: its status, or the marker of a call refused before it ran.
    pub fn failed(&self, result: Option<&str>) -> Option<bool> {
        match self.0.text("status").as_deref() {
            Some("error") => Some(true),
            Some("success") => Some(false),
            Some(_) => None,
            None => result.map(|text| text.trim_start().starts_with("<tool_use_error>")),
        }
    }

    /// True if a person refused it.
    pub fn is_refused(&self) -> bool {
        const REFUSALS: [&str; 3] =
            ["The user doesn't want to", "This command requires approval", "[Request interrupted by user"];
        let result = self.result().unwrap_or_default();
        self.0.text("status").as_deref() == Some("cancelled") || REFUSALS.iter().any(|mark| result.starts_with(mark))
    }
}

fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// The texts of a list of content blocks, joined by line feeds.
fn parts(value: &RawValue) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct TextBlock {
        text: Option<String>,
    }
    let parts: Vec<TextBlock> = serde_json::from_str(value.get()).ok()?;
    let texts: Vec<String> = parts.into_iter().filter_map(|part| part.text).collect();
    Some(texts.join("\n"))
}

/// The texts of Qwen Code's function responses, without the call's id and the host's own counts beside them.
fn responses(value: &RawValue) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct ToolResponse<'a> {
        #[serde(borrow)]
        response_parts: Vec<ResponsePart<'a>>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ResponsePart<'a> {
        #[serde(borrow)]
        function_response: Option<FunctionResponse<'a>>,
        #[serde(borrow, flatten)]
        other: BTreeMap<Cow<'a, str>, &'a RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct FunctionResponse<'a> {
        #[serde(borrow)]
        response: &'a RawValue,
    }
    #[derive(serde::Deserialize)]
    struct ResponseOutput {
        output: Option<String>,
        error: Option<String>,
    }
    let shown: ToolResponse<'_> = serde_json::from_str(value.get()).ok()?;
    let mut texts = Vec::new();
    for part in shown.response_parts {
        if let Some(response) = part.function_response.map(|one| one.response) {
            let words = serde_json::from_str::<ResponseOutput>(response.get());
            let text = if let Ok(words) = words { words.output.or(words.error) } else { None };
            texts.push(text.unwrap_or_else(|| response.get().to_owned()));
        }
        texts.extend(part.other.into_values().map(|value| text(value).unwrap_or_else(|| value.get().to_owned())));
    }
    Some(texts.join("\n"))
}
