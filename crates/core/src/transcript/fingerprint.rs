//! Fingerprints of texts and calls, and the definition of when two calls are the same.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::json_text;
use xxhash_rust::xxh3::xxh3_64;

/// A 64-bit fingerprint. Equal texts have equal fingerprints on every machine. Collisions within one run are negligible
/// (probability 2^-64 per pair).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Fingerprint of a text. It is computed over the text's JSON spelling, so that an escaped string in a file can be
    /// compared without decoding it.
    pub fn from_text(text: &str) -> Self {
        Self(json_text::text_print(text))
    }

    /// The fingerprint of a text, given as the inside of a JSON string literal; equals [`Self::from_text`] of the
    /// decoded text.
    pub(super) fn from_json_body(body: &str) -> Option<Self> {
        json_text::body_print(body).map(Fingerprint)
    }

    /// Fingerprint of a list of fingerprints, in order.
    pub fn from_list(parts: impl IntoIterator<Item = Fingerprint>) -> Self {
        let (n, print) = parts.into_iter().fold((0, 0), |(n, print), part| (n + 1, json_text::mixed(print, part.0)));
        Self(json_text::mixed(print, n))
    }

    /// Fingerprint of a call under `identity`.
    pub fn from_call(identity: &Identity, name: &str, arguments: &str) -> Self {
        match identity {
            Identity::Name => Self::from_text(name),
            Identity::Raw => Self::from_pair(name, arguments),
            Identity::Canonical => Self::from_canonical_call(name, arguments),
            Identity::Fields(fields) => {
                let chosen = match super::json_value(arguments) {
                    Some(Value::Object(map)) => {
                        let mut chosen = serde_json::Map::new();
                        for field in fields {
                            if let Some(value) = map.get(field) {
                                chosen.insert(field.clone(), value.clone());
                            }
                        }
                        Value::Object(chosen)
                    }
                    _ => Value::String(arguments.to_owned()),
                };
                Self::from_pair(name, &canonical_json(&chosen))
            }
        }
    }

    /// The fingerprint of something that was not recorded: the `nth` part of the run's event `index`. It equals no
    /// other.
    pub(super) fn unknown(index: usize, nth: usize) -> Self {
        Self::from_list([xxh3_64(b"not recorded"), index as u64, nth as u64].map(Fingerprint))
    }

    pub(super) fn from_canonical_call(name: &str, arguments: &str) -> Self {
        match json_text::canonical_print(arguments) {
            Some(print) => Self::from_list([Self::from_text(name), Self(print)]),
            None => Self::from_pair(name, arguments),
        }
    }

    /// Fingerprint of two texts, compared byte for byte.
    fn from_pair(name: &str, arguments: &str) -> Self {
        Self::from_list([name, arguments].map(|text| Self(xxh3_64(text.as_bytes()))))
    }

    /// This fingerprint mixed with a secret number. Fingerprints mixed with the same number are equal if and only if
    /// they were equal before; those mixed with different numbers cannot be compared.
    #[must_use]
    pub fn salted(self, salt: u64) -> Self {
        Self(json_text::mixed(salt, self.0))
    }
}

/// A fingerprint that is computed when it is first asked for. Threads that ask at once compute the same.
#[derive(Default)]
pub(super) struct CachedPrint(AtomicU64);

impl CachedPrint {
    /// Stands for a fingerprint that has not been computed. One that is equal to it is computed each time.
    const UNKNOWN: u64 = 0;

    /// The fingerprint, if it has been computed.
    pub(super) fn get(&self) -> Option<Fingerprint> {
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => None,
            print => Some(Fingerprint(print)),
        }
    }

    /// The fingerprint, computed if it has not been before.
    pub(super) fn get_or_compute(&self, compute: impl FnOnce() -> Fingerprint) -> Fingerprint {
        self.get().unwrap_or_else(|| {
            let print = compute();
            self.0.store(print.0, Ordering::Relaxed);
            print
        })
    }
}

impl From<Fingerprint> for CachedPrint {
    fn from(print: Fingerprint) -> Self {
        // What is given is known, and nothing is left to compute it from.
        Self(AtomicU64::new(print.0.max(Self::UNKNOWN + 1)))
    }
}

impl Clone for CachedPrint {
    fn clone(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }
}

impl fmt::Debug for CachedPrint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// What makes two calls equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Identity {
    /// The tool's name only.
    Name,
    /// Name and arguments as written, byte for byte.
    Raw,
    /// Name and arguments as JSON: key order and white space do not matter. Arguments that are not JSON are compared as
    /// written.
    #[default]
    Canonical,
    /// Name and the listed top-level fields of the arguments.
    Fields(Vec<String>),
}

/// JSON text with keys sorted at every level and no insignificant white space. Numbers keep their form: 1 and 1.0
/// differ.
pub fn canonical_json(value: &Value) -> String {
    serde_json::to_string(&Canonical(value)).expect("a JSON value can be written as JSON")
}

/// A value that is serialised with sorted keys.
struct Canonical<'v>(&'v Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                serializer.collect_map(entries.into_iter().map(|(key, inner)| (key, Canonical(inner))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Canonical)),
            other => other.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Text;

    #[test]
    fn identity_decides_what_is_the_same_call() {
        let (a, b) = (r#"{"path":"x","n":1}"#, r#"{ "n": 1, "path": "x" }"#);
        let print = |identity: &Identity, arguments| Fingerprint::from_call(identity, "read", arguments);
        assert_eq!(print(&Identity::Canonical, a), print(&Identity::Canonical, b));
        assert_ne!(print(&Identity::Raw, a), print(&Identity::Raw, b));
        assert_eq!(print(&Identity::Name, a), print(&Identity::Name, "{}"));
        let by_path = Identity::Fields(vec!["path".into()]);
        assert_eq!(print(&by_path, a), print(&by_path, r#"{"path":"x","n":2}"#));
        assert_ne!(print(&by_path, a), print(&by_path, r#"{"path":"y","n":1}"#));
    }

    #[test]
    fn a_text_is_the_same_however_it_is_spelled() {
        for (body, text) in
            [(r"a\nb", "a\nb"), (r#"\"\\"#, "\"\\"), ("é", "é"), (r"\u0001\u00e9\/", "\u{1}é/"), ("", "")]
        {
            assert_eq!(Text::from_json_body(body).print(), Fingerprint::from_text(text), "{body}");
            assert_eq!(Text::plain(text).print(), Fingerprint::from_text(text), "{body}");
        }
        assert_ne!(Fingerprint::from_text("\n"), Fingerprint::from_text("\\n"));
    }

    #[test]
    fn a_list_is_known_by_its_parts_and_their_order() {
        let prints = |numbers: &[u64]| Fingerprint::from_list(numbers.iter().copied().map(Fingerprint));
        let lists: [&[u64]; 8] = [&[], &[0], &[0, 0], &[1], &[1, 2], &[2, 1], &[1, 2, 0], &[u64::MAX]];
        let all: std::collections::BTreeSet<_> = lists.iter().map(|list| prints(list)).collect();
        assert_eq!(all.len(), lists.len());
    }

    #[test]
    fn a_name_cannot_run_into_the_arguments() {
        assert_ne!(
            Fingerprint::from_call(&Identity::Raw, "ab", "c"),
            Fingerprint::from_call(&Identity::Raw, "a", "bc")
        );
    }
}
