//! Findings as annotations on the lines of a pull request: GitHub's workflow commands, GitLab's code quality report.

use std::fmt::Write as _;

use super::{FindingLevel, LineFinding};
use crate::diagnostic::one_line;
use crate::transcript::Fingerprint;

/// GitHub shows this many annotations per level and step; the last one counts the rest.
const SHOWN: usize = 10;

/// The title of that last annotation.
const MORE: &str = "title=whenstop::";

/// GitHub's workflow commands, one per line: `::error file=a.toml,line=3,title=T::message`.
pub fn workflow_commands(findings: &[LineFinding]) -> String {
    let mut text = String::new();
    for level in [FindingLevel::Error, FindingLevel::Warning, FindingLevel::Notice] {
        let of_level: Vec<&LineFinding> = findings.iter().filter(|finding| finding.level == level).collect();
        let shown = if of_level.len() > SHOWN { SHOWN - 1 } else { of_level.len() };
        for finding in &of_level[..shown] {
            let mut properties = Vec::new();
            if !finding.at.path.is_empty() {
                properties.push(format!("file={}", property(&finding.at.path)));
            }
            if finding.at.line > 0 {
                properties.push(format!("line={}", finding.at.line));
            }
            if finding.at.column > 0 {
                properties.push(format!("col={}", finding.at.column));
            }
            properties.push(format!("title={}", property(&finding.title)));
            let _ = writeln!(text, "::{} {}::{}", name(level), properties.join(","), message(&finding.message));
        }
        if shown < of_level.len() {
            let more = of_level.len() - shown;
            let _ = writeln!(text, "::{} {MORE}and {more} more, in the report and the log", name(level));
        }
    }
    text
}

fn name(level: FindingLevel) -> &'static str {
    match level {
        FindingLevel::Error => "error",
        FindingLevel::Warning => "warning",
        FindingLevel::Notice => "notice",
    }
}

/// Escapes what would end a command or begin another, as GitHub's toolkit does.
fn message(text: &str) -> String {
    one_line(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

/// GitLab's code quality report: an array of issues.
pub fn code_quality(findings: &[LineFinding]) -> serde_json::Value {
    let issue = |finding: &LineFinding| {
        let severity = match finding.level {
            FindingLevel::Error => "major",
            FindingLevel::Warning => "minor",
            FindingLevel::Notice => "info",
        };
        let path = if finding.at.path.is_empty() { "whenstop.toml" } else { &finding.at.path };
        let path = path.trim_start_matches("./");
        let print = Fingerprint::from_text(&format!("{} {path} {} {}", finding.rule, finding.title, finding.message));
        serde_json::json!({
            "description": format!("{}: {}", finding.title, finding.message),
            "check_name": format!("whenstop/{}", finding.rule),
            "fingerprint": format!("{:016x}", print.0),
            "severity": severity,
            "location": {"path": path, "lines": {"begin": finding.at.line.max(1)}},
        })
    };
    findings.iter().map(issue).collect()
}
