//! Which field is the run's id: the one whose values a label file lists, or the one by which the entries of a log fall
//! into parts.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use super::{WITHIN, below_objects, highest, kin};
use crate::open::probe::Sketch;

/// Rows of a label file that are looked at.
const ROWS: usize = 10_000;
/// Bytes of the largest label file that is looked at.
const LARGEST: u64 = 64 << 20;
/// Parts of the names of fields that divide the entries of a run.
const INSIDE: &[&str] = &[
    "level", "severity", "status", "model", "version", "stream", "logger", "host", "name", "tool", "type", "kind",
    "event", "phase", "lang", "role", "speaker", "turn", "step", "index", "seq", "call", "code", "ok", "agent", "who",
    "cost", "token", "latency", "time", "ms", "ts", "at", "date",
];

/// The values of each scalar field of the objects, by its path.
fn values_of(objects: &[&Sketch]) -> BTreeMap<String, Vec<String>> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut level = highest(objects);
    for _ in 0..WITHIN {
        level = below_objects(&level);
        for (path, value) in &level {
            if let Sketch::Scalar(raw) = value {
                let text = value.text().unwrap_or(Cow::Borrowed(raw.as_str())).into_owned();
                values.entry(path.clone()).or_default().push(text);
            }
        }
    }
    values
}

/// The field whose values are those of a column without repetitions in one of the label files.
pub(super) fn labelled(objects: &[&Sketch], label_files: &[PathBuf]) -> Option<String> {
    let fields = values_of(objects);
    for path in label_files {
        for (header, ids) in columns(path).unwrap_or_default() {
            let is_listed = |(_, values): &(&String, &Vec<String>)| {
                let distinct: HashSet<&String> = values.iter().collect();
                distinct.len() > 1 && distinct.iter().all(|value| ids.contains(*value))
            };
            let mut listed: Vec<&String> = fields.iter().filter(is_listed).map(|(field, _)| field).collect();
            listed.sort_by_key(|field| (**field != header, field.len()));
            if let Some(field) = listed.first() {
                return Some((*field).clone());
            }
        }
    }
    None
}

/// The columns in which each row has a value of its own.
fn columns(path: &PathBuf) -> Option<Vec<(String, HashSet<String>)>> {
    if std::fs::metadata(path).ok()?.len() > LARGEST {
        return None;
    }
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_path(path).ok()?;
    let header = reader.headers().ok()?.clone();
    let rows: Vec<csv::StringRecord> = reader.records().take(ROWS).filter_map(Result::ok).collect();
    let mut columns = Vec::new();
    for (at, name) in header.iter().enumerate() {
        let cells: Vec<&str> = rows.iter().filter_map(|row| row.get(at)).collect();
        let ids: HashSet<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
        if ids.len() == cells.len() && ids.len() > 1 {
            columns.push((name.to_owned(), ids));
        }
    }
    Some(columns)
}

/// The fields that may be the run's id by their names, the one that was `guessed` among them: one for each way in which
/// they divide the entries.
pub(super) fn likely(entries: &[&Sketch], guessed: Option<&str>, taken: &[String]) -> Vec<String> {
    let mut fields: Vec<String> = guessed.map(ToOwned::to_owned).into_iter().collect();
    for (field, values) in values_of(entries) {
        let name = field.rsplit('.').next().unwrap_or(&field);
        if kin::is_run_id(name) && 2 * values.len() > entries.len() && !taken.contains(&field) {
            fields.push(field);
        }
    }
    let mut ways = HashSet::new();
    fields.retain(|field| ways.insert(division(entries, field)));
    fields
}

/// For each entry, the number of its group. One without the field is in the group of the entry before it.
fn division(entries: &[&Sketch], field: &str) -> Vec<usize> {
    let mut groups: HashMap<&str, usize> = HashMap::new();
    let mut division = Vec::new();
    for entry in entries {
        let Some(Sketch::Scalar(raw)) = entry.at(field) else {
            division.push(division.last().copied().unwrap_or(0));
            continue;
        };
        let next = groups.len();
        division.push(*groups.entry(raw).or_insert(next));
    }
    division
}

/// The fields that divide entries into parts of several each, other than those that divide a run; with how many values
/// each has.
pub(super) fn dividing(entries: &[&Sketch], taken: &[String]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (field, values) in values_of(entries) {
        let name = field.rsplit('.').next().unwrap_or(&field).to_lowercase();
        let is_inside =
            INSIDE.iter().any(|part| name.split(['_', '-']).any(|word| word == *part)) || taken.contains(&field);
        let distinct: HashSet<&String> = values.iter().collect();
        let is_flag = distinct.iter().all(|value| matches!(value.as_str(), "true" | "false" | "null"));
        let divides = distinct.len() > 1 && 2 * distinct.len() <= values.len() && 2 * values.len() > entries.len();
        if divides && !is_inside && !is_flag {
            found.push((field, distinct.len()));
        }
    }
    found
}
