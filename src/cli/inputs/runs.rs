//! The runs of the recordings that a command names.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{CorpusArgs, Tell, UnitOfRun, has_runs, process_any};
use crate::aggregate::MIN_KNOWN;
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::diagnostic::{Diagnostic, Location, Severity};
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

/// Sessions of several prompts: limits that people set usually count per prompt, so these are pointed out.
#[derive(Default)]
struct SessionCounts {
    sessions: AtomicU64,
    rounds: AtomicU64,
}

impl SessionCounts {
    fn count(&self, run: &Run) {
        let rounds = if run.header.prompted_by == PromptedBy::Person { run.rounds().len() as u64 } else { 0 };
        if rounds > 1 {
            self.sessions.fetch_add(1, Ordering::Relaxed);
            self.rounds.fetch_add(rounds, Ordering::Relaxed);
        }
    }

    fn tell(self, output: &Output) {
        let (sessions, rounds) = (self.sessions.into_inner(), self.rounds.into_inner());
        if sessions > 0 {
            output.note(&format!(
                "{sessions} {} hold {rounds} rounds; limits count over whole sessions: `--unit round` counts as most hosts do",
                if sessions == 1 { "session" } else { "sessions" },
            ));
        }
    }
}

/// Runs of a corpus that labels grade by a draw at random.
#[derive(Default)]
struct DrawCounts {
    graded: AtomicU64,
    left_out: AtomicU64,
}

impl DrawCounts {
    /// Counts a run, and says whether the draw did not reach it.
    fn leaves_out(&self, run: &Run) -> bool {
        let is_left_out = run.grade.outcome == Outcome::Unknown;
        let count = if is_left_out { &self.left_out } else { &self.graded };
        count.fetch_add(1, Ordering::Relaxed);
        is_left_out
    }

    /// What was left out, in one sentence. The runs that labels grade stand for those without an outcome, but not for those
    /// that recorded their own: how many of each there are would be lost.
    fn sentence(self, labels: LabelDraw, noun: &str) -> Result<Option<String>, CommandFailure> {
        let (graded, left_out) = (self.graded.into_inner(), self.left_out.into_inner());
        let recorded = graded.saturating_sub(labels.graded);
        if left_out > 0 && recorded as f64 > (1.0 - MIN_KNOWN) * graded as f64 {
            let what = format!(
                "labels grade {} {noun} by a draw at random, and {recorded} recorded their outcome themselves",
                labels.graded
            );
            let help = "the draw stands for those without an outcome alone: delete the labels' column `drawn`; ungraded runs \
                        count as killed then, wherever they are stopped";
            return Err(CommandFailure::arguments(what, help));
        }
        let (have, are) = if left_out == 1 { ("has", "is") } else { ("have", "are") };
        if left_out == 0 {
            return Ok(None);
        }
        Ok(Some(format!(
            "{left_out} of {} {noun} {have} no outcome and {are} left out: labels grade the first {} of an order drawn at \
            random, which stand for all",
            graded + left_out,
            labels.graded
        )))
    }
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

    /// The plural of what counts as a run.
    pub(in crate::cli) fn noun(&self) -> &'static str {
        self.args.unit.noun()
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
        let (effects, sessions) = (EffectTable::default(), SessionCounts::default());
        let divided = |run: Run| match (proxies, unit) {
            (Some(proxies), _) => proxies.grade(run, unit, &effects),
            (None, UnitOfRun::Round) => run.into_rounds(),
            (None, UnitOfRun::Run) => {
                sessions.count(&run);
                vec![run]
            }
        };
        let draw = DrawCounts::default();
        let is_drawn = corpus.is_graded_by_draw() && proxies.is_none() && !self.with_undrawn;
        let of_recording = |run: Run| {
            let mut runs = divided(run);
            if is_drawn {
                runs.retain(|run| !draw.leaves_out(run));
            }
            runs.into_iter().map(&work).collect::<Vec<T>>()
        };
        let mut report = process_any(Tell::All, corpus, output, of_recording, |results| {
            results.into_iter().for_each(&mut sink);
        })?;
        sessions.tell(output);
        if let Some(sentence) = draw.sentence(report.label_draw, unit.noun())? {
            output.note(&sentence);
            let diagnostic = Diagnostic::new(Location::default(), sentence, "");
            report.notices.push(Finding { severity: Severity::Warning, diagnostic });
        }
        Ok(report)
    }
}
