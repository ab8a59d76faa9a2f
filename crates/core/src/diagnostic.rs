//! The one shape of an error message: what, where, how to fix.

use std::fmt;

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

    /// The message as it is shown, over up to three lines.
    pub fn render(&self, severity: Severity) -> String {
        let word = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut lines = vec![format!("{word}: {}", self.what)];
        if !self.at.path.is_empty() {
            lines.push(format!("  --> {}", self.at));
        }
        if !self.help.is_empty() {
            lines.push(format!("   = help: {}", self.help));
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
