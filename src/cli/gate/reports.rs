//! The output formats of `check`, `diff` and `lint`, on stdout and as files.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;

use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::diagnostic::{self, did_you_mean, nearest};
use crate::report::write_text;
use crate::review::{self, CheckResult, LineFinding};

/// A report format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(in crate::cli) enum ReportFormat {
    /// For people, at a terminal.
    #[default]
    Text,
    /// JUnit XML, for the test page of a CI system.
    Junit,
    /// Workflow commands: GitHub shows them as annotations.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// Markdown, for the summary of a job or a comment on a pull request.
    Md,
    /// One JSON document (`whenstop schema check`, `whenstop schema lint`).
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
}

/// A report and where it goes.
#[derive(Clone, Debug)]
pub(in crate::cli) struct ReportTo {
    pub(super) format: ReportFormat,
    pub(super) path: PathBuf,
}

impl FromStr for ReportTo {
    type Err = String;

    /// Parses `junit=junit.xml`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (format, path) = text.split_once('=').ok_or("write `junit=junit.xml`")?;
        if path.is_empty() {
            return Err(format!("write `{format}=FILE`, or `{format}=-` for stdout"));
        }
        Ok(Self { format: named(format)?, path: path.into() })
    }
}

/// The format with that name; the error lists the names.
pub(super) fn named(name: &str) -> Result<ReportFormat, String> {
    <ReportFormat as ValueEnum>::from_str(name, false).ok().filter(|format| *format != ReportFormat::Text).ok_or_else(
        || {
            let known = ["junit", "github", "gitlab", "md", "json", "sarif"];
            did_you_mean(nearest(name, known), &format!("the formats are {}", known.join(", ")))
        },
    )
}

/// A check in that format; text is printed by the caller.
pub(super) fn check(format: ReportFormat, checked: &CheckResult) -> Result<String, CommandFailure> {
    Ok(match format {
        ReportFormat::Text => String::new(),
        ReportFormat::Junit => review::junit(checked).map_err(|error| CommandFailure::internal(&error))?,
        ReportFormat::Github => review::workflow_commands(&checked.findings()),
        ReportFormat::Gitlab => pretty(&review::code_quality(&checked.findings())),
        ReportFormat::Md => review::markdown(checked, true),
        ReportFormat::Json => pretty(&review::check_json(checked, true)),
        ReportFormat::Sarif => pretty(&review::sarif(&checked.findings())),
    })
}

/// The warnings of a lint in that format; `None` for text.
pub(in crate::cli) fn lint_report(
    format: ReportFormat,
    findings: &[LineFinding],
) -> Result<Option<String>, CommandFailure> {
    Ok(Some(match format {
        ReportFormat::Text => return Ok(None),
        ReportFormat::Junit => LineFinding::junit(findings).map_err(|error| CommandFailure::internal(&error))?,
        ReportFormat::Github => review::workflow_commands(findings),
        ReportFormat::Gitlab => pretty(&review::code_quality(findings)),
        ReportFormat::Md => review::lint_markdown(findings),
        ReportFormat::Json => pretty(&review::lint_json(findings)),
        ReportFormat::Sarif => pretty(&review::sarif(findings)),
    }))
}

/// Formats a JSON document with control characters from recordings escaped.
pub(super) fn pretty(value: &serde_json::Value) -> String {
    diagnostic::json(&format!("{value:#}\n")).into_owned()
}

/// Writes a report to a file, or to stdout for `-`.
pub(super) fn write(path: &Path, text: &str, output: &Output) -> Result<(), CommandFailure> {
    if path == Path::new("-") {
        output.bytes(text.as_bytes());
        return Ok(());
    }
    write_text(path, text).map_err(CommandFailure::input)
}
