//! Recognises files of known producers that cannot be read, and refuses them by the producer's name, saying what to do
//! instead.

use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::wrappings::KEYS;

/// A file of a known producer that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownFile {
    /// Runs in a format that is not read yet; what it is, and what to read instead.
    Runs(&'static str),
    /// No runs; what it is, and what to read instead.
    NoRuns(&'static str),
}

impl KnownFile {
    /// What the file is, and what to read instead.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Runs(words) | Self::NoRuns(words) => words,
        }
    }
}

/// What the file is, if its producer is known.
pub(crate) fn known(probe: &Probe) -> Option<KnownFile> {
    match probe.shape {
        Shape::Binary if probe.head.starts_with("SQLite format 3") => Some(KnownFile::NoRuns(
            "an SQLite database (OpenClaw, Hermes and Cursor keep sessions in one): export the session as JSON and read \
             that",
        )),
        Shape::Binary | Shape::Text if probe.head.contains("\u{1b}[") => Some(KnownFile::NoRuns(
            "what a terminal showed, with its control codes: it holds no calls of a model; read the agent's own log",
        )),
        Shape::Document | Shape::Lines | Shape::Concatenated => {
            let first = probe.first()?;
            known_value(first).or_else(|| known_first_element(first))
        }
        _ => None,
    }
}

/// Whether its producer is known for runs in a format that is not read. No reader of anybody's messages may take it: it
/// would leave out the producer's own records of calls, results and usage.
pub(crate) fn is_unread_format(probe: &Probe) -> bool {
    matches!(known(probe), Some(KnownFile::Runs(_)))
}

/// What a document or a first line is, if its producer is known.
fn known_value(value: &Sketch) -> Option<KnownFile> {
    use KnownFile::{NoRuns, Runs};
    // The keys that tell it, and what it is.
    const KNOWN: &[(&str, KnownFile)] = &[
        ("version width height", NoRuns("an asciinema terminal recording: it holds no calls of a model")),
        ("eval_set_id eval_cases", NoRuns("an ADK evaluation set: conversations as they should go, not recordings")),
        ("interactions recorded_with", NoRuns("a VCR cassette of HTTP calls: log the chat API's calls instead")),
        ("interactions version", NoRuns("a VCR cassette of HTTP calls: log the chat API's calls instead")),
        ("cells nbformat", NoRuns("a Jupyter notebook")),
        (
            "conversation_id history valid_history_range",
            Runs("a conversation of Amazon Q or Kiro, which is not read yet"),
        ),
        (
            "op_name trace_id inputs",
            Runs("calls of Weights & Biases Weave, which are not read yet: export OpenTelemetry"),
        ),
        ("span_attributes root_span_id", Runs("a Braintrust export, which is not read yet: export OpenTelemetry")),
        (
            "object thread_id role content",
            Runs("messages of OpenAI's Assistants, whose calls and tokens are in the steps of their runs: not read"),
        ),
        (
            "type key agentId",
            NoRuns("the journal of a workflow of Claude Code: the sessions of its agents stand beside it"),
        ),
        ("info tasks", NoRuns("what tau2's simulations have in common: read the `simulations` beside it")),
        (
            "checkpoint_id strategy",
            NoRuns("what a checkpoint of Entire says of its session: read `full.jsonl` beside it"),
        ),
        (
            "session_id messages_path workspace_root",
            NoRuns("what Cline says of a session as a whole: its messages stand in the file beside it"),
        ),
        (
            "message message_id redact_message",
            Runs("one message of a session folder of Strands, which is not read: dump `agent.messages` as JSON"),
        ),
        ("model_patch instance_id", NoRuns("a prediction of SWE-bench: a patch without the run that made it")),
    ];
    if let Some((_, known)) = KNOWN.iter().find(|(keys, _)| keys.split(' ').all(|key| value.get(key).is_some())) {
        return Some(*known);
    }
    if value.has_within("log", &["entries", "creator"]) {
        return Some(NoRuns("an HTTP archive (HAR): log the chat API's calls instead"));
    }
    if value.has_within("data", &["spans"]) && value.has(&["info"]) {
        return Some(Runs("an MLflow trace, which is not read yet: export OpenTelemetry"));
    }
    None
}

/// The same for the first element of a list, which may stand under a key, if it is of a run.
fn known_first_element(value: &Sketch) -> Option<KnownFile> {
    let under_keys = KEYS.iter().filter_map(|key| value.get(key));
    let firsts = std::iter::once(value).chain(under_keys).filter_map(|list| list.elements().first());
    firsts.filter_map(known_value).find(|known| matches!(known, KnownFile::Runs(_)))
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
            ("{\"message\": {}, \"message_id\": 0, \"redact_message\": null}", Some("one message of a session folder")),
            ("[{\"op_name\": \"f\", \"trace_id\": \"t\", \"inputs\": {}}]", Some("calls of Weights & Biases Weave")),
            (
                "{\"data\": [{\"object\": \"m\", \"thread_id\": \"t\", \"role\": \"user\", \"content\": []}]}",
                Some("messages of OpenAI's Assistants"),
            ),
            ("{\"a\":1}", None),
            ("plain words", None),
        ] {
            let probe = Probe::from_name("x", text.as_bytes()).unwrap();
            let said = known(&probe).map(KnownFile::words);
            assert_eq!(said.is_some(), expected.is_some(), "{text}");
            assert!(said.unwrap_or_default().starts_with(expected.unwrap_or_default()), "{text}: {said:?}");
        }
    }
}
