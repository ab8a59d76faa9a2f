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
    let width = line_width();
    let (mut lines, mut line) = (String::new(), String::new());
    // Names come from recordings: none of them may begin a line.
    for word in diagnostic::one_line(text).split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines += &line;
            lines.push('\n');
            line.clear();
        } else if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines + &line
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
    let (mut out, mut at) = (" ".repeat(indent), indent);
    for (nth, word) in words.split(' ').enumerate() {
        let n = word.chars().count();
        if nth > 0 && at + 1 + n > width {
            out += "\n";
            out += &" ".repeat(indent + 2);
            at = indent + 2;
        } else if nth > 0 {
            out.push(' ');
            at += 1;
        }
        out += word;
        at += n;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn only_lines_that_are_too_wide_are_broken_and_no_word_is_lost() {
        let text = "short\n  odd: three words here\nlonger-than-the-width\n";
        assert_eq!(folded(text, 40), text);
        assert_eq!(folded(text, 14), "short\n  odd: three\n    words here\nlonger-than-the-width\n");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for width in 1..30 {
            assert_eq!(words(&folded(text, width)), words(text), "at {width}");
        }
    }
}
