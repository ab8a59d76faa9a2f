//! Truth and equality of Python values.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::json::{Strictness, loads};
use super::number::{Int, as_float, is_stand_in, repr_float};

/// A Python `dict`: a JSON object that is not a stand-in.
pub fn dict(value: &Value) -> Option<&Map<String, Value>> {
    value.as_object().filter(|_| !is_stand_in(value))
}

/// `type(value).__name__`.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        _ if Int::from_value(value).is_some() => "int",
        _ if as_float(value).is_some() => "float",
        Value::Object(_) | Value::Number(_) => "dict",
    }
}

/// `bool(value)`.
pub fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// `left == right`: key order does not matter; 1, 1.0 and true are equal; numbers are compared exactly. NaN equals
/// nothing, except that inside a list or dict it is treated as one object and equals itself.
pub fn equal(left: &Value, right: &Value) -> bool {
    let is_nan = |value: &Value| as_float(value).is_some_and(f64::is_nan);
    !(is_nan(left) && is_nan(right)) && equal_within(left, right)
}

fn equal_within(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal_within(left, right))
        }
        _ => match (dict(left), dict(right)) {
            (Some(left), Some(right)) => {
                let same =
                    |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| equal_within(value, other));
                left.len() == right.len() && left.iter().all(same)
            }
            (None, None) => number_key(left).is_some_and(|left| number_key(right) == Some(left)),
            _ => false,
        },
    }
}

/// A string that two numbers (or booleans) share exactly if they are equal; `None` for other values.
fn number_key(value: &Value) -> Option<String> {
    match value {
        Value::Bool(flag) => return Some(if *flag { "1" } else { "0" }.to_owned()),
        Value::Number(number) if !number.is_f64() => return Some(number.to_string()),
        _ => {}
    }
    if let Some(int) = Int::from_value(value) {
        return Some(int.digits().into_owned());
    }
    let float = as_float(value)?;
    // Write a double without a fraction as an integer, in full. -0.0 and 0 are the same.
    Some(if float.is_finite() && float.fract() == 0.0 { format!("{:.0}", float + 0.0) } else { repr_float(float) })
}

/// A string that two JSON texts share exactly if Python's `==` holds for their values. Text that is not JSON is its own
/// key.
pub fn equality_key(json: &str) -> String {
    if let Some(value) = loads(json, Strictness::Strict) { value_key(&value) } else { json.to_owned() }
}

/// The same for a parsed value.
pub fn value_key(value: &Value) -> String {
    let mut out = String::new();
    write_key(value, &mut out);
    out
}

fn write_key(value: &Value, out: &mut String) {
    if let Some(number) = number_key(value) {
        out.push_str(&number);
        return;
    }
    match value {
        Value::Object(map) => {
            let mut fields: Vec<(&String, &Value)> = map.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in fields {
                write_text(key, out);
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
        Value::String(text) => write_text(text, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str("null"),
    }
}

/// Writes a text with its length in front, so that it needs no escaping.
fn write_text(text: &str, out: &mut String) {
    let _ = write!(out, "\"{}\"{text}", text.len());
}
