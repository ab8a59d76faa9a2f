//! The refusal of somebody's own log: which `--map` would probably read it, with the names of the fields in the file.

use super::field_map::FieldMap;
use super::format;
use super::forms::KEYS;
use super::probe::{Probe, Shape, Sketch};

/// Levels of objects searched for a list of messages.
const DEPTH: usize = 3;

/// What to do about a file of no known format; `None` if it is not JSON.
pub(super) fn advice(probe: &Probe, path: &str) -> Option<String> {
    let is_json = matches!(probe.shape, Shape::Document | Shape::Lines | Shape::Concatenated) && probe.whole;
    let map = guess(probe).map(|map| map.to_string());
    let map = map.as_deref().unwrap_or("run=…,messages=…,role=…,text=…,calls=…");
    let path = if path.contains(char::is_whitespace) { format!("'{path}'") } else { path.to_owned() };
    is_json.then(|| format!("say which field is what: `whenstop corpus {path} --map {map}`"))
}

/// A run in whenstop's own format, to be shown where a file is in none.
pub const OWN_FORMAT: [&str; 6] = [
    r#"{"type":"run","run_id":"r1","task_id":"t1","model":"m"}"#,
    r#"{"type":"message","role":"user","content":"fix it"}"#,
    r#"{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"c1","name":"ls","arguments":{}}]}"#,
    r#"{"type":"message","role":"tool","tool_call_id":"c1","content":"a.py","is_error":false}"#,
    r#"{"type":"message","role":"assistant","content":"done","usage":{"input":520,"output":80}}"#,
    r#"{"type":"outcome","success":true}"#,
];

/// The mapping that the names and values of the fields suggest.
pub(super) fn guess(probe: &Probe) -> Option<FieldMap> {
    let first = probe.first()?;
    let values: Vec<&Sketch> = match probe.shape {
        Shape::Document if first.is_array() => first.elements().iter().collect(),
        Shape::Document if messages(first, "", DEPTH).is_none() => {
            // The runs may be in a list under one of the usual names.
            let lists = KEYS.iter().filter_map(|key| first.get(key));
            let holds = |list: &&Sketch| list.elements().first().is_some_and(Sketch::is_object);
            lists.into_iter().find(holds).map_or_else(|| vec![first], |list| list.elements().iter().collect())
        }
        _ => probe.values.iter().collect(),
    };
    let value = *values.iter().find(|value| value.is_object())?;
    let mut fields: Vec<(&'static str, String)> = Vec::new();
    let (entries, path) = match messages(value, "", DEPTH) {
        Some((path, list)) => (list.elements().iter().collect(), Some(path)),
        None => (values.clone(), None),
    };
    let mut inner = entry_fields(&entries);
    if path.is_none() && !inner.iter().any(|(name, _)| matches!(*name, "role" | "text" | "calls")) {
        return None;
    }
    let taken: Vec<String> = inner.iter().map(|(_, field)| field.clone()).collect();
    for (meaning, words) in AROUND {
        if path.is_none() && *meaning == "model" && taken.iter().any(|field| field == meaning) {
            continue;
        }
        let found = named(&[value], words, &|value| is_name(value) || value.text().is_none() && is_scalar(value));
        fields.extend(found.filter(|field| !taken.contains(field) || path.is_some()).map(|field| (*meaning, field)));
    }
    if let Some(outcome) = named(&[value], OUTCOMES, &is_scalar).filter(|field| !taken.contains(field)) {
        fields.push(("outcome", outcome));
    }
    fields.extend(path.map(|path| ("messages", path)));
    fields.append(&mut inner);
    Some(FieldMap::of(fields))
}

const AROUND: &[(&str, &[&str])] = &[
    (
        "run",
        &[
            "run_id",
            "run",
            "session_id",
            "session",
            "conversation_id",
            "conversation",
            "trace_id",
            "trace",
            "episode_id",
            "episode",
            "job_id",
            "job",
            "uid",
            "uuid",
            "id",
        ],
    ),
    ("task", &["task_id", "task", "instance_id", "case", "scenario", "problem", "ticket", "question_id"]),
    ("model", &["model", "model_name", "llm", "engine"]),
];
const OUTCOMES: &[&str] =
    &["success", "passed", "pass", "resolved", "solved", "correct", "reward", "score", "outcome", "verdict"];
const ROLES: &[&str] = &["role", "speaker", "who", "from", "author", "actor", "sender", "source", "kind", "type"];
const TEXTS: &[&str] = &[
    "content",
    "text",
    "utterance",
    "message",
    "body",
    "msg",
    "said",
    "say",
    "thought",
    "output",
    "response",
    "value",
];
const CALLS: &[&str] = &[
    "tool_calls",
    "calls",
    "invocations",
    "tools",
    "actions",
    "tool_call",
    "call",
    "invocation",
    "action",
    "tool",
    "functions",
    "commands",
];
const RESULTS: &[&str] = &["observation", "result", "output", "response", "returned", "tool_result"];
const TIMES: &[&str] = &["timestamp", "ts", "time", "at", "when", "created_at"];
const INPUT_TOKENS: &[&str] = &["input_tokens", "prompt_tokens", "tokens_in", "tok_in", "in_tokens", "prompt", "in"];
const OUTPUT_TOKENS: &[&str] =
    &["output_tokens", "completion_tokens", "tokens_out", "tok_out", "out_tokens", "completion", "out"];
const TOKENS: &[&str] = &["tokens", "total_tokens", "n_tokens", "token_count"];
const COSTS: &[&str] = &["cost_usd", "cost", "usd", "dollars", "price"];

/// The fields of one message.
fn entry_fields(entries: &[&Sketch]) -> Vec<(&'static str, String)> {
    let mut fields: Vec<(&'static str, String)> = Vec::new();
    let add = |fields: &mut Vec<(&'static str, String)>, meaning, words: &[&str], fits: &dyn Fn(&Sketch) -> bool| {
        let taken = |field: &String| fields.iter().any(|(_, known)| known == field);
        let found = named(entries, words, fits).filter(|field| !taken(field));
        fields.extend(found.map(|field| (meaning, field)));
    };
    let map = FieldMap::default();
    let is_role = |value: &Sketch| value.text().is_some_and(|word| map.role(&word).is_some());
    add(&mut fields, "role", ROLES, &is_role);
    add(&mut fields, "calls", CALLS, &|value| value.is_object() || value.elements().iter().any(Sketch::is_object));
    add(&mut fields, "text", TEXTS, &|value| matches!(value, Sketch::Head(_)) || value.text().is_some());
    if fields.iter().all(|(meaning, _)| *meaning != "role") {
        add(&mut fields, "result", RESULTS, &|_| true);
    }
    let is_number = |value: &Sketch| matches!(value, Sketch::Scalar(raw) if raw.parse::<f64>().is_ok());
    add(&mut fields, "input_tokens", INPUT_TOKENS, &is_number);
    add(&mut fields, "output_tokens", OUTPUT_TOKENS, &is_number);
    if fields.iter().all(|(meaning, _)| !meaning.ends_with("_tokens")) {
        add(&mut fields, "tokens", TOKENS, &is_number);
    }
    add(&mut fields, "cost", COSTS, &is_number);
    add(&mut fields, "ts", TIMES, &is_scalar);
    fields
}

/// The field with the best of these names whose value fits in one of the objects, at the top or one level below.
fn named(objects: &[&Sketch], words: &[&str], fits: &dyn Fn(&Sketch) -> bool) -> Option<String> {
    let top = |word: &str| objects.iter().any(|object| object.get(word).is_some_and(fits)).then(|| word.to_owned());
    let below = |word: &str| {
        objects.iter().find_map(|object| {
            let Sketch::Object(fields) = object else { return None };
            fields.iter().find_map(|(name, inner)| {
                (inner.is_object() && inner.get(word).is_some_and(fits)).then(|| format!("{name}.{word}"))
            })
        })
    };
    words.iter().find_map(|word| top(word)).or_else(|| words.iter().find_map(|word| below(word)))
}

fn is_scalar(value: &Sketch) -> bool {
    matches!(value, Sketch::Scalar(raw) if raw != "null")
}

fn is_name(value: &Sketch) -> bool {
    value.text().is_some_and(|text| !text.contains(char::is_whitespace))
}

/// The list of objects that look most like messages, and its path.
fn messages<'v>(value: &'v Sketch, path: &str, depth: usize) -> Option<(String, &'v Sketch)> {
    let Sketch::Object(fields) = value else { return None };
    let depth = depth.checked_sub(1)?;
    let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let is_list = |value: &&(String, Sketch)| {
        let elements: Vec<&Sketch> = value.1.elements().iter().collect();
        let found = entry_fields(&elements);
        let has = |wanted: &str| found.iter().any(|(meaning, _)| *meaning == wanted);
        // The calls of a message are a list too, but of names and arguments.
        elements.iter().any(|element| element.is_object())
            && (has("role") || has("text") && (has("calls") || has("ts")) || has("calls") && has("result"))
    };
    let here = fields.iter().filter(is_list).max_by_key(|(_, list)| list.elements().len());
    here.map(|(name, list)| (join(name), list))
        .or_else(|| fields.iter().find_map(|(name, inner)| messages(inner, &join(name), depth)))
}

/// The file as a log that the mapping describes, if it fits.
pub(super) fn form(map: &FieldMap, probe: &Probe) -> Option<super::forms::Form> {
    super::forms::mapped(format::MAPPED, map, probe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_three_logs_are_guessed() {
        for (text, expected) in [
            (
                r#"{"session":"s1","case":"c","turns":[{"speaker":"customer","utterance":"hi"},{"speaker":"agent","utterance":"ok","invocations":[{"fn":"ls","params":{}}]}]}"#,
                "run=session,task=case,messages=turns,role=speaker,text=utterance,calls=invocations",
            ),
            (
                "{\"job\":\"j1\",\"actor\":\"user\",\"body\":\"hi\",\"at\":1}\n{\"job\":\"j1\",\"actor\":\"bot\",\"body\":\"\",\"call\":{\"op\":\"ls\"},\"at\":2}\n",
                "run=job,role=actor,text=body,calls=call,ts=at",
            ),
            (
                r#"[{"uid":"a","trace":{"steps":[{"thought":"x","action":{"tool":"ls"},"observation":"y","usage":{"in":5,"out":1}}]}}]"#,
                "run=uid,messages=trace.steps,text=thought,calls=action,result=observation,input_tokens=usage.in,output_tokens=usage.out",
            ),
        ] {
            let probe = Probe::of("x.json", text.as_bytes()).unwrap();
            assert_eq!(guess(&probe).unwrap().to_string(), expected);
            let advice = advice(&probe, "x.json").unwrap();
            assert!(advice.contains(expected), "{advice}");
        }
    }
}
