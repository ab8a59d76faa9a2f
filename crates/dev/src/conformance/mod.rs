//! Checks that the systems and presets reproduce golden tables of decisions.
//!
//! A table is JSON Lines, one case per line: `id`, `input`, `expected`. The last folder of its path names the system
//! (or preset framework), the file stem the table. This module does no file access: the caller reads the tables and
//! passes their text.

mod adaptive;
mod agentao;
mod agentica;
mod awaken;
mod case;
mod compare;
mod mira;
mod preset;
mod system;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::python::Dict;

pub use case::{CaseError, GoldenCase};
pub use compare::{FieldDifference, Nested, first_difference};
pub use mira::answer_of as mira_answer;

/// A file passed in by the caller: its path and its text.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// The path; its last folder names the system, its stem the table.
    pub path: String,
    /// The text.
    pub text: String,
}

/// Answers the cases of one folder.
pub trait Oracle {
    /// The answer to a case, to be compared with `expected`. `row` is the whole line without `expected`, and `asked`
    /// lists the fields of `expected`.
    fn answer(&self, table: &str, row: &Value, asked: &[String]) -> Result<Value, CaseError>;

    /// Reads one line of a table.
    fn read(&self, line: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(line)
    }

    /// How nested objects of `expected` are compared.
    fn nested(&self) -> Nested {
        Nested::Exact
    }
}

/// A case whose answer differs from the expected one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disagreement {
    /// The table's path.
    pub file: String,
    /// The id of the case.
    pub id: String,
    /// The first differing field, for example `expected.per_step[2].state.step_count`.
    pub field: String,
    /// The expected value of that field.
    pub expected: Value,
    /// The value in the answer; null also if the field is missing.
    pub got: Value,
}

/// A case that cannot be answered by this implementation, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotApplicable {
    /// The table's path.
    pub file: String,
    /// The id of the case.
    pub id: String,
    /// The reason.
    pub why: String,
}

/// A case that does not have the form its table requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Malformed {
    /// The table's path.
    pub file: String,
    /// The folder that names the system or framework.
    pub folder: String,
    /// The id of the case, or its line number if it has none.
    pub id: String,
    /// What is wrong with it.
    pub why: String,
}

/// The outcome of a conformance run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConformanceReport {
    /// Cases seen in known tables.
    pub cases: usize,
    /// Cases answered as expected.
    pub agreed: usize,
    /// Cases answered differently, in input order.
    pub disagreed: Vec<Disagreement>,
    /// Cases that depend on something outside the framework.
    pub not_applicable: Vec<NotApplicable>,
    /// Cases that do not have the form their table requires, which is an error in the table.
    pub malformed: Vec<Malformed>,
    /// Files that no system or preset recognizes. This is an error, not a skip.
    pub unknown_tables: Vec<String>,
    /// Cases per system or framework (the folder), in name order: (cases, agreed).
    pub systems: BTreeMap<String, (usize, usize)>,
    /// The same per rule that a case names, or per table if it names none.
    pub rules: BTreeMap<String, BTreeMap<String, (usize, usize)>>,
}

impl ConformanceReport {
    /// True if there is at least one case, every table is known, and every case was readable and either agreed or was
    /// set aside with a reason.
    pub fn all_agreed(&self) -> bool {
        self.cases > 0 && self.disagreed.is_empty() && self.malformed.is_empty() && self.unknown_tables.is_empty()
    }
}

/// Runs the tables among `files`, in the order given. A file that a case in the same folder names as `input.file` is a
/// recording, not a table.
pub fn run(files: &[TableFile]) -> ConformanceReport {
    let recordings = recordings(files);
    let mut report = ConformanceReport::default();
    for file in files {
        let (folder, table) = place(&file.path);
        if recordings.contains_key(file.path.as_str()) {
            continue;
        }
        match system::oracle(&folder).or_else(|| preset::oracle(&folder)) {
            Some(oracle) => run_table(file, &folder, &table, oracle.as_ref(), &recordings, &mut report),
            None => report.unknown_tables.push(file.path.clone()),
        }
    }
    report
}

/// The files that a case in the same folder names as recordings: path and text.
fn recordings(files: &[TableFile]) -> BTreeMap<&str, &str> {
    let mut named = BTreeMap::new();
    let by_path: BTreeMap<&str, &str> = files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    for file in files {
        for name in named_recordings(&file.text) {
            let beside = beside(&file.path, &name);
            let found = beside.iter().find_map(|path| by_path.get_key_value(path.as_str()));
            named.extend(found.map(|(path, text)| (*path, *text)));
        }
    }
    named
}

/// The names of the recordings that a table's cases refer to (`input.file`), for callers that load the files.
pub fn named_recordings(table: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in table.lines().filter(|line| line.contains("\"file\"")) {
        let Ok(row) = serde_json::from_str::<Value>(line) else { continue };
        if let (Some(_), Some(name)) = (row.get("expected"), row["input"]["file"].as_str())
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// The possible paths of a file next to `path`: plain or compressed.
fn beside(path: &str, name: &str) -> [String; 3] {
    ["", ".gz", ".zst"]
        .map(|packed| Path::new(path).with_file_name(format!("{name}{packed}")).to_string_lossy().into_owned())
}

/// The folder and the stem of a path.
fn place(path: &str) -> (String, String) {
    let path = Path::new(path);
    let text =
        |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default();
    let name = text(path.file_name());
    let stem = table_name(&name).unwrap_or(&name);
    (text(path.parent().and_then(Path::file_name)), stem.to_owned())
}

/// The table's name in a file name: the part before `.jsonl`, `.jsonl.gz` or `.jsonl.zst`; `None` if the file is not a
/// table.
pub fn table_name(file_name: &str) -> Option<&str> {
    let unpacked = file_name.strip_suffix(".gz").or(file_name.strip_suffix(".zst")).unwrap_or(file_name);
    unpacked.strip_suffix(".jsonl").filter(|name| !name.is_empty())
}

/// The known table that a file name refers to: the one with the same name, else the longest one whose name it contains.
fn known_table(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let exact = known.iter().find(|known| **known == name);
    if exact.is_some() {
        return exact.copied();
    }
    known.iter().copied().filter(|known| name.contains(known)).max_by_key(|known| known.len())
}

fn run_table(
    file: &TableFile,
    folder: &str,
    table: &str,
    oracle: &dyn Oracle,
    recordings: &BTreeMap<&str, &str>,
    report: &mut ConformanceReport,
) {
    for (index, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let case = TableCase::from_file(file, index + 1, oracle.read(line), recordings);
        let answer = match &case.row {
            Ok(row) => oracle.answer(table, row, &case.asked),
            Err(error) => Err(error.clone()),
        };
        if answer == Err(CaseError::UnknownTable) {
            report.unknown_tables.push(file.path.clone());
            return;
        }
        report.cases += 1;
        let named = case.row.as_ref().ok().and_then(|row| row["rule"].as_str());
        let rule = named.unwrap_or(table).to_owned();
        let tally = report.systems.entry(folder.to_owned()).or_default();
        tally.0 += 1;
        let of_rule = report.rules.entry(folder.to_owned()).or_default().entry(rule).or_default();
        of_rule.0 += 1;
        let TableCase { file, id, expected, .. } = case;
        match answer {
            Ok(got) => match first_difference(&expected, &got, oracle.nested()) {
                None => {
                    report.agreed += 1;
                    tally.1 += 1;
                    of_rule.1 += 1;
                }
                Some(FieldDifference { field, expected, got }) => {
                    report.disagreed.push(Disagreement { file, id, field, expected, got });
                }
            },
            Err(CaseError::NotApplicable(why)) => report.not_applicable.push(NotApplicable { file, id, why }),
            Err(error) => {
                let why = match error {
                    CaseError::BadCase(why) => why,
                    error => error.to_string(),
                };
                report.malformed.push(Malformed { file, folder: folder.to_owned(), id, why });
            }
        }
    }
}

/// One line of a table.
struct TableCase {
    file: String,
    id: String,
    /// The line without its `expected`, or why it cannot be read.
    row: Result<Value, CaseError>,
    expected: Value,
    /// The fields of `expected`.
    asked: Vec<String>,
}

impl TableCase {
    fn from_file(
        file: &TableFile,
        line_number: usize,
        line: Result<Value, serde_json::Error>,
        recordings: &BTreeMap<&str, &str>,
    ) -> Self {
        let bad = |why: String| Self {
            file: file.path.clone(),
            id: format!("line {line_number}"),
            row: Err(CaseError::BadCase(why)),
            expected: Value::Null,
            asked: Vec::new(),
        };
        let mut row = match line {
            Ok(Value::Object(row)) => row,
            Ok(_) => return bad("the line is not an object".to_owned()),
            Err(error) => return bad(error.to_string()),
        };
        let Some(expected) = row.shift_remove("expected") else {
            return bad("the line has no `expected`".to_owned());
        };
        if let Some(Value::Object(input)) = row.get_mut("input")
            && let Some(name) = input.text("file")
            && let Some(recording) = beside(&file.path, name).iter().find_map(|path| recordings.get(path.as_str()))
        {
            input.insert("recording".to_owned(), Value::from(*recording));
        }
        let id = if let Some(id) = row.text("id") { id.to_owned() } else { format!("line {line_number}") };
        let asked = expected.as_object().map(|expected| expected.keys().cloned().collect()).unwrap_or_default();
        Self { file: file.path.clone(), id, row: Ok(Value::Object(row)), expected, asked }
    }
}
