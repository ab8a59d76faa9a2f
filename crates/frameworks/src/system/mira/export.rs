//! Export guards: on the UI channel, an auto run may not declare itself finished.

use serde_json::{Map, Value};

use super::guardrail::{PlanFile, ProjectFolder, has_final_result};
use super::plan::{self, Plan};
use crate::python::{self, Dict, Raised};

/// Printed when `result` is rolled back.
pub const RESULT_NOTE: &str = "auto-run guard: skipped task_plan.result update without explicit export request";
/// Printed when `status` is kept.
pub const STATUS_NOTE: &str = "auto-run guard: kept task_plan.status=in_progress until explicit export request";

/// Whether an inbound message asks for an export, either in its metadata (`_allow_result_write` with any value Python
/// treats as true) or in its text.
pub fn is_result_request(content: &Value, metadata: &Value) -> bool {
    if let Some(metadata) = python::dict(metadata)
        && metadata.is_true("_allow_result_write")
    {
        return true;
    }
    let Some(content) = content.as_str() else { return false };
    let lowered = python::lower(content);
    lowered.contains("manual export request for")
        || (lowered.contains("final deliverable") && lowered.contains("request"))
        || (content.contains("导出") && ["报告", "论文", "结果"].iter().any(|word| content.contains(word)))
}

/// What the guards changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardChanges {
    /// `result` was restored to its state before the run.
    pub result_restored: bool,
    /// `status` was set back to `in_progress`.
    pub status_kept: bool,
}

/// Applies the guards to the plan that a run left behind; 0.2.0 has only the guard for `result`.
///
/// # Errors
/// See [`Raised`].
pub fn apply(project: &mut ProjectFolder, before: Plan<'_>, keeps_open: bool) -> Result<GuardChanges, Raised> {
    let Some(after) = project.plan() else { return Ok(GuardChanges::default()) };
    let mut plan = after.clone();
    let result_restored = restore_result(&mut plan, before);
    let guarded = GuardChanges { result_restored, status_kept: keeps_open && keep_open(&mut plan)? };
    if guarded != GuardChanges::default() {
        project.plan = PlanFile::Parsed(Value::Object(plan));
    }
    Ok(guarded)
}

fn restore_result(plan: &mut Map<String, Value>, before: Plan<'_>) -> bool {
    match (before.and_then(|before| before.get("result")), plan.get("result")) {
        (None, None) => false,
        (Some(old), Some(new)) if python::equal(old, new) => false,
        (Some(old), _) => {
            plan.insert("result".to_owned(), old.clone());
            true
        }
        (None, Some(_)) => plan.shift_remove("result").is_some(),
    }
}

fn keep_open(plan: &mut Map<String, Value>) -> Result<bool, Raised> {
    if plan.text("status") != Some("completed") {
        return Ok(false);
    }
    if has_final_result(plan.get("result")) && !plan::has_pending_work(Some(plan))? {
        return Ok(false);
    }
    plan.insert("status".to_owned(), Value::from("in_progress"));
    Ok(true)
}
