//! What is wrong with a normalised plan, in the original's words.

use serde_json::{Map, Value};

use super::reconcile::EXPERIMENT_STATUS;
use super::{Contract, Issue, Project};
use crate::system::python;

/// All issues, in plan order. A plan whose `experiments` is no list has none.
pub(super) fn lint(plan: &Map<String, Value>, project: &Project, contract: Contract) -> Vec<Issue> {
    let Some(experiments) = plan.get("experiments").and_then(Value::as_array) else { return Vec::new() };
    let mut issues = Vec::new();
    let mut ids: Vec<&str> = Vec::new();
    let mut running = 0;
    for (index, experiment) in experiments.iter().enumerate() {
        let position = index + 1;
        let Some(experiment) = python::dict(experiment) else {
            issues.push(Issue::severe(format!("experiment #{position} is not an object")));
            continue;
        };
        let id = experiment.get("id").and_then(Value::as_str).filter(|id| !python::strip(id).is_empty());
        let Some(id) = id else {
            issues.push(Issue::severe(format!("experiment #{position} missing id")));
            continue;
        };
        if ids.contains(&id) {
            issues.push(Issue::severe(format!("duplicate experiment id: {id}")));
        }
        ids.push(id);
        let status = experiment.get("status").and_then(Value::as_str).filter(|word| EXPERIMENT_STATUS.contains(word));
        let Some(status) = status else {
            issues.push(Issue::severe(format!("{id}: invalid status")));
            continue;
        };
        running += usize::from(status == "running");
        if status == "completed" {
            completed(&mut issues, id, experiment, project, contract);
        }
        artifacts(&mut issues, id, experiment, project);
    }
    if running > 1 {
        issues.push(Issue::severe("more than one experiment marked as running"));
    }
    let current = plan.get("current_experiment").and_then(Value::as_str).filter(|current| !current.is_empty());
    if current.is_some_and(|current| !ids.contains(&current)) {
        issues.push(Issue::mild("current_experiment does not match any experiment id"));
    }
    issues
}

fn completed(
    issues: &mut Vec<Issue>,
    id: &str,
    experiment: &Map<String, Value>,
    project: &Project,
    contract: Contract,
) {
    let has = |key: &str| experiment.get(key).is_some_and(python::is_true);
    if !has("results") && !has("conclusion") {
        issues.push(Issue::mild(format!("{id}: completed experiment missing results/conclusion")));
    }
    issues.extend(contract.breaches(id, experiment).into_iter().map(Issue::mild));
    evidence_refs(issues, id, experiment, project);
}

fn evidence_refs(issues: &mut Vec<Issue>, id: &str, experiment: &Map<String, Value>, project: &Project) {
    let refs = match experiment.get("evidence_refs") {
        None | Some(Value::Null) => return,
        Some(Value::Array(refs)) => refs,
        Some(_) => return issues.push(Issue::mild(format!("{id}: evidence_refs must be a list"))),
    };
    let results = experiment.get("results").and_then(python::dict);
    let metrics = results.and_then(|results| results.get("metrics")).and_then(python::dict);
    for (index, reference) in refs.iter().enumerate() {
        let place = format!("{id}: evidence_refs[{}]", index + 1);
        let mut report = |text: String| issues.push(Issue::mild(text));
        let Some(reference) = python::dict(reference) else {
            report(format!("{place} must be an object"));
            continue;
        };
        let field = |key: &str| reference.get(key).filter(|value| !value.is_null());
        let (key, artifact) = (field("metric_key"), field("artifact"));
        for (name, value) in [("metric_key", key), ("artifact", artifact)] {
            if value.is_some_and(|value| !value.is_string()) {
                report(format!("{place}.{name} must be a string"));
            }
        }
        let text =
            |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        if let Some(key) = text(key).filter(|key| metrics.is_some_and(|metrics| !metrics.contains_key(key))) {
            report(format!("{place} metric_key '{key}' not found in results.metrics"));
        }
        if let Some(artifact) = text(artifact).filter(|artifact| !project.has_file(artifact)) {
            report(format!("{place} artifact '{artifact}' does not exist"));
        }
    }
}

fn artifacts(issues: &mut Vec<Issue>, id: &str, experiment: &Map<String, Value>, project: &Project) {
    let results = experiment.get("results").and_then(python::dict);
    for artifact in results.and_then(|results| results.get("artifacts")).and_then(Value::as_array).into_iter().flatten()
    {
        let Some(path) = artifact.as_str() else {
            issues.push(Issue::mild(format!("{id}: non-string artifact path")));
            continue;
        };
        if path.starts_with('/') || path.starts_with("../") || path.contains("/../") {
            issues.push(Issue::severe(format!("{id}: unsafe artifact path '{path}'")));
        } else if !project.has_file(path) {
            issues.push(Issue::mild(format!("{id}: artifact path does not exist '{path}'")));
        }
    }
}
