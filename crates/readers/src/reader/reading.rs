//! One record on its way to runs: where it stands, and what is handed over or reported about it.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::copies::ReplyId;
use super::grades::FolderGrades;
use super::json::{Fields, Written};
use super::{Finding, ReadOptions, json, time};
use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::json_text::{Inner, trimmed};
use crate::transcript::{Draft, Event, Instant, Text, Usd};

/// Findings of one record kept of each severity; the rest is only counted, since a record of junk has one a line.
const KEPT: usize = 1000;
/// Steps are counted in 32 bits. No run has as many.
pub(super) const STEPS: usize = u32::MAX as usize;
/// Most dollars one model call can cost. What is above is no price, and a few of them would add up to infinity.
const MOST_DOLLARS: f64 = 1e9;

/// Members that say what a thing is, not what it holds.
const NO_CONTENT: &[&str] = &[
    "id",
    "type",
    "role",
    "name",
    "index",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "timestamp",
    "created_at",
    "ts",
    "model",
    "status",
    "finish_reason",
    "stop_reason",
    "usage",
    "metadata",
    "cache_control",
    "annotations",
    "logprobs",
    "uuid",
    "provider_specific_fields",
];

/// The file a record comes from.
#[derive(Clone, Debug, Default)]
pub struct FileName {
    /// As the user gave it; an archive's member as `archive.zip!member`.
    pub path: String,
    /// The name without its folder and endings: what run ids begin with.
    pub stem: String,
    /// The folder it stands in.
    pub folder: PathBuf,
    /// That folder's own name, however the path to it is spelled; empty where it has none.
    pub folder_name: String,
    /// Is it the only file of its folder that may be a recording?
    pub is_alone: bool,
}

/// The place in a text that was asked for last. Findings come in order, so the next place is counted from there and not
/// from the beginning, which would take a time that grows with the square of their number.
#[derive(Debug, Default)]
pub struct Places(Cell<Place>);

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    offset: usize,
    /// Line feeds before the offset.
    line: usize,
    /// Where the line begins.
    begins: usize,
}

impl Places {
    /// Line and column of a byte of `text`, each from 1. `text` must be the same at every call.
    fn of(&self, text: &str, offset: usize) -> (usize, usize) {
        let (bytes, last) = (text.as_bytes(), self.0.get());
        let offset = offset.min(bytes.len());
        let feeds = |from: usize, to: usize| memchr::memchr_iter(b'\n', &bytes[from..to]).count();
        let line_begins = |from: usize| memchr::memrchr(b'\n', &bytes[from..offset]).map(|at| from + at + 1);
        let place = if offset >= last.offset {
            let line = last.line + feeds(last.offset, offset);
            Place { offset, line, begins: line_begins(last.offset).unwrap_or(last.begins) }
        } else {
            let back = feeds(offset, last.offset);
            let begins = if back == 0 { last.begins } else { line_begins(0).unwrap_or(0) };
            Place { offset, line: last.line - back, begins }
        };
        self.0.set(place);
        (place.line + 1, offset - place.begins + 1)
    }
}

/// One record: a run, or a file of them, as text.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    /// The JSON text.
    pub text: &'r str,
    /// The same as it stands in the file, where its wrapping is another: each byte is in the same place, but for `inserted`.
    pub original: &'r str,
    /// The bytes of `text` that `original` does not have, in ascending order.
    pub inserted: &'r [usize],
    /// The file.
    pub file: &'r FileName,
    /// The element's key or index, or the number of the line.
    pub key: &'r str,
    /// The top-level fields around the elements, as a JSON object; empty when there are none.
    pub envelope: &'r str,
    /// Outcomes found beside the file.
    pub grades: &'r FolderGrades,
    /// Where findings of this record were last placed; of this record only.
    pub places: &'r Places,
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
        self.at_original(offset - self.inserted.partition_point(|at| *at < offset))
    }

    /// Where a byte of `original` stands in the file.
    pub(super) fn at_original(&self, offset: usize) -> Location {
        let (line, column) = self.places.of(self.original, offset);
        let column = if line == 1 { self.column + column - 1 } else { column };
        Location { path: self.file.path.clone(), line: self.line + line - 1, column }
    }

    /// Where `part`, a piece of the text, stands in the file.
    pub fn locate(&self, part: &str) -> Location {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        self.at(if offset <= self.text.len() { offset } else { 0 })
    }

    /// The lines of the text that are not blank, each with its own place.
    pub fn lines(&self) -> impl Iterator<Item = &'r str> {
        let ends = memchr::memchr_iter(b'\n', self.text.as_bytes()).chain(std::iter::once(self.text.len()));
        let lines = ends.scan(0, |from, end| Some(&self.text[std::mem::replace(from, end + 1)..end]));
        let has_blank_ends = |line: &str| !matches!(line.as_bytes(), [b'!'..=b'~', .., b'!'..=b'~']);
        lines.map(move |line| if has_blank_ends(line) { trimmed(line) } else { line }).filter(|line| !line.is_empty())
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

/// A cost that a model call can have had.
pub(super) fn plausible(dollars: f64) -> Option<f64> {
    (0.0..=MOST_DOLLARS).contains(&dollars).then_some(dollars)
}

/// The beginning of a text, for a message.
fn shown(text: &str) -> String {
    text.trim_start().chars().take(40).collect()
}

/// What there is to say of a record: the first findings of each severity, and how many more there were.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Those that are kept, in the order they were made.
    pub(super) kept: Vec<Finding>,
    errors: u64,
    warnings: u64,
}

impl Findings {
    /// Adds one, or counts it.
    pub(super) fn add(&mut self, finding: Finding) {
        if !self.only_counted(finding.severity) {
            *self.number_of(finding.severity) += 1;
            self.kept.push(finding);
        }
    }

    /// Counts one more, if none of this severity is kept any more: then there is no need to word it.
    fn only_counted(&mut self, severity: Severity) -> bool {
        let n = self.number_of(severity);
        let full = *n >= KEPT as u64;
        *n += u64::from(full);
        full
    }

    fn number_of(&mut self, severity: Severity) -> &mut u64 {
        match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        }
    }

    /// Adds those of a part of the record.
    pub(super) fn extend(&mut self, more: Self) {
        let (errors, warnings) = more.left_out();
        more.kept.into_iter().for_each(|finding| self.add(finding));
        self.errors += errors;
        self.warnings += warnings;
    }

    /// How many there were so far, kept or not.
    pub(super) fn made(&self) -> u64 {
        self.errors + self.warnings
    }

    /// Errors and warnings that are not kept.
    pub(super) fn left_out(&self) -> (u64, u64) {
        let kept = |severity| self.kept.iter().filter(|finding| finding.severity == severity).count() as u64;
        (self.errors - kept(Severity::Error), self.warnings - kept(Severity::Warning))
    }
}

/// What was made of a record.
#[derive(Debug)]
pub struct Reading<'r> {
    pub(super) record: Record<'r>,
    pub(super) drafts: Vec<Draft>,
    /// The replies of drafts that may have them in common with other files, by the draft's place.
    pub(super) replies: BTreeMap<usize, Vec<ReplyId>>,
    pub(super) findings: Findings,
    pub(super) unknown: BTreeMap<String, u64>,
    /// Texts that were not taken, by what they belong to and their member's name.
    pub(super) untaken: BTreeMap<(Of, String), Untaken>,
}

/// What a text belongs to that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    Call,
    Result,
    Message,
}

/// How often a text was not taken, and where first.
#[derive(Clone, Debug)]
pub(super) struct Untaken {
    pub(super) times: u64,
    pub(super) first: Location,
}

impl<'r> Reading<'r> {
    /// Nothing yet.
    pub(super) fn of(record: Record<'r>) -> Self {
        Self {
            record,
            drafts: Vec::new(),
            replies: BTreeMap::new(),
            findings: Findings::default(),
            unknown: BTreeMap::new(),
            untaken: BTreeMap::new(),
        }
    }

    /// Notes the members of `written` that carry text and are not among `known`: nothing else was found in it, so
    /// different ones would look equal.
    pub(super) fn left_untaken(&mut self, of: Of, written: &str, known: &[&str]) {
        for (name, value) in json::fields_of(written).unwrap_or_default() {
            let text = value.get();
            let carries = text.len() > 2 && matches!(text.as_bytes().first(), Some(b'"' | b'{' | b'['));
            if !carries || known.contains(&name.as_str()) || NO_CONTENT.contains(&name.as_str()) {
                continue;
            }
            let first = self.record.locate(written);
            self.untaken.entry((of, name)).or_insert(Untaken { times: 0, first }).times += 1;
        }
    }

    /// Hands over a run.
    pub fn run(&mut self, draft: Draft) {
        self.drafts.push(draft);
    }

    /// Takes out costs that no call can have had, and says so. Formats whose fields hold numbers of any spelling leave it
    /// to this.
    pub(super) fn check_costs(&mut self) {
        let events = self.drafts.iter_mut().flat_map(|draft| &mut draft.events);
        let messages =
            events.filter_map(|event| if let Event::Message(message) = event { Some(message) } else { None });
        let mut odd = Vec::new();
        for message in messages {
            if let Some(Usd(cost)) = message.cost.take_if(|cost| plausible(cost.0).is_none()) {
                odd.push(cost);
            }
        }
        if let Some(first) = odd.first() {
            self.error(Diagnostic::new(
                self.record.at(0),
                format!("{} costs that are no dollars from 0 to a billion, the first `{first}`", odd.len()),
                "these costs are left out; the rest of the run is read",
            ));
        }
    }

    /// Hands over a run whose replies may stand in other files too.
    pub(super) fn run_of_replies(&mut self, draft: Draft, replies: Vec<ReplyId>) {
        self.replies.insert(self.drafts.len(), replies);
        self.drafts.push(draft);
    }

    /// Something is lost.
    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.findings.add(Finding { severity: Severity::Error, diagnostic });
    }

    /// Something was repaired, left out, or looks wrong.
    pub fn warning(&mut self, diagnostic: Diagnostic) {
        self.findings.add(Finding { severity: Severity::Warning, diagnostic });
    }

    /// Something is lost at `part` of the record.
    pub fn error_at(&mut self, part: &str, what: impl Into<String>, help: impl Into<String>) {
        if !self.findings.only_counted(Severity::Error) {
            self.error(Diagnostic::new(self.record.locate(part), what, help));
        }
    }

    /// A line that does not parse is left out.
    pub(super) fn broken_line(&mut self, line: &str, error: &serde_json::Error) {
        if !self.findings.only_counted(Severity::Error) {
            let broken = self.record.broken(line, error);
            self.error(Diagnostic { what: format!("this line is left out: {}", broken.what), ..broken });
        }
    }

    /// Something looks wrong at `part` of the record.
    pub fn warn_at(&mut self, part: &str, what: impl Into<String>, help: impl Into<String>) {
        if !self.findings.only_counted(Severity::Warning) {
            self.warning(Diagnostic::new(self.record.locate(part), what, help));
        }
    }

    /// A kind of line or event this reader does not know: counted, not read.
    pub fn unknown(&mut self, kind: &str) {
        *self.unknown.entry(kind.to_owned()).or_default() += 1;
    }

    /// Reports that `field` is not what it should be.
    pub fn wrong<'a>(&mut self, raw: impl Written<'a>, field: &str, wanted: &str) {
        self.wrong_at(raw.written(), raw.written(), field, wanted);
    }

    /// The same of a value that stands, encoded, at `place`.
    pub(super) fn wrong_at(&mut self, place: &str, raw: &str, field: &str, wanted: &str) {
        if !self.findings.only_counted(Severity::Error) {
            let what = format!("`{field}` should be {wanted}, not `{}`", shown(raw));
            self.error_at(place, what, "this field is left out");
        }
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

    /// A step of a run, from 0.
    pub fn step<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<usize> {
        let as_step = |raw| json::count(raw).and_then(|step| usize::try_from(step).ok()).filter(|step| *step < STEPS);
        self.checked(raw, field, "a step, from 0", as_step)
    }

    /// A number.
    pub fn number<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<f64> {
        self.checked(raw, field, "a number", json::number)
    }

    /// Dollars that a model call cost.
    pub fn dollars<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Usd> {
        self.checked(raw, field, "dollars, from 0 to a billion", |raw| json::number(raw).and_then(plausible)).map(Usd)
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
