//! The refusal of somebody's own log: which `--map` would probably read it, with the names of the fields in the file.

mod entry_fields;
mod kin;
mod roles;
mod run_ids;
mod trial;
mod words;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::label::words::grade_word;
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::wrappings::{KEYS, MAPPED_KEYS};
use crate::record::field_map::FieldMap;
use crate::transcript::Name;
use words::{AROUND, OUTCOMES};

/// Levels of objects searched for a list of messages.
const DEPTH: usize = 3;

/// What the user named, and the label files there.
pub(crate) struct NamedInputs<'c> {
    /// The same command is to read all of these.
    pub(crate) paths: &'c [PathBuf],
    /// Files that may list the runs with their outcomes.
    pub(crate) label_files: &'c dyn Fn() -> Vec<PathBuf>,
}

/// What to do about a file of no known format, by a look at it and its text, or the beginning of it: a mapping that was
/// tried on it, or what is missing for one; `None` if it is not JSON.
pub(crate) fn advice(probe: &Probe, text: &str, named: &NamedInputs<'_>) -> Option<String> {
    let is_json = matches!(probe.shape, Shape::Document | Shape::Lines | Shape::Concatenated) && probe.whole;
    if !is_json {
        return None;
    }
    Some(match tried(probe, text, named) {
        Ok(map) => command(&map.to_string(), named.paths),
        Err(missing) => format!("{missing}; `--map` says which field is what"),
    })
}

/// What to do about a CSV table; `None` unless its rows look like messages.
pub(crate) fn for_table(probe: &Probe, text: &str, named: &NamedInputs<'_>) -> Option<String> {
    let map = guess(probe).filter(|map| map.get("role").is_some() && map.get("run").is_some())?;
    let map = tried(probe, text, named).unwrap_or(map);
    Some(command(&map.to_string(), named.paths))
}

/// The mapping that reads the file; else what is missing.
fn tried(probe: &Probe, text: &str, named: &NamedInputs<'_>) -> Result<FieldMap, String> {
    let Some(map) = guess(probe) else {
        return Err("no field looks like a message's speaker, text or calls".to_owned());
    };
    let values = values_in(probe);
    let judged = |map: &FieldMap| judged(map, probe, text, &values);
    if let Some(field) = run_ids::labelled(&values, &(named.label_files)())
        && let Ok(map) = judged(&map.with("run", field))
    {
        return Ok(map);
    }
    let tried = judged(&map);
    if map.get("messages").is_some() {
        return tried.or_else(|problem| judged(&map.without("run")).map_err(|_| problem));
    }
    let mut missing = tried.err();
    let mut taken: Vec<String> =
        map.fields().filter(|(name, _)| *name != "run").map(|(_, field)| field.to_owned()).collect();
    let mut ids = Vec::new();
    for field in run_ids::likely(&values, map.get("run"), &taken) {
        match judged(&map.with("run", field.clone())) {
            Ok(map) => ids.push((field, map)),
            Err(problem) => missing = missing.or(Some(problem)),
        }
    }
    match ids.as_slice() {
        [] => {}
        [(_, map)] => return Ok(map.clone()),
        several => {
            let fields: Vec<String> = several.iter().map(|(field, _)| format!("`{field}`")).collect();
            return Err(format!(
                "which field is the run's id? {} divide the entries differently",
                fields.join(" and ")
            ));
        }
    }
    // Without an id, the entries of a file are one run, unless something divides them.
    taken.extend(map.get("run").map(ToOwned::to_owned));
    let dividing = run_ids::dividing(&values, &taken);
    let mut by_part = Vec::new();
    for (field, _) in &dividing {
        by_part.extend(judged(&map.with("run", field.clone())));
    }
    match (by_part.as_slice(), dividing.first()) {
        ([only], _) => return Ok(only.clone()),
        (_, Some((field, n))) if missing.is_none() || map.get("run").is_none() => {
            return Err(format!("which field is the run's id? `{field}` has {n} values"));
        }
        _ => {}
    }
    judged(&map.without("run")).map_err(|problem| missing.unwrap_or(problem))
}

/// The mapping, with roles for words that mean none, if it reads the file; else what is wrong with it.
fn judged(map: &FieldMap, probe: &Probe, text: &str, values: &[&Sketch]) -> Result<FieldMap, String> {
    let runs: Vec<Vec<&Sketch>> = match map.get("messages") {
        Some(path) => {
            let lists = values.iter().filter_map(|value| value.at(path));
            lists.map(|list| list.elements().iter().collect()).collect()
        }
        None => grouped(values, map.get("run")),
    };
    if ["messages", "text", "calls"].iter().all(|meaning| map.get(meaning).is_none()) {
        return Err("no field looks like a message's text or calls".to_owned());
    }
    let (map, strange) = roles::named(map, &runs);
    if !strange.is_empty() {
        let words: Vec<String> = strange.iter().map(|word| format!("`{word}`")).collect();
        return Err(format!("who is {}? Say it as in `tool={}`", words.join(", "), strange[0]));
    }
    let trial = trial::read(&map, probe, text).ok_or_else(|| "no field has the messages".to_owned())?;
    match trial.problem(&map) {
        Some(problem) => Err(problem),
        None => Ok(map),
    }
}

/// The entries of each run, by the field that has its id.
fn grouped<'v>(entries: &[&'v Sketch], run: Option<&str>) -> Vec<Vec<&'v Sketch>> {
    let mut groups: BTreeMap<Option<Cow<'_, str>>, Vec<&Sketch>> = BTreeMap::new();
    for entry in entries {
        let id = match run {
            Some(run) => text_below(entry, run),
            None => None,
        };
        groups.entry(id).or_default().push(entry);
    }
    groups.into_values().collect()
}

/// Whether the advice has the names of fields in the file at hand.
pub(crate) fn has_names(advice: &str) -> bool {
    advice.contains("--map")
}

fn command(map: &str, paths: &[PathBuf]) -> String {
    let quoted = |path: &PathBuf| {
        let path = path.display().to_string();
        if path.contains(char::is_whitespace) { format!("'{path}'") } else { path }
    };
    let paths: Vec<String> = paths.iter().map(quoted).collect();
    format!("say which field is what: `whenstop corpus {} --map {map}`", paths.join(" "))
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

/// The mapping of a file in which `field` is the runs' id; `None` if no mapping reads it.
pub(crate) fn with_id(probe: &Probe, field: &str) -> Option<String> {
    Some(guess(probe)?.with("run", field.to_owned()).to_string())
}

/// The runs, or the messages, of the file.
fn values_in(probe: &Probe) -> Vec<&Sketch> {
    let Some(first) = probe.first() else { return Vec::new() };
    match probe.shape {
        Shape::Document if first.is_array() => first.elements().iter().collect(),
        Shape::Document if messages(first, "", DEPTH).is_none() => {
            // The runs may be in a list under one of the usual names.
            let lists = MAPPED_KEYS.iter().chain(KEYS).filter_map(|key| first.get(key));
            let holds = |list: &&Sketch| matches!(list.elements().first(), Some(Sketch::Object(_)));
            match lists.into_iter().find(holds) {
                Some(list) => list.elements().iter().collect(),
                None => vec![first],
            }
        }
        _ => probe.values.iter().collect(),
    }
}

/// The mapping that the names and values of the fields suggest.
pub(crate) fn guess(probe: &Probe) -> Option<FieldMap> {
    let values = values_in(probe);
    let value = *values.iter().find(|value| value.is_object())?;
    let mut fields: Vec<(&'static str, String)> = Vec::new();
    let (entries, path) = match messages(value, "", DEPTH) {
        Some((path, list)) => (list.elements().iter().collect(), Some(path)),
        None => (values.clone(), None),
    };
    let mut inner = entry_fields::message_fields(&entries);
    if path.is_none() && !inner.iter().any(|(name, _)| matches!(*name, "role" | "text" | "calls")) {
        return None;
    }
    // What is known of the run stands in its first line, or in any.
    let around: Vec<&Sketch> = if path.is_some() { vec![value] } else { values.clone() };
    let taken: Vec<String> = inner.iter().map(|(_, field)| field.clone()).collect();
    let is_free = |field: &str| path.is_some() || taken.iter().all(|known| known != field);
    for (meaning, words) in AROUND {
        if path.is_none() && *meaning == "model" && taken.iter().any(|field| field == meaning) {
            continue;
        }
        let fits = |value: &Sketch| is_name(value) || value.text().is_none() && is_scalar(value);
        // A task that is an object has a name of its own.
        let inner = |word: &&str| {
            let inner: Vec<&Sketch> = around.iter().filter_map(|object| object.get(word)).collect();
            named(&inner, &["id", "name", "key"], &fits, &|_| true).map(|name| format!("{word}.{name}"))
        };
        let mut found = named(&around, words, &fits, &is_free);
        if found.is_none() {
            found = words.iter().find_map(inner);
        }
        if found.is_none() {
            found = kin::find(meaning, &around, &fits, &is_free);
        }
        fields.extend(found.map(|field| (*meaning, field)));
    }
    let is_grade = |value: &Sketch| match value {
        Sketch::Scalar(raw) => {
            matches!(raw.as_str(), "true" | "false")
                || raw.parse::<f64>().is_ok()
                || grade_word(&value.text().unwrap_or_default()).is_some()
        }
        _ => false,
    };
    fields.extend(named(&around, OUTCOMES, &is_grade, &is_free).map(|outcome| ("outcome", outcome)));
    fields.extend(path.map(|path| ("messages", path)));
    fields.append(&mut inner);
    Some(FieldMap::from_fields(fields))
}

/// The decoded text of the short string at a path of names.
fn text_below<'v>(value: &'v Sketch, path: &str) -> Option<Cow<'v, str>> {
    value.at(path)?.text()
}

/// Levels of objects inside a message that are searched for a field.
const WITHIN: usize = 3;

/// The path of the best of these names whose value fits in one of the objects, the highest first.
fn named(
    objects: &[&Sketch],
    words: &[&str],
    fits: &dyn Fn(&Sketch) -> bool,
    is_free: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let mut level = highest(objects);
    for _ in 0..WITHIN {
        for word in words {
            let fit = level.iter().filter(|(_, object)| object.get(word).is_some_and(fits));
            if let Some(path) = fit.map(|(path, _)| joined(path, word)).find(|path| is_free(path)) {
                return Some(path);
            }
        }
        level = below_objects(&level);
    }
    None
}

/// These objects, each with its path.
fn highest<'v>(objects: &[&'v Sketch]) -> Vec<(String, &'v Sketch)> {
    objects.iter().map(|object| (String::new(), *object)).collect()
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The fields of those of these values that are objects, each with its path.
fn below_objects<'v>(level: &[(String, &'v Sketch)]) -> Vec<(String, &'v Sketch)> {
    let mut below = Vec::new();
    for (path, value) in level {
        if let Sketch::Object(fields) = value {
            below.extend(fields.iter().map(|(name, value)| (joined(path, name), value)));
        }
    }
    below
}

fn is_scalar(value: &Sketch) -> bool {
    matches!(value, Sketch::Scalar(raw) if raw != "null")
}

fn is_name(value: &Sketch) -> bool {
    matches!(value.text(), Some(text) if !text.contains(char::is_whitespace))
}

/// The list of objects that look most like messages, and its path.
fn messages<'v>(value: &'v Sketch, path: &str, depth: usize) -> Option<(String, &'v Sketch)> {
    let Sketch::Object(fields) = value else { return None };
    let depth = depth.checked_sub(1)?;
    let is_list = |value: &&(Name, Sketch)| {
        let elements: Vec<&Sketch> = value.1.elements().iter().collect();
        let found = entry_fields::message_fields(&elements);
        let has = |wanted: &str| found.iter().any(|(meaning, _)| *meaning == wanted);
        // The calls of a message are a list too, but of names and arguments.
        elements.iter().any(|element| element.is_object())
            && (has("role") || has("text") && (has("calls") || has("ts")) || has("calls") && has("result"))
    };
    let here: Vec<&(Name, Sketch)> = fields.iter().filter(is_list).collect();
    match here.as_slice() {
        [] => fields.iter().find_map(|(name, inner)| messages(inner, &joined(path, name), depth)),
        [(name, list)] => Some((joined(path, name), list)),
        // Which of several has the run, or what each of them is, is not sure.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_four_logs_are_guessed() {
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
            (
                "{\"session_key\":\"s0\",\"speaker\":\"env\",\"body\":\"hi\"}\n{\"session_key\":\"s0\",\"speaker\":\"bot\",\"body\":\"\",\"actions\":[{\"op\":\"grep\",\"params\":{\"q\":\"x\"}}],\"stats\":{\"prompt_toks\":100,\"gen_toks\":20}}\n",
                "run=session_key,role=speaker,text=body,calls=actions,input_tokens=stats.prompt_toks,output_tokens=stats.gen_toks",
            ),
        ] {
            let probe = Probe::from_name("x.json", text.as_bytes()).unwrap();
            assert_eq!(guess(&probe).unwrap().to_string(), expected);
        }
    }
}
