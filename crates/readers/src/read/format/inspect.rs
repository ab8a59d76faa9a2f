//! Inspect AI logs: one document of samples, or a zip with one sample per member.
//!
//! A sample's messages have the conversation; its model events have the cost of each call. Events of scorers are not
//! the agent's. If there are no model events, or as many as replies, both are read together; otherwise messages were
//! taken back or the history was shortened, and the calls are read from the events alone.

use std::collections::HashMap;

use super::{Format, RecordLayout, object_of, reason_if};
use crate::label::words;
use crate::open::probe::{Probe, Sketch};
use crate::read::{openai, texts};
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::text::word_list;
use crate::transcript::{Checkpoint, Draft, EndCause, Event, Grade, Header, Instant, Message, Role, Text, Usage};
use crate::value::json;

/// Inspect AI logs.
pub(super) static FORMAT: Format = Format {
    id: "inspect",
    summary: "Inspect AI logs (.json, .eval)",
    recognise,
    layout,
    prompted_by: crate::transcript::PromptedBy::Program,
    ..Format::reading(read)
};

/// Whether the value is a single sample, as in an unpacked log.
fn is_sample(value: &Sketch) -> bool {
    value.has(&["id", "epoch", "target"]) && (value.get("messages").is_some() || value.get("events").is_some())
}

fn recognise(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    if is_sample(document) {
        return Some("a sample: `epoch` and `target` beside its messages".to_owned());
    }
    let is_log = document.has(&["eval", "status"]) && document.get("eval")?.has(&["task"]);
    reason_if(is_log, "a document with `eval` and `status`")
}

fn layout(probe: &Probe) -> RecordLayout {
    match probe.document() {
        Some(document) if is_sample(document) => RecordLayout::Whole,
        _ => RecordLayout::Elements { at: Some("samples"), envelope: &["eval", "status"] },
    }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let Some(sample) = whole.into_object("sample", out) else { return };
    let eval = Node::from_written(record.envelope).within("eval");
    let log = SampleLog { attachments: attachments(&sample), calls: calls(&sample, out) };
    let events = log.events(&sample, out);
    let id = sample.some_word("id").unwrap_or_else(|| record.key.to_owned());
    let epoch = sample.some_word("epoch");
    let config = eval.within("config");
    let limits = ["message_limit", "token_limit", "time_limit"].map(|name| (name, config.some_number(name)));
    let trial = epoch.as_deref().map(|epoch| format!("_epoch_{epoch}")).unwrap_or_default();
    let started_at = sample.instant("started_at", out);
    let ended_at = sample.instant("completed_at", out);
    out.run(Draft {
        header: Header {
            run_id: format!("{}/{id}{trial}", record.file.stem),
            task_id: Some(id),
            trial: epoch,
            suite: eval.some_word("task"),
            model: eval.some_word("model"),
            agent: Some("inspect".to_owned()),
            started_at,
            ended_at,
            meta: object_of(limits),
            ..Header::default()
        },
        events,
        grade: grade(&sample, record.options.outcome_key.as_deref()),
        warnings: Vec::new(),
    });
}

/// One model call of the agent, from its event.
struct InspectCall<'a> {
    output: Node<'a>,
    usage: Option<Usage>,
    ts: Option<Instant>,
}

/// The agent's events in a sample.
enum InspectEvent<'a> {
    Call(InspectCall<'a>),
    Tool(Node<'a>),
    Checkpoint(Checkpoint),
}

/// The agent's events in a sample and the texts that were moved out of it.
struct SampleLog<'a> {
    attachments: HashMap<String, &'a str>,
    calls: Vec<InspectEvent<'a>>,
}

/// The sample's attachments: long texts are stored once, keyed by their hash.
fn attachments<'a>(sample: &Node<'a>) -> HashMap<String, &'a str> {
    let nested = sample.within("transcript");
    [sample.within("attachments"), nested.within("content")]
        .iter()
        .flat_map(|texts| texts.members().iter().map(|(hash, text)| (hash.to_string(), *text)))
        .collect()
}

/// Kinds of events that are not of the agent.
const OTHERS: &[&str] = word_list!(
    "anchor approval branch checkpoint compaction error info input interrupt logger sample_init sample_limit sandbox",
    "score_edit state step store subtask",
);

/// The agent's events in order, without those in scorers' spans or of graders.
fn calls<'a>(sample: &Node<'a>, out: &mut Reading<'_>) -> Vec<InspectEvent<'a>> {
    let transcript = sample.within("transcript");
    let told = if sample.has("events") { sample } else { &transcript };
    let mut steps = Vec::new();
    let mut scoring = 0_usize;
    let mut spans: Vec<(String, bool)> = Vec::new();
    for event in told.list("events", out) {
        let Some(event) = event.into_object("event", out) else { continue };
        let kind = event.some_word("event").unwrap_or_default();
        let is_scorer = || matches!(event.some_word("type").as_deref(), Some("scorer" | "scorers"));
        match kind.as_str() {
            "span_begin" => {
                let scorer = is_scorer();
                scoring += usize::from(scorer);
                spans.push((event.some_word("id").unwrap_or_default(), scorer));
            }
            "span_end" => {
                let id = event.some_word("id").unwrap_or_default();
                if let Some(at) = spans.iter().rposition(|(span, _)| *span == id) {
                    scoring -= usize::from(spans.remove(at).1);
                }
            }
            "step" if is_scorer() && event.is("action", "begin") => scoring += 1,
            "step" if is_scorer() => scoring = scoring.saturating_sub(1),
            "model" if scoring == 0 => steps.extend(model_call(&event, out).map(InspectEvent::Call)),
            "tool" if scoring == 0 => steps.push(InspectEvent::Tool(event)),
            "score" if event.is_true("intermediate") => {
                let value = event.at(&["score", "value"]);
                let (graded, score) = score_value(value.as_ref());
                steps.extend(graded.map(|success| InspectEvent::Checkpoint(Checkpoint { success, score })));
            }
            "model" | "tool" | "score" => {}
            kind if OTHERS.contains(&kind) => {}
            other => out.unknown(other, &event),
        }
    }
    steps
}

/// A model event, unless it is a grader's, failed, or was answered from a cache.
fn model_call<'a>(event: &Node<'a>, out: &mut Reading<'_>) -> Option<InspectCall<'a>> {
    if event.some_word("role").unwrap_or_default().contains("grader") || event.has("error") {
        return None;
    }
    let output = event.within("output");
    let cached = event.is("cache", "read");
    let usage = usage(&output.counts("usage", out).unwrap_or_default(), out).filter(|_| !cached);
    let ts = event.instant(["completed", "timestamp"], out);
    Some(InspectCall { output, usage, ts })
}

/// The token counts of one call. Providers differ in whether cached tokens are part of the input; the total shows
/// which.
pub(super) fn usage(counts: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let input = counts.tokens("input_tokens", out);
    let output = counts.tokens("output_tokens", out);
    let cache_read = counts.tokens("input_tokens_cache_read", out);
    let cache_write = counts.tokens("input_tokens_cache_write", out);
    let total = counts.tokens("total_tokens", out);
    let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    let plain = input.unwrap_or(0).saturating_add(output.unwrap_or(0));
    let has_room = matches!(total, Some(total) if total >= plain.saturating_add(cached));
    let beside = has_room || input < cache_read;
    let usage = Usage {
        input: input.map(|input| if beside { input.saturating_add(cached) } else { input }),
        cache_read,
        cache_write,
        output,
        reasoning: counts.tokens("reasoning_tokens", out),
    };
    tokens::recorded(usage)
}

impl<'a> SampleLog<'a> {
    /// The sample's events in the transcript's form.
    fn events(&self, sample: &Node<'a>, out: &mut Reading<'_>) -> Vec<Event> {
        let messages = sample.list("messages", out);
        let spoken: Vec<Message> = messages.into_iter().filter_map(|message| self.message(message, out)).collect();
        let n_replies = spoken.iter().filter(|message| message.role == Role::Assistant).count();
        let n_calls = self.calls.iter().filter(|step| matches!(step, InspectEvent::Call(_))).count();
        if n_calls == 0 || n_calls == n_replies {
            return self.told_together(spoken);
        }
        self.told_by_events(spoken, out)
    }

    /// The messages, with each call's usage and time from the events.
    fn told_together(&self, spoken: Vec<Message>) -> Vec<Event> {
        let mut steps = self.calls.iter().filter(|step| !matches!(step, InspectEvent::Tool(_))).peekable();
        let mut events = Vec::new();
        for mut message in spoken {
            if message.role == Role::Assistant {
                while let Some(InspectEvent::Checkpoint(checkpoint)) = steps.peek() {
                    events.push(Event::Checkpoint(*checkpoint));
                    steps.next();
                }
                if let Some(InspectEvent::Call(call)) = steps.next() {
                    message.ts = call.ts;
                    message.set_usage(call.usage);
                }
            }
            events.push(Event::Message(message));
        }
        for step in steps {
            if let InspectEvent::Checkpoint(checkpoint) = step {
                events.push(Event::Checkpoint(*checkpoint));
            }
        }
        events
    }

    /// The prompts followed by the events, since messages were taken back or the history was shortened.
    fn told_by_events(&self, spoken: Vec<Message>, out: &mut Reading<'_>) -> Vec<Event> {
        let prompts = spoken.into_iter().take_while(|message| matches!(message.role, Role::System | Role::User));
        let mut events: Vec<Event> = prompts.map(Event::Message).collect();
        for step in &self.calls {
            match step {
                InspectEvent::Call(call) => {
                    let choice = call.output.list("choices", out).into_iter().next().unwrap_or_default();
                    let reply = choice.get("message").and_then(|message| self.message(message, out));
                    let mut reply = reply.unwrap_or_else(|| Message::new(Role::Assistant));
                    reply.ts = call.ts;
                    reply.set_usage(call.usage);
                    reply.set_finish_reason(choice.some_word("stop_reason").map(Into::into));
                    events.push(Event::Message(reply));
                }
                InspectEvent::Tool(tool) => {
                    let mut result = Message::new(Role::Tool);
                    result.tool_call_id = tool.some_word("id").map(Into::into);
                    result.name = tool.some_word("function").map(Into::into);
                    result.content = tool.get("result").map(|result| self.text(&result));
                    result.is_error = Some(tool.has("error"));
                    result.ts = tool.instant(["completed", "timestamp"], out);
                    events.push(Event::Message(result));
                }
                InspectEvent::Checkpoint(checkpoint) => events.push(Event::Checkpoint(*checkpoint)),
            }
        }
        events
    }

    fn message(&self, wire: Node<'_>, out: &mut Reading<'_>) -> Option<Message> {
        let wire = wire.into_object("message", out)?;
        let role = wire.role("role", openai::role, out)?;
        let mut message = Message::new(role);
        message.content = wire.get("content").map(|content| self.text(&content));
        message.set_reasoning(reasoning(&wire.within("content")));
        message.set_model(wire.some_word("model").map(Into::into));
        message.tool_calls = openai::calls_of(&wire, out);
        if role == Role::Tool {
            message.tool_call_id = wire.some_word("tool_call_id").map(Into::into);
            message.name = wire.some_word("function").map(Into::into);
            message.is_error = Some(wire.has("error"));
        }
        Some(message)
    }

    /// A content, looked up if it was moved to an attachment.
    fn text(&self, written: &Node<'_>) -> Text {
        let content = written.as_content();
        let attachment = self.attachment(&content.as_str());
        attachment.unwrap_or(content)
    }

    /// The attachment that a text stands for, if it does.
    fn attachment(&self, text: &str) -> Option<Text> {
        let hash = text.strip_prefix("attachment://").or_else(|| text.strip_prefix("tc://"))?;
        json::content(self.attachments.get(hash)?)
    }
}

/// The reasoning parts of a content.
fn reasoning(content: &Node<'_>) -> Option<Text> {
    let parts = content.elements()?;
    let thoughts: Vec<_> = parts.iter().filter_map(|part| part.some_string("reasoning")).collect();
    texts::lines(&thoughts)
}

/// The grade from the named scorer, or else the first one; and how the sample ended.
fn grade(sample: &Node<'_>, wanted: Option<&str>) -> Grade {
    let scores = sample.within("scores");
    let chosen = match wanted {
        Some(name) => scores.get(name),
        None => scores.each().next().map(|(_, score)| score),
    };
    let chosen = chosen.unwrap_or_else(|| sample.within("score"));
    let value = chosen.get("value");
    let (graded, score) = score_value(value.as_ref());
    let limit = sample.within("limit");
    let kind = limit.as_word().or_else(|| limit.some_word("type"));
    let end = match kind.as_deref() {
        Some("time" | "working") => EndCause::Timeout,
        Some("operator") => EndCause::Killed,
        Some(_) => EndCause::Cap,
        None if sample.has("error") => EndCause::Error,
        None if value.is_some() => EndCause::SelfFinish,
        None => EndCause::Unknown,
    };
    Grade { end, ..native_grade("scores", graded, score) }
}

/// A score's value: a letter, word, number or boolean.
fn score_value(value: Option<&Node<'_>>) -> (Option<bool>, Option<f64>) {
    let Some(value) = value else { return (None, None) };
    if let Some(flag) = json::flag(value) {
        return (Some(flag), None);
    }
    match value.as_string().as_deref() {
        Some("C") => (Some(true), Some(1.0)),
        Some("P") => (Some(false), Some(0.5)),
        Some("I" | "N") => (Some(false), Some(0.0)),
        word => match json::number(value) {
            Some(score) => (Some(score >= 1.0), Some(score)),
            None => (words::grade_word(word.unwrap_or_default()), None),
        },
    }
}
