//! The adaptive iterations on small recordings.

use serde_json::{Value, json};

use crate::catalog::find;
use crate::system::testing::{TestRecording, configured, decisions, refusal, settings};

fn check(profile: &str, set: &Value, recording: TestRecording, expected: &str) {
    assert_eq!(decisions(find("adaptive").unwrap(), &settings(profile, set), recording), expected, "{profile} {set}");
}

fn steps(results: &[&str]) -> TestRecording {
    results.iter().fold(TestRecording::default().user("go"), |recording, result| recording.step("next", result))
}

#[test]
fn completion_words_force_a_final_call_but_not_after_the_first_iteration() {
    let run = || steps(&["saved", "accuracy 0.7", "saved", "more", "more", "more"]).reply("bye");
    let forced = "force_final adaptive.task_completed at 3:before_request";
    check("documented", &json!({"max_iterations": 8}), run(), forced);
    let run = || steps(&["ok", "saved, 0 errors", "ok", "ok", "ok", "ok"]).reply("bye");
    check("documented", &json!({}), run(), "force_final adaptive.max_iterations at 4:before_request");
}

#[test]
fn the_tag_stops_before_the_experiment_runs() {
    let run = || steps(&["ok"]).step("<Conclusion> soon", "saved").step("more", "ok").reply("bye");
    check("documented", &json!({}), run(), "stop adaptive.conclusion_tag at 1:after_response");
    check(
        "published",
        &json!({"max_iterations": 9}),
        run(),
        concat!(
            "observe adaptive.review at 0:after_tools; observe adaptive.review at 1:after_tools; ",
            "observe adaptive.review at 2:after_tools; stop adaptive.no_experiment at 3:after_response"
        ),
    );
}

#[test]
fn the_strategies_for_later_are_off_unless_asked_for() {
    let run = || {
        let run = steps(&["ok"]).step("<TaskStatus>incomplete</TaskStatus>", "ok");
        run.step("<Inference>i</Inference>\n<TaskStatus> Complete </TaskStatus>", "ok").step("more", "ok").reply("bye")
    };
    let set = |strategies: &[u32]| json!({"max_iterations": 9, "strategies": strategies});
    check("documented", &set(&[1, 3]), run(), "stop adaptive.no_experiment at 4:after_response");
    check("documented", &set(&[2]), run(), "force_final adaptive.task_status at 3:before_request");
    // The results do not say whether they failed, so there is no streak.
    check("documented", &set(&[4]), run(), "stop adaptive.no_experiment at 4:after_response");
    assert!(
        refusal(find("adaptive").unwrap(), &settings("published", &set(&[2])))
            .contains("the released workflow has none")
    );
    assert!(refusal(find("adaptive").unwrap(), &settings("documented", &set(&[5]))).contains("conclusion tag"));
}

#[test]
fn a_recorded_reviewer_decides_in_the_published_profile() {
    let verdict = r#"{"is_buggy": false, "summary": "s", "metric_value": null, "should_continue": false,
        "completion_state": "complete", "quality_score": 0.7}"#;
    let run = TestRecording::default().step("first", "ok").judge(verdict).step("second", "ok").reply("bye");
    check("published", &json!({}), run, "force_final adaptive.review at 1:before_request");
}

#[test]
fn a_simulated_reviewer_needs_an_outcome_and_none_is_no_reviewer() {
    let run = || steps(&["ok", "ok"]).reply("bye");
    let judge = json!({"judge": {"sensitivity": 1.0, "specificity": 1.0, "seed": 1}});
    check(
        "published",
        &judge,
        run(),
        concat!(
            "observe adaptive.review at 0:after_tools; observe adaptive.review at 1:after_tools; ",
            "stop adaptive.no_experiment at 2:after_response"
        ),
    );
    check("published", &json!({"judge": "none"}), run(), "stop adaptive.no_experiment at 2:after_response");
}

#[test]
fn a_recording_of_the_workflow_itself_is_followed_exactly() {
    let prompt = "Conclude the process.\n<Conclusion>\nSynthesize\n</Conclusion>";
    let run = steps(&["ok", "saved"]).user(prompt).reply("<Conclusion>42</Conclusion>");
    check("documented", &json!({}), run, "stop adaptive.task_completed at 2:after_response");
}

#[test]
fn a_round_may_be_an_iteration() {
    let run = || steps(&["ok"]).reply("one").user("go on").step("x", "saved").reply("two").user("go on").reply("three");
    check("documented", &json!({"round": "prompt"}), run(), "force_final adaptive.task_completed at 4:before_request");
    check("documented", &json!({}), run(), "stop adaptive.no_experiment at 1:after_response");
}

#[test]
fn one_path_of_the_native_configuration_is_read() {
    let stops =
        |path: &str, text: &str| decisions(find("adaptive").unwrap(), &configured(path, text), steps(&["ok"; 9]));
    let yaml =
        "# modeling\nllm:\n  model: x\nagent:\n  name: s\n  search:\n    depth: 2\n    max_iterations: 3  # fewer\n";
    let at_three = "force_final adaptive.max_iterations at 2:before_request";
    assert_eq!(stops("config.yaml", yaml), at_three);
    assert_eq!(stops("c.json", r#"{"agent": {"search": {"max_iterations": 3}}}"#), at_three);
    assert_eq!(stops("c.toml", "[agent.search]\nmax_iterations = 3\n"), at_three);
    let elsewhere = "other:\n  search:\n    max_iterations: 2\nagent:\n  x:\n    search:\n      max_iterations: 2\n";
    assert_eq!(stops("config.yaml", elsewhere), "force_final adaptive.max_iterations at 4:before_request");
    assert_eq!(
        stops("config.yaml", "agent:\n  search:\n    max_iterations: 1\n"),
        "stop adaptive.max_iterations at 0:after_tools"
    );
}

#[test]
fn what_cannot_be_read_for_certain_is_refused() {
    let flow =
        refusal(find("adaptive").unwrap(), &configured("config.yaml", "agent:\n  search: {max_iterations: 3}\n"));
    assert!(flow.contains("config.yaml:2") && flow.contains("block style"), "{flow}");
    let word =
        refusal(find("adaptive").unwrap(), &configured("config.yaml", "agent:\n  search:\n    max_iterations: five\n"));
    assert!(word.contains("config.yaml:3") && word.contains("not a whole number"), "{word}");
    let option = refusal(find("adaptive").unwrap(), &settings("documented", &json!({"max_iteration": 3})));
    assert!(option.contains("did you mean `max_iterations`"), "{option}");
}
