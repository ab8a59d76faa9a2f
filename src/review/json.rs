//! Checks, diffs and lints as JSON for programs, with their schemas.

use serde_json::{Value, json};

use super::{CheckResult, CheckedGate, LineFinding};

/// The JSON Schema of [`check_json`].
pub const CHECK_SCHEMA: &str = include_str!("schema/check.json");

/// The JSON Schema of [`lint_json`].
pub const LINT_SCHEMA: &str = include_str!("schema/lint.json");

/// Version of both formats; adding a field does not raise it.
const VERSION: u32 = 1;

/// A check, or an unjudged diff: everything, with every changed stop point.
pub fn check_json(checked: &CheckResult, judged: bool) -> Value {
    let held = |gates: &[CheckedGate]| {
        let mut values = Vec::new();
        for gate in gates {
            let mut value = serde_json::to_value(&gate.result).unwrap_or_default();
            value["at"] = place(&gate.at);
            values.push(value);
        }
        values
    };
    json!({
        "schema_version": VERSION,
        "whenstop": env!("CARGO_PKG_VERSION"),
        "verdict": match (judged, checked.failed()) {
            (false, _) => "not_judged",
            (true, false) => "passed",
            (true, true) => "failed",
        },
        "snapshot": checked.snapshot,
        "review": checked.review,
        "gates": held(&checked.gates),
        "advice": held(&checked.advice),
    })
}

/// The warnings of a lint.
pub fn lint_json(findings: &[LineFinding]) -> Value {
    let warnings: Vec<Value> =
        findings.iter().map(|finding| json!({"message": finding.message, "at": place(&finding.at)})).collect();
    json!({"schema_version": VERSION, "whenstop": env!("CARGO_PKG_VERSION"), "warnings": warnings})
}

fn place(at: &crate::diagnostic::Location) -> Value {
    if at.path.is_empty() {
        return Value::Null;
    }
    let known = |n: usize| if n == 0 { Value::Null } else { Value::from(n) };
    json!({"path": at.path, "line": known(at.line), "column": known(at.column)})
}
