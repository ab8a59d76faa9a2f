//! Whether a shell command passes, for the few whose status needs no shell.

use crate::conformance::CaseError;

/// Does `command` end with status 0?
///
/// # Errors
/// A command that something would have to be run for is not answered.
pub(super) fn passes(command: &str) -> Result<bool, CaseError> {
    let unknown = || CaseError::NotApplicable(format!("the answer depends on running `{command}`"));
    let mut passed = true;
    // Commands are taken from left to right: `&&` and `||` bind alike.
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
                Status::Passed(done) => passed = done,
                Status::Ended(done) => return Ok(done),
            }
        }
        if after.is_empty() {
            return Ok(passed);
        }
        let known = ["&&", "||", ";"].into_iter().find(|known| after.starts_with(known)).ok_or_else(unknown)?;
        joint = known;
        rest = after.get(known.len()..).unwrap_or_default();
        if rest.trim().is_empty() {
            // A trailing `;` ends the list; a trailing `&&` does not parse.
            return if joint == ";" { Ok(passed) } else { Ok(false) };
        }
    }
}

/// What a simple command comes to.
enum Status {
    /// It passed, or not, and the next one follows.
    Passed(bool),
    /// The shell ended with it.
    Ended(bool),
}

fn status(simple: &str) -> Option<Status> {
    let words: Vec<&str> = simple.split_whitespace().collect();
    Some(match words.as_slice() {
        ["!", rest @ ..] => match status(&rest.join(" "))? {
            Status::Passed(passed) => Status::Passed(!passed),
            ended @ Status::Ended(_) => ended,
        },
        ["true" | ":"] => Status::Passed(true),
        ["false"] => Status::Passed(false),
        ["exit", status] => Status::Ended(status.parse::<u32>().ok()? % 256 == 0),
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
