//! Redacts JSON text: brackets, white space and order stay; strings and numbers become placeholders.
//!
//! Equal values stay equal and different values stay different: as JSON, as the numbers of a language without integers,
//! and byte for byte.

use super::pseudonyms::Pseudonyms;
use crate::text::word_list;
use crate::transcript::{is_public_name, is_replacement};

/// Field values that rules look for: states of a task, and kinds of native events.
const STATUS: &[&str] = word_list!(
    "CondensationSummaryEvent ObservationEvent UserRejectObservation active blocked budget_limited canceled cancelled",
    "complete completed continue done environment failed finished paused pending raw_text running skipped",
);

/// Redacts a JSON value; `text` must be valid JSON. Keys at the top level are kept, because they name a tool's
/// parameters; keys below may be data.
pub(super) fn redacted(text: &str, names: &mut Pseudonyms) -> String {
    let mut out = String::with_capacity(text.len().min(4096));
    let (mut rest, mut depth) = (text, 0_usize);
    while let Some(first) = rest.bytes().next() {
        let length = match first {
            b'"' => string_length(rest),
            b'-' | b'0'..=b'9' => rest.bytes().take_while(|byte| is_of_number(*byte)).count(),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        let (token, after) = rest.split_at(length);
        match first {
            b'"' if after.trim_start().starts_with(':') => {
                out.push_str(&key(token, depth == 1, names));
            }
            b'"' => out.push_str(&string(token, names)),
            b'-' | b'0'..=b'9' => out.push_str(&number(token, names)),
            _ => out.push_str(token),
        }
        match first {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        rest = after;
    }
    out
}

/// The length in bytes of the string literal at the start of `rest`, quotes included.
fn string_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

fn decoded(token: &str) -> String {
    serde_json::from_str(token).unwrap_or_else(|_| token.to_owned())
}

fn key(token: &str, is_at_top: bool, names: &mut Pseudonyms) -> String {
    let decoded = decoded(token);
    if decoded.is_empty() || (is_at_top && is_public_name(&decoded) && !is_replacement("key", &decoded)) {
        return token.to_owned();
    }
    // JavaScript puts integer keys first, so they stay integers.
    let is_index = decoded.parse::<u32>().is_ok_and(|index| index.to_string() == decoded);
    if is_index { format!("\"{}\"", whole(&decoded, names)) } else { format!("\"key-{}\"", names.nth("key", &decoded)) }
}

fn string(token: &str, names: &mut Pseudonyms) -> String {
    let decoded = decoded(token);
    if decoded.trim().is_empty() || STATUS.contains(&decoded.as_str()) {
        return token.to_owned();
    }
    let nth = names.nth_text(&decoded);
    let spelling = names.spelling("text", nth, token);
    let shown = names.placeholder(&decoded);
    // A different spelling of the same text is shown by writing that many of the placeholder's letters as escapes.
    let escaped: Vec<String> = shown.chars().take(spelling).map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let plain = serde_json::Value::from(shown.chars().skip(spelling).collect::<String>()).to_string();
    plain.replacen('"', &format!("\"{}", escaped.concat()), 1)
}

/// A number becomes the ordinal of its first occurrence, starting at 2. 0 and 1 stay, because they also mean false and
/// true.
fn number(token: &str, names: &mut Pseudonyms) -> String {
    let is_float = token.contains(['.', 'e', 'E']);
    let value = canonical(token);
    let class = if is_float { "float" } else { "whole" };
    let shown = whole(&value, names);
    let spelling = shown.parse().map_or(0, |nth| names.spelling(class, nth, token));
    if value == "0" || value == "1" {
        return token.to_owned();
    }
    if is_float { format!("{shown}.{}", "0".repeat(spelling + 1)) } else { shown }
}

/// The replacement for a number in its canonical form.
fn whole(value: &str, names: &mut Pseudonyms) -> String {
    if value == "0" || value == "1" { value.to_owned() } else { (names.nth("number", value) + 1).to_string() }
}

/// One spelling for each value, whether written as an integer or a float.
fn canonical(token: &str) -> String {
    // Whatever does not fit in 64 bits is compared as a double.
    if let Ok(positive) = token.parse::<u64>() {
        return positive.to_string();
    }
    if let Ok(negative) = token.parse::<i64>() {
        return negative.to_string();
    }
    match token.parse::<f64>() {
        // Adding 0 turns -0 into 0.
        Ok(value) if value.fract() == 0.0 && value.abs() < 1e18 => format!("{:.0}", value + 0.0),
        Ok(value) => value.to_string(),
        Err(_) => token.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transcript::fingerprint::canonical_json;

    /// JSON of any shape, with few different scalars so that equal ones occur together.
    fn any_json() -> impl Strategy<Value = String> {
        let scalar = prop::sample::select(vec![
            "null",
            "true",
            "0",
            "1",
            "1.0",
            "7",
            "7.0",
            "7.00",
            "2.5",
            "25e-1",
            "-3",
            "18446744073709551616",
            "\"\"",
            "\"a\"",
            "\"\\u0061\"",
            "\"b c\"",
            "\"failed\"",
            "\"é\"",
            "\"please provide\"",
        ]);
        let key = prop::sample::select(vec!["\"path\"", "\"a b\"", "\"12\"", "\"3\"", "\"\"", "\"p\\u0061th\""]);
        let blank = prop::sample::select(vec!["", " ", "\n"]);
        scalar.prop_map(str::to_owned).prop_recursive(3, 12, 3, move |inner| {
            let list = (prop::collection::vec(inner.clone(), 0..3), blank.clone())
                .prop_map(|(items, blank)| format!("[{}]", items.join(&format!(",{blank}"))));
            let fields = prop::collection::vec((key.clone(), inner), 0..3);
            let object = (fields, blank.clone()).prop_map(|(fields, blank)| {
                let fields = fields.iter().map(|(key, value)| format!("{key}:{blank}{value}"));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            });
            prop_oneof![list, object]
        })
    }

    proptest! {
        #[test]
        fn what_is_equal_stays_equal_and_nothing_else_becomes_so(texts in prop::collection::vec(any_json(), 2..6)) {
            let mut names = Pseudonyms::default();
            let redacted: Vec<String> = texts.iter().map(|text| redacted(text, &mut names)).collect();
            for (one, one_redacted) in texts.iter().zip(&redacted) {
                for (other, other_redacted) in texts.iter().zip(&redacted) {
                    prop_assert_eq!(one == other, one_redacted == other_redacted, "as written: {} {}", one, other);
                    let same = |one: &str, other: &str| canonical_of(one) == canonical_of(other);
                    prop_assert_eq!(same(one, other), same(one_redacted, other_redacted), "as JSON: {} {}", one, other);
                }
            }
        }
    }

    fn canonical_of(text: &str) -> String {
        canonical_json(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn equality_survives_in_every_reading() {
        let mut names = Pseudonyms::default();
        let mut of = |text: &str| redacted(text, &mut names);
        assert_eq!(of(r#"{"path": "a/b", "line": 42}"#), r#"{"path": "[text 1, 3 bytes]", "line": 2}"#);
        assert_eq!(of(r#"{"line":42.0,"path":"a/b"}"#), r#"{"line":2.0,"path":"[text 1, 3 bytes]"}"#);
        assert_eq!(of(r#"{"path":"a\/b"}"#), r#"{"path":"[text 1, 3 bytes]"}"#.replace('[', "\\u005b"));
        assert_eq!(of("[7, 42, true, null, 0, 1.0, \"\", \" \"]"), "[3, 2, true, null, 0, 1.0, \"\", \" \"]");
        assert_eq!(of(r#"{"a b":{"name":{"12":1}}}"#), r#"{"key-1":{"key-2":{"4":1}}}"#);
        assert_eq!(of("\"completed\""), "\"completed\"");
        assert_eq!(of("42.00"), "2.00");
    }
}
