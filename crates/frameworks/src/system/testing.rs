//! Small recordings for the systems' tests, with a one-line summary of what a system does on them.

use serde_json::{Map, Value};

use crate::decision::Decision;
use crate::framework::{ConfigText, Framework, Settings};
use crate::transcript::{Draft, Event, JudgeReply, Message, Metrics, Role, Run, ToolCall, Usage};

/// A recording under construction.
#[derive(Default)]
pub(super) struct TestRecording(Vec<Event>);

impl TestRecording {
    fn push(mut self, message: Message) -> Self {
        self.0.push(Event::Message(message));
        self
    }

    /// Adds a user message.
    pub(super) fn user(self, text: &str) -> Self {
        self.push(Message::saying(Role::User, text))
    }

    /// Adds a step of 10 tokens: a reply that calls one tool, and its result.
    pub(super) fn step(self, text: &str, result: &str) -> Self {
        let mut reply = Message::saying(Role::Assistant, text);
        reply.tool_calls.push(ToolCall::new(Some("c"), "run", "{}"));
        reply.set_usage(Some(Usage::new(8, 2)));
        self.push(reply).push(Message::saying(Role::Tool, result))
    }

    /// Adds a reply of 100 tokens that calls no tool.
    pub(super) fn reply(self, text: &str) -> Self {
        let mut reply = Message::saying(Role::Assistant, text);
        reply.set_usage(Some(Usage::new(80, 20)));
        self.push(reply)
    }

    /// Adds a task plan snapshot.
    pub(super) fn plan(mut self, plan: &Value) -> Self {
        let plan = serde_json::value::to_raw_value(plan).ok();
        self.0.push(Event::Metrics(Metrics { experiment: None, status: None, values: Vec::new(), plan }));
        self
    }

    /// Adds a metrics report.
    pub(super) fn metrics(mut self, experiment: &str, status: &str, name: &str, value: f64) -> Self {
        let values = vec![(name.into(), value)];
        let (experiment, status) = (Some(experiment.into()), Some(status.into()));
        self.0.push(Event::Metrics(Metrics { experiment, status, values, plan: None }));
        self
    }

    /// Adds a judge's reply.
    pub(super) fn judge(mut self, reply: &str) -> Self {
        self.0.push(Event::Judge(JudgeReply { reply: Some(reply.into()), error: None, usage: None }));
        self
    }

    fn run(self) -> Run {
        Run::new(Draft { events: self.0, ..Draft::default() })
    }
}

/// Settings with a profile and options, written as JSON.
pub(super) fn settings(profile: &str, set: &Value) -> Settings {
    let set: Map<String, Value> = set.as_object().cloned().unwrap_or_default();
    Settings { profile: Some(profile.to_owned()), set, ..Settings::named("test") }
}

/// Settings with a native configuration.
pub(super) fn configured(path: &str, text: &str) -> Settings {
    let config = Some(ConfigText { path: path.to_owned(), text: text.to_owned() });
    Settings { config, ..Settings::named("test") }
}

/// The system's decisions on the recording, up to the first that ends the run.
pub(super) fn decisions(system: &Framework, settings: &Settings, recording: TestRecording) -> String {
    let strategy = system.strategy(settings).unwrap();
    let run = recording.run();
    let mut watch = strategy.start(&run.header);
    let mut trail: Vec<Decision> = Vec::new();
    for view in run.views() {
        watch.at(&view, &mut trail);
        if trail.last().is_some_and(|last| last.action.ends_path()) {
            break;
        }
    }
    if trail.is_empty() {
        return "ran to the end".to_owned();
    }
    let show = |decision: &Decision| format!("{} {} at {}", decision.action, decision.rule, decision.point);
    trail.iter().map(show).collect::<Vec<_>>().join("; ")
}

/// The message of the error for rejected settings.
pub(super) fn refusal(system: &Framework, settings: &Settings) -> String {
    system.strategy(settings).err().unwrap().error.render(crate::diagnostic::Severity::Error)
}
