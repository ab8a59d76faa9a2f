//! Recognises files of known producers that cannot be read, and refuses them by the producer's name, saying what to do
//! instead.

use crate::open::probe::{Probe, Shape, Sketch};

/// What the file is and what to read instead, if its producer is known.
pub(crate) fn known(probe: &Probe) -> Option<&'static str> {
    match probe.shape {
        Shape::Binary if probe.head.starts_with("SQLite format 3") => Some(
            "an SQLite database (OpenClaw, OpenCode, Goose, Hermes and Cursor keep sessions in one): export the session \
             as JSON and read that",
        ),
        Shape::Binary | Shape::Text if probe.head.contains("\u{1b}[") => Some(
            "what a terminal showed, with its control codes: it holds no calls of a model; read the agent's own log",
        ),
        Shape::Document | Shape::Lines => probe.first().and_then(of_value),
        _ => None,
    }
}

/// The same for a document or a first line.
fn of_value(value: &Sketch) -> Option<&'static str> {
    const KNOWN: &[(&[&str], &str)] = &[
        (&["version", "width", "height"], "an asciinema terminal recording: it holds no calls of a model"),
        (&["eval_set_id", "eval_cases"], "an ADK evaluation set: conversations as they should go, not recordings"),
        (&["interactions", "recorded_with"], "a VCR cassette of HTTP calls: log the chat API's calls instead"),
        (&["interactions", "version"], "a VCR cassette of HTTP calls: log the chat API's calls instead"),
        (&["cells", "nbformat"], "a Jupyter notebook"),
        (
            &["requesterUsername", "responderUsername", "requests"],
            "a chat of VS Code's Copilot: its calls and results are not in it; read Copilot CLI's events.jsonl",
        ),
        (
            &["conversation_id", "history", "valid_history_range"],
            "a conversation of Amazon Q or Kiro, which is not read yet",
        ),
        (
            &["op_name", "trace_id", "inputs"],
            "calls of Weights & Biases Weave, which are not read yet: export OpenTelemetry",
        ),
        (&["span_attributes", "root_span_id"], "a Braintrust export, which is not read yet: export OpenTelemetry"),
        (&["info", "tasks"], "what tau2's simulations have in common: read the `simulations` beside it"),
        (
            &["checkpoint_id", "strategy"],
            "what a checkpoint of Entire says of its session: read `full.jsonl` beside it",
        ),
        (&["model_patch", "instance_id"], "a prediction of SWE-bench: a patch without the run that made it"),
    ];
    if let Some((_, what)) = KNOWN.iter().find(|(keys, _)| value.has(keys)) {
        return Some(what);
    }
    let log = value.get("log").is_some_and(|log| log.has(&["entries", "creator"]));
    let mlflow = value.get("data").is_some_and(|data| data.has(&["spans"])) && value.has(&["info"]);
    match (log, mlflow) {
        (true, _) => Some("an HTTP archive (HAR): log the chat API's calls instead"),
        (_, true) => Some("an MLflow trace, which is not read yet: export OpenTelemetry"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_named() {
        for (text, expected) in [
            ("SQLite format 3\0....", Some("an SQLite database")),
            ("\u{1b}[?2004hroot@x:/app# ls", Some("what a terminal showed")),
            ("{\"version\": 2, \"width\": 80, \"height\": 24}\n[0.1, \"o\", \"x\"]\n", Some("an asciinema")),
            ("{\"log\":{\"creator\":{},\"entries\":[]}}", Some("an HTTP archive")),
            ("{\"a\":1}", None),
            ("plain words", None),
        ] {
            let probe = Probe::of("x", text.as_bytes()).unwrap();
            let said = known(&probe);
            assert_eq!(said.is_some(), expected.is_some(), "{text}");
            assert!(said.unwrap_or_default().starts_with(expected.unwrap_or_default()), "{text}: {said:?}");
        }
    }
}
