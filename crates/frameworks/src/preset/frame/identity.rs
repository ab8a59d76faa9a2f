//! Identity of calls: their arguments as JSON, printed as the frameworks' languages print it.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

use crate::transcript::ToolCall;

/// The arguments of a call as a JSON value; text that is not JSON becomes a string.
pub fn arguments(call: &ToolCall) -> Cow<'_, Value> {
    match call.json_arguments() {
        Some(arguments) => Cow::Borrowed(arguments),
        None => Cow::Owned(Value::String(call.arguments.as_str().into_owned())),
    }
}

/// The order of object keys in printed JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// Sorted at every level.
    Sorted,
    /// As given, but with whole-number keys first, as in JavaScript.
    Given,
}

/// `JSON.stringify` of a value: 1 and 1.0 are the same number, and white space is dropped.
pub fn js_text(value: &Value, keys: KeyOrder) -> String {
    serde_json::to_string(&JsText(value, keys)).expect("a JSON value can be written as JSON")
}

/// A value that is serialised as JavaScript prints it.
struct JsText<'v>(&'v Value, KeyOrder);

impl Serialize for JsText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value, keys) = *self;
        match value {
            Value::Object(map) => {
                let mut entries: Vec<(&String, &Value)> = map.iter().collect();
                match keys {
                    KeyOrder::Sorted => entries.sort_unstable_by_key(|(key, _)| *key),
                    KeyOrder::Given => {
                        entries.sort_by_key(|(key, _)| whole_number_key(key).unwrap_or(u32::MAX));
                    }
                }
                serializer.collect_map(entries.into_iter().map(|(key, inner)| (key, JsText(inner, keys))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(|item| JsText(item, keys))),
            Value::Number(number) => js_number(number).serialize(serializer),
            other => other.serialize(serializer),
        }
    }
}

/// JavaScript numbers are doubles; a whole one is printed without a fraction.
fn js_number(number: &Number) -> Value {
    let Some(double) = number.as_f64() else { return Value::Number(number.clone()) };
    if double.fract() == 0.0 && double.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 1e15, checked above")]
        return Value::from(double as i64);
    }
    Value::Number(Number::from_f64(double).unwrap_or_else(|| number.clone()))
}

/// A key that JavaScript takes for an index, which it puts before the others; always below [`u32::MAX`].
fn whole_number_key(key: &str) -> Option<u32> {
    if !key.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let index: u32 = key.parse().ok()?;
    if index < u32::MAX && index.to_string() == key { Some(index) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_doubles_and_keys_are_ordered_as_asked() {
        let value: Value = serde_json::from_str(r#"{"b":1.0,"a":[{"d":1,"c":2.5}],"2":0,"1":-0.0}"#).unwrap();
        assert_eq!(js_text(&value, KeyOrder::Sorted), r#"{"1":0,"2":0,"a":[{"c":2.5,"d":1}],"b":1}"#);
        assert_eq!(js_text(&value, KeyOrder::Given), r#"{"1":0,"2":0,"b":1,"a":[{"d":1,"c":2.5}]}"#);
    }
}
