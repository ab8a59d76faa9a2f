//! A JSON value in a record: its text, its members on demand, and its location. The readers parse JSON through this
//! type.
//!
//! Reading a `Node` never fails: a member that is absent or null is `None`. One of the wrong type is also `None`, and
//! the methods that take the [`Reading`] report it with its location.

mod lenient;
mod values;

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::diagnostic::Diagnostic;
use crate::json_text::{self, trimmed};
use crate::record::reading::{Reading, Record};
use crate::record::{looked_up, usage};
use crate::transcript::{Event, Instant, Json, Name, Note, Text, Usage, Usd};
use crate::value::json::{self, Written, plausible};
use crate::value::time;
pub(crate) use lenient::{Opened, sound};

/// A value as it is written in a record.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    written: &'a str,
    /// The part of the record that findings point to: the value itself, or the string it was decoded from.
    place: &'a str,
    /// The key it stands under, or the key of the array it is an element of; empty if it was not found by a key.
    key: &'a str,
    members: OnceCell<Members<'a>>,
}

/// Members in file order.
type Members<'a> = Vec<(Cow<'a, str>, &'a str)>;

impl<'a> Written<'a> for &Node<'a> {
    fn written(self) -> &'a str {
        self.written
    }

    fn tried(self, wanted: &'static str, fits: bool) {
        looked_up::tried(self.written, self.place, self.key, wanted, fits);
    }
}

/// A member's name, or alternative names in order of preference.
pub(crate) trait MemberNames: Copy {
    /// The names, best first.
    fn names(&self) -> &[&str];
}

impl MemberNames for &str {
    fn names(&self) -> &[&str] {
        std::slice::from_ref(self)
    }
}

impl<const N: usize> MemberNames for [&str; N] {
    fn names(&self) -> &[&str] {
        self
    }
}

impl MemberNames for &[&str] {
    fn names(&self) -> &[&str] {
        self
    }
}

impl<'a> Node<'a> {
    /// A node for a value that is already known to be valid JSON.
    pub(crate) fn from_written(written: impl Written<'a>) -> Self {
        let written = written.written();
        Self { written, place: written, key: "", members: OnceCell::new() }
    }

    /// A node for a value that was moved out of its object, where it stood under `key`.
    pub(crate) fn under_key(key: &'a str, written: &'a str) -> Self {
        Self { key, ..Self::from_written(written) }
    }

    /// The whole record; reported with its location if it is not JSON.
    pub(crate) fn whole(record: &Record<'a>, out: &mut Reading<'_>) -> Option<Self> {
        Self::value(record.text, record, out)
    }

    /// The value in a line or another part of the record; reported with its location if it is not JSON.
    pub(crate) fn value(part: &'a str, record: &Record<'_>, out: &mut Reading<'_>) -> Option<Self> {
        Self::parsed(part, record).map_err(|diagnostic| out.error(diagnostic)).ok()
    }

    /// One line or another part of the record; the error says where and why it is not JSON.
    pub(crate) fn parsed(part: &'a str, record: &Record<'_>) -> Result<Self, Diagnostic> {
        match serde_json::from_str::<&serde_json::value::RawValue>(part) {
            Ok(raw) => Ok(Self::from_written(raw)),
            Err(error) => Err(record.broken(part, &error)),
        }
    }

    /// A node for `decoded`, a text that is encoded in a string at `place` of the record.
    pub(crate) fn inside(decoded: &'a str, place: &'a str) -> Option<Self> {
        let raw: &serde_json::value::RawValue = serde_json::from_str(decoded).ok()?;
        Some(Self { place, ..Self::from_written(raw) })
    }

    /// The JSON text, whatever its type.
    pub(crate) fn written(&self) -> &'a str {
        self.tried(looked_up::ANY, true);
        self.written
    }

    /// The part of the record that findings point to.
    pub(crate) fn place(&self) -> &'a str {
        self.place
    }

    /// A node for a member or an element.
    fn part(&self, key: &'a str, written: &'a str) -> Self {
        let is_decoded = self.place.as_ptr() != self.written.as_ptr();
        let place = if is_decoded { self.place } else { written };
        Self { written, place, key, members: OnceCell::new() }
    }

    /// The same value, to be taken apart by itself: what it was taken apart into goes with this node.
    pub(crate) fn anew(&self) -> Self {
        Self { members: OnceCell::new(), ..*self }
    }

    /// The members in file order; empty if it is not an object.
    pub(crate) fn members(&self) -> &[(Cow<'a, str>, &'a str)] {
        self.tried("an object", self.written.starts_with('{'));
        self.own_members()
    }

    fn own_members(&self) -> &[(Cow<'a, str>, &'a str)] {
        self.members.get_or_init(|| members_of(self.written).unwrap_or_default())
    }

    /// The members as nodes, in file order.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, Self)> {
        self.members().iter().map(|(key, value)| {
            let plain = if let Cow::Borrowed(plain) = key { *plain } else { "" };
            (key.as_ref(), self.part(plain, value))
        })
    }

    /// The first member with one of these names that is not null. Of duplicate members the last one counts.
    pub(crate) fn get(&self, names: impl MemberNames) -> Option<Self> {
        self.tried("an object", self.written.starts_with('{'));
        self.named(&names).map(|(key, value)| self.part(key, value))
    }

    /// Whether it has such a member that is not null.
    pub(crate) fn has(&self, names: impl MemberNames) -> bool {
        self.named(&names).is_some()
    }

    /// The key and the member, whose type the caller checks or which may have any.
    fn taken(&self, names: &impl MemberNames) -> Option<(&'a str, Self)> {
        self.tried("an object", self.written.starts_with('{'));
        let (key, raw) = self.named(names)?;
        let part = self.part(key, raw);
        part.tried(looked_up::ANY, true);
        Some((key, part))
    }

    /// The key, empty if it has escapes, and the value.
    fn named(&self, names: &impl MemberNames) -> Option<(&'a str, &'a str)> {
        for name in names.names() {
            let found = self.own_members().iter().rev().find(|(key, value)| key == name && *value != "null");
            let Some((key, value)) = found else { continue };
            looked_up::used(value);
            return Some((if let Cow::Borrowed(key) = key { *key } else { "" }, *value));
        }
        None
    }

    /// The member reached by following the names in `path`.
    pub(crate) fn at(&self, path: &[&str]) -> Option<Self> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.get(*first)?, |node, name| node.get(*name))
    }

    /// The object with that name; anything else is reported.
    pub(crate) fn object(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Self> {
        let object = |raw: &'a str| if raw.starts_with('{') { Some(raw) } else { None };
        let (key, raw) = self.read(&names, out, "an object", object)?;
        Some(self.part(key, raw))
    }

    /// The elements of the array with that name, empty if it is absent; anything else is reported.
    pub(crate) fn list(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Vec<Self> {
        let (key, elements) = self.read(&names, out, "an array", listed).unwrap_or_default();
        elements.into_iter().map(|element| self.part(key, element)).collect()
    }

    /// The elements if it is an array.
    pub(crate) fn elements(&self) -> Option<Vec<Self>> {
        let elements = if self.written.starts_with('[') { listed(self.written) } else { None };
        self.tried("an array", elements.is_some());
        Some(elements?.into_iter().map(|element| self.part(self.key, element)).collect())
    }

    /// The object in a line or a whole record; anything else is reported with its location and left out.
    pub(crate) fn line(line: &'a str, out: &mut Reading<'_>) -> Option<Self> {
        let members = members_of(line).map_err(|error| out.error(out.record.broken(line, &error))).ok()?;
        Some(Self { members: OnceCell::from(members), ..Self::from_written(trimmed(line)) })
    }

    /// The object with that name, or an empty object; anything else is reported.
    pub(crate) fn under(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Self {
        self.object(names, out).unwrap_or_else(|| Self::from_written("{}"))
    }

    /// Whether it is an object. If not, it is reported as `field`.
    pub(crate) fn expect_object(&self, field: &str, wanted: &str, out: &mut Reading<'_>) -> bool {
        let is_object = self.is_object();
        if !is_object {
            out.wrong_at(self.place, self.written, field, wanted);
        }
        is_object
    }

    fn read<T>(
        &self,
        names: &impl MemberNames,
        out: &mut Reading<'_>,
        wanted: &str,
        read: impl Fn(&'a str) -> Option<T>,
    ) -> Option<(&'a str, T)> {
        let (key, part) = self.taken(names)?;
        let value = read(part.written);
        if value.is_none() {
            out.wrong_at(part.place, part.written, key, wanted);
        }
        Some((key, value?))
    }

    /// A short string, decoded.
    pub(crate) fn string(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Cow<'a, str>> {
        Some(self.read(&names, out, "a string", json::string)?.1)
    }

    /// A name that may be written as a string or as a number.
    pub(crate) fn word(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<String> {
        Some(self.read(&names, out, "a string or a number", json::word)?.1)
    }

    /// The decoded string if it is one.
    pub(crate) fn as_string(&self) -> Option<Cow<'a, str>> {
        json::string(self)
    }

    /// Whether the member with that name is the string `wanted`.
    pub(crate) fn is(&self, name: &str, wanted: &str) -> bool {
        self.some_string(name).as_deref() == Some(wanted)
    }

    /// A long string, kept undecoded.
    pub(crate) fn text(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Text> {
        Some(self.read(&names, out, "a string", json::text)?.1)
    }

    /// The content of a message: a string, or parts whose texts are joined by line feeds.
    pub(crate) fn content(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Text> {
        let (key, part) = self.taken(&names)?;
        out.content(Some(part.written), key)
    }

    /// The arguments of a call: JSON, or a string that holds JSON; empty if absent.
    pub(crate) fn arguments(&self, names: impl MemberNames) -> Text {
        usage::arguments(self.taken(&names).map(|(_, part)| part.written))
    }

    /// A count, 0 or more.
    pub(crate) fn count(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<u64> {
        Some(self.read(&names, out, "a whole number, 0 or more", json::count)?.1)
    }

    /// A count of tokens; see [`Reading::tokens`].
    pub(crate) fn tokens(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<u64> {
        let (key, part) = self.taken(&names)?;
        out.tokens_at(part.place, part.written, key)
    }

    /// An object of token counts; anything else makes them unreadable.
    pub(crate) fn counts(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Self> {
        let (key, part) = self.taken(&names)?;
        if !part.written.starts_with('{') {
            out.unreadable_tokens(part.place, part.written, key, "an object");
            return None;
        }
        Some(part)
    }

    /// A number.
    pub(crate) fn number(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<f64> {
        Some(self.read(&names, out, "a number", json::number)?.1)
    }

    /// The cost of a model call in US dollars.
    pub(crate) fn dollars(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Usd> {
        let dollars = |raw| Some(Usd(plausible(json::number(raw)?)?));
        Some(self.read(&names, out, "dollars, from 0 to a billion", dollars)?.1)
    }

    /// True or false.
    pub(crate) fn flag(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<bool> {
        Some(self.read(&names, out, "true or false", json::flag)?.1)
    }

    /// A time: ISO 8601, or seconds, milliseconds … since 1970.
    pub(crate) fn instant(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Instant> {
        Some(self.read(&names, out, "a time, as in `2026-01-05T10:00:00Z`", time::instant)?.1)
    }

    /// Tokens of one call in any spelling; see [`usage::usage`].
    pub(crate) fn usage(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Usage> {
        usage::usage(self.taken(&names).map(|(_, part)| part.written), out)
    }

    /// A copy that can be kept after the record is gone.
    pub(crate) fn kept(&self) -> Option<Json> {
        json::kept(self)
    }

    /// A note event holding the value, for frameworks whose rules read it.
    pub(crate) fn note(&self, kind: impl Into<Name>) -> Option<Event> {
        self.kept().map(|body| Event::Note(Note { kind: kind.into(), body }))
    }

    /// The values of a record that holds many: the elements of an array, one per line, or concatenated. Invalid values
    /// are reported and left out.
    pub(crate) fn values(record: &Record<'a>, out: &mut Reading<'_>) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        values::values(record, out).into_iter().map(Self::from_written)
    }

    /// The value itself if it is an object; anything else is reported as not being a `thing`.
    pub(crate) fn into_object(self, thing: &str, out: &mut Reading<'_>) -> Option<Self> {
        if self.expect_object(thing, "an object", out) { Some(self) } else { None }
    }
}

impl Default for Node<'_> {
    /// An object without members.
    fn default() -> Self {
        Self::from_written("{}")
    }
}

/// Up to this many members or elements, their length is not checked …
const FEW: usize = 1024;
/// … and beyond that, they must average at least this many bytes: shorter ones would need many times the memory of the
/// text.
const LEAST_BYTES: usize = 8;

/// The members of the object in the text, or the parse error. Refuses objects with so many and so short members that
/// they cannot be a recording.
fn members_of(text: &str) -> Result<Members<'_>, serde_json::Error> {
    let most = FEW.max(text.len() / LEAST_BYTES);
    let (mut members, mut n) = (Vec::new(), 0);
    let is_plain = json_text::members(text, |key, value| {
        n += 1;
        if n <= most {
            members.push((Cow::Borrowed(key), value));
        }
    });
    if n > most {
        return Err(json::too_many());
    }
    if !is_plain {
        members.clear();
        json::parsed_members(text, |key, value| members.push((Cow::Owned(key.to_owned()), value)))?;
    }
    Ok(members)
}

/// The elements of an array; `None` if it is not an array, or has so many and so short elements that it cannot be a
/// recording.
fn listed(raw: &str) -> Option<Vec<&str>> {
    json::elements(raw).filter(|elements| elements.len() <= FEW.max(raw.len() / LEAST_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_any_of_their_names_and_null_is_none() {
        let node = Node::from_written(r#"{"a":null,"b":1,"b":2,"c":{"d":["x"]},"\u0065":3}"#);
        assert_eq!(node.get("a").map(|node| node.written().to_owned()), None);
        assert_eq!(node.get(["a", "b"]).unwrap().written(), "2");
        assert_eq!(node.get("e").unwrap().written(), "3");
        assert_eq!(node.at(&["c", "d"]).unwrap().elements().unwrap()[0].as_string().unwrap(), "x");
        assert!(Node::from_written("[1]").members().is_empty());
    }

    #[test]
    fn an_object_of_too_many_and_too_short_members_is_none() {
        let object = |n: usize| format!("{{{}}}", vec!["\"a\":0"; n].join(","));
        assert_eq!(members_of(&object(1000)).unwrap().len(), 1000);
        assert!(members_of(&object(10_000)).is_err());
        assert!(members_of("[1]").is_err());
    }

    #[test]
    fn what_is_decoded_keeps_the_place_of_its_string() {
        let place = r#""{\"a\":{\"b\":1}}""#;
        let decoded = json::string(place).unwrap();
        let node = Node::inside(&decoded, place).unwrap();
        assert_eq!(node.at(&["a", "b"]).unwrap().place(), place);
        assert!(Node::inside("{", place).is_none());
    }
}
