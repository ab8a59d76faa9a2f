//! JSON that a model or a tool wrote: arguments of calls, results. Anything may stand there.

use serde_json::Value;

use crate::json_text;

/// A text of fewer values is taken apart, whatever they are …
const FEW_VALUES: usize = 200_000;
/// … and one of more if each is this many bytes long on average. A value in memory is many times as long as the `0,` it
/// may stand for in a text.
const LEAST_BYTES: usize = 8;

/// The value that a text is; `None` when it is no JSON, or JSON of so many and so short values that memory for it would be
/// many times the text. Whoever compares such texts compares them as they are written.
pub fn json_value(text: &str) -> Option<Value> {
    if is_dense(text) { None } else { serde_json::from_str(text).ok() }
}

/// Would the text's values need many times its own length?
pub fn is_dense(text: &str) -> bool {
    // A value and its comma are two bytes at least.
    if text.len() / 2 <= FEW_VALUES {
        return false;
    }
    let n = n_values(text);
    n > FEW_VALUES && n > text.len() / LEAST_BYTES
}

/// Is the text JSON? Told without making anything of it.
pub fn is_json(text: &str) -> bool {
    json_text::canonical_print(text).is_some()
}

/// Commas and colons outside strings: about as many as there are values.
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
        // A long text in a few values is no such thing.
        let table = serde_json::json!({ "text": "1,2,3\n".repeat(200_000) }).to_string();
        assert!(json_value(&table).is_some());
        assert!(is_json(&zeros(FEW_VALUES + 1)) && !is_json("[0,") && json_value("[0,").is_none());
    }
}
