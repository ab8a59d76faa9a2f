//! When two values are equal as Python compares them: key order is free, list order is kept, and
//! 1, 1.0 and true are one value, while "1" is another.

use std::fmt::Write;

use serde_json::Value;

use crate::transcript::json_value;

/// A text that is the same for two JSON texts exactly when Python's `==` holds for their values.
/// What is not JSON stands for itself.
pub fn equality_key(json: &str) -> String {
    json_value(json).map_or_else(|| json.to_owned(), |value| value_key(&value))
}

/// The same for a value.
pub fn value_key(value: &Value) -> String {
    let mut out = String::new();
    write_key(value, &mut out);
    out
}

fn write_key(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<(&String, &Value)> = map.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in fields {
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_key(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_key(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Bool(flag) => out.push(if *flag { '1' } else { '0' }),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                // -0.0 and 0 are one value.
                let _ = write!(out, "{:.0}", float + 0.0);
            }
            _ => out.push_str(&number.to_string()),
        },
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// A value as Python's `repr` shows it: `None`, `True`, 2.0, single-quoted text.
pub fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => repr_text(text),
        Value::Array(items) => format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| format!("{}: {}", repr_text(key), repr(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Number(number) => number.to_string(),
    }
}

/// A text as Python's `repr` shows it: single quotes unless only the other kind avoids escapes;
/// backslashes and control characters escaped.
pub fn repr_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || (0x7f..0xa1).contains(&(c as u32)) || c as u32 == 0xad => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// A value as `json.dumps` writes it: a space after commas and colons, ASCII only.
pub fn json_dumps(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(json_dumps).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let field = |(key, value): (&String, &Value)| format!("{}: {}", json_text(key), json_dumps(value));
            format!("{{{}}}", map.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => json_text(text),
        scalar => scalar.to_string(),
    }
}

fn json_text(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    let mut out = String::with_capacity(quoted.len());
    for character in quoted.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// What `int(value)` gives; `None` where it raises.
pub fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(flag) => Some(i64::from(*flag)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64()?;
            #[expect(clippy::cast_possible_truncation, reason = "within the whole doubles, checked here")]
            (float.abs() < 9e15).then_some(float as i64)
        }),
        _ => None,
    }
}

/// What `bool(value)` gives.
pub fn truth(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_pythons() {
        let same = |a, b| assert_eq!(equality_key(a), equality_key(b), "{a} {b}");
        let differ = |a, b| assert_ne!(equality_key(a), equality_key(b), "{a} {b}");
        same(r#"{"x":1,"y":{"b":2,"a":[1,2]}}"#, r#"{"y":{"a":[1.0,2],"b":2},"x":true}"#);
        same(r#"{"x":0}"#, r#"{"x":-0.0}"#);
        differ(r#"{"x":1}"#, r#"{"x":"1"}"#);
        differ("[1,2]", "[2,1]");
        differ(r#"{"x":1.5}"#, r#"{"x":1}"#);
        differ("null", "0");
    }

    #[test]
    fn json_is_written_as_dumps_writes_it() {
        let value: Value = serde_json::from_str(r#"{"a":[1,2.5,null],"b":"é\u2028😀\n"}"#).unwrap();
        assert_eq!(json_dumps(&value), r#"{"a": [1, 2.5, null], "b": "\u00e9\u2028\ud83d\ude00\n"}"#);
    }

    #[test]
    fn text_is_shown_as_repr_shows_it() {
        assert_eq!(repr_text("it's"), "\"it's\"");
        assert_eq!(repr_text("it's \"ok\""), "'it\\'s \"ok\"'");
        assert_eq!(repr_text("a\nb\\é\u{7}"), "'a\\nb\\\\é\\x07'");
    }
}
