//! One record on its way to runs: where it stands, and what is handed over or reported about it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::copies::ReplyId;
use super::grades::FolderGrades;
use super::json::{Fields, Written};
use super::{Finding, ReadOptions, json, time};
use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::json_text::Inner;
use crate::transcript::{Draft, Instant, Text};

/// The file a record comes from.
#[derive(Clone, Debug, Default)]
pub struct FileName {
    /// As the user gave it; an archive's member as `archive.zip!member`.
    pub path: String,
    /// The name without its folder and endings: what run ids begin with.
    pub stem: String,
    /// The folder it stands in.
    pub folder: PathBuf,
}

/// One record: a run, or a file of them, as text.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    /// The JSON text.
    pub text: &'r str,
    /// The same as it stands in the file, where its wrapping is another: each byte is in the same place.
    pub original: &'r str,
    /// The file.
    pub file: &'r FileName,
    /// The element's key or index, or the number of the line.
    pub key: &'r str,
    /// The top-level fields around the elements, as a JSON object; empty when there are none.
    pub envelope: &'r str,
    /// Outcomes found beside the file.
    pub grades: &'r FolderGrades,
    /// How to read.
    pub options: &'r ReadOptions,
    /// Line at which the record begins, from 1.
    pub line: usize,
    /// Column at which the record begins, from 1.
    pub column: usize,
}

impl<'r> Record<'r> {
    /// Where byte `offset` of the text stands in the file.
    pub fn at(&self, offset: usize) -> Location {
        let within = Location::in_text(self.file.path.as_str(), self.original, offset);
        let column = if within.line == 1 { self.column + within.column - 1 } else { within.column };
        Location { line: self.line + within.line - 1, column, ..within }
    }

    /// Where `part`, a piece of the text, stands in the file.
    pub fn locate(&self, part: &str) -> Location {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        self.at(if offset <= self.text.len() { offset } else { 0 })
    }

    /// The record as `T`, or where and why it is not.
    pub fn parse<T: Deserialize<'r>>(&self) -> Result<T, Diagnostic> {
        serde_json::from_str(self.text).map_err(|error| self.broken(self.text, &error))
    }

    /// The lines of the text that are not blank, each with its own place.
    pub fn lines(&self) -> impl Iterator<Item = &'r str> {
        let ends = memchr::memchr_iter(b'\n', self.text.as_bytes()).chain(std::iter::once(self.text.len()));
        let lines = ends.scan(0, |from, end| Some(&self.text[std::mem::replace(from, end + 1)..end]));
        let has_blank_ends = |line: &str| !matches!(line.as_bytes(), [b'!'..=b'~', .., b'!'..=b'~']);
        lines.map(move |line| if has_blank_ends(line) { line.trim() } else { line }).filter(|line| !line.is_empty())
    }

    /// What is wrong with `part`, which did not parse.
    pub fn broken(&self, part: &str, error: &serde_json::Error) -> Diagnostic {
        let before: usize = part.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let within = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let within = if within <= self.text.len() { within } else { 0 };
        let at = self.at(within + before + error.column().saturating_sub(1));
        // Valid JSON that is no object is no line of any format: say what it is, where it begins.
        if let Some(kind) = json::kind(part).filter(|kind| error.is_data() && *kind != "an object") {
            let help = "a recorder writes an object here; it is left out, the rest is read";
            return Diagnostic::new(self.at(within), format!("this is {kind}, not an object: `{}`", shown(part)), help);
        }
        let help = match error.classify() {
            serde_json::error::Category::Eof => {
                "the text ends within a value: the recording was probably cut off, or is still being written"
            }
            serde_json::error::Category::Data => "a field has another type than this format gives it",
            serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
                "write it as valid JSON, or take it out"
            }
        };
        Diagnostic::new(at, format!("cannot read this as JSON: {}", json::message(error)), help)
    }
}

/// The beginning of a text, for a message.
fn shown(text: &str) -> String {
    text.trim_start().chars().take(40).collect()
}

/// What was made of a record.
#[derive(Debug)]
pub struct Reading<'r> {
    record: Record<'r>,
    pub(super) drafts: Vec<Draft>,
    /// The replies of drafts that may have them in common with other files, by the draft's place.
    pub(super) replies: BTreeMap<usize, Vec<ReplyId>>,
    pub(super) findings: Vec<Finding>,
    pub(super) unknown: BTreeMap<String, u64>,
}

impl<'r> Reading<'r> {
    /// Nothing yet.
    pub(super) fn of(record: Record<'r>) -> Self {
        Self { record, drafts: Vec::new(), replies: BTreeMap::new(), findings: Vec::new(), unknown: BTreeMap::new() }
    }

    /// Hands over a run.
    pub fn run(&mut self, draft: Draft) {
        self.drafts.push(draft);
    }

    /// Hands over a run whose replies may stand in other files too.
    pub(super) fn run_of_replies(&mut self, draft: Draft, replies: Vec<ReplyId>) {
        self.replies.insert(self.drafts.len(), replies);
        self.drafts.push(draft);
    }

    /// Something is lost.
    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.findings.push(Finding { severity: Severity::Error, diagnostic });
    }

    /// Something was repaired, left out, or looks wrong.
    pub fn warning(&mut self, diagnostic: Diagnostic) {
        self.findings.push(Finding { severity: Severity::Warning, diagnostic });
    }

    /// Something is lost at `part` of the record.
    pub fn error_at(&mut self, part: &str, what: impl Into<String>, help: impl Into<String>) {
        self.error(Diagnostic::new(self.record.locate(part), what, help));
    }

    /// Something looks wrong at `part` of the record.
    pub fn warn_at(&mut self, part: &str, what: impl Into<String>, help: impl Into<String>) {
        self.warning(Diagnostic::new(self.record.locate(part), what, help));
    }

    /// A kind of line or event this reader does not know: counted, not read.
    pub fn unknown(&mut self, kind: &str) {
        *self.unknown.entry(kind.to_owned()).or_default() += 1;
    }

    /// Reports that `field` is not what it should be.
    pub fn wrong<'a>(&mut self, raw: impl Written<'a>, field: &str, wanted: &str) {
        let what = format!("`{field}` should be {wanted}, not `{}`", shown(raw.written()));
        self.error_at(raw.written(), what, "this field is left out");
    }

    /// Parses a part of the record; what does not parse is reported and left out.
    pub fn part<'a, T: Deserialize<'a>>(
        &mut self,
        raw: Option<impl Written<'a>>,
        field: &str,
        wanted: &str,
    ) -> Option<T> {
        let raw = raw?;
        let parsed = serde_json::from_str(raw.written()).ok();
        if parsed.is_none() {
            self.wrong(raw, field, wanted);
        }
        parsed
    }

    /// The fields of an object; what is none is reported and left out.
    pub(super) fn object<'a, T: Fields<'a>>(
        &mut self,
        raw: Option<impl Written<'a>>,
        field: &str,
        wanted: &str,
    ) -> Option<T> {
        self.checked(raw, field, wanted, |raw| T::of(raw.written()).ok())
    }

    /// The same of an object that may have been read with what is around it.
    pub(super) fn inner<'a, T: Fields<'a> + Clone>(
        &mut self,
        found: Option<&Inner<'a, T>>,
        field: &str,
        wanted: &str,
    ) -> Option<T> {
        let found = found?;
        found.object.clone().or_else(|| self.object(Some(found.written), field, wanted))
    }

    /// The elements of an array.
    pub fn list<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Vec<&'a RawValue> {
        self.part(raw, field, "an array").unwrap_or_default()
    }

    /// The elements of an array, as they are written.
    pub(super) fn elements<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Vec<&'a str> {
        self.checked(raw, field, "an array", json::elements).unwrap_or_default()
    }

    /// A short string, decoded.
    pub fn string<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Cow<'a, str>> {
        self.checked(raw, field, "a string", json::string)
    }

    /// A name that may be written as a string or as a number.
    pub fn word<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<String> {
        self.checked(raw, field, "a string or a number", json::word)
    }

    /// As [`Self::word`], borrowed where it can be.
    pub(super) fn name<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Cow<'a, str>> {
        self.checked(raw, field, "a string or a number", json::name)
    }

    /// A long string, kept as it stands.
    pub fn text<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Text> {
        self.checked(raw, field, "a string", json::text)
    }

    /// What a message says: a string, or parts of which the texts are joined by line feeds.
    pub fn content<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Text> {
        let raw = raw?;
        let content = json::content(raw);
        if content.is_none() {
            self.warn_at(
                raw.written(),
                format!("`{field}` is neither a string nor an array of parts"),
                "it is kept as the JSON it is",
            );
            return Some(Text::plain(raw.written()));
        }
        content
    }

    /// A count, 0 or more.
    pub fn count<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<u64> {
        self.checked(raw, field, "a whole number, 0 or more", json::count)
    }

    /// A number.
    pub fn number<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<f64> {
        self.checked(raw, field, "a number", json::number)
    }

    /// True or false.
    pub fn flag<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<bool> {
        self.checked(raw, field, "true or false", json::flag)
    }

    /// A time: ISO 8601, or seconds, milliseconds … since 1970, told apart by size.
    pub fn instant<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Instant> {
        self.checked(raw, field, "a time, as in `2026-01-05T10:00:00Z`", time::instant)
    }

    fn checked<'a, T, W: Written<'a>>(
        &mut self,
        raw: Option<W>,
        field: &str,
        wanted: &str,
        read: impl Fn(W) -> Option<T>,
    ) -> Option<T> {
        let raw = raw?;
        let value = read(raw);
        if value.is_none() {
            self.wrong(raw, field, wanted);
        }
        value
    }
}
