//! Collections and newer formats, where they are at hand: what comes out against counts that others made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;
use whenstop::reader;
use whenstop::transcript::{Event, Message, Outcome, Run, Spend};

use super::read;
use crate::shared;

fn messages(runs: &[Run]) -> impl Iterator<Item = &Message> {
    runs.iter().flat_map(whenstop::transcript::Run::events).filter_map(Event::message)
}

/// Steps, calls, results and results that are flagged as failed, of the agents themselves.
fn counts(runs: &[Run]) -> [u64; 4] {
    let mut counts = [0; 4];
    for message in messages(runs) {
        if message.is_step() {
            counts[0] += 1;
            counts[1] += message.tool_calls.len() as u64;
        }
        counts[2] += u64::from(message.is_result());
        counts[3] += u64::from(message.is_result() && message.is_error == Some(true));
    }
    counts
}

fn spend(runs: &[Run]) -> [u64; 3] {
    let mut sums = [0; 3];
    for run in runs {
        let spend = Spend::from_run(run);
        for (sum, tokens) in sums.iter_mut().zip([spend.total, spend.input, spend.output]) {
            *sum += tokens.map_or(0, |tokens| tokens.0);
        }
    }
    sums
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn graded_collections_agree_with_an_independent_count() {
    for (collection, recordings) in
        [("agentdojo", "runs"), ("bashkit", "crates"), ("mint", "data"), ("aider-swe-bench", "predictions")]
    {
        let folder = shared::folder("graded").join(collection);
        let expected: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
        let (runs, report) = read(&[folder.join(recordings)]);
        assert_eq!((report.errors, &report.notices[..]), (0, &[][..]), "{collection}: {:?}", report.findings);
        let of = |outcome| runs.iter().filter(|run| run.grade.outcome == outcome).count() as u64;
        let distinct = |of: &dyn Fn(&Run) -> String| runs.iter().map(of).collect::<BTreeSet<_>>().len() as u64;
        let [steps, calls, results, _] = counts(&runs);
        let [total, input, output] = spend(&runs);
        let with_tokens = runs.iter().filter(|run| reader::tokens(run).is_some()).count() as u64;
        let cost: f64 = runs.iter().filter_map(|run| Spend::from_run(run).cost).map(|cost| cost.0).sum();
        for (field, found) in [
            ("runs", runs.len() as u64),
            ("tasks", distinct(&|run| format!("{:?}", run.cluster()))),
            ("models", distinct(&|run| format!("{:?}", run.header.model))),
            ("successes", of(Outcome::Success)),
            ("failures", of(Outcome::Failure)),
            ("unknown", of(Outcome::Unknown)),
            ("steps", steps),
            ("tool_calls", calls),
            ("tool_results", results),
            ("runs_with_total_tokens", with_tokens),
            ("total_tokens", total),
            ("input_tokens", input),
            ("output_tokens", output),
        ] {
            // The independent count is of calls that the model makes; these are aider's, by its own lines.
            let is_aiders = collection == "aider-swe-bench" && field.starts_with("tool_");
            let expected =
                if is_aiders { Some(aiders_lines(&folder.join(recordings))) } else { expected[field].as_u64() };
            assert_eq!(Some(found), expected, "{collection}: {field}");
        }
        assert!((cost - expected["cost_usd"].as_f64().unwrap()).abs() < 1e-3, "{collection}: {cost}");
        let mut by_model: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
        for run in &runs {
            let counts = by_model.entry(run.header.model.as_deref().unwrap_or_default()).or_default();
            counts[usize::from(run.grade.outcome == Outcome::Failure)] += 1;
        }
        for (model, [successes, failures]) in by_model {
            // Where no single model is named, the submission's name stands for all it used.
            let both = model == "aider--gpt-4o--openrouter-anthropic-claude-3-opus";
            let given = &expected["by_model"][if both { "gpt-4o + claude-3-opus" } else { model }];
            let given = [&given["successes"], &given["failures"]].map(Value::as_u64);
            assert_eq!([Some(successes), Some(failures)], given, "{collection}: {model}");
        }
    }
}

/// The lines in which aider says what it did with a reply, and the replies with edits of which it says nothing.
fn aiders_lines(folder: &std::path::Path) -> u64 {
    let files = walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok);
    let texts = files.filter(|file| file.path().extension().is_some_and(|ending| ending == "md"));
    let of = |line: &str| {
        let marks = ["> Applied edit to ", "> Commit ", "> The LLM did not conform to the", "> Attempt to fix "];
        line.ends_with("  ") && marks.iter().any(|mark| line.starts_with(mark))
    };
    texts.map(|file| std::fs::read_to_string(file.path()).unwrap().lines().filter(|line| of(line)).count() as u64).sum()
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn newer_formats_agree_with_an_independent_count() {
    // file, format, runs, steps, calls, results, failed, tokens
    let cases: &[(&str, &str, u64, [u64; 4], u64)] = &[
        // The README counts 206 results: those without a `]` in the argument they quote. 17 more have one.
        ("cline/api_conversation_history.json", "cline", 1, [221, 231, 223, 0], 13_886_779 + 113_864),
        ("cline/ui_messages.json", "cline-ui", 1, [53, 73, 71, 0], 6_748_422),
        // What aider did with the replies: 32 lines of applied edits and commits.
        ("aider", "aider", 1, [12, 32, 32, 0], 77_903),
        ("browser-use", "browser-use", 1, [6, 10, 9, 1], 28_366),
        ("gemini-cli-stream-json", "gemini-cli-stream", 2, [69, 68, 67, 4], 2_164_148),
        ("verifiers", "verifiers", 15, [45, 30, 30, 0], 0),
        // 109 calls have tokens; two more were broken off and left something.
        ("opencode", "opencode", 1, [111, 144, 143, 2], 11_695_277),
        ("ko-agentbench", "ko-agentbench", 15, [33, 22, 22, 0], 253_008),
        ("letta-af/loop.af", "letta", 1, [1, 1, 1, 0], 0),
        ("letta-af/customer_service.af", "letta", 1, [0, 0, 0, 0], 0),
        ("mini-swe-agent-v2", "mini-swe-agent", 1, [10, 10, 10, 2], 0),
        ("rust-swe-bench", "openhands-completions", 1, [50, 50, 49, 0], 69_630),
        // 13 of 44 tools that ran are the host's; 7 of 38 requests have no result.
        ("swebench-experiments-trajs", "swe-bench-trajectory", 1, [40, 38, 31, 13], 0),
        ("tau2-voice", "tau2-sim", 3, [113, 0, 0, 0], 0),
        ("webvoyager", "webvoyager", 1, [3, 3, 2, 0], 0),
        ("langfuse-ui-export/pydantic-ai-tools-2025-12-04.json", "langfuse", 1, [4, 4, 3, 0], 1524),
        ("langfuse-ui-export/koog-2025-08-26.json", "langfuse", 1, [2, 2, 2, 0], 340),
        ("langfuse-ui-export/agno-2025-06-11.json", "langfuse", 1, [2, 1, 0, 0], 1071),
    ];
    let mut differing = Vec::new();
    for (file, format, n_runs, expected, tokens) in cases {
        let (runs, report) = read(&[shared::folder("corpora-2").join(file)]);
        let formats: Vec<&str> = report.formats.iter().map(|counts| counts.format.as_str()).collect();
        let found = (runs.len() as u64, counts(&runs), spend(&runs)[0], report.errors, formats);
        let wanted = (*n_runs, *expected, *tokens, 0, vec![*format]);
        if found != wanted {
            differing.push(format!("{file}: {found:?}, and should be {wanted:?}"));
        }
    }
    assert_eq!(differing, Vec::<String>::new());
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn newer_formats_keep_what_makes_them_useful() {
    let folder = shared::folder("corpora-2");
    let (runs, _) = read(&[folder.join("opencode")]);
    // Reasoning stands beside the output there, and is a part of it here.
    assert_eq!(spend(&runs)[2], 106_677);
    let (runs, _) = read(&[folder.join("langfuse-ui-export/google-gemini-2025-08-01.json")]);
    assert!(messages(&runs).any(|message| message.is_step() && !message.text().is_empty()));
    let (runs, _) = read(&[folder.join("langfuse-ui-export/langgraph-2025-08-22.json")]);
    assert!(messages(&runs).any(|message| message.is_result() && message.text().contains("https://example.com")));
    let (runs, _) = read(&[folder.join("langfuse-ui-export/pydantic-ai-tools-2025-12-04.json")]);
    assert_eq!(runs[0].replies().next().unwrap().tool_calls.len(), 3);
    let (runs, _) = read(&[folder.join("browser-use")]);
    assert_eq!(runs[0].grade.outcome, Outcome::Success);
    let (_, report) = read(&[folder.join("terminal-bench1"), folder.join("tau2-voice")]);
    assert!(report.skipped.iter().all(|skipped| !skipped.reason.starts_with("an outcome")), "{:?}", report.skipped);
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn sessions_of_summer_2026_agree_with_an_independent_count() {
    let folder = shared::folder("sessions");
    let lines = std::fs::read_to_string(folder.join("other-counts.jsonl")).unwrap();
    for line in lines.lines() {
        let expected: Value = serde_json::from_str(line).unwrap();
        let file = expected["file"].as_str().unwrap();
        let (runs, report) = read(&[PathBuf::from(&folder).join(file)]);
        assert_eq!((runs.len(), report.errors), (1, 0), "{file}");
        let [steps, calls, results, errors] = counts(&runs);
        let [total, input, output] = spend(&runs);
        let checked = match expected["format"].as_str() {
            Some("copilot-cli") => {
                let shutdown = expected["shutdown_usage"].as_object();
                let sum = |name: &str| -> u64 {
                    shutdown.iter().flat_map(|models| models.values()).filter_map(|usage| usage[name].as_u64()).sum()
                };
                assert_eq!(input, sum("inputTokens"), "{file}");
                vec![
                    ("steps", steps),
                    ("calls", calls),
                    ("results", results),
                    ("errors", errors),
                    ("output_tokens", output),
                ]
            }
            _ => vec![("calls", calls), ("results", results), ("tokens_total", total)],
        };
        for (field, found) in checked {
            assert_eq!(Some(found), expected[field].as_u64(), "{file}: {field}");
        }
    }
}
