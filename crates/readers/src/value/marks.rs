//! Texts by which a recording can be judged before it is decoded.

use memchr::memmem::Finder;

/// Several texts to look for.
pub(crate) struct SearchTexts(Vec<Finder<'static>>);

impl SearchTexts {
    pub(crate) fn from_texts(texts: &[&'static str]) -> Self {
        Self(texts.iter().map(|text| Finder::new(*text)).collect())
    }

    /// Whether one of them stands in `text`.
    pub(crate) fn are_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|mark| mark.find(text).is_some())
    }
}
