//! A corpus: files cut into records in path order, parsed in parallel, handed over in path order, in
//! memory bounded by the runs in flight.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::copies::{Copied, Copies, ReplyId};
use super::eval_log::EvalLog;
use super::format::{self, Format, Layout};
use super::forms::{self, Form, Reshape};
use super::grades::{self, FolderGrades, Reports};
use super::hygiene::{Check, Checked, Hygiene};
use super::labels::{self, Labels};
use super::probe::{Probe, Shape};
use super::reading::{FileName, Reading, Record};
use super::records::{self, Cut, Item, Records};
use super::source::{Source, Sources, walk};
use super::{CorpusReport, Detail, Finding, Pricing, PricingReport, ReadError, ReadOptions, Skipped, json};
use crate::diagnostic::{Diagnostic, Location, Severity, nearest};
use crate::transcript::{Draft, Event, Lane, Outcome, Run};

/// A batch ends at this many bytes …
const BATCH_BYTES: usize = 4 << 20;
/// … or at this many items.
const BATCH_ITEMS: usize = 256;

/// Recordings to be read, in path order.
#[derive(Debug)]
pub struct Corpus {
    sources: Sources,
    options: ReadOptions,
    labels: Labels,
    passed: AtomicU64,
}

impl Corpus {
    /// Lists what there is to read under `paths`; nothing is read yet but labels.
    pub fn open(paths: &[PathBuf], options: ReadOptions) -> Result<Self, ReadError> {
        if let Some(name) = options.format.as_ref().filter(|name| format::by_id(name).is_none()) {
            let nearest = nearest(name, format::FORMATS.iter().map(|format| format.id()));
            return Err(ReadError::UnknownFormat { name: name.clone(), nearest });
        }
        let sources = walk(paths)?;
        let mut labels = Labels::default();
        for path in &options.labels {
            labels.add(path, true);
        }
        let mut added: Vec<PathBuf> = options.labels.clone();
        let within = sources.files.iter().filter(|source| labels::is_label_file(&source.file_name()));
        for source in within {
            let path = source.path().to_path_buf();
            if !added.contains(&path) {
                labels.add(&path, source.file_name() == "labels.csv");
                added.push(path);
            }
        }
        for path in labels::nearby(paths) {
            if !added.contains(&path) {
                labels.add(&path, false);
            }
        }
        Ok(Self { sources, options, labels, passed: AtomicU64::new(0) })
    }

    /// How many files there are, recordings or not.
    pub fn n_files(&self) -> usize {
        self.sources.files.len()
    }

    /// Is this one of the files to be read? `path` must be canonical.
    pub fn reads(&self, path: &std::path::Path) -> bool {
        self.sources.files.iter().any(|source| source.path().canonicalize().is_ok_and(|source| source == path))
    }

    /// Bytes of all files on disk.
    pub fn bytes(&self) -> u64 {
        self.sources.files.iter().map(|source| source.bytes).sum()
    }

    /// Bytes of the files read so far by [`Self::process`], for a progress display.
    pub fn bytes_read(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Reads everything: `work` is done on each run in parallel, on rayon's current pool; `sink` is
    /// called in this thread, in path and record order.
    pub fn process<T: Send>(
        &self,
        work: impl Fn(Run) -> T + Sync,
        mut sink: impl FnMut(T),
    ) -> Result<CorpusReport, ReadError> {
        self.passed.store(0, Ordering::Relaxed);
        let mut stream = Stream::new(self);
        let mut ledger = Ledger::new(self);
        let mut batch = stream.next_batch();
        while !batch.is_empty() {
            let (next, parsed) = rayon::join(
                || stream.next_batch(),
                || batch.into_par_iter().map(|piece| self.parse(piece)).collect::<Vec<_>>(),
            );
            let mut runs = Vec::new();
            for parsed in parsed {
                ledger.enter(parsed, &mut runs)?;
            }
            let results: Vec<T> = runs.into_par_iter().map(&work).collect();
            results.into_iter().for_each(&mut sink);
            batch = next;
        }
        ledger.close()
    }

    /// All runs at once: for tests and small corpora, since it holds them all.
    pub fn runs(&self) -> Result<(Vec<Run>, CorpusReport), ReadError> {
        let mut runs = Vec::new();
        let report = self.process(|run| run, |run| runs.push(run))?;
        Ok((runs, report))
    }

    fn parse(&self, piece: Piece) -> Parsed {
        match piece {
            Piece::Record(file, cut) => read_record(&file, &cut, &self.options),
            Piece::Begin(file, why) => Parsed::Begin(file, why),
            Piece::Skip(skipped) => Parsed::Skip(skipped),
            Piece::Finding(finding) => Parsed::Finding(finding),
        }
    }
}

/// The records of an open file.
enum Cuts {
    Stream(Records<Box<dyn Read + Send>>),
    Log(Box<EvalLog>),
}

impl Cuts {
    fn next(&mut self) -> Option<Item> {
        match self {
            Self::Stream(records) => records.next(),
            Self::Log(log) => log.next(),
        }
    }
}

/// A file that is being read.
struct OpenFile {
    name: FileName,
    format: &'static dyn Format,
    reshape: Reshape,
    as_files: bool,
    within: Option<Layout>,
    envelope: String,
    grades: FolderGrades,
}

/// What the stream yields, in order.
enum Piece {
    Begin(Arc<OpenFile>, String),
    Record(Arc<OpenFile>, Cut),
    Skip(Skipped),
    Finding(Finding),
}

/// What became of a piece.
enum Parsed {
    Begin(Arc<OpenFile>, String),
    Runs { file: Arc<OpenFile>, runs: Vec<Found>, findings: Vec<Finding>, unknown: BTreeMap<String, u64> },
    Skip(Skipped),
    Finding(Finding),
}

/// A run, with what else is known of it.
struct Found {
    run: Run,
    checked: Option<Checked>,
    pricing: Option<Pricing>,
    replies: Vec<ReplyId>,
}

/// Reads one record, whatever its bytes.
fn read_record(file: &Arc<OpenFile>, cut: &Cut, options: &ReadOptions) -> Parsed {
    // Checking is several times as fast as repairing.
    let lossy = std::str::from_utf8(&cut.bytes).map_or_else(|_| String::from_utf8_lossy(&cut.bytes), Cow::Borrowed);
    let invalid = matches!(lossy, Cow::Owned(_));
    let (text, surrogates) = json::without_lone_surrogates(&lossy);
    let of_member = cut
        .member
        .as_ref()
        .map(|member| FileName { path: format!("{}!{member}", file.name.path), ..file.name.clone() });
    let of_part = || FileName { stem: format!("{}/{}", file.name.stem, cut.key), ..file.name.clone() };
    let of_part = of_member.or_else(|| file.as_files.then(of_part));
    let reshaped = forms::reshaped(&text, file.reshape);
    let record = Record {
        text: reshaped.as_deref().unwrap_or(&text),
        original: &text,
        file: of_part.as_ref().unwrap_or(&file.name),
        key: if file.as_files { "" } else { &cut.key },
        envelope: &file.envelope,
        grades: &file.grades,
        options,
        line: cut.line,
        column: cut.column,
    };
    let mut reading = Reading::of(record);
    if invalid {
        let valid = std::str::from_utf8(&cut.bytes).map_or_else(|error| error.valid_up_to(), str::len);
        reading.warning(Diagnostic::new(
            record.at(valid),
            "bytes that are not UTF-8, read as U+FFFD",
            "write the recording as UTF-8",
        ));
    }
    if surrogates > 0 {
        reading.warning(Diagnostic::new(
            record.at(first_difference(&lossy, &text)),
            format!("{surrogates} escapes of half a surrogate pair, read as U+FFFD"),
            "harmless for stop rules; the recorder cut a character in two",
        ));
    }
    let mut gathered = Gathered::default();
    match file.within {
        None => file.format.read(&record, &mut reading),
        Some(layout) => gathered.parts(file, &record, layout),
    }
    gathered.take(reading, file, options);
    let Gathered { runs, mut findings, unknown } = gathered;
    findings.sort_by_key(|finding| (finding.diagnostic.at.line, finding.diagnostic.at.column));
    Parsed::Runs { file: file.clone(), runs, findings, unknown }
}

/// What was made of a record, and of the records within it.
#[derive(Default)]
struct Gathered {
    runs: Vec<Found>,
    findings: Vec<Finding>,
    unknown: BTreeMap<String, u64>,
}

impl Gathered {
    /// Reads the records within a record that is a file of many elsewhere.
    fn parts(&mut self, file: &OpenFile, whole: &Record<'_>, layout: Layout) {
        let (cuts, envelope, findings) = forms::cut(whole.text, layout, &whole.file.path);
        self.findings.extend(findings);
        for cut in cuts {
            let text = String::from_utf8_lossy(&cut.bytes);
            let record = Record {
                text: &text,
                original: &text,
                key: &cut.key,
                envelope: &envelope,
                line: whole.line + cut.line - 1,
                column: if cut.line == 1 { whole.column + cut.column - 1 } else { cut.column },
                ..*whole
            };
            let mut reading = Reading::of(record);
            file.format.read(&record, &mut reading);
            self.take(reading, file, whole.options);
        }
    }

    /// Takes over what was made of a record.
    fn take(&mut self, reading: Reading<'_>, file: &OpenFile, options: &ReadOptions) {
        let Reading { drafts, mut replies, findings, unknown, .. } = reading;
        self.findings.extend(findings);
        for (kind, n) in unknown {
            *self.unknown.entry(kind).or_default() += n;
        }
        self.runs.extend(drafts.into_iter().enumerate().map(|(n, mut draft)| {
            let prices = options.prices.as_ref();
            let pricing = prices.map(|prices| prices.price(&mut draft, file.format.counts_by_turn()));
            let run = Run::new(draft);
            let checked = (options.detail != Detail::Counts).then(|| Checked::of(&run));
            Found { run, checked, pricing, replies: replies.remove(&n).unwrap_or_default() }
        }));
    }
}

fn first_difference(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// The corpus as a stream of pieces.
struct Stream<'c> {
    corpus: &'c Corpus,
    next_file: usize,
    open: Option<(Arc<OpenFile>, Cuts)>,
    /// Bytes of the open file, as on disk, that are not yet counted as read.
    uncounted: u64,
    reports: Reports,
}

impl<'c> Stream<'c> {
    fn new(corpus: &'c Corpus) -> Self {
        Self { corpus, next_file: 0, open: None, uncounted: 0, reports: Reports::default() }
    }

    /// The next pieces, up to the size of a batch; empty at the end of the corpus.
    fn next_batch(&mut self) -> Vec<Piece> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_ITEMS {
            if let Some((file, records)) = &mut self.open {
                match records.next() {
                    Some(Item::Record(cut)) => {
                        bytes += cut.bytes.len();
                        let read = (cut.bytes.len() as u64).min(self.uncounted);
                        self.uncounted -= read;
                        self.corpus.passed.fetch_add(read, Ordering::Relaxed);
                        batch.push(Piece::Record(file.clone(), cut));
                    }
                    Some(Item::Finding(finding)) => batch.push(Piece::Finding(finding)),
                    None => {
                        self.corpus.passed.fetch_add(self.uncounted, Ordering::Relaxed);
                        self.open = None;
                    }
                }
                continue;
            }
            let Some(source) = self.corpus.sources.files.get(self.next_file) else { break };
            self.next_file += 1;
            self.begin(source, &mut batch);
        }
        batch
    }

    /// Opens the next file, or says why not.
    fn begin(&mut self, source: &Source, batch: &mut Vec<Piece>) {
        match self.recognise(source) {
            Ok((file, why, records)) => {
                let file = Arc::new(file);
                batch.push(Piece::Begin(file.clone(), why));
                self.open = Some((file, records));
                self.uncounted = source.bytes;
            }
            Err(reason) => {
                self.corpus.passed.fetch_add(source.bytes, Ordering::Relaxed);
                if source.named {
                    batch.push(Piece::Finding(Finding {
                        severity: Severity::Error,
                        diagnostic: Diagnostic::new(
                            Location::file(source.name.path.as_str()),
                            format!("not read: {reason}"),
                            "name a recording, or say what format it is with `--as`",
                        ),
                    }));
                }
                batch.push(Piece::Skip(Skipped { path: source.name.path.clone(), reason }));
            }
        }
    }

    fn recognise(&mut self, source: &Source) -> Result<(OpenFile, String, Cuts), String> {
        let name = source.file_name();
        if labels::is_label_file(&name) {
            return Err("labels: joined to the runs they name".to_owned());
        }
        let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
        if source.is_zip().map_err(unreadable)? {
            return self.recognise_log(source);
        }
        let probe = Probe::of(&name, source.open().map_err(unreadable)?).map_err(unreadable)?;
        let options = &self.corpus.options;
        let forced = options.format.as_deref().and_then(format::by_id);
        if probe.shape == Shape::Empty {
            return Err("empty".to_owned());
        }
        let form = match forced {
            Some(format) => forms::forced(format, &probe),
            None => forms::detect(&probe).ok_or_else(|| why_not(&probe, &name))?,
        };
        let Form { format, why, layout, reshape, as_files, within } = form;
        let envelope = match layout {
            Layout::Elements { envelope: keys, .. } if !keys.is_empty() => {
                records::envelope(source.open().map_err(unreadable)?, keys).map_err(unreadable)?
            }
            _ => String::new(),
        };
        let grades =
            if format.joins_reports() { self.reports.seen_from(&source.name.folder) } else { FolderGrades::default() };
        let input = source.open().map_err(unreadable)?;
        let records = Cuts::Stream(Records::new(input, layout, &source.name.path, options.limit));
        let name = source.name.clone();
        Ok((OpenFile { name, format, reshape, as_files, within, envelope, grades }, why, records))
    }

    /// A zip that is not an archive of files: Inspect's logs are written so.
    fn recognise_log(&self, source: &Source) -> Result<(OpenFile, String, Cuts), String> {
        let limit = self.corpus.options.limit;
        let log = EvalLog::open(source.path(), &source.name.path, LOG_HEADER, limit);
        let (log, envelope) = log
            .map_err(|error| format!("cannot be read: {error}"))?
            .ok_or_else(|| "a zip that holds no log; an archive of recordings is called `.zip`".to_owned())?;
        let format = format::by_id("inspect").ok_or_else(|| "no reader for it".to_owned())?;
        let file = OpenFile {
            name: source.name.clone(),
            format,
            reshape: Reshape::None,
            as_files: false,
            within: None,
            envelope,
            grades: FolderGrades::default(),
        };
        Ok((file, "a zip with a log's header".to_owned(), Cuts::Log(Box::new(log))))
    }
}

/// The fields of a log's header its samples need.
const LOG_HEADER: &[&str] = &["eval", "status"];

/// Why nobody recognises a file.
fn why_not(probe: &Probe, name: &str) -> String {
    if grades::is_report(name) {
        return "an outcome report: joined to the runs it grades".to_owned();
    }
    let head: String = probe.head.chars().take(40).collect::<String>().escape_debug().to_string();
    match probe.shape {
        Shape::Empty => "empty".to_owned(),
        Shape::Binary => "not text".to_owned(),
        Shape::Text => format!("not JSON: it begins with `{head}`"),
        Shape::Document if !probe.whole => format!("cut short or broken JSON of no known format: `{head}`"),
        Shape::Document => format!("a JSON document of no known format: `{head}`"),
        Shape::Lines => format!("JSON lines of no known format: `{head}`"),
        Shape::Concatenated => format!("several JSON values that are not one a line: `{head}`"),
    }
}

/// The report in the making, the ids given away, and the labels.
struct Ledger<'c> {
    report: CorpusReport,
    options: &'c ReadOptions,
    labels: Labels,
    hygiene: Hygiene,
    copies: Copies,
    /// Hashes of the ids given away; only asked whether it has one.
    ids: HashSet<u64>,
}

impl<'c> Ledger<'c> {
    fn new(corpus: &'c Corpus) -> Self {
        let pricing = corpus.options.prices.as_ref().map(|prices| PricingReport::new(prices));
        let skipped = corpus.sources.skipped.clone();
        let run_list = (corpus.options.detail == Detail::Runs).then(Vec::new);
        let mut report = CorpusReport { skipped, run_list, pricing, ..CorpusReport::default() };
        let mut labels = corpus.labels.clone();
        for finding in labels.findings.drain(..) {
            report.find(finding);
        }
        Self {
            report,
            options: &corpus.options,
            labels,
            hygiene: Hygiene::default(),
            copies: Copies::default(),
            ids: HashSet::new(),
        }
    }

    /// Enters what became of a piece and passes its runs on.
    fn enter(&mut self, parsed: Parsed, runs: &mut Vec<Run>) -> Result<(), ReadError> {
        match parsed {
            Parsed::Begin(file, why) => self.report.begin_file(&file.name.path, file.format.id(), why),
            Parsed::Skip(skipped) => self.report.skipped.push(skipped),
            Parsed::Finding(finding) => self.find(finding)?,
            Parsed::Runs { file, runs: found, findings, unknown } => {
                for finding in findings {
                    self.find(finding)?;
                }
                for (kind, n) in unknown {
                    *self.report.unknown_kinds.entry(format!("{} {kind}", file.format.id())).or_default() += n;
                }
                for mut found in found {
                    self.take_copies_out(&mut found, &file);
                    let Found { mut run, checked, pricing, .. } = found;
                    self.name(&mut run, &file.name);
                    if let Some((report, pricing)) = self.report.pricing.as_mut().zip(pricing) {
                        report.enter(&run.header.run_id, pricing);
                    }
                    let odd = checked.map(|checked| self.hygiene.enter(file.format.id(), &run, checked));
                    self.report.add(file.format.id(), &file.name.path, &run, odd.unwrap_or_default());
                    runs.push(run);
                }
            }
        }
        Ok(())
    }

    fn find(&mut self, finding: Finding) -> Result<(), ReadError> {
        if self.options.strict && finding.severity == Severity::Error {
            return Err(ReadError::Strict(finding.diagnostic));
        }
        self.report.find(finding);
        Ok(())
    }

    /// Makes context of the replies that another file had already, and says so.
    fn take_copies_out(&mut self, found: &mut Found, file: &OpenFile) {
        let Copied { events, from } = self.copies.enter(&file.name.path, &found.replies);
        if events.is_empty() {
            return;
        }
        let run = &found.run;
        let mut draft = Draft {
            header: run.header.clone(),
            events: run.events().to_vec(),
            grade: run.grade.clone(),
            warnings: run.warnings.clone(),
        };
        for copy in &events {
            if let Some(Event::Message(reply)) = draft.events.get_mut(*copy) {
                reply.lane = Lane::Canned;
            }
        }
        if let (Some(prices), Some(Pricing::Computed { .. })) = (&self.options.prices, &found.pricing) {
            for event in &mut draft.events {
                if let Event::Message(message) = event {
                    message.cost = None;
                }
            }
            found.pricing = Some(prices.price(&mut draft, file.format.counts_by_turn()));
        }
        found.run = Run::new(draft);
        if let Some(checked) = &mut found.checked {
            checked.add(Check::CopiedReplies);
        }
        let others: Vec<String> = from.iter().map(|(path, n)| format!("{n} in `{path}`")).collect();
        self.report.find(Finding {
            severity: Severity::Warning,
            diagnostic: Diagnostic::new(
                Location::file(file.name.path.as_str()),
                format!(
                    "{} of {} replies stand in other files already: {}",
                    events.len(),
                    found.replies.len(),
                    others.join(", ")
                ),
                "a resumed or forked session begins with a copy: there they are steps, here they are context",
            ),
        });
    }

    /// Makes the run's id unique in the corpus, and joins its label.
    fn name(&mut self, run: &mut Run, file: &FileName) {
        let native = std::mem::take(&mut run.header.run_id);
        let folder = file.folder.file_name().unwrap_or_default().to_string_lossy();
        let numbered = (2_u64..).map(|n| format!("{}/{native}#{n}", file.stem));
        let names = [native.clone(), format!("{}/{native}", file.stem), format!("{folder}/{}/{native}", file.stem)];
        let name =
            names.into_iter().chain(numbered).find(|name| self.ids.insert(xxhash_rust::xxh3::xxh3_64(name.as_bytes())));
        run.header.run_id = name.unwrap_or_else(|| native.clone());
        if run.header.run_id != native {
            self.report.find(Finding {
                severity: Severity::Warning,
                diagnostic: Diagnostic::new(
                    Location::file(file.path.as_str()),
                    format!("a second run is called `{native}`; this one is now `{}`", run.header.run_id),
                    "if it is the same run, leave one of the files out",
                ),
            });
        }
        if let Some((success_at, score)) = self.options.success_at.zip(run.grade.score) {
            run.grade.outcome = Outcome::from_grade(Some(score >= success_at));
        }
        let id = run.header.run_id.clone();
        let names = [id.as_str(), native.as_str(), labels::file_name(&file.path)];
        self.labels.apply(run, &names, self.options.success_at);
    }

    fn close(mut self) -> Result<CorpusReport, ReadError> {
        let mut unmatched = if self.options.allow_unmatched_labels { Vec::new() } else { self.labels.unmatched() };
        self.report.hygiene = self.hygiene.oddities();
        if let Some(pricing) = &mut self.report.pricing {
            pricing.close();
        }
        if unmatched.is_empty() {
            return Ok(self.report);
        }
        let first = unmatched.remove(0);
        Err(ReadError::UnmatchedLabels { first, others: unmatched.len() })
    }
}
