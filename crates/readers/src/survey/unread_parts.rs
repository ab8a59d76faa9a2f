//! Whether the reader of a record has recognised it: what it leaves unread may be all the calls, results or token counts
//! that there are. Such a recording is refused rather than read as one without them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::record::node::sound;
use crate::record::parts::{Object, Part, elements};
use crate::record::reading::Unread;
use crate::transcript::{Event, Message, Run};
use crate::value::marks::Marks;

/// Levels that are searched for calls that no reader took for records.
const LEVELS: usize = 12;
/// Calls of every dialect have one of these in their text.
static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    Marks::from_texts(&[
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
    unread: &BTreeMap<Part, Unread>,
    runs: &[&Run],
    is_silent: bool,
) -> Option<String> {
    let has = |part| has(runs, part);
    if runs.is_empty() {
        return None;
    }
    for (part, Unread { kind, times }) in unread {
        if !has(*part) {
            let what = format!("{} in records that it does not know, the first of the kind `{kind}`", part.words());
            return Some(format!("not read as {format}: {what} ({times} in all), and no others"));
        }
    }
    if let Some(Unread { kind, times }) = unread.get(&Part::Texts)
        && has(Part::Calls) != has(Part::Results)
    {
        let (one, other) = if has(Part::Calls) { ("calls", "results") } else { ("results", "calls") };
        let what =
            format!("there are {one} and no {other}, and {times} records of kinds such as `{kind}` are not read");
        return Some(format!("not read as {format}: {what}"));
    }
    if is_silent && !has(Part::Calls) && !has(Part::Results) && holds_calls(text) {
        let what = "it holds calls of tools where this format has none, and no others";
        return Some(format!("not read as {format}: {what}"));
    }
    None
}

/// Whether any of the runs has the part, in any lane.
fn has(runs: &[&Run], part: Part) -> bool {
    runs.iter().any(|run| {
        let mut messages = run.events().iter().filter_map(Event::message);
        match part {
            Part::Calls => messages.any(|message| !message.tool_calls.is_empty()),
            Part::Results => messages.any(Message::is_result),
            Part::Texts => messages.any(Message::is_step),
            Part::Usage => run.totals.is_some() || messages.any(Message::has_usage),
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
    let object = Object::from_text(value);
    let inner = object.0.iter().filter(|(_, value)| value.starts_with(['{', '[']));
    object.is_certain_call() || inner.map(|(_, value)| value).any(|inner| finds_call(inner, levels))
}
