//! When two actions of browser-use count as similar.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::frame::identity::arguments;
use crate::transcript::ToolCall;
use crate::transcript::fingerprint::canonical_json;

/// Actions that are never recorded.
const EXEMPT: [&str; 3] = ["wait", "done", "go_back"];

/// What stands for an action; `None` for one that is not recorded.
pub(super) fn identity(call: &ToolCall) -> Option<String> {
    let name = &*call.name;
    if EXEMPT.contains(&name) {
        return None;
    }
    let Value::Object(given) = arguments(call) else {
        return Some(format!("{name}|{}", call.arguments));
    };
    let plain = |key: &str| given.get(key).map_or_else(|| "None".to_owned(), plain_text);
    let text = |key: &str| given.get(key).map(plain_text).unwrap_or_default();
    Some(match name {
        "search" => {
            let engine = given.get("engine").map_or_else(|| "google".to_owned(), plain_text);
            let lower = text("query").to_lowercase();
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let words: BTreeSet<&str> = lower.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
            format!("search|{engine}|{words:?}")
        }
        "click" => format!("click|{}", plain("index")),
        "input" => format!("input|{}|{}", plain("index"), text("text").trim().to_lowercase()),
        "navigate" => format!("navigate|{}", text("url")),
        "scroll" => {
            let is_down = given.get("down").is_none_or(|down| !matches!(down, Value::Bool(false) | Value::Null));
            format!("scroll|{is_down}|{}", plain("index"))
        }
        _ => {
            let set: Map<String, Value> = given.into_iter().filter(|(_, value)| !value.is_null()).collect();
            format!("{name}|{}", canonical_json(&Value::Object(set)))
        }
    })
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}
