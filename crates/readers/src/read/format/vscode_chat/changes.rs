//! The log of changes in which VS Code keeps a chat: its first line sets the whole, each later one changes a part.

use serde_json::Value;

use crate::record::node::Node;
use crate::record::reading::Reading;
use crate::value::json;

/// What a line of the log does.
const INITIAL: u64 = 0;
const SET: u64 = 1;
const PUSH: u64 = 2;
const DELETE: u64 = 3;

/// The chat after all changes; `None` if no line sets it.
pub(super) fn applied(lines: &[Node<'_>], out: &mut Reading<'_>) -> Option<Value> {
    let mut chat = None;
    for line in lines {
        let (kind, value) = (line.count("kind", out), parsed(line, "v"));
        if kind == Some(INITIAL) {
            chat = value;
            continue;
        }
        let path = parsed(line, "k").and_then(|path| path.as_array().cloned()).unwrap_or_default();
        let place = chat.as_mut().and_then(|chat| place(chat, &path));
        let is_done = match (kind, place, value) {
            (Some(SET), Some(place), Some(value)) => {
                *place = value;
                true
            }
            (Some(PUSH), Some(place), value) => push(place, line.some_count("i"), value),
            (Some(DELETE), Some(place), _) => {
                *place = Value::Null;
                true
            }
            _ => false,
        };
        if !is_done {
            let what = "a change of a kind or at a place that the chat does not have";
            out.error_at(line.place(), what, "it is left out, with what it holds");
        }
    }
    chat
}

fn parsed(line: &Node<'_>, name: &str) -> Option<Value> {
    json::value(line.get(name)?.written()).ok()
}

/// The place that the path leads to. A member that is not there yet is made.
fn place<'v>(chat: &'v mut Value, path: &[Value]) -> Option<&'v mut Value> {
    let mut place = chat;
    for part in path {
        place = match (place, part) {
            (Value::Object(members), Value::String(name)) => members.entry(name.clone()).or_insert(Value::Null),
            (Value::Array(elements), Value::Number(at)) => elements.get_mut(usize::try_from(at.as_u64()?).ok()?)?,
            _ => return None,
        };
    }
    Some(place)
}

/// Cuts the list at `at` and adds the values to it; false if it is no list.
fn push(place: &mut Value, at: Option<u64>, values: Option<Value>) -> bool {
    if place.is_null() {
        *place = Value::Array(Vec::new());
    }
    let Some(elements) = place.as_array_mut() else { return false };
    if let Some(at) = at.and_then(|at| usize::try_from(at).ok()) {
        elements.truncate(at);
    }
    match values {
        Some(Value::Array(values)) => elements.extend(values),
        Some(_) => return false,
        None => {}
    }
    true
}
