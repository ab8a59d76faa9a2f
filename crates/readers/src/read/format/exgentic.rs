//! Exgentic's recordings: actions and observations, one a line, in a folder with `session.json` and `results.json`.

use serde_json::Value;

use super::{Format, beside, elements_under, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{
    EndCause, Grade, Header, Message, Outcome, OutcomeSource, PromptedBy, Role, ToolCall, Totals, Usage, Usd,
};
use crate::value::json::plausible;

/// Exgentic's recordings.
pub(super) static FORMAT: Format = Format {
    id: "exgentic",
    summary: "Exgentic's trajectory.jsonl: actions and observations",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is = |value: &Sketch, kind: &str| value.is("event", kind) && value.has(&[kind]);
    let is_event = |value: &Sketch| is(value, "action") || is(value, "observation");
    reason_if(probe.any(is_event), "lines with an `event` that is an action or an observation")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let object = |name: &str| -> Value {
        let Some(text) = beside(record, name) else { return Value::Null };
        serde_json::from_str(&text).unwrap_or_default()
    };
    let (session, results) = (object("session.json"), object("results.json"));
    let word = |value: &Value, name: &str| match value.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let mut turns = Turns::default();
    if let Some(task) = word(&session, "task") {
        turns.say(Role::User, task, None);
    }
    for line in Node::values(record, out) {
        let Some(line) = line.into_object("event", out) else { continue };
        push_event(&line, &mut turns, out);
    }
    // The file has the same name in every session.
    let is_generic = record.file.stem == "trajectory" && !record.file.folder_name.is_empty();
    let stem = if is_generic { &record.file.folder_name } else { &record.file.stem };
    let cost = results["agent_cost"].as_f64().and_then(plausible).filter(|cost| *cost > 0.0);
    let header = Header {
        run_id: word(&results, "session_id").unwrap_or_else(|| stem.clone()),
        task_id: word(&results, "task_id").or_else(|| word(&session, "task_id")),
        model: word(&session, "model"),
        agent: word(&session, "agent"),
        totals: cost.map(|cost| Totals { usage: Usage::default(), cost: Some(Usd(cost)) }),
        ..Header::default()
    };
    out.run(turns.into_draft(header, grade(&results)));
}

/// The grade in `results.json`.
fn grade(results: &Value) -> Grade {
    let graded = results["success"].as_bool();
    let end = match results["status"].as_str() {
        Some("success" | "unsuccessful") => EndCause::SelfFinish,
        Some("limit_reached") => EndCause::Cap,
        Some("error") => EndCause::Error,
        Some("cancelled") => EndCause::Killed,
        _ => EndCause::Unknown,
    };
    let source = if graded.is_some() { OutcomeSource::Sidecar("results.json".to_owned()) } else { OutcomeSource::None };
    Grade { outcome: Outcome::from_grade(graded), score: results["score"].as_f64(), source, end, ..Grade::default() }
}

fn push_event(line: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let ts = line.some_instant(["timestamp", "ts", "time"]);
    match line.some_word("event").as_deref() {
        Some("action") => {
            let Some(action) = line.get("action") else { return };
            let several = elements_under(&action, "actions").or_else(|| action.elements());
            let mut reply = Message::new(Role::Assistant);
            for action in several.unwrap_or_else(|| vec![action]) {
                let name = action.some_word("name").unwrap_or_else(|| "action".to_owned());
                let id = action.some_word("id");
                reply.tool_calls.push(ToolCall::new(id.as_deref(), &name, action.arguments(["arguments", "args"])));
            }
            reply.ts = ts;
            turns.push(reply);
        }
        Some("observation") => {
            let seen = line.get("observation");
            let several = elements_under(&line.within("observation"), "observations");
            for seen in several.unwrap_or_else(|| seen.into_iter().collect()) {
                let mut result = Message::new(if turns.awaits() { Role::Tool } else { Role::User });
                let found = seen.get(["result", "content"]);
                result.content = Some(found.as_ref().unwrap_or(&seen).as_content());
                result.ts = ts;
                turns.push(result);
            }
        }
        Some(other) => out.unknown(other, line),
        None => out.error_at(line.place(), "a line without an `event`", "the line is left out"),
    }
}
