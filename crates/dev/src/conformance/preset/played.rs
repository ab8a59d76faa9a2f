//! Plays a case, past the machine's own stops, and says what happened in the tables' terms.

use serde_json::{Map, Value};

use super::{PresetCase, PresetDriver};
use crate::framework::Recipe;
use crate::framework::machine::{MachineAction, MachineWatch};
use crate::transcript::{Event, Message, Moment, PointView, Run};

/// Fields of an answer, by name.
pub(super) type Fields = Map<String, Value>;

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
pub(super) fn play(driver: &PresetDriver, recipe: &Recipe, run: &Run, case: &PresetCase<'_>) -> Fields {
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
            actions.push(Value::Object(action(driver, &doing)));
        }
    }
    let mut ends = acts.iter().filter(|act| act.is_end());
    let end = if driver.ends_with_last_stop { ends.next_back() } else { ends.next() };
    let mut fields = Fields::new();
    fields.insert("actions".to_owned(), Value::Array(actions));
    fields.insert("halted_at".to_owned(), end.and_then(|act| act.decision.event).into());
    fields.insert("model_calls".to_owned(), replies.len().into());
    let played = Played { case, run, watch: &watch, acts: &acts, replies: &replies, results };
    (driver.report)(&played, &mut fields);
    fields
}

fn action(driver: &PresetDriver, doing: &Doing<'_>) -> Fields {
    let decision = &doing.act.decision;
    let kind = match decision.action.name() {
        "stop" => "halt",
        "fail" => "error",
        other => other,
    };
    let mut fields = Fields::new();
    fields.insert("at".to_owned(), decision.event.into());
    fields.insert("kind".to_owned(), kind.into());
    let texts = [
        ("code", decision.code.as_deref()),
        ("detail", decision.detail.as_deref()),
        ("tool_call_id", decision.call_id.as_deref()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            fields.insert(name.to_owned(), text.into());
        }
    }
    let before_request = matches!(decision.point.moment, Moment::BeforeRequest | Moment::EndOfRound);
    fields.insert("before_request".to_owned(), before_request.into());
    fields.insert("before_tools".to_owned(), (decision.point.moment == Moment::AfterResponse).into());
    (driver.action)(doing, &mut fields);
    fields
}
