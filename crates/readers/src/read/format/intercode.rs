//! InterCode: one object of runs, each with parallel arrays of actions, observations and rewards.

use super::{Format, RecordLayout, object_of, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::requests::is_step;
use crate::record::node::Node;
use crate::record::outcomes::native_grade;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Checkpoint, Draft, EndCause, Event, Grade, Header, Message, PromptedBy, Role, Text, ToolCall};
use crate::value::json;

/// InterCode turn histories.
pub(super) static FORMAT: Format = Format {
    id: "intercode",
    summary: "InterCode turn histories: an object of runs by index",
    recognise,
    layout: |_| RecordLayout::Elements { at: None, envelope: &[] },
    prompted_by: PromptedBy::Program,
    later_prompts: Some(&[]),
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let is_run = |value: &Sketch| value.has_object("turn_history");
    reason_if(is_run(document.first()?), "its values have a `turn_history`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(run) = Node::line(record.text, out) else { return };
    let Some(history) = run.object("turn_history", out) else {
        if !run.has("turn_history") {
            out.error_at(record.text, "a run without `turn_history`", "only InterCode's own layout is read");
        }
        return;
    };
    let summary = run.under("summary", out);
    let environment = run.string("environment", out).unwrap_or_default().into_owned();
    let tool = environment.strip_prefix("ic_").unwrap_or(&environment).to_owned();
    let mut events = Vec::new();
    if let Some(query) = run.content("query", out) {
        events.push(Event::Message(Message::saying(Role::User, query)));
    }
    let best = push_turns(&history, &tool, out, &mut events);
    let score = summary.number("max_reward", out).or(best);
    let solved = score.map(|score| score >= 1.0);
    let n_turns = events.iter().filter(|event| is_step(event)).count() as u64;
    let cap = summary.count("turns_max", out);
    let end = match (solved, cap) {
        (Some(true), _) => EndCause::SelfFinish,
        (_, Some(cap)) if n_turns >= cap => EndCause::Cap,
        _ => EndCause::Unknown,
    };
    let number = run.word("task_id", out).unwrap_or_else(|| record.key.to_owned());
    let dataset = run.string("dataset", out).map(|path| data_set(&path));
    let task_id = match dataset {
        Some(set) => format!("{set}/{number}"),
        None => number,
    };
    out.run(Draft {
        header: Header {
            run_id: format!("{}/{}", record.file.stem, record.key),
            task_id: Some(task_id),
            suite: Some(if tool.is_empty() { "intercode".to_owned() } else { format!("intercode-{tool}") }),
            model: model(&record.file.stem),
            meta: object_of([("turns_max", cap)]),
            ..Header::default()
        },
        events,
        grade: Grade { end, ..native_grade("summary.max_reward", solved, score) },
        warnings: Vec::new(),
    });
}

/// Adds every turn: the reply with its action, the observation, the grade. Returns the best reward.
fn push_turns(history: &Node<'_>, tool: &str, out: &mut Reading<'_>, events: &mut Vec<Event>) -> Option<f64> {
    let actions = history.list("actions", out);
    let observations = history.list("observations", out);
    let rewards = history.list("rewards", out);
    let valid = history.list("valid_action", out);
    let thoughts = history.list("thoughts", out);
    let mut best: Option<f64> = None;
    for (turn, action) in actions.iter().enumerate() {
        let id = format!("t{turn}");
        let mut reply = Message::new(Role::Assistant);
        reply.content = thoughts.get(turn).and_then(json::content);
        reply.tool_calls.push(ToolCall::new(Some(&id), tool, Text::plain(action.written())));
        events.push(Event::Message(reply));
        if let Some(observation) = observations.get(turn) {
            let mut result = Message::new(Role::Tool);
            result.content = Some(json::content(observation).unwrap_or_else(|| Text::plain(observation.written())));
            result.tool_call_id = Some(id.into());
            result.name = Some(tool.into());
            result.is_error = valid.get(turn).and_then(json::flag).map(|valid| !valid);
            events.push(Event::Message(result));
        }
        if let Some(reward) = rewards.get(turn).and_then(json::number) {
            events.push(Event::Checkpoint(Checkpoint { success: reward >= 1.0, score: Some(reward) }));
            best = Some(best.unwrap_or(reward).max(reward));
        }
    }
    best
}

/// A data set's file name without folder and extension.
fn data_set(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".json").unwrap_or(name).to_owned()
}

/// The model, which only the file name gives.
fn model(stem: &str) -> Option<String> {
    const FAMILIES: &[&str] = &["gpt-", "chat-bison", "text-bison", "starchat", "vicuna", "claude", "llama", "mistral"];
    stem.split('_').find(|word| FAMILIES.iter().any(|family| word.starts_with(family))).map(str::to_owned)
}
