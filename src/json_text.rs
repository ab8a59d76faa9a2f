//! JSON text taken apart where it stands: where a value ends, the members of an object, the elements of an array.
//!
//! Nothing is decoded and nothing is copied. It is as strict as the parser (RFC 8259): what is accepted here, the
//! parser accepts. What is refused may still be JSON (keys with escapes, deep nesting), so whoever is refused asks the parser.

use std::borrow::Cow;

/// Containers within containers, at most: as many as the parser takes.
const DEPTH: usize = 127;
/// Bytes of a string looked at a few at a time before a search is set up.
const SHORT: usize = 64;

/// Calls `each` with every member of the object that `text` is: the key without its quotes, and the value. False when
/// it is no object, or one that only the parser can tell.
pub(crate) fn object<'t>(text: &'t str, mut each: impl FnMut(&'t str, &'t str)) -> bool {
    let mut cursor = Cursor { text, at: 0 };
    let mut plain = true;
    let whole = cursor.members(DEPTH, |key, value| {
        // Keys are short: no search is worth setting up.
        plain &= !key.bytes().any(|byte| byte == b'\\');
        if plain {
            each(key, value);
        }
    });
    whole.is_some() && plain && cursor.is_at_end()
}

/// Calls `each` with every element of the array that `text` is. False when it is none.
pub(crate) fn array<'t>(text: &'t str, mut each: impl FnMut(&'t str)) -> bool {
    let mut cursor = Cursor { text, at: 0 };
    cursor.elements(DEPTH, &mut each).is_some() && cursor.is_at_end()
}

/// The same JSON with keys sorted at every level and no insignificant white space. Numbers keep their spelling class:
/// 1 and 1.0 differ. `None` when `text` is no JSON, or nested too deeply to be told.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let mut cursor = Cursor { text, at: 0 };
    let mut writer = Writer { out: String::with_capacity(text.len()), members: Vec::new() };
    writer.value(&mut cursor, DEPTH)?;
    cursor.is_at_end().then_some(writer.out)
}

/// Can a text stand between quotes as it is?
pub(crate) fn is_plain(text: &str) -> bool {
    special_from(text.as_bytes(), 0).is_none()
}

/// Has the inside of a string literal no escapes but those it needs, each in the spelling the parser writes?
pub(crate) fn is_shortest(body: &str) -> bool {
    let mut rest = body.as_bytes();
    while let Some(at) = memchr::memchr(b'\\', rest) {
        if !matches!(rest.get(at + 1), Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't')) {
            return false;
        }
        rest = &rest[at + 2..];
    }
    true
}

/// A member of an object that is being written: its key, and where it stands in the output.
struct Member<'t> {
    key: Cow<'t, str>,
    from: usize,
    to: usize,
}

/// Writes canonical JSON while reading any.
struct Writer<'t> {
    out: String,
    /// Those of the objects that are open, the innermost last.
    members: Vec<Member<'t>>,
}

impl<'t> Writer<'t> {
    fn value(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Option<()> {
        cursor.space();
        match cursor.peek()? {
            b'"' => self.string(cursor.string()?),
            b'{' => self.object(cursor, depth.checked_sub(1)?),
            b'[' => self.array(cursor, depth.checked_sub(1)?),
            b't' | b'f' | b'n' => {
                self.out.push_str(cursor.value(0)?);
                Some(())
            }
            _ => self.number(cursor.value(0)?),
        }
    }

    fn object(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Option<()> {
        cursor.skip(b'{')?;
        self.out.push('{');
        let (start, outer) = (self.out.len(), self.members.len());
        let mut is_sorted = true;
        if cursor.skip(b'}').is_none() {
            loop {
                cursor.space();
                let key = cursor.string()?;
                cursor.skip(b':')?;
                if self.members.len() > outer {
                    self.out.push(',');
                }
                let from = self.out.len();
                self.string(key)?;
                self.out.push(':');
                self.value(cursor, depth)?;
                let key = decoded(key)?;
                is_sorted &= self.members[outer..].last().is_none_or(|last| last.key < key);
                self.members.push(Member { key, from, to: self.out.len() });
                if cursor.skip(b',').is_none() {
                    cursor.skip(b'}')?;
                    break;
                }
            }
        }
        if !is_sorted {
            let sorted = sorted(&self.out, &mut self.members[outer..]);
            self.out.truncate(start);
            self.out.push_str(&sorted);
        }
        self.members.truncate(outer);
        self.out.push('}');
        Some(())
    }

    fn array(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Option<()> {
        cursor.skip(b'[')?;
        self.out.push('[');
        if cursor.skip(b']').is_none() {
            loop {
                self.value(cursor, depth)?;
                if cursor.skip(b',').is_none() {
                    cursor.skip(b']')?;
                    break;
                }
                self.out.push(',');
            }
        }
        self.out.push(']');
        Some(())
    }

    fn string(&mut self, body: &str) -> Option<()> {
        if is_shortest(body) {
            self.out.push('"');
            self.out.push_str(body);
            self.out.push('"');
        } else {
            self.out.push_str(&serde_json::to_string(&*decoded(body)?).ok()?);
        }
        Some(())
    }

    /// Short whole numbers stand as they are; the parser spells the others.
    fn number(&mut self, value: &str) -> Option<()> {
        let digits = value.strip_prefix('-').unwrap_or(value);
        if digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit()) && value != "-0" {
            self.out.push_str(value);
        } else {
            self.out.push_str(&serde_json::from_str::<serde_json::Value>(value).ok()?.to_string());
        }
        Some(())
    }
}

/// The members in the order of their keys; of members with one key the last counts.
fn sorted(written: &str, members: &mut [Member<'_>]) -> String {
    members.sort_by(|a, b| a.key.cmp(&b.key));
    let mut sorted = String::new();
    for (at, member) in members.iter().enumerate() {
        if members.get(at + 1).is_some_and(|next| next.key == member.key) {
            continue;
        }
        if !sorted.is_empty() {
            sorted.push(',');
        }
        sorted.push_str(&written[member.from..member.to]);
    }
    sorted
}

/// The inside of a string literal as the text it is.
fn decoded(body: &str) -> Option<Cow<'_, str>> {
    if body.contains('\\') {
        serde_json::from_str(&format!("\"{body}\"")).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(body))
    }
}

/// Where the first byte at or after `at` is that cannot stand in a string by itself: a quote, a backslash, a control
/// character. `None` when there is none.
fn special_from(bytes: &[u8], mut at: usize) -> Option<usize> {
    // Most strings are short: eight bytes at a time, and a search only where it pays to set one up.
    let near = bytes.len().min(at + SHORT);
    while at + 8 <= near {
        let word = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
        let found = specials(word);
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    if rest.len() < 8 {
        return rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).map(|found| at + found);
    }
    let found = memchr::memchr2(b'"', b'\\', rest);
    // Without a way out of the loop it is done many bytes at a time.
    let controls = rest[..found.unwrap_or(rest.len())].iter().fold(0, |found, byte| found | u8::from(*byte < 0x20));
    let first = if controls == 0 { found? } else { rest.iter().position(|byte| *byte < 0x20)? };
    Some(at + first)
}

/// The lowest high bit that is set stands in the first byte of `word` (the lowest one) that is a quote, a backslash or
/// a control character. From Mycroft's test for a zero byte: a borrow can only mislead above the first hit.
fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (is(b'"') | is(b'\\') | below(word, 0x20)) & HIGH
}

/// A place in a text. Every method moves behind what it finds, or gives `None`.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.space();
        self.at == self.text.len()
    }

    /// Passes over `wanted`, after white space.
    fn skip(&mut self, wanted: u8) -> Option<()> {
        if self.peek() != Some(wanted) {
            self.space();
        }
        (self.peek() == Some(wanted)).then(|| self.at += 1)
    }

    /// Passes over a value and returns it.
    fn value(&mut self, depth: usize) -> Option<&'t str> {
        self.space();
        let start = self.at;
        self.pass(depth)?;
        self.text.get(start..self.at)
    }

    /// Passes over a value that begins here.
    fn pass(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.pass_string(),
            b'{' => self.members(depth.checked_sub(1)?, |_, _| ()),
            b'[' => self.elements(depth.checked_sub(1)?, |_| ()),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn members(&mut self, depth: usize, mut each: impl FnMut(&'t str, &'t str)) -> Option<()> {
        self.skip(b'{')?;
        if self.skip(b'}').is_some() {
            return Some(());
        }
        loop {
            self.space();
            let key = self.string()?;
            self.skip(b':')?;
            each(key, self.value(depth)?);
            if self.skip(b',').is_none() {
                return self.skip(b'}');
            }
        }
    }

    fn elements(&mut self, depth: usize, mut each: impl FnMut(&'t str)) -> Option<()> {
        self.skip(b'[')?;
        if self.skip(b']').is_some() {
            return Some(());
        }
        loop {
            each(self.value(depth)?);
            if self.skip(b',').is_none() {
                return self.skip(b']');
            }
        }
    }

    /// Passes over a string and returns what is between its quotes, escapes as they are.
    fn string(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        self.pass_string()?;
        self.text.get(start..self.at - 1)
    }

    fn pass_string(&mut self) -> Option<()> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        loop {
            at = special_from(bytes, at)?;
            match bytes[at] {
                b'"' => {
                    self.at = at + 1;
                    return Some(());
                }
                b'\\' => at = behind_escape(bytes, at + 1)?,
                _ => return None,
            }
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let there = self.text.as_bytes().get(self.at..)?.starts_with(word.as_bytes());
        there.then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// Passes over one digit or more.
    fn digits(&mut self) -> Option<()> {
        let digits = self.text.as_bytes().get(self.at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        (digits > 0).then_some(())
    }
}

/// Behind what follows a backslash, which is at `at`.
fn behind_escape(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => bytes.get(at + 1..at + 5)?.iter().all(u8::is_ascii_hexdigit).then_some(at + 5),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    fn members(text: &str) -> Option<BTreeMap<&str, &str>> {
        let mut members = BTreeMap::new();
        object(text, |key, value| {
            members.insert(key, value);
        })
        .then_some(members)
    }

    /// JSON, and what becomes of it when a few bytes of it are changed.
    fn texts() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
            "\"([a-zé\"\\\\/ ]|\\\\n|\\\\u00e9|\\\\ud83d\\\\ude00|\\\\ud83d){0,24}\"",
        ];
        let json = leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" ,"))),
                prop::collection::vec(("[abc]{1,2}|a\\\\u0062", inner), 0..5).prop_map(|members| {
                    let members: Vec<String> =
                        members.into_iter().map(|(key, value)| format!("\"{key}\" : {value}")).collect();
                    format!("{{{}}}\n", members.join(","))
                }),
            ]
        });
        (json, prop::collection::vec((any::<prop::sample::Index>(), "[\"\\\\{}\\[\\],:0-9a-z\n\u{1}.-]"), 0..3))
            .prop_map(|(mut text, changes)| {
                for (at, with) in changes {
                    let at = at.index(text.len() + 1);
                    if text.is_char_boundary(at) {
                        text.insert_str(at, &with);
                    }
                }
                text
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_taken_apart_is_what_the_parser_finds(text in texts()) {
            if let Some(members) = members(&text) {
                let parsed: BTreeMap<&str, &RawValue> = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(members, parsed.iter().map(|(key, raw)| (*key, raw.get())).collect());
            }
            let mut elements = Vec::new();
            if array(&text, |element| elements.push(element)) {
                let parsed: Vec<&RawValue> = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(elements, parsed.into_iter().map(RawValue::get).collect::<Vec<_>>());
            }
        }

        #[test]
        fn the_shortest_spelling_is_the_parsers(text in "([a-zé/\u{0}-\u{1f}\u{7f}]|\\\\[\"\\\\/bfnrtu]){0,12}") {
            let Ok(parsed) = serde_json::from_str::<String>(&format!("\"{text}\"")) else { return Ok(()) };
            let written = serde_json::to_string(&parsed).unwrap();
            prop_assert!(!is_shortest(&text) || written == format!("\"{text}\""), "{}", text);
            prop_assert!(is_shortest(&written[1..written.len() - 1]) || written.contains("\\u"));
            prop_assert_eq!(is_plain(&parsed), !written.contains('\\'), "{}", written);
        }

        #[test]
        fn the_canonical_form_is_the_parsers(text in texts()) {
            let parsed = serde_json::from_str::<Value>(&text).ok().map(|mut value| {
                value.sort_all_objects();
                value.to_string()
            });
            prop_assert_eq!(canonical(&text), parsed);
        }
    }

    #[test]
    fn most_objects_need_no_parser() {
        let text = r#" {"a":[1,{"b":"}"}], "long key of more than sixteen bytes":"x\n\"y\"" ,"c":-0.5e+3} "#;
        let expected = [("a", r#"[1,{"b":"}"}]"#), ("c", "-0.5e+3")];
        let found = members(text).unwrap();
        assert_eq!(found["long key of more than sixteen bytes"], r#""x\n\"y\"""#);
        assert!(expected.iter().all(|(key, value)| found[key] == *value));
        for refused in ["{", "{\"a\":01}", "{\"a\":\"\u{1}\"}", "{\"a\":1,}", "{\"a\":1}x", "[]", r#"{"a":"\x"}"#] {
            assert_eq!(members(refused), None, "{refused}");
        }
    }
}
