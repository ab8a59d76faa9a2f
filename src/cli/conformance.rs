//! `whenstop conformance`: checks golden tables against the systems and presets that should reproduce them.

use std::path::{Path, PathBuf};

use super::Exit;
use super::failure::Failure;
use super::output::{Format, Output};
use crate::conformance::{self, ConformanceReport, TableFile};
use crate::diagnostic::{Diagnostic, Location};
use crate::reader::unpacked_text;

/// Arguments of `conformance`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Tables (JSON Lines) or folders of them. The last folder names the system or framework; the file names the
    /// table.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// `whenstop conformance`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let mut files = Vec::new();
    for path in &args.paths {
        collect(path, &mut files)?;
    }
    if files.is_empty() {
        return Err(Failure::nothing("no table in these folders", "a table is a `.jsonl` file of cases"));
    }
    let report = conformance::run(&files);
    match args.format {
        Format::Json => output.json(&serde_json::to_value(&report).map_err(|error| Failure::internal(&error))?),
        _ => output.data(&text(&report)),
    }
    let agreed = report.disagreed.is_empty() && report.malformed.is_empty() && report.unknown_tables.is_empty();
    Ok(if agreed { Exit::Done } else { Exit::GateFailed })
}

/// The tables under `path`, in path order.
fn collect(path: &Path, files: &mut Vec<TableFile>) -> Result<(), Failure> {
    if path.is_file() {
        return push(path, files);
    }
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let at = Location::file(path.display().to_string());
            Failure::input(Diagnostic::new(at, format!("cannot list: {error}"), "check the path and its permissions"))
        })?;
        if entry.file_type().is_file() && is_table(entry.path()) {
            push(entry.path(), files)?;
        }
    }
    Ok(())
}

fn is_table(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).and_then(conformance::table_name).is_some()
}

fn push(path: &Path, files: &mut Vec<TableFile>) -> Result<(), Failure> {
    let text = unpacked_text(path).map_err(|error| {
        let at = Location::file(path.display().to_string());
        let help = "a table is a UTF-8 file of JSON lines, plain, .gz or .zst";
        Failure::input(Diagnostic::new(at, format!("cannot read: {error}"), help))
    })?;
    files.push(TableFile { path: path.display().to_string(), text });
    Ok(())
}

/// How many cases a rule has, and how many of them agree if not all do.
fn tally(rule: &str, cases: usize, agreed: usize) -> String {
    if cases == agreed { format!("{rule} {cases}") } else { format!("{rule} {agreed} of {cases}") }
}

fn text(report: &ConformanceReport) -> String {
    let mut lines = Vec::new();
    for table in &report.unknown_tables {
        lines.push(format!("unknown table: {table}"));
    }
    for case in &report.malformed {
        lines.push(format!("{}: malformed case {} of {}: {}", case.file, case.id, case.folder, case.why));
    }
    for case in &report.disagreed {
        lines.push(format!("{} {}: {}: expected {}, got {}", case.file, case.id, case.field, case.expected, case.got));
    }
    for case in &report.not_applicable {
        lines.push(format!("{} {}: not applicable: {}", case.file, case.id, case.why));
    }
    for (folder, (cases, agreed)) in &report.systems {
        let rules = report.rules.get(folder).into_iter().flatten();
        let each: Vec<String> = rules.map(|(rule, (cases, agreed))| tally(rule, *cases, *agreed)).collect();
        let by_rule = if each.len() > 1 { format!(" ({})", each.join(", ")) } else { String::new() };
        lines.push(format!("{folder}: {agreed} of {cases} agreed{by_rule}"));
    }
    let malformed = match report.malformed.len() {
        0 => String::new(),
        n => format!("{n} malformed, "),
    };
    lines.push(format!(
        "{} cases: {} agreed, {} disagreed, {malformed}{} not applicable, {} unknown tables",
        report.cases,
        report.agreed,
        report.disagreed.len(),
        report.not_applicable.len(),
        report.unknown_tables.len()
    ));
    lines.join("\n") + "\n"
}
