//! Normalises a plan: ids, statuses, and results found in the project's files.

use std::collections::BTreeSet;

use foldhash::HashSet;
use serde_json::{Map, Value};

use super::ProjectFolder;
use super::evidence::{self, Recovered};
use crate::python::{self, Dict, Int, Raised};
use crate::system::mira::plan::{MetricsScope, filled, is_one_of};
use crate::system::mira::rules::MiraRules;

/// How many code points of the findings are used as the conclusion.
const CONCLUSION_CHARS: usize = 240;
const RECOVERED: &str = "Recovered completed experiment artifacts from workspace.";
const PLAN_STATUS: [&str; 3] = ["in_progress", "completed", "failed"];
const EXPERIMENT_STATUS: [&str; 6] = ["pending", "running", "completed", "failed", "skipped", "finished"];

/// The statuses an experiment may have. As documented, `finished` is one of them; the code has only the other five.
pub(super) fn experiment_status(rules: MiraRules) -> &'static [&'static str] {
    let known = if rules.metrics == MetricsScope::LastExperiment { 6 } else { 5 };
    EXPERIMENT_STATUS.get(..known).unwrap_or_default()
}

/// Whether a plan's `result` contains something that could be given to a user.
pub fn has_final_result(result: Option<&Value>) -> bool {
    let Some(Some(result)) = result.map(python::dict) else { return false };
    let has_text = |map: &Map<String, Value>, key: &str| filled(map, key).is_some();
    let mut sections = result.items("sections").iter().filter_map(python::dict);
    ["output_path", "output_type", "summary"].iter().any(|key| has_text(result, key))
        || sections.any(|section| has_text(section, "title") || has_text(section, "content"))
}

/// The normalised plan; `None` if nothing needs to change.
///
/// # Errors
/// `TypeError` for a status that is a list or an object.
pub(super) fn reconcile(
    plan: &Map<String, Value>,
    project: &ProjectFolder,
    rules: MiraRules,
) -> Result<Option<Map<String, Value>>, Raised> {
    let Some(Value::Array(experiments)) = plan.get("experiments") else { return Ok(None) };
    let mut out = plan.clone();
    let mut changed = false;
    let has_version = matches!(out.get("schema_version"), Some(version) if Int::from_value(version).is_some());
    if !has_version {
        out.insert("schema_version".to_owned(), Value::from(1));
        changed = true;
    }
    if !is_one_of(out.get("status"), &PLAN_STATUS)? {
        out.insert("status".to_owned(), Value::from("in_progress"));
        changed = true;
    }
    let mut pass = Pass {
        project,
        known: experiment_status(rules),
        ids: HashSet::default(),
        highest: 0,
        running_seen: false,
        changed: false,
    };
    let mut updated = Vec::with_capacity(experiments.len());
    for (index, experiment) in experiments.iter().enumerate() {
        updated.push(Value::Object(pass.experiment(index + 1, experiment)?));
    }
    changed |= pass.changed;
    changed |= settle(&mut out, &updated, rules.keeps_open);
    out.insert("experiments".to_owned(), Value::Array(updated));
    Ok(if changed { Some(out) } else { None })
}

/// Points the plan at its first pending experiment, and reverts a premature `completed`.
fn settle(plan: &mut Map<String, Value>, experiments: &[Value], keeps_open: bool) -> bool {
    let with = |key: &str, text: &str| experiments.iter().find(|experiment| experiment[key] == *text);
    let has_running = with("status", "running").is_some();
    let first_pending = with("status", "pending").and_then(|experiment| experiment["id"].as_str());
    let mut changed = false;
    if let Some(pending) = first_pending {
        let current = plan.text("current_experiment").and_then(|id| with("id", id));
        let current_status = current.and_then(|current| current["status"].as_str());
        let is_over = matches!(current_status, Some("completed" | "failed" | "skipped"));
        if current_status.is_none() || (!has_running && is_over) {
            plan.insert("current_experiment".to_owned(), Value::from(pending));
            changed = true;
        }
    }
    let is_open = has_running || first_pending.is_some() || !has_final_result(plan.get("result"));
    if plan.text("status") == Some("completed") && is_open && keeps_open {
        plan.insert("status".to_owned(), Value::from("in_progress"));
        changed = true;
    }
    changed
}

/// The state of one pass over the experiments.
struct Pass<'p> {
    project: &'p ProjectFolder,
    known: &'static [&'static str],
    ids: HashSet<String>,
    highest: u32,
    running_seen: bool,
    changed: bool,
}

impl Pass<'_> {
    fn experiment(&mut self, position: usize, experiment: &Value) -> Result<Map<String, Value>, Raised> {
        let known = python::dict(experiment);
        self.changed |= known.is_none();
        let mut item = known.cloned().unwrap_or_default();
        let id = self.id(position, item.text("id"));
        self.set(&mut item, "id", Value::from(id.as_str()));
        if filled(&item, "title").is_none() {
            self.set(&mut item, "title", Value::from(id.as_str()));
        }
        let mut status = self.status(&mut item)?;
        let recovered = evidence::recover(self.project, &id);
        let is_proof = recovered.is_evidence() && (!self.project.is_strict() || recovered.metrics.is_some());
        if matches!(status.as_str(), "pending" | "running") && is_proof {
            "completed".clone_into(&mut status);
            self.set(&mut item, "status", Value::from("completed"));
        }
        let results = merge(item.dict("results"), &recovered);
        let is_recorded = |now: &Value| python::equal(now, &Value::Object(results.clone()));
        if !results.is_empty() && !item.get("results").is_some_and(is_recorded) {
            self.set(&mut item, "results", Value::Object(results.clone()));
        }
        if status == "completed" && !item.is_true("conclusion") {
            if let Some(findings) = filled(&results, "findings") {
                let conclusion: String = findings.chars().take(CONCLUSION_CHARS).collect();
                self.set(&mut item, "conclusion", Value::from(conclusion));
            } else if !results.is_empty() {
                self.set(&mut item, "conclusion", Value::from(RECOVERED));
            }
        }
        Ok(item)
    }

    fn set(&mut self, item: &mut Map<String, Value>, key: &str, value: Value) {
        let before = item.insert(key.to_owned(), value);
        self.changed |= before.as_ref() != item.get(key);
    }

    /// A normalised id that no earlier experiment has.
    fn id(&mut self, position: usize, raw: Option<&str>) -> String {
        let raw = raw.map(python::strip).unwrap_or_default();
        let mut id = match evidence::experiment_number(raw) {
            _ if raw.is_empty() => format!("Exp{position:03}"),
            Some(number) => format!("Exp{number:03}"),
            None => raw.to_owned(),
        };
        self.highest = self.highest.max(evidence::experiment_number(&id).unwrap_or(0));
        if self.ids.contains(&id) {
            let position = u32::try_from(position).unwrap_or(u32::MAX);
            let mut candidate = position.max(self.highest.saturating_add(1)).max(1);
            while self.ids.contains(&format!("Exp{candidate:03}")) {
                candidate = candidate.saturating_add(1);
            }
            self.highest = candidate;
            id = format!("Exp{candidate:03}");
        }
        self.ids.insert(id.clone());
        id
    }

    /// The status; unknown ones and a second `running` become `pending`.
    fn status(&mut self, item: &mut Map<String, Value>) -> Result<String, Raised> {
        let known = is_one_of(item.get("status"), self.known)?;
        let status = item.text("status").unwrap_or_default();
        if known && (status != "running" || !self.running_seen) {
            let status = status.to_owned();
            self.running_seen |= status == "running";
            return Ok(status);
        }
        self.set(item, "status", Value::from("pending"));
        Ok("pending".to_owned())
    }
}

/// The recorded results, completed by the recovered ones.
fn merge(existing: Option<&Map<String, Value>>, recovered: &Recovered) -> Map<String, Value> {
    let mut merged = existing.cloned().unwrap_or_default();
    if let Some(metrics) = &recovered.metrics
        && !merged.contains_key("metrics")
    {
        merged.insert("metrics".to_owned(), metrics.clone());
    }
    if let Some(findings) = &recovered.findings
        && !merged.contains_key("findings")
    {
        merged.insert("findings".to_owned(), Value::from(findings.as_str()));
    }
    let recorded = merged.items("artifacts").iter().map(python::text);
    let artifacts: BTreeSet<String> = recorded.chain(recovered.artifacts.iter().cloned()).collect();
    if !artifacts.is_empty() {
        merged.insert("artifacts".to_owned(), artifacts.into_iter().map(Value::from).collect());
    }
    merged
}
