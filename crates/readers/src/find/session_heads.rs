//! What the beginning of a file says of the session that it holds.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde_json::Value;

use crate::find::source::InputFile;

/// Bytes read of a file to find whose session it is.
const HEAD: u64 = 64 << 10;

/// The session in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionHead {
    /// Its id.
    pub(crate) id: String,
    /// The id of the session that started it, if it is a sub-agent's.
    pub(crate) parent: Option<String>,
    /// How the file is written: a session and the session that started it are written alike.
    pub(crate) shape: SessionNaming,
}

/// How a file names its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionNaming {
    OpenCode,
    ClaudeCode,
    Other,
}

/// The heads of the files of a corpus, by path.
pub(crate) type Heads<'s> = BTreeMap<&'s str, (SessionHead, &'s InputFile)>;

/// Examines the beginning of every file of a corpus.
pub(crate) fn heads(files: &[InputFile]) -> Heads<'_> {
    let mut heads = Heads::new();
    for file in files {
        if let Some(head) = head(file) {
            heads.insert(&file.name.path, (head, file));
        }
    }
    heads
}

fn head(file: &InputFile) -> Option<SessionHead> {
    let name = file.file_name();
    if ![".json", ".ndjson", ".txt", ".log"].iter().any(|ending| name.contains(ending)) {
        return None;
    }
    let mut head = Vec::new();
    file.open().ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    head_of(&String::from_utf8_lossy(&head), &file.name.stem)
}

fn head_of(text: &str, stem: &str) -> Option<SessionHead> {
    if let Some(head) = open_code(text) {
        return Some(head);
    }
    let other = |id: String| SessionHead { id, parent: None, shape: SessionNaming::Other };
    if let Some(meta) = after(text, "session_meta") {
        return word(meta, "id").map(other);
    }
    if after(text, "isSidechain").is_none() {
        return ["session_id", "sessionId", "sessionID", "thread_id"]
            .iter()
            .find_map(|name| word(text, name))
            .map(other);
    }
    // A session that was resumed or copied begins with lines of another; its file is called after its own.
    let is_stem = values(text, "sessionId").any(|id| id == stem);
    let session = if is_stem { stem.to_owned() } else { word(text, "sessionId")? };
    let is_side = matches!(after(text, "isSidechain"), Some(value) if value.starts_with("true"));
    if !is_side || is_stem {
        return Some(SessionHead { id: session, parent: None, shape: SessionNaming::ClaudeCode });
    }
    let agent = word(text, "agentId").unwrap_or_else(|| stem.to_owned());
    Some(SessionHead { id: format!("{session}/{agent}"), parent: Some(session), shape: SessionNaming::ClaudeCode })
}

fn open_code(text: &str) -> Option<SessionHead> {
    let info = after(text, "info")?;
    let info = serde_json::Deserializer::from_str(info).into_iter::<Value>().next()?.ok()?;
    let word = |name: &str| info[name].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
    Some(SessionHead { id: word("id")?, parent: word("parentID"), shape: SessionNaming::OpenCode })
}

/// What follows the first member called `name`, or the string `name` itself.
fn after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let quoted = format!("\"{name}\"");
    // A quote that stands in a string is escaped.
    let (at, _) = text.match_indices(&quoted).find(|(at, _)| !text[..*at].ends_with('\\'))?;
    let rest = text[at + quoted.len()..].trim_start();
    Some(rest.strip_prefix(':').unwrap_or(rest).trim_start())
}

/// The first string under `name`.
fn word(text: &str, name: &str) -> Option<String> {
    values(text, name).next().map(str::to_owned)
}

/// The strings under `name`.
fn values<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = after(rest, name)?;
            let Some(string) = rest.strip_prefix('"') else { continue };
            let value = string.split('"').next().unwrap_or_default();
            if !value.is_empty() {
                return Some(value);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorder_names_its_session() {
        let claude = r#"{"sessionId":"s","isSidechain":false,"message":{"content":"\"sessionId\":\"x\""}}"#;
        let side = r#"{"isSidechain": true, "agentId": "a", "sessionId": "s"}"#;
        let copied = "{\"sessionId\":\"old\",\"isSidechain\":false}\n{\"sessionId\":\"f\",\"isSidechain\":false}";
        for (text, stem, id, parent, shape) in [
            (claude, "f", "s", None, SessionNaming::ClaudeCode),
            (side, "agent-a", "s/a", Some("s"), SessionNaming::ClaudeCode),
            (side, "s", "s", None, SessionNaming::ClaudeCode),
            (copied, "f", "f", None, SessionNaming::ClaudeCode),
            (r#"{"info": {"id": "o", "parentID": "p"}}"#, "f", "o", Some("p"), SessionNaming::OpenCode),
            (r#"{"type":"session_meta","payload":{"id":"c"}}"#, "f", "c", None, SessionNaming::Other),
            (r#"{"schema_version":"ATIF-v1.2","session_id":"h"}"#, "f", "h", None, SessionNaming::Other),
        ] {
            let expected = SessionHead { id: id.to_owned(), parent: parent.map(str::to_owned), shape };
            assert_eq!(head_of(text, stem), Some(expected), "{text}");
        }
        assert_eq!(head_of(r#"{"messages":[]}"#, "f"), None);
    }
}
