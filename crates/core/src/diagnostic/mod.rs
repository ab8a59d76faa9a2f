//! The common form of all error messages (what, where, how to fix it), and suggestions for misspelled names.

mod shown;

use std::fmt;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

#[doc(hidden)]
pub use shown::{is_hostile, json, lines, one_line};

/// A place in a file. Lines and columns count from 1; 0 means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The path as the user gave it (for an archive member, `archive.zip!member`).
    pub path: String,
    /// Line, from 1; 0 if unknown.
    pub line: usize,
    /// Column in bytes, from 1; 0 if unknown.
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

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something was lost or rejected.
    Error,
    /// Something was repaired, skipped, or looks wrong.
    Warning,
}

impl Severity {
    /// The word for it in messages.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// A message to the user: what is wrong, where, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Where it is.
    pub at: Location,
    /// What is wrong: a lower-case fragment without a full stop, with the offending value in backticks.
    pub what: String,
    /// How to fix it.
    pub help: String,
    /// The offending line, if its text is available.
    pub excerpt: Option<Box<Excerpt>>,
}

/// One line of a file with the part to mark; created by [`Diagnostic::in_text`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excerpt {
    line: String,
    /// Byte of the line where the marked part begins.
    from: usize,
    /// Byte of the line where the marked part ends (exclusive); never below `from`.
    to: usize,
}

/// Terminal columns; the excerpt of a longer line is cut to fit.
const COLUMNS: usize = 80;

/// Bytes of a line that are kept at either side of the mark: more than fit on a terminal, and bounded however long the line is.
const KEPT: usize = 1_000;

impl Diagnostic {
    /// A new message.
    pub fn new(at: Location, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { at, what: what.into(), help: help.into(), excerpt: None }
    }

    /// A message about the bytes `span` of `text`. It shows the line on which the span begins, with the span marked.
    pub fn in_text(
        path: impl Into<String>,
        text: &str,
        span: Range<usize>,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let start = text.floor_char_boundary(span.start);
        let before = text.floor_char_boundary(start.saturating_sub(KEPT));
        let after = text.floor_char_boundary(start + KEPT);
        let from = text[before..start].rfind('\n').map_or(before, |at| before + at + 1);
        let end = text[start..after].find('\n').map_or(after, |at| start + at);
        let line = text[from..end].trim_end_matches('\r');
        let to = text.floor_char_boundary(span.end).clamp(start, end);
        let excerpt =
            Excerpt { line: line.to_owned(), from: (start - from).min(line.len()), to: (to - from).min(line.len()) };
        let excerpt = Some(Box::new(excerpt)).filter(|excerpt| !excerpt.line.trim().is_empty());
        Self { at: Location::in_text(path, text, start), what: what.into(), help: help.into(), excerpt }
    }

    /// The message as displayed: what, where with the offending line, how to fix it. Line feeds within a part are
    /// escaped, so that a file name cannot start a new line.
    pub fn render(&self, severity: Severity) -> String {
        let word = severity.name();
        let number = self.at.line.to_string();
        let gutter = number.len().max(2);
        let mut lines = vec![format!("{word}: {}", one_line(&self.what))];
        if !self.at.path.is_empty() {
            lines.push(format!("{:gutter$}--> {}", "", one_line(&self.at.to_string())));
            if let Some(excerpt) = &self.excerpt {
                let (line, marks) = excerpt.fitted(COLUMNS - gutter - 3);
                lines.push(format!("{:gutter$} |", ""));
                lines.push(format!("{number:>gutter$} | {line}"));
                lines.push(format!("{:gutter$} | {marks}", ""));
            }
        }
        if !self.help.is_empty() {
            lines.push(format!("{:gutter$} = help: {}", "", one_line(&self.help)));
        }
        lines.join("\n")
    }
}

impl Excerpt {
    /// The line and the marks below it, both at most `columns` wide. A longer line is cut to the part around the mark.
    fn fitted(&self, columns: usize) -> (String, String) {
        let shown = |c: char| if is_hostile(c) { ' ' } else { c };
        let chars: Vec<(usize, char)> = self.line.trim_end().char_indices().map(|(at, c)| (at, shown(c))).collect();
        let wide = |c: &char| c.width().unwrap_or(1);
        let width = |chars: &[(usize, char)]| chars.iter().map(|(_, c)| wide(c)).sum::<usize>();
        let mut taken = width(&chars);
        let (mut first, mut end) = (0, chars.len());
        let mark = chars.iter().position(|(at, _)| *at >= self.from).unwrap_or(chars.len());
        // Leave room for an ellipsis at either end. Cut the text before the mark first, except for some context.
        while first + CONTEXT < mark && taken > columns.saturating_sub(2) {
            taken -= wide(&chars[first].1);
            first += 1;
        }
        while end > first && taken > columns.saturating_sub(2) {
            end -= 1;
            taken -= wide(&chars[end].1);
        }
        let (before, after) = (if first > 0 { "…" } else { "" }, if end < chars.len() { "…" } else { "" });
        let text: String = chars[first..end].iter().map(|(_, c)| *c).collect();
        let mark = mark.clamp(first, end);
        let marked: Vec<(usize, char)> = chars[mark..end].iter().filter(|(at, _)| *at < self.to).copied().collect();
        let indent = before.chars().count() + width(&chars[first..mark]);
        let marks = format!("{}{}", " ".repeat(indent), "^".repeat(width(&marked).max(1)));
        (format!("{before}{text}{after}"), marks)
    }
}

/// Characters kept before the mark when a long line is cut.
const CONTEXT: usize = 24;

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

/// All errors found in one input, in order of position; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Syntax errors of one file that are told: after so many, a reader mends the first ones and looks again.
    pub const SYNTAX_ERRORS: usize = 20;

    /// The errors found, sorted by position; `None` if there are none.
    pub fn from_list(mut found: Vec<Diagnostic>) -> Option<Self> {
        found.sort_by(|a, b| a.at.cmp(&b.at));
        if found.is_empty() { None } else { Some(Self(found)) }
    }

    /// The first of them.
    pub fn first(&self) -> &Diagnostic {
        self.0.first().expect("never empty: `of` and `from` see to it")
    }

    /// Iterates over all of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first().fmt(f)?;
        match self.0.len() {
            0 | 1 => Ok(()),
            n => write!(f, ", and {} more", n - 1),
        }
    }
}

impl std::error::Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Self(vec![one])
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'d> IntoIterator for &'d Diagnostics {
    type Item = &'d Diagnostic;
    type IntoIter = std::slice::Iter<'d, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A count with its noun: `1 run`, `2 runs`, `0 successes`.
#[doc(hidden)]
pub fn count<N: Copy + fmt::Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    let ending = match noun {
        _ if n == N::from(1) => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{n} {noun}{ending}")
}

/// A suggestion of the name that was probably meant; `otherwise` if none is near.
#[doc(hidden)]
pub fn did_you_mean(near: Option<&str>, otherwise: &str) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise.to_owned(),
    }
}

/// The name in `known` that was probably meant by `name`, if one is near enough. Checks for typing errors first, then
/// for a known name that begins with `name` or has it as a word (`roo` for `roo-code`), then for a known name to which
/// `name` adds something (`steps_max`).
#[doc(hidden)]
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let known: Vec<&str> = known.into_iter().collect();
    let lower = name.to_lowercase();
    let mistyped = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), *candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().max(name.len()) / 4)
        .min();
    if let Some((_, candidate)) = mistyped {
        return Some(candidate);
    }
    let shortest = |fits: &dyn Fn(&str) -> bool| {
        known.iter().copied().filter(|candidate| fits(&candidate.to_lowercase())).min_by_key(|name| (name.len(), *name))
    };
    let words = |text: &str, word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
    let ends = |candidate: &str| candidate.strip_suffix(&lower).is_some_and(|before| before.ends_with('.'));
    let begins = |candidate: &str| lower.len() >= 2 && (candidate.starts_with(&lower) || words(candidate, &lower));
    let added = |candidate: &str| candidate.len() >= 4 && (lower.starts_with(candidate) || words(&lower, candidate));
    shortest(&ends).or_else(|| shortest(&begins)).or_else(|| shortest(&added))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, part: &str) -> String {
        let start = text.find(part).unwrap();
        Diagnostic::in_text("f", text, start..start + part.len(), "w", "h").render(Severity::Error)
    }

    #[test]
    fn the_offending_part_is_marked_in_its_line() {
        assert_eq!(
            shown("a\n\tb = 七, c\n", "c"),
            "error: w\n  --> f:2:11\n   |\n 2 | \u{20}b = 七, c\n   | \u{20}        ^\n   = help: h"
        );
        assert_eq!(shown("abc\ndef", "c\nd").lines().nth(4), Some("   |   ^"));
        // At the end of the file, after its last line, there is no line to show.
        let end = Diagnostic::in_text("f", "abc\n", 4..9, "w", "");
        assert_eq!(end.render(Severity::Warning), "warning: w\n  --> f:2:1");
    }

    #[test]
    fn a_message_keeps_its_three_lines_whatever_it_names() {
        let message = Diagnostic::new(Location::file("a\nerror: b\x1b[2J"), "no `x\ny`", "try\nagain");
        let shown = message.render(Severity::Error);
        assert_eq!(shown.lines().count(), 3, "{shown}");
        assert!(!shown.contains('\x1b'));
    }

    #[test]
    fn a_long_line_is_cut_around_the_mark() {
        let text = format!("{} HERE {}", "x".repeat(200), "y".repeat(200));
        let shown = shown(&text, "HERE");
        assert!(shown.lines().all(|line| line.chars().count() <= COLUMNS), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        let at = lines[3].find("HERE").map(|at| lines[3][..at].chars().count());
        assert_eq!(lines[4].find("^^^^").map(|at| lines[4][..at].chars().count()), at);
        assert!(lines[3].starts_with(" 1 | …x") && lines[3].ends_with("y…"), "{shown}");
        // Of a line without end, no more is kept than can be shown, and the message is the same.
        let endless = format!("{} HERE {}", "x".repeat(2_000_000), "y".repeat(2_000_000));
        let start = endless.find("HERE").unwrap();
        let message = Diagnostic::in_text("f", &endless, start..start + 4, "w", "h");
        assert!(message.excerpt.as_ref().is_some_and(|excerpt| excerpt.line.len() <= 2 * KEPT));
        let shown_lines = message.render(Severity::Error);
        assert_eq!(shown_lines.lines().nth(3), Some(lines[3]));
    }

    #[test]
    fn near_misses_are_typing_errors_beginnings_and_words() {
        let known = ["roo-code", "awaken", "openai-agents", "mini-swe-agent", "tokens.total", "tokens.input", "steps"];
        for (name, meant) in [
            ("roo", Some("roo-code")),
            ("total", Some("tokens.total")),
            ("awakn", Some("awaken")),
            ("Awaken", Some("awaken")),
            ("swe", Some("mini-swe-agent")),
            ("tokens", Some("tokens.input")),
            ("max_steps", Some("steps")),
            ("roo-code-v3", Some("roo-code")),
            ("x", None),
            ("pineapple", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
    }
}
