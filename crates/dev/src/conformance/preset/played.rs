//! Plays a case, past the machine's own stops, and says what happened in the tables' terms.

use serde_json::{Value, json};

use super::{PresetCase, PresetDriver};
use crate::framework::Recipe;
use crate::framework::machine::{MachineAction, MachineWatch};
use crate::transcript::{Event, Message, Moment, PointView, Run};

/// A case that was played to its end.
pub(super) struct Played<'p> {
    pub(super) case: &'p PresetCase<'p>,
    pub(super) run: &'p Run,
    pub(super) watch: &'p MachineWatch,
    pub(super) acts: &'p [MachineAction],
    /// The events with the replies that were asked for.
    pub(super) replies: &'p [usize],
    /// The number of results while a run was in progress.
    pub(super) results: usize,
}

/// An action at the point where it is taken.
pub(super) struct Doing<'p> {
    pub(super) case: &'p PresetCase<'p>,
    pub(super) view: &'p PointView<'p>,
    pub(super) watch: &'p MachineWatch,
    pub(super) act: &'p MachineAction,
    /// All actions so far; this one is among them.
    pub(super) acts: &'p [MachineAction],
}

impl Played<'_> {
    /// The message at an event.
    pub(super) fn message(&self, event: usize) -> Option<&Message> {
        self.run.events().get(event)?.message()
    }

    /// The events with the replies that called no tool.
    pub(super) fn answers(&self) -> impl Iterator<Item = usize> {
        self.replies.iter().copied().filter(|reply| match self.message(*reply) {
            Some(message) => message.tool_calls.is_empty(),
            None => false,
        })
    }
}

impl Doing<'_> {
    /// The observed value that the action compared with its limit.
    pub(super) fn observed(&self) -> Value {
        self.act.decision.evidence.observed.into()
    }

    /// The result of the call it is about, among those known now.
    pub(super) fn result(&self) -> Option<&Message> {
        let id = self.act.decision.call_id.as_deref()?;
        self.view.results().find(|result| result.tool_call_id.as_deref() == Some(id))
    }
}

/// Plays a case.
pub(super) fn play(driver: &PresetDriver, recipe: &Recipe, run: &Run, case: &PresetCase<'_>) -> Value {
    let mut watch = recipe.start(&run.header);
    let mut acts = Vec::new();
    let mut actions = Vec::new();
    let mut replies = Vec::new();
    let mut results = 0;
    let recorded_only = (driver.recorded_requests_only)(case);
    let one_more = if (driver.checks_after_end)(case) { run.one_more_request() } else { None };
    for view in run.views().chain(one_more) {
        let is_recorded = (view.point().step as usize) < run.steps().len();
        if recorded_only && !is_recorded {
            break;
        }
        if (driver.is_running)(&watch) {
            results += view.news().iter().filter_map(Event::message).filter(|message| message.is_result()).count();
            if view.moment() == Moment::AfterResponse {
                replies.extend(view.reply_index());
            }
        }
        let before = acts.len();
        watch.advance(&view, &mut acts);
        for act in &acts[before..] {
            let doing = Doing { case, view: &view, watch: &watch, act, acts: &acts };
            actions.push(action(driver, &doing));
        }
    }
    let mut ends = acts.iter().filter(|act| act.is_end());
    let end = if driver.ends_with_last_stop { ends.next_back() } else { ends.next() };
    let mut answer = json!({
        "actions": actions,
        "halted_at": end.and_then(|act| act.decision.event),
        "model_calls": replies.len(),
    });
    let played = Played { case, run, watch: &watch, acts: &acts, replies: &replies, results };
    add(&mut answer, (driver.report)(&played));
    answer
}

/// Adds what the framework reports to what every framework does.
fn add(answer: &mut Value, reported: Option<Value>) {
    if let (Value::Object(fields), Some(Value::Object(reported))) = (answer, reported) {
        fields.extend(reported);
    }
}

fn action(driver: &PresetDriver, doing: &Doing<'_>) -> Value {
    let decision = &doing.act.decision;
    let kind = match decision.action.name() {
        "stop" => "halt",
        "fail" => "error",
        other => other,
    };
    let mut answer = json!({
        "at": decision.event,
        "kind": kind,
        "code": decision.code.as_deref(),
        "detail": decision.detail.as_deref(),
        "tool_call_id": decision.call_id.as_deref(),
        "before_request": matches!(decision.point.moment, Moment::BeforeRequest | Moment::EndOfRound),
        "before_tools": decision.point.moment == Moment::AfterResponse,
    });
    add(&mut answer, (driver.action)(doing));
    answer
}
