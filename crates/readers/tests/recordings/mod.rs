//! The recordings of the fixtures, for tests that damage them one place after another.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::allow_attributes,
    clippy::disallowed_methods,
    reason = "tests: stop loudly and never hang; each uses a part of this"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use whenstop_core::transcript::{Event, Lane, Run};
use whenstop_readers::reader::{self, Corpus, CorpusReport, Detail, ReadOptions};

/// Members whose values say what kind of record something is, or who speaks.
pub(crate) const KINDS: &[&str] = &[
    "type",
    "role",
    "kind",
    "event",
    "from",
    "source",
    "src",
    "run_type",
    "say",
    "ask",
    "part_kind",
    "object",
    "item_type",
    "message_type",
    "operation",
    "subtype",
    "traceSchema",
    "gen_ai.operation.name",
    "openinference.span.kind",
    "traceloop.span.kind",
];
/// Stands for a broken value until the text is written.
pub(crate) const MARK: &str = "@@broken@@";

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/readers")
}

/// The recordings of a format that are JSON without an error, with their values: one, or one a line.
pub(crate) fn recordings(format: &str) -> Vec<(PathBuf, Vec<Value>, bool)> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(fixtures().join(format)).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_other = path.is_dir() || name.starts_with("bad") || name == "metadata.json";
        if is_other || [".snap", ".csv", ".md", ".parquet", ".eval"].iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        if let Ok(value) = serde_json::from_str(&text) {
            found.push((path, vec![value], false));
            continue;
        }
        let lines: Result<Vec<Value>, _> =
            text.lines().filter(|l| !l.trim().is_empty()).map(serde_json::from_str).collect();
        if let Ok(lines) = lines {
            found.push((path, lines, true));
        }
    }
    found
}

/// Id, steps, tokens, outcome and messages of a run.
pub(crate) type RunFacts = (String, usize, Option<u64>, String, Vec<String>);

/// What a reading came to.
#[derive(Debug, PartialEq)]
pub(crate) struct Facts {
    pub(crate) runs: Vec<RunFacts>,
}

impl Facts {
    /// Steps, tokens and outcomes.
    pub(crate) fn core(&self) -> Vec<(usize, Option<u64>, &str)> {
        self.runs.iter().map(|(_, steps, tokens, outcome, _)| (*steps, *tokens, outcome.as_str())).collect()
    }
}

pub(crate) fn facts(runs: &[Run]) -> Facts {
    let event = |event: &Event| match event {
        Event::Message(message) => {
            let lane = match &message.lane {
                Lane::Main => String::new(),
                lane => format!("{lane:?} "),
            };
            let calls: Vec<&str> = message.tool_calls.iter().map(|call| call.name.as_str()).collect();
            let is_empty = message.content.as_ref().is_none_or(whenstop_core::transcript::Text::is_empty);
            format!("{lane}{} {} {}", message.role.name(), if is_empty { "-" } else { "text" }, calls.join(","))
        }
        Event::Checkpoint(_) => "checkpoint".to_owned(),
        _ => String::new(),
    };
    let of = |run: &Run| {
        let events = run.events().iter().map(event).filter(|told| !told.is_empty()).collect();
        let tokens = reader::tokens(run).map(|tokens| tokens.0);
        (run.header.run_id.clone(), run.steps().len(), tokens, run.grade.outcome.name().to_owned(), events)
    };
    Facts { runs: runs.iter().map(of).collect() }
}

/// Writes the values as the recording had them and reads them.
pub(crate) fn read(folder: &Path, path: &Path, values: &[Value], lines: bool, broken: &str) -> (Facts, CorpusReport) {
    let text = if lines {
        values.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n") + "\n"
    } else {
        values[0].to_string()
    };
    let text = text.replace(&format!("\"{MARK}\""), broken);
    let file = folder.join(path.file_name().unwrap());
    std::fs::write(&file, text).unwrap();
    // Beside a healthy file, as damage stands in a folder.
    let options = ReadOptions { detail: Detail::Counts, sealed: true, ..ReadOptions::default() };
    let (runs, report) = Corpus::open(&[folder.to_path_buf()], options).unwrap().runs().unwrap();
    (facts(&runs), report)
}

/// One place to change: the path of members and elements that leads there.
pub(crate) type Place = Vec<String>;

/// Calls `each` for every scalar with its path.
pub(crate) fn walk(value: &Value, path: &mut Place, each: &mut dyn FnMut(&Place, &Value)) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                path.push(name.clone());
                walk(inner, path, each);
                path.pop();
            }
        }
        Value::Array(elements) => {
            for (n, inner) in elements.iter().enumerate() {
                path.push(n.to_string());
                walk(inner, path, each);
                path.pop();
            }
        }
        _ => each(path, value),
    }
}

pub(crate) fn at<'v>(value: &'v mut Value, path: &[String]) -> &'v mut Value {
    path.iter().fold(value, |value, part| match value {
        Value::Array(elements) => &mut elements[part.parse::<usize>().unwrap()],
        other => &mut other[part.as_str()],
    })
}

/// The path with the names of attributes in OpenTelemetry's notation, where `key` and `value` stand side by side.
pub(crate) fn named(value: &Value, path: &Place) -> Place {
    let mut named = path.clone();
    let Some(at) = path.len().checked_sub(2).filter(|at| path[*at] == "value") else { return named };
    let attribute = path[..at].iter().try_fold(value, |value, part| match value {
        Value::Array(elements) => elements.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    });
    if let Some(key) = attribute.and_then(|attribute| attribute.get("key")).and_then(Value::as_str) {
        named.truncate(at);
        named.push(key.to_owned());
    }
    named
}

/// The path without the numbers of elements.
pub(crate) fn kind_of_place(path: &Place) -> String {
    path.iter().filter(|part| part.parse::<usize>().is_err()).cloned().collect::<Vec<_>>().join(".")
}

/// Is the member the arguments of a call, a result, or data that only looks like a recording's own fields?
pub(crate) fn is_content(path: &Place) -> bool {
    const CONTENT: &[&str] = &[
        "arguments",
        "args",
        "parameters",
        "call_arguments",
        "call_result",
        "info_extra",
        "tools",
        "tool_definitions",
        "schema",
        "properties",
        "config",
        "changes",
    ];
    path.iter().any(|part| CONTENT.contains(&part.as_str()))
}

/// A recording of the fixtures, what is read of it, and a folder to write damaged copies to.
pub(crate) struct Recording {
    pub(crate) format: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) values: Vec<Value>,
    pub(crate) lines: bool,
    pub(crate) folder: PathBuf,
    pub(crate) base: Facts,
    pub(crate) report: CorpusReport,
}

impl Recording {
    /// Every recording of every format.
    pub(crate) fn each(within: &Path) -> impl Iterator<Item = Self> {
        let all = reader::FORMATS.iter().flat_map(|format| {
            let of = |(path, values, lines)| (format.id(), path, values, lines);
            recordings(format.id()).into_iter().map(of).collect::<Vec<_>>()
        });
        all.map(|(format, path, values, lines)| {
            let folder = within.join(format).join(path.file_stem().unwrap());
            std::fs::create_dir_all(&folder).unwrap();
            let (base, report) = read(&folder, &path, &values, lines, "");
            Self { format, path, values, lines, folder, base, report }
        })
    }

    /// The places of the scalars that `wanted` takes, by the path as shown and the value: one of each kind of place, and
    /// of each key that it gives.
    pub(crate) fn places(&self, wanted: impl Fn(&Place, &Value) -> Option<String>) -> Vec<(usize, Place)> {
        let (mut places, mut seen) = (Vec::new(), BTreeSet::new());
        for (n, whole) in self.values.iter().enumerate() {
            let mut each = |path: &Place, value: &Value| {
                let shown = named(whole, path);
                let key = wanted(&shown, value).filter(|_| !is_content(path));
                if key.is_some_and(|key| seen.insert((kind_of_place(&shown), key))) {
                    places.push((n, path.clone()));
                }
            };
            walk(whole, &mut Vec::new(), &mut each);
        }
        places
    }

    /// What is read with one value changed, and what stands for a broken one in its place.
    pub(crate) fn with(&self, (n, place): &(usize, Place), value: Value, broken: &str) -> (Facts, CorpusReport) {
        let mut values = self.values.clone();
        *at(&mut values[*n], place) = value;
        read(&self.folder, &self.path, &values, self.lines, broken)
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.format, self.path.file_name().unwrap().display())
    }
}

/// Calls `each` with the place of every member.
pub(crate) fn members(value: &Value, path: &mut Place, each: &mut dyn FnMut(&Place)) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                path.push(name.clone());
                each(path);
                self::members(inner, path, each);
                path.pop();
            }
        }
        Value::Array(elements) => elements.iter().for_each(|inner| members(inner, path, each)),
        _ => {}
    }
}

/// Calls `each` with the place of every member, with the numbers of elements.
pub(crate) fn places(value: &Value, path: &mut Place, each: &mut dyn FnMut(&Place)) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                path.push(name.clone());
                each(path);
                places(inner, path, each);
                path.pop();
            }
        }
        Value::Array(elements) => {
            for (n, inner) in elements.iter().enumerate() {
                path.push(n.to_string());
                places(inner, path, each);
                path.pop();
            }
        }
        _ => {}
    }
}
