//! One pass over the recordings: rows, a snapshot of them, and the texts around stops that changed.

use std::collections::BTreeMap;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::rule_sets::RuleSets;
use crate::aggregate::Row;
use crate::answers::{FollowedReport, RunEvidence};
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{CorpusArgs, LoadedStacks, tell_troubles};
use crate::cli::output::Output;
use crate::compare::{Evaluation, EvaluationOptions, Evaluator, StackInfo};
use crate::diagnostic::{Diagnostic, Location};
use crate::explain::Texts;
use crate::reader::trace;
use crate::report::Manifest;
use crate::review::{Places, StopContext};
use crate::snapshot::{CorpusPrint, StopLine, StopSnapshot};
use crate::transcript::{Fingerprint, Run};

/// The results of a corpus under some stacks.
pub(in crate::cli) struct Replayed {
    /// What was found out run by run, except what followed the stops.
    pub(in crate::cli) evidence: RunEvidence,
    /// What followed the stops.
    pub(in crate::cli) followed: FollowedReport,
    /// The stacks, each with its place among those that were tried.
    pub(in crate::cli) manifest: Manifest,
    pub(in crate::cli) snapshot: StopSnapshot,
    /// By stack and run: the texts around a stop that differs from the one before.
    pub(in crate::cli) words: BTreeMap<(String, String), StopContext>,
    /// The location of each stack in its file.
    pub(in crate::cli) places: Places,
    /// Inputs that could not be read, or not completely.
    pub(in crate::cli) unreadable: u64,
    /// Kinds of failures of guards.
    pub(in crate::cli) troubles: usize,
    /// Findings about lost data, those about unreadable inputs included.
    pub(in crate::cli) errors: u64,
}

impl Replayed {
    /// An error if a guard failed: there is nothing to `purpose` then.
    pub(super) fn refuse_troubles(&self, path: &Path, purpose: &str) -> Result<(), CommandFailure> {
        if self.troubles == 0 {
            return Ok(());
        }
        let what =
            format!("a guard failed on some runs: where it stops them is not known, so there is nothing to {purpose}");
        let at = Location::file(path.display().to_string());
        Err(CommandFailure::input(Diagnostic::new(at, what, "mend the guard, or leave it out")))
    }
}

/// Replays the corpus under the stacks, restricted to the given names if any. Stops are compared with those in
/// `before`; with `texts`, stories are collected for a page.
pub(in crate::cli) fn replayed(
    corpus: &CorpusArgs,
    loaded: &LoadedStacks,
    only: &[String],
    before: Option<&StopSnapshot>,
    texts: Option<Texts>,
    output: &Output,
) -> Result<Replayed, CommandFailure> {
    let mut strategies = loaded.strategies.clone();
    let all: Vec<StackInfo> = strategies.iter().map(|strategy| StackInfo::from_strategy(&**strategy)).collect();
    let sets = RuleSets::new(loaded, &all);
    strategies.retain(|strategy| only.is_empty() || only.iter().any(|name| name == strategy.name()));
    if all.is_empty() {
        return Err(CommandFailure::nothing("no stack to look at", "name one with `--stacks`"));
    }
    let earlier = earlier_names(before, &sets);
    let was = |row: &Row| {
        let stack = earlier.get(&*row.stack).copied().unwrap_or(&row.stack);
        before?.stop(stack, &row.run_id)
    };
    let options = EvaluationOptions { effects: loaded.effects(), stories: texts, ..EvaluationOptions::default() };
    let evaluator = Evaluator::new(&strategies, options);
    let (mut gathered, mut prints, mut words) = (evaluator.gather(), Vec::new(), BTreeMap::new());
    let report = corpus.process(
        output,
        |run| {
            let of = evaluator.evaluate(&run);
            let mut changed = Vec::new();
            for row in &of.rows {
                let now = StopLine::new(row.rule.as_deref(), row.stop_point, row.verdict);
                let Some(was) = was(row).filter(|was| **was != now) else { continue };
                let at = row.stop_point.or(was.stop.parse().ok());
                changed.push(((row.stack.to_string(), row.run_id.to_string()), StopContext::around(&run, at)));
            }
            (of, (run.header.run_id.clone(), print_of(&run)), changed)
        },
        |(of, print, changed)| {
            gathered.take(of);
            prints.push(print);
            words.extend(changed);
        },
    )?;
    let troubles = tell_troubles(&strategies, corpus.reading.strict, output)?;
    let formats = report.formats.iter().filter(|counts| counts.runs > 0);
    let formats = formats.map(|counts| (counts.format.clone(), counts.runs)).collect();
    let Evaluation { rows, firings, followed, stacks, stories, .. } = gathered.finish();
    let snapshot = StopSnapshot::accepted(&rows, CorpusPrint::from_runs(prints, formats), &sets.by_stack);
    let followed = FollowedReport::new(followed, corpus.unit.noun());
    let evidence = RunEvidence { rows, firings, followed: None, stories };
    let mut manifest = Manifest::new(stacks);
    manifest.set_places(&loaded.places());
    let (places, unreadable, errors) = (sets.places, report.unreadable, report.errors);
    Ok(Replayed { evidence, followed, manifest, snapshot, words, places, unreadable, troubles, errors })
}

/// New names of stacks, each with the name that a stack with equal rules had before.
fn earlier_names<'b>(before: Option<&'b StopSnapshot>, sets: &RuleSets) -> BTreeMap<String, &'b str> {
    let Some(before) = before else { return BTreeMap::new() };
    let mut names = BTreeMap::new();
    for (name, rules) in sets.by_stack.iter().filter(|(name, _)| !before.stacks.contains_key(*name)) {
        let gone = before.stacks.iter().filter(|(was, _)| !sets.by_stack.contains_key(*was));
        let same = gone.filter(|(_, stack)| matches!(&stack.rules, Some(was) if was.print == rules.print));
        if let Some((was, _)) = same.into_iter().next() {
            names.insert(name.clone(), was.as_str());
        }
    }
    names
}

/// A fingerprint of everything the own format records of a run: the same for a copy made by `convert`.
fn print_of(run: &Run) -> Fingerprint {
    let mut hash = Xxh3::new();
    // A run that cannot be written completely is hashed by the part that can.
    let _ = trace::write(run, &mut hash);
    Fingerprint(hash.digest())
}
