//! Files that are not read: why, and whether they look like a recording that should have been.
//!
//! A folder of recordings holds other files too, which nobody misses. But a file that is named or begins like a
//! recording and is not read may be a part of the corpus that is missing from every number.

use std::io::Read;

use crate::find::file_name;
use crate::find::skipped::Twin;
use crate::open::probe::{Probe, Shape, Sketch};
use crate::survey::known_producers::{self, KnownFile};

/// Parts of a file's name that only recordings have: one run or one record a line.
const RECORDINGS: &[&str] = &["jsonl", "ndjson", "traj", "trajectory", "eval", "af"];
/// Compressions and archives that are not opened.
const PACKED: &[&str] = &["bz2", "tbz", "tbz2", "xz", "txz", "lzma", "lz4", "br", "7z", "rar", "zipx"];
/// Members that a document has if it holds a conversation.
const TELLING: &[&str] =
    &["role", "messages", "tool_calls", "toolCalls", "usage", "trajectory", "conversation", "turns", "say", "ask"];

/// Why a file is not read as a recording.
pub(crate) struct NotRead {
    /// In words for a person.
    pub(crate) reason: String,
    pub(crate) kind: Left,
    /// Whether it is JSON of which nothing else is known, so that its fields can be named with `--map`.
    pub(crate) is_unknown_json: bool,
    /// How it could be read.
    pub(crate) advice: Option<String>,
}

/// What kind of file is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// No recording.
    Other,
    /// A recording that could not be read.
    Unreadable,
    /// One that looks like a recording, and that no format recognises.
    LooksRecorded,
    /// What a file that is read holds too.
    Copy(Twin),
    /// A part of a run that is read with another file.
    Part,
}

impl Left {
    fn if_recorded(looks_recorded: bool) -> Self {
        if looks_recorded { Self::LooksRecorded } else { Self::Other }
    }
}

impl NotRead {
    /// For a file whose content is read, or known, from another one.
    pub(crate) fn elsewhere(kind: Left, reason: String) -> Self {
        Self { kind, ..Self::from(reason) }
    }

    pub(crate) fn unreadable(error: impl std::fmt::Display) -> Self {
        Self { kind: Left::Unreadable, ..Self::from(format!("cannot be read: {error}")) }
    }

    /// Why no format recognises the file. `bytes` is the file itself, decompressed.
    pub(crate) fn from_name(name: &str, probe: &Probe, bytes: impl Read) -> Self {
        let mut head = Vec::new();
        // What cannot be read here was not read before either.
        let _ = bytes.take(64).read_to_end(&mut head);
        if let Some(disguise) = disguise(&head) {
            let kind = Left::if_recorded(looks_recorded(name, probe, true));
            return Self { kind, ..Self::from(disguise.to_owned()) };
        }
        if let Some(known) = known_producers::known(probe) {
            let kind = Left::if_recorded(matches!(known, KnownFile::Runs(_)));
            return Self { kind, ..Self::from(known.words().to_owned()) };
        }
        let kind = Left::if_recorded(looks_recorded(name, probe, false));
        let advice = text_advice(name, probe);
        if file_name::is_report(name) && is_document(probe) && !tells_any(probe) {
            let reason = "no recording, and no report of outcomes for any run read here".to_owned();
            return Self { kind, advice, ..Self::from(reason) };
        }
        let is_unknown_json = matches!(probe.shape, Shape::Document | Shape::Lines);
        Self { reason: plain_reason(probe), kind, is_unknown_json, advice }
    }

    /// An empty file.
    pub(crate) fn empty(name: &str) -> Self {
        let looks_recorded = is_named(name, RECORDINGS) || is_named(name, &["json"]);
        Self { kind: Left::if_recorded(looks_recorded), ..Self::from("empty".to_owned()) }
    }
}

impl From<String> for NotRead {
    fn from(reason: String) -> Self {
        Self { reason, kind: Left::Other, is_unknown_json: false, advice: None }
    }
}

/// Whether a name has one of these endings between its dots, whatever editors and browsers append: `run.jsonl~`,
/// `run.jsonl (1)`.
fn is_named(name: &str, endings: &[&str]) -> bool {
    name.split('.').skip(1).any(|part| {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
        endings.iter().any(|ending| part[..end].eq_ignore_ascii_case(ending))
    })
}

fn looks_recorded(name: &str, probe: &Probe, is_disguised: bool) -> bool {
    if is_named(name, RECORDINGS) || is_named(name, PACKED) {
        return true;
    }
    if is_named(name, &["json"]) {
        return !is_document(probe) || tells_any(probe);
    }
    // Without a name to go by, only a text that begins as JSON.
    is_disguised && probe.head.contains('{') || matches!(probe.shape, Shape::Lines) && tells_any(probe)
}

fn is_document(probe: &Probe) -> bool {
    probe.shape == Shape::Document && probe.whole
}

/// Whether what was looked at holds a conversation.
fn tells_any(probe: &Probe) -> bool {
    probe.values.iter().any(|value| tells(value, 4))
}

/// Whether the outline is that of a conversation.
fn tells(value: &Sketch, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match value {
        Sketch::Object(members) => {
            members.iter().any(|(name, inner)| TELLING.contains(&name.as_str()) || tells(inner, depth))
        }
        Sketch::Array(elements) => elements.iter().any(|element| tells(element, depth)),
        Sketch::Scalar(_) | Sketch::Head(_) | Sketch::Other => false,
    }
}

/// What the first bytes show if they are not the text of a recording as it was written.
fn disguise(head: &[u8]) -> Option<&'static str> {
    let is_wide = |at: usize| head.len() > 7 && head.iter().skip(at).step_by(2).take(4).all(|byte| *byte == 0);
    Some(match head {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "UTF-16, which PowerShell's `>` writes: save it as UTF-8",
        [] => return None,
        _ if head.iter().all(|byte| *byte == 0) => "zeros: its content was lost",
        _ if is_wide(0) || is_wide(1) => "UTF-16 without a mark: save it as UTF-8",
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => "compressed with bzip2: unpack it, or pack it with gzip or Zstandard",
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => "compressed with xz: unpack it, or pack it with gzip or Zstandard",
        [b'7', b'z', 0xBC, 0xAF, ..] => "a 7z archive: unpack it first",
        [b'R', b'a', b'r', b'!', ..] => "a RAR archive: unpack it first",
        [0x04, 0x22, 0x4D, 0x18, ..] => "compressed with lz4: unpack it, or pack it with gzip or Zstandard",
        _ if head.starts_with(b"version https://git-lfs.github.com/") => {
            "a pointer of git-lfs: the file itself was not fetched; run `git lfs pull`"
        }
        _ if head.starts_with(b"<!DOCTYPE html") || head.starts_with(b"<html") => {
            "a web page: the download failed, or needs a login"
        }
        _ => return None,
    })
}

/// What to do about a log that is no JSON.
fn text_advice(name: &str, probe: &Probe) -> Option<String> {
    if probe.shape != Shape::Text {
        return None;
    }
    if is_named(name, &["yaml", "yml"]) {
        return Some(format!(
            "turn YAML into JSON, `yq -o=json {name} > run.json`, and `whenstop corpus run.json` goes on from there"
        ));
    }
    let log = "a log in plain text names no fields: have the agent write one JSON object a message, or turn its lines \
               into such objects with a script";
    if is_named(name, &["log"]) { Some(log.to_owned()) } else { None }
}

fn plain_reason(probe: &Probe) -> String {
    // What prints it escapes what is hostile; a line break would part the sentence.
    let head: String = probe.head.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let head = head.trim();
    match probe.shape {
        Shape::Empty => "empty".to_owned(),
        Shape::Binary => "not text".to_owned(),
        Shape::Text if probe.examples.is_some_and(|n| n > 0) => {
            "a document or program text with JSON as an example: name the file itself to have it read".to_owned()
        }
        Shape::Text => format!("not JSON: it begins with `{head}`"),
        Shape::Document if !probe.whole => format!("cut short or broken JSON of no known format: `{head}`"),
        Shape::Document => format!("a JSON document of no known format: `{head}`"),
        Shape::Lines => format!("JSON lines of no known format: `{head}`"),
        Shape::Concatenated => format!("several JSON values that are not one a line: `{head}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_recording_is_told_from_what_lies_beside_one() {
        let cases: &[(&str, &[u8], bool)] = &[
            ("a.jsonl", b"prefix {\"role\":\"user\"}\n", true),
            ("a.jsonl", b"{\"a\":1}\n{\"a\":2}\n", true),
            ("a.jsonl~", b"x", true),
            ("a.jsonl (1)", b"x", true),
            ("a.jsonl.bz2", b"BZh91AY", true),
            ("a.tar.xz", b"\xFD7zXZ\0", true),
            ("a.json", b"{\"a\":", true),
            ("a.json", b"{\"messages\":[{\"role\":\"gnome\"}]}", true),
            ("package.json", b"{\"name\":\"x\",\"version\":\"1\"}", false),
            ("README.md", b"# Notes", false),
            ("a.txt", b"\xFF\xFE{\0\"\0a\0\"\0", true),
            ("a.png", b"\x89PNG\r\n\x1a\n\0\0", false),
            ("requirements.txt", b"numpy", false),
            ("a.json", b"version https://git-lfs.github.com/spec/v1\n", true),
        ];
        let looks_recorded = |not_read: &NotRead| not_read.kind == Left::LooksRecorded;
        for (name, bytes, expected) in cases {
            let probe = Probe::from_name(name, *bytes).unwrap();
            assert_eq!(looks_recorded(&NotRead::from_name(name, &probe, *bytes)), *expected, "{name}");
        }
        assert!(looks_recorded(&NotRead::empty("a.jsonl")) && !looks_recorded(&NotRead::empty("notes")));
    }
}
