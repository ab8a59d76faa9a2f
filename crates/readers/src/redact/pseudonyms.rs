//! What stands for the texts, numbers and names of one run: the order in which they first occur.
//!
//! An ordinal tells what is equal within the run and nothing else: unlike a hash, no guess can be held against it.

use std::collections::{HashMap, HashSet};

use super::words;
use crate::text::marks::{self, Marks};
use crate::transcript::{Name, Run, TOLD_COMMAND, Text, is_public_name, placeholder};

/// Ordinals given to what one run says. Only asked for one entry at a time, so hash order reaches nothing.
#[derive(Debug, Default)]
pub(super) struct Pseudonyms {
    texts: HashMap<String, usize>,
    plain: HashMap<&'static str, HashMap<String, usize>>,
    spellings: HashMap<(&'static str, usize), HashMap<String, usize>>,
    /// Names of calls that are the first word of a text: a person or a model wrote them, and no program has them.
    told: HashSet<String>,
    /// The run says that its texts are taken out already. That is believed of no text: one that has the very form of a
    /// placeholder keeps the length it tells, and any other becomes a placeholder.
    claims_placeholders: bool,
}

impl Pseudonyms {
    /// Nothing is known of `run` yet but which names of calls are words of a text.
    pub(super) fn of(run: &Run) -> Self {
        let messages = run.events().iter().filter_map(|event| event.message());
        let calls = messages.flat_map(|message| &message.tool_calls);
        let told = calls.filter(|call| {
            let arguments = call.arguments.as_str();
            let command = serde_json::from_str::<String>(&arguments);
            // An argument list that is no JSON is a text, too.
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

    /// The placeholder of a text; white space stands for itself.
    pub(super) fn text(&mut self, text: &Text) -> Text {
        let text = text.as_str();
        if text.trim().is_empty() || marks::is_command(&text) {
            return Text::plain(&*text);
        }
        Text::plain(self.placeholder(&text))
    }

    /// The placeholder of a text that is not blank: which, how long, and which published phrases it holds.
    pub(super) fn placeholder(&mut self, text: &str) -> String {
        let marks = marks::of(text);
        let claimed = placeholder::parts_of(text).filter(|(nth, bytes)| {
            self.claims_placeholders && marked(&placeholder::write(*nth, *bytes), &marks) == text
        });
        let bytes = claimed.map_or(text.len(), |(_, bytes)| bytes);
        marked(&placeholder::write(self.nth_text(text), bytes), &marks)
    }

    /// Which text this is, from 1.
    pub(super) fn nth_text(&mut self, text: &str) -> usize {
        nth(&mut self.texts, text)
    }

    /// What stands for one of a kind (`call-3`); the empty name stands for itself.
    pub(super) fn plain(&mut self, kind: &'static str, name: &str) -> Name {
        if name.is_empty() { "".into() } else { format!("{kind}-{}", self.nth(kind, name)).into() }
    }

    /// A name that looks like one of a program stays; anything else gets a plain one, and so does what looks like that.
    pub(super) fn name(&mut self, kind: &'static str, name: &str) -> Name {
        if is_public_name(name) && !is_plain(kind, name) { name.into() } else { self.plain(kind, name) }
    }

    /// The name of a tool. One that is a word of a text stays only if it is a command that everybody uses.
    pub(super) fn tool(&mut self, name: &str) -> Name {
        if is_plain(TOLD_COMMAND, name) || (self.told.contains(name) && !words::is_command(name)) {
            return self.plain(TOLD_COMMAND, name);
        }
        self.name("tool", name)
    }

    /// A word that stays if `is_published`.
    pub(super) fn word(&mut self, kind: &'static str, word: &str, is_published: fn(&str) -> bool) -> Name {
        if is_published(word) { word.into() } else { self.plain(kind, word) }
    }

    /// Which one of its kind this is, from 1.
    pub(super) fn nth(&mut self, kind: &'static str, name: &str) -> usize {
        nth(self.plain.entry(kind).or_default(), name)
    }

    /// Which spelling of the `nth` of its kind this is, from 0: rules that compare byte for byte tell `1.0` from `1.00`.
    pub(super) fn spelling(&mut self, kind: &'static str, nth: usize, written: &str) -> usize {
        let known = self.spellings.entry((kind, nth)).or_default();
        if let Some(nth) = known.get(written) {
            return *nth;
        }
        let nth = known.len();
        known.insert(written.to_owned(), nth);
        nth
    }
}

/// A placeholder with the text's marks where tests look for them: one a line; those of the closing paragraph in a paragraph
/// of their own; and an end that nothing can trim off the last of them.
fn marked(placeholder: &str, marks: &Marks) -> String {
    let leading = marks.leading.map(|mark| format!("{mark}\n")).unwrap_or_default();
    if marks.anywhere.is_empty() {
        return format!("{leading}{placeholder}");
    }
    let closing: Vec<&str> =
        ["\n[closing]"].into_iter().chain(marks.closing.iter().copied()).chain(["[end]"]).collect();
    format!("{leading}{placeholder}\n{}\n{}", marks.anywhere.join("\n"), closing.join("\n"))
}

fn nth(known: &mut HashMap<String, usize>, name: &str) -> usize {
    if let Some(nth) = known.get(name) {
        return *nth;
    }
    let nth = known.len() + 1;
    known.insert(name.to_owned(), nth);
    nth
}

/// Does the name look as if it stood for another: `tool-3`?
pub(super) fn is_plain(kind: &str, name: &str) -> bool {
    name.strip_prefix(kind)
        .and_then(|rest| rest.strip_prefix('-'))
        .is_some_and(|nth| !nth.is_empty() && nth.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A name that is the same in every recording: 128 bits of a hash of the kind and the name (BLAKE3), keyed with the
/// salt. Without a salt whoever guesses a name can see whether the guess is right.
pub(super) fn hashed(salt: &str, kind: &str, name: &str) -> String {
    const CONTEXT: &str = "whenstop 2026-11-22 ids of redacted recordings";
    let named = format!("{kind}\0{name}");
    let hash = blake3::keyed_hash(&blake3::derive_key(CONTEXT, salt.as_bytes()), named.as_bytes());
    let [high, low] = [&hash.as_bytes()[..8], &hash.as_bytes()[8..16]]
        .map(|half| half.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)));
    format!("{kind}-{high:016x}{low:016x}")
}
