//! A recorded session as the events that its host would have sent, and the transcript as it stood at each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use whenstop::transcript::{Event, Instant, Lane, Message, RoundEnd, Run, ToolCall};

/// When the transcript has the tokens of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// When its batch is announced.
    InTime,
    /// At the event after that.
    OneEventLate,
}

/// An event to send.
pub(super) struct Sent {
    pub(super) payload: Value,
    /// How many bytes of the transcript are written when it is sent; as before if `None`.
    pub(super) transcript: Option<usize>,
}

/// A step of a round.
struct Step {
    calls: Vec<Value>,
    failed: Vec<String>,
    time: Option<Instant>,
    /// Where the transcript's lines about it end.
    written: Option<usize>,
    is_last: bool,
    ids: Vec<String>,
}

struct Prompt {
    text: String,
    time: Option<Instant>,
}

struct Round {
    prompt: Option<Prompt>,
    steps: Vec<Step>,
    /// Why the host's events do not tell what the recording tells.
    causes: BTreeSet<&'static str>,
}

/// A recorded session.
pub(super) struct Session {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) begins_with_prompt: bool,
    pub(super) n_rounds: usize,
    rounds: Vec<Round>,
}

impl Session {
    /// `None` for a file that is no session of Claude Code's, or a sub-agent's.
    pub(super) fn from_path(path: &Path, run: &Run) -> Option<Self> {
        if !run.header.agent.as_deref().is_some_and(|agent| agent.starts_with("claude-code"))
            || run.header.parent.is_some()
        {
            return None;
        }
        // A host ends every line, and some of the files were cut.
        let text = format!("{}\n", std::fs::read_to_string(path).ok()?.trim_end_matches('\n'));
        let ends = Ends::from_text(&text);
        let rounds: Vec<Round> = run
            .rounds()
            .iter()
            .map(|round| {
                let events = &run.events()[round.begins..round.ends];
                of_round(events, round.has_prompt, round.end, &ends)
            })
            .collect();
        Some(Self {
            name: run.header.run_id.clone(),
            text,
            begins_with_prompt: rounds.first()?.prompt.is_some(),
            n_rounds: rounds.len(),
            rounds,
        })
    }

    pub(super) fn n_events(&self) -> usize {
        self.events(Path::new("t"), Usage::InTime).len()
    }

    pub(super) fn events(&self, transcript: &Path, usage: Usage) -> Vec<Sent> {
        let mut sent = Vec::new();
        let mut written = None;
        for (nth, round) in self.rounds.iter().enumerate() {
            let base = |event: &str, time: Option<Instant>| {
                let mut base = json!({
                    "session_id": self.name,
                    "transcript_path": transcript,
                    "cwd": "/",
                    "permission_mode": "default",
                    "prompt_id": format!("prompt-{nth}"),
                    "hook_event_name": event,
                });
                // Claude Code states no time; here the recording's stands for the clock's.
                if let Some(time) = time {
                    base["timestamp"] = json!(time.to_rfc3339());
                }
                base
            };
            if let Some(prompt) = &round.prompt {
                let mut payload = base("UserPromptSubmit", prompt.time);
                payload["prompt"] = json!(prompt.text);
                sent.push(Sent { payload, transcript: written });
            }
            for step in &round.steps {
                let before = written;
                written = step.written.max(written);
                let at = if usage == Usage::InTime { written } else { before };
                for id in &step.failed {
                    let mut payload = base("PostToolUseFailure", step.time);
                    payload["tool_use_id"] = json!(id);
                    payload["error"] = json!("failed");
                    sent.push(Sent { payload, transcript: before });
                }
                if !step.calls.is_empty() {
                    let mut payload = base("PostToolBatch", step.time);
                    payload["tool_calls"] = json!(step.calls);
                    sent.push(Sent { payload, transcript: at });
                } else if step.ids.is_empty() && step.is_last {
                    sent.push(Sent { payload: base("Stop", step.time), transcript: at });
                }
            }
        }
        sent
    }

    /// Why the hook may differ from the replay in a round, if the host's events do not tell all.
    /// `step` is the one that the replay stops at, if it stops.
    pub(super) fn cause(&self, round: usize, stack: &str, usage: Usage, step: Option<u32>) -> Option<&'static str> {
        let round = self.rounds.get(round)?;
        let relevant = |cause: &&&'static str| match **cause {
            LATE_ERROR => stack.starts_with("errors") && usage == Usage::OneEventLate,
            REPLY_TIME => stack.starts_with("active"),
            OTHER_REQUESTS => stack.starts_with("tokens") && usage == Usage::OneEventLate,
            _ => true,
        };
        let is_last = step.is_some_and(|step| step as usize + 1 == round.steps.len());
        let last_reply = usage == Usage::OneEventLate && stack.starts_with("tokens") && is_last;
        round
            .causes
            .iter()
            .find(relevant)
            .copied()
            .or_else(|| last_reply.then_some("the round ends before the tokens of its last reply come"))
    }
}

const INTERRUPTED: &str = "calls that were interrupted: no batch is announced";
const NO_EVENT: &str = "a reply without calls that ends nothing: no event";
const LATE_ERROR: &str = "an error known only from the transcript, which is late";
const OTHER_REQUESTS: &str =
    "requests behind a reply besides the model's own, known only from the transcript, which is late";
const REPLY_TIME: &str = "the time of a reply whose calls have results of an earlier time";

fn of_round(events: &[Event], has_prompt: bool, end: RoundEnd, ends: &Ends) -> Round {
    let mut round = Round { prompt: None, steps: Vec::new(), causes: BTreeSet::new() };
    let messages: Vec<&Message> = events.iter().filter_map(Event::message).collect();
    if has_prompt && let Some(prompt) = messages.first() {
        round.prompt = Some(Prompt { text: prompt.text().into_owned(), time: prompt.ts });
    }
    let replies: Vec<usize> =
        messages.iter().enumerate().filter(|(_, message)| message.is_step()).map(|(at, _)| at).collect();
    for (nth, &at) in replies.iter().enumerate() {
        let until = replies.get(nth + 1).copied().unwrap_or(messages.len());
        let step = of_step(messages[at], &messages[at + 1..until], nth + 1 == replies.len(), ends, &mut round.causes);
        round.steps.push(step);
    }
    if end == RoundEnd::Interrupted {
        round.causes.insert(INTERRUPTED);
    }
    if messages.iter().any(|message| matches!(&message.lane, Lane::Side(id) if id.starts_with("unseen "))) {
        round.causes.insert(OTHER_REQUESTS);
    }
    round
}

fn of_step(
    reply: &Message,
    after: &[&Message],
    is_last: bool,
    ends: &Ends,
    causes: &mut BTreeSet<&'static str>,
) -> Step {
    let results: Vec<&&Message> = after.iter().filter(|message| message.is_result()).collect();
    let result_of =
        |call: &ToolCall| results.iter().find(|result| result.tool_call_id.as_deref() == call.id.as_deref()).copied();
    let ids: Vec<String> = reply.tool_calls.iter().filter_map(|call| call.id.as_deref().map(str::to_owned)).collect();
    let mut calls = Vec::new();
    let mut failed = Vec::new();
    for call in &reply.tool_calls {
        let Some(result) = result_of(call) else { continue };
        let id = call.id.as_deref().unwrap_or_default();
        let arguments: Value = serde_json::from_str(&call.arguments.as_str()).unwrap_or(Value::Null);
        let text = result.text();
        calls.push(json!({
            "tool_name": call.name.as_str(), "tool_input": arguments, "tool_use_id": id, "tool_response": text,
        }));
        let is_refused = text.trim_start().starts_with("<tool_use_error>");
        let is_denied = text.starts_with("The user doesn't want to") || text.contains("[Request interrupted");
        if result.is_error == Some(true) && is_denied {
            causes.insert(LATE_ERROR);
        } else if result.is_error == Some(true) && !is_refused {
            failed.push(id.to_owned());
        }
    }
    if calls.len() < reply.tool_calls.len() {
        causes.insert(INTERRUPTED);
        calls.clear();
    }
    if reply.tool_calls.is_empty() && !is_last {
        causes.insert(NO_EVENT);
    }
    let last = results.iter().filter_map(|result| result.ts).max();
    if last < reply.ts && last.is_some() {
        causes.insert(REPLY_TIME);
    }
    let written = ids.iter().filter_map(|id| ends.of_call.get(id).copied()).max().or_else(|| ends.of_reply(reply));
    Step { calls, failed, time: last.max(reply.ts), written, is_last, ids }
}

/// Where the lines about each reply and result end in the transcript.
struct Ends {
    of_call: BTreeMap<String, usize>,
    /// Ends of replies without calls, by their time.
    of_time: BTreeMap<i64, usize>,
}

impl Ends {
    fn from_text(text: &str) -> Self {
        let (mut of_message, mut calls) = (BTreeMap::new(), Vec::new());
        let (mut of_call, mut of_time) = (BTreeMap::new(), BTreeMap::new());
        let mut end = 0;
        for line in text.split_inclusive('\n') {
            end += line.len();
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            let message = &line["message"];
            let id = message["id"].as_str().unwrap_or_default().to_owned();
            let time = line["timestamp"].as_str().and_then(Instant::from_iso);
            if line["type"] == "assistant" {
                of_message.insert(id.clone(), end);
                of_time.extend(time.map(|time| (time.0, end)));
            }
            for block in message["content"].as_array().into_iter().flatten() {
                if let Some(call) = block["tool_use_id"].as_str() {
                    of_call.insert(call.to_owned(), end);
                } else if let (Some("tool_use"), Some(call)) = (block["type"].as_str(), block["id"].as_str()) {
                    calls.push((call.to_owned(), id.clone()));
                }
            }
        }
        for (call, message) in calls {
            let of_message = of_message.get(&message).copied().unwrap_or(0);
            let end = of_call.entry(call).or_insert(0);
            *end = (*end).max(of_message);
        }
        Self { of_call, of_time }
    }

    fn of_reply(&self, reply: &Message) -> Option<usize> {
        self.of_time.get(&reply.ts?.0).copied()
    }
}
