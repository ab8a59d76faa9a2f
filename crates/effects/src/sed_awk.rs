//! Programs passed to `sed` and `awk` on the command line.

use std::iter::Peekable;
use std::str::Chars;

use crate::path;

/// The command by which a `sed` script writes a file or runs a command (`w FILE`, `s///w FILE`, `e`); `None` if there
/// is none.
pub(crate) fn sed_writes(script: &str) -> Option<&'static str> {
    let mut rest = script.chars().peekable();
    while let Some(command) = rest.next() {
        match command {
            // An address: `/regex/`, or `\cregexc`.
            '/' => skip_past(&mut rest, '/'),
            '\\' => {
                if let Some(delimiter) = rest.next() {
                    skip_past(&mut rest, delimiter);
                }
            }
            's' | 'y' => {
                let delimiter = rest.next()?;
                skip_past(&mut rest, delimiter);
                skip_past(&mut rest, delimiter);
                while matches!(rest.peek(), Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9')) {
                    rest.next();
                }
                match rest.peek() {
                    Some('w') => return Some("w"),
                    Some('e') => return Some("e"),
                    _ => {}
                }
            }
            'a' | 'i' | 'c' => skip_text(&mut rest),
            // Their argument ends with the line, and with `;` if it is a label.
            '#' | 'r' | 'R' => skip_line(&mut rest, '\n'),
            'b' | 't' | 'T' | ':' => skip_line(&mut rest, ';'),
            'w' | 'W' => return Some("w"),
            'e' => return Some("e"),
            _ => {}
        }
    }
    None
}

/// Skips text up to the end of the line; a backslash at its end continues the line.
fn skip_text(rest: &mut Peekable<Chars<'_>>) {
    let mut escaped = false;
    for character in rest {
        if character == '\n' && !escaped {
            return;
        }
        escaped = character == '\\' && !escaped;
    }
}

/// Skips past the end of the line, or past `end`.
fn skip_line(rest: &mut Peekable<Chars<'_>>, end: char) {
    for character in rest {
        if character == '\n' || character == end {
            return;
        }
    }
}

/// Skips past the next `delimiter` that is not escaped.
fn skip_past(rest: &mut Peekable<Chars<'_>>, delimiter: char) {
    while let Some(character) = rest.next() {
        if character == '\\' {
            rest.next();
        } else if character == delimiter {
            return;
        }
    }
}

/// What an `awk` program does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Awk {
    /// It only prints.
    Prints,
    /// It prints to a file, named if the name is a constant.
    Writes(Option<String>),
    /// It starts a command.
    Starts,
}

/// Classifies an `awk` program: `print > "f"` writes, `$1 > 5` compares.
pub(crate) fn awk(program: &str) -> Awk {
    let characters: Vec<char> = program.chars().collect();
    let (mut at, mut printing, mut depth) = (0, false, 0_u32);
    let mut found = Awk::Prints;
    while at < characters.len() {
        match characters[at] {
            '"' => at = closing(&characters, at, '"'),
            // A regular expression can only stand where a value may begin.
            '/' if begins_value(&characters[..at]) => at = closing(&characters, at, '/'),
            '#' => {
                at = line_end(&characters, at);
                printing = false;
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' | '}' | '{' | '\n' => (printing, depth) = (false, 0),
            '>' if printing && depth == 0 => {
                let file = file_after(&characters[at + 1..]);
                let is_sink = file.as_ref().is_some_and(|file| path::is_sink(file));
                if !is_sink {
                    return Awk::Writes(file);
                }
            }
            '|' if printing && depth == 0 && characters.get(at + 1) != Some(&'|') => found = Awk::Starts,
            '|' if characters.get(at + 1) == Some(&'|') => at += 1,
            c if c.is_ascii_alphabetic() || c == '_' => {
                let from = at;
                at = name_end(&characters, from);
                let name: String = characters[from..=at].iter().collect();
                match name.as_str() {
                    "print" | "printf" => printing = true,
                    "system" => found = Awk::Starts,
                    _ => {}
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The file after `>`, if its name is a constant.
fn file_after(characters: &[char]) -> Option<String> {
    let mut rest = characters.iter().skip_while(|c| matches!(c, '>' | ' ' | '\t'));
    match rest.next() {
        Some('"') => Some(rest.take_while(|c| **c != '"').collect()),
        _ => None,
    }
}

/// The index of the closing delimiter; the length if there is none.
fn closing(characters: &[char], from: usize, delimiter: char) -> usize {
    let mut at = from + 1;
    while at < characters.len() && characters[at] != delimiter {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    at.min(characters.len())
}

/// The index of the next line end; the length if there is none.
fn line_end(characters: &[char], from: usize) -> usize {
    let mut at = from;
    while at < characters.len() && characters[at] != '\n' {
        at += 1;
    }
    at
}

/// The index of the last character of the name that begins at `from`.
fn name_end(characters: &[char], from: usize) -> usize {
    let mut at = from;
    while at + 1 < characters.len() && (characters[at + 1].is_ascii_alphanumeric() || characters[at + 1] == '_') {
        at += 1;
    }
    at
}

/// True if the text after `before` begins a value rather than an operator.
fn begins_value(before: &[char]) -> bool {
    match before.iter().rev().find(|c| !c.is_whitespace()) {
        Some(last) => !(last.is_alphanumeric() || matches!(last, ')' | ']' | '_' | '$' | '"')),
        None => true,
    }
}
