//! Reads one record into runs: where the record is, and the runs and findings that come out of it.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::find::file_name::{FileName, OtherFile};
use crate::json_text::{Inner, trimmed};
use crate::label::report_files::FolderGrades;
use crate::label::words::may_be_outcome;
use crate::open::finding::Finding;
use crate::record::looked_up::{self, WrongType};
use crate::record::options::ReadOptions;
use crate::record::parts::RunPart;
use crate::record::tokens;
use crate::text::word_list;
use crate::transcript::{Draft, Event, Grade, Instant, Usd};
use crate::value::json::{DeclaredFields, STEPS, Written, plausible};
use crate::value::{json, time};

/// Findings kept per record and severity. The rest is only counted, since a record of junk has one per line.
const KEPT: usize = 1000;

/// Members that identify or classify a thing but carry no content.
const NO_CONTENT: &[&str] = word_list!(
    "id type role name index call_id tool_call_id tool_use_id timestamp created_at ts model status finish_reason",
    "stop_reason usage metadata cache_control annotations logprobs uuid provider_specific_fields",
);

/// Objects and arrays that hold no token counts.
const COUNTS_NOTHING: &[&str] = &["name", "content", "text", "parts", "thinking", "arguments", "args", "function"];
/// Members that decide what a record is, or which records are the same.
const DECIDES: &[&str] =
    &["type", "role", "kind", "say", "from", "event", "source", "run_type", "key", "cache", "is_copied_context"];

/// Whether, without this member's value, it is unknown which token counts belong to the run.
fn may_count(key: &str, wanted: &str) -> bool {
    let is_identity = DECIDES.contains(&key) || key == "id" || key.ends_with("_id") || key.ends_with("Id");
    let is_container = wanted.contains("object") || wanted.contains("array");
    is_identity || is_container && !COUNTS_NOTHING.contains(&key)
}

/// Members that hold an outcome deeper inside.
const OUTCOMES_WITHIN: &[&str] = &["judgement", "final_metrics", "extra", "metrics", "report", "result", "info"];

/// Index of a reply among the run's events, and a hash of its message id.
pub(crate) type ReplyId = (usize, u64);

/// The last position looked up in a text. Findings come in order, so the next position is counted from there; counting
/// from the beginning each time would take time quadratic in the number of findings.
#[derive(Debug, Default)]
pub struct LastPosition(Cell<TextPosition>);

#[derive(Clone, Copy, Debug, Default)]
struct TextPosition {
    offset: usize,
    /// Line feeds before the offset.
    line: usize,
    /// Offset at which the line begins.
    begins: usize,
}

impl LastPosition {
    /// Line and column of a byte of `text`, each from 1. `text` must be the same at every call.
    fn line_and_column(&self, text: &str, offset: usize) -> (usize, usize) {
        let (bytes, last) = (text.as_bytes(), self.0.get());
        let offset = offset.min(bytes.len());
        let feeds = |from: usize, to: usize| memchr::memchr_iter(b'\n', &bytes[from..to]).count();
        let line_begins = |from: usize| memchr::memrchr(b'\n', &bytes[from..offset]).map(|at| from + at + 1);
        let place = if offset >= last.offset {
            let line = last.line + feeds(last.offset, offset);
            TextPosition { offset, line, begins: line_begins(last.offset).unwrap_or(last.begins) }
        } else {
            let back = feeds(offset, last.offset);
            let begins = if back == 0 { last.begins } else { line_begins(0).unwrap_or(0) };
            TextPosition { offset, line: last.line - back, begins }
        };
        self.0.set(place);
        (place.line + 1, offset - place.begins + 1)
    }
}

/// The text of one record: a run or a file of runs.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    /// The JSON text.
    pub text: &'r str,
    /// The text as it is in the file, if its wrapping was changed: every byte is at the same place except for
    /// `inserted`.
    pub original: &'r str,
    /// Offsets of bytes of `text` that `original` does not have, ascending.
    pub inserted: &'r [usize],
    /// The file it comes from.
    pub file: &'r FileName,
    /// The element's key or index, or the line number.
    pub key: &'r str,
    /// The top-level fields around the elements, as a JSON object; empty if there are none.
    pub envelope: &'r str,
    /// Outcomes found beside the file.
    pub grades: &'r FolderGrades,
    /// The last position looked up in this record; must not be shared with another record.
    pub places: &'r LastPosition,
    /// The files of the sessions that this one's agent started, to be read with it.
    pub(crate) children: &'r [OtherFile],
    /// The options to read with.
    pub options: &'r ReadOptions,
    /// Line where the record begins, from 1.
    pub line: usize,
    /// Column where the record begins, from 1.
    pub column: usize,
}

impl<'r> Record<'r> {
    /// The location in the file of byte `offset` of the text.
    pub fn at(&self, offset: usize) -> Location {
        self.at_original(offset - self.inserted.partition_point(|at| *at < offset))
    }

    /// The location in the file of byte `offset` of `original`.
    pub(crate) fn at_original(&self, offset: usize) -> Location {
        let (line, column) = self.places.line_and_column(self.original, offset);
        let column = if line == 1 { self.column + column - 1 } else { column };
        Location { path: self.file.path.clone(), line: self.line + line - 1, column }
    }

    /// The location in the file of `part`, a slice of the text.
    pub fn locate(&self, part: &str) -> Location {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        self.at(if offset <= self.text.len() { offset } else { 0 })
    }

    /// The lines of the text that are not blank, trimmed.
    pub fn lines(&self) -> impl Iterator<Item = &'r str> {
        let ends = memchr::memchr_iter(b'\n', self.text.as_bytes()).chain(std::iter::once(self.text.len()));
        let lines = ends.scan(0, |from, end| Some(&self.text[std::mem::replace(from, end + 1)..end]));
        let has_blank_ends = |line: &str| !matches!(line.as_bytes(), [b'!'..=b'~', .., b'!'..=b'~']);
        lines.map(move |line| if has_blank_ends(line) { trimmed(line) } else { line }).filter(|line| !line.is_empty())
    }

    /// The finding for `part`, which did not parse.
    pub fn broken(&self, part: &str, error: &serde_json::Error) -> Diagnostic {
        let before: usize = part.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let within = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let within = if within <= self.text.len() { within } else { 0 };
        let at = self.at(within + before + error.column().saturating_sub(1));
        // A line that is valid JSON but not an object fits no format: report what it is, located at its beginning.
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

/// The beginning of a text, for use in a message.
fn shown(text: &str) -> String {
    text.trim_start().chars().take(40).collect()
}

/// The findings of one record: the first ones of each severity, and a count of the rest.
#[derive(Debug, Default)]
pub(crate) struct RecordFindings {
    /// The findings that are kept, in the order they were made.
    pub(crate) kept: Vec<Finding>,
    errors: u64,
    warnings: u64,
}

impl RecordFindings {
    /// Adds a finding, or only counts it.
    pub(crate) fn add(&mut self, finding: Finding) {
        if !self.only_counted(finding.severity) {
            *self.number_of(finding.severity) += 1;
            self.kept.push(finding);
        }
    }

    /// Counts a finding if no more of this severity are kept, so that its message need not be built.
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

    /// Adds the findings of a part of the record.
    pub(crate) fn extend(&mut self, more: Self) {
        let (errors, warnings) = more.left_out();
        more.kept.into_iter().for_each(|finding| self.add(finding));
        self.errors += errors;
        self.warnings += warnings;
    }

    /// The number of findings so far, kept or not.
    pub(crate) fn made(&self) -> u64 {
        self.errors + self.warnings
    }

    /// The numbers of errors and warnings that were not kept.
    pub(crate) fn left_out(&self) -> (u64, u64) {
        (self.errors.saturating_sub(KEPT as u64), self.warnings.saturating_sub(KEPT as u64))
    }
}

/// The result of reading one record.
#[derive(Debug)]
pub struct Reading<'r> {
    pub(crate) record: Record<'r>,
    pub(crate) drafts: Vec<Draft>,
    /// What the record says of sessions without their replies.
    pub(crate) summaries: Vec<Draft>,
    /// Replies that may also be in other files, by the index of their draft.
    pub(crate) replies: HashMap<usize, Vec<ReplyId>>,
    pub(crate) findings: RecordFindings,
    pub(crate) unknown: BTreeMap<String, u64>,
    /// Parts of the run in records of unknown kinds.
    pub(crate) unread: BTreeMap<RunPart, UnreadRecords>,
    /// Texts that were not read, by what they belong to and the name of their member.
    pub(crate) untaken: BTreeMap<(Of, String), Untaken>,
    /// The number of token counts that could not be read.
    pub(crate) broken_tokens: u64,
    /// Whether a value that may have been an outcome could not be read.
    pub(crate) broken_outcome: bool,
}

/// What an unread text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Of {
    Call,
    Result,
    Message,
}

/// The kind of the first record that holds a part of the run and is not read, and how many do.
#[derive(Clone, Debug)]
pub(crate) struct UnreadRecords {
    pub(crate) kind: String,
    pub(crate) times: u64,
}

/// How often a text was not read, and where first.
#[derive(Clone, Debug)]
pub(crate) struct Untaken {
    pub(crate) times: u64,
    pub(crate) first: Location,
}

impl<'r> Reading<'r> {
    /// An empty result for this record.
    pub(crate) fn from_record(record: Record<'r>) -> Self {
        Self {
            record,
            drafts: Vec::new(),
            summaries: Vec::new(),
            replies: HashMap::new(),
            findings: RecordFindings::default(),
            unknown: BTreeMap::new(),
            unread: BTreeMap::new(),
            untaken: BTreeMap::new(),
            broken_tokens: 0,
            broken_outcome: false,
        }
    }

    /// Records the members of `written` that carry text and are not among `known`. For use when nothing else was found
    /// in it: different ones would otherwise look equal.
    pub(crate) fn left_untaken(&mut self, of: Of, written: &str, known: &[&str]) {
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

    /// Adds what was found in another file that is read with this one.
    pub(crate) fn take_in(&mut self, mut other: Reading<'_>) {
        other.wrong_types(looked_up::wrong_types(other.record.text));
        self.findings.extend(other.findings);
        self.broken_tokens += other.broken_tokens;
        for (kind, n) in other.unknown {
            *self.unknown.entry(kind).or_default() += n;
        }
        for (part, more) in other.unread {
            self.unread.entry(part).and_modify(|all| all.times += more.times).or_insert(more);
        }
    }

    /// Records that a record of this kind holds a part of the run and is not read.
    pub(crate) fn left_unread(&mut self, part: RunPart, kind: &str) {
        self.unread.entry(part).or_insert_with(|| UnreadRecords { kind: kind.to_owned(), times: 0 }).times += 1;
    }

    /// Delivers a run.
    pub fn run(&mut self, draft: Draft) {
        self.drafts.push(draft);
    }

    /// Settles what no format decides: values of wrong types, implausible costs, and token counts that cannot be read.
    pub(crate) fn settle(&mut self) {
        self.wrong_types(looked_up::wrong_types(self.record.text));
        self.wrong_types(looked_up::wrong_types_elsewhere());
        self.check_costs();
        if self.broken_outcome {
            for draft in &mut self.drafts {
                draft.grade = Grade { end: draft.grade.end, ..Grade::default() };
            }
        }
        tokens::settle(&mut self.drafts, self.broken_tokens);
    }

    /// Removes and reports implausible costs. Formats that read numbers in any spelling rely on this check.
    fn check_costs(&mut self) {
        let mut odd = Vec::new();
        for event in self.drafts.iter_mut().flat_map(|draft| &mut draft.events) {
            let Event::Message(message) = event else { continue };
            if let Some(Usd(cost)) = message.cost().filter(|cost| plausible(cost.0).is_none()) {
                message.set_cost(None);
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

    /// Delivers a run whose replies may also be in other files.
    pub(crate) fn run_of_replies(&mut self, draft: Draft, replies: Vec<ReplyId>) {
        self.replies.insert(self.drafts.len(), replies);
        self.drafts.push(draft);
    }

    /// Reports a loss of data.
    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.findings.add(Finding::error(diagnostic));
    }

    /// Reports something that was repaired, left out, or looks wrong.
    pub fn warning(&mut self, diagnostic: Diagnostic) {
        self.findings.add(Finding::warning(diagnostic));
    }

    /// Reports a loss of data at `part` of the record.
    pub fn error_at(&mut self, part: &str, what: impl Into<String>, help: impl Into<String>) {
        if !self.findings.only_counted(Severity::Error) {
            self.error(Diagnostic::new(self.record.locate(part), what, help));
        }
    }

    /// Reports a line that does not parse and is left out.
    pub(crate) fn broken_line(&mut self, line: &str, error: &serde_json::Error) {
        if !self.findings.only_counted(Severity::Error) {
            let broken = self.record.broken(line, error);
            self.error(Diagnostic { what: format!("this line is left out: {}", broken.what), ..broken });
        }
    }

    /// Reports something that looks wrong at `part` of the record.
    pub fn warn_at(&mut self, part: &str, what: impl Into<String>, help: impl Into<String>) {
        if !self.findings.only_counted(Severity::Warning) {
            self.warning(Diagnostic::new(self.record.locate(part), what, help));
        }
    }

    /// Counts a kind of line or event that is not read.
    pub(crate) fn unknown_kind(&mut self, kind: &str) {
        *self.unknown.entry(kind.to_owned()).or_default() += 1;
    }

    /// Reports that `field` is not what it should be.
    pub fn wrong<'a>(&mut self, raw: impl Written<'a>, field: &str, wanted: &str) {
        self.wrong_at(raw.written(), raw.written(), field, wanted);
    }

    /// Like [`Self::wrong`], for a value that is encoded in a string at `place`.
    pub(crate) fn wrong_at(&mut self, place: &str, raw: &str, field: &str, wanted: &str) {
        looked_up::told(raw);
        let help = self.lost(field, wanted);
        if !self.findings.only_counted(Severity::Error) {
            let what = format!("`{field}` should be {wanted}, not `{}`", shown(raw));
            self.error_at(place, what, help);
        }
    }

    /// Reports values that are of none of the types that a reader looks for under their keys.
    fn wrong_types(&mut self, wrong: Vec<WrongType>) {
        for WrongType { offset, key, found, wanted } in wrong {
            let wanted = wanted.join(" or ");
            let help = self.lost(&key, &wanted);
            if self.findings.only_counted(Severity::Error) {
                continue;
            }
            let before = self.record.text.get(..offset).unwrap_or_default().trim_end();
            let element = if before.ends_with(['[', ',']) { "an element of " } else { "" };
            let what = format!("{element}`{key}` should be {wanted}, not {found}");
            self.error(Diagnostic::new(self.record.at(offset), what, help));
        }
    }

    /// Notes that a member's value cannot be read, and says what is unknown without it.
    fn lost(&mut self, key: &str, wanted: &str) -> &'static str {
        // Where more is lost than is told, it may have been anything.
        if self.findings.errors >= KEPT as u64 {
            self.broken_outcome = true;
            self.broken_tokens += 1;
            return "";
        }
        self.broken_outcome |= may_be_outcome(key) || OUTCOMES_WITHIN.contains(&key);
        if may_count(key, wanted) {
            self.broken_tokens += 1;
            return "this field is left out, and the tokens of this run are unknown";
        }
        "this field is left out"
    }

    /// Parses a part of the record; a part that does not parse is reported and left out.
    pub fn part<'a, T: Deserialize<'a>>(
        &mut self,
        raw: Option<impl Written<'a>>,
        field: &str,
        wanted: &str,
    ) -> Option<T> {
        self.checked(raw, field, wanted, |raw| serde_json::from_str(raw.written()).ok())
    }

    /// The fields of an object; anything else is reported and left out.
    pub(crate) fn object<'a, T: DeclaredFields<'a>>(
        &mut self,
        raw: Option<impl Written<'a>>,
        field: &str,
        wanted: &str,
    ) -> Option<T> {
        self.checked(raw, field, wanted, |raw| T::from_text(raw.written()).ok())
    }

    /// Like [`Self::object`], for an object that may already have been read with its parent.
    pub(crate) fn inner<'f, 'a, T: DeclaredFields<'a> + Clone>(
        &mut self,
        found: &'f Inner<'a, T>,
        field: &str,
        wanted: &str,
    ) -> Option<Cow<'f, T>> {
        match &found.object {
            Some(object) => Some(Cow::Borrowed(object)),
            None => self.object(Some(found.written), field, wanted).map(Cow::Owned),
        }
    }

    /// The elements of an array, unparsed.
    pub(crate) fn elements<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Vec<&'a str> {
        self.checked(raw, field, "an array", json::elements).unwrap_or_default()
    }

    /// A short string, decoded.
    pub fn string<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Cow<'a, str>> {
        self.checked(raw, field, "a string", json::string)
    }

    /// A name; may be written as a string or as a number.
    pub fn word<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<String> {
        self.checked(raw, field, "a string or a number", json::word)
    }

    /// Like [`Self::word`], borrowed if possible.
    pub(crate) fn name<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Cow<'a, str>> {
        self.checked(raw, field, "a string or a number", json::name)
    }

    /// A count of tokens. One that is recorded and cannot be read is reported, and makes the run's tokens unknown.
    pub(crate) fn tokens<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<u64> {
        let raw = raw?.written();
        self.tokens_at(raw, raw, field)
    }

    /// Like [`Self::tokens`], for a value that is encoded in a string at `place`.
    pub(crate) fn tokens_at(&mut self, place: &str, raw: &str, field: &str) -> Option<u64> {
        let count = tokens::count(raw);
        if count.is_none() {
            self.unreadable_tokens(place, raw, field, "a whole number, 0 or more");
        }
        count.or(Some(tokens::UNREADABLE))
    }

    /// The fields of an object of token counts; anything else makes the run's tokens unknown.
    pub(crate) fn counts<'a, T: DeclaredFields<'a>>(
        &mut self,
        raw: Option<impl Written<'a>>,
        field: &str,
    ) -> Option<T> {
        let raw = raw?.written();
        let fields = T::from_text(raw).ok();
        if fields.is_none() {
            self.unreadable_tokens(raw, raw, field, "an object");
        }
        fields
    }

    /// Reports token counts that cannot be read.
    pub(crate) fn unreadable_tokens(&mut self, place: &str, raw: &str, field: &str, wanted: &str) {
        self.broken_tokens += 1;
        if !self.findings.only_counted(Severity::Error) {
            let what = format!("`{field}` should be {wanted}, not `{}`", shown(raw));
            self.error_at(place, what, "the tokens of this run are unknown");
        }
    }

    /// A step of a run, from 0.
    pub fn step<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<usize> {
        let as_step = |raw| usize::try_from(json::count(raw)?).ok().filter(|step| *step < STEPS);
        self.checked(raw, field, "a step, from 0", as_step)
    }

    /// A number.
    pub fn number<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<f64> {
        self.checked(raw, field, "a number", json::number)
    }

    /// The cost of a model call in US dollars.
    pub fn dollars<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<Usd> {
        self.checked(raw, field, "dollars, from 0 to a billion", |raw| plausible(json::number(raw)?)).map(Usd)
    }

    /// True or false.
    pub fn flag<'a>(&mut self, raw: Option<impl Written<'a>>, field: &str) -> Option<bool> {
        self.checked(raw, field, "true or false", json::flag)
    }

    /// A time: ISO 8601, or a number since 1970 in seconds, milliseconds or finer, told apart by size.
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
