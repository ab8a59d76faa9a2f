//! Placeholders for texts in a redacted run: `[text 3, 412 bytes]`.

/// The kind of the note that replaces a judge's reply.
pub const JUDGE_TAKEN_OUT: &str = "redacted.judge";

/// The kind of the note that replaces a task plan.
pub const PLAN_TAKEN_OUT: &str = "redacted.plan";

/// The prefix of the name given to a tool whose real name was the first word of a text: `command-3`.
pub const TOLD_COMMAND: &str = "command";

/// The placeholder for text number `nth` of a run, which was `bytes` long.
pub fn write(nth: usize, bytes: usize) -> String {
    format!("[text {nth}, {bytes} bytes]")
}

/// The length in bytes of the original text; `None` if `text` contains no placeholder.
pub fn bytes_of(text: &str) -> Option<usize> {
    parts_of(text).map(|(_, bytes)| bytes)
}

/// The number and length in bytes of the original text; `None` if `text` contains no placeholder.
pub fn parts_of(text: &str) -> Option<(usize, usize)> {
    let (nth, rest) = text.split_once("[text ")?.1.split_once(", ")?;
    Some((nth.parse().ok()?, rest.split_once(" bytes]")?.0.parse().ok()?))
}

/// True if `name` looks like an identifier (a tool, a parameter, a status) rather than something said: at most 64 ASCII
/// letters, digits and the signs common in identifiers; no spaces, paths or addresses.
pub fn is_public_name(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:+".contains(&byte);
    name.len() <= 64 && name.bytes().all(is_fit)
}

/// True if the name looks like the replacement of one: `tool-3`.
pub fn is_replacement(kind: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(kind) else { return false };
    let Some(nth) = rest.strip_prefix('-') else { return false };
    !nth.is_empty() && nth.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_read_back() {
        assert_eq!(bytes_of(&write(3, 412)), Some(412));
        assert_eq!(bytes_of(&format!("echo\n{}\nError", write(3, 412))), Some(412));
        assert_eq!(bytes_of("[text 3, many bytes]"), None);
    }

    #[test]
    fn names_of_programs_are_no_sentences_paths_or_addresses() {
        for name in ["bash", "mcp__files__read", "claude-3.7-sonnet:beta", "", "retail"] {
            assert!(is_public_name(name), "{name}");
        }
        for said in ["/home/ann/x", "ann@example.com", "rm -rf x", "naïve", "../x", "a;b"] {
            assert!(!is_public_name(said), "{said}");
        }
    }
}
