//! A reader that leaves all calls, all results or all token counts unread has not recognised the file: each kind of record
//! that holds some is renamed throughout, as a newer version of the recorder might, and the recording is then refused by
//! name, or what is missing is told and the rest is whole.

#![allow(clippy::unwrap_used, clippy::allow_attributes, clippy::disallowed_methods, reason = "tests: stop loudly")]

mod recordings;

use std::collections::BTreeSet;

use recordings::{KINDS, Place, Recording, is_content, kind_of_place, named};
use serde_json::Value;
use whenstop_core::transcript::{Event, Run};
use whenstop_readers::reader::{self, Corpus, CorpusReport, Detail, ReadOptions};

/// The calls, the results and the runs with known tokens.
type Parts = [usize; 3];

const PARTS: [&str; 3] = ["calls", "results", "tokens"];

fn parts(runs: &[Run]) -> Parts {
    let messages = || runs.iter().flat_map(Run::events).filter_map(Event::message);
    [
        messages().map(|message| message.tool_calls.len()).sum(),
        messages().filter(|message| message.is_result()).count(),
        runs.iter().filter(|run| reader::tokens(run).is_some()).count(),
    ]
}

fn read(recording: &Recording, values: &[Value]) -> (Parts, usize, CorpusReport) {
    let text = if recording.lines {
        values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
    } else {
        values[0].to_string()
    };
    let file = recording.folder.join(recording.path.file_name().unwrap());
    std::fs::write(&file, text).unwrap();
    let options = ReadOptions { detail: Detail::Counts, sealed: true, ..ReadOptions::default() };
    let (runs, report) = Corpus::open(&[file], options).unwrap().runs().unwrap();
    (parts(&runs), runs.len(), report)
}

/// Renames the word at every place of this kind.
fn rename(value: &mut Value, whole: &Value, path: &mut Place, kind: &str, word: &str) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                path.push(name.clone());
                rename(inner, whole, path, kind, word);
                path.pop();
            }
        }
        Value::Array(elements) => {
            for (n, inner) in elements.iter_mut().enumerate() {
                path.push(n.to_string());
                rename(inner, whole, path, kind, word);
                path.pop();
            }
        }
        Value::String(text) if text == word && kind_of_place(&named(whole, path)) == kind && !is_content(path) => {
            *text = format!("{word}_v9");
        }
        _ => {}
    }
}

#[test]
fn what_leaves_all_of_a_part_unread_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (mut tried, mut lost, mut refused, mut wrong) = (0, 0, BTreeSet::new(), Vec::new());
    for recording in Recording::each(folder.path()) {
        let (base, n_runs, base_report) = read(&recording, &recording.values);
        let places = recording.places(|shown, value| {
            let is_kind = shown.last().is_some_and(|name| KINDS.contains(&name.as_str()));
            value.as_str().filter(|word| is_kind && word.len() < 40).map(str::to_owned)
        });
        for (n, place) in places {
            let kind = kind_of_place(&named(&recording.values[n], &place));
            let mut values = recording.values.clone();
            let word = recordings::at(&mut values[n], &place).as_str().unwrap().to_owned();
            for (value, whole) in values.iter_mut().zip(&recording.values) {
                rename(value, whole, &mut Vec::new(), &kind, &word);
            }
            tried += 1;
            let (now, n_now, report) = read(&recording, &values);
            let name = format!("{}: {kind} `{word}`", recording.name());
            // The file is no recording, or its reader has not recognised it: either is told with its name.
            let is_refused = report.skipped.iter().any(|skipped| skipped.looks_recorded);
            let is_told = is_refused || report.errors > base_report.errors || !report.unknown_kinds.is_empty();
            for at in 0..PARTS.len() {
                if now[at] >= base[at] || n_now < n_runs && is_refused {
                    continue;
                }
                lost += 1;
                // Tokens that are told to be missing are unknown, not 0.
                let is_bare = now[at] == 0 && n_now > 0 && PARTS[at] != "tokens";
                match (is_told, is_bare) {
                    (false, _) => wrong.push(format!("{name}: {} are lost in silence", PARTS[at])),
                    (true, true) => wrong.push(format!("{name}: read without any {}", PARTS[at])),
                    (true, false) => {}
                }
            }
            if is_refused {
                refused.insert(recording.format);
            }
        }
    }
    assert!(tried > 500 && refused.len() > 20, "{tried} renamed, {lost} lost a part, refused: {refused:?}");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}
