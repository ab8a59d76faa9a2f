//! mira's golden tables: what the code of 0.3 (or another profile) decides for each case.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::system::{GoldenTable, replayed_session, table_of};
use super::{CaseError, GoldenCase};
use crate::catalog;
use crate::framework::Settings;
use crate::python::{self, Dict, Int, Raised};
use crate::system::mira::decide::{AfterRun, Situation};
use crate::system::mira::export;
use crate::system::mira::guardrail::{AgentProfile, GuardrailFindings, PlanFile, ProjectFolder, has_final_result};
use crate::system::mira::message::MessageLoop;
use crate::system::mira::plan::{self, Plan};
use crate::system::mira::policy::{AutomationPolicy, float_json};
use crate::system::mira::rules::{MiraProfile, MiraRules};
use crate::system::mira::stop::{AutoStopReason, stop_policy};
use crate::text::closing_paragraph;
use crate::text::failure::failure;
use crate::text::provider_error::provider_error;
use crate::text::user_request::user_request;
use crate::transcript::Event;

/// Answers a case under some rules.
type AnswerUnder = fn(MiraRules, &Value) -> Result<Value, Raised>;

/// The tables. The three text tests have the same shape, so they cannot be told apart. A session is answered under a
/// profile, not only its rules, by [`session`].
const TABLES: &[GoldenTable<Option<AnswerUnder>>] = &[
    ("message_trace", |case| case.has(&["rounds"]), Some(message_trace)),
    ("session_new", |case| case.has(&["events"]), None),
    ("continuation_decision", |case| case.has(&["run_mode", "plan"]) && case.asks("plan_after"), Some(continuation)),
    ("round_decision", |case| case.has(&["run_mode", "plan"]), Some(round)),
    ("stop_policy_unparsed", |case| case.has(&["policy_unparsed"]), Some(stop_policy_unparsed)),
    ("replan", |case| case.has(&["policy", "plan"]) && case.asks("replan"), Some(replan)),
    ("goal_evaluation", |case| case.has(&["policy", "plan"]), Some(goal_evaluation)),
    ("parse_policy", |case| case.has(&["policy"]), Some(parse_policy)),
    ("export_guard", |case| case.has(&["channel", "after"]), Some(export_guard)),
    ("checkpoint", |case| case.has(&["before", "after"]), Some(|_, input| checkpoint(input))),
    ("result_request", |case| case.has(&["content"]), Some(|_, input| Ok(result_request(input)))),
    (
        "token_accounting",
        |case| case.has(&["steps"]) || case.has(&["usages_of_one_round"]),
        Some(|_, input| Ok(token_accounting(input))),
    ),
    ("final_result", |case| case.has(&["result"]), Some(|_, input| Ok(final_result(input)))),
    ("user_input_request", |_| false, Some(|rules, input| text_match(input, |text| user_request(text, rules.wording)))),
    ("failure_response", |_| false, Some(|rules, input| text_match(input, |text| failure(text, rules.wording)))),
    ("provider_error", |_| false, Some(|rules, input| text_match(input, |text| provider_error(text, rules.wording)))),
];

/// The answer under the rules of the release that the case names, else of the code that the page describes.
pub(super) fn answer(case: &GoldenCase<'_>) -> Result<Value, CaseError> {
    let profile = match case.version.unwrap_or_default().strip_prefix("mira-engine ") {
        None | Some("doc") => MiraProfile::Described03,
        Some(version) => profile_of_release(version)
            .ok_or_else(|| CaseError::BadCase(format!("no profile has the rules of release {version}")))?,
    };
    match table_of(TABLES, case)? {
        Some(answer) => Ok(told_or_raised(answer(MiraRules::from_profile(profile), case.input))),
        None => session(profile, case.input),
    }
}

/// The profile with the rules of a release, which may be another name of it.
fn profile_of_release(version: &str) -> Option<MiraProfile> {
    let settings = Settings { profile: Some(format!("published-{version}")), ..Settings::default() };
    let settings = catalog::find("mira")?.checked(&settings).ok()?;
    settings.profile?.parse().ok()
}

/// Where the replay of a session of several messages stops: the index of the event, and how many runs there were since the
/// last `/new`.
fn session(profile: MiraProfile, input: &Value) -> Result<Value, CaseError> {
    let mut input = input.clone();
    let mut set = input["set"].as_object().cloned().unwrap_or_default();
    set.extend(input["policy"].as_object().cloned().unwrap_or_default());
    input["set"] = Value::Object(set);
    let (run, stop) = replayed_session("mira", Some(profile.name()), &input)?;
    let halted_at = stop.as_ref().and_then(|stop| stop.event);
    let is_new = |event: &Event| matches!(event.message(), Some(message) if message.text() == "/new");
    let begin = if let Some(new) = run.events().iter().rposition(is_new) { new + 2 } else { 0 };
    let until = if let Some(at) = halted_at { at + 1 } else { run.events().len() };
    let replies = run.events().get(begin..until).unwrap_or_default().iter().filter_map(Event::message);
    Ok(json!({
        "halted_at": halted_at,
        "reason": stop.and_then(|stop| stop.code),
        "runs_after_new": replies.filter(|message| message.is_step()).count(),
    }))
}

/// The answer under `rules`.
///
/// # Errors
/// If the table is unknown.
pub fn answer_of(rules: MiraRules, table: &str, input: &Value) -> Result<Value, CaseError> {
    let answer = TABLES.iter().find(|(name, ..)| *name == table).and_then(|(.., answer)| *answer);
    Ok(told_or_raised(answer.ok_or(CaseError::UnknownTable)?(rules, input)))
}

fn told_or_raised(answer: Result<Value, Raised>) -> Value {
    answer.unwrap_or_else(|Raised(name)| json!({"raises": name}))
}

fn result_request(input: &Value) -> Value {
    json!({"result_request": export::is_result_request(&input["content"], &input["metadata"])})
}

fn final_result(input: &Value) -> Value {
    json!({"has_final_result": has_final_result(input.get("result"))})
}

fn parse_policy(rules: MiraRules, input: &Value) -> Result<Value, Raised> {
    let policy = AutomationPolicy::parse(&input["policy"], rules.strict_switch)?;
    Ok(json!({"policy": policy_json(rules, policy.as_ref())}))
}

fn policy_json(rules: MiraRules, policy: Option<&AutomationPolicy>) -> Value {
    let mut json = policy.map(AutomationPolicy::json).unwrap_or_default();
    if let Some(fields) = json.as_object_mut().filter(|_| !rules.strict_switch) {
        fields.shift_remove("strictHeuristics");
    }
    json
}

/// The reason that is printed for a stop.
fn told(rules: MiraRules, decision: &AfterRun) -> Option<&AutoStopReason> {
    match decision {
        AfterRun::Stop(Some(reason)) if rules.says_why || reason.is_condition() => Some(reason),
        _ => None,
    }
}

fn reason_json(reason: Option<&AutoStopReason>) -> Value {
    reason.map(|reason| Value::from(reason.to_string())).unwrap_or_default()
}

/// An integer; 0 for anything else.
fn whole(value: &Value) -> i128 {
    if let Some(whole) = Int::from_value(value) { whole.value() } else { 0 }
}

fn tokens(input: &Value) -> i128 {
    whole(&input["tokens_used"])
}

/// Runs a text test. A value that is not a string has no string methods, so Python raises unless it is empty or null.
fn text_match(input: &Value, phrase: impl Fn(&str) -> Option<&'static str>) -> Result<Value, Raised> {
    let given = input.get("text").filter(|text| python::is_true(text));
    match given {
        None => Ok(json!({"match": false, "tail_len": null})),
        Some(Value::String(text)) => {
            let tail_len = closing_paragraph(text).chars().count();
            Ok(json!({"match": phrase(text).is_some(), "tail_len": tail_len}))
        }
        Some(_) => Err(Raised("AttributeError")),
    }
}

/// Whether the stop policy reads the plan at all.
fn looks_into_plan(policy: Option<&AutomationPolicy>) -> bool {
    policy.is_some_and(|policy| policy.names_goals || policy.max_experiments.is_some())
}

/// A plan given as a value, which may or may not be read.
///
/// # Errors
/// `AttributeError` if a plan that is neither an object nor empty is read.
fn plan_of(plan: &Value, is_looked_into: bool) -> Result<Plan<'_>, Raised> {
    let object = python::dict(plan);
    if object.is_none() && is_looked_into && python::is_true(plan) {
        return Err(Raised("AttributeError"));
    }
    Ok(object)
}

fn stop_policy_unparsed(rules: MiraRules, input: &Value) -> Result<Value, Raised> {
    let raw = &input["policy_unparsed"];
    // If there are goals, the plan is read before their values.
    if matches!(&raw["goals"], Value::Array(goals) if !goals.is_empty()) {
        plan_of(&input["plan"], true)?;
    }
    let policy = AutomationPolicy::unparsed(raw)?;
    let plan = plan_of(&input["plan"], looks_into_plan(policy.as_ref()))?;
    let reason = stop_policy(policy.as_ref(), plan, rules.metrics, tokens(input))?;
    Ok(json!({"stop_reason": reason_json(reason.as_ref())}))
}

fn goal_evaluation(rules: MiraRules, input: &Value) -> Result<Value, Raised> {
    let policy = AutomationPolicy::parse(&input["policy"], rules.strict_switch)?;
    let plan = plan_of(&input["plan"], true)?;
    let reason = stop_policy(policy.as_ref(), plan, rules.metrics, tokens(input))?;
    let metrics = plan::metrics(plan, rules.metrics)?.into_iter();
    let metrics: Map<String, Value> = metrics.map(|(name, value)| (name, float_json(value))).collect();
    Ok(json!({
        "stop_reason": reason_json(reason.as_ref()),
        "metrics_seen": metrics,
        "completed_count": plan::completed_count(plan, rules.metrics),
    }))
}

fn replan(rules: MiraRules, input: &Value) -> Result<Value, Raised> {
    let policy = AutomationPolicy::parse(&input["policy"], rules.strict_switch)?;
    plan_of(&input["plan"], true)?;
    let project = ProjectFolder { plan: plan_file(&input["plan"]), ..ProjectFolder::default() };
    let warranted = situation_of(rules, policy.as_ref(), input).replans(&project)?;
    Ok(json!({"has_pending_work": plan::has_pending_work(project.plan())?, "replan": warranted}))
}

/// Follow-up runs so far, clamped: values below 0 act like 0, and huge ones exceed every cap.
fn rounds(value: &Value) -> u32 {
    let Some(rounds) = python::int(value) else { return 0 };
    u32::try_from(rounds.value().max(0)).unwrap_or(u32::MAX)
}

fn situation_of<'s>(rules: MiraRules, policy: Option<&'s AutomationPolicy>, input: &'s Value) -> Situation<'s> {
    Situation {
        rules,
        policy,
        is_auto: input["run_mode"].as_str() == Some("auto"),
        agent_profile: agent_profile(&input["agent_profile"]),
        text: input["final_content"].as_str().unwrap_or_default(),
        auto_round: rounds(&input["auto_round"]),
        tokens: tokens(input),
        plan_may_be_unrecorded: false,
    }
}

/// The loop's profile: none if empty, the default if unknown.
fn agent_profile(value: &Value) -> Option<AgentProfile> {
    if python::is_true(value) { Some(AgentProfile::from_value(value).unwrap_or_default()) } else { None }
}

/// The plan of a case: none, an object, or the raw text of a file.
fn plan_file(plan: &Value) -> PlanFile {
    match (plan, plan["raw_text"].as_str()) {
        (Value::Null, _) => PlanFile::Absent,
        (_, Some(text)) => PlanFile::read(text),
        _ => PlanFile::Parsed(plan.clone()),
    }
}

fn project(input: &Value, plan: &Value) -> ProjectFolder {
    let files = input["files"].as_object().into_iter().flatten();
    let text = |(path, text): (&String, &Value)| (path.clone(), text.as_str().unwrap_or_default().to_owned());
    let settings = Some(input["project_meta"].clone()).filter(|settings| !settings.is_null());
    ProjectFolder { plan: plan_file(plan), settings, files: Some(files.map(text).collect::<BTreeMap<_, _>>()) }
}

fn continuation(rules: MiraRules, input: &Value) -> Result<Value, Raised> {
    let policy = AutomationPolicy::parse(&input["policy"], rules.strict_switch)?;
    let mut on_disk = project(input, &input["plan"]);
    let mut guard = GuardrailFindings::default();
    let decision = continuation_of(&situation_of(rules, policy.as_ref(), input), input, &mut on_disk, &mut guard)?;
    let reason = told(rules, &decision);
    Ok(json!({
        "continue": matches!(decision, AfterRun::Run(_)),
        "stop_reason": reason_json(reason),
        "guard_issues": guard.issues,
        "plan_after": reduced(&on_disk),
    }))
}

/// Decides without a plan to read or to approve if the case has no project.
fn continuation_of(
    situation: &Situation<'_>,
    input: &Value,
    on_disk: &mut ProjectFolder,
    guard: &mut GuardrailFindings,
) -> Result<AfterRun, Raised> {
    if input["has_project_dir"] == false {
        let rules = MiraRules { approval: false, ..situation.rules };
        return Situation { rules, ..*situation }.continuation(&mut ProjectFolder::default(), guard);
    }
    situation.continuation(on_disk, guard)
}

fn round(rules: MiraRules, input: &Value) -> Result<Value, Raised> {
    let policy = AutomationPolicy::parse(&input["policy"], rules.strict_switch)?;
    let situation = situation_of(rules, policy.as_ref(), input);
    let mut on_disk = project(input, &input["plan"]);
    let has_project = input["has_project_dir"].as_bool().unwrap_or(true);
    let first = rules.order == crate::system::mira::rules::Order::Code && situation.is_auto;
    let seen = if has_project { &on_disk } else { &ProjectFolder::default() };
    let condition = if first { situation.stop_policy(seen)? } else { None };
    let decision = match condition {
        Some(reason) => AfterRun::Stop(Some(reason)),
        None => continuation_of(&situation, input, &mut on_disk, &mut GuardrailFindings::default())?,
    };
    let reason = told(rules, &decision);
    Ok(json!({
        "continue": matches!(decision, AfterRun::Run(_)),
        "stop_reason": reason_json(reason),
        "prefix": reason.map(AutoStopReason::prefix),
    }))
}

/// A plan reduced to its status, its current experiment, and each experiment's id, status and conclusion.
fn reduced(project: &ProjectFolder) -> Value {
    let Some(plan) = project.plan() else { return Value::Null };
    let keep = |experiment: &Map<String, Value>| {
        let mut short = experiment.clone();
        short.retain(|key, _| ["id", "status", "conclusion"].contains(&key.as_str()));
        short
    };
    let experiments = plan.get("experiments").and_then(Value::as_array);
    let experiments = experiments.map(|list| list.iter().filter_map(python::dict).map(keep).collect::<Vec<_>>());
    json!({
        "status": plan.get("status"),
        "current_experiment": plan.get("current_experiment"),
        "experiments": experiments,
    })
}

fn checkpoint(input: &Value) -> Result<Value, Raised> {
    let (before, after) = (plan_of(&input["before"], true)?, plan_of(&input["after"], true)?);
    Ok(json!({"checkpoint_ok": plan::checkpoint_is_fresh(before, after), "crossed": plan::crossed(before, after)?}))
}

/// Whether the export guards apply to this channel. 0.2.0 calls it `web`.
fn is_guarded(rules: MiraRules, channel: &Value) -> bool {
    channel.as_str() == Some(if rules.web_only { "web" } else { "ui" })
}

fn export_guard(rules: MiraRules, input: &Value) -> Result<Value, Raised> {
    let mut project = ProjectFolder { plan: plan_file(&input["after"]), ..ProjectFolder::default() };
    let off = input["result_request"].as_bool() == Some(true) || !is_guarded(rules, &input["channel"]);
    let before = python::dict(&input["before"]);
    let guarded =
        if off { export::GuardChanges::default() } else { export::apply(&mut project, before, rules.keeps_open)? };
    let plan = project.plan().map(|plan| Value::Object(plan.clone()));
    Ok(json!({
        "result_rolled_back": guarded.result_restored,
        "status_kept_in_progress": guarded.status_kept,
        "plan": plan,
    }))
}

fn token_accounting(input: &Value) -> Value {
    if let Some(usages) = input["usages_of_one_round"].as_array() {
        let total = |usage: &Value| Int::from_value(usage.get("total_tokens")?).filter(|total| total.value() > 0);
        let sum: i128 = usages.iter().filter_map(total).map(|total| total.value()).sum();
        return json!({"round_tokens": i64::try_from(sum).unwrap_or(i64::MAX)});
    }
    let mut totals: Map<String, Value> = Map::new();
    let mut returned = Vec::new();
    for step in input["steps"].as_array().into_iter().flatten() {
        let session = step[0].as_str().unwrap_or_default();
        if step[1].as_str() == Some("/new") {
            totals.shift_remove(session);
            returned.push(Value::Null);
            continue;
        }
        let before = totals.whole(session).unwrap_or(0);
        let added = i64::try_from(whole(&step[1])).unwrap_or(i64::MAX);
        let total = before.saturating_add(added.max(0));
        if added > 0 {
            totals.insert(session.to_owned(), Value::from(total));
        }
        returned.push(Value::from(total));
    }
    json!({"returned": returned, "totals": totals})
}

fn message_trace(rules: MiraRules, input: &Value) -> Result<Value, Raised> {
    let policy = AutomationPolicy::parse(&input["policy"], rules.strict_switch)?;
    let loops = !rules.web_only || input["channel"].as_str() == Some("web");
    let is_auto = |mode: &Value| loops && python::lower(python::strip(mode.as_str().unwrap_or_default())) == "auto";
    let project = project(input, &input["plan_before"]);
    let mut message = MessageLoop::new(rules, policy, is_auto(&input["run_mode"]), project);
    message.agent_profile = agent_profile(&input["agent_profile"]);
    message.guards_export =
        is_guarded(rules, &input["channel"]) && !export::is_result_request(&input["user_message"], &input["metadata"]);
    // The first run answers the user's message.
    let mut kinds = vec!["initial"];
    let mut progress = Vec::new();
    let mut session = whole(&input["session_tokens_before"]);
    for round in input["rounds"].as_array().into_iter().flatten() {
        if !round["plan_after"].is_null() {
            message.project.plan = plan_file(&round["plan_after"]);
        }
        if !round["switch_mode_to"].is_null() {
            message.is_auto = is_auto(&round["switch_mode_to"]);
        }
        let tokens = whole(&round["tokens"]);
        session += tokens.max(0);
        let turn = message.after_run(round["final_content"].as_str().unwrap_or_default(), tokens)?;
        progress.extend(turn.progress);
        match turn.next {
            AfterRun::Run(kind) => kinds.push(kind.name()),
            AfterRun::Stop(_) => break,
        }
    }
    let clamped = |number: i128| i64::try_from(number).unwrap_or(i64::MAX);
    Ok(json!({
        "agent_runs": kinds.len(),
        "run_kinds": kinds,
        "auto_round_at_stop": message.auto_round,
        "tokens_this_message": clamped(message.tokens),
        "tokens_used_session": clamped(session),
        "last_progress": progress.last(),
        "progress": progress,
        "plan_at_end": reduced(&message.project),
    }))
}
