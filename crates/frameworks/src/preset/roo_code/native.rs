//! How Roo's parser of native tool calls normalises a call before it is compared.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::super::frame::identity::{KeyOrder, js_text};
use crate::framework::own_file;
use crate::transcript::ToolCall;

/// The file `native.toml`.
#[derive(Deserialize)]
struct NativeTools {
    /// Parameters known to some tool of Roo; others are dropped before the comparison.
    parameters: Vec<String>,
    /// The required arguments of each tool (alternatives as `a|b`); without them, a call is refused.
    required: BTreeMap<String, Vec<String>>,
}

static NATIVE: LazyLock<NativeTools> = LazyLock::new(|| own_file(include_str!("native.toml")));

/// The form in which a call is compared, or `None` if it is refused before the check.
pub(super) fn identity(call: &ToolCall) -> Option<String> {
    let name = if &*call.name == "write_file" { "write_to_file" } else { &*call.name };
    let required = NATIVE.required.get(name)?;
    let Some(Value::Object(given)) = call.json_arguments() else { return None };
    let is_given = |names: &String| names.split('|').any(|name| given.get(name).is_some_and(|value| !value.is_null()));
    if !required.iter().all(is_given) {
        return None;
    }
    let known = given.iter().filter(|(key, _)| NATIVE.parameters.contains(*key));
    let texts: BTreeMap<&str, String> = known.map(|(key, value)| (key.as_str(), parameter_text(value))).collect();
    Some(format!("{name}\n{texts:?}"))
}

/// Strings are kept; everything else becomes JSON text in the given order.
fn parameter_text(value: &Value) -> String {
    if let Value::String(text) = value { text.clone() } else { js_text(value, KeyOrder::Given) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_compared_by_known_parameters_if_it_has_the_required_ones() {
        let identity = |arguments: &str| identity(&ToolCall::new(None, "read_file", arguments));
        assert_eq!(identity(r#"{"path": "a", "mood": 1}"#), identity(r#"{"path": "a"}"#));
        assert_ne!(identity(r#"{"path": "a"}"#), identity(r#"{"files": ["a"]}"#));
        assert_eq!(identity(r#"{"mood": 1}"#), None);
    }
}
