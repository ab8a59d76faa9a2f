//! JSON text taken apart where it stands: where a value ends, the members of an object, the elements of an array.
//!
//! Nothing is decoded and nothing is copied. It is as strict as the parser (RFC 8259): what is accepted here, the
//! parser accepts. What is refused may still be JSON (keys with escapes, deep nesting), so whoever is refused asks the parser.

/// Containers within containers, at most: as many as the parser takes.
const DEPTH: usize = 127;
/// Bytes of a string looked at one by one before a search is set up: most strings are short.
const SHORT: usize = 16;

/// Calls `each` with every member of the object that `text` is: the key without its quotes, and the value. False when
/// it is no object, or one that only the parser can tell.
pub(crate) fn object<'t>(text: &'t str, mut each: impl FnMut(&'t str, &'t str)) -> bool {
    let mut cursor = Cursor { text, at: 0 };
    let mut plain = true;
    let whole = cursor.members(DEPTH, &mut |key, value| {
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
    let value = cursor.value(DEPTH)?;
    let mut out = String::with_capacity(text.len());
    write_canonical(value, &mut out)?;
    cursor.is_at_end().then_some(out)
}

/// Writes a value that was checked before.
fn write_canonical(value: &str, out: &mut String) -> Option<()> {
    let mut cursor = Cursor { text: value, at: 0 };
    match value.as_bytes().first()? {
        b'"' => push_string(cursor.string()?, out),
        b'{' => {
            let mut members = Vec::new();
            cursor.members(DEPTH, &mut |key, value| members.push((key, value)))?;
            let mut members: Vec<(String, &str)> =
                members.into_iter().map(|(key, value)| Some((decoded(key)?, value))).collect::<Option<_>>()?;
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            out.push('{');
            let mut nth = 0;
            for (at, (key, value)) in members.iter().enumerate() {
                // Of members with one key the last counts, as for the parser, which reads them all.
                if members.get(at + 1).is_some_and(|(next, _)| next == key) {
                    write_canonical(value, &mut String::new())?;
                    continue;
                }
                if nth > 0 {
                    out.push(',');
                }
                nth += 1;
                out.push_str(&serde_json::to_string(key).ok()?);
                out.push(':');
                write_canonical(value, out)?;
            }
            out.push('}');
            Some(())
        }
        b'[' => {
            let mut elements = Vec::new();
            cursor.elements(DEPTH, &mut |element| elements.push(element))?;
            out.push('[');
            for (nth, element) in elements.into_iter().enumerate() {
                if nth > 0 {
                    out.push(',');
                }
                write_canonical(element, out)?;
            }
            out.push(']');
            Some(())
        }
        b't' | b'f' | b'n' => {
            out.push_str(value);
            Some(())
        }
        _ => push_number(value, out),
    }
}

fn decoded(body: &str) -> Option<String> {
    if body.contains('\\') { serde_json::from_str(&format!("\"{body}\"")).ok() } else { Some(body.to_owned()) }
}

fn push_string(body: &str, out: &mut String) -> Option<()> {
    if body.contains('\\') {
        out.push_str(&serde_json::to_string(&decoded(body)?).ok()?);
    } else {
        out.push('"');
        out.push_str(body);
        out.push('"');
    }
    Some(())
}

/// Short whole numbers stand as they are; the parser spells the others.
fn push_number(value: &str, out: &mut String) -> Option<()> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit()) && value != "-0" {
        out.push_str(value);
    } else {
        out.push_str(&serde_json::from_str::<serde_json::Value>(value).ok()?.to_string());
    }
    Some(())
}

/// True for what cannot stand in a string by itself.
fn is_special(byte: u8) -> bool {
    const SPECIAL: [bool; 256] = {
        let mut special = [false; 256];
        let mut byte = 0;
        while byte < 0x20 {
            special[byte] = true;
            byte += 1;
        }
        special[b'"' as usize] = true;
        special[b'\\' as usize] = true;
        special
    };
    SPECIAL[usize::from(byte)]
}

/// How many bytes stand before the next quote or backslash; `None` when there is none, or a control character before it.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    let length = memchr::memchr2(b'"', b'\\', bytes)?;
    // Without a way out of the loop it is done many bytes at a time.
    let controls = bytes[..length].iter().fold(0, |found, byte| found | u8::from(*byte < 0x20));
    (controls == 0).then_some(length)
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
        self.space();
        (self.peek() == Some(wanted)).then(|| self.at += 1)
    }

    /// Passes over a value and returns it.
    fn value(&mut self, depth: usize) -> Option<&'t str> {
        self.space();
        let start = self.at;
        match self.peek()? {
            b'"' => {
                self.string()?;
            }
            b'{' => self.members(depth.checked_sub(1)?, &mut |_, _| ())?,
            b'[' => self.elements(depth.checked_sub(1)?, &mut |_| ())?,
            b't' => self.word("true")?,
            b'f' => self.word("false")?,
            b'n' => self.word("null")?,
            _ => self.number()?,
        }
        self.text.get(start..self.at)
    }

    fn members(&mut self, depth: usize, each: &mut dyn FnMut(&'t str, &'t str)) -> Option<()> {
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

    fn elements(&mut self, depth: usize, each: &mut dyn FnMut(&'t str)) -> Option<()> {
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
        if self.peek() != Some(b'"') {
            return None;
        }
        self.at += 1;
        let start = self.at;
        let bytes = self.text.as_bytes();
        loop {
            let rest = bytes.get(self.at..)?;
            let near = &rest[..rest.len().min(SHORT)];
            let length = match near.iter().position(|byte| is_special(*byte)) {
                Some(length) => length,
                None => SHORT + plain_length(rest.get(SHORT..)?)?,
            };
            self.at += length + 1;
            match rest[length] {
                b'"' => return self.text.get(start..self.at - 1),
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    /// Passes over what follows a backslash.
    fn escape(&mut self) -> Option<()> {
        let digits = match self.peek()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 0,
            b'u' => 4,
            _ => return None,
        };
        let end = self.at + 1 + digits;
        let hex = self.text.as_bytes().get(self.at + 1..end)?;
        self.at = end;
        hex.iter().all(u8::is_ascii_hexdigit).then_some(())
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
