//! Attributes of OTLP's JSON mapping as plain JSON, under their dotted names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::reader::value_dialect::{as_number, as_word};

/// Attributes by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(BTreeMap<String, Value>);

/// Levels of a dotted name that become levels of a value.
const LEVELS: usize = 12;

impl Attributes {
    /// Reads `[{key, value: {stringValue ..}}]`, or the plain object that some exporters write.
    pub(super) fn of(value: Option<&Value>) -> Self {
        let mut found = BTreeMap::new();
        match value {
            Some(Value::Array(pairs)) => {
                for pair in pairs {
                    if let Some(key) = pair.get("key").and_then(Value::as_str) {
                        found.insert(key.to_owned(), pair.get("value").map(any_value).unwrap_or_default());
                    }
                }
            }
            Some(Value::Object(fields)) => {
                found.extend(fields.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            _ => {}
        }
        Self(found)
    }

    /// The first of `names` that is there and not null.
    pub(super) fn get(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.0.get(*name).filter(|value| !value.is_null()))
    }

    /// The same as a word, unless it is empty.
    pub(super) fn word(&self, names: &[&str]) -> Option<String> {
        self.get(names).and_then(as_word).filter(|word| !word.is_empty())
    }

    /// The same as a number.
    pub(super) fn number(&self, names: &[&str]) -> Option<f64> {
        self.get(names).and_then(as_number)
    }

    /// Adds what is not there yet.
    pub(super) fn fill_from(&mut self, other: Self) {
        for (key, value) in other.0 {
            self.0.entry(key).or_insert(value);
        }
    }

    /// The values under `prefix`, their dotted names unfolded: `prefix.0.role` is the field `role` of
    /// the first. `None` when there are none.
    pub(super) fn unfolded(&self, prefix: &str) -> Option<Value> {
        let dotted = format!("{prefix}.");
        let mut tree = Value::Object(Map::new());
        let under = self.0.range(dotted.clone()..).take_while(|(key, _)| key.starts_with(&dotted));
        let mut any = false;
        for (key, value) in under {
            any = true;
            insert(&mut tree, key.get(dotted.len()..).unwrap_or_default(), value.clone(), LEVELS);
        }
        any.then(|| with_lists(tree))
    }
}

/// Puts `value` where the dotted `path` says.
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

/// Objects whose keys are all numbers become arrays in the order of the numbers.
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

/// An `AnyValue`; what is not tagged as one is taken as it is.
pub(super) fn any_value(value: &Value) -> Value {
    let Value::Object(fields) = value else { return value.clone() };
    let Some((tag, inner)) = fields.iter().next().filter(|_| fields.len() == 1) else { return value.clone() };
    match tag.as_str() {
        "stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue" | "double_value" | "bytesValue" => {
            inner.clone()
        }
        "intValue" | "int_value" => {
            let parsed = inner.as_str().and_then(|text| text.parse::<i64>().ok());
            parsed.map_or_else(|| inner.clone(), Value::from)
        }
        "arrayValue" | "array_value" => {
            let items = inner.get("values").and_then(Value::as_array);
            Value::Array(items.into_iter().flatten().map(any_value).collect())
        }
        "kvlistValue" | "kvlist_value" => {
            let pairs = inner.get("values").and_then(Value::as_array).into_iter().flatten();
            let field = |pair: &Value| {
                let key = pair.get("key")?.as_str()?.to_owned();
                Some((key, pair.get("value").map(any_value).unwrap_or_default()))
            };
            Value::Object(pairs.filter_map(field).collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_names_unfold_into_messages() {
        let attributes = Attributes::of(Some(&serde_json::json!([
            {"key": "gen_ai.prompt.10.role", "value": {"stringValue": "user"}},
            {"key": "gen_ai.prompt.2.role", "value": {"stringValue": "system"}},
            {"key": "gen_ai.prompt.2.tool_calls.0.name", "value": {"stringValue": "ls"}},
            {"key": "n", "value": {"intValue": "520"}},
            {"key": "list", "value": {"arrayValue": {"values": [{"stringValue": "stop"}]}}},
        ])));
        let unfolded = attributes.unfolded("gen_ai.prompt").unwrap();
        assert_eq!(unfolded, serde_json::json!([{"role": "system", "tool_calls": [{"name": "ls"}]}, {"role": "user"}]));
        assert_eq!(attributes.get(&["n"]), Some(&serde_json::json!(520)));
        assert_eq!(attributes.get(&["list"]), Some(&serde_json::json!(["stop"])));
    }
}
