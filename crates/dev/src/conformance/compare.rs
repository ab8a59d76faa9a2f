//! Finds the first field in which an answer differs from the expected one.

use serde_json::Value;

/// How nested objects of `expected` are compared. At the top level, only the fields of `expected` are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nested {
    /// The answer must have exactly the same fields.
    Exact,
    /// Only the fields of `expected` are compared; a null there also matches an absent field.
    Subset,
}

/// Where an answer differs.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldDifference {
    /// The path of the field, from `expected`.
    pub field: String,
    /// The expected value; null if the answer has an extra field.
    pub expected: Value,
    /// The value in the answer; null if the field is missing.
    pub got: Value,
}

/// The first difference, in the order of the fields of `expected`; `None` if the answer agrees. Numbers are compared by
/// value, so 1 equals 1.0.
pub fn first_difference(expected: &Value, got: &Value, nested: Nested) -> Option<FieldDifference> {
    difference("expected", expected, got, nested, true)
}

fn difference(field: &str, expected: &Value, got: &Value, nested: Nested, top: bool) -> Option<FieldDifference> {
    let here = || FieldDifference { field: field.to_owned(), expected: expected.clone(), got: got.clone() };
    match (expected, got) {
        (Value::Object(wanted), Value::Object(answered)) => {
            let subset = top || nested == Nested::Subset;
            for (key, value) in wanted {
                let field = format!("{field}.{key}");
                let inner = match answered.get(key) {
                    Some(answer) => difference(&field, value, answer, nested, false),
                    None if value.is_null() && nested == Nested::Subset => None,
                    None => Some(FieldDifference { field, expected: value.clone(), got: Value::Null }),
                };
                if inner.is_some() {
                    return inner;
                }
            }
            let (key, extra) = answered.iter().find(|(key, _)| !subset && !wanted.contains_key(*key))?;
            Some(FieldDifference { field: format!("{field}.{key}"), expected: Value::Null, got: extra.clone() })
        }
        (Value::Array(wanted), Value::Array(answered)) => {
            for (index, (value, answer)) in wanted.iter().zip(answered).enumerate() {
                let inner = difference(&format!("{field}[{index}]"), value, answer, nested, false);
                if inner.is_some() {
                    return inner;
                }
            }
            if wanted.len() == answered.len() {
                return None;
            }
            let [expected, got] = [wanted.len(), answered.len()].map(Value::from);
            Some(FieldDifference { field: format!("{field}.length"), expected, got })
        }
        (Value::Number(wanted), Value::Number(answered)) if wanted.as_f64() == answered.as_f64() => None,
        _ if expected == got => None,
        _ => Some(here()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(expected: &Value, got: &Value, field: Option<&str>) {
        let found = first_difference(expected, got, Nested::Exact).map(|difference| difference.field);
        assert_eq!(found.as_deref(), field, "{expected} against {got}");
    }

    #[test]
    fn the_first_differing_field_is_named_by_its_path() {
        check(&json!({"a": 1}), &json!({"a": 1.0, "b": 2}), None);
        check(&json!({"a": {"b": 1}}), &json!({"a": {"b": 1, "c": 2}}), Some("expected.a.c"));
        check(&json!({"s": [{"n": 1}, {"n": 2}]}), &json!({"s": [{"n": 1}, {"n": 3}]}), Some("expected.s[1].n"));
        check(&json!({"s": [1]}), &json!({"s": [1, 2]}), Some("expected.s.length"));
        check(&json!({"a": null}), &json!({}), Some("expected.a"));
        check(&json!({"a": true}), &json!({"a": 1}), Some("expected.a"));
    }

    #[test]
    fn a_subset_ignores_what_the_table_does_not_mention() {
        let expected = json!({"actions": [{"at": 3, "code": null}]});
        let got = json!({"actions": [{"at": 3, "kind": "halt"}]});
        assert_eq!(first_difference(&expected, &got, Nested::Subset), None);
    }
}
