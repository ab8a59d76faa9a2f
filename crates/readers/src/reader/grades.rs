//! Outcomes that lie beside the recordings: SWE-bench reports and results summaries, joined on the
//! instance's id.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Location};

/// Largest report that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// What a report says of one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Graded {
    /// Did it resolve its task?
    pub resolved: bool,
    /// The score behind it, when there is one.
    pub score: Option<f64>,
    /// The report.
    pub path: String,
}

/// The reports a recording's folder can see: its own, then those of the folder above.
#[derive(Clone, Debug, Default)]
pub struct FolderGrades {
    near: Vec<Arc<BTreeMap<String, Graded>>>,
}

impl FolderGrades {
    /// What the nearest report says of `instance`; of the folder's only trial when it is empty.
    pub fn of(&self, instance: &str) -> Option<&Graded> {
        self.near.iter().find_map(|grades| grades.get(instance))
    }
}

/// Reports read so far, by folder.
#[derive(Debug, Default)]
pub(super) struct Reports {
    folders: BTreeMap<PathBuf, Arc<BTreeMap<String, Graded>>>,
    /// Reports that could not be read, since they were last asked for.
    pub(super) unreadable: Vec<Diagnostic>,
}

impl Reports {
    /// What a recording in `folder` can see.
    pub(super) fn seen_from(&mut self, folder: &Path) -> FolderGrades {
        let mut near = Vec::new();
        let above = if folder.as_os_str().is_empty() { Some(Path::new("..")) } else { folder.parent() };
        for place in std::iter::once(folder).chain(above) {
            let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
            near.push(self.folder(place));
            near.push(self.folder(&place.join("reports")));
        }
        near.retain(|grades| !grades.is_empty());
        FolderGrades { near }
    }

    fn folder(&mut self, folder: &Path) -> Arc<BTreeMap<String, Graded>> {
        if let Some(known) = self.folders.get(folder) {
            return known.clone();
        }
        let read = |unreadable: &mut Vec<Diagnostic>| {
            let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
                .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
                .unwrap_or_default();
            files.retain(|path| is_report(&path.file_name().unwrap_or_default().to_string_lossy()));
            files.sort();
            let mut grades = BTreeMap::new();
            if let Some(graded) = trial_result(folder) {
                grades.insert(String::new(), graded);
            }
            for path in files {
                for (instance, resolved) in read_report(&path, unreadable) {
                    grades.entry(instance).or_insert(Graded {
                        resolved,
                        score: None,
                        path: path.display().to_string(),
                    });
                }
            }
            Arc::new(grades)
        };
        let found = read(&mut self.unreadable);
        self.folders.insert(folder.to_path_buf(), found.clone());
        found
    }
}

/// The verdict of a Harbor trial, whose folder holds one run: its `result.json`, or what its verifier
/// wrote.
fn trial_result(folder: &Path) -> Option<Graded> {
    let path = folder.join("result.json");
    if let Some(value) = std::fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok())
    {
        let score = value.pointer("/verifier_result/rewards/reward").and_then(Value::as_f64)?;
        return Some(Graded { resolved: score >= 1.0, score: Some(score), path: path.display().to_string() });
    }
    let path = folder.join("verifier/reward.txt");
    let score: f64 = std::fs::read_to_string(&path).ok()?.trim().parse().ok()?;
    Some(Graded { resolved: score >= 1.0, score: Some(score), path: path.display().to_string() })
}

/// True for the names outcome reports go by.
pub(super) fn is_report(name: &str) -> bool {
    matches!(name, "results_summary.json" | "results.json" | "result.json" | "report.json" | "eval_results.json")
        || name.ends_with(".report.json")
        || name.ends_with(".swebench_eval.jsonl")
}

/// The instances a report grades, in any of its known shapes.
fn read_report(path: &Path, unreadable: &mut Vec<Diagnostic>) -> Vec<(String, bool)> {
    let read = std::fs::metadata(path).and_then(|data| match data.len() {
        _ if !data.is_file() => Ok(String::new()),
        size if size > LARGEST => Err(io::Error::other(format!("it is longer than {LARGEST} bytes"))),
        _ => std::fs::read_to_string(path),
    });
    let text = match read {
        Ok(text) => text,
        Err(error) => {
            let what = format!("cannot read the outcome report: {error}");
            let help = "its runs are read without their grades: check its permissions, or leave it out";
            unreadable.push(Diagnostic::new(Location::file(path.display().to_string()), what, help));
            return Vec::new();
        }
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let own = name.strip_suffix(".report.json").map(str::to_owned).or_else(|| {
        (name == "report.json").then(|| path.parent()?.file_name()).flatten().map(|n| n.to_string_lossy().into_owned())
    });
    let mut grades = Vec::new();
    match serde_json::from_str(&text) {
        Ok(value) => collect(&value, own.as_deref(), &mut grades),
        Err(_) => {
            for value in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                collect(&value, None, &mut grades);
            }
        }
    }
    grades
}

/// Finds the instances in one value: a summary's list, lists of resolved ids, a report by itself, or
/// reports under their ids.
fn collect(value: &Value, own: Option<&str>, out: &mut Vec<(String, bool)>) {
    let Some(object) = value.as_object() else { return };
    for list in ["instances", "results"] {
        for instance in object.get(list).and_then(Value::as_array).into_iter().flatten() {
            let resolved = instance.get("resolved").or_else(|| instance.get("is_resolved")).and_then(Value::as_bool);
            let id = instance.get("instance_id").or_else(|| instance.get("task_id")).and_then(Value::as_str);
            out.extend(id.map(str::to_owned).zip(resolved));
        }
    }
    for (list, resolved) in [
        ("resolved_ids", true),
        ("resolved", true),
        ("unresolved_ids", false),
        ("unresolved", false),
        ("error_ids", false),
        ("empty_patch_ids", false),
        ("no_generation", false),
    ] {
        let ids = object.get(list).and_then(Value::as_array).into_iter().flatten();
        out.extend(ids.filter_map(Value::as_str).map(|id| (id.to_owned(), resolved)));
    }
    let id = object.get("instance_id").and_then(Value::as_str).or(own);
    let report = object.get("test_result").and_then(|test| test.get("report")).unwrap_or(value);
    if let Some((id, resolved)) = id.zip(report.get("resolved").and_then(Value::as_bool)) {
        out.push((id.to_owned(), resolved));
    }
    for (id, report) in object {
        let is_report = report.get("tests_status").is_some() || report.get("patch_exists").is_some();
        let resolved = report.get("resolved").and_then(Value::as_bool).filter(|_| is_report);
        out.extend(resolved.map(|resolved| (id.clone(), resolved)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_report_is_read() {
        for (text, own, expected) in [
            (r#"{"instances":[{"instance_id":"a","resolved":true}]}"#, None, vec![("a", true)]),
            (r#"{"resolved_ids":["a"],"unresolved_ids":["b"]}"#, None, vec![("a", true), ("b", false)]),
            (r#"{"resolved":false,"tests_status":{}}"#, Some("c"), vec![("c", false)]),
            (r#"{"d":{"resolved":true,"tests_status":{}}}"#, None, vec![("d", true)]),
            (r#"{"results":[{"task_id":"e","is_resolved":false}]}"#, None, vec![("e", false)]),
            (r#"{"instance_id":"f","test_result":{"report":{"resolved":true}}}"#, None, vec![("f", true)]),
            ("[1]", Some("x"), vec![]),
        ] {
            let mut grades = Vec::new();
            collect(&serde_json::from_str(text).unwrap(), own, &mut grades);
            let expected: Vec<_> = expected.into_iter().map(|(id, resolved)| (id.to_owned(), resolved)).collect();
            assert_eq!(grades, expected, "{text}");
        }
    }
}
