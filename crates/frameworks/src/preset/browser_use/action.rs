//! When browser-use considers two actions similar.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::python;
use crate::transcript::ToolCall;
use crate::transcript::fingerprint::canonical_json;

/// Actions that are never recorded.
const EXEMPT: [&str; 3] = ["wait", "done", "go_back"];

/// The text that identifies an action; `None` for one that is not recorded.
pub(super) fn identity(call: &ToolCall) -> Option<String> {
    let name = &*call.name;
    if EXEMPT.contains(&name) {
        return None;
    }
    let Some(Value::Object(given)) = call.json_arguments() else {
        return Some(format!("{name}|{}", call.arguments));
    };
    let text_or = |key: &str, absent: &str| match given.get(key) {
        Some(value) => python::text(value),
        None => absent.to_owned(),
    };
    let plain = |key: &str| text_or(key, "None");
    let text = |key: &str| text_or(key, "");
    Some(match name {
        "search" => {
            let engine = text_or("engine", "google");
            let lower = python::lower(&text("query"));
            let words: BTreeSet<&str> = lower.split(|c| !python::is_word(c)).filter(|word| !word.is_empty()).collect();
            format!("search|{engine}|{words:?}")
        }
        "click" => format!("click|{}", plain("index")),
        "input" => format!("input|{}|{}", plain("index"), python::lower(python::strip(&text("text")))),
        "navigate" => format!("navigate|{}", text("url")),
        "scroll" => {
            let is_down = !matches!(given.get("down"), Some(Value::Bool(false) | Value::Null));
            format!("scroll|{is_down}|{}", plain("index"))
        }
        _ => {
            let mut set = given.clone();
            set.retain(|_, value| !value.is_null());
            format!("{name}|{}", canonical_json(&Value::Object(set)))
        }
    })
}
