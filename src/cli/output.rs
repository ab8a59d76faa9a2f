//! All writes to stdout and stderr.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use clap::ValueEnum;

use self::width::folded;
pub(super) use self::width::{broken, filled, is_seen, line_width, width, wrapped};
use super::ProgramExit;
use super::failure::CommandFailure;
use crate::answers::tables::DataTable;
use crate::diagnostic::{self, Diagnostic, Diagnostics, Location, Severity, count};
use crate::report::CsvStyle;

mod width;

/// How a table is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
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

/// How an answer is printed: a table, or what is proposed to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum AnswerFormat {
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
    /// A block for a pull request: what runs today (`--today`) against what is proposed, in Markdown, with bounds.
    Pr,
}

impl AnswerFormat {
    /// The format of the table that is printed; `None` for a pull request.
    pub(super) fn table_format(self) -> Option<TableFormat> {
        match self {
            Self::Table => Some(TableFormat::Table),
            Self::Json => Some(TableFormat::Json),
            Self::Csv => Some(TableFormat::Csv),
            Self::Md => Some(TableFormat::Md),
            Self::Latex => Some(TableFormat::Latex),
            Self::Pr => None,
        }
    }
}

/// The style of a line on a terminal with colour. It adds nothing that the words do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineStyle {
    /// No styling.
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

impl LineStyle {
    /// Its escape sequence.
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

/// Whether to use colour: on a terminal, unless `NO_COLOR` is set or the terminal is dumb.
fn has_colour() -> bool {
    let is_off = matches!(std::env::var_os("NO_COLOR"), Some(value) if !value.is_empty());
    is_seen() && !is_off && std::env::var_os("TERM") != Some("dumb".into())
}

/// Where messages and data go. Write errors are remembered, and the command then ends with an error.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Write no messages but errors.
    pub(super) quiet: bool,
    /// How CSV is written, to stdout and to files.
    pub(super) csv: CsvStyle,
    /// Why stdout failed; nothing is written to it afterwards.
    pub(super) stdout: OnceLock<io::Error>,
    /// Why stderr failed.
    pub(super) stderr: OnceLock<io::Error>,
    /// Collected messages for an embedding program; if set, nothing is written to stdout or stderr.
    pub(super) kept: Option<Mutex<Vec<String>>>,
    /// Print every note below an answer, not only those that fit on its screen.
    pub(super) all_notes: bool,
    /// Open the page that is written.
    pub(super) opens: bool,
    /// The arguments of the program; none if another program embeds it.
    pub(super) command: Option<Vec<String>>,
}

/// Lines of the screen that an answer fits on.
const SCREEN: usize = 24;

impl Output {
    /// Says where a folder with a page was written, and opens the page if that was asked for.
    pub(super) fn wrote_page(&self, folder: &Path) {
        self.note(&format!("written to {}; open {}", folder.display(), folder.join("report.html").display()));
        self.open_page(folder);
    }

    /// Opens the page of a folder, if that was asked for.
    pub(super) fn open_page(&self, folder: &Path) {
        let page = folder.join("report.html");
        if !self.opens {
            return;
        }
        let program = if cfg!(target_os = "macos") {
            "open"
        } else if cfg!(windows) {
            "explorer"
        } else {
            "xdg-open"
        };
        let mut command = std::process::Command::new(program);
        let quiet = std::process::Stdio::null;
        if let Err(error) = command.arg(&page).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn() {
            let help = "open the page yourself";
            self.warning(&Diagnostic::new(Location::default(), format!("cannot start `{program}`: {error}"), help));
        }
    }

    /// Collects messages and prints nothing, for a program that embeds whenstop.
    pub(super) fn keeping() -> Self {
        Self { kept: Some(Mutex::default()), ..Self::default() }
    }

    /// The collected messages.
    pub(super) fn into_kept(self) -> Vec<String> {
        match self.kept {
            Some(kept) => kept.into_inner().unwrap_or_else(PoisonError::into_inner),
            None => Vec::new(),
        }
    }

    /// Prints lines for people; control and unprintable characters are escaped. A terminal gets no line that is wider
    /// than itself.
    pub(super) fn data(&self, text: &str) {
        let text = diagnostic::lines(text);
        let text = if is_seen() { folded(&text, usize::from(width())) } else { text };
        self.to_stdout(inert(&text).as_bytes());
    }

    /// Prints lines that are pasted somewhere else, each whole however wide the terminal is.
    pub(super) fn lines(&self, text: &str) {
        self.to_stdout(inert(&diagnostic::lines(text)).as_bytes());
    }

    /// Prints lines for people in a style, if the terminal has colour.
    pub(super) fn styled(&self, style: LineStyle, text: &str) {
        let text = inert(&diagnostic::lines(text.trim_end_matches('\n'))).into_owned();
        if style == LineStyle::Plain || !has_colour() {
            self.to_stdout(format!("{text}\n").as_bytes());
        } else {
            self.to_stdout(format!("{}{text}\x1b[0m\n", style.begin()).as_bytes());
        }
    }

    /// Prints data for programs, byte for byte. On a terminal, where only a person reads it, control characters are
    /// escaped as in JSON.
    pub(super) fn bytes(&self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) if is_seen() => self.to_stdout(diagnostic::json(text).as_bytes()),
            _ => self.to_stdout(bytes),
        }
    }

    /// Prints one or two sentences, wrapped at 80 columns or at the terminal's width if it is narrower.
    pub(super) fn paragraph(&self, text: &str) {
        self.styled_paragraph(LineStyle::Plain, text);
    }

    /// Prints a paragraph in a style.
    pub(super) fn styled_paragraph(&self, style: LineStyle, text: &str) {
        self.styled(style, &wrapped(text));
    }

    /// Prints the notes below an answer of `used` lines, in order, as far as they fit on the screen; and how many do
    /// not.
    pub(super) fn notes(&self, used: usize, notes: &[String]) {
        let texts: Vec<String> = notes.iter().map(|note| wrapped(note)).collect();
        let height = |text: &str| text.lines().count();
        let fits = used + 1 + texts.iter().map(|text| height(text)).sum::<usize>() <= SCREEN;
        if !texts.is_empty() {
            self.data("\n");
        }
        // Room for the blank line above the notes and the line about those left out.
        let (mut room, mut left_out) = (SCREEN.saturating_sub(used + 2), 0_u64);
        for text in &texts {
            if self.all_notes || fits || height(text) <= room {
                room = room.saturating_sub(height(text));
                self.styled(LineStyle::Plain, text);
            } else {
                left_out += 1;
            }
        }
        if left_out > 0 {
            self.data(&format!("{}: `--notes`\n", count(left_out, "more note")));
        }
    }

    /// Prints a table in the requested format.
    pub(super) fn table(&self, table: &DataTable, format: TableFormat) -> Result<(), CommandFailure> {
        match format {
            TableFormat::Table => self.data(&table.to_terminal(width())),
            TableFormat::Md => self.lines(&table.to_markdown()),
            TableFormat::Latex => self.lines(&table.to_latex()),
            TableFormat::Json => self.json(&table.to_json()),
            TableFormat::Csv => {
                let mut csv = Vec::new();
                table.write_csv(&mut csv).map_err(|error| CommandFailure::internal(&error))?;
                let csv = self.csv.styled(csv).map_err(|error| CommandFailure::internal(&error))?;
                if is_seen() {
                    self.lines(&String::from_utf8_lossy(&csv));
                } else {
                    self.to_stdout(&csv);
                }
            }
        }
        Ok(())
    }

    /// Prints a JSON document.
    pub(super) fn json(&self, value: &serde_json::Value) {
        self.to_stdout(diagnostic::json(&format!("{value:#}\n")).as_bytes());
    }

    /// Prints a message for people, on one line.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            self.message(&diagnostic::one_line(text));
        }
    }

    /// Prints a warning about the input, unless quiet.
    pub(super) fn warning(&self, diagnostic: &Diagnostic) {
        if !self.quiet {
            self.message(&diagnostic.render(Severity::Warning));
        }
    }

    /// Prints an error that ends the command or lost something.
    pub(super) fn error(&self, diagnostic: &Diagnostic) {
        self.message(&diagnostic.render(Severity::Error));
    }

    /// Prints errors that end the command, with an empty line between them.
    pub(super) fn errors(&self, diagnostics: &Diagnostics) {
        for (index, diagnostic) in diagnostics.iter().enumerate() {
            if index > 0 {
                self.message("");
            }
            self.error(diagnostic);
        }
    }

    /// Prints what the argument parser reports: help to stdout, errors to stderr.
    pub(super) fn parsing(&self, error: &clap::Error) -> ProgramExit {
        if error.use_stderr() {
            // An error repeats the arguments, so it is shown without the parser's colours.
            self.message(error.render().to_string().trim_end());
            return ProgramExit::Usage;
        }
        let text = if has_colour() { error.render().ansi().to_string() } else { error.render().to_string() };
        self.to_stdout(text.as_bytes());
        ProgramExit::Done
    }

    /// True if nothing more can be written to stdout.
    pub(super) fn is_closed(&self) -> bool {
        self.stdout.get().is_some()
    }

    /// The exit code: `exit` if everything could be written. A closed pipe (`| head`) is not an error.
    pub(super) fn close(&self, exit: ProgramExit) -> ProgramExit {
        let lost = |error: &&io::Error| error.kind() != io::ErrorKind::BrokenPipe;
        if let Some(error) = self.stdout.get().filter(lost) {
            let help = "what was printed is cut short; see whether there is room, and run it again";
            self.error(&Diagnostic::new(Location::file("stdout"), format!("cannot write: {error}"), help));
        } else if !self.stderr.get().is_some_and(|error| lost(&error)) {
            return exit;
        }
        if exit == ProgramExit::Done { ProgramExit::BadInput } else { exit }
    }

    fn to_stdout(&self, bytes: &[u8]) {
        if self.kept.is_none() {
            write_all(&mut io::stdout().lock(), bytes, &self.stdout);
        }
    }

    fn message(&self, text: &str) {
        if let Some(kept) = &self.kept {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(inert(&diagnostic::lines(text)).into_owned());
            return;
        }
        let text = diagnostic::lines(text);
        let text = if io::stderr().is_terminal() { folded(&text, usize::from(width())) } else { text };
        write_all(&mut io::stderr().lock(), format!("{}\n", inert(&text)).as_bytes(), &self.stderr);
    }

    /// A progress bar for counted items; hidden unless stderr is a terminal.
    pub(super) fn counted(&self, n: u64, what: &str) -> indicatif::ProgressBar {
        let template =
            format!("{{bar:30}} {{human_pos}} of {{human_len}} {what}, {{eta}} left; Ctrl-C keeps what is done");
        self.bar(n, &template)
    }

    /// A progress bar for bytes; hidden unless stderr is a terminal.
    pub(super) fn progress(&self, bytes: u64) -> indicatif::ProgressBar {
        self.bar(bytes, "{bar:30} {bytes} of {total_bytes}{msg}, {eta} left")
    }

    fn bar(&self, length: u64, template: &str) -> indicatif::ProgressBar {
        if self.quiet || self.kept.is_some() || !io::stderr().is_terminal() {
            return indicatif::ProgressBar::hidden();
        }
        let bar = indicatif::ProgressBar::new(length);
        match indicatif::ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

/// The text without lines that a CI system would take for a command to it: GitHub's runner obeys any line that begins
/// with `::`, and a line may begin with an id from a recording.
fn inert(text: &str) -> Cow<'_, str> {
    let begins = |line: &str, sign: &str| line.trim_start().starts_with(sign);
    if !text.lines().any(|line| begins(line, "::") || begins(line, "##[")) {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(|line| match (begins(line, "::"), begins(line, "##[")) {
        (true, _) => line.replacen(':', "\\u{3a}", 1),
        (_, true) => line.replacen('#', "\\u{23}", 1),
        _ => line.to_owned(),
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// The number of lines that paragraphs and tables take.
pub(super) fn lines_of(paragraphs: &[&str], tables: &[&DataTable]) -> usize {
    let paragraphs: usize = paragraphs.iter().map(|text| wrapped(text).lines().count()).sum();
    paragraphs + tables.iter().map(|table| table.to_terminal(width()).lines().count()).sum::<usize>()
}

/// Writes everything, unless an earlier write failed; remembers a new failure.
fn write_all(to: &mut impl Write, bytes: &[u8], lost: &OnceLock<io::Error>) {
    if lost.get().is_none()
        && let Err(error) = to.write_all(bytes).and_then(|()| to.flush())
    {
        // If another thread failed first, that error is reported.
        let _ = lost.set(error);
    }
}
