//! The same recordings as other programs hand them on: compressed, with other line ends, as an array
//! instead of lines, a document a line, or under a key.

use std::path::Path;

use serde_json::{Value, json};
use whenstop::reader;
use whenstop::transcript::{OutcomeSource, Run};

use super::broken::gzipped;
use super::{fixtures, inputs, read};

/// What must not change: steps, tokens, outcome and end of each run.
fn facts(runs: &[Run]) -> Vec<String> {
    let mut facts: Vec<String> = runs
        .iter()
        .map(|run| {
            let tokens = reader::tokens(run).map(|tokens| tokens.0);
            // A report beside the fixture is not beside its copy.
            let outcome =
                if matches!(run.grade.source, OutcomeSource::Native(_)) { run.grade.outcome.name() } else { "-" };
            let errors = run.events().iter().filter_map(|event| event.message()).filter(|m| m.is_error == Some(true));
            format!("{} steps, {tokens:?}, {outcome} {:?}, {} errors", run.steps().len(), run.grade.end, errors.count())
        })
        .collect();
    facts.sort();
    facts
}

/// The file's text in other wrappings, each with how often its runs are in it.
fn wrappings(text: &str) -> Vec<(&'static str, Vec<u8>, usize)> {
    let mut all = vec![
        ("crlf", text.replace('\n', "\r\n").into_bytes(), 1),
        ("bom", [b"\xEF\xBB\xBF", text.as_bytes()].concat(), 1),
        ("gzip", gzipped(text.as_bytes()), 1),
    ];
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        let line = document.to_string();
        let pretty = serde_json::to_string_pretty(&document).unwrap();
        all.push(("one line", format!("{line}\n").into_bytes(), 1));
        all.push(("pretty", pretty.clone().into_bytes(), 1));
        if document.is_object() {
            all.push(("in an array", format!("[{pretty},\n{line}]").into_bytes(), 2));
            all.push(("under a key", format!("{{\"version\": 1, \"runs\": [{pretty}]}}").into_bytes(), 1));
            all.push(("in an envelope", format!("{{\"data\": {pretty}, \"status\": 200}}").into_bytes(), 1));
            all.push(("a line each", format!("{line}\n{line}\n").into_bytes(), 2));
            all.push(("one after the other", format!("{pretty}\n{pretty}\n").into_bytes(), 2));
            all.push(("by name", format!("{{\"x\": {pretty}, \"y\": {line}}}").into_bytes(), 2));
        }
        return all;
    }
    let lines: Result<Vec<Value>, _> =
        text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect();
    if let Ok(lines) = lines {
        let pretty = |lines: &[Value]| serde_json::to_string_pretty(lines).unwrap();
        all.push(("an array of its lines", pretty(&lines).into_bytes(), 1));
        all.push(("its lines under a key", format!("{{\"events\": {}}}", pretty(&lines)).into_bytes(), 1));
        let apart: Vec<String> = lines.iter().map(|line| serde_json::to_string_pretty(line).unwrap()).collect();
        all.push(("its lines over many lines", apart.join("\n").into_bytes(), 1));
        let each = |line: &dyn Fn(usize, &Value) -> String| {
            let lines = lines.iter().enumerate().map(|(n, value)| line(n, value));
            lines.collect::<String>().into_bytes()
        };
        let time = |n: usize| format!("2026-01-05T10:00:{:02}.{n}Z", n % 60);
        all.push(("after a prefix", each(&|_, line| format!("[stdout] {line}\n[stderr] working\n")), 1));
        all.push(("after a time", each(&|n, line| format!("{} {line}\n", time(n))), 1));
        let in_text = |n, line: &Value| json!({"log": format!("{line}\n"), "stream": "stdout", "time": time(n)});
        all.push(("in a text", each(&|n, line| format!("{}\n", in_text(n, line))), 1));
    }
    all
}

#[test]
fn every_good_fixture_reads_the_same_in_other_wrappings() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for format in reader::FORMATS {
        let good = inputs(&fixtures().join(format.id()));
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        for path in good.iter().filter(|path| name(path).starts_with("good")) {
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            let (base, _) = read(std::slice::from_ref(path));
            for (wrapping, bytes, times) in wrappings(&text) {
                // Spans of one trace belong together wherever they stand.
                let spans = ["otel", "langsmith", "langfuse", "openai-agents"].contains(&format.id());
                if spans && times > 1 {
                    continue;
                }
                // Messages of any kind are read only where nothing that may be their run's stands around them.
                let is_loose = ["chat", "api-log"].contains(&format.id());
                let is_wrapped_twice = name(path).contains("wrapped") && wrapping.starts_with(['a', 'i']);
                // Under a name of another's, goose's messages are any chat's.
                let is_unnamed = format.id() == "goose" && wrapping == "by name";
                if wrapping == "in a text" && is_loose || is_wrapped_twice || is_unnamed {
                    continue;
                }
                tried += 1;
                // The name of a folder tells nothing; that of a file may tell the model.
                let file = folder.path().join(name(path));
                std::fs::write(&file, bytes).unwrap();
                let (runs, report) = read(&[file]);
                let mut expected: Vec<String> = std::iter::repeat_n(facts(&base), times).flatten().collect();
                expected.sort();
                let as_format = report.files.first().map(|file| file.format.clone());
                if as_format.as_deref() != Some(format.id()) || facts(&runs) != expected {
                    wrong.push(format!(
                        "{}/{} {wrapping}: {as_format:?} {:?}, not {expected:?}; {:?}",
                        format.id(),
                        name(path),
                        facts(&runs),
                        report.skipped.first().map(|skipped| &skipped.reason)
                    ));
                }
            }
        }
    }
    assert!(tried > 200, "{tried}");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}
