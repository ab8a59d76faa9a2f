//! Inspect AI logs: one document of samples, or a zip with a sample a member (FORMATS 12).
//!
//! A sample's messages say what was spoken; its model events say what each call cost. Events of the
//! scorers are not the agent's. Where the two lists tell the same story they are read together; where
//! messages were taken back or shortened, the events alone are read.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::rows::Object;
use crate::reader::{json, labels, openai};
use crate::transcript::{
    Checkpoint, Draft, EndCause, Event, Grade, Header, Instant, Message, Outcome, OutcomeSource, Role, Text, Usage,
};

/// Inspect AI logs.
pub(super) struct Inspect;

/// True for a sample by itself, as an unpacked log has them.
fn is_sample(value: &Sketch) -> bool {
    value.has(&["id", "epoch", "target"]) && (value.get("messages").is_some() || value.get("events").is_some())
}

impl Format for Inspect {
    fn id(&self) -> &'static str {
        "inspect"
    }

    fn summary(&self) -> &'static str {
        "Inspect AI logs (.json, .eval)"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let document = probe.document()?;
        if is_sample(document) {
            return Some("a sample: `epoch` and `target` beside its messages".to_owned());
        }
        let is_log = document.has(&["eval", "status"]) && document.get("eval")?.has(&["task"]);
        is_log.then(|| "a document with `eval` and `status`".to_owned())
    }

    fn layout(&self, probe: &Probe) -> Layout {
        if probe.document().is_some_and(is_sample) {
            return Layout::Whole;
        }
        Layout::Elements { at: Some("samples"), envelope: &["eval", "status"] }
    }

    fn prompted_by(&self) -> crate::transcript::PromptedBy {
        crate::transcript::PromptedBy::Program
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let whole: &RawValue = match record.parse() {
            Ok(whole) => whole,
            Err(diagnostic) => return out.error(diagnostic),
        };
        let Some(sample) = Object::required(whole, "sample", out) else { return };
        let envelope: Option<&RawValue> = serde_json::from_str(record.envelope).ok();
        let eval = envelope.and_then(Object::of).unwrap_or_default().within(&["eval"]);
        let log = Log { attachments: attachments(&sample), calls: calls(&sample, out) };
        let events = log.events(&sample, out);
        let id = sample.word(&["id"]).unwrap_or_else(|| record.key.to_owned());
        let epoch = sample.word(&["epoch"]);
        let config = eval.within(&["config"]);
        let limits: Vec<String> = ["message_limit", "token_limit", "time_limit"]
            .into_iter()
            .filter_map(|name| Some(format!("\"{name}\":{}", json::number(config.get(&[name])?)?)))
            .collect();
        let trial = epoch.as_deref().map(|epoch| format!("_epoch_{epoch}")).unwrap_or_default();
        let started_at = out.instant(sample.get(&["started_at"]), "started_at");
        let ended_at = out.instant(sample.get(&["completed_at"]), "completed_at");
        out.run(Draft {
            header: Header {
                run_id: format!("{}/{id}{trial}", record.file.stem),
                task_id: Some(id),
                trial: epoch,
                suite: eval.word(&["task"]),
                model: eval.word(&["model"]),
                agent: Some("inspect".to_owned()),
                started_at,
                ended_at,
                meta: RawValue::from_string(format!("{{{}}}", limits.join(","))).ok().filter(|_| !limits.is_empty()),
                ..Header::default()
            },
            events,
            grade: grade(&sample, record.options.outcome_key.as_deref()),
            warnings: Vec::new(),
        });
    }
}

/// What the events say of one model call of the agent.
struct Call<'a> {
    output: Object<'a>,
    usage: Option<Usage>,
    ts: Option<Instant>,
}

/// What the events of the agent's part of a sample are.
enum Step<'a> {
    Call(Call<'a>),
    Tool(Object<'a>),
    Checkpoint(Checkpoint),
}

/// A sample's events and the texts that were moved out of it.
struct Log<'a> {
    attachments: BTreeMap<String, &'a RawValue>,
    calls: Vec<Step<'a>>,
}

/// Long texts stand once, under their hash.
fn attachments<'a>(sample: &Object<'a>) -> BTreeMap<String, &'a RawValue> {
    let nested = sample.within(&["transcript"]);
    [sample.within(&["attachments"]), nested.within(&["content"])]
        .iter()
        .flat_map(|texts| texts.fields().iter().map(|(hash, text)| (hash.clone(), *text)))
        .collect()
}

/// The agent's events, in order: without those inside the scorers' spans and of graders.
fn calls<'a>(sample: &Object<'a>, out: &mut Reading<'_>) -> Vec<Step<'a>> {
    let raws = sample.get(&["events"]).or_else(|| sample.within(&["transcript"]).get(&["events"]));
    let mut steps = Vec::new();
    let mut scoring = 0_usize;
    let mut spans: Vec<(String, bool)> = Vec::new();
    for raw in out.list(raws, "events") {
        let Some(event) = Object::required(raw, "event", out) else { continue };
        let kind = event.word(&["event"]).unwrap_or_default();
        let is_scorer = || event.word(&["type"]).is_some_and(|kind| kind == "scorer" || kind == "scorers");
        match kind.as_str() {
            "span_begin" => {
                let scorer = is_scorer();
                scoring += usize::from(scorer);
                spans.push((event.word(&["id"]).unwrap_or_default(), scorer));
            }
            "span_end" => {
                let id = event.word(&["id"]).unwrap_or_default();
                if let Some(at) = spans.iter().rposition(|(span, _)| *span == id) {
                    scoring -= usize::from(spans.remove(at).1);
                }
            }
            "step" if is_scorer() => match event.word(&["action"]).as_deref() {
                Some("begin") => scoring += 1,
                _ => scoring = scoring.saturating_sub(1),
            },
            "model" if scoring == 0 => steps.extend(model_call(&event, out).map(Step::Call)),
            "tool" if scoring == 0 => steps.push(Step::Tool(event)),
            "score" if event.get(&["intermediate"]).is_some_and(|raw| raw.get() == "true") => {
                let value = event.within(&["score"]).get(&["value"]);
                let (graded, score) = value.map_or((None, None), score_value);
                steps.extend(graded.map(|success| Step::Checkpoint(Checkpoint { success, score })));
            }
            _ => {}
        }
    }
    steps
}

/// A model event, unless it is a grader's, failed, or was answered from a cache.
fn model_call<'a>(event: &Object<'a>, out: &mut Reading<'_>) -> Option<Call<'a>> {
    if event.word(&["role"]).is_some_and(|role| role.contains("grader")) || event.get(&["error"]).is_some() {
        return None;
    }
    let output = event.within(&["output"]);
    let cached = event.word(&["cache"]).as_deref() == Some("read");
    let usage = usage(&output.within(&["usage"]), out).filter(|_| !cached);
    let ts = out.instant(event.get(&["completed", "timestamp"]), "timestamp");
    Some(Call { output, usage, ts })
}

/// Tokens of one call. Whether cached tokens are inside the input differs by provider; the total tells.
pub(super) fn usage(counts: &Object<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let input = out.count(counts.get(&["input_tokens"]), "input_tokens");
    let output = out.count(counts.get(&["output_tokens"]), "output_tokens");
    let cache_read = out.count(counts.get(&["input_tokens_cache_read"]), "input_tokens_cache_read");
    let cache_write = out.count(counts.get(&["input_tokens_cache_write"]), "input_tokens_cache_write");
    let total = out.count(counts.get(&["total_tokens"]), "total_tokens");
    let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    let plain = input.unwrap_or(0).saturating_add(output.unwrap_or(0));
    let beside = total.is_some_and(|total| total >= plain.saturating_add(cached)) || input < cache_read;
    let usage = Usage {
        input: input.map(|input| if beside { input.saturating_add(cached) } else { input }),
        cache_read,
        cache_write,
        output,
        reasoning: out.count(counts.get(&["reasoning_tokens"]), "reasoning_tokens"),
    };
    (!usage.is_empty()).then_some(usage)
}

impl<'a> Log<'a> {
    /// The sample's events in our terms.
    fn events(&self, sample: &Object<'a>, out: &mut Reading<'_>) -> Vec<Event> {
        let messages = out.list(sample.get(&["messages"]), "messages");
        let spoken: Vec<Message> = messages.iter().filter_map(|raw| self.message(raw, out)).collect();
        let n_replies = spoken.iter().filter(|message| message.role == Role::Assistant).count();
        let n_calls = self.calls.iter().filter(|step| matches!(step, Step::Call(_))).count();
        if n_calls == 0 || n_calls == n_replies {
            return self.told_together(spoken);
        }
        self.told_by_events(spoken, out)
    }

    /// The messages, with what the events say of each call.
    fn told_together(&self, spoken: Vec<Message>) -> Vec<Event> {
        let mut steps = self.calls.iter().filter(|step| !matches!(step, Step::Tool(_))).peekable();
        let mut events = Vec::new();
        for mut message in spoken {
            if message.role == Role::Assistant {
                while let Some(Step::Checkpoint(checkpoint)) = steps.peek() {
                    events.push(Event::Checkpoint(*checkpoint));
                    steps.next();
                }
                if let Some(Step::Call(call)) = steps.next() {
                    (message.usage, message.ts) = (call.usage, call.ts);
                }
            }
            events.push(Event::Message(message));
        }
        events.extend(steps.filter_map(|step| match step {
            Step::Checkpoint(checkpoint) => Some(Event::Checkpoint(*checkpoint)),
            _ => None,
        }));
        events
    }

    /// The prompts, and then what the events say: the messages were taken back or shortened.
    fn told_by_events(&self, spoken: Vec<Message>, out: &mut Reading<'_>) -> Vec<Event> {
        let prompts = spoken.into_iter().take_while(|message| matches!(message.role, Role::System | Role::User));
        let mut events: Vec<Event> = prompts.map(Event::Message).collect();
        for step in &self.calls {
            match step {
                Step::Call(call) => {
                    let choice = out.list(call.output.get(&["choices"]), "choices").first().copied();
                    let choice = choice.and_then(Object::of).unwrap_or_default();
                    let reply = choice.get(&["message"]).and_then(|raw| self.message(raw, out));
                    let mut reply = reply.unwrap_or_else(|| Message::new(Role::Assistant));
                    (reply.usage, reply.ts) = (call.usage, call.ts);
                    reply.finish_reason = choice.word(&["stop_reason"]).map(Into::into);
                    events.push(Event::Message(reply));
                }
                Step::Tool(tool) => {
                    let mut result = Message::new(Role::Tool);
                    result.tool_call_id = tool.word(&["id"]).map(Into::into);
                    result.name = tool.word(&["function"]).map(Into::into);
                    result.content = tool.get(&["result"]).map(|raw| self.text(raw));
                    result.is_error = Some(tool.get(&["error"]).is_some());
                    result.ts = out.instant(tool.get(&["completed", "timestamp"]), "timestamp");
                    events.push(Event::Message(result));
                }
                Step::Checkpoint(checkpoint) => events.push(Event::Checkpoint(*checkpoint)),
            }
        }
        events
    }

    fn message(&self, raw: &RawValue, out: &mut Reading<'_>) -> Option<Message> {
        let wire = Object::required(raw, "message", out)?;
        let Some(role) = wire.word(&["role"]).and_then(|role| openai::role(&role)) else {
            out.error_at(raw.get(), "a message without a known `role`", "the message is left out");
            return None;
        };
        let mut message = Message::new(role);
        message.content = wire.get(&["content"]).map(|raw| self.text(raw));
        message.reasoning = wire.get(&["content"]).and_then(reasoning);
        message.model = wire.word(&["model"]).map(Into::into);
        for call in out.list(wire.get(&["tool_calls"]), "tool_calls") {
            message.tool_calls.extend(openai::tool_call(call, out));
        }
        if role == Role::Tool {
            message.tool_call_id = wire.word(&["tool_call_id"]).map(Into::into);
            message.name = wire.word(&["function"]).map(Into::into);
            message.is_error = Some(wire.get(&["error"]).is_some());
        }
        Some(message)
    }

    /// A content, looked up when it was moved out.
    fn text(&self, raw: &RawValue) -> Text {
        let content = json::content(raw).unwrap_or_else(|| Text::plain(raw.get()));
        let moved = {
            let text = content.as_str();
            let hash = text.strip_prefix("attachment://").or_else(|| text.strip_prefix("tc://"));
            hash.and_then(|hash| self.attachments.get(hash)).and_then(json::content)
        };
        moved.unwrap_or(content)
    }
}

/// The reasoning parts of a content.
fn reasoning(raw: &RawValue) -> Option<Text> {
    if !raw.get().starts_with('[') {
        return None;
    }
    let parts: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
    let thoughts = parts
        .into_iter()
        .filter_map(Object::of)
        .filter_map(|part| part.get(&["reasoning"]).and_then(json::string).map(std::borrow::Cow::into_owned));
    let thoughts: Vec<String> = thoughts.collect();
    (!thoughts.is_empty()).then(|| Text::plain(thoughts.join("\n")))
}

/// The grade by the named scorer, or by the first; and why the sample ends.
fn grade(sample: &Object<'_>, wanted: Option<&str>) -> Grade {
    let scores = sample.within(&["scores"]);
    let chosen = match wanted {
        Some(name) => scores.get(&[name]),
        None => scores.fields().first().map(|(_, raw)| *raw),
    };
    let value = chosen.or(sample.get(&["score"])).and_then(Object::of).and_then(|score| score.get(&["value"]));
    let (graded, score) = value.map_or((None, None), score_value);
    let limit = sample.get(&["limit"]);
    let kind = limit.and_then(|raw| json::word(raw).or_else(|| Object::of(raw)?.word(&["type"])));
    let end = match kind.as_deref() {
        Some("time" | "working") => EndCause::Timeout,
        Some("operator") => EndCause::Killed,
        Some(_) => EndCause::Cap,
        None if sample.get(&["error"]).is_some() => EndCause::Error,
        None if value.is_some() => EndCause::SelfFinish,
        None => EndCause::Unknown,
    };
    Grade {
        outcome: Outcome::from_grade(graded),
        score,
        source: graded.map_or(OutcomeSource::None, |_| OutcomeSource::Native("scores")),
        end,
        secured_step: None,
    }
}

/// A score's value: a letter, a word, a number, or a truth.
fn score_value(raw: &RawValue) -> (Option<bool>, Option<f64>) {
    if let Some(flag) = json::flag(raw) {
        return (Some(flag), None);
    }
    match json::string(raw).as_deref() {
        Some("C") => (Some(true), Some(1.0)),
        Some("P") => (Some(false), Some(0.5)),
        Some("I" | "N") => (Some(false), Some(0.0)),
        word => {
            let score = json::number(raw);
            (score.map(|score| score >= 1.0).or_else(|| labels::grade_word(word?)), score)
        }
    }
}
