//! The one shape of an error message: what, where, how to fix; and how text from recordings is shown to people.
//!
//! Ids, texts, tool names and file names come from recordings, so they can hold anything: escape sequences that rewrite
//! what a terminal shows, marks that turn the direction of writing around, line feeds that begin a line which looks like
//! one of ours. [`one_line`], [`lines`] and [`json`] write such characters as escapes (`\u{1b}`). They are applied where
//! text leaves the program (the message printer, the table renderer, the figures), so that no caller has to remember it.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// A place in a file. Lines and columns count from 1; 0 means the place is not known that exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The path, as the user gave it (an archive member as `archive.zip!member`).
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
}

impl Location {
    /// A whole file.
    pub fn file(path: impl Into<String>) -> Self {
        Self { path: path.into(), line: 0, column: 0 }
    }

    /// A line of a file.
    pub fn line(path: impl Into<String>, line: usize) -> Self {
        Self { path: path.into(), line, column: 0 }
    }

    /// The line and column of byte `offset` of `text`.
    pub fn in_text(path: impl Into<String>, text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1) + 1;
        Self { path: path.into(), line, column }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        Ok(())
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something was lost or refused.
    Error,
    /// Something was repaired, left out, or looks wrong.
    Warning,
}

/// A message to a person: what is wrong, where, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Where.
    pub at: Location,
    /// What: a lower-case fragment without a full stop, the offending value in backticks.
    pub what: String,
    /// How to fix it.
    pub help: String,
}

impl Diagnostic {
    /// A new message.
    pub fn new(at: Location, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { at, what: what.into(), help: help.into() }
    }

    /// The message as it is shown, over up to three lines. Line feeds within a part are shown as escapes: a file name
    /// cannot begin a line of its own.
    pub fn render(&self, severity: Severity) -> String {
        let word = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut lines = vec![format!("{word}: {}", one_line(&self.what))];
        if !self.at.path.is_empty() {
            lines.push(format!("  --> {}", one_line(&self.at.to_string())));
        }
        if !self.help.is_empty() {
            lines.push(format!("   = help: {}", one_line(&self.help)));
        }
        lines.join("\n")
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.at.path.is_empty() {
            write!(f, " ({})", self.at)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// The nearest of `known` to `name`, if one is near enough to be what was meant.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().max(name.len()) / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Must this character not reach a terminal as it is? Control characters (C0, DEL, C1), marks that change the direction
/// of writing, line and paragraph separators, and characters without any width of their own that only hide something.
/// Joiners and variation selectors stay: words of many languages and emoji are made of them.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text on one line: hostile characters, line feeds and tabs included, as escapes (`\n`, `\u{1b}`).
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hostile, |c, out| out.extend(c.escape_default()))
}

/// Lines of text: as [`one_line`], but line feeds stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_hostile(c), |c, out| out.extend(c.escape_default()))
}

/// JSON text with the hostile characters that JSON allows in a string as `\u` escapes: it reads back as the same value.
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

    #[test]
    fn a_message_keeps_its_three_lines_whatever_it_names() {
        let message = Diagnostic::new(Location::file("a\nerror: b\x1b[2J"), "no `x\ny`", "try\nagain");
        let shown = message.render(Severity::Error);
        assert_eq!(shown.lines().count(), 3, "{shown}");
        assert!(!shown.contains('\x1b'));
    }
}
