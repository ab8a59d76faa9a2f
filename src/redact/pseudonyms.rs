//! What stands for the texts, numbers and names of one run: the order in which they first occur.
//!
//! An ordinal tells what is equal within the run and nothing else: unlike a hash, no guess can be held against it.

use std::collections::HashMap;

use crate::text::marks::{self, Marks};
use crate::transcript::{Name, Text, is_public_name, placeholder};

/// Ordinals given to what one run says. Only asked for one entry at a time, so hash order reaches nothing.
#[derive(Debug, Default)]
pub(super) struct Pseudonyms {
    texts: HashMap<String, usize>,
    plain: HashMap<&'static str, HashMap<String, usize>>,
    spellings: HashMap<(&'static str, usize), HashMap<String, usize>>,
}

impl Pseudonyms {
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
        let nth = self.nth_text(text);
        marked(&placeholder::write(nth, text.len()), &marks::of(text))
    }

    /// Which text this is, from 1.
    pub(super) fn nth_text(&mut self, text: &str) -> usize {
        nth(&mut self.texts, text)
    }

    /// What stands for one of a kind (`call-3`); the empty name stands for itself.
    pub(super) fn plain(&mut self, kind: &'static str, name: &str) -> Name {
        if name.is_empty() { "".into() } else { format!("{kind}-{}", self.nth(kind, name)).into() }
    }

    /// A name that looks like one of a program stays; anything else gets a plain one.
    pub(super) fn name(&mut self, kind: &'static str, name: &str) -> Name {
        if is_public_name(name) { name.into() } else { self.plain(kind, name) }
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

/// A name that is the same in every recording: a hash of the salt and the name.
pub(super) fn hashed(salt: &str, kind: &str, name: &str) -> String {
    let print = xxhash_rust::xxh3::xxh3_64(format!("{salt}\0{kind}\0{name}").as_bytes());
    format!("{kind}-{print:016x}")
}
