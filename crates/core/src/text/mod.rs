//! Tests of texts, one per file: phrase lists, closing paragraph, tags. All are pure functions of strings. And lists of
//! words, which are written as texts.

pub mod benchmark;
pub mod closing_paragraph;
pub mod completion_words;
pub mod conclusion_tag;
pub mod experiment_tag;
pub mod failure;
pub mod marks;
pub mod observation;
pub mod phrases;
pub mod provider_error;
pub mod user_request;

use crate::transcript::named;

pub use closing_paragraph::closing_paragraph;

/// A published wording of the phrase lists, which are those of the MIRA auto mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wording {
    /// Release 0.2: long lists, searched in the whole text.
    V02,
    /// Release 0.3: short lists; requests and soft signals are searched only in the closing paragraph.
    V03,
    /// After 0.3: as 0.3, and the provider's error text counts as a failure.
    Later,
}

impl Wording {
    /// The part of a text that is searched, if no other is chosen.
    fn window(self) -> TextPart {
        match self {
            Self::V02 => TextPart::Whole,
            Self::V03 | Self::Later => TextPart::Closing,
        }
    }
}

named! {
    /// The part of a text that is read.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum TextPart {
        /// All of it.
        #[default]
        Whole = "whole",
        /// The closing paragraph.
        Closing = "closing",
    }
}

impl TextPart {
    /// That part of `text`.
    pub fn within(self, text: &str) -> &str {
        match self {
            Self::Whole => text,
            Self::Closing => closing_paragraph(text),
        }
    }
}

/// The words of a name, in lower case: `createIssue`, `create-issue` and `create_issue` all give the same two.
pub fn words_in(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for character in name.chars() {
        let breaks = !character.is_alphanumeric() || (character.is_uppercase() && was_lower);
        if breaks && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase() || character.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The words of one or more texts, in which each stands apart from the next by one space, as a list made when the program is
/// compiled.
#[doc(hidden)]
#[macro_export]
macro_rules! word_list {
    ($first:literal $(, $next:literal)* $(,)?) => {{
        const WORDS: &str = concat!($first $(, " ", $next)*);
        &$crate::text::split_words::<{ $crate::text::n_words(WORDS) }>(WORDS)
    }};
}
#[doc(hidden)]
pub use word_list;

/// How many words a text has that stand apart by one space.
#[doc(hidden)]
pub const fn n_words(text: &str) -> usize {
    let (mut n, mut at) = (1, 0);
    while at < text.len() {
        if text.as_bytes()[at] == b' ' {
            n += 1;
        }
        at += 1;
    }
    n
}

/// The words of a text that stand apart by one space, of which there are `N`.
#[doc(hidden)]
pub const fn split_words<const N: usize>(text: &str) -> [&str; N] {
    let mut words = [""; N];
    let (mut rest, mut n) = (text, 0);
    while n < N {
        let mut end = 0;
        while end < rest.len() && rest.as_bytes()[end] != b' ' {
            end += 1;
        }
        let (word, after) = rest.split_at(end);
        assert!(!word.is_empty(), "words stand apart by one space");
        words[n] = word;
        rest = if after.is_empty() { after } else { after.split_at(1).1 };
        n += 1;
    }
    words
}

/// White space as defined by Python's regular expressions and its `strip`.
fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}
