//! AutoGen: a condition is called by a team, or alone with scripted deltas.

use serde_json::{Value, json};

use super::{PresetCase, PresetDriver};
use crate::framework::machine::{ActionSink, Machine};
use crate::framework::{Recipe, Settings, SettingsError};
use crate::preset::autogen::condition::TerminationCondition;
use crate::preset::autogen::message::TeamMessage;
use crate::preset::autogen::{self, AutogenTeam, CONDITION, report, started_at};
use crate::transcript::{Event, Instant};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "autogen",
    read,
    build: Some(build),
    checks_after_end: |_| true,
    report: |played| Some(json!({ "messages": played.watch.machine::<AutogenTeam>()?.messages })),
    ..PresetDriver::PLAIN
};

fn read(case: &mut PresetCase<'_>) {
    let unknown = case.settings.get("condition").and_then(unknown_function);
    case.not_applicable = unknown.map(|function| format!("the driver's own function `{function}` is not in the case"));
}

/// A test function of the recorded test that the preset does not know by name.
fn unknown_function(condition: &Value) -> Option<String> {
    const KNOWN: [&str; 3] = ["delta_len_at_least_2", "last_is_stop_message", "returns_truthy_not_true"];
    let own = condition["func"].as_str().filter(|function| !KNOWN.contains(function));
    if let Some(own) = own {
        return Some(own.to_owned());
    }
    let mut parts = ["or", "and"].iter().filter_map(|key| condition[key].as_array()).flatten();
    parts.find_map(unknown_function)
}

fn build(case: &PresetCase<'_>, settings: &Settings) -> Result<Recipe, SettingsError> {
    let team = autogen::build(settings)?;
    match settings.get("condition") {
        Some(value) if !value.is_null() && case.drive() == Some("condition") => {
            let alone = Alone::new(TerminationCondition::read(value)?, started_at(settings)?, case);
            Ok(Recipe::new(alone, &[CONDITION]).keeps_own_state())
        }
        _ => Ok(team),
    }
}

/// The indices in a list.
fn indices(list: &Value) -> Vec<usize> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(index).collect()
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

/// A condition called outside a team, by default with each event as a separate delta.
#[derive(Clone, Debug)]
struct Alone {
    condition: TerminationCondition,
    started: bool,
    deltas: Option<Vec<Vec<usize>>>,
    next_delta: usize,
    pending: Vec<TeamMessage>,
    reset_before: Vec<usize>,
    external_before: Option<usize>,
    goes_on: bool,
    over: bool,
}

impl Alone {
    fn new(mut condition: TerminationCondition, started_at: Option<Instant>, case: &PresetCase<'_>) -> Self {
        let deltas = case.scripted("deltas").as_array();
        if let Some(at) = started_at {
            condition.start(Some(at));
        }
        Self {
            condition,
            started: started_at.is_some(),
            deltas: deltas.map(|deltas| deltas.iter().map(indices).collect()),
            next_delta: 0,
            pending: Vec::new(),
            reset_before: indices(case.scripted("reset_before")),
            external_before: index(case.scripted("external_set_before")),
            goes_on: case.has("continue_after_halt"),
            over: false,
        }
    }

    fn call(&mut self, at: Option<usize>, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        let delta = std::mem::take(&mut self.pending);
        if let Some(stopped) = self.condition.call(&delta) {
            report(stopped, None, at, acts);
            self.over = !self.goes_on;
        }
    }

    /// Deltas without events are also calls.
    fn call_empty_deltas(&mut self, at: Option<usize>, acts: &mut ActionSink<'_, '_>) {
        while matches!(self.deltas.iter().flatten().nth(self.next_delta), Some(delta) if delta.is_empty()) {
            self.next_delta += 1;
            self.call(at, acts);
        }
    }
}

impl Machine for Alone {
    fn event(&mut self, event: &Event, acts: &mut ActionSink<'_, '_>) {
        let (Some(message), Some(index)) = (event.message(), acts.event()) else { return };
        if !self.started {
            self.started = true;
            self.condition.start(message.ts);
        }
        if message.ts.is_some() {
            self.condition.tick(message.ts);
        }
        if self.reset_before.contains(&index) {
            self.condition.reset();
        }
        if self.external_before == Some(index) {
            self.condition.set_external();
        }
        self.call_empty_deltas(index.checked_sub(1), acts);
        let Some(deltas) = &self.deltas else {
            self.pending = vec![TeamMessage::from_message(message)];
            return self.call(Some(index), acts);
        };
        let Some(delta) = deltas.get(self.next_delta).filter(|delta| delta.contains(&index)) else { return };
        let is_last = delta.last() == Some(&index);
        self.pending.push(TeamMessage::from_message(message));
        if is_last {
            self.next_delta += 1;
            self.call(Some(index), acts);
            self.call_empty_deltas(Some(index), acts);
        }
    }
}
