//! Programs passed to `sed` and `awk` on the command line.

/// The command by which a `sed` script writes a file or runs a command (`w FILE`, `s///w FILE`, `e`); `None` if there
/// is none.
pub(super) fn sed_writes(script: &str) -> Option<&'static str> {
    let mut rest = script.chars().peekable();
    while let Some(command) = rest.next() {
        match command {
            // An address: `/regex/`, or `\cregexc`.
            '/' => skip_until(&mut rest, '/'),
            '\\' => {
                if let Some(delimiter) = rest.next() {
                    skip_until(&mut rest, delimiter);
                }
            }
            's' | 'y' => {
                let delimiter = rest.next()?;
                skip_until(&mut rest, delimiter);
                skip_until(&mut rest, delimiter);
                while let Some(&flag) = rest.peek() {
                    match flag {
                        'w' => return Some("w"),
                        'e' => return Some("e"),
                        'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {
                            rest.next();
                        }
                        _ => break,
                    }
                }
            }
            // Text up to the end of the line; a backslash at its end continues the line.
            'a' | 'i' | 'c' => {
                let mut escaped = false;
                for character in rest.by_ref() {
                    if character == '\n' && !escaped {
                        break;
                    }
                    escaped = character == '\\' && !escaped;
                }
            }
            '#' | 'r' | 'R' | 'b' | 't' | 'T' | ':' => {
                for character in rest.by_ref() {
                    if character == '\n' || (character == ';' && !matches!(command, '#' | 'r' | 'R')) {
                        break;
                    }
                }
            }
            'w' | 'W' => return Some("w"),
            'e' => return Some("e"),
            _ => {}
        }
    }
    None
}

/// Skips past the next `delimiter` that is neither escaped nor in brackets.
fn skip_until(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, delimiter: char) {
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
pub(super) enum Awk {
    /// It only prints.
    Prints,
    /// It prints to a file, named if the name is a constant.
    Writes(Option<String>),
    /// It starts a command.
    Starts,
}

/// Classifies an `awk` program: `print > "f"` writes, `$1 > 5` compares.
pub(super) fn awk(program: &str) -> Awk {
    let characters: Vec<char> = program.chars().collect();
    let (mut at, mut printing, mut depth) = (0, false, 0_u32);
    let mut found = Awk::Prints;
    while at < characters.len() {
        match characters[at] {
            '"' => at = end_of(&characters, at, '"'),
            // A regular expression can only stand where a value may begin.
            '/' if begins_value(&characters[..at]) => at = end_of(&characters, at, '/'),
            '#' => {
                while at < characters.len() && characters[at] != '\n' {
                    at += 1;
                }
                printing = false;
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' | '}' | '{' | '\n' => (printing, depth) = (false, 0),
            '>' if printing && depth == 0 => {
                let after = characters[at + 1..].iter().position(|c| !matches!(c, '>' | ' ' | '\t'));
                let from = after.map_or(characters.len(), |after| at + 1 + after);
                let name = (characters.get(from) == Some(&'"'))
                    .then(|| characters[from + 1..].iter().take_while(|c| **c != '"').collect::<String>());
                if !name.as_deref().is_some_and(super::path::is_sink) {
                    return Awk::Writes(name);
                }
            }
            '|' if printing && depth == 0 && characters.get(at + 1) != Some(&'|') => found = Awk::Starts,
            '|' if characters.get(at + 1) == Some(&'|') => at += 1,
            c if c.is_ascii_alphabetic() || c == '_' => {
                let from = at;
                while at + 1 < characters.len()
                    && (characters[at + 1].is_ascii_alphanumeric() || characters[at + 1] == '_')
                {
                    at += 1;
                }
                let word: String = characters[from..=at].iter().collect();
                match word.as_str() {
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

/// The index of the closing delimiter, or the last index.
fn end_of(characters: &[char], from: usize, delimiter: char) -> usize {
    let mut at = from + 1;
    while at < characters.len() && characters[at] != delimiter {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    at.min(characters.len())
}

/// True if the text after `before` begins a value rather than an operator.
fn begins_value(before: &[char]) -> bool {
    let last = before.iter().rev().find(|c| !c.is_whitespace());
    last.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, ')' | ']' | '_' | '$' | '"')))
}
