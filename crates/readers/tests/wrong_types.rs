//! A known key whose value has a type that no recorder writes there is told, and what it feeds is unknown.

#![allow(
    clippy::unwrap_used,
    clippy::allow_attributes,
    clippy::disallowed_methods,
    reason = "tests: stop loudly and never hang"
)]

mod recordings;

use std::collections::BTreeSet;

use recordings::{Facts, KINDS, MARK, Place, Recording, is_content, kind_of_place, named, places};
use serde_json::Value;
use whenstop_readers::reader::CorpusReport;

/// One of so many replacements is tried.
const SAMPLED: usize = 17;
/// The values that take another's place, as JSON.
const OTHERS: [(&str, &str); 6] = [
    ("object", "{}"),
    ("array", "[]"),
    ("string", "\"zq\""),
    ("number", "7"),
    ("flag", "true"),
    ("huge", "18446744073709551616"),
];

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "flag",
        Value::Null => "null",
    }
}

/// Members whose value is a name or an id, which may be a number.
const NAMES: &[&str] = &[
    "id",
    "name",
    "tool",
    "source",
    "server",
    "author",
    "branch",
    "epoch",
    "trial",
    "type",
    "requestid",
    "$rewindto",
    "key",
    "stopreason",
    "to_agent",
    "status",
    "attack_type",
    "function_name",
    "stdout",
    "stderr",
    "code",
    "label",
];
/// Members that hold what is said: a text, parts of one, a message or messages.
const SAID: &[&str] = &[
    "content",
    "text",
    "parts",
    "message",
    "messages",
    "input",
    "output",
    "inputs",
    "outputs",
    "prompts",
    "prompt",
    "completion",
    "system",
    "response",
    "result",
    "value",
    "error",
    "toolcalls",
    "instructions",
    "observation",
    "observations",
    "action",
    "body",
    "data",
    "inputbodyjson",
    "outputbodyjson",
    "function",
    "custom",
    "refusal",
    "attributes",
    "arguments",
    "system_prompt",
    "system_instructions",
];

/// Places that are not the recorder's own, or by which a format is recognised: without them it is another one.
const OTHERS_OWN: &[(&str, &str)] = &[
    ("langfuse", "observations.input.q"),
    ("langsmith", "inputs.q"),
    ("inspect", "eval"),
    ("openhands-completions", "response"),
    ("langsmith", "outputs.choices"),
    ("langsmith", "outputs.generations"),
    ("langsmith", "child_runs.outputs.generations"),
    // A warning says that the line is left out.
    ("claude-code", "message"),
];

/// Whether recorders write values of this other type there, too.
fn is_known(shown: &Place, value: &Value, kind: &str) -> bool {
    let name = shown.iter().rev().find(|part| part.parse::<usize>().is_err()).map(|name| name.to_lowercase());
    let name = name.unwrap_or_default();
    let name = name.rsplit('.').next().unwrap_or_default();
    let is_number = matches!(kind, "number" | "huge");
    match value {
        // What is said or returned is kept as the JSON it is.
        Value::String(_) | Value::Object(_) if matches!(name, "value" | "result" | "content" | "instructions") => {
            kind != "object" || SAID.contains(&name)
        }
        Value::String(text) if is_number => {
            let is_name = NAMES.contains(&name) || name.ends_with("id") || name.ends_with("name");
            is_name || text.parse::<f64>().is_ok() || name.contains("time") || name.ends_with("at")
        }
        // A text may be written as a list of its parts.
        Value::String(_) if kind == "array" => true,
        Value::Number(_) if kind == "huge" => true,
        Value::Bool(_) | Value::String(_) | Value::Number(_) if matches!(name, "label" | "score") => kind == "flag",
        Value::Number(_) | Value::String(_) if name.to_lowercase().contains("time") => kind != "object",
        Value::Number(_) if kind == "string" => NAMES.contains(&name) || name.ends_with("id"),
        Value::String(_) | Value::Array(_) | Value::Object(_) if SAID.contains(&name) => {
            matches!(kind, "string" | "array" | "object")
        }
        Value::Array(_) if name == "starttime" => is_number,
        Value::Array(_) if name == "samples" => kind == "object",
        // A score.
        Value::Bool(_) => kind == "number" && name == "success",
        _ => false,
    }
}

/// The words that say what the objects around a place are.
fn kinds_around(whole: &Value, path: &Place) -> String {
    let mut kinds = String::new();
    let mut value = whole;
    for part in path {
        for kind in KINDS {
            if let Some(word) = value.get(*kind).and_then(Value::as_str).filter(|word| word.len() < 40) {
                kinds.push_str(word);
                kinds.push(' ');
            }
        }
        value = match value {
            Value::Array(elements) => &elements[part.parse::<usize>().unwrap()],
            other => &other[part.as_str()],
        };
    }
    kinds
}

/// Whether what is wrong has been told.
fn is_told(now: &CorpusReport, base: &CorpusReport) -> bool {
    let kinds = |report: &CorpusReport| report.unknown_kinds.values().sum::<u64>();
    now.errors > base.errors
        || now.warnings > base.warnings
        || now.skipped.len() > base.skipped.len()
        || kinds(now) > kinds(base)
}

/// Whether a run has other tokens or another outcome than before, and they are not unknown.
fn is_misled(now: &Facts, base: &Facts) -> bool {
    let pairs = || now.runs.iter().zip(&base.runs);
    now.runs.len() == base.runs.len()
        && pairs().any(|((_, _, tokens, outcome, _), (_, _, tokens_before, outcome_before, _))| {
            tokens.is_some() && tokens != tokens_before || outcome != "unknown" && outcome != outcome_before
        })
}

/// Each kind of place of the recording that holds a value of the recorder's.
fn places_of(recording: &Recording) -> Vec<(usize, Place, Place)> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for (n, whole) in recording.values.iter().enumerate() {
        places(whole, &mut Vec::new(), &mut |path| {
            let shown = named(whole, path);
            let kind = kind_of_place(&shown);
            let is_other = OTHERS_OWN.contains(&(recording.format, kind.as_str())) || is_content(path);
            if !is_other && seen.insert((kind, kinds_around(whole, path))) {
                found.push((n, path.clone(), shown));
            }
        });
    }
    found
}

/// Tries one other type at each place, and with `ALL_TYPES` in the environment every other type (45 s).
#[test]
fn a_wrong_type_is_told_and_what_it_feeds_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let all = std::env::var_os("ALL_TYPES").is_some();
    let (mut nth, mut tried, mut changed, mut wrong) = (0, 0, 0, Vec::new());
    for recording in Recording::each(folder.path()) {
        for (n, path, shown) in places_of(&recording) {
            let value = recordings::at(&mut recording.values[n].clone(), &path).clone();
            for (kind, other) in OTHERS {
                nth += 1;
                let is_chosen = all || nth % SAMPLED == 0;
                if !is_chosen || kind == type_of(&value) || value.is_null() || is_known(&shown, &value, kind) {
                    continue;
                }
                tried += 1;
                let (now, told) = recording.with(&(n, path.clone()), Value::from(MARK), other);
                if now == recording.base {
                    continue;
                }
                changed += 1;
                let place = format!("{}: {} as {other}", recording.name(), kind_of_place(&shown));
                if !is_told(&told, &recording.report) {
                    wrong.push(format!("{place}: unsaid"));
                } else if is_misled(&now, &recording.base) && recording.format != "cline-ui" {
                    // The counts of cline's log stand in a text.
                    wrong.push(format!("{place}: {:?} instead of {:?}", now.core(), recording.base.core()));
                }
            }
        }
    }
    assert!(tried > 800 && changed > 400, "{tried} values replaced, {changed} of them changed what is read");
    assert!(wrong.is_empty(), "{} of {changed} changes of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}
