//! Hermes Agent: each table runs one of its three parts.

use serde_json::{Value, json};

use super::case::COMBINED;
use super::played::{Doing, Played};
use super::{PresetCase, PresetDriver};
use crate::catalog;
use crate::decision::Action;
use crate::framework::{Recipe, Settings, SettingsError};
use crate::preset::hermes_agent::goal::GoalReport;
use crate::preset::hermes_agent::{Hermes, HermesRules, parts};

const GUARDRAILS: &str = "tool_guardrails";
const BUDGET: &str = "iteration_budget";
const GOAL: &str = "goal";
/// The section of the configuration that holds the guardrails.
const SECTION: &str = "tool_loop_guardrails";

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "hermes-agent",
    rules: &[GUARDRAILS, BUDGET, GOAL],
    read,
    build: Some(build),
    report,
    action: |doing| Some(action(doing)),
    ..PresetDriver::PLAIN
};

/// Drops unknown keys of the section, because the framework ignores them.
fn read(case: &mut PresetCase<'_>) {
    if let Some(Value::Object(section)) = case.settings.set.shift_remove(SECTION) {
        let parameters = catalog::find("hermes-agent").map_or(&[][..], |framework| framework.parameters);
        for (key, value) in section {
            let entries = match value {
                Value::Object(inner) => {
                    inner.into_iter().map(|(name, value)| (format!("{key}.{name}"), value)).collect()
                }
                value => vec![(key, value)],
            };
            for (name, value) in entries {
                let name = format!("{SECTION}.{name}");
                if parameters.iter().any(|parameter| parameter.name == name) {
                    case.settings.set.insert(name, value);
                }
            }
        }
    }
}

fn build(case: &PresetCase<'_>, settings: &Settings) -> Result<Recipe, SettingsError> {
    let wants = |rule: &str| case.rule == rule || case.rule == COMBINED;
    let has_goal = match settings.get(GOAL) {
        Some(given) => *given == true,
        None => case.rule == GOAL || settings.get("max_turns").is_some(),
    };
    parts(settings, HermesRules { guardrails: wants(GUARDRAILS), budget: wants(BUDGET), goal: wants(GOAL) && has_goal })
}

fn report(played: &Played<'_>) -> Option<Value> {
    let hermes = played.watch.machine::<Hermes>()?;
    let summaries = played.acts.iter().filter(|act| act.decision.action == Action::ForceFinal).count();
    let turn = |turn: &GoalReport| json!({ "verdict": turn.verdict, "status": turn.status, "should_continue": turn.should_continue });
    Some(json!({
        "tools_executed": hermes.guardrails.as_ref().map(|guardrails| guardrails.executed),
        "summary_calls": summaries,
        "turns": hermes.goal.as_ref().map(|goal| goal.turns.iter().map(turn).collect::<Value>()),
    }))
}

fn action(doing: &Doing<'_>) -> Value {
    let mut answer = json!({ "count": doing.observed() });
    if doing.act.decision.code.as_deref() == Some("guardrail_halt") {
        // The first refusal or failure of the message is the cause.
        let step = doing.act.decision.point.step;
        let is_cause = |action| matches!(action, Action::Deny | Action::Stop);
        let cause =
            doing.acts.iter().map(|act| &act.decision).find(|other| other.point.step == step && is_cause(other.action));
        answer["by"] = cause.and_then(|cause| cause.code.as_deref()).into();
    }
    answer
}
