//! Outcomes from files next to the recordings: reports in the style of SWE-bench, results of Harbor and Terminal-Bench
//! trials, and results by task. They are joined by instance id, trial name or the recording's file name.

mod report;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Location, count};
use crate::find::file_name::{FileName, is_report};
use crate::label::words;
use crate::open::inputs::add_input;
use crate::open::whole_file::read_whole_text;
use crate::transcript::{Grade, Outcome, OutcomeSource, Usage};

/// The largest report that is read, in bytes.
pub const LARGEST_REPORT: u64 = 256 << 20;
/// The largest file with a recording's name that is accepted as its report, in bytes.
const LARGEST_SIBLING: u64 = 1 << 20;
/// How many directories above a recording are searched for reports.
pub const REPORTS_ABOVE: usize = 2;
/// The directories searched for outcomes, relative to a recording's directory and to each one above it. Code that
/// checks whether outcome files have changed must look in these.
pub const REPORTS_WITHIN: [&str; 5] = [".", "reports", "results", "verifier", "scores"];
/// How many directories above a recording may be named after its trial.
const NAMES_ABOVE: usize = 3;

/// The grade a report gives one instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graded {
    /// Whether the task was resolved.
    pub resolved: bool,
    /// The score the grade is based on, if there is one.
    pub score: Option<f64>,
    /// The model, where the report names it.
    pub model: Option<String>,
    /// The path of the report.
    pub path: String,
    /// The task, where the report names it.
    pub task: Option<String>,
    /// The tokens of the whole run, where the report states them.
    pub usage: Option<Usage>,
}

impl Graded {
    /// The grade for a run whose recording has none.
    pub(crate) fn grade(&self) -> Grade {
        Grade {
            outcome: Outcome::from_grade(Some(self.resolved)),
            score: self.score,
            source: OutcomeSource::Sidecar(self.path.clone()),
            ..Grade::default()
        }
    }
}

/// What became of the reports that name a run.
#[derive(Debug, Default)]
pub(crate) struct ReportsUsed {
    /// Paths of those that graded one.
    pub(crate) joined: BTreeSet<String>,
    /// Paths of those that list only successes, of a number of runs that they do not state, and how many they list.
    pub(crate) one_sided: BTreeMap<String, usize>,
    /// Fields of reports that grade nothing which may be grades, by their paths.
    pub(crate) flags: BTreeMap<String, FlagField>,
    /// How many grades come from the field that the user named.
    pub(crate) by_key: u64,
}

/// A field of reports that is true or false.
#[derive(Debug, Default)]
pub(crate) struct FlagField {
    /// The first report.
    path: String,
    reports: u64,
    yes: u64,
    no: u64,
}

impl FlagField {
    /// What is said of the field, if it may be a grade.
    pub(crate) fn notice(&self, field: &str) -> Option<Diagnostic> {
        let Self { path, reports, yes, no } = self;
        let is_grade = words::may_be_outcome(field) || *yes > 0 && *no > 0;
        let what = format!(
            "field `{field}` of {} beside the runs is true {yes} and false {no} times, and is not used",
            count(*reports, "report")
        );
        if !is_grade {
            return None;
        }
        Some(Diagnostic::new(Location::file(path.as_str()), what, format!("if it is the outcome: `--outcome {field}`")))
    }
}

/// The same, as the runs are read.
pub(crate) type Joined = Arc<Mutex<ReportsUsed>>;

/// The reports of one directory.
#[derive(Clone, Debug, Default)]
struct Folder {
    /// The grades of each instance, in the order of the reports.
    instances: HashMap<String, Vec<Graded>>,
    /// The grade of the only run in the directory.
    only: Option<Graded>,
    /// A submission's report: submitted instances that it does not list as resolved have failed.
    rest_failed: Option<Graded>,
    /// Whether the names of its instances have the form of SWE-bench's, so that no other name can be one.
    has_instances: bool,
    /// A report of successes alone, which does not say how many runs it covers, and what it lists.
    one_sided: Option<(String, BTreeSet<String>)>,
    /// The names of its files that end with `.json`.
    documents: HashSet<OsString>,
}

impl Folder {
    fn is_empty(&self) -> bool {
        self.instances.is_empty() && self.only.is_none() && self.rest_failed.is_none() && self.one_sided.is_none()
    }
}

/// The reports that apply to a recording: the one with its own name, and those of its directory and the directories
/// above.
#[derive(Clone, Debug, Default)]
pub struct FolderGrades {
    own: Option<Graded>,
    near: Vec<Arc<Folder>>,
    joined: Joined,
    /// What a checkpoint says of the agent's lines: a score, the share of committed lines that it wrote, not a grade.
    committed: Option<Grade>,
    /// Whether the recording's own folder grades its only run.
    of_folder: bool,
}

impl FolderGrades {
    /// The score and its source, for a run without any grade.
    pub(crate) fn score(&self, grade: &Grade) -> Option<Grade> {
        let Grade { score, source, .. } = self.committed.clone()?;
        Some(Grade { score, source, ..grade.clone() })
    }

    /// The grade of `instance` in the nearest report; for an empty name, the grade of the directory's only trial.
    pub fn grade(&self, instance: &str) -> Option<&Graded> {
        if instance.is_empty() {
            return self.used(self.only());
        }
        if self.own.is_some() {
            return self.used(self.own.as_ref());
        }
        let all = self.near.iter().filter_map(|folder| folder.instances.get(instance)).flatten();
        let first = all.clone().next();
        if first.is_some() {
            self.join(all);
            return first;
        }
        self.note_one_sided(instance);
        let is_instance = instance.contains("__");
        let mut failed = self.near.iter().filter(|folder| is_instance || !folder.has_instances);
        self.used(failed.find_map(|folder| folder.rest_failed.as_ref()))
    }

    /// The grade of the only run in the nearest folder.
    fn only(&self) -> Option<&Graded> {
        self.near.first()?.only.as_ref()
    }

    /// The grade itself; its report is recorded as joined.
    fn used<'g>(&self, graded: Option<&'g Graded>) -> Option<&'g Graded> {
        self.join([graded?]);
        graded
    }

    /// The grade of a run of any format that names `task` and was read from `file`.
    pub(crate) fn graded(&self, task: Option<&str>, file: &FileName) -> Option<&Graded> {
        if self.own.is_none() && self.near.is_empty() {
            return None;
        }
        let mut names: Vec<&str> = task.into_iter().collect();
        names.push(&file.stem);
        let folders = file.path.rsplit(['/', '\\', '!']).skip(1).take(NAMES_ABOVE);
        names.extend(folders.filter(|name| !name.is_empty() && *name != "." && *name != ".."));
        let known = names.iter().find(|name| self.own.is_some() || self.knows(name));
        if let Some(name) = known {
            return self.grade(name);
        }
        if file.is_alone && self.only().is_some() {
            return self.used(self.only());
        }
        names.iter().find_map(|name| self.grade(name))
    }

    /// Whether the only run in the recording's folder is graded there.
    pub(crate) fn grade_only_run(&self) -> bool {
        self.of_folder
    }

    /// Whether there are any grades beside the recording.
    pub(crate) fn are_any(&self) -> bool {
        self.own.is_some() || !self.near.is_empty()
    }

    fn knows(&self, instance: &str) -> bool {
        self.near.iter().any(|folder| folder.instances.contains_key(instance))
    }

    /// Records that a report lists this instance as a success, where it is silent about failures.
    fn note_one_sided(&self, instance: &str) {
        for folder in &self.near {
            let Some((path, listed)) = &folder.one_sided else { continue };
            if listed.contains(instance) {
                let mut used = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
                used.one_sided.insert(path.clone(), listed.len());
            }
        }
    }

    fn join<'g>(&self, graded: impl IntoIterator<Item = &'g Graded>) {
        let mut joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
        joined.joined.extend(graded.into_iter().map(|graded| graded.path.clone()));
    }
}

/// A folder of recordings.
#[derive(Debug)]
struct RecordingFolder {
    path: PathBuf,
    folder: Arc<Folder>,
    /// What all recordings in it see.
    shared: FolderGrades,
}

/// Cache of the reports read so far, by directory.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    folders: HashMap<PathBuf, Arc<Folder>>,
    /// What was found for the recording that was asked for last: most recordings stand beside the one before.
    last: Option<RecordingFolder>,
    joined: Joined,
    /// The folder of each file that may be a recording.
    recordings: Vec<PathBuf>,
    /// The field that holds the outcome, as the user says.
    key: Option<String>,
    /// Reports that could not be read since this was last taken.
    pub(crate) unreadable: Vec<Diagnostic>,
}

impl Reports {
    /// An empty cache; reports that grade a run will be added to `joined`.
    pub(crate) fn new(joined: Joined, recordings: Vec<PathBuf>, key: Option<String>) -> Self {
        Self { joined, recordings, key, ..Self::default() }
    }

    /// The reports that apply to the recording at `path` in `folder`.
    pub(crate) fn seen_from(&mut self, folder: &Path, path: &Path) -> FolderGrades {
        let place = match self.last.take() {
            Some(place) if place.path == folder => place,
            _ => self.place(folder),
        };
        let own = sibling(&place.folder, folder, path);
        let seen = FolderGrades { own, committed: committed(folder, path), ..place.shared.clone() };
        self.last = Some(place);
        seen
    }

    /// The folder, and the reports that apply to all recordings in it.
    fn place(&mut self, path: &Path) -> RecordingFolder {
        let mut near = Vec::new();
        let mut place = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_path_buf() };
        let folder = self.folder(&place);
        for above in 0..=REPORTS_ABOVE {
            near.push(self.folder(&place));
            near.push(self.folder(&place.join("reports")));
            if above > 0 {
                near.push(self.folder(&place.join("results")));
            }
            place = match place.parent() {
                Some(up) if !up.as_os_str().is_empty() => up.to_path_buf(),
                Some(_) if place != Path::new(".") => PathBuf::from("."),
                _ => place.join(".."),
            };
        }
        near.retain(|grades| !grades.is_empty());
        let of_folder = folder.only.is_some();
        let shared = FolderGrades { near, joined: self.joined.clone(), of_folder, ..FolderGrades::default() };
        RecordingFolder { path: path.to_path_buf(), folder, shared }
    }

    fn folder(&mut self, folder: &Path) -> Arc<Folder> {
        if let Some(known) = self.folders.get(folder) {
            return known.clone();
        }
        let mut unreadable = Vec::new();
        let within = |covered: u64| self.recordings_under(folder) <= covered;
        let found = Arc::new(read_folder(folder, self.key.as_deref(), &within, &self.joined, &mut unreadable));
        self.unreadable.append(&mut unreadable);
        self.folders.insert(folder.to_path_buf(), found.clone());
        found
    }

    /// How many files in the folder, or in the one whose reports it holds, may be recordings.
    fn recordings_under(&self, folder: &Path) -> u64 {
        let holds_reports = folder.ends_with("reports") || folder.ends_with("results");
        let base = if holds_reports { folder.parent().unwrap_or(folder) } else { folder };
        let base = if base == Path::new(".") { Path::new("") } else { base };
        self.recordings.iter().filter(|of| of.starts_with(base)).count() as u64
    }
}

/// The grades in the reports of a folder. `covers_all` says whether a report that covers this many runs covers all of
/// those here.
fn read_folder(
    folder: &Path,
    key: Option<&str>,
    covers_all: &dyn Fn(u64) -> bool,
    joined: &Joined,
    unreadable: &mut Vec<Diagnostic>,
) -> Folder {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let documents = files.iter().filter(|path| path.extension() == Some(OsStr::new("json")));
    let documents = documents.filter_map(|path| path.file_name().map(OsStr::to_os_string)).collect();
    files.retain(|path| is_report(&path.file_name().unwrap_or_default().to_string_lossy()));
    files.sort();
    let mut found = Folder { only: trial_result(folder), documents, ..Folder::default() };
    for path in files {
        let shown = shown(&path);
        let Some(text) = text_of(&path, unreadable) else { continue };
        let report = report::read(&path, &text, key);
        {
            let mut used = joined.lock().unwrap_or_else(PoisonError::into_inner);
            used.by_key += report.by_key;
            for (field, [no, yes]) in &report.flags {
                let flags = used.flags.entry(field.clone()).or_default();
                (flags.reports, flags.yes, flags.no) = (flags.reports + 1, flags.yes + yes, flags.no + no);
                if flags.path.is_empty() {
                    flags.path.clone_from(&shown);
                }
            }
        }
        let graded = |resolved| Graded { resolved, path: shown.clone(), ..Graded::default() };
        if report.lists_successes_only && !report.covered.is_some_and(covers_all) {
            found.one_sided = Some((shown, report.instances.into_iter().map(|(instance, _)| instance).collect()));
            continue;
        }
        found.has_instances |= report.instances.iter().any(|(instance, _)| instance.contains("__"));
        let rest_failed = report.rest_failed || report.lists_successes_only;
        for (instance, resolved) in report.instances {
            found.instances.entry(instance).or_default().push(graded(resolved));
        }
        if found.only.is_none()
            && let Some(only) = report.only
        {
            found.only = Some(Graded { path: shown.clone(), ..only });
        }
        if found.rest_failed.is_none() && rest_failed {
            found.rest_failed = Some(graded(false));
        }
    }
    found
}

/// The share of committed lines, from the `metadata.json` next to a checkpoint's transcript.
fn committed(folder: &Path, path: &Path) -> Option<Grade> {
    if path.file_stem()? != "full" {
        return None;
    }
    let path = folder.join("metadata.json");
    let value = small_document(&path)?;
    add_input(&path);
    let percent = value.get("initial_attribution")?.get("agent_percentage")?.as_f64()?;
    if !(0.0..=100.0).contains(&percent) {
        return None;
    }
    Some(Grade { score: Some(percent / 100.0), source: OutcomeSource::Sidecar(shown(&path)), ..Grade::default() })
}

/// The document in a small file; `None` if the file is large or holds none.
fn small_document(path: &Path) -> Option<Value> {
    serde_json::from_str(&read_whole_text(path, LARGEST_SIBLING).ok()?).ok()
}

/// A path in the form in which the directory walk shows it.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path);
    path.display().to_string()
}

/// A small document with the recording's own name that says whether the task was resolved.
fn sibling(known: &Folder, folder: &Path, path: &Path) -> Option<Graded> {
    let name = format!("{}.json", crate::find::file_name::stem(path));
    if !known.documents.contains(OsStr::new(&name)) {
        return None;
    }
    let beside = folder.join(name);
    if beside == path {
        return None;
    }
    let value = small_document(&beside)?;
    let resolved = value["resolved"].as_bool()?;
    add_input(&beside);
    let model = report::word(&value, &["model", "model_name_or_path"]);
    Some(Graded { resolved, model, path: shown(&beside), ..Graded::default() })
}

/// The grade of a Harbor trial, whose directory contains one run: from its `result.json` or its verifier's output.
fn trial_result(folder: &Path) -> Option<Graded> {
    let path = folder.join("result.json");
    let graded = |score: f64, path: &Path| Graded {
        resolved: score >= 1.0,
        score: Some(score),
        path: shown(path),
        ..Graded::default()
    };
    if let Some(value) = small_document(&path) {
        let score = value.pointer("/verifier_result/rewards/reward")?.as_f64()?;
        add_input(&path);
        return Some(graded(score, &path));
    }
    let path = folder.join("verifier/reward.txt");
    let score: f64 = read_whole_text(&path, LARGEST_SIBLING).ok()?.trim().parse().ok()?;
    add_input(&path);
    Some(graded(score, &path))
}

/// The text of a report; `None` if it is not a file, or cannot be read.
fn text_of(path: &Path, unreadable: &mut Vec<Diagnostic>) -> Option<String> {
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return None;
    }
    match read_whole_text(path, LARGEST_REPORT) {
        Ok(text) => {
            add_input(path);
            Some(text)
        }
        Err(error) => {
            let what = format!("cannot read the outcome report: {error}");
            let help = "its runs are read without their grades: check its permissions, or leave it out";
            unreadable.push(Diagnostic::new(Location::file(path.display().to_string()), what, help));
            None
        }
    }
}
