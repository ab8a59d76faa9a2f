//! Reads a task plan: experiments, their status and metrics, and what changed between two plans.

use serde_json::{Map, Value};

use super::policy::raw_number;
use crate::python::{self, Dict, Raised};
use crate::transcript::named;

/// A loaded plan: an object, or `None` (no file, not JSON, not an object).
pub type Plan<'p> = Option<&'p Map<String, Value>>;

/// The statuses of finished experiments.
const TERMINAL: [&str; 3] = ["completed", "failed", "skipped"];
/// The statuses of experiments still to be done.
const ACTIVE: [&str; 2] = ["pending", "running"];

named! {
    /// Which experiments' metrics are used for the goals.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MetricsScope {
        /// All completed ones in list order; a later value of a metric overrides an earlier one (as in the code).
        Merged = "merged",
        /// The last one that is `completed` or `finished` (as in the document).
        LastExperiment = "last_experiment",
    }
}

/// The list of experiments; empty if there is none.
pub fn experiments(plan: Plan<'_>) -> &[Value] {
    if let Some(plan) = plan { plan.items("experiments") } else { &[] }
}

/// The experiments that are objects.
fn objects(plan: Plan<'_>) -> impl DoubleEndedIterator<Item = &Map<String, Value>> {
    experiments(plan).iter().filter_map(python::dict)
}

/// `value in {known}`; an absent value is Python's `None`.
///
/// # Errors
/// `TypeError` for a list or an object, which Python cannot look up in a set.
pub(super) fn is_one_of(value: Option<&Value>, known: &[&str]) -> Result<bool, Raised> {
    match value {
        Some(Value::Array(_)) => Err(Raised("TypeError")),
        Some(value) if python::dict(value).is_some() => Err(Raised("TypeError")),
        Some(Value::String(text)) => Ok(known.contains(&text.as_str())),
        _ => Ok(false),
    }
}

fn status(experiment: &Map<String, Value>) -> Option<&str> {
    experiment.text("status")
}

/// A member that is a text and not blank.
pub(super) fn filled<'p>(map: &'p Map<String, Value>, key: &str) -> Option<&'p str> {
    map.text(key).filter(|text| !python::strip(text).is_empty())
}

/// Whether an experiment is pending or running. The match is exact: `queued` and `Pending` do not count.
///
/// # Errors
/// See [`Raised`]: an unhashable status before the first match.
pub fn has_pending_work(plan: Plan<'_>) -> Result<bool, Raised> {
    for experiment in objects(plan) {
        if is_one_of(experiment.get("status"), &ACTIVE)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The number of completed experiments. In the document, `finished` ones count too.
pub fn completed_count(plan: Plan<'_>, scope: MetricsScope) -> usize {
    objects(plan).filter(|experiment| is_completed(experiment, scope)).count()
}

fn is_completed(experiment: &Map<String, Value>, scope: MetricsScope) -> bool {
    match status(experiment) {
        Some("completed") => true,
        Some("finished") => scope == MetricsScope::LastExperiment,
        _ => false,
    }
}

/// The metrics that goals are compared with, in the order first seen.
///
/// # Errors
/// `OverflowError` for an integer too large for a double.
pub fn metrics(plan: Plan<'_>, scope: MetricsScope) -> Result<Vec<(String, f64)>, Raised> {
    let mut completed = objects(plan).filter(|experiment| is_completed(experiment, scope));
    match scope {
        MetricsScope::Merged => {
            let mut merged: Vec<(String, f64)> = Vec::new();
            for experiment in completed {
                for (name, value) in result_metrics(experiment).into_iter().flatten() {
                    let name = python::strip(name);
                    if name.is_empty() {
                        continue;
                    }
                    let Some(value) = raw_number(Some(value))? else { continue };
                    match merged.iter_mut().find(|(known, _)| known == name) {
                        Some((_, latest)) => *latest = value,
                        None => merged.push((name.to_owned(), value)),
                    }
                }
            }
            Ok(merged)
        }
        MetricsScope::LastExperiment => {
            let Some(last) = completed.next_back() else { return Ok(Vec::new()) };
            let own = last.dict("metrics");
            let metrics = if own.is_some() { own } else { result_metrics(last) };
            let mut latest = Vec::new();
            for (name, value) in metrics.into_iter().flatten() {
                if let Some(value) = raw_number(Some(value))? {
                    latest.push((name.clone(), value));
                }
            }
            Ok(latest)
        }
    }
}

/// The metrics among an experiment's results.
pub(super) fn result_metrics(experiment: &Map<String, Value>) -> Option<&Map<String, Value>> {
    experiment.dict("results")?.dict("metrics")
}

/// An experiment's id without the white space around it; `None` if it is blank.
fn trimmed_id(experiment: &Map<String, Value>) -> Option<&str> {
    filled(experiment, "id").map(python::strip)
}

/// Experiments by trimmed id. If two have the same id, the later one replaces the earlier one in its position.
fn by_id(plan: Plan<'_>) -> Vec<(&str, &Map<String, Value>)> {
    let mut index: Vec<(&str, &Map<String, Value>)> = Vec::new();
    for experiment in objects(plan) {
        let Some(id) = trimmed_id(experiment) else { continue };
        match index.iter_mut().find(|(known, _)| *known == id) {
            Some((_, entry)) => *entry = experiment,
            None => index.push((id, experiment)),
        }
    }
    index
}

/// Whether the record of a running experiment has changed since `before`. Also true if none was running.
pub fn checkpoint_is_fresh(before: Plan<'_>, after: Plan<'_>) -> bool {
    let running = objects(before).filter(|experiment| status(experiment) == Some("running"));
    let ids: Vec<&str> = running.filter_map(trimmed_id).collect();
    let (before, after) = (by_id(before), by_id(after));
    let entry = |index: &[(&str, &Map<String, Value>)], id: &str| {
        index.iter().find(|(known, _)| *known == id).map(|(_, experiment)| Value::Object((*experiment).clone()))
    };
    ids.is_empty()
        || ids.into_iter().any(|id| match (entry(&before, id), entry(&after, id)) {
            (Some(before), Some(after)) => !python::equal(&before, &after),
            (_, None) | (None, _) => true,
        })
}

/// Experiments that were pending, running or absent and are now completed, failed or skipped.
///
/// # Errors
/// `TypeError` for an unhashable status.
pub fn crossed(before: Plan<'_>, after: Plan<'_>) -> Result<Vec<String>, Raised> {
    let known = by_id(before);
    let mut crossed = Vec::new();
    for (id, entry) in by_id(after) {
        if !is_one_of(entry.get("status"), &TERMINAL)? {
            continue;
        }
        let was_active = match known.iter().find(|(known, _)| *known == id) {
            Some((_, earlier)) => {
                let status = earlier.get("status");
                is_one_of(status, &ACTIVE)? || matches!(status, None | Some(Value::Null))
            }
            None => true,
        };
        if was_active {
            crossed.push(id.to_owned());
        }
    }
    Ok(crossed)
}
