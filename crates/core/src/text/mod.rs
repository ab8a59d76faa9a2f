//! Tests of a text, one file each: phrase lists, closing paragraph, tags. Pure functions of strings.

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

pub use closing_paragraph::closing_paragraph;

/// Which published wording of the phrase lists is meant. The lists are those of the MIRA auto mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wording {
    /// Release 0.2: long lists, searched in the whole text.
    V02,
    /// Release 0.3: short lists, asks and soft signals searched in the closing paragraph only.
    V03,
    /// After 0.3: as 0.3, and the provider's error counts as a failure.
    Later,
}

/// Which part of a text is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// All of it.
    Whole,
    /// The closing paragraph.
    Closing,
}

impl Window {
    /// The part of `text`.
    pub fn of(self, text: &str) -> &str {
        match self {
            Self::Whole => text,
            Self::Closing => closing_paragraph(text),
        }
    }
}
