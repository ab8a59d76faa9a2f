//! The task plan's guardrail: normalise the plan, then look for issues; issues block.

mod contract;
mod evidence;
mod lint;
mod project;
mod reconcile;

use serde_json::Value;

use crate::system::python::Raised;

pub use contract::{AgentProfile, Contract};
pub use evidence::experiment_number;
pub use project::{PlanFile, Project};
pub use reconcile::has_final_result;

/// Something wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The original's words.
    pub text: String,
    /// Blocks whatever the contract version, after 0.3.
    pub severe: bool,
}

impl Issue {
    fn severe(text: impl Into<String>) -> Self {
        Self { text: text.into(), severe: true }
    }

    fn mild(text: impl Into<String>) -> Self {
        Self { text: text.into(), severe: false }
    }
}

/// What the guardrail last found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// What is wrong.
    pub issues: Vec<Issue>,
    /// Was the plan rewritten?
    pub fixed: bool,
}

/// Runs the guardrail on a project: rewrites its plan and lists what is still wrong with it. A
/// project without a plan passes. Issues that a recorded plan carries itself (`guardrail_issues`)
/// are taken as they stand.
///
/// # Errors
/// See [`Raised`]: an unhashable status.
pub fn guard(project: &mut Project, agent_profile: Option<AgentProfile>) -> Result<Guard, Raised> {
    let refuse = |text: &str| Ok(Guard { issues: vec![Issue::severe(text)], fixed: false });
    let plan = match &project.plan {
        PlanFile::Absent => return Ok(Guard::default()),
        PlanFile::Unparsable => return refuse("failed to parse task_plan.json"),
        PlanFile::Parsed(plan) => plan.clone(),
    };
    if let Some(recorded) = plan.get("guardrail_issues").and_then(Value::as_array) {
        let issues = recorded.iter().filter_map(Value::as_str).map(Issue::mild).collect();
        return Ok(Guard { issues, fixed: false });
    }
    let Some(object) = crate::system::python::dict(&plan) else {
        return refuse("task_plan root must be a JSON object");
    };
    let normalised = reconcile::reconcile(object, project)?;
    let fixed = normalised.is_some();
    let current = normalised.unwrap_or_else(|| object.clone());
    if fixed {
        project.plan = PlanFile::Parsed(Value::Object(current.clone()));
    }
    let contract = Contract::of(agent_profile, project);
    Ok(Guard { issues: lint::lint(&current, project, contract), fixed })
}
