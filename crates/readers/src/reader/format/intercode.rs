//! InterCode: one object of runs, each parallel arrays of actions, observations and rewards (FORMATS 5).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Format, Layout, Raw};
use crate::reader::json;
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::transcript::{
    Checkpoint, Draft, EndCause, Event, Grade, Header, Message, Outcome, OutcomeSource, Role, Text, ToolCall,
};

/// InterCode turn histories.
pub(super) struct InterCode;

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    environment: Raw<'a>,
    #[serde(borrow)]
    dataset: Raw<'a>,
    #[serde(borrow)]
    task_id: Raw<'a>,
    #[serde(borrow)]
    query: Raw<'a>,
    #[serde(borrow)]
    turn_history: Raw<'a>,
    #[serde(borrow)]
    summary: Raw<'a>,
}

#[derive(Deserialize)]
struct Turns<'a> {
    #[serde(borrow)]
    actions: Raw<'a>,
    #[serde(borrow)]
    observations: Raw<'a>,
    #[serde(borrow)]
    rewards: Raw<'a>,
    #[serde(borrow)]
    valid_action: Raw<'a>,
    #[serde(borrow)]
    thoughts: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct Summary<'a> {
    #[serde(borrow)]
    max_reward: Raw<'a>,
    #[serde(borrow)]
    turns_max: Raw<'a>,
}

impl Format for InterCode {
    fn id(&self) -> &'static str {
        "intercode"
    }

    fn summary(&self) -> &'static str {
        "InterCode turn histories: an object of runs by index"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let document = probe.document()?;
        let is_run = |value: &Sketch| value.get("turn_history").is_some_and(Sketch::is_object);
        document.first().is_some_and(is_run).then(|| "its values have a `turn_history`".to_owned())
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Elements { at: None, envelope: &[] }
    }

    fn prompted_by(&self) -> crate::transcript::PromptedBy {
        crate::transcript::PromptedBy::Program
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let wire: Wire<'_> = match record.parse() {
            Ok(wire) => wire,
            Err(diagnostic) => return out.error(diagnostic),
        };
        let Some(turns) = out.part::<Turns<'_>>(wire.turn_history, "turn_history", "an object") else {
            if wire.turn_history.is_none() {
                out.error_at(record.text, "a run without `turn_history`", "only InterCode's own layout is read");
            }
            return;
        };
        let summary: Summary<'_> = out.part(wire.summary, "summary", "an object").unwrap_or_default();
        let environment = out.string(wire.environment, "environment").unwrap_or_default().into_owned();
        let tool = environment.strip_prefix("ic_").unwrap_or(&environment).to_owned();
        let mut events = Vec::new();
        if let Some(query) = out.content(wire.query, "query") {
            events.push(Event::Message(Message::saying(Role::User, query)));
        }
        let best = push_turns(&turns, &tool, out, &mut events);
        let score = out.number(summary.max_reward, "max_reward").or(best);
        let solved = score.map(|score| score >= 1.0);
        let n_turns = events.iter().filter(|event| event.message().is_some_and(Message::is_step)).count() as u64;
        let cap = out.count(summary.turns_max, "turns_max");
        let end = match (solved, cap) {
            (Some(true), _) => EndCause::SelfFinish,
            (_, Some(cap)) if n_turns >= cap => EndCause::Cap,
            _ => EndCause::Unknown,
        };
        let number = out.word(wire.task_id, "task_id").unwrap_or_else(|| record.key.to_owned());
        let dataset = out.string(wire.dataset, "dataset").map(|path| data_set(&path));
        out.run(Draft {
            header: Header {
                run_id: format!("{}/{}", record.file.stem, record.key),
                task_id: Some(dataset.map_or_else(|| number.clone(), |set| format!("{set}/{number}"))),
                suite: Some(if tool.is_empty() { "intercode".to_owned() } else { format!("intercode-{tool}") }),
                model: model(&record.file.stem),
                meta: cap.and_then(|cap| RawValue::from_string(format!("{{\"turns_max\":{cap}}}")).ok()),
                ..Header::default()
            },
            events,
            grade: Grade {
                outcome: Outcome::from_grade(solved),
                score,
                source: solved.map_or(OutcomeSource::None, |_| OutcomeSource::Native("summary.max_reward")),
                end,
                secured_step: None,
            },
            warnings: Vec::new(),
        });
    }
}

/// Appends every turn: the reply with its action, the observation, the grade. The best reward is returned.
fn push_turns(turns: &Turns<'_>, tool: &str, out: &mut Reading<'_>, events: &mut Vec<Event>) -> Option<f64> {
    let actions = out.list(turns.actions, "actions");
    let observations = out.list(turns.observations, "observations");
    let rewards = out.list(turns.rewards, "rewards");
    let valid = out.list(turns.valid_action, "valid_action");
    let thoughts = out.list(turns.thoughts, "thoughts");
    let mut best: Option<f64> = None;
    for (turn, action) in actions.iter().enumerate() {
        let id = format!("t{turn}");
        let mut reply = Message::new(Role::Assistant);
        reply.content = thoughts.get(turn).and_then(json::content);
        reply.tool_calls.push(ToolCall::new(Some(&id), tool, Text::plain(action.get())));
        events.push(Event::Message(reply));
        if let Some(observation) = observations.get(turn) {
            let mut result = Message::new(Role::Tool);
            result.content = json::content(observation).or_else(|| Some(Text::plain(observation.get())));
            result.tool_call_id = Some(id.into());
            result.name = Some(tool.into());
            result.is_error = valid.get(turn).and_then(json::flag).map(|valid| !valid);
            events.push(Event::Message(result));
        }
        if let Some(reward) = rewards.get(turn).and_then(json::number) {
            events.push(Event::Checkpoint(Checkpoint { success: reward >= 1.0, score: Some(reward) }));
            best = Some(best.map_or(reward, |best| best.max(reward)));
        }
    }
    best
}

/// A data set's file name without folder and ending.
fn data_set(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".json").unwrap_or(name).to_owned()
}

/// The model, which only the file's name tells.
fn model(stem: &str) -> Option<String> {
    const FAMILIES: &[&str] = &["gpt-", "chat-bison", "text-bison", "starchat", "vicuna", "claude", "llama", "mistral"];
    stem.split('_').find(|word| FAMILIES.iter().any(|family| word.starts_with(family))).map(str::to_owned)
}
