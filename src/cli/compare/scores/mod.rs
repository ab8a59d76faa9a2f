//! `whenstop compare --scores`: each model's score when stopped runs count as failed.

mod document;
mod tables;
mod words;

use super::{Args, ProgramExit};
use crate::aggregate::{Label, MIN_KNOWN, Unit};
use crate::bench::{BenchTerms, Benchmark, benchmarks, chosen_on_others, unit};
use crate::class::{Certainty, Trial};
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{ByArg, tell_troubles};
use crate::cli::output::{Output, TableFormat};
use crate::cli::values::share;
use crate::compare::Comparison;

/// What is asked about scores.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ScoreArgs {
    /// Show each model's score when stopped runs count as failed.
    ///
    /// Says what stopping takes from each, and which models change places.
    #[arg(long, group = "classed", conflicts_with_all = ["out", "shard", "split"])]
    scores: bool,
    /// With `--scores`: let a stopped run go on with this probability, by a hash of its id, and weight it by the
    /// inverse: the full score is then estimated without bias. 1 is the full benchmark.
    #[arg(long, value_name = "SHARE", value_parser = audited, requires = "scores", hide_short_help = true)]
    audit: Option<f64>,
}

impl ScoreArgs {
    pub(super) fn are_asked(&self) -> bool {
        self.scores
    }
}

/// Parses a share above 0 and at most 1.
fn audited(text: &str) -> Result<f64, String> {
    let share = share(text)?;
    if share > 0.0 { Ok(share) } else { Err("not above 0: nothing would be audited".to_owned()) }
}

/// Benchmarks under one way of stopping.
struct StackBenchmarks {
    /// The stack's name; `None` for the one chosen on the other models.
    stack: Option<String>,
    benchmarks: Vec<Benchmark>,
}

/// The answer.
struct ScoresAnswer<'a> {
    args: &'a Args,
    trials: Vec<Trial>,
    stacks: Vec<String>,
    /// Stacks that are left out, and in how many runs a rule of theirs could not be read.
    not_judged: Vec<(String, usize)>,
    unit: Unit,
    /// The answer comes first; with several stacks each of them follows.
    lines: Vec<StackBenchmarks>,
}

/// `whenstop compare --scores`. All formats but the table and JSON print the models.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let answer = answer(args, output)?;
    match args.format {
        TableFormat::Json => output.json(&answer.json()),
        TableFormat::Table => answer.show(output)?,
        format => output.table(&answer.all_models(), format)?,
    }
    Ok(ProgramExit::Done)
}

fn answer<'a>(args: &'a Args, output: &Output) -> Result<ScoresAnswer<'a>, CommandFailure> {
    let strategies = args.stacks.load_some()?.strategies;
    let mut stacks: Vec<String> = strategies.iter().map(|strategy| strategy.name().to_owned()).collect();
    let comparison = Comparison::new(&strategies, args.assumptions.assumptions());
    let by = ByArg::by(args.by.as_ref());
    let mut trials = Vec::new();
    let corpus = args.corpus.classed(args.by.as_ref());
    corpus.process(output, |run| Trial::from_run(&run, &comparison.rows_of(&run).0, by), |trial| trials.push(trial))?;
    tell_troubles(&strategies, args.corpus.reading.strict, output)?;
    check(&trials)?;
    let not_judged = leave_out_unread(&mut stacks, &mut trials)?;
    let unit = unit(&trials);
    let lines = lines(args, &trials, &stacks, unit);
    Ok(ScoresAnswer { args, trials, stacks, not_judged, unit, lines })
}

/// Takes out the stacks whose rules could not be read on enough of the runs: what they would do there is not known.
fn leave_out_unread(stacks: &mut Vec<String>, trials: &mut [Trial]) -> Result<Vec<(String, usize)>, CommandFailure> {
    let unread = |at: usize| trials.iter().filter(|trial| trial.under[at].certainty == Certainty::Unread).count();
    let counts: Vec<usize> = (0..stacks.len()).map(unread).collect();
    let is_judged: Vec<bool> = counts.iter().map(|n| *n as f64 <= (1.0 - MIN_KNOWN) * trials.len() as f64).collect();
    let left_out = stacks.iter().zip(&counts).zip(&is_judged).filter(|(_, is_judged)| !**is_judged);
    let left_out: Vec<(String, usize)> = left_out.map(|((name, n), _)| (name.clone(), *n)).collect();
    if left_out.len() == stacks.len() {
        let what = format!("no stack can be judged: the rules of {} cannot be read on these runs", named(&left_out));
        let help = "`whenstop rules lint FILE PATH` says what each rule needs and the recordings lack";
        return Err(CommandFailure::recordings(what, help));
    }
    retain(stacks, &is_judged);
    for trial in trials {
        retain(&mut trial.under, &is_judged);
    }
    Ok(left_out)
}

/// Keeps the elements that are marked.
fn retain<T>(of: &mut Vec<T>, marked: &[bool]) {
    let mut marked = marked.iter();
    of.retain(|_| marked.next() == Some(&true));
}

/// Names stacks with the runs on which they could not be read.
fn named(stacks: &[(String, usize)]) -> String {
    stacks.iter().map(|(name, n)| format!("`{name}` ({n})")).collect::<Vec<_>>().join(", ")
}

/// Nothing can be compared without models and grades.
fn check(trials: &[Trial]) -> Result<(), CommandFailure> {
    if trials.iter().all(|trial| trial.success().is_none()) {
        let help = "name it with `--outcome`, or give `--labels`";
        return Err(CommandFailure::recordings("no run has an outcome, so no model has a score", help));
    }
    if trials.iter().all(|trial| trial.model.is_empty()) {
        let help = "say where it stands with `--model FIELD`, `--model path:N` or a pattern";
        return Err(CommandFailure::recordings("no run names its model", help));
    }
    if trials.iter().all(|trial| trial.class.is_none()) {
        let help = "leave `--by` out, or name another field";
        return Err(CommandFailure::recordings("no run has what `--by` asks for", help));
    }
    Ok(())
}

fn lines(args: &Args, trials: &[Trial], stacks: &[String], unit: Unit) -> Vec<StackBenchmarks> {
    let terms = BenchTerms { delta: 1.0 - args.appetite.confidence, audit: args.scores.audit };
    let tried = stacks.len();
    let own = |at: usize| StackBenchmarks {
        stack: Some(stacks[at].clone()),
        benchmarks: benchmarks(trials, |_| Some(at), tried, terms),
    };
    if tried == 1 {
        return vec![own(0)];
    }
    let models: std::collections::BTreeSet<&Label> = trials.iter().map(|trial| &trial.model).collect();
    let choice = |model| (model, chosen_on_others(trials, model, tried, args.appetite.max_killed, unit));
    let chosen: std::collections::BTreeMap<&Label, Option<usize>> = models.into_iter().map(choice).collect();
    let rule = |model: &Label| chosen.get(model).copied().flatten();
    let first = StackBenchmarks { stack: None, benchmarks: benchmarks(trials, rule, tried, terms) };
    std::iter::once(first).chain((0..tried).map(own)).collect()
}
