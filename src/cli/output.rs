//! The only writes to stdout and stderr.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

use clap::ValueEnum;

use super::Exit;
use super::failure::Failure;
use crate::diagnostic::{self, Diagnostic, Diagnostics, Location, Severity};
use crate::report::CsvStyle;
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
    /// A LaTeX table for a paper, with the package `booktabs`.
    Latex,
}

/// How a line looks where there is colour. It says nothing that its words do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As it is.
    Plain,
    /// Bold.
    Strong,
    /// Yellow.
    Notable,
    /// Bold red.
    Stop,
    /// Green.
    Good,
}

impl Style {
    /// The escape sequence it begins with.
    fn begin(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\x1b[1m",
            Self::Notable => "\x1b[33m",
            Self::Stop => "\x1b[1;31m",
            Self::Good => "\x1b[32m",
        }
    }
}

/// Is there colour? On a terminal, unless `NO_COLOR` is set or it is a dumb one.
fn has_colour() -> bool {
    let is_off = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !is_off("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Where messages and data go. What cannot be written is remembered, and the command ends with an error for it.
#[derive(Debug)]
pub(super) struct Output {
    quiet: bool,
    csv: CsvStyle,
    /// Why stdout ended; nothing is written to it afterwards.
    stdout: OnceLock<io::Error>,
    /// The same of stderr.
    stderr: OnceLock<io::Error>,
    /// Messages for whoever whenstop is part of; then nothing is written to stdout or stderr.
    kept: Option<Mutex<Vec<String>>>,
}

impl Output {
    /// Messages to stderr unless `quiet`; CSV in the style asked for.
    pub(super) fn new(quiet: bool, csv: CsvStyle) -> Self {
        Self { quiet, csv, stdout: OnceLock::new(), stderr: OnceLock::new(), kept: None }
    }

    /// Keeps messages and prints nothing, for a program that whenstop is part of.
    pub(super) fn keeping() -> Self {
        Self { kept: Some(Mutex::default()), ..Self::new(false, CsvStyle::Plain) }
    }

    /// The messages that were kept.
    pub(super) fn into_kept(self) -> Vec<String> {
        self.kept.map_or_else(Vec::new, |kept| kept.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// How CSV is written, to stdout and to files.
    pub(super) fn csv_style(&self) -> CsvStyle {
        self.csv
    }

    /// Lines for people: what a terminal would obey, or could not show, is written as an escape.
    pub(super) fn data(&self, text: &str) {
        self.to_stdout(diagnostic::lines(text).as_bytes());
    }

    /// Lines for people in a style, where the terminal has colour.
    pub(super) fn styled(&self, style: Style, text: &str) {
        let text = diagnostic::lines(text.trim_end_matches('\n'));
        if style == Style::Plain || !has_colour() {
            self.to_stdout(format!("{text}\n").as_bytes());
        } else {
            self.to_stdout(format!("{}{text}\x1b[0m\n", style.begin()).as_bytes());
        }
    }

    /// Data for programs: byte for byte, but on a terminal, where nobody but a person reads it. There it is shown as
    /// JSON may be written.
    pub(super) fn bytes(&self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) if io::stdout().is_terminal() => self.to_stdout(diagnostic::json(text).as_bytes()),
            _ => self.to_stdout(bytes),
        }
    }

    /// A sentence or two, broken between words at 80 columns, or fewer where the terminal has fewer.
    pub(super) fn paragraph(&self, text: &str) {
        self.styled_paragraph(Style::Plain, text);
    }

    /// The same in a style.
    pub(super) fn styled_paragraph(&self, style: Style, text: &str) {
        let width = usize::from(width()).min(80);
        let (mut lines, mut line) = (String::new(), String::new());
        // Names come from recordings: none of them begins a line.
        for word in diagnostic::one_line(text).split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines += &line;
                lines.push('\n');
                line.clear();
            } else if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        self.styled(style, &format!("{lines}{line}"));
    }

    /// A table in the format asked for.
    pub(super) fn table(&self, table: &Table, format: Format) -> Result<(), Failure> {
        match format {
            Format::Table => self.data(&table.to_terminal(width())),
            Format::Md => self.data(&table.to_markdown()),
            Format::Latex => self.data(&table.to_latex()),
            Format::Json => self.json(&table.to_json()),
            Format::Csv => {
                let mut csv = Vec::new();
                table.write_csv(&mut csv).map_err(|error| Failure::internal(&error))?;
                let csv = self.csv.styled(csv).map_err(|error| Failure::internal(&error))?;
                if io::stdout().is_terminal() {
                    self.data(&String::from_utf8_lossy(&csv));
                } else {
                    self.to_stdout(&csv);
                }
            }
        }
        Ok(())
    }

    /// A JSON document.
    pub(super) fn json(&self, value: &serde_json::Value) {
        self.to_stdout(diagnostic::json(&format!("{value:#}\n")).as_bytes());
    }

    /// A message for people, in one line.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            self.message(&diagnostic::one_line(text));
        }
    }

    /// Something odd about the input, unless quiet.
    pub(super) fn warning(&self, diagnostic: &Diagnostic) {
        if !self.quiet {
            self.message(&diagnostic.render(Severity::Warning));
        }
    }

    /// An error that ends the command, or one that lost something.
    pub(super) fn error(&self, diagnostic: &Diagnostic) {
        self.message(&diagnostic.render(Severity::Error));
    }

    /// Errors that end the command, with an empty line between them.
    pub(super) fn errors(&self, diagnostics: &Diagnostics) {
        for (index, diagnostic) in diagnostics.iter().enumerate() {
            if index > 0 {
                self.message("");
            }
            self.error(diagnostic);
        }
    }

    /// What the parser of the arguments has to say: help goes to stdout, an error to stderr.
    pub(super) fn parsing(&self, error: &clap::Error) -> Exit {
        if error.use_stderr() {
            // An error repeats the arguments, so it is shown without the parser's colours.
            self.message(error.render().to_string().trim_end());
            return Exit::Usage;
        }
        let text = if has_colour() { error.render().ansi().to_string() } else { error.render().to_string() };
        self.to_stdout(text.as_bytes());
        Exit::Done
    }

    /// How the command ends, `exit` if all it had to say could be written. A reader that has gone away (`| head`) has
    /// heard enough.
    pub(super) fn close(&self, exit: Exit) -> Exit {
        let lost = |error: &&io::Error| error.kind() != io::ErrorKind::BrokenPipe;
        if let Some(error) = self.stdout.get().filter(lost) {
            let help = "what was printed is cut short; see whether there is room, and run it again";
            self.error(&Diagnostic::new(Location::file("stdout"), format!("cannot write: {error}"), help));
        } else if !self.stderr.get().is_some_and(|error| lost(&error)) {
            return exit;
        }
        if exit == Exit::Done { Exit::BadInput } else { exit }
    }

    fn to_stdout(&self, bytes: &[u8]) {
        if self.kept.is_none() {
            write_all(&mut io::stdout().lock(), bytes, &self.stdout);
        }
    }

    fn message(&self, text: &str) {
        if let Some(kept) = &self.kept {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(diagnostic::lines(text).to_string());
            return;
        }
        write_all(&mut io::stderr().lock(), format!("{}\n", diagnostic::lines(text)).as_bytes(), &self.stderr);
    }

    /// A progress bar over things counted; hidden unless stderr is a terminal.
    pub(super) fn counted(&self, n: u64, what: &str) -> indicatif::ProgressBar {
        if self.quiet || self.kept.is_some() || !io::stderr().is_terminal() {
            return indicatif::ProgressBar::hidden();
        }
        let bar = indicatif::ProgressBar::new(n);
        let template =
            format!("{{bar:30}} {{human_pos}} of {{human_len}} {what}, {{eta}} left; Ctrl-C keeps what is done");
        match indicatif::ProgressStyle::with_template(&template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    /// A progress bar over bytes; hidden unless stderr is a terminal.
    pub(super) fn progress(&self, bytes: u64) -> indicatif::ProgressBar {
        if self.quiet || self.kept.is_some() || !io::stderr().is_terminal() {
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

/// Writes all of it, unless something was lost before; remembers what is lost now.
fn write_all(to: &mut impl Write, bytes: &[u8], lost: &OnceLock<io::Error>) {
    if lost.get().is_none()
        && let Err(error) = to.write_all(bytes).and_then(|()| to.flush())
    {
        // Another thread may have lost something first: then that is what is told.
        let _ = lost.set(error);
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
