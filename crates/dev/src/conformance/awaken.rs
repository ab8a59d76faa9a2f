//! awaken's golden tables: answers of this implementation to their cases.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

use super::CaseError;
use super::system::{AnswerInput, GoldenTable};
use crate::system::awaken::{
    AwakenProfile, Boundary, Counters, Hooks, PolicyStop, RunStatistics, StopConditionSpec, StopPolicy,
};
use crate::transcript::Fingerprint;

/// The tables; the case, not the table, says what is answered.
pub(super) const TABLES: &[GoldenTable<AnswerInput>] = &[
    ("stats_policies", |_| false, answer),
    ("stacks", |case| case.input["kind"] == "stats", answer),
    ("spec_serde", |case| case.input["kind"] == "serde", answer),
    ("shared_counters", |case| case.input["kind"] == "steps" && case.has(&["extra_max_rounds_plugin"]), answer),
    ("step_sequences", |case| case.input["kind"] == "steps", answer),
];

fn answer(input: &Value) -> Result<Value, CaseError> {
    let answer = match input["kind"].as_str() {
        Some("stats") => stats(input),
        Some("serde") => Ok(serde_rules(input)),
        Some("steps") => steps(input),
        other => Err(format!("unknown kind `{}`", other.unwrap_or("none"))),
    };
    answer.map_err(CaseError::BadCase)
}

fn conditions(input: &Value) -> Result<Vec<StopConditionSpec>, String> {
    let specs = input["specs"].as_array().ok_or("no `specs`")?;
    specs
        .iter()
        .map(|spec| serde_json::from_value::<StopConditionSpec>(spec.clone()).map_err(|error| error.to_string()))
        .collect()
}

/// A statistics snapshot, as written in a case.
#[derive(Deserialize)]
struct WireStats {
    step_count: u32,
    total_input_tokens: u64,
    total_output_tokens: u64,
    elapsed_ms: u64,
    consecutive_errors: u32,
    last_tool_names: Vec<String>,
    last_response_text: String,
    recent_response_texts: Vec<String>,
}

fn stats(input: &Value) -> Result<Value, String> {
    let conditions = match conditions(input) {
        Ok(conditions) => conditions,
        Err(spec_error) => return Ok(json!({ "spec_error": spec_error })),
    };
    let wire = input.get("stats").cloned().ok_or("no `stats`")?;
    let wire: WireStats = serde_json::from_value(wire).map_err(|error| error.to_string())?;
    let tools: Vec<Cow<'_, str>> = wire.last_tool_names.iter().map(Into::into).collect();
    let counters = Counters {
        step_count: wire.step_count,
        input: wire.total_input_tokens,
        output: wire.total_output_tokens,
        errors: wire.consecutive_errors,
        recent: wire.recent_response_texts.iter().map(|text| Fingerprint::from_text(text)).collect(),
    };
    let seen = RunStatistics {
        counters: &counters,
        elapsed_ms: Some(wire.elapsed_ms),
        errors: counters.errors,
        tools: &tools,
        text: &wire.last_response_text,
    };
    let policies: Vec<StopPolicy> = conditions.into_iter().map(StopPolicy::new).collect();
    let said: Vec<Option<PolicyStop>> =
        policies.iter().map(|policy| policy.evaluate(AwakenProfile::Published06, &seen)).collect();
    let first = said.iter().position(Option::is_some);
    let stop = said.iter().flatten().next();
    let each: Vec<Value> = policies.iter().zip(&said).map(|(policy, stop)| verdict(policy, stop.as_ref())).collect();
    Ok(json!({
        "stopped": first.is_some(),
        "stopping_index": first,
        "code": stop.map(|stop| stop.code),
        "detail": stop.map(|stop| &stop.detail),
        "each": each,
    }))
}

fn verdict(policy: &StopPolicy, stop: Option<&PolicyStop>) -> Value {
    match stop {
        None => json!({ "decision": "continue", "policy_id": policy.id() }),
        Some(stop) => {
            json!({ "decision": "stop", "code": stop.code, "detail": stop.detail, "policy_id": policy.id() })
        }
    }
}

fn serde_rules(input: &Value) -> Value {
    let text = match input["json_text"].as_str() {
        Some(text) => text.to_owned(),
        None => input.get("json").unwrap_or(&Value::Null).to_string(),
    };
    match serde_json::from_str::<StopConditionSpec>(&text) {
        Ok(condition) => json!({ "accepted": true, "canonical": condition, "policy_id": condition.policy_id() }),
        Err(error) => json!({ "accepted": false, "error": error.to_string() }),
    }
}

/// A step, as written in a case.
#[derive(Default, Deserialize)]
#[serde(default)]
struct WireStep {
    text: String,
    tools: Vec<String>,
    usage: Option<CaseUsage>,
    error: bool,
    no_response: bool,
}

/// Token usage, as written in a case; awaken casts its signed numbers to unsigned without a check.
#[derive(Deserialize)]
struct CaseUsage {
    input: Option<i64>,
    output: Option<i64>,
}

impl WireStep {
    fn boundary(&self) -> Boundary<'_> {
        if self.error {
            return Boundary::Failed;
        }
        if self.no_response {
            return Boundary::Nothing;
        }
        let (input, output) = match &self.usage {
            Some(usage) => (usage.input.unwrap_or(0), usage.output.unwrap_or(0)),
            None => (0, 0),
        };
        Boundary::Reply {
            text: (&self.text).into(),
            print: if self.text.is_empty() { None } else { Some(Fingerprint::from_text(&self.text)) },
            tools: self.tools.iter().map(Into::into).collect(),
            input: input.cast_unsigned(),
            output: output.cast_unsigned(),
        }
    }
}

fn steps(input: &Value) -> Result<Value, String> {
    let conditions = match conditions(input) {
        Ok(conditions) => conditions,
        Err(spec_error) => return Ok(json!({ "spec_error": spec_error })),
    };
    let wire = input.get("steps").cloned().ok_or("no `steps`")?;
    let wire: Vec<WireStep> = serde_json::from_value(wire).map_err(|error| error.to_string())?;
    let policies = conditions.into_iter().map(StopPolicy::new).collect();
    let guard = match input.get("extra_max_rounds_plugin") {
        None | Some(Value::Null) => None,
        Some(rounds) => {
            let rounds = rounds.as_u64().ok_or("`extra_max_rounds_plugin` is no number")?;
            let rounds = usize::try_from(rounds).map_err(|error| error.to_string())?;
            Some(StopPolicy::new(StopConditionSpec::MaxRounds { rounds }))
        }
    };
    let hooks = Hooks::new(AwakenProfile::Published06, policies, guard);
    let mut counters = Counters::default();
    let mut per_step = Vec::new();
    for (index, step) in wire.iter().enumerate() {
        let said = hooks.each(&mut counters, &step.boundary(), None);
        let stop = hooks.verdict(said);
        let reason = stop.as_ref().map(|(_, stop)| format!("stopped:{}", stop.code));
        per_step.push(json!({
            "step": index + 1,
            "stopped": stop.is_some(),
            "status_reason": reason,
            "state": {
                "step_count": counters.step_count,
                "total_input_tokens": counters.input,
                "total_output_tokens": counters.output,
                "consecutive_errors": counters.errors,
                "recent_response_texts_len": counters.recent.len(),
            },
        }));
        if let Some((_, stop)) = stop {
            return Ok(json!({
                "stop_step": index + 1,
                "status_reason": reason,
                "code": stop.code,
                "per_step": per_step,
            }));
        }
    }
    Ok(json!({ "stop_step": null, "status_reason": null, "code": null, "per_step": per_step }))
}
