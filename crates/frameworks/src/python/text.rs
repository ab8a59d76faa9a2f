//! Python's `str` methods.

use std::borrow::Cow;

// What CPython knows of characters (Unicode 14.0.0). `tests/originals/python/unicode_tables.py` wrote the files.

/// Where `str.isprintable()` ends and begins, in turn.
static UNPRINTABLE: &[u32] = &include!("unicode/unprintable.in");
/// Where `str.isalnum()` begins and ends, in turn.
static ALPHANUMERIC: &[u32] = &include!("unicode/alphanumeric.in");
/// The zeros of the decimal digits; each is followed by its one to nine.
static ZEROS: &[u32] = &include!("unicode/zeros.in");

/// Whether `character` is in a range of `borders`, which lists where ranges begin and end in turn.
fn is_within(borders: &[u32], character: char) -> bool {
    borders.partition_point(|border| *border <= u32::from(character)) % 2 == 1
}

/// `text.strip()`: strips Python's white space, which includes the four information separators.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.isspace()` for one character.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// `str.isprintable()` for one character.
pub fn is_printable(character: char) -> bool {
    if character.is_ascii() { (' '..='~').contains(&character) } else { !is_within(UNPRINTABLE, character) }
}

/// `\w` of Python's `re`: `str.isalnum()`, or an underscore.
pub fn is_word(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    is_within(ALPHANUMERIC, character)
}

/// `text.lower()`. Letters added to Unicode after CPython's version stay as they are.
pub fn lower(text: &str) -> String {
    mapped(text, str::to_lowercase)
}

/// `text.upper()`.
pub fn upper(text: &str) -> String {
    mapped(text, str::to_uppercase)
}

/// A caseless stand-in for letters that are not mapped; it also ends a word.
const CASELESS: char = '\u{e000}';

/// Applies `map`, leaving alone all characters that are, or are mapped to, characters unknown to CPython.
fn mapped(text: &str, map: fn(&str) -> String) -> String {
    if text.is_ascii() {
        return map(text);
    }
    let is_unknown = |c: char| !c.is_ascii() && !c.is_control() && !c.is_whitespace() && !is_printable(c);
    let stays = |c: char| {
        c == CASELESS || is_unknown(c) || (!c.is_ascii() && map(c.encode_utf8(&mut [0; 4])).chars().any(is_unknown))
    };
    let mut kept = text.chars().filter(|c| stays(*c));
    let Some(first) = kept.next() else { return map(text) };
    let mut kept = std::iter::once(first).chain(kept);
    let masked: String = text.chars().map(|c| if stays(c) { CASELESS } else { c }).collect();
    map(&masked).chars().map(|c| if c == CASELESS { kept.next().unwrap_or(c) } else { c }).collect()
}

/// The ASCII form of a Unicode decimal digit.
pub fn ascii_digit(character: char) -> Option<char> {
    if character.is_ascii() {
        return Some(character).filter(char::is_ascii_digit);
    }
    let code = u32::from(character);
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let zero = ZEROS.get(after.checked_sub(1)?)?;
    char::from_digit(code - zero, 10)
}

/// The text of a number as `int()` and `float()` read it: without surrounding white space (here not including the
/// information separators), with ASCII digits, and without the underscores between digits; `None` if an underscore is
/// anywhere else.
pub(super) fn numeral(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim_matches(char::is_whitespace);
    let text = if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(|c| ascii_digit(c).unwrap_or(c)).collect::<String>())
    };
    if !text.contains('_') {
        return Some(text);
    }
    let bytes = text.as_bytes();
    let is_digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    for (index, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_') {
        if index == 0 || !is_digit(index - 1) || !is_digit(index + 1) {
            return None;
        }
    }
    Some(Cow::Owned(text.replace('_', "")))
}
