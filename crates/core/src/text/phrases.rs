//! Phrase lists: the first phrase a text contains.

/// The first of `phrases` that `text` contains once it is lower-cased (full Unicode, so the Kelvin
/// sign is a k). The phrases must be lower-case already. Nothing else is folded: a doubled blank or
/// a curly apostrophe does not match.
pub fn first_phrase<'p>(text: &str, phrases: &[&'p str]) -> Option<&'p str> {
    let lowered = text.to_lowercase();
    phrases.iter().copied().find(|phrase| lowered.contains(phrase))
}
