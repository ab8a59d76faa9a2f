//! Whether the reader of a record has recognised it: what it leaves unread may be all the calls, results or token counts
//! that there are. Such a recording is refused rather than read as one without them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::record::node::sound;
use crate::record::parts::{ObjectMembers, RunPart, elements};
use crate::record::reading::UnreadRecords;
use crate::transcript::{Message, Run, messages};
use crate::value::marks::SearchTexts;

/// Levels that are searched for calls that no reader took for records.
const LEVELS: usize = 12;
/// Calls of every dialect have one of these in their text.
static MARKS: LazyLock<SearchTexts> = LazyLock::new(|| {
    SearchTexts::from_texts(&[
        "tool_calls\"",
        "toolCalls\"",
        "tool_call\"",
        "toolCall\"",
        "tool_use\"",
        "function_call\"",
        "functionCall\"",
    ])
});

/// Why the record is not read as this format; `None` if nothing is missing altogether. `runs` are what was read of it, and it
/// was read in silence if nothing was found wrong with it.
pub(crate) fn refusal(
    format: &str,
    text: &str,
    unread: &BTreeMap<RunPart, UnreadRecords>,
    runs: &[&Run],
    is_silent: bool,
) -> Option<String> {
    let has = |part| has(runs, part);
    if runs.is_empty() {
        return None;
    }
    for (part, UnreadRecords { kind, times }) in unread {
        if !has(*part) {
            let what = format!("{} in records that it does not know, the first of the kind `{kind}`", part.name());
            return Some(format!("not read as {format}: {what} ({times} in all), and no others"));
        }
    }
    if let Some(UnreadRecords { kind, times }) = unread.get(&RunPart::Texts)
        && has(RunPart::Calls) != has(RunPart::Results)
    {
        let (one, other) = if has(RunPart::Calls) { ("calls", "results") } else { ("results", "calls") };
        let what =
            format!("there are {one} and no {other}, and {times} records of kinds such as `{kind}` are not read");
        return Some(format!("not read as {format}: {what}"));
    }
    if is_silent && !has(RunPart::Calls) && !has(RunPart::Results) && holds_calls(text) {
        let what = "it holds calls of tools where this format has none, and no others";
        return Some(format!("not read as {format}: {what}"));
    }
    None
}

/// Whether any of the runs has the part, in any lane.
fn has(runs: &[&Run], part: RunPart) -> bool {
    runs.iter().any(|run| {
        let mut messages = messages(run.events());
        match part {
            RunPart::Calls => messages.any(|message| !message.tool_calls.is_empty()),
            RunPart::Results => messages.any(Message::is_result),
            RunPart::Texts => messages.any(Message::is_step),
            RunPart::Usage => run.totals.is_some() || messages.any(Message::has_usage),
        }
    })
}

/// Whether the record has calls outside its texts.
fn holds_calls(text: &str) -> bool {
    if !MARKS.are_in(text.as_bytes()) {
        return false;
    }
    if sound(text).is_ok() {
        return finds_call(text.trim(), LEVELS);
    }
    let lines = text.lines().filter(|line| MARKS.are_in(line.as_bytes()));
    lines.filter(|line| sound(line).is_ok()).any(|line| finds_call(line.trim(), LEVELS))
}

fn finds_call(value: &str, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    if value.starts_with('[') {
        return elements(value).iter().any(|element| finds_call(element, levels));
    }
    let object = ObjectMembers::from_text(value);
    let inner = object.0.iter().filter(|(_, value)| value.starts_with(['{', '[']));
    object.is_certain_call() || inner.map(|(_, value)| value).any(|inner| finds_call(inner, levels))
}
