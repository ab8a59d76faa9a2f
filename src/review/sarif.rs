//! Findings as SARIF 2.1.0, for code scanning.

use std::fmt::Write as _;

use super::findings::RULES;
use super::{FindingLevel, LineFinding};

/// GitHub shows this many results per file.
const SHOWN: usize = 5000;

/// One run of one tool. Paths are written as relative references, with characters that a URI must not contain escaped.
pub fn sarif(findings: &[LineFinding]) -> serde_json::Value {
    let rules: Vec<_> =
        RULES.iter().map(|(id, what)| serde_json::json!({"id": id, "shortDescription": {"text": what}})).collect();
    let shown = &findings[..findings.len().min(SHOWN)];
    let results: Vec<_> = shown.iter().map(result).collect();
    let mut run = serde_json::json!({
        "tool": {"driver": {
            "name": "whenstop",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        }},
        "results": results,
    });
    if shown.len() < findings.len() {
        let text = format!("{} of {} results are listed", shown.len(), findings.len());
        run["properties"] = serde_json::json!({"truncated": text});
    }
    serde_json::json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    })
}

fn result(finding: &LineFinding) -> serde_json::Value {
    let level = match finding.level {
        FindingLevel::Error => "error",
        FindingLevel::Warning => "warning",
        FindingLevel::Notice => "note",
    };
    let index = RULES.iter().position(|(id, _)| *id == finding.rule);
    let mut result = serde_json::json!({
        "ruleId": finding.rule,
        "level": level,
        "message": {"text": format!("{}: {}", finding.title, finding.message)},
    });
    if let Some(index) = index {
        result["ruleIndex"] = index.into();
    }
    if !finding.at.path.is_empty() {
        let mut place = serde_json::json!({"artifactLocation": {"uri": uri(&finding.at.path)}});
        if finding.at.line > 0 {
            place["region"] = serde_json::json!({"startLine": finding.at.line});
        }
        result["locations"] = serde_json::json!([{"physicalLocation": place}]);
    }
    result
}

/// A path as a relative URI reference.
fn uri(path: &str) -> String {
    let mut text = String::new();
    for byte in path.replace('\\', "/").trim_start_matches("./").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}
