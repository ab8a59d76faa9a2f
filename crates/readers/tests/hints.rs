//! The hint for a log of no known format is followed to the letter: what it reads is what is in the log, or there is no
//! hint. The logs are inventions of many shapes.

#![allow(clippy::unwrap_used, clippy::allow_attributes, clippy::disallowed_methods, reason = "tests: stop loudly")]

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use whenstop_core::transcript::{Event, Run};
use whenstop_readers::reader::{self, Corpus, FieldMap, ReadOptions};

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

/// Runs, steps, calls and tokens.
fn counts(runs: &[Run]) -> [u64; 4] {
    let steps = || runs.iter().flat_map(Run::events).filter_map(Event::message).filter(|message| message.is_step());
    let tokens = runs.iter().filter_map(reader::tokens).map(|tokens| tokens.0).sum();
    [runs.len() as u64, steps().count() as u64, steps().map(|reply| reply.tool_calls.len() as u64).sum(), tokens]
}

/// The mapping that the refusal of the file suggests.
fn hint(file: &Path) -> Option<String> {
    let (runs, report) = Corpus::open(&[file.to_path_buf()], ReadOptions::default()).unwrap().runs().unwrap();
    assert_eq!(runs.len(), 0, "{} is read without a mapping", file.display());
    let advice = report.skipped.iter().find_map(|skipped| skipped.advice.clone())?;
    Some(advice.split("--map ").nth(1)?.split('`').next()?.to_owned()).filter(|_| advice.contains("whenstop corpus"))
}

fn read(file: &Path, map: &str) -> [u64; 4] {
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
            let expected = [n, 3 * n, 2 * n, if shape.tokens.is_some() { 330 * n } else { 0 }];
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
