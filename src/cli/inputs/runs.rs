//! The runs of the recordings that a command names.

use std::cell::OnceCell;

use super::{CorpusArgs, UnitOfRun, has_runs, process, tell_findings};
use crate::aggregate::MIN_KNOWN;
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::diagnostic::{Diagnostic, Location, Severity, count};
use crate::effects::EffectTable;
use crate::reader::{Corpus, CorpusReport, Detail, Finding, LabelDraw, ReadOptions};
use crate::transcript::{Outcome, PromptedBy, Run};

/// Recordings that are listed once, when they are first asked for, and read as often as somebody needs them.
pub(in crate::cli) struct RecordedRuns<'a> {
    args: &'a CorpusArgs,
    detail: Detail,
    /// Whether runs that a draw of labels did not reach are given, too.
    with_undrawn: bool,
    corpus: OnceCell<Corpus>,
}

/// What a draw of labels left out of a corpus, in one sentence: `left_out` runs, while `graded` have an outcome. The runs
/// that labels grade stand for those without an outcome, but not for those that recorded their own: how many of each there
/// are would be lost.
fn undrawn(graded: u64, left_out: u64, labels: LabelDraw, noun: &str) -> Result<Option<String>, CommandFailure> {
    if left_out == 0 {
        return Ok(None);
    }
    let recorded = graded.saturating_sub(labels.graded);
    if recorded as f64 > (1.0 - MIN_KNOWN) * graded as f64 {
        let what = format!(
            "labels grade {} {noun} by a draw at random, and {recorded} recorded their outcome themselves",
            labels.graded
        );
        let help = "the draw stands for those without an outcome alone: delete the labels' column `drawn`; ungraded runs \
                    count as killed then, wherever they are stopped";
        return Err(CommandFailure::arguments(what, help));
    }
    let (have, are) = if left_out == 1 { ("has", "is") } else { ("have", "are") };
    Ok(Some(format!(
        "{left_out} of {} {noun} {have} no outcome and {are} left out: labels grade the first {} of an order drawn at \
        random, which stand for all",
        graded + left_out,
        labels.graded
    )))
}

impl<'a> RecordedRuns<'a> {
    /// The runs of the recordings that `args` name.
    pub(super) fn new(args: &'a CorpusArgs) -> Self {
        Self { args, detail: Detail::Counts, with_undrawn: false, corpus: OnceCell::new() }
    }

    /// The same, also looked through for limits that the agents were told of.
    #[must_use]
    pub(in crate::cli) fn with_told_limits(self) -> Self {
        Self { detail: Detail::ToldLimits, ..self }
    }

    /// The same, with the runs that a draw of labels did not reach.
    #[must_use]
    pub(in crate::cli) fn with_undrawn(self) -> Self {
        Self { with_undrawn: true, ..self }
    }

    fn corpus(&self) -> Result<&Corpus, CommandFailure> {
        if let Some(corpus) = self.corpus.get() {
            return Ok(corpus);
        }
        let corpus = self.args.open_with(|options| ReadOptions { detail: self.detail, ..options })?;
        Ok(self.corpus.get_or_init(|| corpus))
    }

    /// What is replayed as one run.
    pub(in crate::cli) fn unit(&self) -> UnitOfRun {
        self.args.unit
    }

    /// The plural of what counts as a run.
    pub(in crate::cli) fn noun(&self) -> &'static str {
        self.unit().noun()
    }

    /// Whether what cannot be read, or a guard that failed on a run, is an error.
    pub(in crate::cli) fn is_strict(&self) -> bool {
        self.args.reading.strict
    }

    /// The files by the names used in messages, with their sizes in bytes, in order.
    pub(in crate::cli) fn files(&self) -> Result<Vec<(String, u64)>, CommandFailure> {
        Ok(self.corpus()?.files().map(|(path, bytes)| (path.to_owned(), bytes)).collect())
    }

    /// Reads everything: `work` gets each run on any thread, `sink` what came of it on this thread and in order. Reports
    /// what was lost; recordings without a run are an error.
    pub(in crate::cli) fn each<T: Send>(
        &self,
        output: &Output,
        work: impl Fn(Run) -> T + Sync,
        sink: impl FnMut(T),
    ) -> Result<CorpusReport, CommandFailure> {
        let report = self.each_if_any(output, work, sink)?;
        has_runs(&report).map(|()| report)
    }

    /// The same, but there may be no run.
    pub(in crate::cli) fn each_if_any<T: Send>(
        &self,
        output: &Output,
        work: impl Fn(Run) -> T + Sync,
        mut sink: impl FnMut(T),
    ) -> Result<CorpusReport, CommandFailure> {
        let corpus = self.corpus()?;
        let unit = self.args.unit;
        let proxies = self.args.reading.outcome_from.as_ref();
        if let Some(proxies) = proxies {
            output.note(&proxies.sentence(unit.noun()));
        }
        let effects = EffectTable::default();
        let is_drawn = corpus.is_graded_by_draw() && proxies.is_none() && !self.with_undrawn;
        let of_recording = |run: Run| {
            let mut prompts = 0;
            let mut runs = match (proxies, unit) {
                (Some(proxies), _) => proxies.grade(run, unit, &effects),
                (None, UnitOfRun::Round) => run.into_rounds(),
                (None, UnitOfRun::Run) => {
                    if run.header.prompted_by == PromptedBy::Person {
                        prompts = run.rounds().len() as u64;
                    }
                    vec![run]
                }
            };
            let all = runs.len();
            if is_drawn {
                runs.retain(|run| run.grade.outcome != Outcome::Unknown);
            }
            let left_out = (all - runs.len()) as u64;
            (runs.into_iter().map(&work).collect::<Vec<T>>(), left_out, prompts)
        };
        let (mut graded, mut left_out) = (0, 0);
        // Sessions of several prompts: limits that people set usually count per prompt, so these are pointed out.
        let (mut sessions, mut rounds) = (0_u64, 0);
        let mut report = process(corpus, output, of_recording, |(results, not_drawn, prompts)| {
            graded += results.len() as u64;
            left_out += not_drawn;
            if prompts > 1 {
                sessions += 1;
                rounds += prompts;
            }
            results.into_iter().for_each(&mut sink);
        })?;
        tell_findings(&report, output);
        if sessions > 0 {
            output.note(&format!(
                "{} hold {rounds} rounds; limits count over whole sessions: `--unit round` counts as most hosts do",
                count(sessions, "session"),
            ));
        }
        if let Some(sentence) = undrawn(graded, left_out, report.label_draw, unit.noun())? {
            output.note(&sentence);
            let diagnostic = Diagnostic::new(Location::default(), sentence, "");
            report.notices.push(Finding { severity: Severity::Warning, diagnostic });
        }
        Ok(report)
    }
}
