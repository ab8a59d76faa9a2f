//! Phrase lists: the first phrase a text contains.

/// The first of `phrases` that the lower-cased `text` contains (full Unicode lower case, so the Kelvin sign is a k).
/// The phrases must be lower-case. Nothing else is normalised: a double space or a curly apostrophe does not match.
pub fn first_phrase<'p>(text: &str, phrases: &[&'p str]) -> Option<&'p str> {
    let lowered = text.to_lowercase();
    phrases.iter().copied().find(|phrase| lowered.contains(phrase))
}
