//! The words of a command: options, their values, operands.

use super::super::code;
use super::super::shell::Word;

/// The words after the options. The options in `with_value` are followed by a value of their own.
pub(crate) fn after_options<'w>(words: &'w [Word], with_value: &[&str]) -> &'w [Word] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.text == "--" {
            return &words[at + 1..];
        }
        if !word.text.starts_with('-') || word.text == "-" {
            break;
        }
        at += if with_value.contains(&word.text.as_str()) { 2 } else { 1 };
    }
    words.get(at..).unwrap_or_default()
}

/// The first words of a command, for an explanation.
pub(crate) fn spelled(words: &[Word], most: usize) -> String {
    let first: Vec<&str> = words.iter().take(most).map(|word| word.text.as_str()).collect();
    code::shortened(&first.join(" "))
}

/// True if one of `flags` is among the words. A short flag may be part of a group (`-rf`).
pub(crate) fn has(words: &[Word], flags: &[&str]) -> bool {
    words.iter().take_while(|word| word.text != "--").any(|word| {
        let text = word.text.as_str();
        flags.iter().any(|flag| {
            text == *flag
                || (flag.starts_with("--") && text.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
                || (flag.len() == 2
                    && text.starts_with('-')
                    && !text.starts_with("--")
                    && text[1..].chars().all(|c| c.is_ascii_alphabetic())
                    && text[1..].contains(&flag[1..]))
        })
    })
}

/// The words that are not options.
pub(crate) fn operands(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().filter(|word| !word.text.starts_with('-'))
}

/// The words after the program, joined as a shell would read them.
pub(crate) fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// The value of an option that names an output file.
pub(crate) fn has_output(words: &[Word], options: &[&str]) -> Option<String> {
    let next = words.windows(2).find(|pair| options.contains(&pair[0].text.as_str())).map(|pair| pair[1].text.clone());
    next.or_else(|| {
        words.iter().find_map(|word| {
            let (name, value) = word.text.split_once('=')?;
            options.contains(&name).then(|| value.to_owned())
        })
    })
}
