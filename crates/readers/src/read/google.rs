//! Contents as in the APIs of Google's generative models: parts that are text, thoughts, function calls or their
//! responses, in camel or snake case; and their token counts.

use crate::record::node::Node;
use crate::record::reading::Reading;
use crate::record::tokens;
use crate::transcript::{Message, Role, Text, ToolCall, Usage};
use crate::value::json;

/// What the parts of one content hold.
#[derive(Default)]
pub(crate) struct ContentParts {
    /// The texts, concatenated as they were streamed.
    pub(crate) text: Option<Text>,
    /// The texts that are thoughts, concatenated.
    pub(crate) reasoning: Option<Text>,
    /// The function calls.
    pub(crate) calls: Vec<ToolCall>,
    /// The function responses as tool results; none is flagged as an error.
    pub(crate) results: Vec<Message>,
}

/// Reads parts: an array, one part, or a plain string.
pub(crate) fn parts(content: Option<&Node<'_>>, out: &mut Reading<'_>) -> ContentParts {
    let mut said = ContentParts::default();
    let Some(content) = content else { return said };
    if let Some(text) = json::text(content) {
        said.text = Some(text);
        return said;
    }
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    for part in content.elements().unwrap_or_else(|| vec![content.clone()]) {
        if let Some(text) = part.as_string() {
            texts.push(text.into_owned());
            continue;
        }
        if !part.is_object() || part.members().is_empty() {
            out.wrong_at(part.place(), part.written(), "parts", "text or an object");
            continue;
        }
        let call = part.within(["functionCall", "function_call"]);
        let response = part.get(["functionResponse", "function_response"]).filter(Node::is_object);
        let text = part.some_string("text");
        let is_thought = part.has("thought") && part.some_flag("thought") != Some(false);
        if let Some(name) = call.some_word("name") {
            let arguments = call.arguments(["args", "arguments"]);
            said.calls.push(ToolCall::new(call.some_word("id").as_deref(), &name, arguments));
        } else if let Some(response) = response {
            said.results.push(result(&response));
        } else if let Some(text) = text {
            if is_thought { thoughts.push(text.into_owned()) } else { texts.push(text.into_owned()) }
        } else {
            // A mark replaces an image or another blob.
            texts.extend(part.members().first().map(|(name, blob)| json::mark(name, blob)));
        }
    }
    let joined = |texts: Vec<String>| if texts.is_empty() { None } else { Some(Text::plain(texts.concat())) };
    (said.text, said.reasoning) = (joined(texts), joined(thoughts));
    said
}

fn result(response: &Node<'_>) -> Message {
    let mut message = Message::new(Role::Tool);
    message.tool_call_id = response.some_word("id").map(Into::into);
    message.name = response.some_word("name").map(Into::into);
    message.content = response.get("response").map(|said| response_text(&said));
    message
}

/// The text of a function response: its only member if that is `output`, `result` or `error`, or else its JSON.
fn response_text(response: &Node<'_>) -> Text {
    match response.members() {
        [(key, only)] if matches!(&**key, "output" | "result" | "error") => Node::from_written(*only).as_text(),
        _ => response.as_text(),
    }
}

/// The token counts of one call. The prompt count includes cached tokens; thoughts are counted separately from the
/// candidates, and the prompts of built-in tools separately from the prompt.
pub(crate) fn usage(event: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let counts = event.counts(["usage_metadata", "usageMetadata"], out)?;
    let mut count = |names: [&str; 2]| counts.tokens(names, out);
    let input = count(["prompt_token_count", "promptTokenCount"]);
    let cached = count(["cached_content_token_count", "cachedContentTokenCount"]);
    let output = count(["candidates_token_count", "candidatesTokenCount"]);
    let thoughts = count(["thoughts_token_count", "thoughtsTokenCount"]);
    let tool = count(["tool_use_prompt_token_count", "toolUsePromptTokenCount"]);
    let total = count(["total_token_count", "totalTokenCount"]);
    GoogleTokenCounts { input, cached, output, thoughts, tool, total }.usage()
}

/// Token counts as reported by Google's models.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GoogleTokenCounts {
    /// Input, including cached tokens.
    pub(crate) input: Option<u64>,
    /// The cached part of the input.
    pub(crate) cached: Option<u64>,
    /// Output, usually without thoughts.
    pub(crate) output: Option<u64>,
    /// Thoughts.
    pub(crate) thoughts: Option<u64>,
    /// Prompts of built-in tools.
    pub(crate) tool: Option<u64>,
    /// The total of all of them.
    pub(crate) total: Option<u64>,
}

impl GoogleTokenCounts {
    /// The counts in our convention: tool prompts are input, thoughts are output. If the total leaves no room for the
    /// thoughts, the output already includes them.
    pub(crate) fn usage(self) -> Option<Usage> {
        let Self { input, cached, output, thoughts, tool, total } = self;
        let input = input.map(|input| input.saturating_add(tool.unwrap_or(0)));
        let without_thoughts = input.unwrap_or(0).saturating_add(output.unwrap_or(0));
        let within = thoughts.unwrap_or(0) > 0 && total == Some(without_thoughts);
        let output = match (output, thoughts) {
            (Some(output), Some(thoughts)) if !within => Some(output.saturating_add(thoughts)),
            (None, Some(thoughts)) => Some(thoughts),
            (output, _) => output,
        };
        let usage = Usage { input, cache_read: cached, cache_write: None, output, reasoning: thoughts };
        let usage = tokens::with_others(usage, &[total]);
        tokens::recorded(usage)
    }
}
