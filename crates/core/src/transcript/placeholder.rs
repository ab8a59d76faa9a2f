//! What stands in a redacted run for a text: `[text 3, 412 bytes]`.

/// The kind of the note that stands for a judge's reply.
pub const JUDGE_TAKEN_OUT: &str = "redacted.judge";

/// The kind of the note that stands for a task plan.
pub const PLAN_TAKEN_OUT: &str = "redacted.plan";

/// What a tool is called whose name was the first word of a text: `command-3`.
pub const TOLD_COMMAND: &str = "command";

/// The placeholder of the `nth` text of a run, `bytes` long.
pub fn write(nth: usize, bytes: usize) -> String {
    format!("[text {nth}, {bytes} bytes]")
}

/// How long the text was for which `text` stands; `None` where there is no placeholder.
pub fn bytes_of(text: &str) -> Option<usize> {
    parts_of(text).map(|(_, bytes)| bytes)
}

/// Which text it was, and how long, for which `text` stands; `None` where there is no placeholder.
pub fn parts_of(text: &str) -> Option<(usize, usize)> {
    let (nth, rest) = text.split_once("[text ")?.1.split_once(", ")?;
    Some((nth.parse().ok()?, rest.split_once(" bytes]")?.0.parse().ok()?))
}

/// Does it look like the name of a program's part (a tool, a parameter, a status) rather than like something said? Up to 64
/// letters of ASCII, digits, and the signs such names have: no blank, no path, no address.
pub fn is_public_name(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:+".contains(&byte);
    name.len() <= 64 && name.bytes().all(is_fit)
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
