//! Escapes text from recordings before it is shown to people.
//!
//! Ids, texts, tool names and file names come from recordings and can contain anything: escape sequences that change
//! what a terminal shows, marks that reverse the direction of writing, line feeds that start a line resembling one of
//! ours. [`one_line`], [`lines`] and [`json`] escape such characters (`\u{1b}`). They are called where text leaves the
//! program (the message printer, the table renderer, the figures), so that no caller can forget it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// True if the character must not reach a terminal unescaped: control characters (C0, DEL, C1), marks that change the
/// direction of writing, line and paragraph separators, and zero-width characters that only hide something. Joiners and
/// variation selectors are allowed: words of many languages and emoji need them.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text on one line, with hostile characters, line feeds and tabs escaped (`\n`, `\u{1b}`).
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hostile, |c, out| out.extend(c.escape_default()))
}

/// Text of several lines: like [`one_line`], but line feeds are kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_hostile(c), |c, out| out.extend(c.escape_default()))
}

/// JSON text in which hostile characters inside strings are written as `\u` escapes; it parses to the same value.
pub fn json(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |c| c >= '\u{7f}' && is_hostile(c),
        |c, out| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let Some(first) = text.find(&is_escaped) else { return Cow::Borrowed(text) };
    let (before, rest) = text.split_at(first);
    let mut out = before.to_owned();
    for c in rest.chars() {
        if is_escaped(c) { escape(c, &mut out) } else { out.push(c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_hostile_character_is_shown_and_no_other_is_changed() {
        let all: String = (0..=0x0010_ffff).filter_map(char::from_u32).collect();
        assert!(!one_line(&all).chars().any(is_hostile));
        assert!(!lines(&all).chars().any(|c| c != '\n' && is_hostile(c)));
        for fine in ["call_result.streak >= 3 — “naïve”", "日本語 עברית العربية", "👩‍🔬 क्‍ष", "\\n"]
        {
            assert_eq!(one_line(fine), fine);
        }
        assert_eq!(one_line("a\x1b[31m\n\u{202e}b\u{9b}"), "a\\u{1b}[31m\\n\\u{202e}b\\u{9b}");
    }

    #[test]
    fn json_reads_back_as_the_same_value() {
        let text: String = (0..=0xf_ffff).filter_map(char::from_u32).filter(|c| is_hostile(*c)).collect();
        let value = serde_json::Value::from(text);
        let written = value.to_string();
        let shown = json(&written);
        assert!(!shown.chars().any(is_hostile));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
