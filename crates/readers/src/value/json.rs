//! Reads single values from raw JSON: undecoded strings, numbers in various spellings, content parts.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json_text::{self, SPACES};
use crate::transcript::{Json, Text, is_dense};

/// A JSON value's source text: from the parser, or a slice that is known to be valid.
pub trait Written<'a>: Copy {
    /// The JSON text.
    fn written(self) -> &'a str;

    /// Notes that the value was read as the `wanted` type, and whether it is of that type.
    fn tried(self, _wanted: &'static str, _fits: bool) {}
}

/// What was read from the value as the `wanted` type.
fn tried<'a, T>(raw: impl Written<'a>, wanted: &'static str, found: Option<T>) -> Option<T> {
    raw.tried(wanted, found.is_some());
    found
}

impl<'a> Written<'a> for &'a RawValue {
    fn written(self) -> &'a str {
        self.get()
    }
}

impl<'a, W: Written<'a>> Written<'a> for &W {
    fn written(self) -> &'a str {
        (*self).written()
    }

    fn tried(self, wanted: &'static str, fits: bool) {
        (*self).tried(wanted, fits);
    }
}

impl<'a> Written<'a> for &'a str {
    fn written(self) -> &'a str {
        self
    }
}

/// The fields of an object, as declared with [`fields!`].
pub(crate) trait DeclaredFields<'a>: Default {
    /// Replaces the fields with those of the object in `text`; an error if it is not an object.
    fn read(&mut self, text: &'a str) -> Result<(), serde_json::Error>;

    /// The fields of the object in `text`.
    fn from_text(text: &'a str) -> Result<Self, serde_json::Error> {
        let mut fields = Self::default();
        fields.read(text)?;
        Ok(fields)
    }
}

/// Declares the fields of an object, unparsed: each is absent, its JSON text, or what its declared type makes of it.
/// `null` counts as absent; of duplicate fields the last one counts.
macro_rules! fields {
    (@type $life:lifetime $inner:ty) => { $inner };
    (@type $life:lifetime) => { &$life str };
    ($(#[$meta:meta])* $visibility:vis struct $name:ident<$life:lifetime> {
        $($field:ident $(: $inner:ty)? = $key:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Default)]
        $visibility struct $name<$life> { $($visibility $field: Option<fields!(@type $life $($inner)?)>,)* }

        impl $name<'_> {
            /// Forgets every field, in place: they take a kilobyte, of which this touches little.
            fn clear(&mut self) {
                $(self.$field = None;)*
            }
        }

        const _: () = {
            use $crate::json_text::{Cursor, Follows, Keys, Object, Value, fill};

            #[expect(non_camel_case_types, reason = "the names of the fields")]
            #[derive(Clone, Copy)]
            enum Field { $($field,)* }
            const FIELDS: &[Field] = &[$(Field::$field,)*];
            static KEYS: Keys<{ FIELDS.len() }> = Keys::new([$(concat!("\"", $key, "\":"),)*]);
            thread_local! {
                static FOLLOWS: Follows = const { Follows::new() };
            }

            impl<$life> Object<$life> for $name<$life> {
                fn fill(&mut self, cursor: &mut Cursor<$life>, depth: usize) -> Option<()> {
                    FOLLOWS.with(|follows| {
                        cursor.fields(depth, &KEYS, follows, |cursor, nth| match FIELDS[nth] {
                            $(Field::$field => cursor.put(depth, &mut self.$field),)*
                        })
                    })
                }
            }

            impl<$life> $crate::value::json::DeclaredFields<$life> for $name<$life> {
                fn read(&mut self, text: &$life str) -> Result<(), serde_json::Error> {
                    self.clear();
                    if fill(self, text) {
                        return Ok(());
                    }
                    self.clear();
                    $crate::value::json::parsed_members(text, |key, value| {
                        let Some(nth) = KEYS.find(key) else { return };
                        let given = value != "null";
                        match FIELDS[nth] {
                            $(Field::$field => self.$field = if given { Some(Value::from_written(value)) } else { None },)*
                        }
                    })
                }
            }
        };
    };
}
pub(crate) use fields;

/// Parses `text` as an object and calls `each` for its members with decoded keys; duplicates are included.
pub(crate) fn parsed_members<'a>(text: &'a str, mut each: impl FnMut(&str, &'a str)) -> Result<(), serde_json::Error> {
    for (key, raw) in serde_json::from_str::<Members<'_>>(text)?.0 {
        each(&key, raw.get());
    }
    Ok(())
}

/// The elements of an array; `None` if it is not one.
pub(crate) fn elements<'a>(raw: impl Written<'a>) -> Option<Vec<&'a str>> {
    let mut elements = Vec::new();
    if json_text::array(raw.written(), |element| elements.push(element)) {
        return tried(raw, "an array", Some(elements));
    }
    let parsed: Option<Vec<&RawValue>> = serde_json::from_str(raw.written()).ok();
    tried(raw, "an array", parsed.map(|parsed| parsed.into_iter().map(RawValue::get).collect()))
}

/// A fully parsed value, for formats whose fields may be anywhere and of any type.
pub(crate) fn value(text: &str) -> Result<serde_json::Value, serde_json::Error> {
    if is_dense(text) { Err(too_many()) } else { serde_json::from_str(text) }
}

/// The error for a value that would need many times the memory of its text.
pub(crate) fn too_many() -> serde_json::Error {
    serde::de::Error::custom("so many and so short values that no recording can mean them")
}

/// A copy that can be kept after the record is gone.
pub(crate) fn kept<'a>(raw: impl Written<'a>) -> Option<Json> {
    tried(raw, "any value", RawValue::from_string(raw.written().to_owned()).ok())
}

/// The content of a string literal, still escaped.
pub(super) fn body<'a>(raw: impl Written<'a>) -> Option<&'a str> {
    raw.written().strip_prefix('"')?.strip_suffix('"')
}

/// A string, decoded.
pub(crate) fn string<'a>(raw: impl Written<'a>) -> Option<Cow<'a, str>> {
    let body = tried(raw, "a string", body(raw))?;
    // Most strings are too short to be worth setting up a search.
    let escaped = if body.len() < 16 { body.bytes().any(|byte| byte == b'\\') } else { body.contains('\\') };
    if !escaped {
        return Some(Cow::Borrowed(body));
    }
    Some(Cow::Owned(Text::from_json_body(body).as_str().into_owned()))
}

/// A string, kept undecoded.
pub(crate) fn text<'a>(raw: impl Written<'a>) -> Option<Text> {
    tried(raw, "a string", body(raw)).map(Text::from_json_body)
}

/// A string, or a number as written.
pub(crate) fn word<'a>(raw: impl Written<'a>) -> Option<String> {
    name(raw).map(Cow::into_owned)
}

/// Like [`word`], borrowed if possible.
pub(crate) fn name<'a>(raw: impl Written<'a>) -> Option<Cow<'a, str>> {
    let written = raw.written();
    let found = match written.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => Some(Cow::Borrowed(written)),
        _ => string(written),
    };
    tried(raw, "a string or a number", found)
}

/// A number; may be written as a string.
pub(crate) fn number<'a>(raw: impl Written<'a>) -> Option<f64> {
    let text = body(raw).unwrap_or(raw.written());
    tried(raw, "a number", text.trim().parse::<f64>().ok().filter(|number| number.is_finite()))
}

/// A whole number, 0 or more.
pub(crate) fn count<'a>(raw: impl Written<'a>) -> Option<u64> {
    if let Ok(count) = raw.written().parse() {
        return tried(raw, "a whole number, 0 or more", Some(count));
    }
    let number = number(raw.written()).filter(|number| *number >= 0.0 && *number < 9e15);
    let number = tried(raw, "a whole number, 0 or more", number)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "just checked to lie in 0..9e15")]
    Some(number.round() as u64)
}

/// True or false.
pub(crate) fn flag<'a>(raw: impl Written<'a>) -> Option<bool> {
    let found = match raw.written() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    };
    tried(raw, "true or false", found)
}

/// The kind of value that a JSON text begins with, in words.
pub(crate) fn kind(text: &str) -> Option<&'static str> {
    match text.trim_start_matches(SPACES).as_bytes().first()? {
        b'{' => Some("an object"),
        b'[' => Some("an array"),
        b'"' => Some("a string"),
        b't' | b'f' => Some("true or false"),
        b'n' => Some("null"),
        b'-' | b'0'..=b'9' => Some("a number"),
        _ => None,
    }
}

/// The members of an object, in order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Members(fields))
            }
        }
        from.deserialize_map(Visitor)
    }
}

/// The fields of an object, in order; `None` if it is not an object.
pub(crate) fn fields_of<'a>(raw: impl Written<'a>) -> Option<Vec<(String, &'a RawValue)>> {
    tried(raw, "an object", serde_json::from_str::<Members<'_>>(raw.written()).ok().map(|fields| fields.0))
}

fields! {
    /// One part of a message's content, in any common spelling.
    struct ContentPart<'a> {
        kind = "type",
        text = "text",
        refusal = "refusal",
        content = "content",
        output = "output",
    }
}

/// The replacement for a part without text: its kind and length for people, and a hash of its JSON, so that two
/// screenshots have the same text only if they are the same screenshot.
pub(crate) fn mark(kind: &str, part: &str) -> String {
    let print = json_text::canonical_print(part).unwrap_or_else(|| xxhash_rust::xxh3::xxh3_64(part.as_bytes()));
    format!("[{kind}, {} bytes, {print:016x}]", part.len())
}

/// The content of a message: a string, or the texts of its parts, joined by line feeds. Images and other data are
/// replaced by a mark with their size. `None` if it is neither.
pub(crate) fn content<'a>(raw: impl Written<'a>) -> Option<Text> {
    content_of(raw, &mut |_, _| ())
}

/// Like [`content`]; `each` is called with the kind and the JSON of every part that has a kind other than `text`.
pub(crate) fn content_of<'a>(raw: impl Written<'a>, each: &mut dyn FnMut(&str, &'a str)) -> Option<Text> {
    tried(raw, "a string or an array of parts", content_within(raw.written(), PARTS, each))
}

/// Limit on parts nested within parts: deeper nesting is not a message, and would need as much stack.
const PARTS: usize = 32;

fn content_within<'a>(raw: &'a str, depth: usize, each: &mut dyn FnMut(&str, &'a str)) -> Option<Text> {
    if let Some(text) = text(raw) {
        return Some(text);
    }
    let depth = depth.checked_sub(1)?;
    let parts: Vec<&str> = match raw.as_bytes().first() {
        Some(b'[') => elements(raw)?,
        Some(b'{') => vec![raw],
        _ => return None,
    };
    let mut texts = Vec::new();
    for part in parts {
        if let Some(plain) = string(part) {
            texts.push(plain.into_owned());
            continue;
        }
        let ContentPart { kind, text, refusal, content: inner, output } = ContentPart::from_text(part).ok()?;
        if let Some(kind) = kind.filter(|kind| *kind != "\"text\"") {
            each(&string(kind)?, part);
        }
        let mut said = [text, refusal, inner, output].into_iter().flatten();
        let said = said.find_map(|inner| content_within(inner, depth, each));
        if let Some(said) = said {
            texts.push(said.as_str().into_owned());
        } else if let Some(kind) = kind
            && let Some(kind) = string(kind)
        {
            if text.is_some() {
                return None;
            }
            if kind != "thinking" && kind != "reasoning" {
                texts.push(mark(&kind, part));
            }
        } else {
            return None;
        }
    }
    Some(match texts.len() {
        1 => Text::plain(texts.remove(0)),
        _ => Text::plain(texts.join("\n")),
    })
}

/// The parser's message without the position it appends.
pub(crate) fn message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    // The name of one of our types would mean nothing to a user.
    match message.split_once("expected struct ") {
        Some((found, _)) => format!("{found}expected an object"),
        None => message.to_owned(),
    }
}

/// True when the backslash at `at` is not itself escaped.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}

/// The code unit of the `\uXXXX` at `at`.
fn unit_at(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u32::from_str_radix(digits, 16).ok()
}

/// The text with every escape that is half of a surrogate pair, which is not valid Unicode, replaced by U+FFFD, and the
/// number of replacements.
pub(crate) fn without_lone_surrogates(text: &str) -> (Cow<'_, str>, usize) {
    let bytes = text.as_bytes();
    let (mut repaired, mut n) = (String::new(), 0);
    let (mut from, mut next) = (0, 0);
    for at in memchr::memmem::find_iter(bytes, b"\\u") {
        // All such escapes begin with `\ud`; most texts have none.
        if !matches!(bytes.get(at + 2), Some(b'd' | b'D')) || at < next || !is_escape(bytes, at) {
            continue;
        }
        match unit_at(text, at) {
            Some(0xD800..=0xDBFF) if matches!(unit_at(text, at + 6), Some(0xDC00..=0xDFFF)) => next = at + 12,
            Some(0xD800..=0xDFFF) => {
                repaired.push_str(&text[from..at]);
                repaired.push_str("\\ufffd");
                (from, n) = (at + 6, n + 1);
            }
            _ => {}
        }
    }
    if n == 0 {
        return (Cow::Borrowed(text), 0);
    }
    repaired.push_str(&text[from..]);
    (Cow::Owned(repaired), n)
}

/// The files changed by a unified diff; `None` if it names none.
pub(crate) fn patched_files(patch: &str) -> Option<Vec<String>> {
    let named = |line: &str| {
        let (old, new) = line.strip_prefix("diff --git a/")?.split_once(" b/")?;
        Some([old.to_owned(), new.to_owned()])
    };
    let files: BTreeSet<String> = patch.lines().filter_map(named).flatten().collect();
    if files.is_empty() { None } else { Some(files.into_iter().collect()) }
}

/// Limit on steps, which are counted in 32 bits. No run has as many.
pub(crate) const STEPS: usize = u32::MAX as usize;

/// Highest plausible cost of one model call, in US dollars. Larger values are not prices, and a few could add up to
/// infinity.
const MOST_DOLLARS: f64 = 1e9;

/// The cost, if it is plausible for a model call.
pub(crate) fn plausible(dollars: f64) -> Option<f64> {
    if (0.0..=MOST_DOLLARS).contains(&dollars) { Some(dollars) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_not() {
        for (text, repaired) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d alone""#, r#""\ufffd alone""#),
            (r#""\ude00\uD83D""#, r#""\ufffd\ufffd""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\ud83d"#, r#""\ufffd"#),
        ] {
            assert_eq!(without_lone_surrogates(text).0, repaired);
        }
    }

    #[test]
    fn content_is_text_or_parts() {
        let content = |json: &str| {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            content(raw).map(|text| text.as_str().into_owned())
        };
        assert_eq!(content(r#""a\nb""#).unwrap(), "a\nb");
        assert_eq!(content(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#).unwrap(), "a\nb");
        let image =
            |data: &str| content(&format!(r#"[{{"type":"image_url","image_url":{{"url":"data:{data}"}}}}]"#)).unwrap();
        assert!(image("x").starts_with("[image_url, 49 bytes, "), "{}", image("x"));
        assert_eq!(image("x"), image("x"));
        assert_ne!(image("x"), image("y"), "as long, and another picture");
        assert_eq!(content("[]").unwrap(), "");
        let nested = |depth: usize| format!("{}\"a\"{}", "{\"content\":".repeat(depth), "}".repeat(depth));
        assert_eq!(content(&nested(9)).unwrap(), "a");
        assert_eq!(content(&nested(20_000)), None);
        assert_eq!(content("3"), None);
    }
}
