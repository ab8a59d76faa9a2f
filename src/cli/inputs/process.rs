//! Reads a corpus and reports what was lost.

use std::path::PathBuf;

use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::diagnostic::{Diagnostic, Location, Severity, count, one_line};
use crate::reader::{Corpus, CorpusReport, Finding, ReadOptions};
use crate::report::{refuse_half_written, unreadable};
use crate::transcript::Run;

/// Lists the recordings under `paths`. Refuses a folder that an interrupted `convert` left incomplete.
pub(in crate::cli) fn open(paths: &[PathBuf], options: ReadOptions) -> Result<Corpus, CommandFailure> {
    paths.iter().try_for_each(|path| refuse_half_written(path)).map_err(CommandFailure::input)?;
    Ok(Corpus::open(paths, options)?)
}

/// Reads everything: `work` runs in parallel, `sink` on this thread and in order. Reports what was lost; a corpus
/// without a single run is an error.
pub(in crate::cli) fn process_telling<T: Send>(
    corpus: &Corpus,
    output: &Output,
    work: impl Fn(Run) -> T + Sync,
    sink: impl FnMut(T),
) -> Result<CorpusReport, CommandFailure> {
    let report = process(corpus, output, work, sink)?;
    tell_findings(&report, output);
    has_runs(&report).map(|()| report)
}

/// The same, but nothing is reported, and a corpus without a run is no error.
pub(in crate::cli) fn process<T: Send>(
    corpus: &Corpus,
    output: &Output,
    work: impl Fn(Run) -> T + Sync,
    mut sink: impl FnMut(T),
) -> Result<CorpusReport, CommandFailure> {
    let bar = output.progress(corpus.bytes());
    let mut runs = 0_u64;
    let report = corpus.process(work, |item| {
        sink(item);
        runs += 1;
        if runs.is_multiple_of(64) {
            bar.set_position(corpus.bytes_read());
            bar.set_message(format!(", {runs} runs"));
        }
    })?;
    bar.finish_and_clear();
    Ok(report)
}

/// Fails if there is no run.
pub(in crate::cli) fn has_runs(report: &CorpusReport) -> Result<(), CommandFailure> {
    has_read(report)?;
    if report.runs() > 0 {
        return Ok(());
    }
    let help = "`whenstop corpus PATH --why` says what each file was taken for; `--as FORMAT` forces a format";
    let (what, advice) = report.nothing_read();
    Err(CommandFailure::nothing(what, advice.unwrap_or(help).to_owned()))
}

/// Fails if there is no run and something that may have held one could not be read.
pub(in crate::cli) fn has_read(report: &CorpusReport) -> Result<(), CommandFailure> {
    if report.runs() > 0 || report.unreadable == 0 {
        return Ok(());
    }
    let what = format!("no recorded run, and {}", unreadable(report.unreadable));
    Err(CommandFailure::recordings(what, "`whenstop corpus PATH` says which, and why"))
}

/// A finding, with the number of those equal to it.
pub(in crate::cli) fn counted(finding: &Finding, times: u64) -> Diagnostic {
    let mut diagnostic = finding.diagnostic.clone();
    if times > 1 {
        diagnostic.what = format!("{} ({times} such; the first is here)", diagnostic.what);
    }
    diagnostic
}

/// Reports what could not be read and what looks wrong, the first few findings, and how costs were computed.
pub(in crate::cli) fn tell_findings(report: &CorpusReport, output: &Output) {
    const SHOWN: usize = 5;
    if report.unreadable > 0 {
        output.error(&Diagnostic::new(
            Location::default(),
            format!("{}; what follows is without them", unreadable(report.unreadable)),
            "`whenstop corpus` lists them, `--strict` ends at the first",
        ));
    }
    let gathered = report.gathered(true);
    let errors = gathered.iter().filter(|(finding, _)| finding.severity == Severity::Error);
    let mut shown = report.said_by_nothing_read() as u64;
    for (finding, times) in errors.take(SHOWN) {
        output.error(&counted(finding, *times));
        shown += times;
    }
    for notice in &report.notices {
        match notice.severity {
            Severity::Error => output.error(&notice.diagnostic),
            Severity::Warning => output.warning(&notice.diagnostic),
        }
    }
    if let Some(pricing) = &report.pricing {
        pricing.lines().iter().for_each(|line| output.note(line));
    }
    let hidden = report.errors.saturating_sub(shown);
    if hidden > 0 {
        output.note(&format!("… and {hidden} more that could not be read; `whenstop corpus` lists them"));
    }
    if let Some((kind, _)) = report.unknown_kinds.first_key_value() {
        let records: u64 = report.unknown_kinds.values().sum();
        output.note(&format!(
            "{} of kinds that no reader knows, without tokens, words or calls, first `{}`; `whenstop corpus` lists them",
            count(records, "record"),
            one_line(kind)
        ));
    }
    if report.warnings > 0 {
        let warnings = count(report.warnings, "warning");
        output.note(&format!("{warnings} about the recordings; `whenstop corpus` lists them"));
    }
}
