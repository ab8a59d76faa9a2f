//! One session in several files: the sub-agents of Claude Code, and recordings of one session by several recorders.

use whenstop::reader::{Corpus, CorpusReport, ReadOptions, SubAgents, Twin};
use whenstop::transcript::{Lane, Outcome, OutcomeSource, Run, Spend, Usd};

use super::{fixtures, read};

fn read_as(folder: &str, sub_agents: SubAgents) -> (Vec<Run>, CorpusReport) {
    let options = ReadOptions { sub_agents, ..ReadOptions::default() };
    Corpus::open(&[fixtures().join("claude-code").join(folder)], options).unwrap().runs().unwrap()
}

/// The id, steps and tokens of each run.
fn counts(runs: &[Run]) -> Vec<(&str, usize, Option<u64>)> {
    let of = |run: &Run| Spend::from_run(run).total.map(|tokens| tokens.0);
    runs.iter().map(|run| (run.header.run_id.as_str(), run.steps().len(), of(run))).collect()
}

#[test]
fn sub_agents_in_files_of_their_own_are_part_of_the_session() {
    let (runs, report) = read_as("family", SubAgents::Parent);
    assert_eq!(report.errors, 0, "{:?}", report.findings);
    // 320 of the session, 30 of a1 without the reply that it was handed a copy of, 15 of b1 and of c1.
    assert_eq!(counts(&runs), [("agent-d1", 1, Some(15)), ("s5", 2, Some(380))]);
    let lanes = runs[1].events().iter().filter_map(|event| event.message()).map(|message| match &message.lane {
        Lane::Side(agent) => agent.to_string(),
        lane => format!("{lane:?}"),
    });
    let mut lanes: Vec<String> = lanes.collect();
    lanes.dedup();
    // a1 and c1 had ended when the result of the call came; b1 ended after the session's last line.
    assert_eq!(lanes, ["Main", "a1", "c1", "Main", "b1"]);
    assert_eq!(runs[0].header.parent.as_deref(), Some("gone"));
}

#[test]
fn sub_agents_in_files_of_their_own_are_runs_if_asked_for_and_can_be_left_out() {
    let (runs, _) = read_as("family", SubAgents::Own);
    let steps: usize = runs.iter().map(|run| run.steps().len()).sum();
    assert_eq!((runs.len(), steps), (5, 7), "{:?}", counts(&runs));
    let (runs, _) = read_as("family", SubAgents::Drop);
    assert_eq!(counts(&runs), [("s5", 2, Some(320))]);
}

#[test]
fn three_recordings_of_a_session_are_one_run_with_the_outcome_beside_any_of_them() {
    let (runs, report) = read(&[fixtures().join("claude-code/trial")]);
    assert_eq!(counts(&runs), [("s9", 2, Some(320))]);
    assert_eq!(runs[0].grade.outcome, Outcome::Success);
    assert!(matches!(&runs[0].grade.source, OutcomeSource::Sidecar(path) if path.ends_with("result.json")));
    assert!(runs[0].replies().all(|reply| reply.ts.is_some()), "the session itself is read");
    let others: Vec<&str> = report
        .skipped
        .iter()
        .filter(|skipped| skipped.twin == Some(Twin::Session))
        .map(|skipped| skipped.reason.as_str())
        .collect();
    assert_eq!(others.len(), 2, "{:?}", report.skipped);
    assert!(others.iter().all(|reason| reason.contains("s9.jsonl`")), "{others:?}");
    assert!(report.notices.iter().any(|notice| notice.diagnostic.what.starts_with("2 recordings of a session")));
}

#[test]
fn what_a_result_says_holds_for_the_session_beside_it() {
    let (runs, _) = read(&[fixtures().join("claude-code/result")]);
    assert_eq!(counts(&runs), [("session", 2, Some(320))]);
    assert_eq!(Spend::from_run(&runs[0]).cost, Some(Usd(0.5)));
    let (runs, report) = read(&[fixtures().join("claude-code/result/out.json")]);
    assert!(runs.is_empty());
    let what = &report.findings[0].diagnostic.what;
    assert_eq!(what, "the result of a session without its messages (2 turns, 320 tokens, $0.5): no run");
}

#[test]
fn a_fork_with_new_times_counts_only_what_is_new() {
    // Claude Code's lines without ids of requests, as other hosts of its API give none.
    for format in ["codex", "claude-code"] {
        let (runs, report) = read(&[fixtures().join(format).join("fork")]);
        let counts = counts(&runs);
        assert_eq!(
            counts.iter().map(|(_, steps, tokens)| (*steps, *tokens)).collect::<Vec<_>>(),
            [(2, Some(2120)), (1, Some(1210))],
            "{format}"
        );
        let what = &report.findings[0].diagnostic.what;
        assert!(what.starts_with("2 of 3 replies stand in other files already"), "{what}");
    }
}

#[test]
fn what_a_harness_writes_is_no_prompt() {
    let (runs, _) = read(&[fixtures().join("mini-swe-agent/good-no-action.traj.json")]);
    assert_eq!(runs[0].rounds().len(), 2, "the task, and the one that the user added");
    assert_eq!(runs[0].steps().len(), 4);
}
