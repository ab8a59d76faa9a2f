//! Text of a transcript, kept as in the file and decoded on demand.
//!
//! Most texts are only compared or measured. A JSON string therefore stays in its escaped form (one copy, no decoding)
//! until its decoded text is needed.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use super::fingerprint::Fingerprint;

/// A text, stored either plain or as the escaped inside of a JSON string; or one that was not recorded.
///
/// The default is a text that was not recorded: it shows as an empty one and equals no text, not even itself.
#[derive(Clone, Default)]
pub struct Text(Spelling);

/// How a text is stored. Every form fits into the 24 bytes of a plain text: a run may have millions.
#[derive(Clone, Default)]
enum Spelling {
    /// Not at all: it was not recorded.
    #[default]
    NotRecorded,
    /// As it is.
    Plain(SmolStr),
    /// As the inside of a JSON string literal with escapes.
    Escaped(Arc<str>),
}

impl Text {
    /// A text stored as it is.
    pub fn plain(text: impl Into<SmolStr>) -> Self {
        Self(Spelling::Plain(text.into()))
    }

    /// A text given as the inside of a JSON string literal: still escaped, without its quotes.
    ///
    /// `body` must come from a JSON parser that accepted the literal. A lone surrogate escape is legal there and
    /// decodes to U+FFFD.
    pub fn from_json_body(body: &str) -> Self {
        let has_escapes = memchr::memchr(b'\\', body.as_bytes()).is_some();
        if has_escapes { Self(Spelling::Escaped(body.into())) } else { Self::plain(body) }
    }

    /// True if the text was not recorded, so that nothing is known of it.
    pub fn is_not_recorded(&self) -> bool {
        matches!(self.0, Spelling::NotRecorded)
    }

    /// As it is stored, escaped or not.
    fn as_stored(&self) -> &str {
        match &self.0 {
            Spelling::NotRecorded => "",
            Spelling::Plain(text) => text,
            Spelling::Escaped(body) => body,
        }
    }

    /// The decoded text.
    pub fn as_str(&self) -> Cow<'_, str> {
        match &self.0 {
            Spelling::Escaped(body) => Cow::Owned(unescape(body)),
            _ => Cow::Borrowed(self.as_stored()),
        }
    }

    /// The fingerprint of the decoded text.
    pub(crate) fn print(&self) -> Fingerprint {
        let as_it_stands = match &self.0 {
            Spelling::Escaped(body) => Fingerprint::from_json_body(body),
            _ => None,
        };
        as_it_stands.unwrap_or_else(|| Fingerprint::from_text(&self.as_str()))
    }

    /// True when the text has no characters.
    pub fn is_empty(&self) -> bool {
        self.as_stored().is_empty()
    }

    /// True when the text is empty or only white space.
    pub fn is_blank(&self) -> bool {
        self.as_str().trim().is_empty()
    }

    /// The stored bytes, escaped or not. Equal bytes mean equal texts, but equal texts can have different bytes.
    pub fn stored(&self) -> &[u8] {
        self.as_stored().as_bytes()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Spelling::NotRecorded, _) | (_, Spelling::NotRecorded) => false,
            (Spelling::Escaped(one), Spelling::Escaped(other)) if one == other => true,
            _ => self.as_str() == other.as_str(),
        }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

/// Decodes the escapes of a JSON string body. Lone surrogates become U+FFFD; a broken escape, which no JSON parser
/// accepts, is kept as it is.
fn unescape(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let Some(kind) = tail.as_bytes().first() else {
            out.push('\\');
            return out;
        };
        let simple = match kind {
            b'n' => Some('\n'),
            b't' => Some('\t'),
            b'r' => Some('\r'),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'"' => Some('"'),
            b'\\' => Some('\\'),
            b'/' => Some('/'),
            _ => None,
        };
        if let Some(character) = simple {
            out.push(character);
            rest = &tail[1..];
        } else if *kind == b'u' {
            rest = push_unicode_escape(&tail[1..], &mut out);
        } else {
            out.push('\\');
            rest = tail;
        }
    }
    out.push_str(rest);
    out
}

/// Decodes the four digits after `\u`, and a second escape if they are a surrogate pair. Returns the remaining text.
fn push_unicode_escape<'t>(tail: &'t str, out: &mut String) -> &'t str {
    let Some(unit) = hex4(tail) else {
        out.push_str("\\u");
        return tail;
    };
    let rest = &tail[4..];
    if let Some(character) = char::from_u32(unit) {
        out.push(character);
        return rest;
    }
    let low = rest.strip_prefix("\\u").and_then(hex4).filter(|low| (0xDC00..0xE000).contains(low));
    if let Some(low) = low.filter(|_| unit < 0xDC00) {
        let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return &rest[6..];
    }
    out.push(char::REPLACEMENT_CHARACTER);
    rest
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text.get(..4)?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_as_json_has_them() {
        let cases = [
            (r"plain", "plain"),
            (r#"a\n\t\"\\\/b"#, "a\n\t\"\\/b"),
            (r"\u00e9\ud83d\ude00", "é😀"),
            (r"\ud83d alone", "\u{fffd} alone"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\u0041", "\u{fffd}A"),
        ];
        for (body, decoded) in cases {
            assert_eq!(Text::from_json_body(body).as_str(), decoded, "{body}");
        }
    }

    #[test]
    fn equality_sees_the_text_not_its_spelling() {
        assert_eq!(Text::from_json_body(r"caf\u00e9"), Text::plain("café"));
        assert_ne!(Text::from_json_body(r"a\n"), Text::plain("a\\n"));
    }

    #[test]
    fn what_was_not_recorded_equals_nothing() {
        let unknown = Text::default();
        assert_ne!(unknown, unknown.clone());
        assert_ne!(unknown, Text::plain(""));
        assert_eq!(unknown.as_str(), "");
        assert_eq!(Text::plain(""), Text::from_json_body(""));
    }
}
