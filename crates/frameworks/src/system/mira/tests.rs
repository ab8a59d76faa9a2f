//! The auto mode on small recordings.

use serde_json::{Value, json};

use crate::catalog::find;
use crate::system::testing::{TestRecording, configured, decisions, refusal, settings};

fn check(profile: &str, set: &Value, recording: TestRecording, expected: &str) {
    assert_eq!(decisions(find("mira").unwrap(), &settings(profile, set), recording), expected, "{profile} {set}");
}

fn rounds(texts: &[&str]) -> TestRecording {
    texts
        .iter()
        .fold(TestRecording::default(), |recording, text| recording.user("go on").step("working", "ok").reply(text))
}

#[test]
fn a_question_in_the_closing_paragraph_ends_the_run() {
    let asks = || rounds(&["fine", "Tables are done.\n\nShall I proceed?", "never seen"]);
    let stop = "stop mira.user_input_heuristic at 3:end_of_round";
    check("described-0.3", &json!({}), asks(), stop);
    check("documented", &json!({}), asks(), stop);
    check("published-0.2.0", &json!({}), asks(), "ran to the end");
    check("described-0.3", &json!({"strictHeuristics": false}), asks(), "ran to the end");
}

#[test]
fn the_first_round_can_be_told_apart_from_the_steps() {
    let steps = || TestRecording::default().user("go").step("Please confirm.", "ok").step("more", "ok").reply("bye");
    check("described-0.3", &json!({"round": "prompt"}), steps(), "ran to the end");
    check("described-0.3", &json!({"round": "step"}), steps(), "stop mira.user_input_heuristic at 0:after_tools");
    check("described-0.3", &json!({"round": 2, "maxTokens": 20}), steps(), "stop mira.max_tokens at 1:after_tools");
}

#[test]
fn twenty_follow_ups_make_twenty_one_runs() {
    let endless = || rounds(&["all good"; 30]);
    check("described-0.3", &json!({}), endless(), "stop mira.max_rounds at 41:end_of_round");
    check("documented", &json!({}), endless(), "stop mira.max_rounds at 41:end_of_round");
    check("described-0.3", &json!({"mode": "manual"}), endless(), "stop mira.manual_mode at 1:end_of_round");
    check("described-0.3", &json!({"prompts": "message"}), endless(), "ran to the end");
}

#[test]
fn the_session_counts_where_the_document_says_so() {
    let set = json!({"maxTokens": 300, "prompts": "message"});
    check("described-0.3", &set, rounds(&["a", "b", "c", "d"]), "ran to the end");
    check("documented", &set, rounds(&["a", "b", "c", "d"]), "stop mira.max_tokens at 5:end_of_round");
    let reset = rounds(&["a", "b"]).user("/new").reply("New session started.").user("go").reply("c");
    check("documented", &json!({"maxTokens": 300}), reset, "ran to the end");
    // The policy is sent with every message, so that it holds after `/new`; the fixed reply is no run.
    let set = json!({"maxTokens": 200});
    let again = || rounds(&["a"]).user("/new").reply("New session started.").user("go").reply("b");
    let more = |more: &[&str]| more.iter().fold(again(), |of, text| of.user("go on").step("working", "ok").reply(text));
    check("published-0.5.0", &set, more(&["c", "d"]), "stop mira.max_tokens at 5:end_of_round");
    let set = json!({"auto_max_rounds": 2});
    check("published-0.5.0", &set, more(&["c", "d"]), "stop mira.max_rounds at 7:end_of_round");
}

#[test]
fn finished_is_a_terminal_status_on_the_pages_word_alone() {
    let plan = json!({"experiments": [
        {"id": "Exp001", "status": "completed", "conclusion": "good"},
        {"id": "Exp002", "status": "finished", "conclusion": "good"},
    ]});
    let run = || TestRecording::default().plan(&plan).reply("one").user("go").reply("two");
    let set = json!({"maxExperiments": 2});
    check("documented", &set, run(), "stop mira.max_experiments at 0:end_of_round");
    check("described-0.3", &set, run(), "ran to the end");
    check("published-0.3.0", &set, run(), "ran to the end");
}

#[test]
fn the_releases_differ_in_their_caps_and_their_approval() {
    let endless = || rounds(&["next"; 130]);
    check("published-0.3.2", &json!({}), endless(), "stop mira.max_rounds at 41:end_of_round");
    check("published-0.5.0", &json!({}), endless(), "stop mira.max_rounds at 201:end_of_round");
    check("published-0.5.0", &json!({"auto_max_rounds": 3}), endless(), "stop mira.max_rounds at 7:end_of_round");
    let plan = |phase: &str| json!({"plan": {"phase": phase}, "experiments": [{"id": "Exp001", "status": "pending"}]});
    let run = |phase: &str| TestRecording::default().plan(&plan(phase)).reply("one").user("go").reply("two");
    check("published-0.5.0", &json!({}), run("draft"), "stop mira.plan_approval at 0:end_of_round");
    check("published-0.5.0", &json!({}), run("approved"), "ran to the end");
    check("published-0.3.2", &json!({}), run("draft"), "ran to the end");
}

#[test]
fn goals_are_read_from_a_plan_or_from_metrics() {
    let set = json!({"goals": [{"metric": "Dice", "operator": ">=", "value": 0.9}]});
    let reports = || {
        let low = TestRecording::default().user("go").metrics("Exp001", "completed", "Dice", 0.8).reply("one");
        low.user("go").metrics("Exp002", "completed", "Dice", 0.95).reply("Please confirm.").user("go").reply("late")
    };
    check("described-0.3", &set, reports(), "stop mira.goals at 1:end_of_round");
    check("documented", &set, reports(), "stop mira.user_input_heuristic at 1:end_of_round");
    let plan = json!({"experiments": [{"id": "Exp001", "status": "completed", "conclusion": "good",
        "results": {"metrics": {"Dice": 0.95}, "artifacts": ["out/a.csv"]}}]});
    let before = TestRecording::default().plan(&plan).reply("done").user("go").reply("late");
    check("described-0.3", &set, before, "stop mira.goals at 0:end_of_round");
    let during = TestRecording::default().step("working", "ok").plan(&plan).reply("done").user("go").reply("late");
    check("described-0.3", &set, during, "stop mira.goals at 1:end_of_round");
}

#[test]
fn a_blocked_plan_is_repaired_once_and_only_then_stops() {
    let broken = json!({"experiments": [{"id": "Exp001", "status": "completed"}]});
    let run = || TestRecording::default().step("working", "ok").plan(&broken).reply("one").user("go").reply("two");
    let repair = "observe mira.guardrail at 1:end_of_round; stop mira.guardrail at 2:end_of_round";
    check("described-0.3", &json!({}), run(), repair);
    check("documented", &json!({}), run(), "stop mira.guardrail at 1:end_of_round");
    let recorded = json!({"experiments": [], "guardrail_issues": ["Exp002: invalid status"]});
    let run = TestRecording::default().step("working", "ok").plan(&recorded).reply("one").user("go").reply("two");
    check("described-0.3", &json!({}), run, repair);
}

#[test]
fn native_files_are_read_as_they_are() {
    let policy = r#"{"logic": "OR", "goals": [], "maxTokens": 20, "strictHeuristics": false}"#;
    let project = format!(r#"{{"agent_profile": "engineer", "automation_policy": {policy}}}"#);
    for text in [policy, &project] {
        let run = rounds(&["a", "b"]);
        let stopped = decisions(find("mira").unwrap(), &configured("project.json", text), run);
        assert_eq!(stopped, "stop mira.max_tokens at 1:end_of_round", "{text}");
    }
    assert_eq!(
        decisions(find("mira").unwrap(), &configured("project.json", "null"), rounds(&["a", "b"])),
        "ran to the end"
    );
}

#[test]
fn what_mira_would_not_read_is_refused() {
    let shown = refusal(find("mira").unwrap(), &configured("p.json", "{\n  \"max_tokens\": 10\n}"));
    assert!(shown.contains("p.json:2:3") && shown.contains("did you mean `maxTokens`"), "{shown}");
    let shown = refusal(find("mira").unwrap(), &configured("p.json", "{\"maxTokens\": }"));
    assert!(shown.contains("p.json:1:") && shown.contains("not JSON"), "{shown}");
    let shown = refusal(find("mira").unwrap(), &settings("published-0.4", &json!({})));
    assert!(shown.contains("did you mean `published-0."), "{shown}");
    let shown = refusal(find("mira").unwrap(), &settings("documented", &json!({"maxtokens": 3})));
    assert!(shown.contains("did you mean `maxTokens`"), "{shown}");
    let shown = refusal(find("mira").unwrap(), &settings("documented", &json!({"round": 0})));
    assert!(shown.contains("a number of steps from 1"), "{shown}");
}
