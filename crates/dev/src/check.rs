//! `whenstop-dev conformance`: checks golden tables against the systems and presets that should reproduce them.

use std::path::{Path, PathBuf};

use whenstop_core::diagnostic::{Diagnostic, Location};
use whenstop_dev::conformance::{self, ConformanceReport, TableFile};
use whenstop_readers::reader::unpacked_text;

/// Arguments of `conformance`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Tables (JSON Lines) or folders of them. The last folder names the system or framework; the file names the
    /// table.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// Checks the tables; false if one disagrees.
pub(super) fn run(args: &Args) -> Result<bool, Diagnostic> {
    let mut files = Vec::new();
    for path in &args.paths {
        collect(path, &mut files)?;
    }
    if files.is_empty() {
        return Err(Diagnostic::new(
            Location::default(),
            "no table in these folders",
            "a table is a `.jsonl` file of cases",
        ));
    }
    let report = conformance::run(&files);
    let printed = if args.json {
        serde_json::to_string_pretty(&report)
            .map_err(|error| Diagnostic::new(Location::default(), error.to_string(), ""))?
    } else {
        text(&report)
    };
    #[expect(clippy::print_stdout, reason = "the program's result")]
    {
        println!("{}", printed.trim_end());
    }
    Ok(report.disagreed.is_empty() && report.malformed.is_empty() && report.unknown_tables.is_empty())
}

/// The tables under `path`, in path order.
fn collect(path: &Path, files: &mut Vec<TableFile>) -> Result<(), Diagnostic> {
    if path.is_file() {
        return push(path, files);
    }
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let at = Location::file(path.display().to_string());
            Diagnostic::new(at, format!("cannot list: {error}"), "check the path and its permissions")
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

fn push(path: &Path, files: &mut Vec<TableFile>) -> Result<(), Diagnostic> {
    let text = unpacked_text(path).map_err(|error| {
        let at = Location::file(path.display().to_string());
        let help = "a table is a UTF-8 file of JSON lines, plain, .gz or .zst";
        Diagnostic::new(at, format!("cannot read: {error}"), help)
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
