//! `whenstop bench`: a benchmark whose runs are stopped early.

mod document;
mod tables;
mod words;

use clap::ValueEnum;

use super::Exit;
use super::failure::Failure;
use super::inputs::{ByArg, CorpusArgs, StackArgs};
use super::output::{Format, Output};
use super::values::share_inside;
use crate::aggregate::{Label, MIN_KNOWN, Unit};
use crate::bench::{
    BenchTerms, Benchmark, NotExchangeable, Restart, Training, Treatment, after_truncated, benchmarks,
    chosen_on_others, exchangeable, restart, training, unit,
};
use crate::class::{Certainty, Trial, groups};
use crate::compare::Comparison;
use crate::diagnostic::{Diagnostic, Location};
use crate::verdict::Assumptions;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    stacks: StackArgs,
    /// What is a benchmark of its own: each `suite`, `model`, or value of a field found as for `--outcome`. By default all
    /// runs are one benchmark.
    #[arg(long, value_name = "suite|model|FIELD", value_parser = ByArg::parse)]
    by: Option<ByArg>,
    /// With several stacks: the share of the other models' successes that a stack may kill to be chosen for a model.
    #[arg(long, value_name = "RATE", default_value_t = 0.02, value_parser = super::values::share)]
    max_killed: f64,
    /// Probability that some limit or some certified pair is wrong, over all models, pairs and stacks together.
    #[arg(long, value_name = "CHANCE", default_value_t = 0.05, value_parser = share_inside)]
    delta: f64,
    /// Let a stopped run go on with this probability, by a hash of its id, and weight it by the inverse: the full score is
    /// then estimated without bias. 1 is the full benchmark.
    #[arg(long, value_name = "SHARE", value_parser = audited)]
    audit: Option<f64>,
    /// Also estimate "stop, then one fresh try under the same stack", from the trials of each task.
    #[arg(long)]
    restart: bool,
    /// Also show what stops do to groups of rollouts for training, if a stopped one counts as `zero`, is `masked`, or is
    /// `kept` with its recorded reward.
    #[arg(long, value_enum, value_name = "TREATMENT")]
    groups: Option<TreatmentArg>,
    /// How the result is printed; all but `table` and `json` print the models.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    // Last: its heading would hold for what follows.
    #[command(flatten)]
    corpus: CorpusArgs,
}

/// Parses a share above 0 and at most 1.
fn audited(text: &str) -> Result<f64, String> {
    super::values::share(text)
        .and_then(|share| if share > 0.0 { Ok(share) } else { Err("not above 0: nothing would be audited".to_owned()) })
}

/// What a stopped rollout counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TreatmentArg {
    Zero,
    Masked,
    Kept,
}

impl TreatmentArg {
    fn treatment(self) -> Treatment {
        match self {
            Self::Zero => Treatment::Zero,
            Self::Masked => Treatment::Masked,
            Self::Kept => Treatment::Kept,
        }
    }
}

/// Benchmarks under one way of stopping.
struct Line {
    /// The stack's name; `None` for the one chosen on the other models.
    stack: Option<String>,
    benchmarks: Vec<Benchmark>,
}

/// The answer.
struct Answer<'a> {
    args: &'a Args,
    trials: Vec<Trial>,
    stacks: Vec<String>,
    /// Stacks that are left out, and in how many runs a rule of theirs could not be read.
    not_judged: Vec<(String, usize)>,
    unit: Unit,
    /// The answer comes first; with several stacks each of them follows.
    lines: Vec<Line>,
    restarts: Option<Result<Vec<(String, Restart)>, NotExchangeable>>,
    training: Option<Vec<(String, Training)>>,
    truncated: Option<(f64, u64, u64)>,
}

/// `whenstop bench`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let answer = answer(args, output)?;
    match args.format {
        Format::Json => output.json(&answer.json()),
        Format::Table => answer.show(output)?,
        format => output.table(&answer.all_models(), format)?,
    }
    Ok(Exit::Done)
}

fn answer<'a>(args: &'a Args, output: &Output) -> Result<Answer<'a>, Failure> {
    let strategies = args.stacks.load_some()?.strategies;
    let mut stacks: Vec<String> = strategies.iter().map(|strategy| strategy.name().to_owned()).collect();
    let comparison = Comparison::new(&strategies, Assumptions::default());
    let by = ByArg::by(args.by.as_ref());
    let mut trials = Vec::new();
    let corpus = args.corpus.classed(args.by.as_ref());
    corpus.process(output, |run| Trial::from_run(&run, &comparison.rows_of(&run).0, by), |trial| trials.push(trial))?;
    super::inputs::tell_troubles(&strategies, output)?;
    check(&trials)?;
    let not_judged = leave_out_unread(&mut stacks, &mut trials)?;
    let unit = unit(&trials);
    let lines = lines(args, &trials, &stacks, unit);
    let grouped = (args.restart || args.groups.is_some()).then(|| groups(&trials));
    let restarts = grouped.as_ref().filter(|_| args.restart).map(|(groups, differing)| {
        exchangeable(&trials, groups, &differing.iter().cloned().collect::<Vec<_>>())?;
        let of = |(at, name): (usize, &String)| Some((name.clone(), restart(&trials, groups, Some(at), unit)?));
        Ok(stacks.iter().enumerate().filter_map(of).collect())
    });
    let training = grouped.as_ref().zip(args.groups).map(|((groups, _), treatment)| {
        let of =
            |(at, name): (usize, &String)| (name.clone(), training(&trials, groups, at, treatment.treatment(), unit));
        stacks.iter().enumerate().map(of).collect()
    });
    let truncated = args.groups.and_then(|_| after_truncated(&trials, unit));
    Ok(Answer { args, trials, stacks, not_judged, unit, lines, restarts, training, truncated })
}

/// Takes out the stacks whose rules could not be read on enough of the runs: what they would do there is not known.
fn leave_out_unread(stacks: &mut Vec<String>, trials: &mut [Trial]) -> Result<Vec<(String, usize)>, Failure> {
    let unread = |at: usize| trials.iter().filter(|trial| trial.under[at].certainty == Certainty::Unread).count();
    let counts: Vec<usize> = (0..stacks.len()).map(unread).collect();
    let is_judged: Vec<bool> = counts.iter().map(|n| *n as f64 <= (1.0 - MIN_KNOWN) * trials.len() as f64).collect();
    let left_out = stacks.iter().zip(&counts).zip(&is_judged).filter(|(_, is_judged)| !**is_judged);
    let left_out: Vec<(String, usize)> = left_out.map(|((name, n), _)| (name.clone(), *n)).collect();
    if left_out.len() == stacks.len() {
        let what = format!("no stack can be judged: the rules of {} cannot be read on these runs", named(&left_out));
        let help = "`whenstop rules lint FILE PATH` says what each rule needs and the recordings lack";
        return Err(Failure::input(Diagnostic::new(Location::default(), what, help)));
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
    of.retain(|_| marked.next().is_some_and(|is_marked| *is_marked));
}

/// Names stacks with the runs on which they could not be read.
fn named(stacks: &[(String, usize)]) -> String {
    stacks.iter().map(|(name, n)| format!("`{name}` ({n})")).collect::<Vec<_>>().join(", ")
}

/// Nothing can be compared without models and grades.
fn check(trials: &[Trial]) -> Result<(), Failure> {
    let refuse = |what: &str, help: &str| Err(Failure::input(Diagnostic::new(Location::default(), what, help)));
    if trials.iter().all(|trial| trial.success().is_none()) {
        return refuse(
            "no run has an outcome, so no model has a score",
            "name it with `--outcome`, or give `--labels`",
        );
    }
    if trials.iter().all(|trial| trial.model.is_empty()) {
        return refuse(
            "no run names its model",
            "say where it stands with `--model FIELD`, `--model path:N` or a pattern",
        );
    }
    if trials.iter().all(|trial| trial.class.is_none()) {
        return refuse("no run has what `--by` asks for", "leave `--by` out, or name another field");
    }
    Ok(())
}

fn lines(args: &Args, trials: &[Trial], stacks: &[String], unit: Unit) -> Vec<Line> {
    let terms = BenchTerms { delta: args.delta, audit: args.audit };
    let tried = stacks.len();
    let own = |at: usize| Line {
        stack: Some(stacks[at].clone()),
        benchmarks: benchmarks(trials, |_| Some(at), tried, terms),
    };
    if tried == 1 {
        return vec![own(0)];
    }
    let models: std::collections::BTreeSet<&Label> = trials.iter().map(|trial| &trial.model).collect();
    let choice = |model| (model, chosen_on_others(trials, model, tried, args.max_killed, unit));
    let chosen: std::collections::BTreeMap<&Label, Option<usize>> = models.into_iter().map(choice).collect();
    let rule = |model: &Label| chosen.get(model).copied().flatten();
    let first = Line { stack: None, benchmarks: benchmarks(trials, rule, tried, terms) };
    std::iter::once(first).chain((0..tried).map(own)).collect()
}
