//! Parses a label file: CSV with a header, one row per run.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use super::{FIELDS, RunLabel};
use crate::diagnostic::{Diagnostic, Location, Severity, nearest};
use crate::label::words::grade_word;
use crate::open::finding::Finding;
use crate::open::whole_file::{LARGEST_WHOLE, read_whole};
use crate::value::json::STEPS;

/// The columns, each with its alternative names and what to write in it.
const COLUMNS: &[(&str, &[&str], &str)] = &[
    ("run_id", &["session_file", "file"], ""),
    ("task_id", &["benchmark_task", "task"], ""),
    ("success", &["result", "resolved", "passed"], "true or false; leave the cell empty if it is not known"),
    ("score", &["reward"], "a number; leave the cell empty if it is not known"),
    ("end", &[], "self_finish, cap, timeout, error or killed"),
    ("secured_step", &[], "a step, from 0"),
    ("secured_at", &[], "a step, from 1"),
    ("drawn", &[], "the run's place in the order in which it was drawn, from 1; leave the cell empty if it was not"),
];

/// The column that is called so, by its own name or by another.
fn column_called(name: &str) -> Option<&'static str> {
    let known = COLUMNS.iter().find(|(column, others, _)| *column == name || others.contains(&name));
    known.map(|(column, ..)| *column)
}

/// Columns in a generated template that are only there to be read by people.
const CONTEXT: &[&str] =
    &["model", "steps", "tokens", "cost_usd", "recorded_end", "stacks_that_stop", "recording", "prompt", "show"];
/// An example of a correct file, for help texts.
const EXAMPLE: &str = "the first line is for example `run_id,success`, the next `run-1,true`";

/// Which columns of a label file are the known ones: `run_id=session,success=resolved`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelColumns(BTreeMap<&'static str, String>);

impl LabelColumns {
    /// Parses `run_id=…,success=…`. The error describes the mistake.
    pub fn parse(text: &str) -> Result<Self, String> {
        let names = || COLUMNS.iter().map(|(name, ..)| *name);
        let mut columns = BTreeMap::new();
        for part in text.split(',') {
            let (name, column) = part.split_once('=').ok_or_else(|| format!("`{part}` is no `name=column`"))?;
            let known = names().find(|known| *known == name.trim());
            let known =
                known.ok_or_else(|| format!("`{name}` is none of {}", names().collect::<Vec<_>>().join(", ")))?;
            columns.insert(known, column.trim().to_owned());
        }
        if columns.contains_key("run_id") {
            Ok(Self(columns))
        } else {
            Err("it names no column for `run_id`".to_owned())
        }
    }

    /// Whether a file has all of these columns.
    fn fit(&self, header: &csv::StringRecord) -> bool {
        self.0.values().all(|column| header.iter().any(|name| name == column))
    }

    /// What each column is. Those that are not named are not read, unless the run's id is the only one that is: the
    /// grades then have their usual names.
    fn matching(&self, header: &csv::StringRecord) -> Vec<Option<&'static str>> {
        let known = |name: &str| match self.0.iter().find(|(_, column)| *column == name) {
            Some((known, _)) => Some(*known),
            None => column_called(&name.to_lowercase()).filter(|column| *column != "run_id" && self.0.len() == 1),
        };
        let mut columns: Vec<Option<&'static str>> = header.iter().map(known).collect();
        for at in 1..columns.len() {
            if columns[at].is_some() && columns[..at].contains(&columns[at]) {
                columns[at] = None;
            }
        }
        columns
    }
}

impl std::fmt::Display for LabelColumns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns: Vec<String> = self.0.iter().map(|(name, column)| format!("{name}={column}")).collect();
        f.write_str(&columns.join(","))
    }
}

/// The columns of a CSV file that name runs and grade them, if it has such columns. `is_run` tells the ids of runs.
pub(crate) fn outcomes_in(path: &Path, is_run: &dyn Fn(&str) -> bool) -> Option<(LabelColumns, usize)> {
    const LARGEST: u64 = 64 << 20;
    if std::fs::metadata(path).ok()?.len() > LARGEST {
        return None;
    }
    let table = FirstRows::read(csv_options().from_path(path).ok()?)?;
    let runs = |at: usize| table.cells(at).filter(|cell| is_run(cell)).count();
    let id = table.columns().max_by_key(|at| (runs(*at), std::cmp::Reverse(*at))).filter(|at| runs(*at) > 0)?;
    let is_score = |at: &usize| {
        let is_named = ["score", "reward"].iter().any(|word| table.title(*at).contains(word));
        is_named && *at != id && table.cells(*at).all(|cell| cell.parse::<f64>().is_ok())
    };
    let outcome = match table.columns().find(|at| *at != id && table.has_grades(*at)) {
        Some(at) => ("success", table.title(at).to_owned()),
        None => ("score", table.title(table.columns().find(is_score)?).to_owned()),
    };
    Some((LabelColumns(BTreeMap::from([("run_id", table.title(id).to_owned()), outcome])), runs(id)))
}

/// How tables are read here.
fn csv_options() -> csv::ReaderBuilder {
    let mut options = csv::ReaderBuilder::new();
    options.flexible(true).trim(csv::Trim::All);
    options
}

/// The beginning of a table, from which the meaning of its columns is guessed.
struct FirstRows {
    header: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

impl FirstRows {
    fn read(mut reader: csv::Reader<impl Read>) -> Option<Self> {
        let header = reader.headers().ok()?.clone();
        Some(Self { header, rows: reader.records().take(GUESSED_FROM).filter_map(Result::ok).collect() })
    }

    fn columns(&self) -> Range<usize> {
        0..self.header.len()
    }

    fn title(&self, at: usize) -> &str {
        self.header.get(at).unwrap_or_default()
    }

    /// The cells of a column that are not empty.
    fn cells(&self, at: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().filter_map(move |row| row.get(at)).filter(|cell| !cell.is_empty())
    }

    fn has_grades(&self, at: usize) -> bool {
        self.cells(at).count() > 0 && self.cells(at).all(|cell| grade_word(cell).is_some())
    }
}

/// The contents of a label file.
#[derive(Debug, Default)]
pub(super) struct LabelFile {
    /// Run ids with their labels, in file order, without empty labels.
    pub(super) labels: Vec<(String, RunLabel)>,
    /// Errors in single rows and columns.
    pub(super) findings: Vec<Finding>,
    /// Warnings about ignored columns whose names resemble a known one.
    pub(super) notices: Vec<Diagnostic>,
}

/// Why a file yields no label.
#[derive(Debug)]
pub(super) enum NoLabels {
    /// It has no column with the runs' ids, so it may be a file of another kind.
    NoRunIds(Diagnostic),
    /// It cannot be read, is not a label file, or has only empty labels.
    Wrong(Diagnostic),
}

impl From<Diagnostic> for NoLabels {
    fn from(wrong: Diagnostic) -> Self {
        Self::Wrong(wrong)
    }
}

impl LabelFile {
    /// Parses a file. Fails if it yields no label.
    pub(super) fn read(path: &Path, named: Option<&LabelColumns>) -> Result<Self, NoLabels> {
        let shown = path.display().to_string();
        let bytes = read_whole(path, LARGEST_WHOLE).map_err(|error| {
            let what = format!("cannot read the labels: {error}");
            Diagnostic::new(Location::file(&shown), what, "check the path; labels are a CSV file")
        })?;
        let text = decoded(&shown, bytes)?;
        let header = text.lines().next().unwrap_or_default();
        check_shape(&shown, &text, header)?;
        let mut file = Self::default();
        let mut reader = csv_options().from_reader(text.as_bytes());
        let titles = reader.headers().cloned().unwrap_or_default();
        let columns = match named.filter(|named| named.fit(&titles)) {
            Some(named) => named.matching(&titles),
            None => file.columns(&titles, &shown, &text),
        };
        for (nth, title) in titles.iter().enumerate() {
            let is_used = titles.iter().zip(&columns).any(|(other, column)| column.is_some() && other == title);
            if is_used && titles.iter().take(nth).any(|other| other == title) {
                let what = format!("the column `{title}` stands here twice");
                return Err(Diagnostic::new(Location::line(&*shown, 1), what, "take one of them out").into());
            }
        }
        if !columns.contains(&Some("run_id")) {
            return Err(NoLabels::NoRunIds(no_run_id(&shown, &text)));
        }
        let (mut rows, mut line) = (0, 1);
        for record in reader.records() {
            match record {
                Ok(record) => {
                    rows += 1;
                    line = line_number(record.position()).unwrap_or(line);
                    let at = Location::line(&*shown, line);
                    match misfit(&record, &columns) {
                        // Whatever stands behind it is inside its quotes.
                        Some((what, true)) => {
                            return Err(Diagnostic::new(at, what, "close the quote, or take it out").into());
                        }
                        Some((what, false)) => {
                            file.complain(at, what, "write a cell for each column; the row is left out");
                        }
                        None => file.row(&record, &columns, at),
                    }
                }
                Err(error) => {
                    let line = line_number(error.position()).unwrap_or(0);
                    let what = format!("not a CSV row: {error}");
                    file.complain(Location::line(&*shown, line), what, "write the row anew");
                }
            }
        }
        // A file with only task ids is a valid mapping to tasks, but not if it also has grade columns that were left
        // empty.
        let gradable = columns.iter().flatten().any(|column| FIELDS.contains(column));
        if !file.labels.iter().any(|(_, label)| label.says_more_than_task() || !gradable && !label.is_empty()) {
            let what = match rows {
                0 => "labels without a row".to_owned(),
                rows => format!("none of the {rows} rows labels a run: the cells are empty or not understood"),
            };
            let guessed = if gradable { None } else { guessed(&text, named) };
            let help = match guessed {
                Some(columns) => format!("name the column with the outcome: `--label-columns {columns}`"),
                None => "fill in `success` (true or false) or `score` for some runs, or move the file away".to_owned(),
            };
            return Err(file.first_complaint(Diagnostic::new(Location::file(shown), what, help)).into());
        }
        Ok(file)
    }

    /// The first error in a row, which is more helpful than saying that no row could be used.
    fn first_complaint(&self, otherwise: Diagnostic) -> Diagnostic {
        let first = self.findings.iter().find(|finding| finding.severity == Severity::Error);
        match first {
            Some(finding) => finding.diagnostic.clone(),
            None => otherwise,
        }
    }

    /// Maps the file's columns to known ones. A column with the main name takes precedence over an alternative name.
    fn columns(&mut self, header: &csv::StringRecord, path: &str, text: &str) -> Vec<Option<&'static str>> {
        let plain: Vec<String> =
            header.iter().map(|name| name.trim_matches('"').to_lowercase().replace([' ', '-'], "_")).collect();
        let mut columns = vec![None; plain.len()];
        for (column, others, _) in COLUMNS {
            let mut names = std::iter::once(column).chain(*others);
            if let Some(at) = names.find_map(|name| plain.iter().position(|title| title == name)) {
                columns[at] = Some(*column);
            }
        }
        for (at, (name, column)) in plain.iter().zip(&columns).enumerate() {
            let known = column_called(name);
            if column.is_some() || CONTEXT.contains(&name.as_str()) {
                continue;
            }
            let shown = header.get(at).unwrap_or_default();
            let near = nearest(name, COLUMNS.iter().map(|(column, ..)| *column)).filter(|_| known.is_none());
            let (what, help) = match (known, near) {
                (Some(column), _) => (format!("a second column for `{column}`: `{shown}`"), "it is ignored".to_owned()),
                (None, Some(near)) => {
                    (format!("unknown column `{shown}`"), format!("it is ignored; did you mean `{near}`?"))
                }
                (None, None) => (format!("unknown column `{shown}`"), "the column is ignored".to_owned()),
            };
            let span = match text.find(shown) {
                Some(at) => at..at + shown.len(),
                None => 0..0,
            };
            let diagnostic = Diagnostic::in_text(path, text, span, what, help);
            if near.is_some() {
                self.notices.push(diagnostic);
            } else {
                self.findings.push(Finding::warning(diagnostic));
            }
        }
        columns
    }

    fn row(&mut self, record: &csv::StringRecord, columns: &[Option<&'static str>], at: Location) {
        let mut label = RunLabel { at: at.clone(), ..RunLabel::default() };
        let mut run_id = None;
        for (column, value) in columns.iter().zip(record) {
            let Some(column) = column.filter(|_| !value.is_empty()) else { continue };
            let understood = match column {
                "run_id" => set(&mut run_id, Some(value.to_owned())),
                "task_id" => set(&mut label.task_id, Some(value.to_owned())),
                "success" => set(&mut label.success, grade_word(value)),
                "score" => set(&mut label.score, value.parse().ok().filter(|score: &f64| score.is_finite())),
                "end" => set(&mut label.end, value.parse().ok()),
                "drawn" => set(&mut label.drawn, value.parse().ok().filter(|place: &u64| *place > 0)),
                "secured_at" => set(&mut label.secured_step, step(value, 1)),
                _ => set(&mut label.secured_step, step(value, 0)),
            };
            if !understood {
                let written = COLUMNS.iter().find(|(name, ..)| *name == column).map(|(.., written)| *written);
                let help = format!("write {}", written.unwrap_or_default());
                self.complain(at.clone(), format!("`{value}` is no value of `{column}`"), &help);
            }
        }
        match run_id {
            _ if label.is_empty() => {}
            None => self.complain(at, "a label without a run id", "fill in `run_id`, or take the row out"),
            Some(id) => self.labels.push((id, label)),
        }
    }

    fn complain(&mut self, at: Location, what: impl Into<String>, help: &str) {
        self.findings.push(Finding::error(Diagnostic::new(at, what, help)));
    }
}

/// The step in a cell, counted from 0; the cell counts from `first`.
fn step(cell: &str, first: usize) -> Option<usize> {
    let step = cell.parse::<usize>().ok()?.checked_sub(first)?;
    if step < STEPS { Some(step) } else { None }
}

fn line_number(position: Option<&csv::Position>) -> Option<usize> {
    usize::try_from(position?.line()).ok()
}

/// What is wrong with the shape of a row, and whether it hides the rows behind it: a quote that is not closed takes
/// them into its cell.
fn misfit(record: &csv::StringRecord, columns: &[Option<&'static str>]) -> Option<(String, bool)> {
    let mut known = record.iter().zip(columns).filter(|(_, column)| column.is_some());
    if known.any(|(cell, _)| cell.contains(['\n', '\r'])) {
        return Some(("a cell that goes on in the next line: a quote is not closed".to_owned(), true));
    }
    let extra = record.iter().skip(columns.len()).any(|cell| !cell.is_empty());
    if record.len() >= columns.len() && !extra {
        return None;
    }
    Some((format!("{} cells in a table of {} columns", record.len(), columns.len()), false))
}

/// Decodes the text and removes a byte order mark. UTF-16, which spreadsheets also write, is an error that says so.
fn decoded(path: &str, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let help = "save the file as CSV in UTF-8";
        return Err(Diagnostic::new(Location::file(path), "labels in UTF-16", help));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + memchr::memchr_iter(b'\n', valid).count();
            let help = "save the file as CSV in UTF-8";
            Err(Diagnostic::new(Location::line(path, line), "labels that are not UTF-8 text", help))
        }
    }
}

/// Rejects a file that is not comma-separated, with advice on how to convert it.
fn check_shape(path: &str, text: &str, header: &str) -> Result<(), Diagnostic> {
    if text.trim().is_empty() {
        return Err(Diagnostic::new(Location::file(path), "labels in an empty file", EXAMPLE));
    }
    if header.trim_start().starts_with(['{', '[']) {
        let what = "labels in JSON, and they should be CSV";
        return Err(Diagnostic::new(Location::line(path, 1), what, EXAMPLE));
    }
    for (separator, name) in [(';', "semicolons"), ('\t', "tabs"), ('|', "vertical bars")] {
        if let Some(at) = header.find(separator).filter(|_| !header.contains(',')) {
            let what = format!("columns separated by {name}, and they should be separated by commas");
            let help = match separator {
                ';' => "save the file as CSV with commas; decimal commas become points",
                _ => "save the file as CSV with commas",
            };
            return Err(in_header(path, text, separator, at..at + 1, what, help));
        }
    }
    Ok(())
}

fn no_run_id(path: &str, text: &str) -> Diagnostic {
    let header = text.lines().next().unwrap_or_default();
    let help = match guessed(text, None).filter(|_| is_header(header, ',')) {
        Some(columns) => format!("are they in these columns? say so: `--labels {path} --label-columns {columns}`"),
        None => "name the column that holds the runs' ids: `--label-columns run_id=COLUMN`".to_owned(),
    };
    in_header(path, text, ',', 0..header.len(), "labels without a column `run_id`", help)
}

/// Something wrong with the first line. It is quoted only if it is a header: any file may be named as labels.
fn in_header(
    path: &str,
    text: &str,
    separator: char,
    span: Range<usize>,
    what: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    let is_header = is_header(text.lines().next().unwrap_or_default(), separator);
    let diagnostic = Diagnostic::in_text(path, text, span, what, help);
    if is_header { diagnostic } else { Diagnostic { excerpt: None, ..diagnostic } }
}

/// Whether a first line is names of columns, and no line of a file that is no table.
fn is_header(line: &str, separator: char) -> bool {
    const LONGEST: usize = 40;
    let is_word = |name: &str| {
        let name = name.trim().trim_matches('"');
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.'));
        (1..=LONGEST).contains(&name.len()) && is_plain
    };
    line.contains(separator) && line.split(separator).all(is_word)
}

/// Which columns the names and the cells suggest: each run has an id of its own, and a grade is one of few words. The
/// column of the ids may be among those that are `named`.
fn guessed(text: &str, named: Option<&LabelColumns>) -> Option<LabelColumns> {
    const IDS: [&str; 7] = ["session", "run", "conversation", "episode", "trace", "job", "name"];
    let table = FirstRows::read(csv_options().from_reader(text.as_bytes()))?;
    let is_distinct = |at: &usize| {
        let all: HashSet<&str> = table.cells(*at).collect();
        all.len() == table.rows.len() && !all.is_empty()
    };
    let is_id = |at: &usize| {
        let name = table.title(*at).to_lowercase();
        name == "id" || name.ends_with("_id") || IDS.iter().any(|word| name.contains(word))
    };
    let at = if let Some(named) = named
        && let Some(id) = named.0.get("run_id")
    {
        table.header.iter().position(|name| name == id)?
    } else if let Some(at) = table.columns().find(|at| is_distinct(at) && is_id(at)) {
        at
    } else if table.rows.len() > 2 {
        table.columns().find(is_distinct)?
    } else {
        return None;
    };
    let mut columns = BTreeMap::from([("run_id", table.title(at).to_owned())]);
    if let Some(grade) = table.columns().find(|other| *other != at && table.has_grades(*other)) {
        columns.insert("success", table.title(grade).to_owned());
    }
    Some(LabelColumns(columns))
}

/// Rows that are looked at.
const GUESSED_FROM: usize = 2000;

/// Stores a value if it could be parsed; returns whether it could.
fn set<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    let understood = value.is_some();
    *slot = value;
    understood
}
