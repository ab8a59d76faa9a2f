//! Replaces the texts, numbers and names of one run by the ordinal of their first occurrence.
//!
//! An ordinal shows only what is equal within the run. Unlike a hash, it cannot be used to test a guess.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::words;
use crate::text::marks::{self, Marks};
use crate::transcript::{Name, Run, TOLD_COMMAND, Text, is_public_name, is_replacement, messages, placeholder};

/// The ordinals assigned in one run. The maps are only looked up by key, so their hash order never shows.
#[derive(Debug, Default)]
pub(super) struct Pseudonyms {
    texts: HashMap<String, usize>,
    plain: HashMap<&'static str, HashMap<String, usize>>,
    spellings: HashMap<(&'static str, usize), HashMap<String, usize>>,
    /// Names of calls that are the first word of a text. A person or a model wrote them, so they may not be program
    /// names.
    told: HashSet<String>,
    /// True if the run claims that its texts are redacted. This is not trusted: a text with the exact form of a
    /// placeholder keeps the length it states; any other text becomes a placeholder.
    claims_placeholders: bool,
}

impl Pseudonyms {
    /// Starts for `run`, with only the names of calls that are words of a text collected.
    pub(super) fn from_run(run: &Run) -> Self {
        let messages = messages(run.events());
        let calls = messages.flat_map(|message| &message.tool_calls);
        let told = calls.filter(|call| {
            let arguments = call.arguments.as_str();
            let command = serde_json::from_str::<String>(&arguments);
            // Arguments that are not JSON are text too.
            let text = match &command {
                Ok(text) => text.as_str(),
                Err(_) if arguments.trim_start().starts_with(['{', '[']) => return false,
                Err(_) => &arguments,
            };
            text.split_whitespace().next() == Some(&*call.name)
        });
        let told = told.map(|call| call.name.to_string()).collect();
        Self { told, claims_placeholders: run.header.redacted, ..Self::default() }
    }

    /// The placeholder of a text. Blank texts and published commands stay as they are.
    pub(super) fn text(&mut self, text: &Text) -> Text {
        if text.is_not_recorded() {
            return Text::default();
        }
        let text = text.as_str();
        if text.trim().is_empty() || marks::is_command(&text) {
            return Text::plain(&*text);
        }
        Text::plain(self.placeholder(&text))
    }

    /// The placeholder of a text that is not blank: its number, its length, and the published phrases it contains.
    pub(super) fn placeholder(&mut self, text: &str) -> String {
        let marks = marks::marks_in(text);
        let claimed = placeholder::parts_of(text).filter(|(nth, bytes)| {
            self.claims_placeholders && marked(&placeholder::write(*nth, *bytes), &marks) == text
        });
        let bytes = claimed.map_or(text.len(), |(_, bytes)| bytes);
        marked(&placeholder::write(self.nth_text(text), bytes), &marks)
    }

    /// The number of this text, from 1.
    pub(super) fn nth_text(&mut self, text: &str) -> usize {
        nth(&mut self.texts, text)
    }

    /// The replacement for a name of a kind (`call-3`); an empty name stays empty.
    pub(super) fn plain(&mut self, kind: &'static str, name: &str) -> Name {
        if name.is_empty() { "".into() } else { format!("{kind}-{}", self.nth(kind, name)).into() }
    }

    /// Keeps a name that looks like an identifier, unless it looks like a replacement. Any other name is replaced.
    pub(super) fn name(&mut self, kind: &'static str, name: &str) -> Name {
        if is_public_name(name) && !is_replacement(kind, name) { name.into() } else { self.plain(kind, name) }
    }

    /// The name of a tool. If it is the first word of a text, it is kept only if it is a common command.
    pub(super) fn tool(&mut self, name: &str) -> Name {
        if is_replacement(TOLD_COMMAND, name) || (self.told.contains(name) && !words::is_command(name)) {
            return self.plain(TOLD_COMMAND, name);
        }
        self.name("tool", name)
    }

    /// Keeps the word if `is_published`, else replaces it.
    pub(super) fn word(&mut self, kind: &'static str, word: &str, is_published: fn(&str) -> bool) -> Name {
        if is_published(word) { word.into() } else { self.plain(kind, word) }
    }

    /// The number of this name within its kind, from 1.
    pub(super) fn nth(&mut self, kind: &'static str, name: &str) -> usize {
        nth(self.plain.entry(kind).or_default(), name)
    }

    /// The number of this spelling of item number `item`, from 0: rules that compare byte for byte distinguish `1.0` from
    /// `1.00`.
    pub(super) fn spelling(&mut self, kind: &'static str, item: usize, written: &str) -> usize {
        nth(self.spellings.entry((kind, item)).or_default(), written) - 1
    }
}

/// The placeholder followed by the text's marks, placed where tests look for them: one per line, those of the closing
/// paragraph in a paragraph of their own, and an end marker so that trimming cannot remove part of the last mark.
fn marked(placeholder: &str, marks: &Marks) -> String {
    let leading = marks.leading.map(|mark| format!("{mark}\n")).unwrap_or_default();
    if marks.anywhere.is_empty() {
        return format!("{leading}{placeholder}");
    }
    let closing: Vec<&str> =
        ["\n[closing]"].into_iter().chain(marks.closing.iter().copied()).chain(["[end]"]).collect();
    format!("{leading}{placeholder}\n{}\n{}", marks.anywhere.join("\n"), closing.join("\n"))
}

/// The number of this name among those that are known, from 1; a new one is added.
fn nth(known: &mut HashMap<String, usize>, name: &str) -> usize {
    if let Some(nth) = known.get(name) {
        return *nth;
    }
    let nth = known.len() + 1;
    known.insert(name.to_owned(), nth);
    nth
}

/// A name that is the same in every recording: 128 bits of an HMAC-SHA256 of kind and name, keyed with the salt. With an
/// empty salt, anybody can test a guess of the name.
pub(super) fn hashed(salt: &str, kind: &str, name: &str) -> String {
    const CONTEXT: &str = "whenstop 2026-11-22 ids of redacted recordings";
    let mut mac = Hmac::<Sha256>::new_from_slice(salt.as_bytes()).expect("keys have any length");
    mac.update(format!("{CONTEXT}\0{kind}\0{name}").as_bytes());
    let mut hashed = format!("{kind}-");
    for byte in mac.finalize().into_bytes().iter().take(16) {
        // Writing to a string cannot fail.
        let _ = write!(hashed, "{byte:02x}");
    }
    hashed
}
