//! Parses an outcome report in any of its known forms.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde_json::Value;

use super::Graded;
use crate::label::words;
use crate::text::word_list;
use crate::transcript::{Tokens, Usage};

/// The grades in a report.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GradeReport {
    /// Instances with whether they are resolved, each once. An instance graded both ways is left out.
    pub(super) instances: Vec<(String, bool)>,
    /// What is said of the only run in its directory, without the report's own path.
    pub(super) only: Option<Graded>,
    /// True for a submission: instances it does not list as resolved have failed.
    pub(super) rest_failed: bool,
    /// True if it lists the instances that are resolved, and none of the others.
    pub(super) lists_successes_only: bool,
    /// How many runs it covers, if it says so.
    pub(super) covered: Option<u64>,
    /// If it grades nothing: its fields that are true or false, by path, and how often each is false and true.
    pub(super) flags: BTreeMap<String, [u64; 2]>,
    /// Grades from the field that the user named.
    pub(super) by_key: u64,
}

/// Parses a report. `key` is the field with the outcome where the user names it.
pub(super) fn read(path: &Path, text: &str, key: Option<&str>) -> GradeReport {
    let own = own_instance(path);
    let mut grades = Vec::new();
    let mut report = GradeReport::default();
    match serde_json::from_str(text) {
        Ok(value) => {
            collect(&value, own.as_deref(), key, &mut grades);
            report.only = only(&value, key);
            if grades.is_empty() && report.only.is_none() {
                flags(&value, "", &mut report.flags);
                entries(&value).for_each(|entry| flags(entry, "", &mut report.flags));
            } else {
                let all = std::iter::once(&value).chain(entries(&value));
                report.by_key = all.filter(|value| keyed_grade(value, key).is_some()).count() as u64;
            }
            let lists = |name: &str| value[name].is_array();
            report.rest_failed = lists("resolved") && (lists("no_generation") || lists("no_logs"));
            let lists_others = FAILED.iter().chain(COVERED).any(|name| lists(name));
            report.lists_successes_only = RESOLVED.iter().any(|name| lists(name)) && !lists_others;
            report.covered = covered(&value);
        }
        Err(_) => {
            for line in text.lines() {
                let Ok(value) = serde_json::from_str(line) else { continue };
                collect(&value, None, key, &mut grades);
            }
        }
    }
    let mut by_id: HashMap<&str, (usize, Option<bool>)> = HashMap::new();
    for (at, (id, resolved)) in grades.iter().enumerate() {
        let (_, kept) = by_id.entry(id).or_insert((at, Some(*resolved)));
        *kept = kept.filter(|kept| kept == resolved);
    }
    let mut kept: Vec<(usize, &str, bool)> =
        by_id.into_iter().filter_map(|(id, (at, resolved))| Some((at, id, resolved?))).collect();
    kept.sort_unstable();
    report.instances = kept.into_iter().map(|(_, id, resolved)| (id.to_owned(), resolved)).collect();
    report
}

/// The instance that a report is named after: by its own name, or by that of its folder.
fn own_instance(path: &Path) -> Option<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(own) = name.strip_suffix(".report.json") {
        return Some(own.to_owned());
    }
    if name != "report.json" {
        return None;
    }
    Some(path.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// Lists of ids of what is resolved, of what is not, and of all that a report covers.
const RESOLVED: &[&str] = &["resolved_ids", "resolved"];
const FAILED: &[&str] =
    &["unresolved_ids", "unresolved", "error_ids", "empty_patch_ids", "no_generation", "failed_ids", "failed"];
const COVERED: &[&str] = &["submitted_ids", "completed_ids", "evaluated_ids", "instance_ids", "all_ids", "generated"];

/// How many runs a report says that it covers.
fn covered(report: &Value) -> Option<u64> {
    const NAMES: &[&str] = word_list!(
        "total_instances submitted_instances completed_instances total generated submitted completed with_logs",
        "evaluated n_total n_instances num_instances instances total_tasks n_tasks total_runs n_runs n_trials count n",
    );
    let mut most = None;
    for place in [report, &report["stats"], &report["summary"], &report["totals"]] {
        for name in NAMES {
            most = most.max(place[*name].as_u64());
        }
    }
    most
}

/// The grade in a `meta.json` or similar file, for the run next to it.
fn only(value: &Value, key: Option<&str>) -> Option<Graded> {
    let resolved = match keyed_grade(value, key) {
        Some(resolved) => resolved,
        None => value.pointer("/execution_result/success").or(value.get("is_resolved"))?.as_bool()?,
    };
    let count = |name: &str| value.get("token_usage")?.get(name)?.as_u64();
    let usage = Usage { input: count("input_tokens"), output: count("output_tokens"), ..Usage::default() };
    Some(Graded {
        resolved,
        task: word(value, &["task_name", "task_id", "instance_id"]),
        model: word(value, &["model_name", "model", "model_id"]),
        usage: Some(usage).filter(|usage| usage.total() > Some(Tokens(0))),
        ..Graded::default()
    })
}

/// The string under the first of these names that has one.
pub(super) fn word(value: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| value[*name].as_str()).map(str::to_owned)
}

/// The grade in the field that the user named.
fn keyed_grade(value: &Value, key: Option<&str>) -> Option<bool> {
    as_flag(key?.split('.').try_fold(value, |value, name| value.get(name))?)
}

fn as_flag(value: &Value) -> Option<bool> {
    match (value.as_bool(), value.as_u64()) {
        (Some(flag), _) => Some(flag),
        (None, Some(0)) => Some(false),
        (None, Some(1)) => Some(true),
        _ => None,
    }
}

/// The entries of a list of results.
fn entries(value: &Value) -> impl Iterator<Item = &Value> {
    [value, &value["instances"], &value["results"]].into_iter().filter_map(Value::as_array).flatten()
}

/// Adds the members that are true or false, two levels deep.
fn flags(value: &Value, within: &str, out: &mut BTreeMap<String, [u64; 2]>) {
    const FIELDS: usize = 40;
    for (name, inner) in value.as_object().into_iter().flatten().take(FIELDS) {
        match inner {
            Value::Object(_) if within.is_empty() => flags(inner, &format!("{name}."), out),
            _ => {
                let is_count = inner.is_number() && words::counts_things(&format!("{within}{name}"));
                if let Some(flag) = as_flag(inner).filter(|_| !is_count) {
                    out.entry(format!("{within}{name}")).or_default()[usize::from(flag)] += 1;
                }
            }
        }
    }
}

/// The grade in an entry of a list; `None` if it has none.
fn verdict(entry: &Value, key: Option<&str>) -> Option<bool> {
    if let Some(found) = keyed_grade(entry, key) {
        return Some(found);
    }
    ["resolved", "is_resolved", "db_match", "success", "passed"].iter().find_map(|name| entry[*name].as_bool())
}

/// The names of an instance: its id, `task_3` for a number, `org__repo-3` for `org/repo:pr-3`, and its trial's name.
fn names(entry: &Value) -> Vec<String> {
    let id = entry.get("instance_id").or(entry.get("task_id"));
    let mut names: Vec<String> = match id {
        Some(Value::String(id)) => spellings(id),
        Some(Value::Number(number)) => vec![format!("task_{number}")],
        _ => Vec::new(),
    };
    names.extend(entry["trial_name"].as_str().map(str::to_owned));
    names
}

fn spellings(id: &str) -> Vec<String> {
    let other = id.split_once(":pr-").map(|(repository, number)| format!("{}-{number}", repository.replace('/', "__")));
    std::iter::once(id.to_owned()).chain(other).collect()
}

/// Collects the instances in a value: the list of a summary, lists of resolved ids, a single report, or reports by id.
fn collect(value: &Value, own: Option<&str>, key: Option<&str>, out: &mut Vec<(String, bool)>) {
    let mut entries = |list: &Value| {
        for entry in list.as_array().into_iter().flatten() {
            if let Some(resolved) = verdict(entry, key) {
                out.extend(names(entry).into_iter().map(|name| (name, resolved)));
            }
        }
    };
    entries(value);
    let Some(object) = value.as_object() else { return };
    for list in ["instances", "results"] {
        object.get(list).map(&mut entries);
    }
    let ids = |lists: &[&str]| -> Vec<String> {
        let listed = lists.iter().filter_map(|list| value[*list].as_array()).flatten();
        listed.filter_map(Value::as_str).flat_map(spellings).collect()
    };
    let resolved = ids(RESOLVED);
    // What was covered and is not resolved has failed.
    let is_resolved: HashSet<&String> = resolved.iter().collect();
    let rest: Vec<String> = ids(COVERED).into_iter().filter(|id| !is_resolved.contains(id)).collect();
    let rest = if resolved.is_empty() { Vec::new() } else { rest };
    out.extend(resolved.into_iter().map(|id| (id, true)));
    out.extend(ids(FAILED).into_iter().chain(rest).map(|id| (id, false)));
    let id = value["instance_id"].as_str().or(own);
    let report = value.pointer("/test_result/report").unwrap_or(value);
    if let (Some(id), Some(resolved)) = (id, report["resolved"].as_bool()) {
        out.push((id.to_owned(), resolved));
    }
    if let (Some(trial), Some(resolved)) = (value["trial_name"].as_str(), value["is_resolved"].as_bool()) {
        out.push((trial.to_owned(), resolved));
    }
    for (id, report) in object {
        let is_report = report.get("tests_status").is_some() || report.get("patch_exists").is_some();
        if is_report && let Some(resolved) = report["resolved"].as_bool() {
            out.push((id.clone(), resolved));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_report_is_read() {
        for (text, file, expected) in [
            (r#"{"instances":[{"instance_id":"a","resolved":true}]}"#, "results.json", vec![("a", true)]),
            (r#"{"resolved_ids":["a"],"unresolved_ids":["b"]}"#, "x.json", vec![("a", true), ("b", false)]),
            (r#"{"resolved":false,"tests_status":{}}"#, "c.report.json", vec![("c", false)]),
            (r#"{"d":{"resolved":true,"tests_status":{}}}"#, "report.json", vec![("d", true)]),
            (r#"{"results":[{"task_id":"e","is_resolved":false}]}"#, "results.json", vec![("e", false)]),
            (r#"{"instance_id":"f","test_result":{"report":{"resolved":true}}}"#, "x.json", vec![("f", true)]),
            (r#"[{"task_id":7,"db_match":true}]"#, "eval_results.json", vec![("task_7", true)]),
            (r#"{"resolved_ids":["o/r:pr-3"]}"#, "final_report.json", vec![("o/r:pr-3", true), ("o__r-3", true)]),
            // One report with two trials of a task: the trials are graded, the task is not.
            (
                r#"{"results":[{"task_id":"t","trial_name":"t.1","is_resolved":true},
                               {"task_id":"t","trial_name":"t.2","is_resolved":false}]}"#,
                "results.json",
                vec![("t.1", true), ("t.2", false)],
            ),
            ("[1]", "x.json", vec![]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(id, resolved)| (id.to_owned(), resolved)).collect();
            assert_eq!(read(Path::new(file), text, None).instances, expected, "{text}");
        }
        assert!(read(Path::new("results.json"), r#"{"resolved":[],"no_generation":[]}"#, None).rest_failed);
        let meta = r#"{"execution_result":{"success":true}}"#;
        assert_eq!(read(Path::new("meta.json"), meta, None).only, Some(Graded { resolved: true, ..Graded::default() }));
    }
}
