//! The only writes to stdout and stderr.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;

use super::failure::Failure;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::report::table::Table;

/// How a table is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Columns for a terminal.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// CSV with a header line.
    Csv,
    /// A Markdown table.
    Md,
}

/// Where messages and data go.
#[derive(Debug)]
pub(super) struct Output {
    quiet: bool,
}

impl Output {
    /// Messages to stderr unless `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Data. A reader that has gone away (`| head`) is no error.
    pub(super) fn data(&self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Data as bytes.
    #[expect(clippy::unused_self, reason = "whoever writes data must hold the output")]
    pub(super) fn bytes(&self, bytes: &[u8]) {
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
    }

    /// A sentence or two, broken between words at 80 columns, or fewer where the terminal has fewer.
    pub(super) fn paragraph(&self, text: &str) {
        let width = usize::from(width()).min(80);
        let (mut lines, mut line) = (String::new(), String::new());
        for word in text.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines += &line;
                lines.push('\n');
                line.clear();
            } else if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        self.data(&format!("{lines}{line}\n"));
    }

    /// A table in the format asked for.
    pub(super) fn table(&self, table: &Table, format: Format) -> Result<(), Failure> {
        match format {
            Format::Table => self.data(&table.to_terminal(width())),
            Format::Md => self.data(&table.to_markdown()),
            Format::Json => self.json(&table.to_json()),
            Format::Csv => {
                let mut csv = Vec::new();
                table.write_csv(&mut csv).map_err(|error| Failure::internal(&error))?;
                self.data(&String::from_utf8_lossy(&csv));
            }
        }
        Ok(())
    }

    /// A JSON document.
    pub(super) fn json(&self, value: &serde_json::Value) {
        self.data(&format!("{value:#}\n"));
    }

    /// A message for people.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            Self::message(text);
        }
    }

    /// An error that ends the command, or one that lost something.
    #[expect(clippy::unused_self, reason = "errors are told even when quiet")]
    pub(super) fn error(&self, diagnostic: &Diagnostic) {
        Self::message(&diagnostic.render(Severity::Error));
    }

    /// Errors that end the command, with an empty line between them.
    pub(super) fn errors(&self, diagnostics: &Diagnostics) {
        for (index, diagnostic) in diagnostics.iter().enumerate() {
            if index > 0 {
                Self::message("");
            }
            self.error(diagnostic);
        }
    }

    fn message(text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = writeln!(stderr, "{text}");
    }

    /// A progress bar over bytes; hidden unless stderr is a terminal.
    pub(super) fn progress(&self, bytes: u64) -> indicatif::ProgressBar {
        if self.quiet || !io::stderr().is_terminal() {
            return indicatif::ProgressBar::hidden();
        }
        let bar = indicatif::ProgressBar::new(bytes);
        let template = "{bar:30} {bytes} of {total_bytes}, {msg}, {eta} left";
        match indicatif::ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

/// Columns of the terminal; 80 where there is none, and wide enough not to wrap when piped.
pub(super) fn width() -> u16 {
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(width), _)) if io::stdout().is_terminal() => width.max(40),
        _ if io::stdout().is_terminal() => 80,
        _ => 200,
    }
}
