//! Zero-copy JSON scanning: value ends, object members, array elements.
//!
//! Nothing is decoded or copied. Everything accepted here is also accepted by the parser (RFC 8259). Input rejected
//! here may still be JSON (keys with escapes, deep nesting); on failure the caller falls back to `serde_json`.

mod keys;
mod print;
mod value;

pub use keys::{Follows, Keys};
pub use print::{body_print, canonical_print, mixed, text_print};
pub use value::{Inner, List, Object, Value};

/// White space in JSON (RFC 8259, section 2); nothing else counts, whatever other languages treat as white space.
/// Readers trim both ends by this one definition: if the two ends differed, the remaining text would be scanned again
/// and again.
pub const SPACES: [char; 4] = [' ', '\t', '\n', '\r'];

/// True if the byte is white space in JSON.
#[inline]
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The text without JSON white space at either end.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(SPACES)
}

/// True if the bytes are only JSON white space.
pub fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| is_space(*byte))
}

/// The maximum nesting of containers; the same as the parser's.
const DEPTH: usize = 127;
/// Bytes of a string that are checked directly before a search for its end is set up.
const SHORT: usize = 32;

/// Reads the fields of the object in `text`. False if it is not an object, or only the parser can decide.
pub fn fill<'t>(object: &mut impl Object<'t>, text: &'t str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.space();
    object.fill(&mut cursor, DEPTH).is_some() && cursor.is_at_end()
}

/// Calls `each` with every element of the array in `text`. False if it is not an array, or only the parser can decide.
pub fn array<'t>(text: &'t str, mut each: impl FnMut(&'t str)) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.space();
    let elements = cursor.items(*b"[]", |cursor| {
        each(cursor.written(DEPTH)?);
        Some(())
    });
    elements.is_some() && cursor.is_at_end()
}

/// Calls `each` with the key (without quotes) and value of every member of the object in `text`. False if it is not an
/// object, or only the parser can decide (keys with escapes).
pub fn members<'t>(text: &'t str, mut each: impl FnMut(&'t str, &'t str)) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.space();
    let members = cursor.items(*b"{}", |cursor| {
        let key = cursor.key().filter(|key| !key.escaped)?;
        each(text.get(key.from..key.to)?, cursor.written(DEPTH - 1)?);
        Some(())
    });
    members.is_some() && cursor.is_at_end()
}

/// The index of the first byte from `at` on that ends or interrupts a plain string: a quote, a backslash or a control
/// character. The search stops at or shortly after `end`; the byte there can be any byte.
#[inline]
fn special_until(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end {
        let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) else {
            let rest = bytes.get(at..).unwrap_or_default();
            return at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len());
        };
        let found = specials(u64::from_le_bytes(*word));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at
}

/// The lowest set bit is the high bit of the first special byte in `word` (the lowest byte). Based on Mycroft's test
/// for a zero byte: a borrow can cause false hits only above the first real one.
#[inline]
fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (is(b'"') | is(b'\\') | below(word, 0x20)) & HIGH
}

/// Whether a string with these bytes is not plain. There is no early exit and no branch, so that the loop can be
/// vectorised: a special byte makes one of three numbers zero, and one comparison with their least takes half of the time
/// of three.
fn has_special(bytes: &[u8]) -> bool {
    let special = |byte: u8| (byte ^ b'"').min(byte ^ b'\\').min(byte.saturating_sub(0x1F)) == 0;
    bytes.iter().fold(0, |found, byte| found | u8::from(special(*byte))) > 0
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20)
}

/// The index of the first byte from `at` on that ends or interrupts a plain string, in a text long enough that it pays to
/// look at many bytes at a time.
fn next_special(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(chunk) = bytes.get(at..)?.first_chunk::<SHORT>() {
        if has_special(chunk) {
            break;
        }
        at += SHORT;
    }
    let at = special_until(bytes, at, bytes.len());
    if at < bytes.len() { Some(at) } else { None }
}

/// The text between the quotes of a string.
#[derive(Clone, Copy)]
struct Body {
    from: usize,
    to: usize,
    /// True if it contains an escape.
    escaped: bool,
}

/// A position in a text. Every method moves past what it matches, or returns `None`.
pub struct Cursor<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Cursor<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0 }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.space();
        self.at == self.bytes.len()
    }

    /// Moves past white space and the next byte, which it returns.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        self.space();
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Moves past the value that begins here, whose containers may be nested at most `depth` deep, and returns its
    /// text.
    #[inline]
    fn written(&mut self, depth: usize) -> Option<&'t str> {
        let from = self.at;
        // Strings are the most frequent values, so they are tried first.
        if self.peek() == Some(b'"') {
            self.string()?;
        } else {
            self.pass(depth)?;
        }
        self.text.get(from..self.at)
    }

    /// Moves past the value that begins here.
    fn pass(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' => {
                let within = depth.checked_sub(1)?;
                self.items(*b"{}", |cursor| {
                    cursor.key()?;
                    cursor.pass(within)
                })
            }
            b'[' => {
                let within = depth.checked_sub(1)?;
                self.items(*b"[]", |cursor| cursor.pass(within))
            }
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    /// Moves past the object or array that begins here with the given brackets. `item` moves past each of its items.
    #[inline]
    fn items(&mut self, [open, close]: [u8; 2], mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.peek() != Some(open) {
            return None;
        }
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Some(());
        }
        loop {
            item(self)?;
            match self.next()? {
                b',' => self.space(),
                byte if byte == close => return Some(()),
                _ => return None,
            }
        }
    }

    /// Moves past the object that begins here. `field` is called with the number of each key in `keys` and moves past
    /// its value; other values are skipped.
    #[inline]
    pub fn fields<const N: usize>(
        &mut self,
        depth: usize,
        keys: &Keys<N>,
        follows: &Follows,
        mut field: impl FnMut(&mut Self, usize) -> Option<()>,
    ) -> Option<()> {
        let mut last = None;
        self.items(*b"{}", |cursor| {
            let nth = keys.next(cursor, last, follows)?;
            if nth == N {
                return cursor.pass(depth);
            }
            last = Some(nth);
            field(cursor, nth)
        })
    }

    /// Moves past a key, its colon and the white space after it.
    #[inline]
    fn key(&mut self) -> Option<Body> {
        let key = self.string()?;
        if self.next() != Some(b':') {
            return None;
        }
        self.space();
        Some(key)
    }

    /// Moves past the string that begins here.
    #[inline]
    fn string(&mut self) -> Option<Body> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let from = self.at + 1;
        // Most strings are too short to be worth setting up a search.
        let near = special_until(self.bytes, from, from + SHORT);
        let (to, escaped) = match self.bytes.get(near)? {
            b'"' => (near, false),
            _ => self.far_end(near)?,
        };
        self.at = to + 1;
        Some(Body { from, to, escaped })
    }

    /// The end of a string that is plain before `from`, and whether it contains an escape.
    fn far_end(&self, from: usize) -> Option<(usize, bool)> {
        let mut to = from;
        let mut escaped = false;
        loop {
            to = next_special(self.bytes, to)?;
            match self.bytes[to] {
                b'"' => return Some((to, escaped)),
                b'\\' => to = behind_escape(self.bytes, to + 1)?,
                _ => return None,
            }
            escaped = true;
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        if !self.bytes.get(self.at..)?.starts_with(word) {
            return None;
        }
        self.at += word.len();
        Some(())
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

    /// Moves past one or more digits.
    #[inline]
    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > from { Some(()) } else { None }
    }
}

/// The index after an escape whose backslash is at `at`.
#[inline]
fn behind_escape(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => {
            let digits = bytes.get(at + 1..at + 5)?;
            if digits.iter().all(u8::is_ascii_hexdigit) { Some(at + 5) } else { None }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    const NAMES: [&str; 13] =
        ["a", "b", "c", "aa", "ab", "ac", "ba", "bb", "bc", "ca", "cb", "cc", "long key of more than 16"];
    static KEYS: Keys<13> = Keys::new([
        "\"a\":",
        "\"b\":",
        "\"c\":",
        "\"aa\":",
        "\"ab\":",
        "\"ac\":",
        "\"ba\":",
        "\"bb\":",
        "\"bc\":",
        "\"ca\":",
        "\"cb\":",
        "\"cc\":",
        "\"long key of more than 16\":",
    ]);

    fn members(text: &str) -> Option<BTreeMap<&str, &str>> {
        thread_local! {
            static FOLLOWS: Follows = const { Follows::new() };
        }
        let mut members = BTreeMap::new();
        let mut cursor = Cursor::new(text);
        cursor.space();
        FOLLOWS.with(|follows| {
            cursor.fields(DEPTH, &KEYS, follows, |cursor, nth| {
                members.insert(NAMES[nth], cursor.written(DEPTH)?);
                Some(())
            })
        })?;
        cursor.is_at_end().then_some(members)
    }

    /// JSON texts, and texts with a few bytes of them changed.
    pub(super) fn texts() -> impl Strategy<Value = String> {
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
                let known = parsed.iter().filter(|(key, _)| NAMES.contains(key));
                prop_assert_eq!(members, known.map(|(key, raw)| (*key, raw.get())).collect());
            }
            let mut elements = Vec::new();
            if array(&text, |element| elements.push(element)) {
                let parsed: Vec<&RawValue> = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(elements, parsed.into_iter().map(RawValue::get).collect::<Vec<_>>());
            }
        }

        #[test]
        fn a_string_ends_where_the_parser_says(text in "[a-zé]{0,150}[\"\\\\\u{1}\n]?[a-zé\"]{0,150}", from in 0..40_usize) {
            let end = from + 64;
            let (found, until) = (text.bytes().skip(from).position(is_special), special_until(text.as_bytes(), from, end));
            match found.map(|at| from + at) {
                Some(at) if at < end => prop_assert_eq!(until, at),
                at => prop_assert!(until >= end.min(text.len()) && until <= at.unwrap_or(text.len()).max(from)),
            }
            let quoted = format!("\"{text}\"");
            let mut cursor = Cursor::new(&quoted);
            let read = cursor.string().map(|body| quoted[body.from..body.to].to_owned());
            let parsed = serde_json::Deserializer::from_str(&quoted).into_iter::<&RawValue>().next().unwrap();
            prop_assert_eq!(read, parsed.ok().map(|raw| raw.get()[1..raw.get().len() - 1].to_owned()));
        }
    }

    #[test]
    fn most_objects_need_no_parser() {
        let text = r#" {"a":[1,{"b":"}"}], "long key of more than 16":"x\n\"y\"" ,"c":-0.5e+3} "#;
        let expected = [("a", r#"[1,{"b":"}"}]"#), ("c", "-0.5e+3")];
        let found = members(text).unwrap();
        assert_eq!(found["long key of more than 16"], r#""x\n\"y\"""#);
        assert!(expected.iter().all(|(key, value)| found[key] == *value));
        for refused in ["{", "{\"a\":01}", "{\"a\":\"\u{1}\"}", "{\"a\":1,}", "{\"a\":1}x", "[]", r#"{"a":"\x"}"#] {
            assert_eq!(members(refused), None, "{refused}");
        }
    }
}
