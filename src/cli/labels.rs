//! `whenstop labels`: writes a file of labels to fill in, with the runs whose labels decide most first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Exit;
use super::failure::Failure;
use super::inputs::{CorpusArgs, StackArgs};
use super::output::Output;
use crate::diagnostic::{Diagnostic, Location};
use crate::replay::replay;
use crate::report::write_atomically;
use crate::transcript::{Outcome, OutcomeSource, Run, Spend};

/// Arguments of `labels`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Fill in `success` (true or false) or `score` for the runs you have looked at, from the top, and \
    leave the rest empty; then add `--labels FILE` to any command. The columns after `secured_step` are to be read, not \
    filled in: `stacks_that_stop` names the stacks that would have stopped the run, and at which step."
)]
pub(super) struct Args {
    /// Where to write the file; `-` is stdout. An existing file is not overwritten: it may hold labels.
    #[arg(long, required = true, value_name = "FILE")]
    template: PathBuf,
    /// Stacks whose verdict the labels are for: a stack file, `preset:NAME`, `preset:all`, `system:NAME`,
    /// `system:all`. Runs on which they disagree come first, then runs that all of them stop. Repeatable.
    #[arg(long, value_name = "FILE|preset:NAME|system:NAME")]
    stacks: Vec<String>,
    #[command(flatten)]
    corpus: CorpusArgs,
}

/// A run without an outcome, and what makes it worth labelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Unlabelled {
    run_id: String,
    task_id: Option<String>,
    model: Option<String>,
    recorded_end: &'static str,
    steps: usize,
    tokens: Option<u64>,
    /// In dollars, formatted; empty if unknown.
    cost: String,
    /// The stacks that would have stopped it early, each with the step.
    stops: Vec<String>,
    /// The proxy outcome from a mark in the recording, and the mark.
    proxy: Option<String>,
}

/// `whenstop labels`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let to_stdout = args.template.as_os_str() == "-";
    if !to_stdout && args.template.exists() {
        let at = Location::file(args.template.display().to_string());
        let help = "give the name of a new file: this one may hold labels";
        return Err(Failure::usage(Diagnostic::new(at, "the file exists already", help)));
    }
    let strategies = StackArgs::named(args.stacks.clone()).load()?;
    let (mut n_runs, mut unlabelled) = (0, Vec::new());
    let work = |run: Run| {
        let proxy = match run.grade.source {
            OutcomeSource::Proxy(mark) => Some(mark),
            _ => None,
        };
        (run.grade.outcome == Outcome::Unknown || proxy.is_some()).then(|| {
            let stops = strategies.iter().filter_map(|strategy| {
                let stop = replay(&run, strategy).stop?;
                Some(format!("{} (step {})", strategy.name(), stop.point.step))
            });
            let proxy = proxy.map(|mark| {
                let outcome = if run.grade.outcome == Outcome::Success { "success" } else { "failure" };
                format!("{outcome} ({mark})")
            });
            Unlabelled { stops: stops.collect(), proxy, ..of_run(&run) }
        })
    };
    args.corpus.process(output, work, |found| {
        n_runs += 1;
        unlabelled.extend(found);
    })?;
    if unlabelled.is_empty() {
        let help = "to correct outcomes, write a file with the columns `run_id` and `success`";
        return Err(Failure::nothing(format!("all {n_runs} runs have an outcome: nothing to label"), help));
    }
    let unlabelled = by_worth(unlabelled, strategies.len());
    if to_stdout {
        let mut csv = Vec::new();
        write(&unlabelled, &mut csv).map_err(|error| Failure::internal(&error))?;
        output.bytes(&csv);
    } else {
        write_atomically(&args.template, |out| write(&unlabelled, out)).map_err(Failure::input)?;
    }
    for line in advice(&unlabelled, n_runs, args, &args.template).lines() {
        output.note(line);
    }
    Ok(Exit::Done)
}

fn of_run(run: &Run) -> Unlabelled {
    let spend = Spend::of_run(run);
    Unlabelled {
        run_id: run.header.run_id.clone(),
        task_id: run.header.task_id.clone(),
        model: run.header.model.clone(),
        recorded_end: run.grade.end.name(),
        steps: run.steps().len(),
        tokens: spend.total.map(|tokens| tokens.0),
        cost: spend.cost.map(|cost| format!("{:.6}", cost.0)).unwrap_or_default(),
        stops: Vec::new(),
        proxy: None,
    }
}

/// Sorts the runs by how much their labels decide: first where the `n_stacks` stacks disagree, by how many of them
/// stop; then where all stop; then where none does. Among equals, each task comes once before any comes twice, and
/// long runs come first: by tokens if every run has them, else by steps.
fn by_worth(mut runs: Vec<Unlabelled>, n_stacks: usize) -> Vec<Unlabelled> {
    let by_tokens = runs.iter().all(|run| run.tokens.is_some());
    let weight = |run: &Unlabelled| if by_tokens { run.tokens.unwrap_or(0) } else { run.steps as u64 };
    let group = |run: &Unlabelled| match run.stops.len() {
        0 if run.proxy.is_some() => (1, 0),
        0 => (2, 0),
        n if n == n_stacks => (1, 0),
        n => (0, n_stacks - n),
    };
    runs.sort_by(|a, b| (group(a), Reverse(weight(a)), &a.run_id).cmp(&(group(b), Reverse(weight(b)), &b.run_id)));
    // How often the run's task came before it in its group; a run without a task is a task of its own.
    let mut before: BTreeMap<((u8, usize), String), usize> = BTreeMap::new();
    let mut ranked: Vec<((u8, usize), usize, Unlabelled)> = Vec::new();
    for run in runs {
        let task = run.task_id.clone().unwrap_or_else(|| format!("\u{0}{}", run.run_id));
        let seen = before.entry((group(&run), task)).or_default();
        ranked.push((group(&run), *seen, run));
        *seen += 1;
    }
    ranked.sort_by_key(|(group, seen, _)| (*group, *seen));
    ranked.into_iter().map(|(.., run)| run).collect()
}

fn write(runs: &[Unlabelled], out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let with_proxies = runs.iter().any(|run| run.proxy.is_some());
    let columns = [
        "run_id",
        "task_id",
        "success",
        "score",
        "end",
        "secured_step",
        "model",
        "steps",
        "tokens",
        "cost_usd",
        "recorded_end",
        "stacks_that_stop",
    ];
    let columns = columns.into_iter().chain(with_proxies.then_some("proxy"));
    csv.write_record(columns).map_err(std::io::Error::other)?;
    for run in runs {
        let steps = run.steps.to_string();
        let tokens = run.tokens.map(|tokens| tokens.to_string()).unwrap_or_default();
        let (task, model) = (run.task_id.as_deref().unwrap_or_default(), run.model.as_deref().unwrap_or_default());
        let stopping = run.stops.join("; ");
        let record =
            [&*run.run_id, task, "", "", "", "", model, &*steps, &*tokens, &*run.cost, run.recorded_end, &*stopping];
        let proxy = with_proxies.then(|| run.proxy.as_deref().unwrap_or_default());
        csv.write_record(record.into_iter().chain(proxy)).map_err(std::io::Error::other)?;
    }
    csv.flush()
}

/// What was written, in which order, and what to do with it.
fn advice(runs: &[Unlabelled], n_runs: usize, args: &Args, path: &Path) -> String {
    let shown = path.display();
    let order = if args.stacks.is_empty() {
        "each task once before any twice, long runs first".to_owned()
    } else {
        let stopped = runs.iter().filter(|run| !run.stops.is_empty()).count();
        format!("the {stopped} that some stack stops first: their labels decide what it kills")
    };
    if runs.iter().any(|run| run.proxy.is_some()) {
        let (shown, noun) = (shown.to_string(), args.corpus.unit.noun());
        return format!(
            "{} of {n_runs} {noun} have no grade; written to {}, those that bear a mark first\n\
             fill in `success` from the top without a look at `proxy`, the last column; then count: true successes, of them\n\
             marked so, true failures, of them marked so. `--label-checked` takes these four numbers",
            runs.len(),
            if shown == "-" { "stdout" } else { &shown },
        );
    }
    format!(
        "{} of {n_runs} runs have no outcome; written to {},\n{order}\n\
         fill in `success` (true or false) or `score` from the top, leave the rest empty,\n\
         and add `--labels {}` to the command",
        runs.len(),
        if shown.to_string() == "-" { "stdout".to_owned() } else { shown.to_string() },
        if shown.to_string() == "-" { "FILE".to_owned() } else { shown.to_string() },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unlabelled(run_id: &str, task: &str, tokens: u64, stops: usize) -> Unlabelled {
        Unlabelled {
            run_id: run_id.to_owned(),
            task_id: Some(task.to_owned()).filter(|task| !task.is_empty()),
            tokens: Some(tokens),
            stops: vec!["s".to_owned(); stops],
            ..Unlabelled::default()
        }
    }

    #[test]
    fn disagreement_comes_first_then_other_tasks_then_length() {
        let runs = vec![
            unlabelled("quiet", "a", 900, 0),
            unlabelled("all", "a", 10, 3),
            unlabelled("one-long", "a", 500, 1),
            unlabelled("one-short", "b", 5, 1),
            unlabelled("one-again", "a", 400, 1),
            unlabelled("one-alone", "", 3, 1),
            unlabelled("two", "b", 1, 2),
        ];
        let order: Vec<String> = by_worth(runs, 3).into_iter().map(|run| run.run_id).collect();
        assert_eq!(order, ["two", "one-long", "one-short", "one-alone", "one-again", "all", "quiet"]);
    }

    #[test]
    fn without_tokens_everywhere_steps_are_compared() {
        let mut long = unlabelled("long", "a", 0, 0);
        (long.tokens, long.steps) = (None, 9);
        let order: Vec<String> =
            by_worth(vec![unlabelled("short", "b", 1000, 0), long], 0).into_iter().map(|run| run.run_id).collect();
        assert_eq!(order, ["long", "short"]);
    }
}
