//! The goal loop on small recordings.

use serde_json::{Value, json};

use super::*;
use crate::framework::ConfigText;
use crate::replay::trail;
use crate::transcript::{Draft, Event, Grade, JudgeReply, Message, Note, Outcome, Role, Run, Text, ToolCall, Usage};

/// Rounds of one tool step and one answer each, followed by a judge's reply.
fn run(rounds: &[(bool, Option<&str>)], outcome: Outcome) -> Run {
    let mut events = Vec::new();
    for (failed, judge) in rounds {
        let mut reply = Message::new(Role::Assistant);
        reply.tool_calls.push(ToolCall::new(Some("c"), "run", "{}"));
        reply.set_usage(Some(Usage::new(90, 10)));
        let mut result = Message::saying(Role::Tool, "text");
        result.is_error = Some(*failed);
        let messages =
            [Message::saying(Role::User, "go on"), reply, result, Message::saying(Role::Assistant, "so far")];
        events.extend(messages.map(Event::Message));
        let reply = judge.map(|raw| JudgeReply { reply: Some(Text::plain(raw)), error: None, usage: None });
        events.extend(reply.map(Event::Judge));
    }
    Run::new(Draft { events, grade: Grade { outcome, ..Grade::default() }, ..Draft::default() })
}

const NO: Option<&str> = Some(r#"{"done": false, "reason": "more"}"#);
const YES: Option<&str> = Some(r#"{"done": true, "reason": "all there"}"#);

fn check(config: &str, profile: &str, set: &Value, run: &Run, expected: &str) {
    let settings = Settings {
        profile: Some(profile.to_owned()),
        config: Some(ConfigText { path: "goal.toml".to_owned(), text: config.to_owned() }),
        set: set.as_object().cloned().unwrap_or_default(),
        ..Settings::named("t")
    };
    let system = Arc::new(AgenticaStrategy::build(&settings).unwrap());
    let trail = trail(run, &system);
    let told = trail.iter().filter(|decision| decision.action != Action::Extend);
    let told = told.map(|decision| format!("{} {}", decision.point.step, decision.code.as_deref().unwrap_or_default()));
    assert_eq!(told.collect::<Vec<_>>().join("; "), expected, "{config} {profile}");
}

#[test]
fn the_judge_ends_the_loop_and_a_missing_verdict_is_said_once() {
    let judged = run(&[(false, NO), (false, YES), (false, NO)], Outcome::Unknown);
    check("", "published-1.4", &json!({}), &judged, "3 complete");
    check("", "published-1.5", &json!({}), &judged, "");
    check("auto_judge = true", "published-1.5", &json!({}), &judged, "3 complete");
    let unjudged = run(&[(false, None), (false, None), (false, None)], Outcome::Unknown);
    check("", "published-1.4", &json!({}), &unjudged, "1 judge_missing");
    check("turn_budget = 2", "published-1.4", &json!({}), &unjudged, "1 judge_missing; 3 budget_limited:budget");
    check("", "published-1.4", &json!({"judge": "none"}), &unjudged, "1 paused:judge-broken");
}

#[test]
fn budgets_stop_at_equality_and_the_later_version_grants_a_last_turn() {
    let judged = run(&[(false, NO), (false, NO), (false, NO), (false, NO)], Outcome::Unknown);
    check("token_budget = 200", "published-1.4", &json!({}), &judged, "3 budget_limited:budget");
    check("token_budget = 200", "published-1.5", &json!({}), &judged, "3 budget_wrapup; 5 budget_limited:budget");
    check("turn_budget = 3", "published-1.4", &json!({}), &judged, "5 budget_limited:budget");
    let counted = json!({"run_goal_tokens": true});
    check("token_budget = 200", "published-1.4", &counted, &judged, "");
}

#[test]
fn a_prompt_typed_during_a_turn_leaves_that_turn_uncounted_where_prompts_are_queued() {
    let rounds = |prompts: &[&str]| {
        let mut events = Vec::new();
        for prompt in prompts {
            events.extend(
                [Message::saying(Role::User, *prompt), Message::saying(Role::Assistant, "w")].map(Event::Message),
            );
            events.push(Event::Judge(JudgeReply { reply: NO.map(Text::plain), error: None, usage: None }));
        }
        Run::new(Draft { events, ..Draft::default() })
    };
    let typed = rounds(&["obj", "also fix the docs", OWN_PROMPTS[0], OWN_PROMPTS[0], OWN_PROMPTS[0]]);
    check("turn_budget = 2", "published-1.4", &json!({}), &typed, "1 budget_limited:budget");
    check("turn_budget = 2", "published-1.4", &json!({"prompts": "queue"}), &typed, "2 budget_limited:budget");
    let own = rounds(&["obj", OWN_PROMPTS[0], OWN_PROMPTS[0]]);
    check("turn_budget = 2", "published-1.4", &json!({"prompts": "queue"}), &own, "1 budget_limited:budget");
}

#[test]
fn the_page_puts_the_turn_budget_before_the_judge() {
    let done_at_cap = run(&[(false, NO), (false, YES)], Outcome::Unknown);
    check("turn_budget = 2", "documented", &json!({}), &done_at_cap, "3 budget_limited:budget");
    check("turn_budget = 2", "published-1.4", &json!({}), &done_at_cap, "3 complete");
}

#[test]
fn three_rounds_of_failed_tools_pause_the_goal() {
    let failing = run(&[(true, NO), (true, NO), (true, YES)], Outcome::Unknown);
    check("", "published-1.4", &json!({}), &failing, "5 paused:tool-stuck");
    let recovering = run(&[(true, NO), (false, NO), (true, NO)], Outcome::Unknown);
    check("", "published-1.4", &json!({}), &recovering, "");
    check("", "published-1.4", &json!({"round": "step"}), &failing, "0 judge_missing; 4 paused:tool-stuck");
}

#[test]
fn a_perfect_simulated_judge_never_stops_a_failure() {
    let judge = json!({"judge": {"sensitivity": 1.0, "specificity": 1.0, "seed": 1}});
    let rounds = [(false, None), (false, None)];
    check("", "published-1.4", &judge, &run(&rounds, Outcome::Failure), "");
    // The recording does not say when success was reached, so only the last round has a verdict.
    check("", "published-1.4", &judge, &run(&rounds, Outcome::Success), "1 judge_missing; 3 complete");
}

#[test]
fn arguments_are_checked_by_the_version() {
    let refusal = |profile: &str, text: &str| {
        let config = Some(ConfigText { path: "goal.toml".to_owned(), text: text.to_owned() });
        let settings = Settings { profile: Some(profile.to_owned()), config, ..Settings::named("t") };
        AgenticaStrategy::build(&settings).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(refusal("published-1.4", "token_budget = 0"), "");
    assert_eq!(
        refusal("published-1.5", "token_budget = 0"),
        "budget must be positive, or -1 for unlimited (goal.toml:1:7)"
    );
    assert_eq!(refusal("published-1.4", "tokens_budget = 1"), "unknown argument `tokens_budget` (goal.toml:1:1)");
}

/// A run with a row of agentica's own log after each round of one answer.
fn logged(rows: &[&[Value]]) -> Run {
    let mut events = Vec::new();
    for row in rows {
        let messages = [Message::saying(Role::User, "go on"), Message::saying(Role::Assistant, "so far")];
        events.extend(messages.map(Event::Message));
        events.extend(row.iter().map(|goal| {
            let body = serde_json::value::to_raw_value(&json!({ "goal": goal })).unwrap();
            Event::Note(Note { kind: Note::GOAL_ROW.into(), body })
        }));
    }
    Run::new(Draft { events, ..Draft::default() })
}

#[test]
fn a_recorded_pause_ends_the_loop_unless_it_is_resumed() {
    let row = |status: &str, turns: i64, why: Option<&str>| json!({"status": status, "turns_used": turns, "last_verdict": "continue", "paused_reason": why});
    let turn = |n| row("active", n, None);
    let paused = logged(&[&[turn(1)], &[row("paused", 1, Some("user-interrupted"))], &[turn(2)]]);
    check("", "published-1.4", &json!({}), &paused, "1 paused:user-interrupted");
    let resumed = logged(&[&[turn(1)], &[row("paused", 1, Some("user")), turn(1), turn(2)], &[turn(3)]]);
    check("", "published-1.4", &json!({}), &resumed, "");
    check("turn_budget = 3", "published-1.4", &json!({}), &resumed, "2 budget_limited:budget");
    let cleared = logged(&[&[turn(1)], &[row("cleared", 1, None)], &[turn(2)]]);
    check("", "published-1.4", &json!({}), &cleared, "1 cleared");
    // The counts start again with a new goal.
    let again = logged(&[&[turn(1)], &[row("cleared", 1, None), turn(0), turn(1)], &[turn(2)]]);
    check("turn_budget = 3", "published-1.4", &json!({}), &again, "");
}
