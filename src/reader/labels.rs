//! `labels.csv`: outcomes that live elsewhere, joined on the run's id.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Finding;
use super::reading::STEPS;
use crate::diagnostic::{Diagnostic, Location, Severity, nearest};
use crate::transcript::{EndCause, Outcome, OutcomeSource, Run};

/// Names a label file goes by when it lies with the recordings.
const NAMES: &[&str] = &["labels.csv", "outcomes.csv"];
/// Columns, each with the other names it goes by.
const COLUMNS: &[(&str, &[&str])] = &[
    ("run_id", &["session_file", "file"]),
    ("task_id", &["benchmark_task", "task"]),
    ("success", &["result", "resolved", "passed"]),
    ("score", &["reward"]),
    ("end", &[]),
    ("secured_step", &[]),
];

/// What a label says of one run.
#[derive(Clone, Debug, Default)]
struct Label {
    at: Location,
    /// A label that was asked for must match a run; one that merely lay nearby need not.
    must_match: bool,
    matched: bool,
    task_id: Option<String>,
    success: Option<bool>,
    score: Option<f64>,
    end: Option<EndCause>,
    secured_step: Option<usize>,
}

/// All labels of a corpus.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    rows: BTreeMap<String, Label>,
    /// What was wrong with the files.
    pub(super) findings: Vec<Finding>,
    /// Files that could not be read.
    pub(super) unreadable: Vec<Diagnostic>,
}

/// True for the name of a label file.
pub(super) fn is_label_file(name: &str) -> bool {
    NAMES.contains(&name)
}

impl Labels {
    /// Adds the labels of a file. `must_match`: each of them has to belong to some run.
    pub(super) fn add(&mut self, path: &Path, must_match: bool) {
        let shown = path.display().to_string();
        let mut reader = match csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_path(path) {
            Ok(reader) => reader,
            Err(error) => {
                let what = format!("cannot read the labels: {error}");
                self.unreadable.push(Diagnostic::new(Location::file(shown), what, "check the path"));
                return;
            }
        };
        let header = reader.headers().cloned().unwrap_or_default();
        let columns = self.columns(&header, &shown);
        if !columns.contains(&Some("run_id")) {
            let found = header.iter().collect::<Vec<_>>().join(", ");
            self.complain(
                Location::line(shown, 1),
                format!("labels without a column `run_id` (there is: {found})"),
                "name the column that holds the runs' ids `run_id`",
            );
            return;
        }
        for record in reader.records() {
            match record {
                Ok(record) => self.add_row(&record, &columns, &shown, must_match),
                Err(error) => {
                    let line = error.position().map_or(0, |at| usize::try_from(at.line()).unwrap_or(0));
                    self.complain(
                        Location::line(shown.as_str(), line),
                        format!("not a CSV row: {error}"),
                        "write the row anew",
                    );
                }
            }
        }
    }

    /// Which of our columns each column of the file is.
    fn columns(&mut self, header: &csv::StringRecord, path: &str) -> Vec<Option<&'static str>> {
        let mut columns = Vec::new();
        for name in header {
            let name = name.trim_start_matches('\u{feff}');
            let known = COLUMNS.iter().find(|(column, others)| *column == name || others.contains(&name));
            if known.is_none() {
                let help = nearest(name, COLUMNS.iter().map(|(column, _)| *column)).map_or_else(
                    || "the column is ignored".to_owned(),
                    |near| format!("the column is ignored; did you mean `{near}`?"),
                );
                self.findings.push(Finding {
                    severity: Severity::Warning,
                    diagnostic: Diagnostic::new(Location::line(path, 1), format!("unknown column `{name}`"), help),
                });
            }
            columns.push(known.map(|(column, _)| *column));
        }
        columns
    }

    fn add_row(&mut self, record: &csv::StringRecord, columns: &[Option<&'static str>], path: &str, must_match: bool) {
        let line = record.position().map_or(0, |at| usize::try_from(at.line()).unwrap_or(0));
        let at = Location::line(path, line);
        let mut label = Label { at: at.clone(), must_match, ..Label::default() };
        let mut run_id = None;
        for (column, value) in columns.iter().zip(record) {
            if value.is_empty() {
                continue;
            }
            let understood = match *column {
                Some("run_id") => {
                    run_id = Some(value.to_owned());
                    true
                }
                Some("task_id") => {
                    label.task_id = Some(value.to_owned());
                    true
                }
                Some("success") => set(&mut label.success, grade_word(value)),
                Some("score") => set(&mut label.score, value.parse().ok().filter(|score: &f64| score.is_finite())),
                Some("end") => set(&mut label.end, value.parse().ok()),
                Some("secured_step") => set(&mut label.secured_step, value.parse().ok().filter(|step| *step < STEPS)),
                _ => true,
            };
            if !understood {
                let column = column.unwrap_or_default();
                self.complain(
                    at.clone(),
                    format!("`{value}` is no value of `{column}`"),
                    "success: true or false; score: a number; end: self_finish, cap, timeout, error, killed; \
                     secured_step: a step, from 0",
                );
            }
        }
        match run_id {
            None => self.complain(at, "a label without a run id", "fill in `run_id`, or take the row out"),
            Some(id) if self.rows.contains_key(&id) => {
                self.complain(
                    at,
                    format!("a second label for run `{id}`"),
                    "keep one row for each run; the first is used",
                );
            }
            Some(id) => {
                self.rows.insert(id, label);
            }
        }
    }

    fn complain(&mut self, at: Location, what: impl Into<String>, help: &str) {
        self.findings.push(Finding { severity: Severity::Error, diagnostic: Diagnostic::new(at, what, help) });
    }

    /// Puts the label of the run on it, if it has one. `names`: what the run may be called, best first.
    pub(super) fn apply(&mut self, run: &mut Run, names: &[&str], success_at: Option<f64>) {
        let Some(name) = names.iter().find(|name| self.rows.contains_key(**name)) else { return };
        let Some(label) = self.rows.get_mut(*name) else { return };
        label.matched = true;
        if label.task_id.is_some() {
            run.header.task_id.clone_from(&label.task_id);
        }
        let graded = label.success.or_else(|| label.score.map(|score| score >= success_at.unwrap_or(1.0)));
        if graded.is_some() {
            run.grade.outcome = Outcome::from_grade(graded);
            run.grade.source = OutcomeSource::Sidecar(label.at.path.clone());
        }
        run.grade.score = label.score.or(run.grade.score);
        run.grade.end = label.end.unwrap_or(run.grade.end);
        run.grade.secured_step = label.secured_step.or(run.grade.secured_step);
    }

    /// Labels that had to match a run and did not, in order of their place.
    pub(super) fn unmatched(&self) -> Vec<Diagnostic> {
        let mut unmatched: Vec<Diagnostic> = self
            .rows
            .iter()
            .filter(|(_, label)| label.must_match && !label.matched)
            .map(|(id, label)| {
                Diagnostic::new(
                    label.at.clone(),
                    format!("the label of run `{id}` matches no run"),
                    "correct the run id, or allow labels without a run",
                )
            })
            .collect();
        unmatched.sort();
        unmatched
    }
}

/// Stores a value that was understood.
fn set<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    let understood = value.is_some();
    *slot = value;
    understood
}

/// A grade, as people write it.
pub(super) fn grade_word(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "1" | "1.0" | "yes" | "y" | "success" | "pass" | "passed" | "resolved" | "correct" => Some(true),
        "false" | "0" | "0.0" | "no" | "n" | "failure" | "fail" | "failed" | "unresolved" | "incorrect" => Some(false),
        _ => None,
    }
}

/// Label files beside the recordings and in the folder above them.
pub(super) fn nearby(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in paths {
        let beside = path.parent().map(Path::to_path_buf);
        let above = beside.as_deref().filter(|_| path.is_file()).and_then(Path::parent).map(Path::to_path_buf);
        for folder in beside.into_iter().chain(above) {
            found.extend(NAMES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// A file's name without folder, for labels that name files.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\', '!']).next().unwrap_or(path)
}
