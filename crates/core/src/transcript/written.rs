//! JSON written by a model or a tool, such as call arguments and results. It may be malformed or huge.

use serde_json::Value;

use crate::json_text;

/// Texts with at most this many values are always parsed.
const FEW_VALUES: usize = 200_000;
/// Texts with more values are parsed only if each value takes at least this many bytes on average: a parsed value needs
/// many times the memory of the `0,` it may come from.
const LEAST_BYTES: usize = 8;

/// The JSON value of a text. `None` if it is not JSON, or if it has so many short values that parsing it would take
/// many times its size in memory. Callers that compare texts then compare them as written.
pub fn json_value(text: &str) -> Option<Value> {
    if is_dense(text) { None } else { serde_json::from_str(text).ok() }
}

/// True if parsing the text would take many times its size in memory.
pub fn is_dense(text: &str) -> bool {
    // A value and its comma take at least two bytes.
    if text.len() / 2 <= FEW_VALUES {
        return false;
    }
    let n = n_values(text);
    n > FEW_VALUES && n > text.len() / LEAST_BYTES
}

/// True if the text is JSON. It is checked without building a value.
pub fn is_json(text: &str) -> bool {
    json_text::canonical_print(text).is_some()
}

/// The number of commas and colons outside strings, which approximates the number of values.
fn n_values(text: &str) -> usize {
    let (mut n, mut in_string, mut escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b':' if !in_string => n += 1,
            _ => {}
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_too_many_values_is_not_taken_apart() {
        let zeros = |n: usize| format!("[{}0]", "0,".repeat(n));
        assert!(json_value(&zeros(FEW_VALUES)).is_some() && json_value(&zeros(FEW_VALUES + 1)).is_none());
        assert!(json_value(&zeros(FEW_VALUES + 1).replace('0', "12345678")).is_some());
        // A long text in few values is parsed.
        let table = serde_json::json!({ "text": "1,2,3\n".repeat(200_000) }).to_string();
        assert!(json_value(&table).is_some());
        assert!(is_json(&zeros(FEW_VALUES + 1)) && !is_json("[0,") && json_value("[0,").is_none());
    }
}
