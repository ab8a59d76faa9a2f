//! Golden tables of the frameworks' own decisions, replayed through the presets.
//!
//! A case is a line: settings, events, and what the framework's own code did. The same machine that
//! replays recordings replays the case; each key the case expects is held against what it did.

use serde_json::{Map, Value};

use super::{Nested, Oracle};
use crate::preset::frame::{Act, Facts};
use crate::preset::{self, Preset, SettingsError};
use crate::reader::trace::{self, TraceText};
use crate::system::CaseError;
use crate::transcript::{Moment, Run};

/// The oracle of the preset named like the folder.
pub(super) fn oracle(folder: &str) -> Option<Box<dyn Oracle>> {
    preset::find(folder).map(|preset| Box::new(PresetOracle(preset)) as Box<dyn Oracle>)
}

struct PresetOracle(&'static Preset);

impl Oracle for PresetOracle {
    fn answer(&self, table: &str, row: &Value) -> Result<Value, CaseError> {
        let rule = row.get("rule").and_then(Value::as_str).unwrap_or(table);
        if !self.0.tables.contains(&rule) {
            return Err(CaseError::UnknownTable);
        }
        let input = row.get("input").and_then(Value::as_object);
        let input = input.ok_or_else(|| CaseError::BadCase("the line has no `input`".to_owned()))?;
        replay(self.0, rule, input)
    }

    fn nested(&self) -> Nested {
        Nested::Subset
    }
}

/// What a preset did in a case, in the words of the tables.
fn replay(preset: &Preset, rule: &str, input: &Map<String, Value>) -> Result<Value, CaseError> {
    let settings = (preset.case)(rule, input).map_err(CaseError::NotApplicable)?;
    let mut got = Map::new();
    match preset.strategy(preset.id, &settings) {
        Ok(strategy) => {
            let (acts, facts) = strategy.recipe().replay(&recording(input)?);
            report(&acts, strategy.recipe().halted_at(&acts), facts, &mut got);
        }
        Err(SettingsError::Refused { code, detail }) => {
            let refusal = serde_json::json!({ "at": null, "kind": "error", "code": code, "detail": detail });
            got.insert("actions".to_owned(), Value::Array(vec![refusal]));
            got.insert("halted_at".to_owned(), Value::Null);
            for nothing_runs in ["model_calls", "tools_executed", "nodes_run"] {
                got.insert(nothing_runs.to_owned(), Value::from(0));
            }
        }
        Err(error) => return Err(CaseError::BadCase(error.to_string())),
    }
    Ok(Value::Object(got))
}

fn report(acts: &[Act], halted_at: Option<usize>, facts: Facts, got: &mut Map<String, Value>) {
    got.insert("actions".to_owned(), Value::Array(acts.iter().map(action).collect()));
    got.insert("halted_at".to_owned(), halted_at.map_or(Value::Null, Value::from));
    for (name, value) in facts {
        got.insert(name.to_owned(), value);
    }
}

fn action(act: &Act) -> Value {
    let decision = &act.decision;
    let kind = match decision.action.name() {
        "stop" => "halt",
        "fail" => "error",
        other => other,
    };
    let mut map = Map::new();
    map.insert("at".to_owned(), decision.event.map_or(Value::Null, Value::from));
    map.insert("kind".to_owned(), Value::from(kind));
    let texts = [
        ("code", decision.code.as_deref()),
        ("detail", decision.detail.as_deref()),
        ("tool_call_id", decision.call_id.as_deref()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            map.insert(name.to_owned(), Value::from(text));
        }
    }
    let before_request = matches!(decision.point.moment, Moment::BeforeRequest | Moment::EndOfRound);
    map.insert("before_request".to_owned(), Value::from(before_request));
    map.insert("before_tools".to_owned(), Value::from(decision.point.moment == Moment::AfterResponse));
    for (name, value) in &act.fields {
        map.insert((*name).to_owned(), value.clone());
    }
    Value::Object(map)
}

/// The case's events, read as the trace they are.
fn recording(input: &Map<String, Value>) -> Result<Run, CaseError> {
    let events = input.get("events").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let header = serde_json::json!({ "type": "run", "run_id": "case" });
    let lines: Vec<String> = [&header].into_iter().chain(events).map(Value::to_string).collect();
    let TraceText { mut runs, findings } = trace::read_text(&lines.join("\n"));
    match (runs.pop(), findings.first()) {
        (Some(run), None) => Ok(run),
        (_, finding) => {
            let why = finding.map_or_else(|| "no run".to_owned(), |finding| finding.diagnostic.what.clone());
            Err(CaseError::BadCase(why))
        }
    }
}
