//! The real corpora: counts against their README, and every file read or named.

use whenstop::reader::{self, Corpus, ReadOptions};

use super::{assert_survives_writing, read};
use crate::shared;

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn real_corpora_agree_with_their_readme() {
    let corpora = shared::folder("corpora");
    // format, folder, runs, steps, successes, failures, runs with usage, tokens
    let cases = [
        ("tau2-sim", "tau2", 494, 6480, 295, 199, 330, None),
        ("intercode", "intercode", 2474, 11914, 1665, 809, 0, Some(0)),
        ("mini-swe-agent", "mini-swe-agent", 170, 6617, 132, 38, 170, Some(103_750_731)),
        ("tau-bench", "tau-bench", 200, 2454, 84, 116, 0, Some(0)),
    ];
    for (format, folder, runs, steps, successes, failures, with_usage, tokens) in cases {
        let (_, report) = read(&[corpora.join(folder)]);
        let counts = report.format(format).unwrap();
        assert_eq!(report.findings, [], "{format}");
        assert_eq!(
            (counts.runs, counts.steps, counts.successes, counts.failures, counts.with_usage),
            (runs, steps, successes, failures, with_usage),
            "{format}"
        );
        assert!(tokens.is_none_or(|tokens| tokens == counts.tokens), "{format}: {} tokens", counts.tokens);
    }
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn sessions_agree_with_their_readme() {
    let corpora = shared::folder("corpora");
    // Steps and tokens: least, twice the median, greatest. The README counts the entries of
    // `trajectory` for SWE-agent, of which a file of history alone has none: it says 0 there, not 5. For
    // Inspect it takes the run's totals, graders included, which two samples with calls do not have (66, not 67).
    let none = [0, 0, 0];
    let cases = [
        ("claude-code/regex-log/opus-raw.jsonl", "claude-code", 1, [3, 6, 3], [84_627, 169_254, 84_627]),
        (
            "claude-code/regex-log/haiku-testgen-v2.jsonl",
            "claude-code",
            1,
            [32, 64, 32],
            [2_232_795, 4_465_590, 2_232_795],
        ),
        ("claude-code/regex-log/subagents", "claude-code", 27, [0, 2, 5], [770, 2 * 898, 83_640]),
        ("claude-code/fixtures", "claude-code", 3, [3, 8, 5], [663, 2 * 793, 923]),
        // Five more files are the result of a session that failed before its first reply.
        ("claude-agent-sdk-log", "claude-agent-sdk", 45, [3, 18, 38], [96_219, 2 * 317_084, 2_513_434]),
        ("codex-rollout", "codex", 1, [2, 4, 2], [82_396, 164_792, 82_396]),
        ("inspect", "inspect", 23, [0, 2, 6], [57, 2 * 67, 15_516]),
        // What `model_stats` adds up; replays have zeros there.
        ("swe-agent", "swe-agent", 13, [5, 22, 14], [7384, 2 * 53_187, 123_981]),
        ("atif/login-trace.trajectory.json", "atif", 1, [6, 12, 6], none),
        ("atif/regex-log.trajectory.json", "atif", 1, [3, 6, 3], none),
        ("who-and-when", "who-and-when", 118, [5, 20, 10], none),
    ];
    for (folder, format, n_runs, steps, tokens) in cases {
        let (runs, report) = read(&[corpora.join(folder)]);
        let counts = report.format(format).unwrap();
        assert_eq!(counts.runs, n_runs, "{folder}");
        assert_eq!(report.formats.len(), 1, "{folder}");
        // Three lines of one fixture there are no objects, on purpose.
        let broken = if folder == "claude-code/fixtures" { 3 } else { 0 };
        assert_eq!(report.errors, broken, "{folder}: {:?}", report.findings);
        assert_eq!(spread(runs.iter().map(|run| run.steps().len() as u64).collect()), steps, "{folder} steps");
        let found = spread(runs.iter().filter_map(|run| Some(reader::tokens(run)?.0)).collect());
        assert_eq!(found, tokens, "{folder} tokens");
        let graded = match folder {
            "who-and-when" => (0, 118),
            "claude-code/regex-log/opus-raw.jsonl" | "claude-code/regex-log/haiku-testgen-v2.jsonl" => (1, 0),
            "inspect" => (16, 6),
            _ if format == "atif" => (1, 0),
            _ => (0, 0),
        };
        assert_eq!((counts.successes, counts.failures), graded, "{folder}");
    }
}

/// Least, twice the median, greatest.
fn spread(mut values: Vec<u64>) -> [u64; 3] {
    values.sort_unstable();
    if values.is_empty() {
        return [0; 3];
    }
    let n = values.len();
    [values[0], values[(n - 1) / 2] + values[n / 2], values[n - 1]]
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn every_file_of_the_real_corpora_is_read_or_named() {
    let corpora = shared::folder("corpora");
    let corpus = Corpus::open(&[corpora], ReadOptions::default()).unwrap();
    let report = corpus.process(|run| assert_survives_writing(&run), |()| ()).unwrap();
    let reports = report.skipped.iter().filter(|skipped| skipped.reason.starts_with("an outcome report")).count();
    let others: Vec<&str> = report
        .skipped
        .iter()
        .map(|skipped| skipped.reason.as_str())
        .filter(|reason| !reason.starts_with("an outcome"))
        .collect();
    let (sub_agents, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|reason| reason.starts_with("a sub-agent's session, read with"));
    assert_eq!(sub_agents.len(), 5, "{sub_agents:?}");
    assert_eq!((report.runs(), report.files.len(), reports), (3567, 410, 171));
    let odd: Vec<(&str, u64)> = report.hygiene.iter().map(|oddity| (oddity.check, oddity.runs)).collect();
    let expected = [
        // tau-bench and one tau2 file give later calls the ids of earlier ones.
        ("duplicate_call_ids", 77),
        ("calls_without_results", 2),
        ("results_without_calls", 1),
        // Who&When writes what agents said to each other, and no calls.
        ("no_calls", 118),
        ("falling_prompt", 2),
        ("time_steps_back", 2),
        ("steps_too_fast", 1),
        ("sub_agents", 2),
        ("canned_messages", 454),
        // Two of Who&When, and three of tau2 whose tasks look alike to the agent.
        ("renamed_run", 5),
        // InterCode's ten turns are eleven calls where the last one submits.
        ("cap_exceeded", 19),
        ("end_unsaid", 93),
    ];
    assert_eq!(odd, expected);
    // The README, the list of sources, and one file of labels.
    assert_eq!(others.len(), 3, "{others:?}");
    // Five results of sessions that failed before their first reply are no runs.
    assert_eq!((report.errors, report.warnings), (3, 8), "{:?}", report.findings);
}

/// What the seed systems wrote themselves: session, steps, tokens and end, and what is said of the run.
#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn logs_of_the_seed_systems_themselves() {
    let bundled = "3 replies that asked for tools are not recorded: one model call is assumed for results that stand together, and \
                   its tokens are in the round's last reply";
    let doom = "1 calls of a turn that ended in doom_loop are not recorded";
    let cases: [(&str, &str, &[&str]); 4] = [
        ("agentica/session_log_1.4.6.jsonl", "demo-session: 6 steps, 3600 tokens, self_finish", &[bundled]),
        ("agentica/session_log_1.5.0.jsonl", "demo-session: 6 steps, 3600 tokens, self_finish", &[]),
        (
            "agentao/replay_sample_default.jsonl",
            "00000001-0000-4000-8000-000000000000.af6f9671554a: 10 steps, 120 tokens, cap",
            &[doom],
        ),
        (
            "agentao/replay_sample_tool_events.jsonl",
            "00000001-0000-4000-8000-000000000000.f34d1ced310e: 10 steps, 120 tokens, cap",
            &[doom],
        ),
    ];
    for (file, expected, warnings) in cases {
        let (runs, report) = read(&[shared::folder("golden").join(file)]);
        assert_eq!((runs.len(), report.errors), (1, 0), "{file}");
        let run = &runs[0];
        let tokens = reader::tokens(run).map_or(0, |tokens| tokens.0);
        let got = format!("{}: {} steps, {tokens} tokens, {}", run.header.run_id, run.steps().len(), run.grade.end);
        assert_eq!(got, expected, "{file}");
        assert_eq!(run.warnings, warnings, "{file}");
    }
}
