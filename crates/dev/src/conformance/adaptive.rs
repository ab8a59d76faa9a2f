//! adaptive's golden tables: answers of this implementation to their cases.

use serde_json::{Value, json};

use super::{CaseError, GoldenCase, SystemDriver};
use crate::framework::Settings;
use crate::system::adaptive::config;
use crate::system::adaptive::iterations::{AdaptiveProfile, DEFAULT_MAX, Iterations, IterationsEnd, NextAction};
use crate::system::adaptive::review::ReviewerVerdict;
use crate::text::completion_words::completion_word;
use crate::text::conclusion_tag::{CONCLUSION, has_conclusion};
use crate::text::experiment_tag::experiment_code;
use crate::text::observation::observation;

/// The driver for adaptive.
pub(super) const ADAPTIVE: SystemDriver = SystemDriver { id: "adaptive", tables: TABLES, table_of, answer };

/// The names of the tables.
const TABLES: &[&str] =
    &["is_task_completed", "observation_prep", "experiment_tag", "review_gate", "loop_trace", "published_loop_trace"];

/// Recognizes a case's table by the shape of its input.
fn table_of(case: &GoldenCase<'_>) -> Option<&'static str> {
    match () {
        () if case.has(&["responses", "reviews"]) => Some("published_loop_trace"),
        () if case.has(&["responses"]) => Some("loop_trace"),
        () if case.has(&["observation"]) => Some("is_task_completed"),
        () if case.has(&["raw"]) => Some("observation_prep"),
        () if case.has(&["response"]) => Some("experiment_tag"),
        () if case.has(&["review"]) => Some("review_gate"),
        () => None,
    }
}

/// The answer for one case.
fn answer(case: &GoldenCase<'_>) -> Result<Value, CaseError> {
    let input = case.input;
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    match case.table {
        "is_task_completed" => Ok(json!({"task_completed": completion_word(text("observation")).is_some()})),
        "observation_prep" => {
            let prepared = observation(text("raw"));
            let completed = completion_word(&prepared).is_some();
            Ok(json!({"chars": prepared.chars().count(), "observation": prepared, "task_completed": completed}))
        }
        "experiment_tag" => {
            let code = experiment_code(text("response"));
            let runs = code.as_ref().is_some_and(|code| !code.is_empty());
            Ok(json!({"code": code, "runs": runs, "conclusion_tag_seen": has_conclusion(text("response"))}))
        }
        "review_gate" => {
            let verdict = ReviewerVerdict::read(&input["review"]).map(|review| review.verdict());
            let finalize = matches!(verdict, Some((true, _)));
            let log: Vec<String> = verdict.into_iter().map(|(_, log)| log).collect();
            Ok(json!({"finalize": finalize, "log": log}))
        }
        "loop_trace" => trace(AdaptiveProfile::Documented, input),
        "published_loop_trace" => trace(AdaptiveProfile::Published, input),
        _ => Err(CaseError::UnknownTable),
    }
}

/// A whole workflow with scripted calls and executions.
fn trace(profile: AdaptiveProfile, input: &Value) -> Result<Value, CaseError> {
    let max = input["max_iterations"].as_i64().unwrap_or(DEFAULT_MAX);
    let wanted = ["strategies", "consecutive_successes"];
    let set = wanted.into_iter().filter_map(|key| Some((key.to_owned(), input.get(key)?.clone()))).collect();
    let strategies = config::strategies(&Settings { set, ..Settings::default() });
    let strategies = strategies.map_err(|error| CaseError::BadCase(error.to_string()))?;
    let mut iterations = Iterations::new(profile, max, strategies);
    let mut responses = input["responses"].as_array().into_iter().flatten();
    let mut executions = input["executions"].as_array().into_iter().flatten();
    let mut reviews = input["reviews"].as_array().map(|reviews| reviews.iter());
    let (mut kinds, mut conversation) = (vec!["initial"], String::new());
    let (mut experiments_run, mut reviews_run) = (0, 0);
    let mut seen = String::new();
    let end = loop {
        let reply = responses.next().and_then(Value::as_str);
        let reply = reply.ok_or_else(|| CaseError::BadCase("the workflow wants one more response".to_owned()))?;
        if kinds.len() > 1 {
            conversation.extend(["\n<Observation>\n", seen.as_str(), "\n</Observation>\n"]);
        }
        conversation.push_str(reply);
        let code = experiment_code(reply).unwrap_or_default();
        match iterations.reply(reply, !code.is_empty()) {
            NextAction::Stop(end) => break end,
            NextAction::FinalCall(_) => {
                kinds.push("final");
                continue;
            }
            NextAction::Experiment | NextAction::Call => {}
        }
        let execution = executions.next();
        let execution = execution.ok_or_else(|| CaseError::BadCase("one more experiment is run".to_owned()))?;
        experiments_run += 1;
        let stream = if execution["success"].as_bool() == Some(true) { "stdout" } else { "stderr" };
        iterations.ran(execution["success"].as_bool().map(|success| !success));
        seen = observation(execution[stream].as_str().unwrap_or_default());
        let review = reviews.as_mut().filter(|_| !seen.is_empty()).and_then(|reviews| {
            reviews_run += 1;
            ReviewerVerdict::read(reviews.next()?)
        });
        match iterations.observe(&seen, review.as_ref()) {
            NextAction::Stop(end) => break end,
            NextAction::FinalCall(_) => kinds.push("final"),
            NextAction::Call | NextAction::Experiment => kinds.push("continue"),
        }
    };
    let recorded = !(end == IterationsEnd::NoExperiment && iterations.current == 1);
    let said = |tag: &str| if recorded { conversation.matches(tag).count() } else { 0 };
    Ok(json!({
        "llm_calls": kinds.len(),
        "call_kinds": kinds,
        "experiments_run": experiments_run,
        "reviews_run": reviews_run,
        "last_iteration": iterations.current,
        "stopped_by": name(end),
        "has_conclusion": said(CONCLUSION) > 0,
        "observations_in_conversation": said("<Observation>"),
        "conversation_recorded": recorded,
        "log": iterations.log,
    }))
}

/// The name of an end in the tables.
fn name(end: IterationsEnd) -> &'static str {
    match end {
        IterationsEnd::ConclusionTag => "conclusion_tag",
        IterationsEnd::TaskCompleted(_) => "task_completed",
        IterationsEnd::TaskStatus => "task_status",
        IterationsEnd::Successes(_) => "consecutive_successes",
        IterationsEnd::Reviewed => "reviewed",
        IterationsEnd::NoExperiment => "no_experiment",
        IterationsEnd::MaxIterations => "max_iterations",
    }
}
