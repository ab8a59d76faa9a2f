//! pydantic-ai message histories: requests and responses made of parts (FORMATS 17). A retry prompt
//! that names a tool is that tool's error; one that names none is said to the model.

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::rows::{self, Object};
use crate::reader::{json, labels, openai};
use crate::transcript::{Draft, Event, Grade, Header, Message, Outcome, OutcomeSource, Role, Text, ToolCall, Usage};

/// pydantic-ai message histories.
pub(super) struct PydanticAi;

/// Keys under which an object holds a history.
const HISTORIES: &[&str] = &["messages", "all_messages", "message_history", "new_messages", "history"];

impl Format for PydanticAi {
    fn id(&self) -> &'static str {
        "pydantic-ai"
    }

    fn summary(&self) -> &'static str {
        "pydantic-ai message histories: an array of requests and responses, one a line, or objects that hold one"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_message = |value: &Sketch| {
            matches!(value.text_of("kind").as_deref(), Some("request" | "response"))
                && value.get("parts").is_some_and(Sketch::is_array)
        };
        let is_history = |value: &Sketch| value.elements().iter().any(is_message);
        let holds = |value: &Sketch| HISTORIES.iter().any(|key| value.get(key).is_some_and(is_history));
        let found = |value: &Sketch| is_message(value) || is_history(value) || holds(value);
        let within = |value: &Sketch| found(value) || value.elements().iter().any(found);
        probe.values.iter().any(within).then(|| "`parts` of kind `request` or `response`".to_owned())
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let values = rows::values(record, out);
        let holds_many = values.len() > 1;
        let mut loose = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            let key = if holds_many { format!("{}/{index}", record.file.stem) } else { record.file.stem.clone() };
            if let Some(messages) = rows::elements(value) {
                push_run(record, &Object::default(), key, &messages, out);
                continue;
            }
            let Some(fields) = Object::of(value) else {
                out.wrong(value, "message", "an object");
                continue;
            };
            match fields.get(HISTORIES).filter(|_| fields.get(&["parts"]).is_none()) {
                Some(history) => {
                    let messages = out.list(Some(history), "messages");
                    push_run(record, &fields, key, &messages, out);
                }
                None => loose.push(value),
            }
        }
        if !loose.is_empty() {
            push_run(record, &Object::default(), record.file.stem.clone(), &loose, out);
        }
    }
}

/// Hands over one history; `around` is the object that holds it.
fn push_run(record: &Record<'_>, around: &Object<'_>, key: String, raws: &[&RawValue], out: &mut Reading<'_>) {
    let mut history = History::default();
    for raw in raws {
        match Object::of(raw) {
            Some(fields) => history.take_in(raw, &fields, out),
            None => out.wrong(raw, "message", "an object"),
        }
    }
    let wanted = record.options.outcome_key.as_deref();
    let mut draft = Draft { events: history.events, grade: grade(around, wanted), ..Draft::default() };
    draft.header = Header {
        run_id: around.word(&["run_id", "id", "conversation_id"]).unwrap_or(key),
        task_id: around.word(&["task_id", "task"]),
        model: history.model,
        agent: around.word(&["agent", "agent_name"]),
        ..Header::default()
    };
    out.run(draft);
}

/// The outcome, if the object around the history has the field the user names.
fn grade(around: &Object<'_>, wanted: Option<&str>) -> Grade {
    let Some(raw) = wanted.and_then(|key| around.get(&[key])) else { return Grade::default() };
    let score = json::number(raw);
    let word = || json::string(raw).and_then(|word| labels::grade_word(&word));
    let graded = json::flag(raw).or_else(|| score.map(|score| score >= 1.0)).or_else(word);
    let source = graded.map_or(OutcomeSource::None, |_| OutcomeSource::Native("the one named"));
    Grade { outcome: Outcome::from_grade(graded), score, source, ..Grade::default() }
}

/// A history while its messages are read.
#[derive(Default)]
struct History {
    events: Vec<Event>,
    model: Option<String>,
    instructions: Option<String>,
}

impl History {
    fn push(&mut self, message: Message) {
        self.events.push(Event::Message(message));
    }

    fn take_in(&mut self, raw: &RawValue, fields: &Object<'_>, out: &mut Reading<'_>) {
        match fields.word(&["kind"]).as_deref() {
            Some("request") => self.request(fields, out),
            Some("response") => self.response(fields, out),
            _ => out.error_at(
                raw.get(),
                "a message that is neither a request nor a response",
                "its `kind` should say which; the message is left out",
            ),
        }
    }

    fn request(&mut self, fields: &Object<'_>, out: &mut Reading<'_>) {
        // The instructions stand in every request; only a change is news.
        if let Some(instructions) = fields.word(&["instructions"]).filter(|text| !text.is_empty())
            && self.instructions.as_ref() != Some(&instructions)
        {
            self.push(Message::saying(Role::System, instructions.as_str()));
            self.instructions = Some(instructions);
        }
        for raw in out.list(fields.get(&["parts"]), "parts") {
            let Some(part) = Object::of(raw) else {
                out.wrong(raw, "part", "an object");
                continue;
            };
            let tool = part.word(&["tool_name"]);
            let role = match part.word(&["part_kind"]).as_deref() {
                Some("system-prompt") => Role::System,
                Some("tool-return" | "builtin-tool-return") => Role::Tool,
                Some("retry-prompt") if tool.is_some() => Role::Tool,
                Some("user-prompt" | "retry-prompt") => Role::User,
                Some(other) => {
                    out.unknown(other);
                    continue;
                }
                None => {
                    out.error_at(raw.get(), "a part without a `part_kind`", "the part is left out");
                    continue;
                }
            };
            let mut message = Message::new(role);
            message.content = part.get(&["content"]).map(said);
            message.ts = out.instant(part.get(&["timestamp"]), "timestamp");
            if role == Role::Tool {
                message.tool_call_id = part.word(&["tool_call_id"]).map(Into::into);
                message.name = tool.map(Into::into);
                message.is_error = match part.word(&["part_kind"]).as_deref() {
                    Some("retry-prompt") => Some(true),
                    _ => match part.word(&["outcome"]).as_deref() {
                        None | Some("success") => Some(false),
                        Some("failed") => Some(true),
                        // A denied call did not run.
                        Some(_) => None,
                    },
                };
            }
            self.push(message);
        }
    }

    fn response(&mut self, fields: &Object<'_>, out: &mut Reading<'_>) {
        let mut message = Message::new(Role::Assistant);
        let (mut texts, mut thoughts, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for raw in out.list(fields.get(&["parts"]), "parts") {
            let Some(part) = Object::of(raw) else {
                out.wrong(raw, "part", "an object");
                continue;
            };
            let content = || part.get(&["content"]).map(said).unwrap_or_default().as_str().into_owned();
            match part.word(&["part_kind"]).as_deref() {
                Some("text") => texts.push(content()),
                Some("thinking") => thoughts.push(content()),
                Some("tool-call" | "builtin-tool-call") => match part.word(&["tool_name"]) {
                    Some(name) => {
                        let arguments = openai::arguments(part.get(&["args"]));
                        let id = part.word(&["tool_call_id"]);
                        message.tool_calls.push(ToolCall::new(id.as_deref(), &name, arguments));
                    }
                    None => out.error_at(raw.get(), "a tool call without a `tool_name`", "the call is left out"),
                },
                Some("builtin-tool-return") => {
                    let mut result = Message::saying(Role::Tool, content());
                    result.tool_call_id = part.word(&["tool_call_id"]).map(Into::into);
                    result.name = part.word(&["tool_name"]).map(Into::into);
                    results.push(result);
                }
                Some("file") => texts.push(json::mark("file", raw.get())),
                Some(other) => out.unknown(other),
                None => out.error_at(raw.get(), "a part without a `part_kind`", "the part is left out"),
            }
        }
        let joined = |texts: Vec<String>| (!texts.is_empty()).then(|| Text::plain(texts.join("\n\n")));
        (message.content, message.reasoning) = (joined(texts), joined(thoughts));
        message.usage = usage(fields, out);
        message.model = fields.word(&["model_name"]).map(Into::into);
        message.finish_reason = fields.word(&["finish_reason"]).map(Into::into);
        message.ts = out.instant(fields.get(&["timestamp"]), "timestamp");
        self.model = self.model.take().or_else(|| message.model.as_deref().map(str::to_owned));
        self.push(message);
        for result in results {
            self.push(result);
        }
    }
}

/// What a part says: a string, several of them, or the JSON it is.
fn said(raw: &RawValue) -> Text {
    if let Some(text) = json::text(raw) {
        return text;
    }
    let Some(items) = rows::elements(raw).filter(|items| items.iter().any(|item| json::string(item).is_some())) else {
        return Text::plain(raw.get());
    };
    let mark = |item: &RawValue| {
        let kind = Object::of(item).and_then(|item| item.word(&["kind"])).unwrap_or_else(|| "data".to_owned());
        json::mark(&kind, item.get())
    };
    let texts = items.into_iter().map(|item| json::string(item).map_or_else(|| mark(item), Into::into));
    Text::plain(texts.collect::<Vec<String>>().join("\n"))
}

/// Tokens of one call, by the new names or the old. Cached ones are part of the input; zeros are what a
/// provider that told nothing leaves behind.
fn usage(fields: &Object<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let wire = Object::part(Some(fields.get(&["usage"])?), "usage", out);
    let details = wire.within(&["details"]);
    let mut count = |from: &Object<'_>, names: &[&str]| out.count(from.get(names), names.first().unwrap_or(&"usage"));
    let input = count(&wire, &["input_tokens", "request_tokens"]);
    let output = count(&wire, &["output_tokens", "response_tokens"]);
    let total = count(&wire, &["total_tokens"]);
    let thoughts = count(&details, &["thoughts_tokens"]);
    let reasoning = count(&details, &["reasoning_tokens"]).or(thoughts);
    let both = input.unwrap_or(0).saturating_add(output.unwrap_or(0));
    let beside = thoughts.filter(|thoughts| total == Some(both.saturating_add(*thoughts)));
    let usage = Usage {
        input,
        cache_read: count(&wire, &["cache_read_tokens"]).or_else(|| count(&details, &["cached_tokens"])),
        cache_write: count(&wire, &["cache_write_tokens"]),
        output: output.map(|output| output.saturating_add(beside.unwrap_or(0))),
        reasoning,
    };
    (both > 0).then_some(usage)
}
