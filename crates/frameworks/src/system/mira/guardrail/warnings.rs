//! The `guard_warnings` that 0.3.3 writes onto experiments: the issues that do not block.

use serde_json::{Map, Value};

use crate::python::{self, Dict};

/// Writes the issues that are not severe onto the experiments they name; true if the plan changed.
pub(super) fn note(plan: &mut Map<String, Value>, issues: &[String], is_severe: impl Fn(&str) -> bool) -> bool {
    let Some(Value::Array(experiments)) = plan.get_mut("experiments") else { return false };
    let warnings: Vec<(&str, &str)> = issues
        .iter()
        .filter(|issue| !is_severe(issue))
        .filter_map(|issue| issue.split_once(": "))
        .map(|(id, detail)| (python::strip(id), python::strip(detail)))
        .collect();
    let mut changed = false;
    for experiment in experiments {
        if python::dict(experiment).is_none() {
            continue;
        }
        let Some(experiment) = experiment.as_object_mut() else { continue };
        let id = experiment.text("id").unwrap_or("\u{0}");
        let mut own: Vec<&str> = warnings.iter().filter(|(named, _)| *named == id).map(|(_, detail)| *detail).collect();
        own.sort_unstable();
        let own: Value = own.into_iter().map(Value::from).collect();
        if own == Value::Array(Vec::new()) {
            changed |= experiment.shift_remove("guard_warnings").is_some();
        } else if experiment.get("guard_warnings") != Some(&own) {
            experiment.insert("guard_warnings".to_owned(), own);
            changed = true;
        }
    }
    changed
}
