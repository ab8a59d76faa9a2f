//! Whether a shell command succeeds, for the few commands whose status is known without a shell.

use crate::conformance::CaseError;

/// Whether `command` ends with status 0.
///
/// # Errors
/// If the answer would require running something.
pub(super) fn passes(command: &str) -> Result<bool, CaseError> {
    let unknown = || CaseError::NotApplicable(format!("the answer depends on running `{command}`"));
    let mut passed = true;
    // Commands are evaluated from left to right: `&&` and `||` have equal precedence.
    let mut rest = command;
    let mut joint = ";";
    loop {
        let cut = rest.find(['&', '|', ';']).unwrap_or(rest.len());
        let (simple, after) = rest.split_at(cut);
        let is_run = match joint {
            "&&" => passed,
            "||" => !passed,
            _ => true,
        };
        if is_run {
            match status(simple).ok_or_else(unknown)? {
                CommandStatus::Passed(done) => passed = done,
                CommandStatus::Ended(done) => return Ok(done),
            }
        }
        if after.is_empty() {
            return Ok(passed);
        }
        let known = ["&&", "||", ";"].into_iter().find(|known| after.starts_with(known)).ok_or_else(unknown)?;
        joint = known;
        rest = after.get(known.len()..).unwrap_or_default();
        if rest.trim().is_empty() {
            // A trailing `;` ends the list; a trailing `&&` is a syntax error.
            return if joint == ";" { Ok(passed) } else { Ok(false) };
        }
    }
}

/// The effect of a simple command.
enum CommandStatus {
    /// It succeeded or failed, and the next one follows.
    Passed(bool),
    /// The shell exited with this status.
    Ended(bool),
}

fn status(simple: &str) -> Option<CommandStatus> {
    let words: Vec<&str> = simple.split_whitespace().collect();
    Some(match words.as_slice() {
        ["!", rest @ ..] => match status(&rest.join(" "))? {
            CommandStatus::Passed(passed) => CommandStatus::Passed(!passed),
            ended @ CommandStatus::Ended(_) => ended,
        },
        ["true" | ":"] => CommandStatus::Passed(true),
        ["false"] => CommandStatus::Passed(false),
        ["exit", status] => CommandStatus::Ended(status.parse::<u32>().ok()? % 256 == 0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_whose_status_needs_no_shell() {
        let cases = [
            ("true", Some(true)),
            (":", Some(true)),
            ("exit 0", Some(true)),
            ("exit 3", Some(false)),
            ("exit 256", Some(true)),
            ("false || true", Some(true)),
            ("true && false", Some(false)),
            ("! false", Some(true)),
            ("false; exit 0", Some(true)),
            ("pytest -q", None),
            ("true | false", None),
        ];
        for (command, passed) in cases {
            assert_eq!(passes(command).ok(), passed, "{command}");
        }
    }
}
