//! Fields of a recorded line that only one framework's rules read.

use serde_json::Value;

use crate::transcript::Message;

/// A field of the message that the transcript has no place of its own for.
pub fn field(message: &Message, name: &str) -> Option<Value> {
    let extra: Value = serde_json::from_str(message.extra.as_ref()?.get()).ok()?;
    extra.get(name).cloned()
}

/// A field that is a text.
pub fn word(message: &Message, name: &str) -> Option<String> {
    match field(message, name)? {
        Value::String(word) => Some(word),
        _ => None,
    }
}

/// A field that is true.
pub fn flag(message: &Message, name: &str) -> bool {
    field(message, name) == Some(Value::Bool(true))
}
