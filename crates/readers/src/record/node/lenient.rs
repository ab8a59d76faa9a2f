//! Lenient reading from a [`Node`], without findings for missing or mistyped members: for messages that a recorder
//! copied from elsewhere, and for exports whose fields vary with their producer.

use std::borrow::Cow;

use super::{MemberNames, Node};
use crate::json_text::{self, trimmed};
use crate::record::looked_up;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Instant, Text, is_dense};
use crate::value::json::{self, Written as _};
use crate::value::time;

impl<'a> Node<'a> {
    /// A value that is checked to its full depth. One that is nested too deeply, or has more short values than a
    /// recording plausibly has, is reported and left out.
    pub(crate) fn row(text: &'a str, out: &mut Reading<'_>) -> Option<Self> {
        sound(text).map_err(|error| out.error(out.record.broken(text, &error))).ok()?;
        Some(Self::from_written(trimmed(text)))
    }

    /// The values of a record that holds many, each read like [`Node::row`].
    pub(crate) fn rows(record: &Record<'a>, out: &mut Reading<'_>) -> Vec<Self> {
        Self::values(record, out).filter_map(|value| Self::row(value.written, out)).collect()
    }

    /// A count, 0 or more; may be written as a string.
    pub(crate) fn some_count(&self, names: impl MemberNames) -> Option<u64> {
        json::count(&self.get(names)?)
    }

    /// A number; may be written as a string.
    pub(crate) fn some_number(&self, names: impl MemberNames) -> Option<f64> {
        json::number(&self.get(names)?)
    }

    /// A time.
    pub(crate) fn some_instant(&self, names: impl MemberNames) -> Option<Instant> {
        time::instant(&self.get(names)?)
    }

    /// The short string with that name, decoded.
    pub(crate) fn some_string(&self, names: impl MemberNames) -> Option<Cow<'a, str>> {
        self.get(names)?.as_string()
    }

    /// The member with that name, or an empty object.
    pub(crate) fn within(&self, names: impl MemberNames) -> Self {
        self.get(names).unwrap_or_default()
    }

    /// Whether the member with that name is `true`. Any other value is false.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.some_flag(name) == Some(true)
    }

    /// The boolean under the first of `names` that has one; other types are skipped.
    pub(crate) fn some_flag(&self, names: impl MemberNames) -> Option<bool> {
        json::flag(&self.get(names)?)
    }

    /// The long string under the first of `names` that has one; other types are skipped.
    pub(crate) fn some_text(&self, names: impl MemberNames) -> Option<Text> {
        json::text(&self.get(names)?)
    }

    /// Its content: the string, the joined texts of its parts, or else its JSON.
    pub(crate) fn as_content(&self) -> Text {
        let written = self.written();
        json::content(written).unwrap_or_else(|| Text::plain(written))
    }

    /// Its text: the string, or else its JSON.
    pub(crate) fn as_text(&self) -> Text {
        let written = self.written();
        json::text(written).unwrap_or_else(|| Text::plain(written))
    }

    /// The string or number under the first of `names` that has one; other types are skipped.
    pub(crate) fn some_word(&self, names: impl MemberNames) -> Option<String> {
        json::word(&self.get(names)?)
    }

    /// Whether it has such a member, even a null one.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.own_members().iter().any(|(key, _)| key == name)
    }

    /// The value if it is a string or number.
    pub(crate) fn as_word(&self) -> Option<String> {
        json::word(self)
    }

    /// Whether it is an object.
    pub(crate) fn is_object(&self) -> bool {
        let fits = self.written.starts_with('{');
        self.tried("an object", fits);
        fits
    }

    /// Whether it is an object that is not empty.
    pub(crate) fn is_object_with_members(&self) -> bool {
        self.is_object() && !self.members().is_empty()
    }

    /// Whether it is null. Members found by name never are.
    pub(crate) fn is_null(&self) -> bool {
        self.written == "null"
    }

    /// Whether it is an array.
    pub(crate) fn is_list(&self) -> bool {
        let fits = self.written.starts_with('[');
        self.tried("an array", fits);
        fits
    }

    /// Whether the member with that name is an array.
    pub(crate) fn has_list(&self, names: impl MemberNames) -> bool {
        self.get(names).is_some_and(|member| member.is_list())
    }

    /// The elements of the array with that name; empty for anything else.
    pub(crate) fn some_list(&self, names: impl MemberNames) -> Vec<Self> {
        let Some(list) = self.get(names) else { return Vec::new() };
        list.elements().unwrap_or_default()
    }

    /// The JSON without white space.
    pub(crate) fn compact(&self) -> String {
        let written = self.written();
        match json::value(written) {
            Ok(value) => value.to_string(),
            Err(_) => written.to_owned(),
        }
    }

    /// A string as it is, anything else as JSON without white space.
    pub(crate) fn compact_text(&self) -> Text {
        json::text(self).unwrap_or_else(|| Text::plain(self.compact()))
    }

    /// The object or array encoded in a string as JSON, or else the value itself.
    pub(crate) fn opened(&self) -> Opened<'a> {
        let held = json::string(self.written);
        let held = held.filter(|text| text.trim_start().starts_with(['{', '[']) && sound(text).is_ok());
        if held.is_some() {
            self.tried(looked_up::ANY, true);
        }
        Opened { text: held.unwrap_or(Cow::Borrowed(self.written)), place: self.place, key: self.key }
    }

    /// Like [`Self::opened`] for a member; null if it is absent.
    pub(crate) fn held(&self, names: impl MemberNames) -> Opened<'a> {
        match self.get(names) {
            Some(node) => node.opened(),
            None => Opened::null(),
        }
    }
}

/// A value that may have been encoded in a string, and then has a text of its own.
#[derive(Clone, Debug)]
pub(crate) struct Opened<'a> {
    text: Cow<'a, str>,
    place: &'a str,
    key: &'a str,
}

impl<'a> Opened<'a> {
    /// A null value.
    pub(crate) fn null() -> Self {
        Self { text: Cow::Borrowed("null"), place: "", key: "" }
    }

    /// The value `text`, located where `node` is.
    pub(crate) fn from_text(text: Cow<'a, str>, node: &Node<'a>) -> Self {
        Self { text, place: node.place, key: node.key }
    }

    /// The value.
    pub(crate) fn node(&self) -> Node<'_> {
        Node { place: self.place, key: self.key, ..Node::from_written(trimmed(&self.text)) }
    }

    /// Like [`Node::opened`] for a member, if it has that member.
    pub(crate) fn inner(&self, name: &str) -> Option<Self> {
        let text = self.node().get(name)?.opened().text.into_owned();
        Some(Self { text: Cow::Owned(text), place: self.place, key: self.key })
    }
}

/// Whether the text is JSON that can be parsed completely; if not, the parser's error.
pub(crate) fn sound(text: &str) -> Result<(), serde_json::Error> {
    let is_plain = !is_dense(text) && (json_text::members(text, |_, _| ()) || json_text::array(text, |_| ()));
    if is_plain { Ok(()) } else { json::value(text).map(drop) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_string_holds_is_opened_and_has_the_place_of_the_string() {
        let text = r#"{"a":"{\"b\":[1]}","c":"[no","d":{"e":2},"f":" [3]"}"#;
        let node = Node::from_written(text);
        let (a, c, d, f) = (node.held("a"), node.held("c"), node.held("d"), node.held("f"));
        assert_eq!(a.node().at(&["b"]).unwrap().written(), "[1]");
        assert_eq!(a.node().at(&["b"]).unwrap().place(), r#""{\"b\":[1]}""#);
        assert_eq!(a.inner("b").unwrap().node().written(), "[1]");
        assert_eq!(c.node().as_string().unwrap(), "[no");
        assert_eq!(d.node().some_count("e"), Some(2));
        assert_eq!(f.node().written(), "[3]");
        assert!(node.held("g").node().is_null());
    }

    #[test]
    fn what_is_nested_too_deeply_is_not_taken_apart() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(sound(&nested(100)).is_ok());
        assert!(sound(&nested(1000)).is_err());
        let held = serde_json::Value::from(nested(1000)).to_string();
        assert!(Node::from_written(held.as_str()).opened().node().as_string().is_some());
    }
}
