//! Shortens raw output for a prompt: repeated lines are folded, and the middle of long output is cut out.

use super::trim;

/// Runs of at least this many equal lines are folded.
pub const FOLD_FROM: usize = 3;
/// Texts with more code points than this are cut to their two ends.
pub const MAX_CHARS: usize = 16_000;

/// Folds runs of equal lines, then cuts the middle out of a text that is still too long. Later tests do not see words
/// in the part that was cut.
pub fn observation(raw: &str) -> String {
    cut(&fold(raw))
}

/// Replaces each run of three or more equal lines with one line that says how often it occurred. Surrounding white
/// space is dropped first; lines are compared exactly, including indentation.
pub fn fold(raw: &str) -> String {
    let lines: Vec<&str> = trim(raw).split('\n').collect();
    let folded = lines.chunk_by(|left, right| left == right).flat_map(|run| match run {
        [line, ..] if run.len() >= FOLD_FROM => vec![format!("<{} (repeated {} times)>", trim(line), run.len())],
        few => few.iter().map(|line| (*line).to_owned()).collect(),
    });
    folded.collect::<Vec<_>>().join("\n")
}

fn cut(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_CHARS {
        return text.to_owned();
    }
    let half = MAX_CHARS / 2;
    let place = |nth: usize| text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (&text[..place(half)], &text[place(length - half)..]);
    let omitted = length - MAX_CHARS;
    format!("{head}\n\n... [TRUNCATED: {omitted} characters omitted to prevent context overflow] ...\n\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_equal_lines_become_one() {
        assert_eq!(observation("\na\na\na\nb\nb\n"), "<a (repeated 3 times)>\nb\nb");
        assert_eq!(observation("a\n\n\n\nb"), "a\n< (repeated 3 times)>\nb");
        assert_eq!(observation(" x\n  x\n  x\n  x"), "x\n<x (repeated 3 times)>");
        assert_eq!(observation(""), "");
    }

    #[test]
    fn the_middle_of_a_long_text_is_cut_by_code_points() {
        let long = format!("{}验{}", "头".repeat(8_000), "尾".repeat(8_000));
        let cut = observation(&long);
        assert!(cut.contains("[TRUNCATED: 1 characters") && !cut.contains('验'));
        assert_eq!(cut.matches('头').count(), 8_000);
    }
}
