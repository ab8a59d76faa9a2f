//! The hint for a log of no known format is followed to the letter: what it reads is what is in the log, or there is no
//! hint. The logs are inventions of many shapes.

#![allow(clippy::unwrap_used, clippy::allow_attributes, clippy::disallowed_methods, reason = "tests: stop loudly")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use whenstop_core::decision::Need;
use whenstop_core::replay;
use whenstop_core::transcript::{Event, Outcome, Run, ToolCall};
use whenstop_readers::reader::{self, Corpus, CorpusReport, FieldMap, ReadOptions};

/// How a log says what a message is.
#[derive(Clone, Copy)]
struct Shape {
    /// The field with the run's id.
    run: Option<&'static str>,
    /// The field with the message's own id.
    own: Option<&'static str>,
    role: &'static str,
    /// The words for a user, a model and a tool.
    words: [&'static str; 3],
    text: &'static str,
    /// The field of the call, and of its name and arguments inside; it is a list if the name ends in `s`.
    call: [&'static str; 3],
    tokens: Option<[&'static str; 2]>,
    /// A field that divides the messages of a run.
    other: Option<(&'static str, [&'static str; 2])>,
    n_runs: usize,
}

const PLAIN: Shape = Shape {
    run: Some("session"),
    own: None,
    role: "role",
    words: ["user", "assistant", "tool"],
    text: "content",
    call: ["call", "name", "args"],
    tokens: None,
    other: None,
    n_runs: 3,
};

fn shapes() -> Vec<(&'static str, Shape)> {
    vec![
        ("run ids", Shape { role: "speaker", ..PLAIN }),
        ("message ids beside run ids", Shape { role: "speaker", own: Some("id"), ..PLAIN }),
        ("message ids alone", Shape { role: "who", run: None, own: Some("id"), n_runs: 1, ..PLAIN }),
        ("uuids of messages", Shape { role: "actor", run: None, own: Some("uuid"), n_runs: 1, ..PLAIN }),
        ("names of messages", Shape { role: "sender", run: None, own: Some("key"), n_runs: 1, ..PLAIN }),
        ("an id that no list has", Shape { role: "speaker", run: Some("dossier"), ..PLAIN }),
        ("a reference", Shape { role: "speaker", run: Some("thread_ref"), own: Some("uid"), ..PLAIN }),
        ("words of its own", Shape { role: "speaker", words: ["client", "planner", "backend"], ..PLAIN }),
        ("words that say nothing", Shape { role: "speaker", words: ["alice", "bob", "carol"], ..PLAIN }),
        ("numbers for tokens", Shape { role: "who", tokens: Some(["tokens_in", "tokens_out"]), ..PLAIN }),
        ("levels", Shape { role: "who", other: Some(("level", ["info", "debug"])), ..PLAIN }),
        ("zones", Shape { role: "who", run: None, other: Some(("zone", ["a", "b"])), n_runs: 1, ..PLAIN }),
        ("calls by another name", Shape { role: "who", call: ["invocation", "fn", "params"], ..PLAIN }),
        ("lists of calls", Shape { role: "who", call: ["actions", "op", "payload"], ..PLAIN }),
        ("bodies", Shape { role: "from_whom", text: "body", words: ["customer", "bot", "sandbox"], ..PLAIN }),
        ("utterances", Shape { role: "speaker", text: "utterance", run: Some("episode"), ..PLAIN }),
        ("kinds", Shape { role: "kind", words: ["user_input", "llm_response", "tool_result"], ..PLAIN }),
        ("types", Shape { role: "type", words: ["human", "ai", "observation"], run: Some("trace"), ..PLAIN }),
        ("one run without any id", Shape { role: "who", run: None, n_runs: 1, ..PLAIN }),
        ("several runs without any id", Shape { role: "who", run: None, ..PLAIN }),
    ]
}

/// The messages of a run: a prompt, two calls with their results, an answer.
fn messages(shape: &Shape, run: usize) -> Vec<Value> {
    let mut told = Vec::new();
    for (n, who) in [0, 1, 2, 1, 2, 1].into_iter().enumerate() {
        let mut entry = Map::new();
        if let Some(name) = shape.own {
            entry.insert(name.to_owned(), json!(format!("m{run}-{n}")));
        }
        if let Some(name) = shape.run {
            entry.insert(name.to_owned(), json!(format!("r{run}")));
        }
        if let Some((name, values)) = shape.other {
            entry.insert(name.to_owned(), json!(values[n % 2]));
        }
        entry.insert(shape.role.to_owned(), json!(shape.words[who]));
        entry.insert(shape.text.to_owned(), json!(format!("words {n} of {run}")));
        if who == 1 && n < 5 {
            let call = json!({shape.call[1]: "look", shape.call[2]: {"at": n}});
            let call = if shape.call[0].ends_with('s') { json!([call]) } else { call };
            entry.insert(shape.call[0].to_owned(), call);
        }
        if let Some([input, output]) = shape.tokens.filter(|_| who == 1) {
            entry.extend([(input.to_owned(), json!(100)), (output.to_owned(), json!(10))]);
        }
        told.push(Value::Object(entry));
    }
    told
}

/// How the messages are laid out in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A message a line, the runs one after the other or at once.
    Lines,
    AtOnce,
    /// A run a line, or all runs in a document, the messages in a list of this name.
    Runs(&'static str),
    Document(&'static str),
}

fn text(shape: &Shape, layout: Layout) -> String {
    let runs: Vec<Vec<Value>> = (0..shape.n_runs).map(|run| messages(shape, run)).collect();
    let lines = |values: &mut dyn Iterator<Item = &Value>| {
        let mut text = String::new();
        values.for_each(|value| writeln!(text, "{value}").unwrap());
        text
    };
    let whole = |list: &str| -> Vec<Value> {
        let of_run =
            |(n, run): (usize, &Vec<Value>)| json!({"case": format!("c{n}"), "conv": format!("k{n}"), list: run});
        runs.iter().enumerate().map(of_run).collect()
    };
    match layout {
        Layout::Lines => lines(&mut runs.iter().flatten()),
        Layout::AtOnce => lines(&mut (0..runs[0].len()).flat_map(|n| runs.iter().map(move |run| &run[n]))),
        Layout::Runs(list) => lines(&mut whole(list).iter()),
        Layout::Document(list) => json!({"version": 1, "experiments": whole(list)}).to_string(),
    }
}

/// Runs, steps, calls, tokens, and how many of a run's calls differ.
fn counts(runs: &[Run]) -> [u64; 5] {
    let steps = || runs.iter().flat_map(Run::events).filter_map(Event::message).filter(|message| message.is_step());
    let tokens = runs.iter().filter_map(reader::tokens).map(|tokens| tokens.0).sum();
    let calls = |run: &Run| {
        let replies = run.events().iter().filter_map(Event::message);
        replies.flat_map(|reply| &reply.tool_calls).map(ToolCall::canonical_print).collect::<BTreeSet<_>>().len() as u64
    };
    let n_calls = steps().map(|reply| reply.tool_calls.len() as u64).sum();
    [runs.len() as u64, steps().count() as u64, n_calls, tokens, runs.iter().map(calls).sum()]
}

/// The mapping that the refusal of the file suggests.
fn hint(file: &Path) -> Option<String> {
    let (runs, report) = Corpus::open(&[file.to_path_buf()], ReadOptions::default()).unwrap().runs().unwrap();
    assert_eq!(runs.len(), 0, "{} is read without a mapping", file.display());
    advised(&report)
}

fn advised(report: &CorpusReport) -> Option<String> {
    let advice = report.skipped.iter().find_map(|skipped| skipped.advice.clone())?;
    Some(advice.split("--map ").nth(1)?.split('`').next()?.to_owned()).filter(|_| advice.contains("whenstop corpus"))
}

fn read(file: &Path, map: &str) -> [u64; 5] {
    let options = ReadOptions { columns: Some(FieldMap::parse(map).unwrap()), ..ReadOptions::default() };
    let (runs, _) = Corpus::open(&[file.to_path_buf()], options).unwrap().runs().unwrap();
    counts(&runs)
}

#[test]
fn every_hint_is_right_or_there_is_none() {
    let (mut tried, mut printed, mut wrong) = (0, 0, Vec::new());
    for (name, shape) in shapes() {
        for layout in [Layout::Lines, Layout::AtOnce, Layout::Runs("turns"), Layout::Document("steps_taken")] {
            let is_of_runs = matches!(layout, Layout::Runs(_) | Layout::Document(_));
            // Runs that nothing tells apart are no log of several runs.
            if shape.run.is_none() && shape.n_runs > 1 && !is_of_runs {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(if matches!(layout, Layout::Document(_)) { "log.json" } else { "log.jsonl" });
            std::fs::write(&file, text(&shape, layout)).unwrap();
            tried += 1;
            let Some(map) = hint(&file) else { continue };
            printed += 1;
            let n = shape.n_runs as u64;
            let expected = [n, 3 * n, 2 * n, if shape.tokens.is_some() { 330 * n } else { 0 }, 2 * n];
            let found = read(&file, &map);
            if found != expected {
                wrong.push(format!("{name}: `{map}` gives {found:?}, not {expected:?}"));
            }
        }
    }
    assert!(tried > 60 && 2 * printed > tried, "{printed} of {tried} have a hint");
    assert!(wrong.is_empty(), "{} of {printed}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_runs_id_is_the_field_that_the_label_file_lists_and_roles_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.jsonl");
    let shape = Shape { role: "speaker", run: Some("dossier"), words: ["asker", "planner", "backend"], ..PLAIN };
    let shape = Shape { other: Some(("zone", ["a", "b"])), ..shape };
    std::fs::write(&file, text(&shape, Layout::AtOnce)).unwrap();
    std::fs::write(folder.path().join("grades.csv"), "case,ok\nr0,1\nr1,0\nr2,1\n").unwrap();
    let map = hint(&file).unwrap();
    assert!(map.starts_with("run=dossier,") && map.contains("tool=backend"), "{map}");
    assert_eq!(read(&file, &map)[..3], [3, 9, 6]);
}

/// The role of each entry of a run: a prompt, two calls with their results, an answer.
const ENTRIES: [&str; 6] = ["user", "assistant", "tool", "assistant", "tool", "assistant"];

/// Three runs with an entry for each of [`ENTRIES`], one a line. `entry` is given the run, the place and the role.
fn lines(entry: impl Fn(usize, usize, &str) -> Value) -> String {
    let mut text = String::new();
    for run in 0..3 {
        for (n, role) in ENTRIES.into_iter().enumerate() {
            writeln!(text, "{}", entry(run, n, role)).unwrap();
        }
    }
    text
}

/// An entry under usual names, and what else it has.
fn entry(run: usize, n: usize, role: &str, more: &Value) -> Value {
    let mut entry = json!({"session": format!("r{run}"), "speaker": role, "text": format!("words {n} of {run}")});
    if role == "assistant" && n < 5 {
        entry["call"] = json!({"name": "look", "args": {"at": n}});
    }
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

/// One a line.
fn each_a_line(values: impl IntoIterator<Item = Value>) -> String {
    let mut text = String::new();
    for value in values {
        writeln!(text, "{value}").unwrap();
    }
    text
}

/// Logs of really different shapes, each with its tokens. All have 3 runs of 3 replies and 2 calls that differ.
#[expect(clippy::too_many_lines, reason = "a table of logs")]
fn others() -> Vec<(&'static str, String, u64)> {
    let role_of = |role: &str, words: [&str; 3]| match role {
        "user" => words[0].to_owned(),
        "assistant" => words[1].to_owned(),
        _ => words[2].to_owned(),
    };
    let look = |n: usize| json!({"name": "look", "arguments": {"at": n}});
    let spent = |role: &str, run_so_far: usize, name: &str| match role {
        "assistant" => json!({ name: 110 * run_so_far }),
        _ => json!({ name: 110 * (run_so_far - 1) }),
    };
    let history = |run: usize, n: usize| -> Vec<Value> {
        (0..=n).map(|n| json!({"who": ENTRIES[n], "text": format!("{n} of {run}")})).collect()
    };
    let step = |n: usize| json!({"thought": "x", "action": "look", "action_input": {"at": n}, "observation": "y"});
    let enveloped = |run: usize, n: usize, role: &str| {
        let mut inner = json!({"role": role, "content": format!("words {n} of {run}")});
        if role == "assistant" && n < 5 {
            inner["tool_calls"] = json!([look(n)]);
        }
        json!({"@timestamp": 1_767_225_600_000_u64 + n as u64, "log": {"level": "info"}, "event": {"session": {"id": run}, "payload": inner}})
    };
    let events = |run: usize| {
        let id = format!("r{run}");
        let mut events = vec![json!({"run_id": id, "event": "run_start", "input": "do it"})];
        for n in 0..3 {
            events.push(json!({"run_id": id, "event": "llm_start", "step": n}));
            events.push(json!({"run_id": id, "event": "llm_end", "text": format!("w{n}"), "prompt_tokens": 100, "completion_tokens": 10}));
            if n < 2 {
                let call = format!("c{run}{n}");
                events.push(
                    json!({"run_id": id, "event": "tool_start", "call_id": call, "tool": "look", "input": {"at": n}}),
                );
                events.push(json!({"run_id": id, "event": "tool_end", "call_id": call, "output": "seen"}));
            }
        }
        events
    };
    vec![
        ("envelopes in envelopes", lines(enveloped), 0),
        (
            "roles in another language",
            lines(|run, n, role| {
                let mut entry = entry(run, n, role, &json!({}));
                entry["speaker"] = json!(role_of(role, ["usuario", "asistente", "herramienta"]));
                entry
            }),
            0,
        ),
        (
            "all names in another language",
            lines(|run, n, role| {
                let role = role_of(role, ["nutzer", "assistent", "werkzeug"]);
                json!({"sitzung": run, "rolle": role, "inhalt": n, "aufruf": {"werkzeug": "look", "argumente": {"at": n}}})
            }),
            0,
        ),
        (
            "parallel lists",
            each_a_line(
                (0..3).map(|run| json!({"run": run, "replies": ["a", "b", "c"], "tools": ["look", "look", null]})),
            ),
            0,
        ),
        ("rows without names", lines(|run, n, role| json!([run, n, role, "words", "look"])), 0),
        (
            "calls as text",
            lines(|run, n, role| {
                let calls = if role == "assistant" && n < 5 { json!([format!("look(at={n})")]) } else { json!([]) };
                json!({"session": run, "speaker": role, "text": "words", "tool_calls": calls})
            }),
            0,
        ),
        (
            "calls as JSON in text",
            lines(|run, n, role| {
                let calls = if role == "assistant" && n < 5 { json!([look(n)]).to_string() } else { String::new() };
                json!({"session": run, "speaker": role, "text": "words", "tool_calls": calls})
            }),
            0,
        ),
        ("calls and results as events, by id", each_a_line((0..3).flat_map(events)), 990),
        (
            "tokens in text",
            lines(|run, n, role| {
                let more = if role == "assistant" {
                    json!({"prompt_tokens": "100", "completion_tokens": "10"})
                } else {
                    json!({})
                };
                entry(run, n, role, &more)
            }),
            990,
        ),
        ("tokens so far", lines(|run, n, role| entry(run, n, role, &spent(role, n / 2 + 1, "total_tokens"))), 990),
        ("a name that says so", lines(|run, n, role| entry(run, n, role, &spent(role, n / 2 + 1, "tokens_so_far"))), 0),
        ("what is left", lines(|run, n, role| entry(run, n, role, &json!({"token_budget_left": 1000 - n}))), 0),
        (
            "times in milliseconds",
            lines(|run, n, role| entry(run, n, role, &json!({"t": 1_767_225_600_000_u64 + n as u64}))),
            0,
        ),
        (
            "other kinds between them",
            lines(|run, n, role| {
                if role == "tool" {
                    json!({"session": format!("r{run}"), "speaker": "metric", "cpu": 0.5})
                } else {
                    entry(run, n, role, &json!({}))
                }
            }),
            0,
        ),
        (
            "conversations so far",
            each_a_line((0..3).flat_map(|run| [1, 3, 5].map(|n| json!({"session": run, "state": history(run, n)})))),
            0,
        ),
        (
            "steps with arguments beside them",
            each_a_line(
                (0..3).map(|run| json!({"episode": run, "steps": [step(1), step(2), json!({"thought": "end"})]})),
            ),
            0,
        ),
        (
            "a session that is the same in all",
            lines(|run, n, role| entry(run, n, role, &json!({"session": "s", "conversation_id": format!("r{run}")}))),
            0,
        ),
        (
            "an id of each request",
            lines(|run, n, role| entry(run, n, role, &json!({"trace_id": format!("t{run}{}", n / 2)}))),
            0,
        ),
        (
            "entries keyed by their role",
            lines(|run, n, role| {
                let call = (role == "assistant" && n < 5).then(|| json!({"name": "look", "args": {"at": n}}));
                json!({"session": run, role: "words", "call": call})
            }),
            0,
        ),
        ("runs by their ids", json!({"a": history(0, 5), "b": history(1, 5), "c": history(2, 5)}).to_string(), 0),
        (
            "records as text",
            lines(|run, n, role| json!({"log": entry(run, n, role, &json!({})).to_string(), "stream": "stdout"})),
            0,
        ),
        (
            "usual roles, texts under another name",
            lines(|run, n, role| {
                let mut entry = entry(run, n, role, &json!({"role": role}));
                entry.as_object_mut().unwrap().remove("speaker");
                entry
            }),
            0,
        ),
    ]
}

#[test]
fn logs_of_other_shapes_are_read_rightly_or_not_at_all() {
    let (mut right, mut wrong) = (0, Vec::new());
    for (name, text, tokens) in others() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(if text.starts_with("{\"a\":") { "log.json" } else { "log.jsonl" });
        std::fs::write(&file, &text).unwrap();
        let (runs, report) = Corpus::open(std::slice::from_ref(&file), ReadOptions::default()).unwrap().runs().unwrap();
        let (how, mut found) = match (runs.is_empty(), advised(&report)) {
            (false, _) => ("by itself".to_owned(), counts(&runs)),
            (true, Some(map)) => (map.clone(), read(&file, &map)),
            (true, None) => continue,
        };
        let expected = [3, 9, 6, tokens, 6];
        // What is not said is unknown, and no mistake.
        if found[3] == 0 {
            found[3] = tokens;
        }
        if found == expected {
            right += 1;
        } else {
            wrong.push(format!("{name}: {how}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(right >= 12, "only {right} are read");
}

#[test]
fn runs_that_only_their_files_name_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    for run in 0..3 {
        let text = ENTRIES.iter().enumerate().map(|(n, role)| {
            let mut entry = entry(run, n, role, &json!({}));
            entry.as_object_mut().unwrap().remove("session");
            format!("{entry}\n")
        });
        std::fs::write(folder.path().join(format!("run-{run}.jsonl")), text.collect::<String>()).unwrap();
    }
    let map = hint(folder.path()).unwrap();
    assert_eq!(read(folder.path(), &map), [3, 9, 6, 0, 6]);
}

#[test]
fn a_table_of_runs_has_their_steps_and_sums() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [("a", 3, 100, true), ("b", 2, 51, false)];
    let file = folder.path().join("runs.csv");
    let lines = rows.map(|(id, steps, tokens, solved)| format!("{id},{steps},{tokens},0.05,{solved}\n"));
    std::fs::write(&file, format!("id,n_steps,total,usd,solved\n{}", lines.concat())).unwrap();
    let map = "run=id,steps=n_steps,tokens=total,cost=usd,outcome=solved";
    assert_eq!(read(&file, map), [2, 5, 0, 151, 0]);
    let options = ReadOptions { columns: Some(FieldMap::parse(map).unwrap()), ..ReadOptions::default() };
    let (runs, report) = Corpus::open(&[file], options).unwrap().runs().unwrap();
    assert_eq!(runs.iter().map(|run| run.grade.outcome).collect::<Vec<_>>(), [Outcome::Success, Outcome::Failure]);
    assert!(runs.iter().all(|run| !replay::has(run, Need::Calls) && !replay::has(run, Need::Replies)));
    assert!(report.findings.iter().any(|finding| finding.diagnostic.what.contains("spread evenly")), "{report:?}");
}
