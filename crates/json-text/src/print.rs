//! Fingerprints of JSON values and texts that do not depend on how they are spelled.

use std::borrow::Cow;
use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::{Body, Cursor, DEPTH, has_special};

/// A fingerprint of JSON that ignores key order and white space: two texts have the same one exactly if their canonical
/// forms are equal, up to collisions of 64 bits. The canonical form has keys sorted at every level and no insignificant
/// white space; of members with the same key the last one counts; numbers keep their form, so 1 and 1.0 differ. `None`
/// if `text` is not JSON or is nested too deeply.
pub fn canonical_print(text: &str) -> Option<u64> {
    let mut cursor = Cursor::new(text);
    cursor.space();
    let print = print_of_value(&mut cursor, DEPTH)?;
    if cursor.is_at_end() { Some(print) } else { None }
}

/// The fingerprint of a text, computed over its shortest JSON spelling.
pub fn text_print(text: &str) -> u64 {
    if !has_special(text.as_bytes()) {
        return xxh3_64(text.as_bytes());
    }
    let spelled = serde_json::Value::from(text).to_string();
    xxh3_64(&spelled.as_bytes()[1..spelled.len() - 1])
}

/// The fingerprint of the text that `body`, the inside of a JSON string literal that the parser accepted, spells. Of
/// any other body it is `None` or a number without meaning.
pub fn body_print(body: &str) -> Option<u64> {
    if is_shortest(body) { Some(xxh3_64(body.as_bytes())) } else { decoded(body).map(|text| text_print(&text)) }
}

/// True if the inside of a valid string literal has only the escapes it needs, each spelled as the parser writes it: no
/// `\uXXXX` and no `\/`.
fn is_shortest(body: &str) -> bool {
    let bytes = body.as_bytes();
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    // There is no early exit, so that the loop can be vectorised.
    let longer = pairs.fold(0, |found, pair| found | u8::from(matches!(pair, (b'\\', b'u' | b'/'))));
    longer == 0 || has_short_escapes(bytes)
}

/// The same, by looking at one escape after the other: what seemed to be `\u` can be `\\` before a `u`.
fn has_short_escapes(body: &[u8]) -> bool {
    let mut rest = body;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        if matches!(rest.get(at + 1), Some(b'u' | b'/') | None) {
            return false;
        }
        rest = &rest[at + 2..];
    }
    true
}

/// Moves past the value that begins here and returns its fingerprint.
fn print_of_value(cursor: &mut Cursor<'_>, depth: usize) -> Option<u64> {
    match cursor.peek()? {
        b'"' => {
            let body = cursor.string()?;
            Some(joined(b'"', print_of_string(cursor, body)?, 0))
        }
        b'{' => print_of_object(cursor, depth.checked_sub(1)?),
        b'[' => print_of_array(cursor, depth.checked_sub(1)?),
        b't' | b'f' | b'n' => Some(joined(b't', xxh3_64(cursor.written(0)?.as_bytes()), 0)),
        _ => Some(joined(b'0', print_of_number(cursor.written(0)?)?, 0)),
    }
}

fn print_of_string(cursor: &Cursor<'_>, body: Body) -> Option<u64> {
    let text = cursor.text.get(body.from..body.to)?;
    if body.escaped { body_print(text) } else { Some(xxh3_64(text.as_bytes())) }
}

/// Short integers are used as written; others are spelled as the parser does.
fn print_of_number(value: &str) -> Option<u64> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit()) && value != "-0" {
        return Some(xxh3_64(value.as_bytes()));
    }
    Some(xxh3_64(serde_json::from_str::<serde_json::Value>(value).ok()?.to_string().as_bytes()))
}

fn print_of_object(cursor: &mut Cursor<'_>, depth: usize) -> Option<u64> {
    // A sum does not depend on the order of its terms.
    let (mut members, mut sum) = (SeenMembers::default(), 0_u64);
    cursor.items(*b"{}", |cursor| {
        let key = cursor.key()?;
        let key = print_of_string(cursor, key)?;
        let member = joined(b':', key, print_of_value(cursor, depth)?);
        sum = sum.wrapping_add(member).wrapping_sub(members.enter(key, member).unwrap_or(0));
        Some(())
    })?;
    Some(joined(b'{', sum, members.len as u64))
}

fn print_of_array(cursor: &mut Cursor<'_>, depth: usize) -> Option<u64> {
    let (mut len, mut print) = (0, 0);
    cursor.items(*b"[]", |cursor| {
        (len, print) = (len + 1, joined(b',', print, print_of_value(cursor, depth)?));
        Some(())
    })?;
    Some(joined(b'[', print, len))
}

/// The members of an object so far, as fingerprints of the key and of key and value.
#[derive(Default)]
struct SeenMembers {
    first: [(u64, u64); 8],
    more: HashMap<u64, u64>,
    len: usize,
}

impl SeenMembers {
    /// Adds a member and returns the one it replaces: of members with the same key the last one counts.
    fn enter(&mut self, key: u64, member: u64) -> Option<u64> {
        for (other, before) in &mut self.first[..self.len.min(8)] {
            if *other == key {
                return Some(std::mem::replace(before, member));
            }
        }
        match self.first.get_mut(self.len) {
            Some(place) => *place = (key, member),
            None => {
                if let Some(before) = self.more.insert(key, member) {
                    return Some(before);
                }
            }
        }
        self.len += 1;
        None
    }
}

/// Combines two fingerprints; `way` distinguishes how they are related.
fn joined(way: u8, one: u64, other: u64) -> u64 {
    mixed(mixed(one, u64::from(way)), other)
}

/// Hashes an ordered pair to one number by a widening multiplication whose halves are folded, as in wyhash.
pub fn mixed(one: u64, other: u64) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let product = u128::from(one ^ ODD) * u128::from(other ^ ODD.rotate_left(17));
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    // The product alone is not enough: a factor of 0 would hide the other.
    low ^ high ^ one.rotate_left(32).wrapping_add(other)
}

/// Decodes the inside of a string literal.
fn decoded(body: &str) -> Option<Cow<'_, str>> {
    if body.contains('\\') {
        serde_json::from_str(&format!("\"{body}\"")).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(body))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::tests::texts;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_text_has_one_print_however_it_is_spelled(text in "([a-zé/\u{0}-\u{1f}\u{7f}]|\\\\[\"\\\\/bfnrtu]){0,40}") {
            let Ok(parsed) = serde_json::from_str::<String>(&format!("\"{text}\"")) else { return Ok(()) };
            let written = serde_json::to_string(&parsed).unwrap();
            prop_assert!(!is_shortest(&text) || written == format!("\"{text}\""), "{}", text);
            let print = text_print(&parsed);
            prop_assert_eq!((body_print(&text), body_print(&written[1..written.len() - 1])), (Some(print), Some(print)));
        }

        #[test]
        fn json_is_the_same_when_its_canonical_form_is(text in texts(), other in texts()) {
            let canonical = |text: &str| serde_json::from_str::<Value>(text).ok().map(|mut value| {
                value.sort_all_objects();
                value.to_string()
            });
            let (one, two) = (canonical(&text), canonical(&other));
            prop_assert_eq!(canonical_print(&text).is_some(), one.is_some());
            if let Some(one) = &one {
                prop_assert_eq!(canonical_print(one), canonical_print(&text));
            }
            if one.is_some() {
                prop_assert_eq!(canonical_print(&text) == canonical_print(&other), one == two);
            }
        }
    }

    #[test]
    fn what_differs_in_one_place_has_another_print() {
        let all = [
            "{}",
            "[]",
            "[{}]",
            "[[]]",
            "[0]",
            "[0,0]",
            "[[0],0]",
            "[[0,0]]",
            "0",
            "-0",
            "1.0",
            "1",
            "\"1\"",
            "true",
            "\"true\"",
            "null",
            "\"\"",
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"b":1}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":{"b":2}}"#,
            r#"{"a":{"b":2},"c":[]}"#,
            r#"{"a":{"b":2,"c":[]}}"#,
            r#"["a","b"]"#,
            r#"["b","a"]"#,
            r#"["ab"]"#,
            r#"{"a":"b"}"#,
        ];
        let prints: std::collections::BTreeSet<_> = all.iter().map(|text| canonical_print(text).unwrap()).collect();
        assert_eq!(prints.len(), all.len());
        let same = |a: &str, b: &str| assert_eq!(canonical_print(a), canonical_print(b), "{a} {b}");
        same(r#" { "b" : [ 1 , 2 ], "a" : "x" } "#, r#"{"a":"x","b":[1,2]}"#);
        same(r#"{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#);
        same(r#"{"\u0061":"\u00e9\/"}"#, r#"{"a":"é/"}"#);
        for no_json in ["", "{", "{\"a\"}", "[1,]", "01", "nul", "\"", "1 2"] {
            assert_eq!(canonical_print(no_json), None, "{no_json}");
        }
    }
}
