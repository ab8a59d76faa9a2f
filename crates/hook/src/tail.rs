//! Reads what a host's transcript says about tokens: only the lines that were added since the last time.
//!
//! A reply is written as several lines, each with the counts known by then: the largest count of each message is the
//! one that holds. A transcript may lag behind the events, so a step's tokens are booked to the step by the ids of its
//! calls, whenever they come.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use super::files;
use super::record::{Flag, RecordKind, SessionRecord, id_of};
use crate::transcript::Usage;

/// The most that is read at once; a longer transcript is read on at the next call.
const MOST: u64 = 256 << 20;

/// What reading on came to.
#[derive(Debug, Default)]
pub struct News {
    /// The records to append.
    pub records: Vec<SessionRecord>,
    /// The host's version, if a line states it.
    pub version: Option<String>,
    /// The model of the last reply.
    pub model: Option<String>,
}

/// Reads on in the transcript at `path`; `None` if there is none. `records` are those of the session so far.
pub fn read_on(path: &Path, records: &[SessionRecord], time: i64, side: bool) -> Option<News> {
    let mut file = files::open_to_read(path).ok()?;
    let length = file.metadata().ok()?.len();
    let inode = inode(&file);
    let id = id_of(&path.to_string_lossy());
    let last = records.iter().rev().find(|record| record.kind == RecordKind::Transcript && record.id == id);
    // A shorter file or another one in its place is read anew; each message still counts once, by its id.
    let from = last.filter(|last| last.b == inode && last.a <= length).map(|last| last.a).unwrap_or_default();
    let mut news = News::default();
    if from == length {
        return Some(news);
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from)).ok()?;
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    let whole = if let Some(end) = memchr::memrchr(b'\n', &bytes) { end + 1 } else { 0 };
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', &bytes[..whole]) {
        news.take(&bytes[start..end], time, side);
        start = end + 1;
    }
    let mut read = SessionRecord::new(RecordKind::Transcript, time).id(id);
    (read.a, read.b) = (from + whole as u64, inode);
    if side {
        read.flags = Flag::SIDE;
        read.text = path.to_string_lossy().into_owned().into_bytes();
    }
    news.records.push(read);
    Some(news)
}

#[cfg(unix)]
fn inode(file: &File) -> u64 {
    use std::os::unix::fs::MetadataExt;
    if let Ok(data) = file.metadata() { data.ino() } else { 0 }
}

#[cfg(not(unix))]
fn inode(_: &File) -> u64 {
    0
}

/// A line of a transcript, as far as it is read: Claude Code's, or Qwen Code's, which has Gemini's names.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TranscriptEntry {
    #[serde(rename = "type")]
    kind: String,
    uuid: Option<String>,
    version: Option<String>,
    model: Option<String>,
    is_sidechain: bool,
    request_id: Option<String>,
    message: Option<TranscriptMessage>,
    usage_metadata: Option<UsageMetadata>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TranscriptMessage {
    id: Option<String>,
    model: Option<String>,
    usage: Option<Anthropic>,
    content: Blocks,
    parts: Vec<MessagePart>,
}

/// The blocks of a message; a content that is plain text has none.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Blocks {
    List(Vec<MessageBlock>),
    #[default]
    None,
    Other(serde::de::IgnoredAny),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageBlock {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    tool_use_id: Option<String>,
    is_error: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MessagePart {
    function_call: Option<FunctionCall>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FunctionCall {
    id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Anthropic {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    read: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    written: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
    /// What kind of request it is, where these are the counts of one.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// The requests behind the reply, where there may be others than the model's own.
    iterations: Option<Vec<Self>>,
}

impl Anthropic {
    /// What an advisor or a compaction took besides, unless the counts hold it already.
    fn others(&self) -> Vec<Usage> {
        let requests = self.iterations.as_deref().unwrap_or_default();
        let total = |counts: &Self| counts.usage().total().unwrap_or_default().0;
        if total(self) >= requests.iter().map(total).sum() {
            return Vec::new();
        }
        let is_other =
            |request: &&Self| !matches!(request.kind.as_deref(), None | Some("message" | "fallback_message"));
        requests.iter().filter(is_other).map(Self::usage).collect()
    }

    fn usage(&self) -> Usage {
        let cached = self.read.unwrap_or(0).saturating_add(self.written.unwrap_or(0));
        Usage {
            input: self.input.map(|input| input.saturating_add(cached)),
            cache_read: self.read,
            cache_write: self.written,
            output: self.output,
            reasoning: None,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UsageMetadata {
    #[serde(rename = "promptTokenCount")]
    prompt: Option<u64>,
    #[serde(rename = "candidatesTokenCount")]
    candidates: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts: Option<u64>,
    #[serde(rename = "cachedContentTokenCount")]
    cached: Option<u64>,
}

impl UsageMetadata {
    fn usage(&self) -> Usage {
        let output = self.candidates.map(|candidates| candidates.saturating_add(self.thoughts.unwrap_or(0)));
        Usage { input: self.prompt, cache_read: self.cached, cache_write: None, output, reasoning: self.thoughts }
    }
}

impl News {
    fn take(&mut self, line: &[u8], time: i64, side: bool) {
        let is_reply = memchr::memmem::find(line, br#""assistant""#).is_some();
        let has_error = memchr::memmem::find(line, br#""is_error":true"#).is_some();
        if !is_reply && !has_error {
            return;
        }
        let Ok(line) = serde_json::from_slice::<TranscriptEntry>(line) else { return };
        self.version = line.version.or(self.version.take());
        let Some(message) = line.message else { return };
        let blocks = if let Blocks::List(blocks) = &message.content { &blocks[..] } else { &[] };
        if line.kind == "user" && !line.is_sidechain && !side {
            let failed = blocks.iter().filter(|block| block.kind == "tool_result" && block.is_error == Some(true));
            let ids = failed.filter_map(|block| block.tool_use_id.as_deref());
            self.records.extend(ids.map(|id| SessionRecord::new(RecordKind::Failure, time).id(id_of(id))));
        }
        let model = message.model.or(line.model);
        if line.kind != "assistant" || model.as_deref() == Some("<synthetic>") {
            return;
        }
        let usage = match (&message.usage, &line.usage_metadata) {
            (Some(counts), _) => counts.usage(),
            (None, Some(counts)) => counts.usage(),
            (None, None) => Usage::default(),
        };
        let id = match message.id {
            Some(id) => format!("{id} {}", line.request_id.unwrap_or_default()),
            None => line.uuid.unwrap_or_default(),
        };
        let of_blocks =
            blocks.iter().filter(|block| block.kind.ends_with("tool_use")).filter_map(|block| block.id.as_deref());
        let of_parts = message.parts.iter().filter_map(|part| part.function_call.as_ref()?.id.as_deref());
        let mut calls: Vec<u64> = of_blocks.chain(of_parts).map(id_of).collect();
        if calls.is_empty() {
            calls.push(0);
        }
        let is_side = line.is_sidechain || side;
        for call in calls {
            let mut record = SessionRecord::new(RecordKind::Usage, time).id(id_of(&id));
            record.flags = if is_side { Flag::SIDE } else { Flag::default() };
            record.b = call;
            record.text = write_usage(usage);
            self.records.push(record);
        }
        let others = message.usage.as_ref().map(Anthropic::others).unwrap_or_default();
        for (nth, other) in others.into_iter().enumerate() {
            let mut record = SessionRecord::new(RecordKind::Usage, time).id(id_of(&format!("{id} {nth}")));
            record.flags = Flag::SIDE;
            record.text = write_usage(other);
            self.records.push(record);
        }
        if !is_side {
            self.model = model.or(self.model.take());
        }
    }
}

/// The counts as bytes; an unknown count is the largest number.
fn write_usage(usage: Usage) -> Vec<u8> {
    let Usage { input, cache_read, cache_write, output, reasoning } = usage;
    let counts = [input, cache_read, cache_write, output, reasoning];
    counts.iter().flat_map(|count| count.unwrap_or(u64::MAX).to_le_bytes()).collect()
}

/// The counts of a usage record.
pub fn usage_of(record: &SessionRecord) -> Usage {
    let count = |nth: usize| {
        let bytes = record.text.get(nth * 8..nth * 8 + 8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes)).filter(|count| *count != u64::MAX)
    };
    Usage { input: count(0), cache_read: count(1), cache_write: count(2), output: count(3), reasoning: count(4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usages(iterations: &str) -> Vec<(bool, Option<u64>, Option<u64>)> {
        let usage = format!(r#"{{"input_tokens":5,"output_tokens":50,"iterations":{iterations}}}"#);
        let line = format!(r#"{{"type":"assistant","message":{{"id":"m","model":"x","content":[],"usage":{usage}}}}}"#);
        let mut news = News::default();
        news.take(line.as_bytes(), 1, false);
        let told = |record: &SessionRecord| {
            let usage = usage_of(record);
            (record.flags.has(Flag::SIDE), usage.input, usage.output)
        };
        news.records.iter().map(told).collect()
    }

    #[test]
    fn what_other_requests_behind_a_reply_take_is_counted_once() {
        let own = (false, Some(5), Some(50));
        let message = r#"{"type":"message","input_tokens":5,"output_tokens":50}"#;
        let untyped = r#"{"input_tokens":5,"output_tokens":50}"#;
        for alone in ["null".to_owned(), "[]".to_owned(), format!("[{message}]"), format!("[{untyped}]")] {
            assert_eq!(usages(&alone), [own], "{alone}");
        }
        let advisor = r#"{"type":"advisor_message","input_tokens":900,"output_tokens":80}"#;
        assert_eq!(usages(&format!("[{message},{advisor}]")), [own, (true, Some(900), Some(80))]);
        // The counts of the reply hold it already.
        let small = r#"{"type":"compaction","input_tokens":2,"output_tokens":3}"#;
        assert_eq!(usages(&format!("[{small}]")), [own]);
    }
}
