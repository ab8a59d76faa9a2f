//! Escapes foreign text for Markdown, so that it stays text whatever it contains.

use std::borrow::Cow;

use crate::diagnostic::{is_hostile, one_line};

/// Escapes text for a table cell: nothing in it is markup, ends the cell, or is HTML.
///
/// A site makes a link or a mention of bare text too: such text is shown as code.
pub(super) fn cell(text: &str) -> String {
    if is_linked(text) {
        return code(&text.replace('|', "\\u{7c}").replace('<', "\\u{3c}"));
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '|' | '*' | '[' | ']' => out.extend(['\\', c]),
            // A cell is one line, and reads better with a space than with an escape.
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_hostile(c) => {
                out.push_str(&c.escape_default().to_string().replace('\\', "\\\\"));
            }
            c => out.push(c),
        }
    }
    out
}

/// Whether a site makes a link or a mention of the bare text.
fn is_linked(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["@", "://", "www.", "#"].iter().any(|sign| lower.contains(sign))
}

/// Escapes a sentence of ours with names in backticks: they stay code, and nothing else in it is markup, a link or a
/// mention, or begins a line.
pub fn prose(sentence: &str) -> String {
    let sentence = one_line(sentence);
    let parts: Vec<&str> = sentence.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // A name has a backtick of its own.
        return code(&sentence);
    }
    let shown = parts.iter().enumerate().map(|(nth, part)| if nth % 2 == 1 { code(part) } else { plain(part) });
    shown.collect()
}

/// Sentences as a list.
pub fn bullets(sentences: &[String]) -> String {
    sentences.iter().fold(String::new(), |text, sentence| text + "- " + &prose(sentence) + "\n")
}

/// What stands between the names of a sentence.
fn plain(text: &str) -> String {
    if is_linked(text) {
        return format!(" {} ", code(text.trim())).replace("  ", " ");
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let begins = rest.peek().is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(*next));
        match c {
            '<' if begins => out.push_str("&lt;"),
            '\\' | '*' | '[' | ']' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Formats a name as code, fenced by more backticks than it contains in a row.
pub fn code(name: &str) -> String {
    let name = one_line(name);
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let blank = if name.starts_with('`') || name.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{name}{blank}{fence}")
}

/// Sanitises a page that is ours except for names in it: no HTML starts in it, and no control character remains.
pub fn page(text: &str) -> String {
    let text: Cow<'_, str> = crate::diagnostic::lines(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let begins = after.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
        out.push_str(if begins { "&lt;" } else { "<" });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_cell_is_markup() {
        assert_eq!(
            cell("a|b `c` <b>\nd\\ ![x](y) *z* &lt;"),
            "a\\|b \\`c\\` &lt;b> d\\\\ !\\[x\\](y) \\*z\\* &amp;lt;"
        );
        assert_eq!(cell("call_result.streak >= 3"), "call_result.streak >= 3");
        assert_eq!(cell("\x1b[2J"), "\\\\u{1b}\\[2J");
    }

    #[test]
    fn a_sentence_keeps_its_names_and_nothing_foreign_acts() {
        assert_eq!(prose("`a b` is gone: 1 < 2, *x*"), "`a b` is gone: 1 < 2, \\*x\\*");
        assert_eq!(prose("`a` ![x](y) <img> `b`"), "`a` !\\[x\\](y) &lt;img> `b`");
        assert_eq!(prose("`a` see http://e `b`"), "`a` `see http://e` `b`");
        assert_eq!(prose("x` @all\n::stop::"), "``x` @all\\n::stop::``");
    }

    #[test]
    fn a_name_ends_no_code_and_a_page_holds_no_html() {
        assert_eq!(code("loop"), "`loop`");
        assert_eq!(code("a``b`"), "``` a``b` ```");
        assert_eq!(code("a\nb"), "`a\\nb`");
        assert_eq!(page("1 < 2 <b> </b> <!-- \u{202e}\n"), "1 < 2 &lt;b> &lt;/b> &lt;!-- \\u{202e}\n");
    }
}
