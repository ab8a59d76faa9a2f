//! adaptive's golden tables: answers of this implementation to their cases.

use serde_json::{Value, json};

use super::CaseError;
use super::system::{AnswerInput, GoldenTable};
use crate::framework::Settings;
use crate::system::adaptive::config;
use crate::system::adaptive::iterations::{AdaptiveProfile, DEFAULT_MAX, Iterations, IterationsEnd, NextAction};
use crate::system::adaptive::review::ReviewerVerdict;
use crate::text::completion_words::completion_word;
use crate::text::conclusion_tag::{CONCLUSION, has_conclusion};
use crate::text::experiment_tag::experiment_code;
use crate::text::observation::observation;

/// The tables.
pub(super) const TABLES: &[GoldenTable<AnswerInput>] = &[
    (
        "published_loop_trace",
        |case| case.has(&["responses", "reviews"]),
        |input| trace(AdaptiveProfile::Published, input),
    ),
    ("loop_trace", |case| case.has(&["responses"]), |input| trace(AdaptiveProfile::Documented, input)),
    (
        "is_task_completed",
        |case| case.has(&["observation"]),
        |input| Ok(json!({"task_completed": completion_word(text(input, "observation")).is_some()})),
    ),
    (
        "observation_prep",
        |case| case.has(&["raw"]),
        |input| {
            let prepared = observation(text(input, "raw"));
            let completed = completion_word(&prepared).is_some();
            Ok(json!({"chars": prepared.chars().count(), "observation": prepared, "task_completed": completed}))
        },
    ),
    (
        "experiment_tag",
        |case| case.has(&["response"]),
        |input| {
            let response = text(input, "response");
            let code = experiment_code(response);
            let runs = code.as_ref().is_some_and(|code| !code.is_empty());
            Ok(json!({"code": code, "runs": runs, "conclusion_tag_seen": has_conclusion(response)}))
        },
    ),
    (
        "review_gate",
        |case| case.has(&["review"]),
        |input| {
            let verdict = ReviewerVerdict::read(&input["review"]).map(|review| review.verdict());
            let finalize = matches!(verdict, Some((true, _)));
            let log: Vec<String> = verdict.into_iter().map(|(_, log)| log).collect();
            Ok(json!({"finalize": finalize, "log": log}))
        },
    ),
];

fn text<'c>(input: &'c Value, key: &str) -> &'c str {
    input[key].as_str().unwrap_or_default()
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
