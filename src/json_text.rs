//! JSON text taken apart where it stands: where a value ends, the members of an object, the elements of an array.
//!
//! Nothing is decoded and nothing is copied. It is as strict as the parser (RFC 8259): what is accepted here, the
//! parser accepts. What is refused may still be JSON (keys with escapes, deep nesting), so whoever is refused asks the parser.

use std::borrow::Cow;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

/// Containers within containers, at most: as many as the parser takes.
const DEPTH: usize = 127;
/// Bytes of a string looked at before a search for its end is set up.
const SHORT: usize = 32;

/// Calls `each` with every member of the object that `text` is: the key without its quotes, and the value. False when
/// it is no object, or one that only the parser can tell.
#[inline]
pub(crate) fn object<'t>(text: &'t str, each: &mut impl FnMut(&'t str, &'t str)) -> bool {
    let mut cursor = Cursor::new(text);
    let mut plain = true;
    cursor.space();
    let whole = cursor.members(DEPTH, |key, value| match (text.get(key.from..key.to), text.get(value)) {
        (Some(key_text), Some(value)) if plain && !key.escaped => each(key_text, value),
        _ => plain = false,
    });
    whole.is_some() && plain && cursor.is_at_end()
}

/// Calls `each` with every element of the array that `text` is. False when it is none.
pub(crate) fn array<'t>(text: &'t str, mut each: impl FnMut(&'t str)) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.space();
    let whole = cursor.elements(DEPTH, |value| each(text.get(value).unwrap_or_default()));
    whole.is_some() && cursor.is_at_end()
}

/// A number by which JSON is known whatever the order of its keys and its white space: two texts have the same exactly
/// when their canonical forms are the same, as far as 64 bits can tell. The canonical form has keys sorted at every level
/// and no insignificant white space; of members with one key the last counts; numbers keep their spelling class: 1 and
/// 1.0 differ. `None` when `text` is no JSON, or nested too deeply to be told.
pub(crate) fn canonical_print(text: &str) -> Option<u64> {
    let mut cursor = Cursor::new(text);
    cursor.space();
    let print = print_of_value(&mut cursor, DEPTH)?;
    cursor.is_at_end().then_some(print)
}

/// The fingerprint of a text: of its shortest JSON spelling.
pub(crate) fn text_print(text: &str) -> u64 {
    if !text.bytes().fold(false, |found, byte| found | is_special(byte)) {
        return xxh3_64(text.as_bytes());
    }
    let spelled = serde_json::Value::from(text).to_string();
    xxh3_64(&spelled.as_bytes()[1..spelled.len() - 1])
}

/// The fingerprint of the text of which `body` is the spelling between the quotes of a JSON string.
pub(crate) fn body_print(body: &str) -> Option<u64> {
    if is_shortest(body) { Some(xxh3_64(body.as_bytes())) } else { decoded(body).map(|text| text_print(&text)) }
}

/// Has the inside of a string literal no escapes but those it needs, each in the spelling the parser writes?
fn is_shortest(body: &str) -> bool {
    let mut rest = body.as_bytes();
    while let Some(at) = memchr::memchr(b'\\', rest) {
        if !matches!(rest.get(at + 1), Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't')) {
            return false;
        }
        rest = &rest[at + 2..];
    }
    true
}

/// Passes over the value that begins here.
fn print_of_value(cursor: &mut Cursor<'_>, depth: usize) -> Option<u64> {
    match cursor.peek()? {
        b'"' => {
            let body = cursor.string()?;
            Some(joined(b'"', print_of_string(cursor, body)?, 0))
        }
        b'{' => print_of_object(cursor, depth.checked_sub(1)?),
        b'[' => print_of_array(cursor, depth.checked_sub(1)?),
        b't' | b'f' | b'n' => Some(joined(b't', xxh3_64(cursor.scalar()?.as_bytes()), 0)),
        _ => Some(joined(b'0', print_of_number(cursor.scalar()?)?, 0)),
    }
}

fn print_of_string(cursor: &Cursor<'_>, body: Body) -> Option<u64> {
    let text = cursor.text.get(body.from..body.to)?;
    if body.escaped { body_print(text) } else { Some(xxh3_64(text.as_bytes())) }
}

/// Short whole numbers stand as they are; the parser spells the others.
fn print_of_number(value: &str) -> Option<u64> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit()) && value != "-0" {
        return Some(xxh3_64(value.as_bytes()));
    }
    Some(xxh3_64(serde_json::from_str::<serde_json::Value>(value).ok()?.to_string().as_bytes()))
}

fn print_of_object(cursor: &mut Cursor<'_>, depth: usize) -> Option<u64> {
    // A sum does not know the order of its parts.
    let (mut members, mut sum) = (Seen::default(), 0_u64);
    cursor.at += 1;
    cursor.space();
    if cursor.peek() == Some(b'}') {
        cursor.at += 1;
        return Some(joined(b'{', 0, 0));
    }
    loop {
        let key = cursor.key()?;
        let key = print_of_string(cursor, key)?;
        let member = joined(b':', key, print_of_value(cursor, depth)?);
        sum = sum.wrapping_add(member).wrapping_sub(members.enter(key, member).unwrap_or(0));
        match cursor.next()? {
            b',' => cursor.space(),
            b'}' => return Some(joined(b'{', sum, members.len as u64)),
            _ => return None,
        }
    }
}

fn print_of_array(cursor: &mut Cursor<'_>, depth: usize) -> Option<u64> {
    let mut print = 0;
    cursor.at += 1;
    cursor.space();
    if cursor.peek() == Some(b']') {
        cursor.at += 1;
        return Some(joined(b'[', 0, 0));
    }
    loop {
        print = joined(b',', print, print_of_value(cursor, depth)?);
        match cursor.next()? {
            b',' => cursor.space(),
            b']' => return Some(joined(b'[', print, 1)),
            _ => return None,
        }
    }
}

/// The members of an object so far: prints of their keys, and of key and value.
#[derive(Default)]
struct Seen {
    first: [(u64, u64); 8],
    more: Vec<(u64, u64)>,
    len: usize,
}

impl Seen {
    /// Enters a member, and gives the one whose place it takes: of members with one key the last counts.
    fn enter(&mut self, key: u64, member: u64) -> Option<u64> {
        let first = &mut self.first[..self.len.min(8)];
        if let Some((_, before)) = first.iter_mut().chain(&mut self.more).find(|(other, _)| *other == key) {
            return Some(std::mem::replace(before, member));
        }
        match self.first.get_mut(self.len) {
            Some(place) => *place = (key, member),
            None => self.more.push((key, member)),
        }
        self.len += 1;
        None
    }
}

/// The print of two prints that stand together in some way: a product that keeps its upper half, as in wyhash.
fn joined(way: u8, one: u64, other: u64) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = |one: u64, other: u64| {
        let product = u128::from(one) * u128::from(other);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let (low, high) = (product as u64, (product >> 64) as u64);
        low ^ high
    };
    let seeded = mixed(one ^ ODD, ODD.rotate_left(u32::from(way)) ^ u64::from(way));
    mixed(seeded.wrapping_add(ODD), other ^ ODD.rotate_left(17)) ^ seeded.rotate_left(32)
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
/// character. Not behind `end`, where it may be any byte.
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

/// The lowest high bit that is set stands in the first byte of `word` (the lowest one) that is special. From Mycroft's
/// test for a zero byte: a borrow can only mislead above the first hit.
#[inline]
fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (is(b'"') | is(b'\\') | below(word, 0x20)) & HIGH
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20)
}

/// Without a way out of the loop many are looked at at once.
fn has_controls(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |found, byte| found | u8::from(*byte < 0x20)) > 0
}

/// What is between the quotes of a string.
#[derive(Clone, Copy)]
struct Body {
    from: usize,
    to: usize,
    /// Has it an escape?
    escaped: bool,
}

/// A place in a text. Every method moves behind what it finds, or gives `None`.
struct Cursor<'t> {
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
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.space();
        self.at == self.bytes.len()
    }

    /// Passes over white space and the byte behind it, which it returns.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        self.space();
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Passes over a value that begins here.
    fn pass(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' => self.members(depth.checked_sub(1)?, |_, _| ()),
            b'[' => self.elements(depth.checked_sub(1)?, |_| ()),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    /// Passes over a word or a number and returns it.
    fn scalar(&mut self) -> Option<&'t str> {
        let from = self.at;
        self.pass(0)?;
        self.text.get(from..self.at)
    }

    /// Passes over the object that begins here. `each` is given the places of every key and value.
    #[inline]
    fn members(&mut self, depth: usize, mut each: impl FnMut(Body, Range<usize>)) -> Option<()> {
        if self.peek() != Some(b'{') {
            return None;
        }
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Some(());
        }
        loop {
            let key = self.key()?;
            let from = self.at;
            self.pass(depth)?;
            each(key, from..self.at);
            match self.next()? {
                b',' => self.space(),
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Passes over a key, its colon, and the white space behind it.
    #[inline]
    fn key(&mut self) -> Option<Body> {
        let key = self.string()?;
        if self.next() != Some(b':') {
            return None;
        }
        self.space();
        Some(key)
    }

    /// Passes over the array that begins here. `each` is given the place of every element.
    #[inline]
    fn elements(&mut self, depth: usize, mut each: impl FnMut(Range<usize>)) -> Option<()> {
        if self.peek() != Some(b'[') {
            return None;
        }
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Some(());
        }
        loop {
            let from = self.at;
            self.pass(depth)?;
            each(from..self.at);
            match self.next()? {
                b',' => self.space(),
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Passes over the string that begins here.
    #[inline]
    fn string(&mut self) -> Option<Body> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let from = self.at + 1;
        // Most strings are short, and no search is worth setting up.
        let near = special_until(self.bytes, from, from + SHORT);
        let (to, escaped) = match self.bytes.get(near)? {
            b'"' => (near, false),
            _ => self.far_end(near)?,
        };
        self.at = to + 1;
        Some(Body { from, to, escaped })
    }

    /// Where a string ends of which all is plain before `from`, and whether it has an escape.
    fn far_end(&self, from: usize) -> Option<(usize, bool)> {
        let mut to = from;
        let mut escaped = false;
        loop {
            to += memchr::memchr2(b'"', b'\\', self.bytes.get(to..)?)?;
            if self.bytes[to] == b'"' {
                let plain = !has_controls(&self.bytes[from..to]);
                return plain.then_some((to, escaped));
            }
            escaped = true;
            to = behind_escape(self.bytes, to + 1)?;
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let there = self.bytes.get(self.at..)?.starts_with(word);
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
    #[inline]
    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > from).then_some(())
    }
}

/// Behind what follows a backslash, which is at `at`.
#[inline]
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
        object(text, &mut |key, value| {
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
        fn a_text_has_one_print_however_it_is_spelled(text in "([a-zé/\u{0}-\u{1f}\u{7f}]|\\\\[\"\\\\/bfnrtu]){0,40}") {
            let Ok(parsed) = serde_json::from_str::<String>(&format!("\"{text}\"")) else { return Ok(()) };
            let written = serde_json::to_string(&parsed).unwrap();
            prop_assert!(!is_shortest(&text) || written == format!("\"{text}\""), "{}", text);
            let print = text_print(&parsed);
            prop_assert_eq!((body_print(&text), body_print(&written[1..written.len() - 1])), (Some(print), Some(print)));
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
