//! Normalises a plan: ids, statuses, and results found in the project's files.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::ProjectFolder;
use super::evidence::{self, Recovered};
use crate::python::{self, Int, Raised};
use crate::system::mira::plan::MetricsScope;
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
    let Some(result) = result.and_then(python::dict) else { return false };
    let has_text = |map: &Map<String, Value>, key: &str| {
        map.get(key).and_then(Value::as_str).is_some_and(|text| !python::strip(text).is_empty())
    };
    let sections = result.get("sections").and_then(Value::as_array);
    ["output_path", "output_type", "summary"].iter().any(|key| has_text(result, key))
        || sections
            .into_iter()
            .flatten()
            .filter_map(python::dict)
            .any(|section| has_text(section, "title") || has_text(section, "content"))
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
    let Some(experiments) = plan.get("experiments").and_then(Value::as_array) else { return Ok(None) };
    let mut out = plan.clone();
    let mut changed = false;
    if out.get("schema_version").and_then(Int::from_value).is_none() {
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
        ids: BTreeSet::new(),
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
    Ok(changed.then_some(out))
}

fn is_one_of(status: Option<&Value>, known: &[&str]) -> Result<bool, Raised> {
    match status {
        Some(Value::Array(_)) => Err(Raised("TypeError")),
        Some(value) if python::dict(value).is_some() => Err(Raised("TypeError")),
        Some(Value::String(status)) => Ok(known.contains(&status.as_str())),
        _ => Ok(false),
    }
}

/// Points the plan at its first pending experiment, and reverts a premature `completed`.
fn settle(plan: &mut Map<String, Value>, experiments: &[Value], keeps_open: bool) -> bool {
    let field = |experiment: &Value, key: &str| experiment.get(key).and_then(Value::as_str).map(str::to_owned);
    let status_of = |id: &str| {
        let experiment = experiments.iter().find(|experiment| field(experiment, "id").as_deref() == Some(id));
        experiment.and_then(|experiment| field(experiment, "status"))
    };
    let with_status = |status: &str| experiments.iter().find(|exp| field(exp, "status").as_deref() == Some(status));
    let has_running = with_status("running").is_some();
    let first_pending = with_status("pending").and_then(|experiment| field(experiment, "id"));
    let mut changed = false;
    if let Some(pending) = &first_pending {
        let current = plan.get("current_experiment").and_then(Value::as_str);
        let current_status = current.and_then(status_of);
        let is_over = matches!(current_status.as_deref(), Some("completed" | "failed" | "skipped"));
        if current_status.is_none() || (!has_running && is_over) {
            plan.insert("current_experiment".to_owned(), Value::from(pending.as_str()));
            changed = true;
        }
    }
    let is_open = has_running || first_pending.is_some() || !has_final_result(plan.get("result"));
    if plan.get("status").and_then(Value::as_str) == Some("completed") && is_open && keeps_open {
        plan.insert("status".to_owned(), Value::from("in_progress"));
        changed = true;
    }
    changed
}

/// The state of one pass over the experiments.
struct Pass<'p> {
    project: &'p ProjectFolder,
    known: &'static [&'static str],
    ids: BTreeSet<String>,
    highest: u32,
    running_seen: bool,
    changed: bool,
}

impl Pass<'_> {
    fn experiment(&mut self, position: usize, experiment: &Value) -> Result<Map<String, Value>, Raised> {
        let known = python::dict(experiment);
        self.changed |= known.is_none();
        let mut item = known.cloned().unwrap_or_default();
        let id = self.id(position, item.get("id"));
        self.set(&mut item, "id", Value::from(id.as_str()));
        let has_title = item.get("title").and_then(Value::as_str).is_some_and(|title| !python::strip(title).is_empty());
        if !has_title {
            self.set(&mut item, "title", Value::from(id.as_str()));
        }
        let mut status = self.status(&mut item)?;
        let recovered = evidence::recover(self.project, &id);
        let is_proof = recovered.is_evidence() && (!self.project.is_strict() || recovered.metrics.is_some());
        if matches!(status.as_str(), "pending" | "running") && is_proof {
            "completed".clone_into(&mut status);
            self.set(&mut item, "status", Value::from("completed"));
        }
        let results = merge(item.get("results"), &recovered);
        let differs = |now: Option<&Value>| now.is_none_or(|now| !python::equal(now, &Value::Object(results.clone())));
        if !results.is_empty() && differs(item.get("results")) {
            self.set(&mut item, "results", Value::Object(results.clone()));
        }
        if status == "completed" && !item.get("conclusion").is_some_and(python::is_true) {
            let findings = results.get("findings").and_then(Value::as_str);
            let findings = findings.filter(|findings| !python::strip(findings).is_empty());
            if let Some(findings) = findings {
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
    fn id(&mut self, position: usize, raw: Option<&Value>) -> String {
        let raw = raw.and_then(Value::as_str).map(python::strip).filter(|raw| !raw.is_empty());
        let number = raw.and_then(evidence::experiment_number);
        let mut id = match (number, raw) {
            (Some(number), _) => format!("Exp{number:03}"),
            (None, Some(raw)) => raw.to_owned(),
            (None, None) => format!("Exp{position:03}"),
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
        let status = item.get("status").and_then(Value::as_str).unwrap_or_default();
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
fn merge(existing: Option<&Value>, recovered: &Recovered) -> Map<String, Value> {
    let mut merged = existing.and_then(python::dict).cloned().unwrap_or_default();
    if let Some(metrics) = recovered.metrics.as_ref().filter(|_| !merged.contains_key("metrics")) {
        merged.insert("metrics".to_owned(), metrics.clone());
    }
    if let Some(findings) = recovered.findings.as_ref().filter(|_| !merged.contains_key("findings")) {
        merged.insert("findings".to_owned(), Value::from(findings.as_str()));
    }
    let recorded = merged.get("artifacts").and_then(Value::as_array).into_iter().flatten().map(python::text);
    let artifacts: BTreeSet<String> = recorded.chain(recovered.artifacts.iter().cloned()).collect();
    if !artifacts.is_empty() {
        merged.insert("artifacts".to_owned(), artifacts.into_iter().map(Value::from).collect());
    }
    merged
}
