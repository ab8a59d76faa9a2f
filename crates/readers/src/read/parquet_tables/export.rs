//! Langfuse's export to object storage: each row is an observation, each run a trace, and a trace may be spread over
//! several files.
//!
//! A first pass reads the ids of all rows. A trace is emitted once its last row has been read, so only traces that are
//! open at the time are in memory.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use whenstop_parquet::{ParquetTable, RowField, TableRows, TornColumn, begin_field, write_object};

use super::layout::{ColumnPlan, RowDialect};
use super::records::damage;
use crate::diagnostic::{Diagnostic, Location};
use crate::open::finding::Finding;
use crate::open::records::{Cut, Item};
use crate::open::signature::Signature;
use crate::text::word_list;

/// Columns that come first because this module reads them itself.
const OWN: &[&str] = &["trace_id", "id", "trace_name", "metadata"];
/// Columns that the format reads.
const READ: &[&str] = word_list!(
    "type parent_observation_id start_time end_time name level status_message input output provided_model_name model",
    "usage_details cost_details total_cost",
);
/// Columns of a score.
const SCORE: &[&str] = &["trace_id", "observation_id", "name", "value", "string_value"];

/// A trace whose rows have not all been read.
#[derive(Default)]
struct OpenTrace {
    /// The number of rows still to come.
    left: u64,
    task: Option<String>,
    trace_name: Option<String>,
    /// Observations by id. A later export window repeats an observation that changed.
    observations: Vec<(String, Vec<u8>)>,
    bytes: u64,
    too_long: bool,
}

/// All observations of a directory, as one record per trace.
pub(crate) struct Export {
    files: VecDeque<(PathBuf, String)>,
    /// The rows of the file being read, its name for messages, and the names of the columns read.
    rows: Option<(TableRows, String, Vec<&'static str>)>,
    /// Trace ids in the order of their first rows; traces left at the end are emitted in this order.
    order: Vec<String>,
    open: HashMap<String, OpenTrace>,
    scores: HashMap<String, Vec<Vec<u8>>>,
    ready: VecDeque<Item>,
    path: String,
    limit: u64,
}

/// The Parquet files of a directory, sorted.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.is_file() && Signature::is_parquet(path));
    paths.sort();
    paths
}

/// Those of the named columns that exist, with their numbers.
fn numbered(table: &ParquetTable, names: &[&'static str]) -> (Vec<&'static str>, Vec<usize>) {
    let columns = table.columns();
    let found = names.iter().filter_map(|name| Some((*name, columns.iter().position(|column| column == name)?)));
    found.unzip()
}

impl Export {
    /// Opens `files` (path, and name for messages) as one export, with the scores in the same directory or in `scores`
    /// beside it. A trace longer than `limit` bytes is refused.
    pub(crate) fn open(files: Vec<(PathBuf, String)>, limit: u64) -> Result<Self, String> {
        let path = files.first().map(|(_, name)| name.clone()).unwrap_or_default();
        let mut export = Self {
            files: files.into(),
            rows: None,
            order: Vec::new(),
            open: HashMap::new(),
            scores: HashMap::new(),
            ready: VecDeque::new(),
            path,
            limit,
        };
        for (path, _) in export.files.clone() {
            export.count(&path)?;
        }
        let folder = match export.files.front() {
            Some((path, _)) => path.parent().map(Path::to_path_buf).unwrap_or_default(),
            None => PathBuf::new(),
        };
        let beside = folder.parent().map(|above| above.join("scores")).unwrap_or_default();
        for path in files_in(&folder).into_iter().chain(files_in(&beside)) {
            export.read_scores(&path);
        }
        Ok(export)
    }

    /// Counts the rows of each trace in a file.
    fn count(&mut self, path: &Path) -> Result<(), String> {
        let table = ParquetTable::open(path)?;
        let at = table.columns().iter().position(|column| column == "trace_id").ok_or("it has no column `trace_id`")?;
        let mut rows = table.rows(vec![at]);
        while let Some(row) = rows.next(|nodes| text_of(nodes.first_mut())) {
            // Damage is reported when the rows themselves are read.
            if let Ok((_, Some(trace))) = row {
                if let Some(open) = self.open.get_mut(&trace) {
                    open.left += 1;
                } else {
                    self.order.push(trace.clone());
                    self.open.insert(trace, OpenTrace { left: 1, ..OpenTrace::default() });
                }
            }
        }
        Ok(())
    }

    fn read_scores(&mut self, path: &Path) {
        let Ok(table) = ParquetTable::open(path) else { return };
        if !ColumnPlan::are_of_dialect(&table.columns(), RowDialect::Scores) {
            return;
        }
        let (names, columns) = numbered(&table, SCORE);
        let mut rows = table.rows(columns);
        while let Some(row) = rows.next(|nodes| {
            let trace = text_of(nodes.first_mut())?;
            let rest = nodes.get_mut(1..).unwrap_or_default();
            let mut score = Vec::new();
            write_object(names.iter().skip(1).copied(), rest, &mut score)?;
            Ok((trace, score))
        }) {
            match row {
                Ok((_, (Some(trace), score))) if self.open.contains_key(&trace) => {
                    self.scores.entry(trace).or_default().push(score);
                }
                Ok(_) => {}
                Err(lost) => self.ready.push_back(Item::Broken(damage(&path.display().to_string(), lost))),
            }
        }
    }

    /// The next trace or finding; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            let Some((rows, path, names)) = &mut self.rows else {
                match self.files.pop_front() {
                    Some((path, name)) => self.begin(&path, &name),
                    None => self.flush()?,
                }
                continue;
            };
            let names = &names[..];
            match rows.next(|nodes| observation(names, nodes)) {
                None => self.rows = None,
                Some(Err(lost)) => self.ready.push_back(Item::Broken(damage(path, lost))),
                Some(Ok((_, row))) => self.enter(row),
            }
        }
    }

    fn begin(&mut self, path: &Path, name: &str) {
        match ParquetTable::open(path) {
            Ok(table) => {
                let wanted: Vec<&'static str> = OWN.iter().chain(READ).copied().collect();
                let (names, columns) = numbered(&table, &wanted);
                self.rows = Some((table.rows(columns), name.to_owned(), names));
            }
            Err(why) => {
                let help = crate::open::input_errors::CUT;
                self.ready.push_back(Item::Broken(Diagnostic::new(Location::file(name), why, help)));
            }
        }
    }

    fn enter(&mut self, row: Observation) {
        let Some(trace) = row.trace else { return };
        let Some(open) = self.open.get_mut(&trace) else { return };
        open.left = open.left.saturating_sub(1);
        open.task = open.task.take().or(row.task);
        open.trace_name = open.trace_name.take().or(row.trace_name);
        open.bytes += row.object.len() as u64;
        if open.bytes > self.limit {
            (open.too_long, open.observations) = (true, Vec::new());
        } else if let Some((_, known)) = open.observations.iter_mut().find(|(id, _)| *id == row.id) {
            *known = row.object;
        } else {
            open.observations.push((row.id, row.object));
        }
        if open.left == 0 {
            self.hand_over(&trace);
        }
    }

    /// Emits what is left when all files have been read; `None` if nothing is.
    fn flush(&mut self) -> Option<()> {
        let trace = std::mem::take(&mut self.order).into_iter().filter(|trace| self.open.contains_key(trace));
        let rest: Vec<String> = trace.collect();
        for trace in &rest {
            self.hand_over(trace);
        }
        if rest.is_empty() { None } else { Some(()) }
    }

    fn hand_over(&mut self, trace: &str) {
        let Some(open) = self.open.remove(trace) else { return };
        let scores = self.scores.remove(trace).unwrap_or_default();
        if open.too_long {
            let what = format!("trace `{trace}` is longer than {} bytes and is left out", self.limit);
            let at = Location::file(self.path.as_str());
            let diagnostic = Diagnostic::new(at, what, "raise the limit, if it is a recording");
            return self.ready.push_back(Item::Finding(Finding::error(diagnostic)));
        }
        if open.observations.is_empty() {
            return;
        }
        let mut bytes = vec![b'{'];
        begin_field(0, b"id", &mut bytes);
        bytes.extend(serde_json::Value::from(trace).to_string().into_bytes());
        if let Some(task) = open.task.or(open.trace_name) {
            begin_field(1, b"datasetItemId", &mut bytes);
            bytes.extend(serde_json::Value::String(task).to_string().into_bytes());
        }
        let observations: Vec<Vec<u8>> = open.observations.into_iter().map(|(_, object)| object).collect();
        for (name, list) in [("observations", observations), ("scores", scores)] {
            begin_field(1, name.as_bytes(), &mut bytes);
            bytes.push(b'[');
            bytes.extend(list.join(&b','));
            bytes.push(b']');
        }
        bytes.push(b'}');
        self.ready.push_back(Item::Record(Cut { bytes, key: trace.to_owned(), line: 1, column: 1, member: None }));
    }
}

/// A row of observations.
struct Observation {
    trace: Option<String>,
    id: String,
    trace_name: Option<String>,
    task: Option<String>,
    object: Vec<u8>,
}

fn observation(names: &[&str], nodes: &mut [RowField]) -> Result<Observation, TornColumn> {
    let mut row = Observation { trace: None, id: String::new(), trace_name: None, task: None, object: Vec::new() };
    let own = names.iter().take_while(|name| OWN.contains(name)).count();
    let (first, rest) = nodes.split_at_mut(own.min(nodes.len()));
    for (name, node) in names.iter().zip(first) {
        let text = text_of(Some(node))?;
        match *name {
            "trace_id" => row.trace = text,
            "id" => row.id = text.unwrap_or_default(),
            "trace_name" => row.trace_name = text,
            _ => row.task = task_in(text.as_deref().unwrap_or_default()),
        }
    }
    let id = serde_json::Value::String(row.id.clone()).to_string();
    write_object(names.iter().skip(own).copied(), rest, &mut row.object)?;
    let more = if row.object.len() > 2 { "," } else { "" };
    row.object.splice(1..1, format!("\"id\":{id}{more}").into_bytes());
    Ok(row)
}

/// The task named in the metadata, which may be a map or a text that contains an object.
fn task_in(metadata: &str) -> Option<String> {
    let value = serde_json::from_str::<serde_json::Value>(metadata).ok()?;
    ["task_id", "task", "dataset_item_id"].iter().find_map(|name| value[*name].as_str()).map(str::to_owned)
}

/// The text of a field; `None` if it is null or empty.
fn text_of(node: Option<&mut RowField>) -> Result<Option<String>, TornColumn> {
    let mut text = Vec::new();
    if let Some(node) = node
        && node.text(&mut text)?
        && !text.is_empty()
    {
        return Ok(Some(String::from_utf8_lossy(&text).into_owned()));
    }
    Ok(None)
}
