//! Recovers results from a project's files, for experiments whose record lacks them. (The original also searches
//! version-control history, which recordings do not have.)

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::ProjectFolder;
use crate::python::{self, Dict};

/// Keys that make a JSON object look like an experiment's results.
const RESULT_KEYS: [&str; 9] =
    ["metrics", "findings", "artifacts", "score", "mean_r", "mean_r2", "best_transform", "overall_r2", "overall_r"];

/// The keys of a results file with separate parts; any other file is used whole as the metrics.
const PARTS: [&str; 3] = ["metrics", "findings", "artifacts"];

/// How deep numbers are counted, and how many code points of a note are used as the findings.
const DEPTH: usize = 4;
const NOTE_CHARS: usize = 1200;

/// What was found for an experiment.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    /// Metrics, of any JSON type.
    pub metrics: Option<Value>,
    /// Findings.
    pub findings: Option<String>,
    /// Paths of its files.
    pub artifacts: BTreeSet<String>,
}

impl Recovered {
    /// Whether anything shows that the experiment was run.
    pub(super) fn is_evidence(&self) -> bool {
        self.metrics.is_some() || !self.artifacts.is_empty()
    }
}

/// The number in an experiment id: `Exp7`, `exp-007`, `EXP 7`.
pub fn experiment_number(id: &str) -> Option<u32> {
    let mut chars = id.chars();
    let prefix: String = chars.by_ref().take(3).collect();
    let rest = chars.as_str();
    let digits = rest.strip_prefix(['-', '_', ' ']).unwrap_or(rest);
    let length = digits.chars().count();
    if !prefix.eq_ignore_ascii_case("exp") || !(1..=4).contains(&length) {
        return None;
    }
    digits.chars().map(python::ascii_digit).collect::<Option<String>>()?.parse().ok()
}

/// The folder that contains an experiment's files.
fn folder_name(id: &str) -> String {
    if let Some(number) = experiment_number(id) { format!("exp{number:03}") } else { python::lower(python::strip(id)) }
}

/// Searches the project for files of the experiment.
pub(super) fn recover(project: &ProjectFolder, id: &str) -> Recovered {
    let name = folder_name(id);
    let mut found = Recovered::default();
    for path in candidates(project, id, &name) {
        let Some(payload) = project.json(path) else { continue };
        let Some(object) = python::dict(&payload).filter(|object| looks_like_results(object)) else { continue };
        found.artifacts.insert(path.to_owned());
        if !PARTS.iter().any(|part| object.contains_key(*part)) {
            found.metrics.get_or_insert(payload);
            continue;
        }
        if found.metrics.is_none() {
            found.metrics = object.get("metrics").filter(|metrics| !metrics.is_null()).cloned();
        }
        if found.findings.is_none() {
            found.findings = object.text("findings").map(str::to_owned);
        }
    }
    if found.findings.is_none() {
        found.findings = note(project, &name);
    }
    let folders = [format!("experiments/{name}"), format!("outputs/{name}")];
    found.artifacts.extend(folders.iter().flat_map(|folder| project.below(folder)).map(str::to_owned));
    found
}

/// JSON files that may contain the results, the most likely first.
fn candidates<'p>(project: &'p ProjectFolder, id: &str, name: &str) -> Vec<&'p str> {
    let files: Vec<&str> = project.json_files();
    let (experiments, outputs) = (format!("experiments/{name}"), format!("outputs/{name}"));
    let likeliest = [
        format!("{outputs}/results.json"),
        format!("{experiments}/results.json"),
        format!("{experiments}/metrics.json"),
    ];
    let first = project.below(&experiments).into_iter().chain(project.below(&outputs)).filter(|path| is_json(path));
    let first: Vec<&str> = first.collect();
    let tokens = [python::lower(python::strip(id)), python::lower(name)];
    let named = files.into_iter().filter(|path| {
        let lowered = python::lower(path);
        is_json(path) && tokens.iter().any(|token| !token.is_empty() && lowered.contains(token.as_str()))
    });
    let mut ordered: Vec<&str> = Vec::new();
    let known = likeliest.iter().filter_map(|path| first.iter().find(|known| *known == path).copied());
    for path in known.chain(first.iter().copied().filter(|path| path.strip_suffix(".json").is_some())).chain(named) {
        if !ordered.contains(&path) {
            ordered.push(path);
        }
    }
    ordered
}

/// Whether the file name has the suffix `.json`. A bare `.json` has none.
fn is_json(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').is_some_and(|at| at > 0 && name[at..].eq_ignore_ascii_case(".json"))
}

fn looks_like_results(object: &Map<String, Value>) -> bool {
    let known = |key: &String| RESULT_KEYS.contains(&python::lower(python::strip(key)).as_str());
    let (mut numeric, mut other) = (0, 0);
    for value in object.values() {
        count_leaves(value, 1, &mut numeric, &mut other);
    }
    object.keys().any(known) || (numeric >= 3 && numeric >= other)
}

fn count_leaves(value: &Value, depth: usize, numeric: &mut usize, other: &mut usize) {
    if depth > DEPTH {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| count_leaves(item, depth + 1, numeric, other)),
        Value::Number(_) => *numeric += 1,
        Value::Object(_) => match python::dict(value) {
            Some(map) => map.values().for_each(|item| count_leaves(item, depth + 1, numeric, other)),
            None => *numeric += 1,
        },
        Value::Null | Value::Bool(_) | Value::String(_) => *other += 1,
    }
}

/// The first note of the experiment's folder.
fn note(project: &ProjectFolder, name: &str) -> Option<String> {
    let folder = format!("experiments/{name}");
    let is_note = |path: &&str| path.strip_suffix(".md").is_some() && !path[folder.len() + 1..].contains('/');
    let path = project.below(&folder).into_iter().find(is_note)?;
    let text = python::strip(project.text(path)?);
    if text.is_empty() { None } else { Some(text.chars().take(NOTE_CHARS).collect()) }
}
