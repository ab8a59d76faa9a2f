//! Attributes in OTLP's JSON mapping, converted to plain JSON under their dotted names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;

use serde_json::{Map, Value};

use crate::record::node::Node;
use crate::value::json;

/// Attributes by name, each as its JSON.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes<'r>(BTreeMap<Cow<'r, str>, Cow<'r, str>>);

/// Most levels of a dotted name that are unfolded into nested values.
const LEVELS: usize = 12;

impl<'r> Attributes<'r> {
    /// Reads `[{key, value: {stringValue ..}}]`, or the plain object written by some exporters.
    pub(super) fn from_written(written: Option<&Node<'r>>) -> Self {
        let Some(written) = written else { return Self::default() };
        if written.is_object() {
            return Self(written.members().iter().map(|(key, value)| (key.clone(), Cow::Borrowed(*value))).collect());
        }
        let pair = |pair: &Node<'r>| Some((pair.some_string("key")?, any_value(pair.get("value").as_ref())));
        Self(written.elements().unwrap_or_default().iter().filter_map(pair).collect())
    }

    /// The first of `names` that is present and not null.
    pub(super) fn get(&self, names: &[&str]) -> Option<Node<'_>> {
        for name in names {
            let Some((key, value)) = self.0.get_key_value(*name) else { continue };
            if *value != "null" {
                return Some(Node::under_key(key, value));
            }
        }
        None
    }

    /// Like [`Self::get`], as a word that is not empty.
    pub(super) fn word(&self, names: &[&str]) -> Option<String> {
        self.get(names)?.as_word().filter(|word| !word.is_empty())
    }

    /// Like [`Self::get`], as a number.
    pub(super) fn number(&self, names: &[&str]) -> Option<f64> {
        json::number(&self.get(names)?)
    }

    /// Adds the attributes that are not present yet.
    pub(super) fn fill_from(&mut self, other: Self) {
        for (key, value) in other.0 {
            self.0.entry(key).or_insert(value);
        }
    }

    /// The values under `prefix` with their dotted names unfolded: `prefix.0.role` is the field `role` of the first
    /// element. `None` if there are none.
    pub(super) fn unfolded(&self, prefix: &str) -> Option<String> {
        let dotted = format!("{prefix}.");
        let mut tree = Value::Object(Map::new());
        let under = self
            .0
            .range::<str, _>((Bound::Included(dotted.as_str()), Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(&dotted));
        let mut any = false;
        for (key, value) in under {
            any = true;
            let value = json::value(value).unwrap_or_default();
            insert(&mut tree, key.get(dotted.len()..).unwrap_or_default(), value, LEVELS);
        }
        if any { Some(with_lists(tree).to_string()) } else { None }
    }
}

/// Inserts `value` at the dotted `path`.
fn insert(tree: &mut Value, path: &str, value: Value, levels: usize) {
    let Value::Object(fields) = tree else { return };
    match path.split_once('.').filter(|_| levels > 0) {
        Some((first, rest)) => {
            let inner = fields.entry(first).or_insert_with(|| Value::Object(Map::new()));
            insert(inner, rest, value, levels - 1);
        }
        None => {
            fields.insert(path.to_owned(), value);
        }
    }
}

/// Converts objects whose keys are all numbers to arrays ordered by those numbers.
fn with_lists(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    let indices: Option<Vec<usize>> = fields.keys().map(|key| key.parse().ok()).collect();
    let values: Vec<(String, Value)> = fields.into_iter().map(|(key, value)| (key, with_lists(value))).collect();
    match indices.filter(|indices| !indices.is_empty()) {
        Some(indices) => {
            let mut items: Vec<(usize, Value)> = indices.into_iter().zip(values.into_iter().map(|(_, v)| v)).collect();
            items.sort_by_key(|(index, _)| *index);
            Value::Array(items.into_iter().map(|(_, value)| value).collect())
        }
        None => Value::Object(values.into_iter().collect()),
    }
}

/// The JSON of an `AnyValue`; anything without its tags is used as it is.
pub(super) fn any_value<'r>(value: Option<&Node<'r>>) -> Cow<'r, str> {
    let Some(value) = value else { return Cow::Borrowed("null") };
    let [(tag, written)] = value.members() else { return Cow::Borrowed(value.written()) };
    let inner = Node::from_written(*written);
    match &**tag {
        "stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue" | "double_value" | "bytesValue" => {
            Cow::Borrowed(*written)
        }
        "intValue" | "int_value" => match inner.as_string().map(|text| text.parse::<i64>()) {
            Some(Ok(number)) => Cow::Owned(number.to_string()),
            Some(Err(_)) | None => Cow::Borrowed(*written),
        },
        "arrayValue" | "array_value" => {
            let items = inner.some_list("values");
            let items: Vec<_> = items.iter().map(|item| any_value(Some(item))).collect();
            Cow::Owned(format!("[{}]", items.join(",")))
        }
        "kvlistValue" | "kvlist_value" => {
            let field = |pair: &Node<'r>| {
                let key = pair.get("key").filter(|key| key.as_string().is_some())?;
                Some(format!("{}:{}", key.written(), any_value(pair.get("value").as_ref())))
            };
            let fields: Vec<String> = inner.some_list("values").iter().filter_map(field).collect();
            Cow::Owned(format!("{{{}}}", fields.join(",")))
        }
        _ => Cow::Borrowed(value.written()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_names_unfold_into_messages() {
        let written = serde_json::json!([
            {"key": "gen_ai.prompt.10.role", "value": {"stringValue": "user"}},
            {"key": "gen_ai.prompt.2.role", "value": {"stringValue": "system"}},
            {"key": "gen_ai.prompt.2.tool_calls.0.name", "value": {"stringValue": "ls"}},
            {"key": "n", "value": {"intValue": "520"}},
            {"key": "list", "value": {"arrayValue": {"values": [{"stringValue": "stop"}]}}},
        ])
        .to_string();
        let attributes = Attributes::from_written(Some(&Node::from_written(written.as_str())));
        let unfolded = attributes.unfolded("gen_ai.prompt").unwrap();
        assert_eq!(unfolded, r#"[{"role":"system","tool_calls":[{"name":"ls"}]},{"role":"user"}]"#);
        assert_eq!(attributes.get(&["n"]).unwrap().written(), "520");
        assert_eq!(attributes.get(&["list"]).unwrap().written(), r#"["stop"]"#);
    }
}
