//! Nothing is lost in silence: every record kind and every role of every format is renamed once, and every part of every
//! usage is broken once. Whatever changes what is read is reported as an error, and broken tokens are unknown tokens.

#![allow(
    clippy::unwrap_used,
    clippy::allow_attributes,
    clippy::disallowed_methods,
    reason = "tests: stop loudly and never hang"
)]

mod recordings;

use std::collections::BTreeSet;

use recordings::{KINDS, MARK, Place, Recording, at, kind_of_place, members};
use serde_json::Value;
use whenstop_core::transcript::{Event, Run};
use whenstop_readers::reader::{Corpus, CorpusReport, Detail, ReadOptions};

/// Members that hold names of the recorded agents' own choosing: any other name is as good.
const FREE: &[(&str, &str)] = &[
    // Who speaks is the agent's name.
    ("who-and-when", "history.role"),
    // Who speaks is the agent's name, or the user's.
    ("autogen", "messages.source"),
    ("autogen", "agent_states.RoundRobinGroupChatManager.message_thread.source"),
    // The type of a part ends with the name of the tool.
    ("vercel-ui", "messages.parts.type"),
    // The type of a span, which the task's author names.
    ("inspect", "samples.events.type"),
];
/// Values that a token count never has, as JSON.
const BROKEN: &[&str] = &["\"5,000\"", "-5", "[1]", "true", "1e400", "18446744073709551616", "{}"];
#[test]
fn no_kind_and_no_role_is_renamed_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let (mut tried, mut changed, mut silent) = (0, 0, Vec::new());
    for recording in Recording::each(folder.path()) {
        let places = recording.places(|shown, value| {
            let is_kind =
                |word: &&str| shown.last().is_some_and(|name| KINDS.contains(&name.as_str())) && word.len() < 40;
            value.as_str().filter(is_kind).map(str::to_owned)
        });
        for place in places {
            let at_place = kind_of_place(&place.1);
            if FREE.contains(&(recording.format, at_place.as_str())) {
                continue;
            }
            let mut values = recording.values.clone();
            let word = at(&mut values[place.0], &place.1).as_str().unwrap().to_owned();
            for renamed in [format!("{word}z"), format!("x{word}")] {
                tried += 1;
                let (now, told) = recording.with(&place, Value::from(renamed.clone()), "");
                if now == recording.base {
                    continue;
                }
                changed += 1;
                // What holds no part of the run may be counted only.
                let kinds = |report: &CorpusReport| report.unknown_kinds.values().sum::<u64>();
                let counted = now.core() == recording.base.core() && kinds(&told) > kinds(&recording.report);
                if told.errors <= recording.report.errors && !counted {
                    silent.push(format!("{}: {at_place} `{word}` as `{renamed}`", recording.name()));
                }
            }
        }
    }
    assert!(tried > 1000 && changed > 300, "{tried} renamed, {changed} of them changed what is read");
    assert!(silent.is_empty(), "{} of {changed} changes of {tried} are silent:\n{}", silent.len(), silent.join("\n"));
}

/// Is it a count of tokens, by its name or the object it stands in?
fn counts_tokens(path: &Place) -> bool {
    let Some(name) = path.last() else { return false };
    let lower = name.to_ascii_lowercase();
    let within = |words: &[&str]| {
        path.iter().rev().skip(1).take(2).any(|part| words.contains(&part.to_ascii_lowercase().as_str()))
    };
    let bucket = [
        "input",
        "output",
        "cached",
        "cache",
        "thoughts",
        "tool",
        "total",
        "prompt",
        "completion",
        "reasoning",
        "read",
        "write",
        "cache_read",
        "cache_write",
        "cacheread",
        "cachewrite",
    ]
    .contains(&lower.as_str());
    let is_limit =
        lower.starts_with("max") || lower.contains("limit") || lower.contains("window") || lower.contains("budget");
    !is_limit
        && (lower.contains("token")
            || bucket
                && within(&["usage", "tokens", "token_usage", "metrics", "usagedetails", "usage_details", "stats"])
            || ["cachereads", "cachewrites"].contains(&lower.as_str()))
}

#[test]
fn no_part_of_a_usage_is_broken_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let (mut tried, mut used, mut wrong) = (0, 0, Vec::new());
    for recording in Recording::each(folder.path()) {
        let base = &recording.base;
        let places = recording.places(|shown, value| {
            let is_count = value.is_u64() || value.as_str().is_some_and(|text| text.parse::<u64>().is_ok());
            (is_count && counts_tokens(shown)).then(String::new)
        });
        for (place, broken) in places.iter().flat_map(|place| BROKEN.iter().map(move |broken| (place, broken))) {
            tried += 1;
            let (now, told) = recording.with(place, Value::from(MARK), broken);
            let is_told = told.errors > recording.report.errors;
            used += usize::from(is_told || now != *base);
            let gone = now.runs.iter().zip(&base.runs).any(|(now, base)| base.2.is_some() && now.2.is_none());
            let knew = base.runs.iter().any(|run| run.2.is_some());
            let name = format!("{}: {} = {broken}", recording.name(), kind_of_place(&place.1));
            match (now == *base, is_told) {
                (false, false) => wrong.push(format!("{name}: silent")),
                (_, true) if knew && !gone && now.runs.len() == base.runs.len() => {
                    wrong.push(format!("{name}: told, and the tokens are known"));
                }
                _ => {}
            }
        }
    }
    assert!(tried > 1000 && used > 500, "{tried} broken, {used} of them noticed");
    assert!(wrong.is_empty(), "{} of {used} used, of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Members without which a result is empty as recorded: its other members are there, and empty.
const OTHERS_ARE_EMPTY: &[(&str, &str)] = &[
    ("agentdojo", "messages.error"),
    ("swe-bench-trajectory", "trajectory.result.stdout"),
    ("swe-bench-trajectory", "trajectory.result.stderr"),
];

/// A content of a run: what it is, its text, and whether it is known to be unknown.
type Content = (&'static str, String, bool);

/// The arguments of all calls and the texts of all results, in order.
fn contents(runs: &[Run]) -> Vec<Content> {
    let mut contents = Vec::new();
    for message in runs.iter().flat_map(Run::events).filter_map(Event::message) {
        for call in &message.tool_calls {
            contents.push(("arguments", call.arguments.as_str().into_owned(), call.are_arguments_unknown()));
        }
        if message.is_result() {
            contents.push(("result", message.text().into_owned(), message.is_text_unknown()));
        }
    }
    contents
}

/// Takes away the members at a place; of attributes in OpenTelemetry's notation, those with the key it ends with.
fn take_away(value: &mut Value, place: &[String]) {
    match value {
        Value::Array(elements) => {
            if let [key] = place {
                elements.retain(|element| element.get("key").and_then(Value::as_str) != Some(key));
            }
            for element in elements.iter_mut() {
                take_away(element, place);
            }
        }
        Value::Object(members) => match place {
            [] => {}
            [name] => {
                members.remove(name);
            }
            [name, rest @ ..] => {
                if let Some(inner) = members.get_mut(name) {
                    take_away(inner, rest);
                }
            }
        },
        _ => {}
    }
}

/// The keys of attributes in OpenTelemetry's notation below a value, with the places of their lists.
fn attributes(value: &Value, path: &mut Place, found: &mut BTreeSet<Place>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                path.push(name.clone());
                attributes(inner, path, found);
                path.pop();
            }
        }
        Value::Array(elements) => {
            for element in elements {
                if let Some(key) = element.get("key").and_then(Value::as_str) {
                    found.insert(path.iter().cloned().chain([key.to_owned()]).collect());
                }
                attributes(element, path, found);
            }
        }
        _ => {}
    }
}

/// Each member of each format is left out once, as a recorder does that keeps no contents. The arguments and results that
/// are gone then are unknown, not empty: empty ones would be equal.
#[test]
fn what_is_left_out_is_unknown_and_not_empty() {
    let folder = tempfile::tempdir().unwrap();
    let (mut tried, mut gone, mut silent) = (0, 0, BTreeSet::new());
    let mut formats = BTreeSet::new();
    for recording in Recording::each(folder.path()) {
        let runs_of = |values: &[Value]| {
            let text = if recording.lines {
                values.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n") + "\n"
            } else {
                values[0].to_string()
            };
            std::fs::write(recording.folder.join(recording.path.file_name().unwrap()), text).unwrap();
            let options = ReadOptions { detail: Detail::Counts, sealed: true, ..ReadOptions::default() };
            let opened = Corpus::open(std::slice::from_ref(&recording.folder), options).unwrap();
            let (runs, report) = opened.runs().unwrap();
            let format = report.formats.first().map(|counts| counts.format.clone());
            let is_said = report.notices.iter().any(|notice| notice.diagnostic.what.starts_with("not recorded"));
            (contents(&runs), format, is_said)
        };
        let (base, format, _) = runs_of(&recording.values);
        let mut places = BTreeSet::new();
        for whole in &recording.values {
            members(whole, &mut Vec::new(), &mut |place| {
                places.insert(place.clone());
            });
            attributes(whole, &mut Vec::new(), &mut places);
        }
        for place in places {
            if OTHERS_ARE_EMPTY.contains(&(recording.format, place.join(".").as_str())) {
                continue;
            }
            tried += 1;
            let mut values = recording.values.clone();
            for value in &mut values {
                take_away(value, &place);
            }
            let (now, format_now, is_said) = runs_of(&values);
            let is_same_kind = |pair: (&Content, &Content)| pair.0.0 == pair.1.0;
            if format_now != format || now.len() != base.len() || !base.iter().zip(&now).all(is_same_kind) {
                continue;
            }
            let lost: Vec<&Content> = base
                .iter()
                .zip(&now)
                .filter(|(before, now)| !before.1.is_empty() && now.1.is_empty())
                .map(|(_, now)| now)
                .collect();
            gone += usize::from(!lost.is_empty());
            let all_of = |what: &str| lost.iter().filter(|(lost, ..)| *lost == what).count();
            let n_of = |what: &str| base.iter().filter(|(of, ..)| *of == what).count();
            let is_whole = ["arguments", "result"].iter().any(|what| all_of(what) > 0 && all_of(what) == n_of(what));
            if !lost.is_empty() {
                formats.insert(recording.format);
            }
            if let Some((what, ..)) = lost.iter().find(|(.., is_unknown)| !is_unknown) {
                silent.insert(format!("{}: without `{}` the {what} are empty", recording.name(), place.join(".")));
            } else if is_whole && !is_said {
                silent.insert(format!("{}: nothing is said of `{}`", recording.name(), place.join(".")));
            }
        }
    }
    assert!(
        tried > 1000 && gone > 50 && formats.len() > 20,
        "{tried} left out, {gone} of them were contents, of {formats:?}"
    );
    let silent: Vec<String> = silent.into_iter().collect();
    assert!(silent.is_empty(), "{} of {gone}:\n{}", silent.len(), silent.join("\n"));
}
