//! Commands that only ask how they are used.

use crate::words::CommandWord;

/// Programs whose `-h` at the end is no question.
const TAKES_H: [&str; 11] =
    ["kill", "shutdown", "halt", "poweroff", "chown", "chgrp", "touch", "echo", "printf", "test", "["];

/// Options whose value may look like a question.
const WITH_TEXT: [&str; 9] = ["-m", "--message", "--title", "-t", "--body", "-b", "--notes", "-n", "-F"];

/// True for a command that only asks how it is used: `git push --help`, `npm publish -h`, `mvn -version`.
pub(super) fn only_asks(program: &str, rest: &[CommandWord]) -> bool {
    if has_long_question(rest) {
        return true;
    }
    let Some((last, before)) = rest.split_last() else { return false };
    if rest.iter().all(|word| matches!(word.text.as_str(), "--version" | "-V" | "-version")) {
        return true;
    }
    if TAKES_H.contains(&program) {
        return false;
    }
    match last.text.as_str() {
        "/?" => true,
        "version" | "-v" | "help" => before.is_empty(),
        "-h" => before.len() <= 3 && before.iter().all(is_subcommand),
        _ => false,
    }
}

/// True for `--help` before any `--`, unless it is the value of an option such as `-m`.
fn has_long_question(rest: &[CommandWord]) -> bool {
    let mut previous = "";
    for word in rest {
        match word.text.as_str() {
            "--" => return false,
            "--help" | "-help" | "--usage" if !WITH_TEXT.contains(&previous) => return true,
            text => previous = text,
        }
    }
    false
}

fn is_subcommand(word: &CommandWord) -> bool {
    word.text.starts_with(|c: char| c.is_ascii_lowercase()) && !word.varies
}
