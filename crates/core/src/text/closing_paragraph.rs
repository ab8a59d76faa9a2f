//! The closing paragraph of a reply: where a real question to the user, or a real admission of failure, is found.

/// The maximum length of the closing paragraph in code points; its end is kept.
pub const CLOSING_CHARS: usize = 600;

/// The text after the last empty line (`\n\n`), cut to its last 600 code points. Nothing is trimmed: a text that ends
/// with an empty line has an empty closing paragraph, and a line that contains spaces or carriage returns is not empty.
///
/// Source: MIRA 0.3, auto mode.
pub fn closing_paragraph(text: &str) -> &str {
    let block = match text.rsplit_once("\n\n") {
        Some((_, last)) => last,
        None => text,
    };
    let start = block.char_indices().rev().nth(CLOSING_CHARS - 1).map_or(0, |(at, _)| at);
    &block[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_counts_and_of_it_the_last_600_characters() {
        assert_eq!(closing_paragraph("a\n\nb"), "b");
        assert_eq!(closing_paragraph("a\n\n\nb"), "b");
        assert_eq!(closing_paragraph("a\n\n\n"), "");
        assert_eq!(closing_paragraph("a\r\n\r\nb"), "a\r\n\r\nb");
        let long = format!("x{}", "验".repeat(600));
        assert_eq!(closing_paragraph(&long).chars().count(), 600);
        assert!(closing_paragraph(&long).starts_with('验'));
    }
}
