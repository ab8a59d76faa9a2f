//! Finds issues in a normalised plan and reports them in the original's messages.

use serde_json::{Map, Value};

use super::plan_block::plan_block;
use super::reconcile::experiment_status;
use super::{Contract, ProjectFolder};
use crate::python::{self, Dict, Raised};
use crate::system::mira::plan::{filled, result_metrics};
use crate::system::mira::rules::{Guardrail, MiraRules};

/// All issues, in plan order. A plan whose `experiments` is not a list has none.
pub(super) fn lint(
    plan: &Map<String, Value>,
    project: &ProjectFolder,
    contract: Contract,
    rules: MiraRules,
) -> Result<Vec<String>, Raised> {
    let known = experiment_status(rules);
    let issues = if contract.guardrail == Guardrail::Severe { plan_block(plan.get("plan"))? } else { Vec::new() };
    let mut lint = Lint { project, contract, issues };
    let Some(Value::Array(experiments)) = plan.get("experiments") else { return Ok(lint.issues) };
    let mut ids: Vec<&str> = Vec::new();
    let mut running = 0;
    for (index, experiment) in experiments.iter().enumerate() {
        let position = index + 1;
        let Some(experiment) = python::dict(experiment) else {
            lint.report(format!("experiment #{position} is not an object"));
            continue;
        };
        let Some(id) = filled(experiment, "id") else {
            lint.report(format!("experiment #{position} missing id"));
            continue;
        };
        if ids.contains(&id) {
            lint.report(format!("duplicate experiment id: {id}"));
        }
        ids.push(id);
        let status = experiment.text("status").filter(|word| known.contains(word));
        let Some(status) = status else {
            lint.report(format!("{id}: invalid status"));
            continue;
        };
        running += usize::from(status == "running");
        if status == "completed" {
            lint.completed(id, experiment);
        }
        lint.artifacts(id, experiment);
    }
    if running > 1 {
        lint.report("more than one experiment marked as running".to_owned());
    }
    let current = plan.text("current_experiment").unwrap_or_default();
    if !current.is_empty() && !ids.contains(&current) {
        lint.report("current_experiment does not match any experiment id".to_owned());
    }
    Ok(lint.issues)
}

/// The issues found so far, and what they are found by.
struct Lint<'p> {
    project: &'p ProjectFolder,
    contract: Contract,
    issues: Vec<String>,
}

impl Lint<'_> {
    fn report(&mut self, issue: String) {
        self.issues.push(issue);
    }

    fn completed(&mut self, id: &str, experiment: &Map<String, Value>) {
        if !experiment.is_true("results") && !experiment.is_true("conclusion") {
            self.report(format!("{id}: completed experiment missing results/conclusion"));
        }
        self.issues.extend(self.contract.breaches(id, experiment));
        self.evidence_refs(id, experiment);
    }

    fn evidence_refs(&mut self, id: &str, experiment: &Map<String, Value>) {
        let refs = match experiment.get("evidence_refs") {
            None | Some(Value::Null) => return,
            Some(Value::Array(refs)) => refs,
            Some(_) => return self.report(format!("{id}: evidence_refs must be a list")),
        };
        let metrics = result_metrics(experiment);
        for (index, reference) in refs.iter().enumerate() {
            let place = format!("{id}: evidence_refs[{}]", index + 1);
            let Some(reference) = python::dict(reference) else {
                self.report(format!("{place} must be an object"));
                continue;
            };
            for name in ["metric_key", "artifact"] {
                if !matches!(reference.get(name), None | Some(Value::Null | Value::String(_))) {
                    self.report(format!("{place}.{name} must be a string"));
                }
            }
            let text = |name: &str| reference.text(name).filter(|text| !text.is_empty());
            if let (Some(key), Some(metrics)) = (text("metric_key"), metrics)
                && !metrics.contains_key(key)
            {
                self.report(format!("{place} metric_key '{key}' not found in results.metrics"));
            }
            if let Some(artifact) = text("artifact").filter(|artifact| !self.exists(artifact)) {
                self.report(format!("{place} artifact '{artifact}' does not exist"));
            }
        }
    }

    fn artifacts(&mut self, id: &str, experiment: &Map<String, Value>) {
        let Some(results) = experiment.dict("results") else { return };
        for artifact in results.items("artifacts") {
            let Some(path) = artifact.as_str() else {
                self.report(format!("{id}: non-string artifact path"));
                continue;
            };
            if path.starts_with('/') || path.starts_with("../") || path.contains("/../") {
                self.report(format!("{id}: unsafe artifact path '{path}'"));
            } else if !self.exists(path) {
                self.report(format!("{id}: artifact path does not exist '{path}'"));
            }
        }
    }

    /// Whether the artifact exists. From 0.3.3 on it may be a pattern, which needs one matching file.
    fn exists(&self, artifact: &str) -> bool {
        if self.contract.guardrail == Guardrail::Severe && artifact.contains(['*', '?', '[']) {
            return self.project.has_match(artifact);
        }
        self.project.has_file(artifact)
    }
}
