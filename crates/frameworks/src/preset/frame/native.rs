//! Reads fields of a recorded message that only one framework's rules need.

use serde_json::Value;

use crate::transcript::Message;

/// A field of the recorded message that the transcript does not represent itself.
pub fn field(message: &Message, name: &str) -> Option<Value> {
    let extra: Value = serde_json::from_str(message.extra()?.get()).ok()?;
    extra.get(name).cloned()
}

/// A member of the field `native`, which holds what only this framework records.
pub fn own(message: &Message, name: &str) -> Option<Value> {
    field(message, "native")?.get(name).cloned()
}

/// A field, if it is a string.
pub fn word(message: &Message, name: &str) -> Option<String> {
    match field(message, name)? {
        Value::String(word) => Some(word),
        _ => None,
    }
}

/// True if the field is true.
pub fn flag(message: &Message, name: &str) -> bool {
    field(message, name) == Some(Value::Bool(true))
}

/// Whether the result's call failed or could not be made.
pub fn has_failed(result: &Message) -> bool {
    result.is_error == Some(true) || flag(result, "invalid_call")
}
