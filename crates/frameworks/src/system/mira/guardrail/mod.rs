//! The task plan's guardrail: normalises the plan, then looks for issues that block.

mod contract;
mod evidence;
mod lint;
mod plan_block;
mod project;
mod reconcile;
mod warnings;

use serde_json::Value;

use super::rules::{Guardrail, MiraRules};
use crate::python::Raised;

pub use contract::{AgentProfile, Contract};
pub use evidence::experiment_number;
pub use project::{PlanFile, ProjectFolder};
pub use reconcile::has_final_result;

/// Parts of the messages of issues that are severe from 0.3.3 on.
const SEVERE: [&str; 6] = [
    "failed to parse task_plan.json",
    "failed to write normalized task_plan.json",
    "task_plan root must be a JSON object",
    "unsafe artifact path",
    ": invalid status",
    "more than one experiment marked as running",
];

/// Parts of the messages of issues that 0.3.1 considers repairable.
const REPAIRABLE: [&str; 4] = [
    "completed experiment missing results/conclusion",
    "profile missing required fields",
    "hypothesis rejection requires fields",
    ": evidence_refs",
];

/// The guardrail's latest findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardrailFindings {
    /// The issues, in the original's messages.
    pub issues: Vec<String>,
    /// Whether the plan was rewritten.
    pub fixed: bool,
    /// Whether the plan could not be read; then every issue blocks.
    pub unreadable: bool,
}

impl GuardrailFindings {
    /// Whether the findings block.
    pub fn blocks(&self, rules: MiraRules, project: &ProjectFolder) -> bool {
        let all = self.unreadable || rules.guardrail == Guardrail::All || project.is_strict();
        if all { !self.issues.is_empty() } else { self.is_beyond_repair(rules) }
    }

    /// Whether there is an issue for which no repair is attempted. The releases tell issues apart by their messages.
    pub fn is_beyond_repair(&self, rules: MiraRules) -> bool {
        self.issues.iter().any(|issue| is_fatal(rules.guardrail, issue))
    }
}

fn is_fatal(guardrail: Guardrail, issue: &str) -> bool {
    let has = |part: &&str| issue.contains(*part);
    match guardrail {
        Guardrail::All => false,
        Guardrail::Fatal => !REPAIRABLE.iter().any(has),
        Guardrail::Severe => {
            let broken = issue.starts_with("experiment #")
                && (issue.contains("is not an object") || issue.contains("missing id"));
            broken || SEVERE.iter().any(has)
        }
    }
}

/// Runs the guardrail on a project: rewrites its plan and lists the remaining issues. A project without a plan passes.
/// Issues recorded in the plan itself (`guardrail_issues`) are taken as they are.
///
/// # Errors
/// See [`Raised`]: an unhashable status.
pub fn guard(
    project: &mut ProjectFolder,
    agent_profile: Option<AgentProfile>,
    rules: MiraRules,
) -> Result<GuardrailFindings, Raised> {
    let refuse = |text: &str| Ok(GuardrailFindings { issues: vec![text.to_owned()], fixed: false, unreadable: true });
    let plan = match &project.plan {
        PlanFile::Absent => return Ok(GuardrailFindings::default()),
        PlanFile::Unparsable => return refuse("failed to parse task_plan.json"),
        PlanFile::Parsed(plan) => plan.clone(),
    };
    if let Some(recorded) = plan["guardrail_issues"].as_array() {
        let issues = recorded.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        return Ok(GuardrailFindings { issues, ..GuardrailFindings::default() });
    }
    let Some(object) = crate::python::dict(&plan) else {
        return refuse("task_plan root must be a JSON object");
    };
    let normalised = reconcile::reconcile(object, project, rules)?;
    let mut fixed = normalised.is_some();
    let mut current = normalised.unwrap_or_else(|| object.clone());
    let contract = Contract::from_agent_profile(agent_profile, project, rules);
    // The project's files that are searched include the plan's own file, which has been rewritten by now.
    let seen = ProjectFolder { plan: PlanFile::Parsed(Value::Object(current.clone())), ..project.clone() };
    let issues = lint::lint(&current, &seen, contract, rules)?;
    if rules.guardrail == Guardrail::Severe {
        fixed |= warnings::note(&mut current, &issues, |issue| is_fatal(rules.guardrail, issue));
    }
    if fixed {
        project.plan = PlanFile::Parsed(Value::Object(current));
    }
    Ok(GuardrailFindings { issues, fixed, unreadable: false })
}
