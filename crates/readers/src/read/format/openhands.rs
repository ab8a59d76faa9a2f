//! OpenHands in both generations: event streams of the SDK, and evaluation outputs with one run per line.

use std::collections::HashMap;

use super::{Format, RecordLayout, first_is, object_of, reason_if};
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::texts::agent_name;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens::{is_spent, recorded};
use crate::record::usage;
use crate::transcript::{
    Draft, EndCause, Event, Grade, Header, Lane, Message, Outcome, OutcomeSource, Role, Text, ToolCall, Usage, messages,
};
use crate::value::json;

/// OpenHands event streams and evaluation outputs.
pub(super) static FORMAT: Format = Format {
    id: "openhands",
    summary: "OpenHands events (SDK) and evaluation outputs (output.jsonl)",
    recognise,
    joins_lines: |_| true,
    layout,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_event = |value: &Sketch| {
        matches!(value.text_of("kind"), Some(kind) if kind.ends_with("Event")) && value.has(&["source"])
    };
    let is_output =
        |value: &Sketch| value.has(&["instance_id", "history"]) || value.has(&["instance_id", "test_result"]);
    let is_old_event =
        |value: &Sketch| value.has(&["id", "source", "message"]) && value.has_any(&["action", "observation"]);
    let values = || probe.values.iter().chain(probe.values.iter().flat_map(|value| value.elements().iter()));
    if values().any(is_event) {
        return Some("events of a `kind` of the OpenHands SDK".to_owned());
    }
    if values().any(is_output) {
        return Some("`instance_id` with its `history` or `test_result`".to_owned());
    }
    reason_if(values().any(is_old_event), "events with `source` and `action` or `observation`")
}

fn layout(probe: &Probe) -> RecordLayout {
    let is_output = |value: &Sketch| value.has(&["instance_id"]);
    match (probe.shape, probe.first()) {
        (Shape::Lines, Some(first)) if is_output(first) => RecordLayout::Lines,
        (Shape::Document, Some(first)) if first_is(first, is_output) => {
            RecordLayout::Elements { at: None, envelope: &[] }
        }
        _ => RecordLayout::Whole,
    }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut values = Node::values(record, out).peekable();
    let is_alone = values.len() == 1;
    match values.next_if(|only| is_alone && only.has("instance_id")) {
        Some(output) => push_output(&output, record, out),
        None => push_events(values, record, out),
    }
}

/// One run of an evaluation.
fn push_output(output: &Node<'_>, record: &Record<'_>, out: &mut Reading<'_>) {
    let instance = output.some_word("instance_id").unwrap_or_default();
    let metrics = output.within("metrics");
    let mut history = OpenHandsHistory::default();
    for counts in metrics.list("token_usages", out) {
        if let Some(id) = counts.some_word("response_id") {
            history.usages.insert(id, counts_of(&counts, out));
        }
    }
    for event in output.list("history", out) {
        // Old files have pairs of an action and its observation.
        match event.elements() {
            Some(pair) => pair.into_iter().for_each(|event| history.add(event, out)),
            None => history.add(event, out),
        }
    }
    let asked = messages(&history.events).any(|message| message.role == Role::User);
    if let Some(task) = output.content("instruction", out).filter(|_| !asked) {
        history.events.insert(0, Event::Message(Message::saying(Role::User, task)));
    }
    let test = output.within("test_result");
    let own = test.within("report").outcome("resolved", out);
    let own = own.or_else(|| test.within("result").outcome(["resolved", "success"], out)).map(|(graded, _)| graded);
    let graded = record.grades.grade(&instance).filter(|_| own.is_none());
    let source = match (own, graded) {
        (Some(_), _) => OutcomeSource::Native("test_result.report.resolved"),
        (None, Some(graded)) => OutcomeSource::Sidecar(graded.path.clone()),
        (None, None) => OutcomeSource::None,
    };
    let metadata = output.within("metadata");
    let cap = metadata.some_count("max_iterations");
    let end = match output.some_word("error") {
        Some(error) if !error.is_empty() => end_cause(&error),
        _ => history.end,
    };
    out.run(Draft {
        header: Header {
            run_id: format!("{}/{instance}", record.file.stem),
            task_id: Some(instance),
            suite: metadata.some_word("dataset"),
            model: metadata.within("llm_config").some_word("model"),
            agent: Some(agent_name("openhands", metadata.some_word("agent_class"))),
            meta: object_of([("max_iterations", cap)]),
            ..Header::default()
        },
        events: history.events,
        grade: Grade {
            outcome: Outcome::from_grade(own.or(graded.map(|graded| graded.resolved))),
            source,
            end,
            ..Grade::default()
        },
        warnings: Vec::new(),
    });
}

fn end_cause(error: &str) -> EndCause {
    let error = error.to_ascii_lowercase();
    match () {
        () if error.contains("maximum iteration") || error.contains("maximum budget") => EndCause::Cap,
        () if error.contains("timeout") || error.contains("timed out") => EndCause::Timeout,
        () => EndCause::Error,
    }
}

/// One stream of events, of either generation.
fn push_events<'a>(events: impl Iterator<Item = Node<'a>>, record: &Record<'a>, out: &mut Reading<'_>) {
    let mut history = OpenHandsHistory::default();
    for event in events {
        history.add(event, out);
    }
    out.run(Draft {
        header: Header { run_id: record.file.stem.clone(), agent: Some("openhands".to_owned()), ..Header::default() },
        events: history.events,
        grade: Grade { end: history.end, ..Grade::default() },
        warnings: Vec::new(),
    });
}

/// A conversation being built.
#[derive(Default)]
struct OpenHandsHistory {
    events: Vec<Event>,
    /// Index of the reply with each response id; parallel calls share one.
    replies: HashMap<String, usize>,
    /// Tokens of each response id, from the list recorded beside the history.
    usages: HashMap<String, Option<Usage>>,
    /// Running totals by usage id.
    totals: HashMap<String, Usage>,
    end: EndCause,
}

impl OpenHandsHistory {
    fn add(&mut self, event: Node<'_>, out: &mut Reading<'_>) {
        let Some(event) = event.into_object("event", out) else { return };
        match event.some_word("kind") {
            Some(kind) => self.add_new(&kind, &event, out),
            None => self.add_old(&event, out),
        }
    }

    /// An event of the SDK.
    fn add_new(&mut self, kind: &str, event: &Node<'_>, out: &mut Reading<'_>) {
        let source = event.some_word("source").unwrap_or_default();
        match kind {
            "SystemPromptEvent" => {
                self.say(Role::System, event.content("system_prompt", out), event, out);
            }
            "MessageEvent" => {
                let message = event.within("llm_message");
                let content = message.content("content", out);
                if source == "agent" {
                    let id = event.some_word(["llm_response_id", "id"]);
                    self.reply(id, event, out, |reply| reply.content = content.or(reply.content.take()));
                } else {
                    self.say(Role::User, content, event, out);
                }
            }
            "ActionEvent" => {
                let call = event.within("tool_call");
                let function = call.within("function");
                let arguments = call.get("arguments").or(function.get("arguments")).or(event.get("action"));
                let name = event.some_word("tool_name").or_else(|| call.some_word("name")).unwrap_or_default();
                let id = event.some_word("tool_call_id");
                let call = ToolCall::new(id.as_deref(), &name, usage::arguments(arguments.as_ref()));
                let thought = event.content("thought", out).filter(|text| !text.is_empty());
                let reasoning = event.content("reasoning_content", out);
                let response = event.some_word("llm_response_id");
                self.reply(response, event, out, |reply| {
                    reply.content = thought.or(reply.content.take());
                    reply.set_reasoning(reasoning.or(reply.reasoning().cloned()));
                    reply.tool_calls.push(call);
                });
                self.end = if name == "finish" { EndCause::SelfFinish } else { EndCause::Unknown };
            }
            "ObservationEvent" | "UserRejectObservation" => {
                let seen = event.within("observation");
                let content = seen.content(["content", "output"], out);
                let code = exit_code(&seen);
                let flag = seen.some_flag("is_error").filter(|flag| *flag || code.is_none());
                let mut failed = flag.or(code.map(|code| code != 0.0));
                if failed.is_none() && kind == "UserRejectObservation" {
                    failed = Some(true);
                }
                self.result(event, content, failed, out);
            }
            "AgentErrorEvent" => {
                let content = event.content("error", out);
                self.result(event, content, Some(true), out);
            }
            "ConversationStateUpdateEvent" => self.state(event, out),
            "PauseEvent" => {
                self.end = EndCause::Killed;
                self.events.push(Event::interruption());
            }
            "ConversationErrorEvent" => self.end = EndCause::Error,
            _ if kind.starts_with("Condensation") => self.events.extend(event.note("openhands.condensation")),
            other => out.unknown(other, event),
        }
    }

    /// Reads a change of the conversation's state: its status, or its cost so far.
    fn state(&mut self, event: &Node<'_>, out: &mut Reading<'_>) {
        match event.some_word("key").as_deref() {
            Some("execution_status") => {
                self.end = match event.some_word("value").as_deref() {
                    Some("finished") => EndCause::SelfFinish,
                    Some("error") => EndCause::Error,
                    Some("stuck" | "paused") => EndCause::Killed,
                    _ => self.end,
                };
            }
            Some("stats" | "full_state") => {
                let value = event.within("value");
                let stats = value.get("stats").filter(Node::is_object).unwrap_or(value);
                let uses = stats.within("usage_to_metrics");
                for (name, metrics) in uses.each() {
                    let counts = metrics.counts("accumulated_token_usage", out).unwrap_or_default();
                    if let Some(total) = counts_of(&counts, out) {
                        self.spent(name, total);
                    }
                }
            }
            _ => {}
        }
    }

    /// Reads a running total: of the agent itself, or of another use such as compaction. The increase belongs to the
    /// agent's last reply or, for other uses, to unrecorded calls.
    fn spent(&mut self, name: &str, total: Usage) {
        let before = self.totals.insert(name.to_owned(), total);
        if before == Some(total) {
            return;
        }
        let grown = usage::difference(total, before.unwrap_or_default());
        if !is_spent(&grown) {
            return;
        }
        let is_own = matches!(name, "default" | "agent");
        for event in self.events.iter_mut().rev() {
            let Event::Message(reply) = event else { continue };
            if reply.is_step() && is_own {
                reply.set_usage(Some(usage::sum(reply.usage().unwrap_or_default(), grown)));
                return;
            }
        }
        let mut unseen = Message::new(Role::Assistant);
        unseen.lane = Lane::Side(format!("unseen {name}").into());
        unseen.set_usage(Some(grown));
        self.events.push(Event::Message(unseen));
    }

    /// An event of the first generation.
    fn add_old(&mut self, event: &Node<'_>, out: &mut Reading<'_>) {
        let source = event.some_word("source").unwrap_or_default();
        let called = event.within("tool_call_metadata");
        if let Some(observation) = event.some_word("observation") {
            let content = event.content("content", out);
            let extras = event.within("extras");
            let code = exit_code(&extras);
            let failed = if observation == "error" { Some(true) } else { code.map(|code| code != 0.0) };
            match observation.as_str() {
                "agent_state_changed" | "null" | "recall" => {}
                "condense" => self.events.extend(event.note("openhands.condensation")),
                _ if source == "user" => {}
                // Arguments that the host refused. Nothing else is recorded of the call.
                "error" if source == "agent" && called.members().is_empty() && !event.has("cause") => {
                    let said = content.as_ref().map(|text| text.as_str().into_owned()).unwrap_or_default();
                    let arguments = serde_json::json!({ "refused": said }).to_string();
                    let id = format!("refused-{}", self.events.len());
                    let call = ToolCall::new(Some(&id), "refused", arguments);
                    self.reply(None, event, out, |reply| reply.tool_calls.push(call));
                    self.result(event, content, failed, out);
                    if let Some(Event::Message(result)) = self.events.last_mut() {
                        result.tool_call_id = Some(id.into());
                    }
                }
                _ => self.result(event, content, failed, out),
            }
            return;
        }
        let Some(action) = event.some_word("action") else {
            out.error_at(event.place(), "an event without `kind`, `action` or `observation`", "the event is left out");
            return;
        };
        let arguments = event.within("args");
        match (source.as_str(), action.as_str()) {
            ("user", "message") => {
                self.say(Role::User, arguments.content("content", out), event, out);
            }
            (_, "system") => self.say(Role::System, arguments.content("content", out), event, out),
            ("agent", _) => {
                let response = called.within("model_response");
                let id = response.some_word("id");
                let listed = id.as_ref().and_then(|id| self.usages.get(id)).copied().flatten();
                let usage = listed.or_else(|| response.usage("usage", out));
                let thought = arguments.content(["thought", "content"], out).filter(|text| !text.is_empty());
                let name = called.some_word("function_name").unwrap_or_else(|| action.clone());
                let call_id = called.some_word("tool_call_id");
                self.reply(id, event, out, |reply| {
                    reply.content = thought.or(reply.content.take());
                    reply.set_usage(usage.or(reply.usage()));
                    if action != "message" {
                        reply.tool_calls.push(ToolCall::new(call_id.as_deref(), &name, arguments_of(&arguments)));
                    }
                });
                self.end = if action == "finish" { EndCause::SelfFinish } else { EndCause::Unknown };
            }
            ("user" | "environment", _) => {}
            _ => out.unknown(&format!("source {source}"), event),
        }
    }

    /// Changes the reply with a response id, or creates one.
    fn reply(
        &mut self,
        id: Option<String>,
        event: &Node<'_>,
        out: &mut Reading<'_>,
        change: impl FnOnce(&mut Message),
    ) {
        let known = id.as_ref().and_then(|id| self.replies.get(id).copied());
        let at = known.unwrap_or_else(|| {
            self.events.push(Event::Message(Message::new(Role::Assistant)));
            self.events.len() - 1
        });
        if let Some(id) = id {
            self.replies.insert(id, at);
        }
        let ts = event.instant("timestamp", out);
        if let Some(Event::Message(reply)) = self.events.get_mut(at) {
            reply.ts = ts.or(reply.ts);
            change(reply);
        }
    }

    fn result(&mut self, event: &Node<'_>, content: Option<Text>, failed: Option<bool>, out: &mut Reading<'_>) {
        let called = event.within("tool_call_metadata");
        let mut result = Message::new(Role::Tool);
        result.tool_call_id =
            event.some_word("tool_call_id").or_else(|| called.some_word("tool_call_id")).map(Into::into);
        result.name = event.some_word("tool_name").or_else(|| called.some_word("function_name")).map(Into::into);
        result.content = content;
        result.is_error = failed;
        result.ts = event.instant("timestamp", out);
        self.events.push(Event::Message(result));
    }

    fn say(&mut self, role: Role, content: Option<Text>, event: &Node<'_>, out: &mut Reading<'_>) {
        let Some(content) = content else { return };
        let mut message = Message::saying(role, content);
        message.ts = event.instant("timestamp", out);
        self.events.push(Event::Message(message));
    }
}

/// The exit code of a command.
fn exit_code(seen: &Node<'_>) -> Option<f64> {
    let code = seen.get("exit_code").or_else(|| seen.at(&["metadata", "exit_code"]));
    json::number(&code?)
}

/// The arguments of a tool call, without the thought, which would make every call differ.
fn arguments_of(arguments: &Node<'_>) -> String {
    let members = arguments.members().iter().filter(|(name, _)| name != "thought");
    let members = members.map(|(name, value)| format!("{}:{value}", serde_json::Value::String(name.to_string())));
    format!("{{{}}}", members.collect::<Vec<String>>().join(","))
}

/// The token counts, as OpenAI counts them: cached tokens are part of the prompt.
fn counts_of(counts: &Node<'_>, out: &mut Reading<'_>) -> Option<Usage> {
    let usage = Usage {
        input: counts.tokens("prompt_tokens", out),
        cache_read: counts.tokens("cache_read_tokens", out),
        cache_write: counts.tokens("cache_write_tokens", out),
        output: counts.tokens("completion_tokens", out),
        reasoning: counts.tokens("reasoning_tokens", out),
    };
    recorded(usage)
}
