//! The report of what was read: counts by format, findings, skipped files. Filled in path order, so it does not depend
//! on the number of threads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Severity, count};
use crate::find::skipped::Skipped;
use crate::label::label_files::{LabelColumns, LabelDraw};
use crate::open::finding::Finding;
use crate::price::{PricingReport, ZeroCosts};
use crate::survey::call_counts::CallCounts;
use crate::survey::hygiene::Oddity;
use crate::survey::told_limits::{LimitSigns, ToldCounts, ToldSign};
use crate::survey::unused_fields::UnusedField;
use crate::transcript::{Outcome, OutcomeSource, Run, Spend, Tokens, Usd};

/// Findings kept in full; the rest is only counted.
const KEPT: usize = 1000;

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileRead {
    /// The file's path.
    pub path: String,
    /// The id of its format.
    pub format: String,
    /// Why it was recognised as this format.
    pub why: String,
    /// Runs found in it.
    pub runs: u64,
}

/// A run that was read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRead {
    /// The run's id.
    pub run_id: String,
    /// The path of its file.
    pub path: String,
    /// The id of the file's format.
    pub format: String,
    /// Steps: model calls of the agent under test.
    pub steps: u64,
    /// `success`, `failure` or `unknown`.
    pub outcome: &'static str,
    /// Where the outcome came from; `None` if the run was not graded.
    pub outcome_source: Option<String>,
    /// How it ended.
    pub end: &'static str,
    /// Tokens of the agent and its sub-agents; `None` if no call has any.
    pub tokens: Option<u64>,
    /// What its texts tell the model of a limit on its steps; `None` if they show no sign, which proves nothing.
    pub told: Option<ToldSign>,
    /// The cap on steps in its settings.
    pub declared_cap: Option<f64>,
    /// The names of the hygiene checks that flag it.
    pub hygiene: Vec<&'static str>,
}

/// The counts of one format.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FormatCounts {
    /// The format's id.
    pub format: String,
    /// Files of this format.
    pub files: u64,
    /// Runs in them.
    pub runs: u64,
    /// Steps of these runs: model calls of the agent under test.
    pub steps: u64,
    /// Runs whose outcome is known.
    pub with_outcome: u64,
    /// Runs graded a success.
    pub successes: u64,
    /// Runs graded a failure.
    pub failures: u64,
    /// Runs without a grade.
    pub unknown: u64,
    /// Runs with tokens of at least one model call.
    pub with_usage: u64,
    /// Tokens of the agent and its sub-agents, input (including cached) and output, summed over the runs that have
    /// any.
    pub tokens: u64,
    /// Runs with a cost of at least one model call, recorded or computed.
    pub with_cost: u64,
    /// Their cost in US dollars; `None` if no run has one.
    pub cost_usd: Option<f64>,
    /// How their calls and results belong together; zeros if the runs were only counted.
    pub calls: CallCounts,
    /// The sources of the outcomes, with the number of outcomes from each.
    pub outcome_sources: BTreeMap<String, u64>,
    /// Runs that have a score but no grade: the committed share of a checkpoint.
    #[serde(skip_serializing_if = "is_zero")]
    pub scored_only: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FormatCounts {
    fn add(&mut self, run: &Run, spend: &Spend) {
        self.runs += 1;
        self.steps += run.steps().len() as u64;
        match run.grade.outcome {
            Outcome::Success => self.successes += 1,
            Outcome::Failure => self.failures += 1,
            Outcome::Unknown => self.unknown += 1,
        }
        if run.grade.outcome != Outcome::Unknown {
            self.with_outcome += 1;
            *self.outcome_sources.entry(source_of(run)).or_default() += 1;
        }
        self.scored_only += u64::from(run.grade.outcome == Outcome::Unknown && run.grade.score.is_some());
        if let Some(Tokens(tokens)) = spend.total {
            self.with_usage += 1;
            self.tokens = self.tokens.saturating_add(tokens);
        }
        if let Some(Usd(cost)) = spend.cost {
            self.with_cost += 1;
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + cost);
        }
    }
}

/// The source of a run's outcome.
fn source_of(run: &Run) -> String {
    match &run.grade.source {
        OutcomeSource::None => "not stated".to_owned(),
        OutcomeSource::Native(field) => format!("field {field}"),
        OutcomeSource::Sidecar(path) => format!("file {path}"),
        OutcomeSource::Proxy(mark) => format!("proxy {mark}"),
    }
}

/// Tokens of a run's agent and its sub-agents; `None` if no call has any.
pub fn tokens(run: &Run) -> Option<Tokens> {
    Spend::from_run(run).total
}

/// What was read of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CorpusReport {
    /// Counts by format, in the order in which the formats were first seen.
    pub formats: Vec<FormatCounts>,
    /// The readers' findings in path order; only the first thousand.
    pub findings: Vec<Finding>,
    /// The number of findings not listed.
    pub findings_not_listed: u64,
    /// The number of findings about lost data.
    pub errors: u64,
    /// The number of findings without loss of data.
    pub warnings: u64,
    /// Files, folders, archives and members that could not be read, or not completely. Each has a finding.
    pub unreadable: u64,
    /// The first CSV file that grades runs and is not used, with the meaning of its columns.
    #[serde(skip)]
    pub outcomes_beside: Option<(PathBuf, LabelColumns)>,
    /// Which of the runs graded by labels were drawn at random.
    #[serde(skip)]
    pub label_draw: LabelDraw,
    /// Files that look like a recording and are not read. One finding counts them.
    pub unread: u64,
    /// Files that were not read as recordings.
    pub skipped: Vec<Skipped>,
    /// Files that were read.
    pub files: Vec<FileRead>,
    /// Every run, if requested.
    #[serde(rename = "runs", skip_serializing_if = "Option::is_none")]
    pub run_list: Option<Vec<RunRead>>,
    /// Suspicious content in runs that were read without errors.
    pub hygiene: Vec<Oddity>,
    /// How many runs tell the model of a limit on its steps.
    pub told: ToldCounts,
    /// Fields of the recordings that were not used, and what they may be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<UnusedField>,
    /// How the costs were determined, if prices were given.
    pub pricing: Option<PricingReport>,
    /// Runs whose recorded cost of 0 is treated as unknown; `None` if there are none.
    pub zero_costs: Option<ZeroCosts>,
    /// Warnings that affect all numbers: about labels, outcomes and costs. Not counted among the findings.
    pub notices: Vec<Finding>,
    /// Whether the runs of a format, in tables of a layout, record calls: false where none does, and rules on calls are
    /// not evaluable. A format of which no run takes a step is left out.
    #[serde(skip)]
    pub records_calls: BTreeMap<String, bool>,
    /// Lines and events of kinds that a reader does not know, keyed `format kind`, with their number.
    pub unknown_kinds: BTreeMap<String, u64>,
}

impl CorpusReport {
    /// That there is no run and why, with one file named, if any looks like a recording; and how a file could be read.
    pub fn nothing_read(&self) -> (String, Option<&str>) {
        let skipped = self.skipped.iter().filter(|skipped| skipped.hidden == 0).map(|skipped| &skipped.path);
        // A file that was recognised may be left out all the same.
        let paths: HashSet<&String> = self.files.iter().map(|file| &file.path).chain(skipped).collect();
        let n_files = count(paths.len() as u64, "file");
        let looks_recorded = self.skipped.iter().find(|skipped| skipped.looks_recorded);
        let what = match (&self.skipped[..], looks_recorded) {
            ([only], _) if paths.len() == 1 => format!("no recorded run in {}: {}", only.path, only.reason),
            (_, Some(first)) => {
                format!("no recorded run in {n_files}; {} looks like one: {}", first.path, first.reason)
            }
            (_, None) => format!("no recorded run in {n_files}"),
        };
        let advised = self.skipped.iter().filter(|skipped| skipped.advice.is_some());
        let first = advised.min_by_key(|skipped| !skipped.looks_recorded);
        (what, first.and_then(|skipped| skipped.advice.as_deref()))
    }

    /// How many of the first findings [`Self::nothing_read`] says: that files look like recordings, if nothing else was
    /// read.
    pub fn said_by_nothing_read(&self) -> usize {
        usize::from(self.unread > 0 && self.runs() == 0)
    }

    /// The number of runs in all formats.
    pub fn runs(&self) -> u64 {
        self.formats.iter().map(|counts| counts.runs).sum()
    }

    /// The counts of one format.
    pub fn format(&self, id: &str) -> Option<&FormatCounts> {
        self.formats.iter().find(|counts| counts.format == id)
    }

    pub(crate) fn find(&mut self, finding: Finding) {
        self.count(finding.severity);
        if self.findings.len() < KEPT {
            self.findings.push(finding);
        } else {
            self.findings_not_listed += 1;
        }
    }

    /// Adds a finding before all others, however many there are.
    pub(crate) fn find_first(&mut self, finding: Finding) {
        self.count(finding.severity);
        self.findings.insert(0, finding);
    }

    fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }

    /// The findings that are kept, equal ones as one with their number: equal in all but their places or, where only a
    /// few are shown (`loosely`), in all but what they quote and count. Without those that [`Self::nothing_read`] says.
    pub fn gathered(&self, loosely: bool) -> Vec<(&Finding, u64)> {
        let mut places: HashMap<(&str, String, String), usize> = HashMap::new();
        let mut gathered: Vec<(&Finding, u64)> = Vec::new();
        for finding in self.findings.iter().skip(self.said_by_nothing_read()) {
            let Diagnostic { what, help, .. } = &finding.diagnostic;
            let key = |text: &str| if loosely { unquoted(text) } else { text.to_owned() };
            let at = *places.entry((finding.severity_name(), key(what), key(help))).or_insert(gathered.len());
            match gathered.get_mut(at) {
                Some((_, times)) => *times += 1,
                None => gathered.push((finding, 1)),
            }
        }
        gathered
    }

    /// Counts findings that are not kept.
    pub(crate) fn find_more(&mut self, errors: u64, warnings: u64) {
        self.errors += errors;
        self.warnings += warnings;
        self.findings_not_listed += errors + warnings;
    }

    pub(crate) fn begin_file(&mut self, path: &str, format: &str, why: String) {
        self.counts(format).files += 1;
        self.files.push(FileRead { path: path.to_owned(), format: format.to_owned(), why, runs: 0 });
    }

    /// Adds how the calls and results of a run belong together.
    pub(crate) fn add_calls(&mut self, format: &str, calls: CallCounts) {
        self.counts(format).calls.add(calls);
    }

    /// Adds a run and what it spent.
    pub(crate) fn add(
        &mut self,
        format: &str,
        path: &str,
        run: &Run,
        spend: &Spend,
        (hygiene, limit): (Vec<&'static str>, LimitSigns),
    ) {
        self.counts(format).add(run, spend);
        self.told.add(&run.header.run_id, &limit);
        if let Some(runs) = &mut self.run_list {
            runs.push(RunRead {
                run_id: run.header.run_id.clone(),
                path: path.to_owned(),
                format: format.to_owned(),
                steps: run.steps().len() as u64,
                outcome: run.grade.outcome.name(),
                outcome_source: if run.grade.outcome == Outcome::Unknown { None } else { Some(source_of(run)) },
                end: run.grade.end.name(),
                tokens: spend.total.map(|tokens| tokens.0),
                told: limit.told,
                declared_cap: limit.declared_cap,
                hygiene,
            });
        }
        if let Some(file) = self.files.last_mut() {
            file.runs += 1;
        }
    }

    fn counts(&mut self, format: &str) -> &mut FormatCounts {
        let at = self.formats.iter().position(|counts| counts.format == format).unwrap_or_else(|| {
            self.formats.push(FormatCounts { format: format.to_owned(), ..FormatCounts::default() });
            self.formats.len() - 1
        });
        &mut self.formats[at]
    }
}

/// The text without what it quotes and counts.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    for (n, part) in text.split('`').enumerate() {
        if n % 2 == 0 {
            plain.extend(part.chars().filter(|c| !c.is_ascii_digit()));
        }
    }
    plain
}
