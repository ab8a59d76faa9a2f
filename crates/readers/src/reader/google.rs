//! Contents as Google's generative models spell them: parts that are text, thoughts, function calls or
//! their responses, in camel or snake case; and their token counts.

use serde_json::value::RawValue;

use super::format::Raw;
use super::reading::Reading;
use super::rows::{self, Object};
use super::{json, openai};
use crate::transcript::{Message, Role, Text, ToolCall, Usage};

/// What the parts of one content say.
#[derive(Default)]
pub(super) struct Said {
    /// The texts, put together as they were streamed.
    pub(super) text: Option<Text>,
    /// The thoughts among them.
    pub(super) reasoning: Option<Text>,
    /// Functions called.
    pub(super) calls: Vec<ToolCall>,
    /// Responses of functions, as tool results; none is flagged.
    pub(super) results: Vec<Message>,
}

/// Reads parts: an array, one part, or a plain string.
pub(super) fn parts(raw: Raw<'_>, out: &mut Reading<'_>) -> Said {
    let mut said = Said::default();
    let Some(raw) = raw else { return said };
    if let Some(text) = json::text(raw) {
        said.text = Some(text);
        return said;
    }
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    for part in rows::elements(raw).unwrap_or_else(|| vec![raw]) {
        if let Some(text) = json::string(part) {
            texts.push(text.into_owned());
            continue;
        }
        let Some(part) = Object::of(part) else {
            out.wrong(part, "parts", "text or an object");
            continue;
        };
        let call = part.within(&["functionCall", "function_call"]);
        let response = part.get(&["functionResponse", "function_response"]).and_then(Object::of);
        let text = part.get(&["text"]).and_then(json::string);
        let is_thought = part.get(&["thought"]).is_some_and(|raw| raw.get() != "false");
        if let Some(name) = call.word(&["name"]) {
            let arguments = openai::arguments(call.get(&["args", "arguments"]));
            said.calls.push(ToolCall::new(call.word(&["id"]).as_deref(), &name, arguments));
        } else if let Some(response) = response {
            said.results.push(result(&response));
        } else if let Some(text) = text {
            if is_thought { thoughts.push(text.into_owned()) } else { texts.push(text.into_owned()) }
        } else {
            texts.extend(mark_of_data(&part));
        }
    }
    let joined = |texts: Vec<String>| (!texts.is_empty()).then(|| Text::plain(texts.concat()));
    (said.text, said.reasoning) = (joined(texts), joined(thoughts));
    said
}

/// What is left in place of an image or another blob.
fn mark_of_data(part: &Object<'_>) -> Option<String> {
    let (name, raw) = part.fields().first()?;
    Some(json::mark(name, raw.get()))
}

fn result(response: &Object<'_>) -> Message {
    let mut message = Message::new(Role::Tool);
    message.tool_call_id = response.word(&["id"]).map(Into::into);
    message.name = response.word(&["name"]).map(Into::into);
    message.content = response.get(&["response"]).map(response_text);
    message
}

/// The text of a function's response: its only `output`, `result` or `error`, or the JSON it is.
pub(super) fn response_text(raw: &RawValue) -> Text {
    let inner = Object::of(raw).and_then(|object| match object.fields() {
        [(key, only)] if matches!(key.as_str(), "output" | "result" | "error") => Some(*only),
        _ => None,
    });
    let raw = inner.unwrap_or(raw);
    json::text(raw).unwrap_or_else(|| Text::plain(raw.get()))
}

/// Tokens of one call. The prompt includes what came from the cache; thoughts are counted beside the
/// candidates, and the prompts of built-in tools beside the prompt.
pub(super) fn usage(raw: Raw<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let wire = Object::part(Some(raw?), "usage_metadata", out);
    let mut count = |names: &[&str; 2]| out.count(wire.get(names), names[0]);
    let prompt = count(&["prompt_token_count", "promptTokenCount"]);
    let cached = count(&["cached_content_token_count", "cachedContentTokenCount"]);
    let candidates = count(&["candidates_token_count", "candidatesTokenCount"]);
    let thoughts = count(&["thoughts_token_count", "thoughtsTokenCount"]);
    let tool = count(&["tool_use_prompt_token_count", "toolUsePromptTokenCount"]);
    let total = count(&["total_token_count", "totalTokenCount"]);
    Counts { input: prompt, cached, output: candidates, thoughts, tool, total }.usage()
}

/// Token counts as Google's models report them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Input, cached included.
    pub(super) input: Option<u64>,
    /// The part of it that was cached.
    pub(super) cached: Option<u64>,
    /// Output without thoughts.
    pub(super) output: Option<u64>,
    /// Thoughts.
    pub(super) thoughts: Option<u64>,
    /// Prompts of built-in tools.
    pub(super) tool: Option<u64>,
    /// All of it.
    pub(super) total: Option<u64>,
}

impl Counts {
    /// In our convention: tool prompts are input, thoughts are output. A total that leaves no room for
    /// the thoughts says that the output has them already.
    pub(super) fn usage(self) -> Option<Usage> {
        let Self { input, cached, output, thoughts, tool, total } = self;
        let input = input.map(|input| input.saturating_add(tool.unwrap_or(0)));
        let within = total.is_some_and(|total| {
            thoughts.unwrap_or(0) > 0 && total == input.unwrap_or(0).saturating_add(output.unwrap_or(0))
        });
        let output = match (output, thoughts) {
            (Some(output), Some(thoughts)) if !within => Some(output.saturating_add(thoughts)),
            (None, Some(thoughts)) => Some(thoughts),
            (output, _) => output,
        };
        let usage = Usage { input, cache_read: cached, cache_write: None, output, reasoning: thoughts };
        (!usage.is_empty()).then_some(usage)
    }
}
