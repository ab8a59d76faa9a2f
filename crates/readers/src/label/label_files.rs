//! `labels.csv`: outcomes from a separate file, joined by run id.
//!
//! If a file that the user names, or a `labels.csv` among the recordings, yields no label, the corpus is not read: a
//! report without the labels would look like one with them.

mod draw;
mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::find::file_name::real_path;
use crate::find::read_error::ReadError;
use crate::open::finding::Finding;
use crate::open::inputs::add_input;
use crate::transcript::{EndCause, Grade, Outcome, OutcomeSource, Run};
pub use draw::LabelDraw;
pub use file::LabelColumns;
pub(crate) use file::outcomes_in;
use file::{LabelFile, NoLabels};

/// Names under which label files are found next to recordings.
const NAMES: &[&str] = &["labels.csv", "outcomes.csv"];
/// The columns that grade a run.
const FIELDS: &[&str] = &["success", "score", "end", "secured_step", "secured_at"];

/// How a label file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LabelFileOrigin {
    /// The user named it.
    Named,
    /// It is named `labels.csv` and is among the recordings.
    Among,
    /// It is named `labels.csv` and is in the same directory as the recordings; some labels may be for other runs.
    Beside,
    /// It is above the recordings, or has a name with other uses too; its labels may be for other runs.
    Nearby,
}

/// The label of one run.
#[derive(Clone, Debug, Default)]
struct RunLabel {
    at: Location,
    /// The index of the file it is from.
    file: usize,
    matched: bool,
    task_id: Option<String>,
    success: Option<bool>,
    score: Option<f64>,
    end: Option<EndCause>,
    secured_step: Option<usize>,
    /// Its place in an order drawn at random, from 1.
    drawn: Option<u64>,
    /// Whether a run that had no outcome has one by it.
    grades: bool,
    /// True if labels of equal precedence contradict each other; then none is used.
    contradicted: bool,
    /// The runs that it may mean, under a name that several files have: the first ones, and their number.
    doubtful: (Vec<String>, u64),
}

impl RunLabel {
    fn says_more_than_task(&self) -> bool {
        self.success.is_some() || self.score.is_some() || self.end.is_some() || self.secured_step.is_some()
    }

    fn is_empty(&self) -> bool {
        self.task_id.is_none() && !self.says_more_than_task()
    }

    /// The first field for which both have a value and the values differ.
    fn conflict(&self, other: &Self) -> Option<&'static str> {
        fn differ<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            a.is_some() && b.is_some() && a != b
        }
        let fields = [
            ("success", differ(self.success.as_ref(), other.success.as_ref())),
            ("score", differ(self.score.as_ref(), other.score.as_ref())),
            ("secured_step", differ(self.secured_step.as_ref(), other.secured_step.as_ref())),
            ("end", differ(self.end.as_ref(), other.end.as_ref())),
            ("task_id", differ(self.task_id.as_ref(), other.task_id.as_ref())),
        ];
        fields.into_iter().find(|(_, differ)| *differ).map(|(field, _)| field)
    }

    /// Whether the run succeeded: as it is labelled, else by its score.
    fn graded(&self, success_at: Option<f64>) -> Option<bool> {
        if self.success.is_some() {
            return self.success;
        }
        Some(self.score? >= success_at.unwrap_or(1.0))
    }

    /// This grade as the label has it.
    fn grade(&self, before: &Grade, success_at: Option<f64>) -> Grade {
        let graded = self.graded(success_at);
        let (outcome, source) = match graded {
            Some(_) => (Outcome::from_grade(graded), OutcomeSource::Sidecar(self.at.path.clone())),
            None => (before.outcome, before.source.clone()),
        };
        Grade {
            outcome,
            score: self.score.or(before.score),
            source,
            end: self.end.unwrap_or(before.end),
            secured_step: self.secured_step.or(before.secured_step),
        }
    }

    /// Fills fields missing here from the other.
    fn complete(&mut self, other: Self) {
        self.task_id = self.task_id.take().or(other.task_id);
        self.success = self.success.or(other.success);
        self.score = self.score.or(other.score);
        self.end = self.end.or(other.end);
        self.secured_step = self.secured_step.or(other.secured_step);
        self.drawn = self.drawn.or(other.drawn);
    }
}

/// Counts occurrences of something and keeps the first.
#[derive(Clone, Debug, Default)]
struct Occurrences {
    times: u64,
    first: Option<(Location, String)>,
}

impl Occurrences {
    fn add(&mut self, at: &Location, what: impl FnOnce() -> String) {
        self.times += 1;
        if self.first.is_none() {
            self.first = Some((at.clone(), what()));
        }
    }
}

/// All labels for a corpus.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    rows: BTreeMap<String, RunLabel>,
    files: Vec<(PathBuf, LabelFileOrigin)>,
    /// Files near the recordings that are no label files; they may be outcomes under other names.
    others: Vec<(PathBuf, Diagnostic)>,
    /// Errors in the files.
    pub(crate) findings: Vec<Finding>,
    /// Messages shown by every command.
    notices: Vec<Diagnostic>,
    beyond_end: Occurrences,
    overridden: Occurrences,
    repeated: Occurrences,
    /// The first run that was read, to show in messages what run ids look like.
    first_run: Option<String>,
}

/// True if labels in such a file are expected to match a run.
fn must_match(origin: LabelFileOrigin) -> bool {
    matches!(origin, LabelFileOrigin::Named | LabelFileOrigin::Among)
}

/// True for the name of a label file.
pub(crate) fn is_label_file(name: &str) -> bool {
    NAMES.contains(&name)
}

impl Labels {
    /// Adds the labels of a file, unless it was added before.
    ///
    /// Fails if a file that should have labels yields none.
    pub(crate) fn add(
        &mut self,
        path: &Path,
        origin: LabelFileOrigin,
        columns: Option<&LabelColumns>,
    ) -> Result<(), ReadError> {
        if self.files.iter().any(|(added, _)| added == path) {
            return Ok(());
        }
        let LabelFile { labels, findings, notices } = match LabelFile::read(path, columns) {
            Ok(file) => file,
            Err(NoLabels::NoRunIds(diagnostic)) if origin == LabelFileOrigin::Nearby => {
                self.others.push((path.to_path_buf(), diagnostic));
                return Ok(());
            }
            Err(NoLabels::Wrong(diagnostic)) if origin == LabelFileOrigin::Nearby => {
                self.findings.push(Finding::error(diagnostic));
                return Ok(());
            }
            Err(NoLabels::NoRunIds(diagnostic) | NoLabels::Wrong(diagnostic)) => {
                return Err(ReadError::Labels(diagnostic));
            }
        };
        add_input(path);
        let file = self.files.len();
        self.files.push((path.to_path_buf(), origin));
        self.findings.extend(findings);
        self.notices.extend(notices);
        for (id, label) in labels {
            self.insert(id, RunLabel { file, ..label });
        }
        Ok(())
    }

    /// Whether the labels of this file were added.
    pub(crate) fn has_read(&self, path: &Path) -> bool {
        self.files.iter().any(|(added, _)| real_path(added) == real_path(path))
    }

    /// What is wrong with files near the recordings that are called like label files, but for these.
    pub(crate) fn no_labels(&self, but: &[PathBuf]) -> impl Iterator<Item = Diagnostic> {
        let told = self.others.iter().filter(|(path, _)| !but.iter().any(|other| real_path(path) == real_path(other)));
        told.map(|(_, diagnostic)| diagnostic.clone())
    }

    fn insert(&mut self, id: String, label: RunLabel) {
        let files = &self.files;
        let standing = |label: &RunLabel| files.get(label.file).map(|(_, origin)| *origin);
        let Some(known) = self.rows.get_mut(&id) else {
            self.rows.insert(id, label);
            return;
        };
        let (at, first) = (label.at.clone(), known.at.clone());
        let (severity, what, help) = match known.conflict(&label) {
            None if known.file != label.file => return known.complete(label),
            None => {
                known.complete(label);
                self.repeated.add(&at, || format!("a second label for run `{id}` that says nothing else"));
                return;
            }
            Some(field) if standing(known) == standing(&label) => {
                known.contradicted = true;
                let help = format!("the other is at {first}: keep one; until then neither is used");
                (Severity::Error, format!("two labels for run `{id}` that contradict each other in `{field}`"), help)
            }
            Some(field) => {
                let what = format!("another `{field}` for run `{id}` than {first} has");
                (Severity::Warning, what, "the file you named goes before one found with the recordings".to_owned())
            }
        };
        self.findings.push(Finding { severity, diagnostic: Diagnostic::new(at, what, help) });
    }

    /// Whether there is no label.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Applies a run's label to it, if there is one. `names` are the ids the run may have in a label file, best first.
    pub(crate) fn apply(&mut self, run: &mut Run, names: &[&str], success_at: Option<f64>) {
        self.first_run.get_or_insert_with(|| run.header.run_id.clone());
        self.apply_to_rounds(run, names, success_at);
        let Some(name) = names.iter().find(|name| self.rows.contains_key(**name)) else { return };
        let Some(label) = self.rows.get_mut(*name) else { return };
        label.matched = true;
        if label.contradicted {
            return;
        }
        if label.task_id.is_some() {
            run.header.task_id.clone_from(&label.task_id);
        }
        let mut grade = label.grade(&run.grade, success_at);
        let (recorded, labelled) = (run.grade.outcome, grade.outcome);
        label.grades = recorded == Outcome::Unknown && labelled != Outcome::Unknown;
        if recorded != Outcome::Unknown && recorded != labelled {
            let (recorded, labelled) = (recorded.name(), labelled.name());
            self.overridden.add(&label.at, || {
                format!("`{}` is recorded as a {recorded} and labelled a {labelled}", run.header.run_id)
            });
        }
        let steps = run.steps().len();
        if let Some(step) = label.secured_step.filter(|step| *step >= steps) {
            grade.secured_step = run.grade.secured_step;
            self.beyond_end.add(&label.at, || {
                format!("a label secures step {}, and `{}` has {steps}", step + 1, run.header.run_id)
            });
        }
        run.grade = grade;
    }

    /// Notes that a run may be meant by labels under these names, which other runs have as well.
    pub(crate) fn doubt(&mut self, names: &[&str], run_id: &str) {
        const SHOWN: usize = 3;
        for name in names {
            if let Some(label) = self.rows.get_mut(*name).filter(|label| !label.matched) {
                let (runs, n) = &mut label.doubtful;
                *n += 1;
                if runs.len() < SHOWN {
                    runs.push(run_id.to_owned());
                }
            }
        }
    }

    /// The error about the first label that several runs may be meant by.
    fn ambiguous(&self) -> Option<Diagnostic> {
        let doubtful = || self.rows.iter().filter(|(_, label)| !label.matched && label.doubtful.1 > 0);
        let (id, label) = doubtful().min_by_key(|(_, label)| &label.at)?;
        let (runs, n) = &label.doubtful;
        let runs: Vec<String> = runs.iter().map(|run| format!("`{run}`")).collect();
        let more = if *n > runs.len() as u64 { " …" } else { "" };
        let of = if doubtful().count() > 1 {
            format!("{} labels fit several runs; the first", doubtful().count())
        } else {
            "a label".to_owned()
        };
        let what = format!("{of}, `{id}`, fits {n} runs: {}{more}", runs.join(", "));
        let help = "files of one name stand in several folders, and their runs are called after their paths: write the id of the run that is meant";
        Some(Diagnostic::new(label.at.clone(), what, help))
    }

    /// Stores the labels of the run's rounds (`RUN#1` and so on) until the run is split into rounds.
    fn apply_to_rounds(&mut self, run: &mut Run, names: &[&str], success_at: Option<f64>) {
        for name in names {
            let begins = format!("{name}#");
            let labels = self.rows.range_mut(begins.clone()..).take_while(|(id, _)| id.starts_with(&begins));
            for (id, label) in labels {
                let Ok(round) = id[begins.len()..].parse::<usize>() else { continue };
                if round == 0 || round > run.rounds().len() {
                    continue;
                }
                label.matched = true;
                if !label.contradicted {
                    let grade = label.grade(&Grade::default(), success_at);
                    label.grades = grade.outcome != Outcome::Unknown;
                    run.round_grades.entry(round).or_insert(grade);
                }
            }
        }
    }

    /// Whether no file with labels was found or named.
    pub(crate) fn are_none(&self) -> bool {
        self.files.is_empty()
    }

    /// The messages after all runs have been read: labels that match no run, labels that override recorded outcomes,
    /// scores that look like percentages, steps beyond the end of a run.
    ///
    /// Fails if none of the labels of a file that must match matches a run or, when `strict`, if any of them does not.
    pub(crate) fn close(
        &self,
        success_at: Option<f64>,
        allow_unmatched: bool,
        strict: bool,
        by_id: Option<&str>,
    ) -> Result<Vec<Diagnostic>, ReadError> {
        if let Some(ambiguous) = self.ambiguous() {
            return Err(ReadError::Labels(ambiguous));
        }
        let mut notices = self.notices.clone();
        if let Some((at, first)) = &self.repeated.first {
            let help = match self.repeated.times {
                1 => "one row for each run is enough".to_owned(),
                n => format!("one row for each run is enough; {} more are repeated", n - 1),
            };
            notices.push(Diagnostic::new(at.clone(), first.as_str(), help));
        }
        for (file, (path, origin)) in self.files.iter().enumerate() {
            let path = path.display().to_string();
            let labels: Vec<(&String, &RunLabel)> = self.rows.iter().filter(|(_, label)| label.file == file).collect();
            notices.extend(scores(&path, &labels, success_at));
            let unmatched = || labels.iter().filter(|(_, label)| !label.matched);
            let first = unmatched().min_by_key(|(_, label)| &label.at);
            let (Some((id, label)), false, Some(run)) =
                (first, !must_match(*origin) || allow_unmatched, &self.first_run)
            else {
                continue;
            };
            let (n, all) = (unmatched().count(), labels.len());
            if n == all {
                let what = match all {
                    1 => format!("the only label, of run `{id}`, matches no run"),
                    all => format!("none of the {all} labels matches a run; the first is of run `{id}`"),
                };
                let help = match by_id {
                    Some(map) => format!(
                        "the runs are called by their places, as `{run}`; a field that may name them: `--map {map}`"
                    ),
                    None => format!("the runs are called as in `{run}`; `whenstop labels` writes a file to fill in"),
                };
                return Err(ReadError::Labels(Diagnostic::new(label.at.clone(), what, help)));
            }
            let what = match n {
                1 => format!("1 of {all} labels matches no run: that of `{id}`"),
                n => format!("{n} of {all} labels match no run; the first is that of `{id}`"),
            };
            let help = "correct the run id, or accept it with `--allow-unmatched-labels`";
            let unmatched = Diagnostic::new(label.at.clone(), what, help);
            if strict {
                return Err(ReadError::Strict(unmatched));
            }
            notices.push(unmatched);
        }
        if let Some((at, first)) = &self.beyond_end.first {
            let more = if self.beyond_end.times > 1 {
                format!(", and {} more", self.beyond_end.times - 1)
            } else {
                String::new()
            };
            let help =
                format!("`secured_at` counts steps from 1, `secured_step` from 0; the label is used without it{more}");
            notices.push(Diagnostic::new(at.clone(), first.as_str(), help));
        }
        if let Some((at, first)) = &self.overridden.first {
            let what = match self.overridden.times {
                1 => "a label overrides a recorded outcome".to_owned(),
                n => format!("labels override the recorded outcomes of {n} runs"),
            };
            notices.push(Diagnostic::new(at.clone(), what, first.as_str()));
        }
        Ok(notices)
    }
}

/// Warns of scores outside 0 to 1, or that no run passes, in the labels of one file.
fn scores(path: &str, labels: &[(&String, &RunLabel)], success_at: Option<f64>) -> Option<Diagnostic> {
    let graded = labels.iter().filter(|(_, label)| label.success.is_none());
    let scores: Vec<f64> = graded.filter_map(|(_, label)| label.score).collect();
    let highest = scores.iter().copied().reduce(f64::max)?;
    let passing = scores.iter().filter(|score| **score >= success_at.unwrap_or(1.0)).count();
    let n = scores.len();
    let (what, help) = match success_at {
        None if highest > 1.0 => (
            format!("scores up to {highest}: from 1 on a run counts as a success, which {passing} of {n} do"),
            "say from which score on it is one: `--success-at 60`",
        ),
        None if passing == 0 && highest > 0.0 => (
            format!("no score reaches 1, the highest is {highest}: all {n} runs count as failures"),
            "say from which score on a run is a success: `--success-at 0.5`",
        ),
        Some(at) if passing == 0 && highest > 0.0 => (
            format!("no score reaches {at}, the highest is {highest}: all {n} runs count as failures"),
            "is `--success-at` on the scale of the scores?",
        ),
        _ => return None,
    };
    Some(Diagnostic::new(Location::file(path), what, help))
}

/// Label files in the same directory as the recordings and, for single files, in the directory above.
pub(crate) fn nearby(paths: &[PathBuf]) -> Vec<(PathBuf, LabelFileOrigin)> {
    let mut found = Vec::new();
    for path in paths {
        let Some(beside) = path.parent() else { continue };
        let is_file = path.is_file();
        for name in NAMES {
            let origin =
                if is_file && *name == "labels.csv" { LabelFileOrigin::Beside } else { LabelFileOrigin::Nearby };
            found.push((beside.join(name), origin));
            if is_file && let Some(above) = beside.parent() {
                found.push((above.join(name), LabelFileOrigin::Nearby));
            }
        }
    }
    found.retain(|(path, _)| path.is_file());
    found.sort();
    found.dedup_by(|a, b| a.0 == b.0);
    found
}
