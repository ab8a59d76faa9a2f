//! State kept while a corpus is read: the report, the run ids in use, and the labels.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::PoisonError;

use super::Corpus;
use super::open_file::OpenFile;
use super::parse::{FoundRun, Parsed, RecordResults};
use crate::diagnostic::{Diagnostic, Location, Severity, count};
use crate::find::file_name::FileName;
use crate::find::read_error::ReadError;
use crate::find::skipped::{Skipped, Twin};
use crate::find::{file_name, run_ids};
use crate::label::label_files::{self, LabelColumns, Labels};
use crate::label::report_files::Joined;
use crate::open::finding::Finding;
use crate::open::probe::Probe;
use crate::price::{Pricing, PricingReport, ZeroCosts};
use crate::read::parquet_tables::TableStatistics;
use crate::record::naming::NamedRuns;
use crate::record::options::{Detail, ReadOptions};
use crate::record::reading::{Of, Untaken};
use crate::survey::corpus_report::CorpusReport;
use crate::survey::hygiene::{Check, Hygiene};
use crate::survey::map_hint;
use crate::survey::repeated_replies::{Copied, Copies};
use crate::survey::task_names::SeenTasks;
use crate::survey::unnamed_models::UnnamedModels;
use crate::survey::unrecorded_contents::UnrecordedContents;
use crate::survey::unused_fields::Unused;
use crate::transcript::{Event, Lane, Outcome, OutcomeSource, Run, Spend};

/// The report being built, the run ids in use, and the labels.
pub(super) struct ReportBuilder<'c> {
    report: CorpusReport,
    corpus: &'c Corpus,
    labels: Labels,
    hygiene: Hygiene,
    copies: Copies,
    tables: TableStatistics,
    /// Hashes of the ids in use. Only membership is tested, so hash order has no effect.
    ids: HashSet<u64>,
    /// For ids that were used more than once, by hash: the number for the next run with that name.
    numbers: HashMap<u64, u64>,
    /// Runs graded by a field the user named, in formats without a fixed place for the outcome.
    graded_by_key: u64,
    /// Runs whose task, model or id was found where the user said.
    named: NamedRuns,
    /// Paths of the reports that graded a run.
    joined: Joined,
    /// What runs of one task are asked, in several folders.
    tasks: SeenTasks,
    /// Models whose name says nothing.
    models: UnnamedModels,
    /// Texts that were not read, by format, by what they belong to, and by the name of their field.
    untaken: BTreeMap<(&'static str, Of, String), Untaken>,
    /// Contents that were not recorded.
    unrecorded: UnrecordedContents,
    /// Fields that were not used.
    unused: Unused,
    /// The first file whose runs are called by their places in it.
    numbered: Option<String>,
}

impl<'c> ReportBuilder<'c> {
    /// A report that has what the corpus found unreadable or renamed before any file was opened.
    pub(super) fn new(corpus: &'c Corpus, joined: Joined) -> Result<Self, ReadError> {
        let pricing = corpus.options.prices.as_ref().map(|prices| PricingReport::new(prices));
        let skipped = corpus.sources.skipped.clone();
        let run_list = if corpus.options.detail == Detail::Runs { Some(Vec::new()) } else { None };
        let report = CorpusReport { skipped, run_list, pricing, ..CorpusReport::default() };
        let mut builder = Self {
            report,
            corpus,
            labels: corpus.labels.clone(),
            hygiene: Hygiene::default(),
            copies: Copies::default(),
            tables: TableStatistics::default(),
            ids: HashSet::new(),
            numbers: HashMap::new(),
            graded_by_key: 0,
            named: NamedRuns::default(),
            joined,
            tasks: SeenTasks::default(),
            models: UnnamedModels::default(),
            untaken: BTreeMap::new(),
            unrecorded: UnrecordedContents::default(),
            unused: Unused::default(),
            numbered: None,
        };
        std::mem::take(&mut builder.labels.findings).into_iter().try_for_each(|finding| builder.find(finding))?;
        corpus.sources.unreadable.iter().try_for_each(|diagnostic| builder.lose(diagnostic.clone()))?;
        for diagnostic in &corpus.sources.renamed {
            builder.find(Finding::warning(diagnostic.clone()))?;
        }
        Ok(builder)
    }

    /// Adds the results of a parsed piece to the report and appends its runs to `runs`.
    pub(super) fn enter(&mut self, parsed: Parsed, runs: &mut Vec<Run>) -> Result<(), ReadError> {
        match parsed {
            Parsed::Begin(file, why) => self.report.begin_file(&file.name.path, file.format.id(), why),
            Parsed::Skip(skipped) => self.skip(skipped)?,
            Parsed::Finding(finding) => self.find(finding)?,
            Parsed::Lost(diagnostic) => self.lose(diagnostic)?,
            Parsed::Runs { file, results, row } => {
                let RecordResults { runs: found, findings, unknown, untaken, refused, .. } = results;
                let is_known = matches!(self.report.skipped.last(), Some(last) if last.path == file.name.path);
                if let Some(reason) = refused.filter(|_| !is_known) {
                    // What its reader cannot read is all there is of a part of the run.
                    let path = file.name.path.clone();
                    self.skip(Skipped { path, reason, looks_recorded: true, ..Skipped::default() })?;
                }
                for ((of, name), more) in untaken {
                    let kind = (file.format.id(), of, name);
                    self.untaken.entry(kind).and_modify(|all| all.times += more.times).or_insert(more);
                }
                let (errors, warnings) = findings.left_out();
                for finding in findings.kept {
                    self.find(finding)?;
                }
                self.report.find_more(errors, warnings);
                for (kind, n) in unknown {
                    *self.report.unknown_kinds.entry(format!("{} {kind}", file.format.id())).or_default() += n;
                }
                for mut found in found {
                    self.take_copies_out(&mut found, &file);
                    let FoundRun { mut run, spend, limit, checked, costs, named, replies, unused } = found;
                    if let Some(row) = row
                        && !self.tables.enter(&file.name.path, &run, &spend, row)
                    {
                        continue;
                    }
                    let is_graded = matches!(run.grade.source, OutcomeSource::Native(_));
                    let by_key = is_graded && OUTCOME_KEYED.contains(&file.format.id());
                    self.graded_by_key += u64::from(by_key || named.outcome > 0);
                    self.named.add(named);
                    let native = self.name(&mut run, &file.name, named.run > 0);
                    self.unrecorded.enter(&run);
                    self.tasks.add(&run, &file.name);
                    self.models.add(&run, &file.name);
                    if costs.unknown_zero {
                        self.report.zero_costs.get_or_insert_default().enter(&run, &spend);
                    }
                    if let (Some(report), Some(pricing)) = (&mut self.report.pricing, costs.pricing) {
                        report.enter(&run.header.run_id, pricing);
                    }
                    // Replies with ids of their own already show that two files hold the same session.
                    let known_by = if replies.is_empty() { native.as_str() } else { "" };
                    if let Some(checked) = &checked {
                        self.report.add_calls(file.format.id(), checked.calls);
                    }
                    let odd = checked.map(|checked| self.hygiene.enter(file.format.id(), &run, known_by, checked));
                    if let Some(unused) = unused {
                        let is_numbered = is_number_in(&file.name, &native);
                        if is_numbered {
                            self.numbered.get_or_insert_with(|| file.name.path.clone());
                        }
                        self.unused.enter(file.format.id(), &run, is_numbered, &unused);
                    }
                    let signs = (odd.unwrap_or_default(), limit);
                    self.report.add(file.format.id(), &file.name.path, &run, &spend, signs);
                    runs.push(run);
                }
            }
        }
        Ok(())
    }

    /// Records a file that is not read. Those that look like recordings are reported together at the end.
    fn skip(&mut self, skipped: Skipped) -> Result<(), ReadError> {
        if skipped.looks_recorded {
            self.report.unread += 1;
            if self.corpus.options.strict {
                return Err(ReadError::Strict(unread(&skipped, 1, self.corpus.n_files())));
            }
        }
        self.report.skipped.push(skipped);
        Ok(())
    }

    /// Reports input that could not be read completely.
    fn lose(&mut self, diagnostic: Diagnostic) -> Result<(), ReadError> {
        self.report.unreadable += 1;
        self.find(Finding::error(diagnostic))
    }

    fn find(&mut self, finding: Finding) -> Result<(), ReadError> {
        if self.corpus.options.strict && finding.severity == Severity::Error {
            return Err(ReadError::Strict(finding.diagnostic));
        }
        self.report.find(finding);
        Ok(())
    }

    /// Turns replies that another file already had into context, and reports it.
    fn take_copies_out(&mut self, found: &mut FoundRun, file: &OpenFile) {
        let Copied { events, from } = self.copies.enter(&file.name.path, &found.replies);
        if events.is_empty() {
            return;
        }
        let mut draft = found.run.to_draft();
        for copy in &events {
            if let Some(Event::Message(reply)) = draft.events.get_mut(*copy) {
                reply.lane = Lane::Canned;
            }
        }
        if let (Some(prices), Some(Pricing::Computed { .. })) = (&self.corpus.options.prices, &found.costs.pricing) {
            for event in &mut draft.events {
                if let Event::Message(message) = event {
                    message.set_cost(None);
                }
            }
            found.costs.pricing = Some(prices.price(&mut draft, file.format.counts_by_turn, false));
        }
        found.run = Run::new(draft);
        found.spend = Spend::from_run(&found.run);
        if let Some(checked) = &mut found.checked {
            checked.add(Check::CopiedReplies);
        }
        let others: Vec<String> = from.iter().map(|(path, n)| format!("{n} in `{path}`")).collect();
        let (n, all, others) = (events.len(), found.replies.len(), others.join(", "));
        let what = format!("{n} of {all} replies stand in other files already: {others}");
        let help = "a resumed or forked session begins with a copy: there they are steps, here they are context";
        let at = Location::file(file.name.path.as_str());
        self.report.find(Finding::warning(Diagnostic::new(at, what, help)));
    }

    /// Makes the run's id unique in the corpus, applies its label, and returns the id it was recorded with. An id that
    /// the user `named` is kept as it is.
    fn name(&mut self, run: &mut Run, file: &FileName, named: bool) -> String {
        run.header.file = Some(file.path.clone());
        let native = std::mem::take(&mut run.header.run_id);
        let print = |name: &str| xxhash_rust::xxh3::xxh3_64(name.as_bytes());
        let wanted = if named { native.clone() } else { run_ids::id(&native, file) };
        run.header.run_id = if self.ids.insert(print(&wanted)) {
            wanted.clone()
        } else {
            let place = if file.clashes { &file.in_corpus } else { &file.stem };
            let in_file = format!("{place}/{native}");
            let candidates = [in_file.clone(), format!("{}/{native}", file.in_corpus)];
            let next = self.numbers.entry(print(&in_file)).or_insert(2);
            let numbered = std::iter::repeat_with(|| {
                let name = format!("{in_file}#{next}");
                *next += 1;
                name
            });
            let name = candidates.into_iter().chain(numbered).find(|name| self.ids.insert(print(name)));
            name.unwrap_or(in_file)
        };
        if run.header.run_id != wanted {
            self.report.find(Finding::warning(Diagnostic::new(
                Location::file(file.path.as_str()),
                format!("a second run is called `{wanted}`; this one is now `{}`", run.header.run_id),
                "if it is the same run, leave one of the files out",
            )));
        }
        if let (Some(success_at), Some(score)) = (self.corpus.options.success_at, run.grade.score) {
            run.grade.outcome = Outcome::from_grade(Some(score >= success_at));
        }
        if self.labels.is_empty() {
            return native;
        }
        let mut ids = vec![run.header.run_id.clone()];
        ids.extend(run_ids::other_names(&native, file));
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.labels.apply(run, &ids, self.corpus.options.success_at);
        if file.clashes && !named {
            self.labels.doubt(&[&native, file_name::file_name(&file.path)], &run.header.run_id);
        }
        native
    }

    pub(super) fn close(mut self) -> Result<CorpusReport, ReadError> {
        let ReadOptions { success_at, allow_unmatched_labels, strict, .. } = self.corpus.options;
        let used = std::mem::take(&mut *self.joined.lock().unwrap_or_else(PoisonError::into_inner));
        let by_id = self.map_by_id();
        let mut notices = self.labels.close(success_at, allow_unmatched_labels, strict, by_id.as_deref())?;
        self.report.label_draw = self.labels.draw();
        notices.extend(used.one_sided.iter().map(one_sided));
        self.graded_by_key += used.by_key;
        if self.report.formats.iter().any(|counts| counts.unknown > 0) {
            notices.extend(used.flags.iter().filter_map(|(field, flags)| flags.notice(field)));
        }
        notices.extend(self.outcomes_beside());
        notices.extend(self.outcome_notice());
        notices.extend(self.columns_notice());
        notices.extend(self.named.notices(&self.corpus.options));
        notices.extend(self.tables.notices());
        notices.extend(self.unrecorded.notice());
        notices.extend(self.untaken_notices());
        notices.extend(self.tasks.notice());
        notices.extend(self.models.notices());
        notices.extend(copies(&self.report.skipped, Twin::Bytes));
        notices.extend(copies(&self.report.skipped, Twin::Session));
        notices.extend(self.report.zero_costs.as_ref().map(ZeroCosts::notice));
        self.report.notices = notices.into_iter().map(Finding::warning).collect();
        self.report.hygiene = self.hygiene.oddities();
        self.report.unused = self.unused.fields(by_id.as_deref());
        for skipped in &mut self.report.skipped {
            if used.joined.contains(skipped.path.strip_prefix("./").unwrap_or(&skipped.path)) {
                JOINED.clone_into(&mut skipped.reason);
            }
        }
        let first = self.report.skipped.iter().find(|skipped| skipped.looks_recorded);
        if let Some(diagnostic) = first.map(|first| unread(first, self.report.unread, self.corpus.n_files())) {
            self.report.find_first(Finding::error(diagnostic));
        }
        Ok(self.report)
    }

    /// Warnings about texts not read in calls, results and messages that have no other content.
    fn untaken_notices(&self) -> impl Iterator<Item = Diagnostic> {
        self.untaken.iter().map(|((format, of, name), Untaken { times, first })| {
            let (one, many, harm) = match of {
                Of::Call => ("call", "calls", "different calls look equal to loop rules"),
                Of::Result => ("result", "results", "different results look equal to loop rules"),
                Of::Message => ("message", "messages", "rules on texts see nothing there"),
            };
            let things = if *times == 1 { format!("1 {one} has") } else { format!("{times} {many} have") };
            let what = format!("{things} a text that is not read, under `{name}` ({format}; the first is here)");
            let help = format!("{harm}: rename the field as the format has it, or take no such rule's word here");
            Diagnostic::new(first.clone(), what, help)
        })
    }

    /// CSV files among the recordings or beside them that grade runs, if nobody else does.
    fn outcomes_beside(&mut self) -> Vec<Diagnostic> {
        let ungraded = self.report.formats.iter().any(|counts| counts.unknown > 0);
        if !ungraded || !self.corpus.options.labels.is_empty() || self.corpus.options.sealed {
            return Vec::new();
        }
        let is_run = |id: &str| self.ids.contains(&xxhash_rust::xxh3::xxh3_64(id.as_bytes()));
        let files = self.corpus.csv_files();
        let unread = files.iter().filter(|path| !self.labels.has_read(path));
        let found = unread.filter_map(|path| Some((path, label_files::outcomes_in(path, &is_run)?)));
        let found: Vec<(PathBuf, (LabelColumns, usize))> = found.map(|(path, found)| (path.clone(), found)).collect();
        let paths: Vec<PathBuf> = found.iter().map(|(path, _)| path.clone()).collect();
        let notice = |(path, (columns, n)): &(PathBuf, (LabelColumns, usize))| {
            let path = path.display().to_string();
            let what = format!("outcomes of {} stand in this file, which is not used", count(*n as u64, "run"));
            let help = format!("read them: `--labels {path} --label-columns {columns}`");
            Diagnostic::new(Location::file(path), what, help)
        };
        let notices = found.iter().map(notice).chain(self.labels.no_labels(&paths)).collect();
        self.report.outcomes_beside = found.into_iter().map(|(path, (columns, _))| (path, columns)).next();
        notices
    }

    /// The mapping by which runs that are called by their places have the ids that a field gives them.
    fn map_by_id(&self) -> Option<String> {
        let field = self.unused.id_field()?;
        let path = self.numbered.as_ref()?;
        let source = self.corpus.sources.files.iter().find(|source| source.name.path == *path)?;
        map_hint::with_id(&Probe::at_length(&source.file_name(), source.open().ok()?).ok()?, field)
    }

    /// A warning about names of columns where no file has labels.
    fn columns_notice(&self) -> Option<Diagnostic> {
        let columns = self.corpus.options.label_columns.as_ref().filter(|_| self.labels.are_none())?;
        let what = format!("`--label-columns {columns}` has no effect: no file with labels is read");
        Some(Diagnostic::new(Location::default(), what, "name the file that has these columns: `--labels FILE`"))
    }

    /// A warning if the outcome field the user named has no effect: no run has it, or no format uses it.
    fn outcome_notice(&self) -> Option<Diagnostic> {
        let key = self.corpus.options.outcome_key.as_deref().filter(|_| self.graded_by_key == 0)?;
        let formats = &self.report.formats;
        let keyed: Vec<_> = formats.iter().filter(|counts| OUTCOME_KEYED.contains(&counts.format.as_str())).collect();
        let runs: u64 = keyed.iter().map(|counts| counts.runs).sum();
        if formats.is_empty() {
            return None;
        }
        if runs == 0 {
            let names: Vec<&str> = formats.iter().map(|counts| counts.format.as_str()).collect();
            let what = format!("`--outcome {key}` has no effect on these recordings ({})", names.join(", "));
            let help = "their outcome has a fixed place; for another one use `--labels`";
            return Some(Diagnostic::new(Location::default(), what, help));
        }
        let what = format!("no run has a field `{key}` that grades it (`--outcome {key}`)");
        let help = "their outcomes are unknown: correct the name, or use `--labels`";
        Some(Diagnostic::new(Location::default(), what, help))
    }
}

/// A warning about a report that lists only successes.
fn one_sided((path, listed): (&String, &usize)) -> Diagnostic {
    let what = format!("only successes are listed ({listed}), and not how many runs were graded: none of it is used");
    let help = "rates need both: add the number of runs that were graded, as in `\"total\": 826`, or name the failures \
                with `--labels`";
    Diagnostic::new(Location::file(path.as_str()), what, help)
}

/// The finding about files that look like recordings and are not read.
fn unread(first: &Skipped, n: u64, of: usize) -> Diagnostic {
    let what = match n {
        1 => format!("1 of {} looks like a recording and is not read: {}", count(of as u64, "file"), first.reason),
        n => format!("{n} of {of} files look like recordings and are not read; the first: {}", first.reason),
    };
    let left = "`whenstop corpus PATH --why` lists what is left out: mend it, or take it out of the folder";
    let help = first.advice.clone().filter(|advice| map_hint::has_names(advice)).unwrap_or_else(|| left.to_owned());
    Diagnostic::new(Location::file(first.path.as_str()), what, help)
}

/// A warning about files that are left out because others hold the same, or another recording of the session.
fn copies(skipped: &[Skipped], twin: Twin) -> Option<Diagnostic> {
    let mut copies = skipped.iter().filter(|skipped| skipped.twin == Some(twin));
    let Skipped { path, reason, .. } = copies.next()?;
    let n = 1 + copies.count();
    let what = match twin {
        Twin::Bytes if n == 1 => format!("a recording stands there twice, byte for byte: {reason}"),
        Twin::Bytes => format!("{n} recordings stand there twice, byte for byte; the first is {reason}"),
        Twin::Session => format!("{} of a session that another file holds: {reason}", count(n, "recording")),
    };
    let help = match twin {
        Twin::Bytes => "each counts once: take the copies out of the folder",
        Twin::Session => "each session counts once, with the outcome and the totals that any of its recordings has",
    };
    Some(Diagnostic::new(Location::file(path.as_str()), what, help))
}

/// The reason for skipping a file that graded a run.
const JOINED: &str = "an outcome report: joined to the runs it grades";

/// Formats without a fixed place for the outcome, which use the field the user names.
const OUTCOME_KEYED: &[&str] =
    &["awaken", "chat", "inspect", "langfuse", "langsmith", "otel", "pydantic-ai", "smolagents"];

/// Whether a run is called by its number in the file.
fn is_number_in(file: &FileName, native: &str) -> bool {
    let Some(rest) = native.strip_prefix(&file.stem) else { return false };
    let Some(number) = rest.strip_prefix('/') else { return false };
    number.bytes().all(|byte| byte.is_ascii_digit())
}
