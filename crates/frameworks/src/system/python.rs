//! Values as Python's `json`, `float` and comparisons treat them, for systems whose original is
//! written in Python and whose decisions hang on it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde_json::{Map, Value};

/// Key of the stand-in for an integer that does not fit 64 bits.
const INTEGER: &str = "\u{0}integer";
/// Key of the stand-in for a float that JSON cannot write: NaN and the infinities.
const FLOAT: &str = "\u{0}float";

/// An exception the original lets through, by its Python name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the original raises {0}")]
pub struct Raised(pub &'static str);

/// Reads JSON as Python's `json.loads` does: `NaN`, `Infinity` and integers of any size are let in.
/// They become stand-in objects that the functions of this module know.
pub fn read_json(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&with_stand_ins(text))
}

/// Replaces the numbers `serde_json` cannot hold.
fn with_stand_ins(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        if byte == b'"' {
            at += 1;
            while let Some(&inner) = bytes.get(at).filter(|inner| **inner != b'"') {
                at += if inner == b'\\' { 2 } else { 1 };
            }
            at += 1;
        } else if is_token(byte) {
            at += bytes[at..].iter().take_while(|byte| is_token(**byte)).count();
            if let Some(stand_in) = stand_in(&text[start..at]) {
                out.push_str(&text[copied..start]);
                out.push_str(&stand_in);
                copied = at;
            }
        } else {
            at += 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

fn stand_in(token: &str) -> Option<String> {
    let float = |name: &str| Some(format!("{{\"\\u0000float\":\"{name}\"}}"));
    match token {
        "NaN" => return float("nan"),
        "Infinity" => return float("inf"),
        "-Infinity" => return float("-inf"),
        _ => {}
    }
    let digits = token.strip_prefix('-').unwrap_or(token);
    let starts_well = digits.starts_with(|first: char| first.is_ascii_digit()) && !has_leading_zero(digits);
    if !starts_well {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let fits = token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok();
        return (!fits).then(|| format!("{{\"\\u0000integer\":\"{token}\"}}"));
    }
    match token.parse::<f64>() {
        Ok(value) if value.is_infinite() => float(if value > 0.0 { "inf" } else { "-inf" }),
        _ => None,
    }
}

fn has_leading_zero(digits: &str) -> bool {
    digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit()
}

/// An integer by its digits.
pub(super) fn of_digits(digits: &str) -> Value {
    let digits = if digits == "-0" { "0" } else { digits };
    if let Ok(number) = digits.parse::<i64>() {
        return number.into();
    }
    digits
        .parse::<u64>()
        .map_or_else(|_| Value::Object(Map::from_iter([(INTEGER.to_owned(), Value::from(digits))])), Value::from)
}

/// A float.
pub(super) fn of_float(number: f64) -> Value {
    if number.is_finite() {
        return number.into();
    }
    Value::Object(Map::from_iter([(FLOAT.to_owned(), Value::from(repr_float(number)))]))
}

fn stood_in<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.as_object().filter(|map| map.len() == 1)?.get(key)?.as_str()
}

/// A Python `dict`: a JSON object that is no stand-in.
pub fn dict(value: &Value) -> Option<&Map<String, Value>> {
    value.as_object().filter(|_| stood_in(value, INTEGER).is_none() && stood_in(value, FLOAT).is_none())
}

/// An `int` as Python's `isinstance` has it: booleans count, floats do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Int {
    /// A boolean, printed `True` or `False`.
    Bool(bool),
    /// Any other integer, within what 128 bits hold (larger ones are clamped).
    Whole(i128, String),
}

impl Int {
    /// Reads an integer or a boolean.
    pub fn of(value: &Value) -> Option<Self> {
        if let Value::Bool(flag) = value {
            return Some(Self::Bool(*flag));
        }
        let digits = match value {
            Value::Number(number) if !number.is_f64() => number.to_string(),
            _ => stood_in(value, INTEGER)?.to_owned(),
        };
        let clamp = if digits.starts_with('-') { i128::MIN } else { i128::MAX };
        Some(Self::Whole(digits.parse().unwrap_or(clamp), digits))
    }

    /// The number.
    pub fn value(&self) -> i128 {
        match self {
            Self::Bool(flag) => i128::from(*flag),
            Self::Whole(value, _) => *value,
        }
    }

    /// As JSON again.
    pub fn json(&self) -> Value {
        match self {
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Whole(_, digits) => serde_json::from_str(&with_stand_ins(digits)).unwrap_or(Value::Null),
        }
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(flag) => f.write_str(if *flag { "True" } else { "False" }),
            Self::Whole(_, digits) => f.write_str(digits),
        }
    }
}

/// `float(value)` for numbers, booleans and strings; `None` for what raises a type or value error.
///
/// # Errors
/// An integer too large for a double raises `OverflowError`.
pub fn float(value: &Value) -> Result<Option<f64>, Raised> {
    if let Some(Int::Whole(_, digits)) = Int::of(value) {
        return match digits.parse::<f64>() {
            Ok(number) if number.is_infinite() => Err(Raised("OverflowError")),
            parsed => Ok(parsed.ok()),
        };
    }
    Ok(match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => float_of_text(text),
        _ => stood_in(value, FLOAT).and_then(float_of_text),
    })
}

/// `float(text)`: outer blanks, underscores between digits, Unicode digits, `inf` and `nan`.
pub fn float_of_text(text: &str) -> Option<f64> {
    let ascii: String = strip(text).chars().map(|c| ascii_digit(c).unwrap_or(c)).collect();
    let chars = ascii.as_bytes();
    let is_digit = |index: Option<usize>| index.and_then(|index| chars.get(index)).is_some_and(u8::is_ascii_digit);
    let underscores_between_digits = chars
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'_')
        .all(|(index, _)| is_digit(index.checked_sub(1)) && is_digit(Some(index + 1)));
    if !underscores_between_digits {
        return None;
    }
    ascii.replace('_', "").parse().ok()
}

/// The zeros of Unicode's decimal digits; each is followed by its one to nine (Unicode 14).
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
    0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0,
    0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60,
    0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The ASCII form of a Unicode decimal digit.
pub fn ascii_digit(character: char) -> Option<char> {
    let code = u32::from(character);
    let zero = ZEROS.iter().rev().find(|zero| **zero <= code)?;
    char::from_digit(code - zero, 10)
}

/// `text.strip()`: Python's white space, which has the four information separators too.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.isspace()` of one character.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
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

/// `left == right`: key order does not matter, 1, 1.0 and true are equal, NaN equals nothing.
pub fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        _ => match (dict(left), dict(right)) {
            (Some(left), Some(right)) => {
                let same = |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| equal(value, other));
                left.len() == right.len() && left.iter().all(same)
            }
            (None, None) => match (Int::of(left), Int::of(right)) {
                (Some(left), Some(right)) => left.value() == right.value(),
                _ => {
                    is_number(left)
                        && is_number(right)
                        && number(left).partial_cmp(&number(right)) == Some(Ordering::Equal)
                }
            },
            _ => false,
        },
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_)) || (value.is_object() && dict(value).is_none())
}

/// The number, infinite where Python's integer exceeds a double.
fn number(value: &Value) -> f64 {
    float(value).ok().flatten().unwrap_or(f64::INFINITY)
}

/// `str(value)`.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

/// `repr(value)`.
fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::String(text) => repr_text(text),
        Value::Array(items) => format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        _ => match (Int::of(value), dict(value)) {
            (Some(int), _) => int.to_string(),
            (None, Some(map)) => {
                let pairs = map.iter().map(|(key, value)| format!("{}: {}", repr_text(key), repr(value)));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
            }
            (None, None) => repr_float(number(value)),
        },
    }
}

fn repr_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c => out.push_str(&escape(c)),
        }
    }
    out.push(quote);
    out
}

/// The escape of a character that is not printable.
fn escape(character: char) -> String {
    match u32::from(character) {
        code @ 0..=0xFF => format!("\\x{code:02x}"),
        code @ 0x100..=0xFFFF => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

/// `str.isprintable` for the characters texts really hold: controls, formats, separators other than
/// the space, and private use are not printable.
fn is_printable(character: char) -> bool {
    let is_format = matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    let is_private = matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}');
    character == ' ' || !(character.is_control() || character.is_whitespace() || is_format || is_private)
}

/// `repr` of a float: the shortest digits that read back, with an exponent below 1e-4 and from 1e16.
fn repr_float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let scientific = format!("{value:e}");
        let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_becomes_a_float_as_in_python() {
        let cases = [
            (" 0.9\n", Some(0.9)),
            ("1_000", Some(1000.0)),
            ("０.９", Some(0.9)),
            ("١٢", Some(12.0)),
            ("+.5", Some(0.5)),
            ("1.", Some(1.0)),
            ("1e-3", Some(0.001)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("1e999", Some(f64::INFINITY)),
            ("\u{1c}7\u{1f}", Some(7.0)),
            ("_1", None),
            ("1__0", None),
            ("1_.0", None),
            ("90%", None),
            ("0,9", None),
            ("0x10", None),
            ("", None),
            (".", None),
            ("1 0", None),
        ];
        for (text, number) in cases {
            assert_eq!(float_of_text(text), number, "{text:?}");
        }
        assert!(float_of_text("nAn").is_some_and(f64::is_nan));
    }

    #[test]
    fn json_holds_what_python_lets_in() {
        let value =
            read_json(r#"{"a": NaN, "b": -Infinity, "c": 123456789012345678901234567890, "d": "NaN"}"#).unwrap();
        assert!(float(&value["a"]).unwrap().unwrap().is_nan());
        assert_eq!(float(&value["b"]), Ok(Some(f64::NEG_INFINITY)));
        assert_eq!(Int::of(&value["c"]).unwrap().to_string(), "123456789012345678901234567890");
        assert_eq!(value["d"], json!("NaN"));
        let huge = read_json(&format!("1{}", "0".repeat(400))).unwrap();
        assert_eq!(float(&huge), Err(Raised("OverflowError")));
        assert!(read_json("01").is_err() && read_json("{").is_err() && read_json("\"a\\").is_err());
    }

    #[test]
    fn equality_and_text_are_pythons() {
        assert!(equal(&json!({"a": 1, "b": [true]}), &json!({"b": [1.0], "a": 1.0})));
        assert!(!equal(&json!({"a": 1}), &json!({"a": 1, "b": null})));
        assert!(!equal(&json!("1"), &json!(1)) && !equal(&json!(null), &json!(0)));
        assert_eq!(
            text(&json!([1.0, null, "it's", 1e16, 1e-5, {"k": false}])),
            "[1.0, None, \"it's\", 1e+16, 1e-05, {'k': False}]"
        );
    }
}
