//! Calls that no reply asked for are the host's, and results answer the call they belong to.

use std::path::PathBuf;

use crate::scratch::Scratch;
use whenstop::decision::Need;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::replay::Holding;
use whenstop::transcript::{Event, Lane, Message, Requests, Run};

fn fixture(path: &str) -> Run {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/readers").join(path);
    let (mut runs, report) = Corpus::open(&[path], ReadOptions::default()).unwrap().runs().unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// Each step's calls, each with the text of the result that answers it.
fn calls(run: &Run) -> Vec<Vec<(String, Option<String>)>> {
    let messages = || run.events().iter().filter_map(Event::message);
    let answer = |id: Option<&str>| {
        let result = messages().find(|message| message.is_result() && message.tool_call_id.as_deref() == id);
        result.map(|result| result.text().into_owned())
    };
    let call = |call: &whenstop::transcript::ToolCall| (call.name.to_string(), answer(call.id.as_deref()));
    run.replies().map(|reply| reply.tool_calls.iter().map(call).collect()).collect()
}

fn hosts_calls(run: &Run) -> usize {
    run.events().iter().filter_map(Event::message).filter(|message| message.is_host_call()).count()
}

fn answered(name: &str, text: &str) -> (String, Option<String>) {
    (name.to_owned(), Some(text.to_owned()))
}

#[test]
fn where_replies_record_requests_what_none_asked_for_is_the_hosts() {
    let run = fixture("swe-bench-trajectory/good-host.json");
    let tests = vec![answered("bash", "1 failed"), answered("bash", "cet"), ("note_progress".to_owned(), None)];
    assert_eq!(calls(&run), [vec![answered("read", "offset = 1")], tests, vec![]]);
    assert_eq!(hosts_calls(&run), 7);
    assert_eq!((run.header.requests, Holding::from_run(&run, Need::Calls)), (Requests::Recorded, Holding::Throughout));
    let failed = |message: &&Message| message.is_result() && message.is_error == Some(true);
    let messages = run.events().iter().filter_map(Event::message);
    assert_eq!(messages.filter(failed).count(), 1, "the host's seven failures are none of the agent's");
}

#[test]
fn where_replies_record_no_requests_rules_on_calls_are_not_evaluable() {
    let run = fixture("swe-bench-trajectory/good-no-requests.json");
    let looked = vec![answered("bash", "clock.py"), answered("bash", "read-only")];
    assert_eq!(calls(&run), [looked, vec![answered("edit", "edited")], vec![]]);
    assert_eq!(hosts_calls(&run), 6, "one before the first reply, five after the final answer");
    assert_eq!((run.header.requests, Holding::from_run(&run, Need::Calls)), (Requests::OnlyRuns, Holding::Nothing));
    let is_host = |message: &Message| message.lane == Lane::Host;
    let first = run.events().iter().find_map(Event::message).unwrap();
    assert!(is_host(first));
}

#[test]
fn corpus_tells_of_the_hosts_calls_in_one_line() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/readers/swe-bench-trajectory");
    let scratch = Scratch::with(&[]);
    let told = |name: &str| {
        let (code, stdout, stderr) = scratch.run(&format!("corpus {}", folder.join(name).display()));
        assert_eq!(code, 0, "{stderr}");
        stdout.lines().filter(|line| line.starts_with("calls: ")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        told("good-host.json"),
        "calls: 4 of the agent; 7 that the host made on its own: no reply asked for them"
    );
    assert_eq!(
        told("good-no-requests.json"),
        "calls: 3 of the agent; 6 that the host made on its own: no reply asked for them; in 1 run replies do not record what \
         they ask for, so some of its 3 may be the host's: rules on calls are not evaluable there"
    );
    assert_eq!(told("good.json"), "calls: 1 of the agent; 1 that the host made on its own: no reply asked for it");
}
