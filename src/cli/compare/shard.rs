//! `whenstop compare --shard`: computes one part of a comparison.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use super::{Args, CompareQuestion, ProgramExit};
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{LoadedStacks, RecordedRuns, UnitOfRun, has_runs, tell_troubles};
use crate::cli::output::Output;
use crate::compare::{EvaluationOptions, Evaluator, KeptStories, OfRun};
use crate::diagnostic::{Diagnostic, count};
use crate::explain::Texts;
use crate::reader::CorpusReport;
use crate::report::{
    Division, Input, Manifest, PartManifest, PartSearch, PartWriter, ReadingFindings, SearchQuestion, Shard, Shippable,
    write_part_folder,
};
use crate::transcript::Run;

/// Which part of a comparison to compute.
pub(in crate::cli) struct ShardScope {
    /// Which shard.
    pub(in crate::cli) shard: Shard,
    /// By task: all files are read, and runs of other parts are skipped. By file: the files read all belong to the
    /// part.
    pub(in crate::cli) division: Division,
    /// Names for the files in the part's manifest, in the order they are read; if empty, their paths are used.
    pub(in crate::cli) names: Vec<String>,
}

impl ShardScope {
    fn holds(&self, run: &Run) -> bool {
        self.division == Division::Files || self.shard.holds(&run.header)
    }
}

/// What is asked of a part.
pub(in crate::cli) struct ComparedPart<'a> {
    pub(in crate::cli) question: &'a CompareQuestion<'a>,
    pub(in crate::cli) stacks: &'a LoadedStacks,
    /// What is written for the stack to ship, if that is asked.
    pub(in crate::cli) shippable: Option<&'a [Shippable]>,
}

/// Writes the part with the tasks of a shard by `write`, which returns the number of its runs, and says that it is there.
pub(in crate::cli) fn run_shard(
    shard: Shard,
    out: &Path,
    output: &Output,
    write: impl FnOnce(&ShardScope) -> Result<u64, CommandFailure>,
) -> Result<ProgramExit, CommandFailure> {
    let n_runs = write(&ShardScope { shard, division: Division::Tasks, names: Vec::new() })?;
    output.note(&format!(
        "part {shard}: {} written to {}; put the parts together with `whenstop report`",
        count(n_runs, "run"),
        out.display()
    ));
    Ok(ProgramExit::Done)
}

/// Computes one part of a comparison and writes it run by run. Returns the number of its runs.
pub(in crate::cli) fn write(
    args: &Args,
    recordings: &RecordedRuns<'_>,
    extent: &ShardScope,
    out: &Path,
    output: &Output,
) -> Result<u64, CommandFailure> {
    let stacks = args.stacks.load_some()?;
    let part = ComparedPart { question: &args.question(recordings, output)?, stacks: &stacks, shippable: None };
    write_comparison(&part, recordings, extent, out, output)
}

/// Replays the runs of one part under stacks and writes what comes of it. Returns the number of its runs.
pub(in crate::cli) fn write_comparison(
    part: &ComparedPart<'_>,
    recordings: &RecordedRuns<'_>,
    extent: &ShardScope,
    out: &Path,
    output: &Output,
) -> Result<u64, CommandFailure> {
    let ComparedPart { question, stacks, shippable } = *part;
    let grounds = stacks.grounds();
    let options = EvaluationOptions { effects: stacks.effects(), grounds: &grounds, ..question.options() };
    let evaluator = Evaluator::new(&stacks.strategies, options);
    question.refuse_unknown_baseline(stacks)?;
    // Runs are put into the part and the part is described by turns.
    let (met, agents) = (RefCell::new(evaluator.met()), RefCell::new(BTreeSet::new()));
    let put = |part: &mut PartWriter, (mut run, agent): (OfRun, Option<String>)| {
        agents.borrow_mut().extend(agent);
        met.borrow_mut().iter_mut().zip(run.outside.drain(..)).for_each(|(met, outside)| met.take(outside));
        evaluator.keep_story(&mut run);
        part.run(&run)
    };
    write_runs(
        recordings,
        extent,
        out,
        output,
        |run| (evaluator.evaluate(run), run.header.agent.clone()),
        put,
        |about, report| {
            tell_troubles(&stacks.strategies, recordings.is_strict(), output)?;
            let is_rounds = recordings.unit() == UnitOfRun::Round;
            let unit = if is_rounds { Some(recordings.noun().to_owned()) } else { None };
            about.comparison = Manifest { rows: Some(0), unit, ..Manifest::new(evaluator.stacks().to_vec()) };
            question.describe(&mut about.comparison, stacks);
            if question.texts == Some(Texts::None) {
                about.found = std::mem::take(&mut about.found).without_values();
            }
            about.met = met.take();
            about.agents = agents.take();
            if let Some(shippable) = shippable {
                let question = SearchQuestion::Own(shippable.to_vec());
                about.search = Some(PartSearch { question, labels: report.label_draw });
            }
            Ok(evaluator.take_stories())
        },
    )
}

/// Writes one part run by run: `work` is done with each of its runs on any thread, `put` adds what comes of it, and
/// `describe` completes what the part's manifest says, and returns the stories that are kept. Returns the number of its runs.
pub(in crate::cli) fn write_runs<T: Send>(
    recordings: &RecordedRuns<'_>,
    extent: &ShardScope,
    out: &Path,
    output: &Output,
    work: impl Fn(&Run) -> T + Sync,
    mut put: impl FnMut(&mut PartWriter, T) -> Result<(), Diagnostic>,
    describe: impl FnOnce(&mut PartManifest, &CorpusReport) -> Result<KeptStories, CommandFailure>,
) -> Result<u64, CommandFailure> {
    let read = recordings.files()?;
    // Names, if they are given for all files.
    let given = if extent.names.len() == read.len() { &extent.names[..] } else { &[] };
    let named: Vec<(String, String)> = read.iter().map(|(path, _)| path.clone()).zip(given.iter().cloned()).collect();
    let mut failure = None;
    let mut runs = 0_u64;
    let written = write_part_folder(out, (extent.shard, extent.division), |part| {
        let mut state = Ok(());
        let work = |run: Run| if extent.holds(&run) { Some(work(&run)) } else { None };
        let report = recordings.each_if_any(output, work, |result| {
            if state.is_ok() {
                match result {
                    None => part.pass(),
                    Some(result) => {
                        runs += 1;
                        state = put(part, result);
                    }
                }
            }
        });
        state?;
        // With parts by file, some files may hold no run: their part is empty. Parts by task have read everything.
        let about = || {
            let report = report?;
            if extent.division == Division::Tasks {
                has_runs(&report)?;
            }
            let about = &mut part.manifest;
            about.inputs = inputs(&read, &named);
            about.found = ReadingFindings::from_report(&report);
            about.records_calls = report.records_calls.clone();
            let stories = describe(about, &report)?;
            about.found.renamed(&named);
            Ok(stories)
        };
        about().map_err(|error: CommandFailure| {
            let first = error.diagnostics.first().clone();
            failure = Some(error);
            first
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    written.map_err(CommandFailure::input)?;
    Ok(runs)
}

/// The files that were read, by their names.
fn inputs(read: &[(String, u64)], named: &[(String, String)]) -> Vec<Input> {
    let mut inputs = Vec::new();
    for (nth, (path, bytes)) in read.iter().enumerate() {
        let path = named.get(nth).map_or(path, |(_, name)| name).clone();
        inputs.push(Input { path, bytes: *bytes });
    }
    inputs
}
