//! `whenstop compare --shard`: computes one part of a comparison.

use std::path::Path;

use super::{Args, CompareQuestion, Exit, refuse_unknown_baseline};
use crate::cli::compare::EmbedText;
use crate::cli::failure::Failure;
use crate::cli::inputs::{LoadedStacks, RecordedRuns, UnitOfRun, has_runs, tell_troubles};
use crate::cli::output::Output;
use crate::compare::{Evaluator, Options};
use crate::diagnostic::count;
use crate::report::{About, Division, Found, Input, Manifest, Shard, write_part};
use crate::transcript::Run;

/// Which part of a comparison to compute.
pub(in crate::cli) struct Extent {
    /// Which shard.
    pub(in crate::cli) shard: Shard,
    /// By task: all files are read, and runs of other parts are skipped. By file: the files read all belong to the
    /// part.
    pub(in crate::cli) division: Division,
    /// Names for the files in the part's manifest, in the order they are read; if empty, their paths are used.
    pub(in crate::cli) names: Vec<String>,
}

impl Extent {
    fn holds(&self, run: &Run) -> bool {
        let suite = run.header.suite.as_deref().unwrap_or_default();
        let task = run.header.task_id.as_deref().unwrap_or(&run.header.run_id);
        self.division == Division::Files || self.shard.holds((suite, task))
    }
}

/// What is asked of a part.
pub(in crate::cli) struct Part<'a> {
    pub(in crate::cli) question: CompareQuestion<'a>,
    pub(in crate::cli) stacks: LoadedStacks,
    pub(in crate::cli) unit: UnitOfRun,
    pub(in crate::cli) embed_text: EmbedText,
}

impl<'a> Part<'a> {
    fn from_args(args: &'a Args, recordings: &RecordedRuns<'_>, output: &Output) -> Result<Self, Failure> {
        let (stacks, question) = (args.stacks.load_some()?, args.question(recordings, output)?);
        Ok(Self { question, stacks, unit: args.corpus.unit, embed_text: args.embed_text })
    }
}

/// Runs one part of a comparison and reports the result.
pub(super) fn run_shard(
    args: &Args,
    runs: &RecordedRuns<'_>,
    shard: Shard,
    out: &Path,
    output: &Output,
) -> Result<Exit, Failure> {
    run_part(&Part::from_args(args, runs, output)?, runs, shard, out, output)
}

/// The same, whoever asks.
pub(in crate::cli) fn run_part(
    part: &Part<'_>,
    runs: &RecordedRuns<'_>,
    shard: Shard,
    out: &Path,
    output: &Output,
) -> Result<Exit, Failure> {
    let extent = Extent { shard, division: Division::Tasks, names: Vec::new() };
    let n_runs = write_part_of(part, runs, &extent, out, output)?;
    output.note(&format!(
        "part {shard}: {} written to {}; put the parts together with `whenstop report`",
        count(n_runs, "run"),
        out.display()
    ));
    Ok(Exit::Done)
}

/// Computes one part of a comparison and writes it run by run. Returns the number of its runs.
pub(in crate::cli) fn write(
    args: &Args,
    recordings: &RecordedRuns<'_>,
    extent: &Extent,
    out: &Path,
    output: &Output,
) -> Result<u64, Failure> {
    write_part_of(&Part::from_args(args, recordings, output)?, recordings, extent, out, output)
}

fn write_part_of(
    of: &Part<'_>,
    recordings: &RecordedRuns<'_>,
    extent: &Extent,
    out: &Path,
    output: &Output,
) -> Result<u64, Failure> {
    let Part { question, stacks, .. } = of;
    let grounds = stacks.grounds();
    let options = Options {
        assumptions: question.assumptions,
        keeps: question.keeps,
        stories: question.texts,
        effects: stacks.effects(),
        grounds: &grounds,
    };
    let evaluator = Evaluator::new(&stacks.strategies, options);
    if let Some(name) = question.baseline {
        refuse_unknown_baseline(name, evaluator.stacks())?;
    }
    let read = recordings.files()?;
    let named = names(&read, &extent.names);
    let mut met = evaluator.met();
    let mut failure = None;
    let mut runs = 0_u64;
    let written = write_part(out, |part| {
        let mut state = Ok(());
        let work = |run: Run| extent.holds(&run).then(|| evaluator.evaluate(&run));
        let report = recordings.each_if_any(output, work, |run| {
            if state.is_ok() {
                match run {
                    None => part.pass(),
                    Some(mut run) => {
                        runs += 1;
                        met.iter_mut().zip(run.outside.drain(..)).for_each(|(met, outside)| met.take(outside));
                        evaluator.keep_story(&mut run);
                        state = part.run(&run);
                    }
                }
            }
        });
        state?;
        // With parts by file, some files may hold no run: their part is empty. Parts by task have read everything.
        let report = report.and_then(|report| {
            if extent.division == Division::Tasks {
                has_runs(&report)?;
            }
            Ok(report)
        });
        let told =
            report.and_then(|report| tell_troubles(&stacks.strategies, recordings.is_strict(), output).map(|_| report));
        let report = told.map_err(|error| {
            let first = error.diagnostics.first().clone();
            failure = Some(error);
            first
        })?;
        let comparison = Manifest {
            rows: Some(0),
            unit: (of.unit == UnitOfRun::Round).then(|| of.unit.noun().to_owned()),
            ..question.manifest(evaluator.stacks().to_vec(), stacks)
        };
        let mut found = Found::from_report(&report);
        if matches!(of.embed_text, EmbedText::None) {
            found = found.without_values();
        }
        found.renamed(&named);
        Ok(About {
            shard: extent.shard,
            division: extent.division,
            inputs: inputs(&read, &named),
            found,
            records_calls: report.records_calls,
            met,
            comparison,
            told: evaluator.take_stories(),
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    written.map_err(Failure::input)?;
    Ok(runs)
}

/// Pairs of the path that was read and its name, if names were given for all files.
fn names(read: &[(String, u64)], names: &[String]) -> Vec<(String, String)> {
    if names.len() != read.len() {
        return Vec::new();
    }
    read.iter().zip(names).map(|((path, _), name)| (path.clone(), name.clone())).collect()
}

fn inputs(read: &[(String, u64)], named: &[(String, String)]) -> Vec<Input> {
    let inputs = read.iter().enumerate();
    let input = |(index, (path, bytes)): (usize, &(String, u64))| {
        let name = named.get(index).map_or(path, |(_, name)| name);
        Input { path: name.clone(), bytes: *bytes }
    };
    inputs.map(input).collect()
}
