//! How wide lines may be, and where they are broken.

use std::borrow::Cow;
use std::io::{self, IsTerminal};

use crate::diagnostic;

/// Whether stdout is a terminal, where a person reads it.
pub(in crate::cli) fn is_seen() -> bool {
    io::stdout().is_terminal()
}

/// The terminal's width, at least 40; 80 if it is unknown, and wide enough not to wrap when piped.
pub(in crate::cli) fn width() -> u16 {
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(width), _)) if is_seen() => width.max(40),
        _ if is_seen() => 80,
        _ => 200,
    }
}

/// How long a line of text may be: 80 columns, or the terminal's width if it is narrower.
pub(in crate::cli) fn line_width() -> usize {
    usize::from(width()).min(80)
}

/// Wraps sentences between words.
pub(in crate::cli) fn wrapped(text: &str) -> String {
    // Names come from recordings: none of them may begin a line.
    broken(&diagnostic::one_line(text), 0, 0, line_width()).join("\n")
}

/// The text in lines of at most `width` columns, broken between words, but not between a number and its `%`. The first line
/// is indented by `first` columns, the others by `others`.
pub(in crate::cli) fn broken(text: &str, first: usize, others: usize, width: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        match words.next_if(|next| next.starts_with('%')) {
            Some(unit) => parts.push(format!("{word} {unit}")),
            None => parts.push(word.to_owned()),
        }
    }
    filled(parts.iter().map(String::as_str), &" ".repeat(first), others, width)
}

/// The parts of a text in lines of at most `width` columns. The first line begins with `mark`, the others with `others`
/// blanks.
pub(in crate::cli) fn filled<'t>(
    parts: impl Iterator<Item = &'t str>,
    mark: &str,
    others: usize,
    width: usize,
) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut is_begun) = (mark.to_owned(), false);
    for part in parts {
        if is_begun && line.chars().count() + 1 + part.chars().count() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(others)));
        } else if is_begun {
            line.push(' ');
        }
        line += part;
        is_begun = true;
    }
    lines.push(line);
    lines
}

/// The text with lines broken between words where they are wider than `width`; what follows of a line stands two columns
/// further in than it begins.
pub(super) fn folded(text: &str, width: usize) -> Cow<'_, str> {
    if text.lines().all(|line| line.chars().count() <= width) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<String> = text.split('\n').map(|line| folded_line(line, width)).collect();
    Cow::Owned(lines.join("\n"))
}

fn folded_line(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let words = line.trim_start_matches(' ');
    let indent = (line.len() - words.len()).min(width / 2);
    broken(words, indent, indent + 2, width).join("\n")
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn only_lines_that_are_too_wide_are_broken_and_no_word_is_lost() {
        let text = "short\n  odd: three words here\nlonger-than-the-width\n";
        assert_eq!(folded(text, 40), text);
        assert_eq!(folded(text, 14), "short\n  odd: three\n    words here\nlonger-than-the-width\n");
        assert_eq!(folded("it saves at most 12 %, sure to 95 %", 18), "it saves at most\n  12 %, sure to\n  95 %");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for width in 1..30 {
            assert_eq!(words(&folded(text, width)), words(text), "at {width}");
        }
    }
}
