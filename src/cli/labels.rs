//! `whenstop labels`: writes a file of labels to fill in. Its order is a sampling design: whoever fills it in from the
//! top grades a random sample of every kind of run.

use std::collections::BTreeMap;

use super::ProgramExit;
use super::destination::Destination;
use super::failure::CommandFailure;
use super::inputs::{CorpusArgs, StackArgs, UnitOfRun};
use super::output::Output;
use super::values::shell_word;
use crate::answers::tables::{DataTable, TableCell, TableColumns};
use crate::diagnostic::one_line;
use crate::replay::replay;
use crate::report::write_atomically;
use crate::stats::cluster_key;
use crate::transcript::{Outcome, OutcomeSource, Role, Run, Spend, messages};

/// Arguments of `labels`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Fill in `success` (true or false) or `score` for the runs you have looked at, from the top, and \
    leave the rest empty; then add `--labels FILE` to any command. The runs stand in an order drawn at random, from every \
    kind of run its share: as many as you grade from the top are a fair sample of all of them, and picking others is \
    not. `secured_at` is the step, counted from 1, \
    after which the success could no longer be lost. The columns after it are to be read, not filled in: `drawn` is the \
    place of the run in that order, without which nothing is certified; `stacks_that_stop` names the stacks that would \
    have stopped the run, and at which step; `show` is the command that shows it."
)]
pub(super) struct Args {
    /// Where to write the file; `-` is stdout. An existing file is not overwritten: it may hold labels.
    #[arg(long, required = true, value_name = "FILE")]
    template: Destination,
    /// Stacks whose verdict the labels are for: a stack file, `preset:NAME`, `preset:all`, `system:NAME`,
    /// `system:all`. Runs that the same stacks stop are of one kind, and each kind is graded in proportion; without
    /// stacks, runs of similar length that ended alike are. Repeatable.
    #[arg(long, value_name = "FILE|preset:NAME|system:NAME")]
    stacks: Vec<String>,
    #[command(flatten)]
    corpus: CorpusArgs,
}

/// A run without an outcome, and what a person needs to grade it.
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
    /// The stacks that would have stopped it early, each with the step, counted from 1.
    stops: Vec<(String, u32)>,
    /// The proxy outcome from a mark in the recording, and the mark.
    proxy: Option<String>,
    /// The file it was read from.
    file: Option<String>,
    /// The beginning of the first prompt.
    prompt: String,
}

/// `whenstop labels`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let to_stdout = args.template.as_os_str() == "-";
    if !to_stdout && args.template.exists() {
        let help = "give the name of a new file: this one may hold labels";
        return Err(CommandFailure::file(&args.template, "the file exists already", help));
    }
    let strategies = StackArgs::named(args.stacks.clone()).load()?.strategies;
    let (mut n_runs, mut unlabelled) = (0, Vec::new());
    let work = |run: Run| {
        let proxy = match run.grade.source {
            OutcomeSource::Proxy(mark) => Some(mark),
            _ => None,
        };
        if run.grade.outcome != Outcome::Unknown && proxy.is_none() {
            return None;
        }
        let mut stops = Vec::new();
        for strategy in &strategies {
            if let Some(stop) = replay(&run, strategy).stop {
                stops.push((strategy.name().to_owned(), stop.point.step + 1));
            }
        }
        let proxy = proxy.map(|mark| {
            let outcome = if run.grade.outcome == Outcome::Success { "success" } else { "failure" };
            format!("{outcome} ({mark})")
        });
        Some(unlabelled_run(&run, stops, proxy))
    };
    args.corpus.runs().with_undrawn().each(output, work, |found| {
        n_runs += 1;
        unlabelled.extend(found);
    })?;
    if unlabelled.is_empty() {
        let help = "to correct outcomes, write a file with the columns `run_id` and `success`";
        return Err(CommandFailure::nothing(format!("all {n_runs} runs have an outcome: nothing to label"), help));
    }
    let unlabelled = drawn(unlabelled);
    let template = template(&unlabelled, args);
    if to_stdout {
        let mut csv = Vec::new();
        template.write_csv(&mut csv).map_err(|error| CommandFailure::internal(&error))?;
        output.bytes(&csv);
    } else {
        write_atomically(&args.template, |out| template.write_csv(out)).map_err(CommandFailure::input)?;
    }
    for line in advice(&unlabelled, n_runs, args).lines() {
        output.note(line);
    }
    Ok(ProgramExit::Done)
}

fn unlabelled_run(run: &Run, stops: Vec<(String, u32)>, proxy: Option<String>) -> Unlabelled {
    let spend = Spend::from_run(run);
    Unlabelled {
        run_id: run.header.run_id.clone(),
        task_id: run.header.task_id.clone(),
        model: run.header.model.clone(),
        recorded_end: run.grade.end.name(),
        steps: run.steps().len(),
        tokens: spend.total.map(|tokens| tokens.0),
        cost: spend.cost.map(|cost| format!("{:.6}", cost.0)).unwrap_or_default(),
        stops,
        proxy,
        file: run.header.file.clone(),
        prompt: first_prompt(run),
    }
}

/// The beginning of what the run was asked.
fn first_prompt(run: &Run) -> String {
    const SHOWN: usize = 120;
    let mut asked = messages(run.events()).filter(|message| message.role == Role::User);
    let Some(prompt) = asked.find_map(|message| message.content.as_ref()) else { return String::new() };
    let prompt = prompt.as_str();
    let prompt = one_line(&prompt);
    let cut: String = prompt.chars().take(SHOWN).collect();
    if cut.len() < prompt.len() { cut + "…" } else { cut }
}

/// The kind of each run: which stacks stop it, and which mark it bears. If no stack stops any run, how it ended and in
/// which quarter of the lengths it is.
fn kinds(runs: &[Unlabelled]) -> Vec<String> {
    let is_stopped = runs.iter().any(|run| !run.stops.is_empty() || run.proxy.is_some());
    let mut lengths: Vec<usize> = runs.iter().map(|run| run.steps).collect();
    lengths.sort_unstable();
    let quarter = |steps: usize| 4 * lengths.partition_point(|length| *length < steps) / lengths.len();
    let kind = |run: &Unlabelled| {
        if is_stopped {
            let stops: Vec<&str> = run.stops.iter().map(|(stack, _)| stack.as_str()).collect();
            return format!("{}\u{1f}{}", stops.join("\u{1f}"), run.proxy.as_deref().unwrap_or_default());
        }
        format!("{}\u{1f}{}", run.recorded_end, quarter(run.steps))
    };
    runs.iter().map(kind).collect()
}

/// Puts the runs into an order of which every beginning holds each kind in proportion, and of each kind runs drawn at
/// random: every run is as likely as every other to be among the first so many.
///
/// Within a kind the runs are in the order of a hash; the nth of m stands at (n + u) / m, with one u from 0 to 1 for
/// each kind, also a hash. This is systematic sampling from strata, with equal weights (Cochran 1977, Sampling
/// Techniques, chapters 5 and 8).
fn drawn(runs: Vec<Unlabelled>) -> Vec<Unlabelled> {
    let hash = |what: &str, name: &str| cluster_key(&format!("{what}\u{1f}{name}"));
    let of_kinds = kinds(&runs);
    let mut members: BTreeMap<String, Vec<Unlabelled>> = BTreeMap::new();
    for (run, kind) in runs.into_iter().zip(of_kinds) {
        members.entry(kind).or_default().push(run);
    }
    let mut placed: Vec<(f64, Unlabelled)> = Vec::new();
    for (kind, mut runs) in members {
        runs.sort_by_cached_key(|run| (hash("labels", &run.run_id), run.run_id.clone()));
        let (offset, n) = (hash("kind", &kind) as f64 / u64::MAX as f64, runs.len() as f64);
        placed.extend(runs.into_iter().enumerate().map(|(nth, run)| ((nth as f64 + offset) / n, run)));
    }
    placed.sort_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.run_id.cmp(&other.run_id)));
    placed.into_iter().map(|(_, run)| run).collect()
}

/// The command that shows a run.
fn show(run: &Unlabelled, args: &Args) -> String {
    let path = match &run.file {
        Some(file) => file.split('!').next().unwrap_or(file).to_owned(),
        None => args.corpus.paths.first().map(|path| path.display().to_string()).unwrap_or_default(),
    };
    let unit = if args.corpus.unit == UnitOfRun::Round { " --unit round" } else { "" };
    let stacks: Vec<String> = args.stacks.iter().map(|stacks| format!(" --stacks {}", shell_word(stacks))).collect();
    let (path, run) = (shell_word(&path), shell_word(&run.run_id));
    format!("whenstop explain {path}{unit}{} --run {run}", stacks.concat())
}

/// The file of labels, in the order of the runs; what is to be filled in is empty.
fn template(runs: &[Unlabelled], args: &Args) -> DataTable {
    let text = |text: &str| TableCell::Text(text.to_owned());
    let stops = |run: &Unlabelled| {
        let stops: Vec<String> = run.stops.iter().map(|(stack, step)| format!("{stack} (step {step})")).collect();
        stops.join("; ")
    };
    let places: Vec<(usize, &Unlabelled)> = runs.iter().enumerate().collect();
    let columns: TableColumns<'_, (usize, &Unlabelled)> = &[
        ("run_id", &|(_, run)| text(&run.run_id)),
        ("task_id", &|(_, run)| TableCell::text(run.task_id.as_deref())),
        ("success", &|_| TableCell::Missing),
        ("score", &|_| TableCell::Missing),
        ("end", &|_| TableCell::Missing),
        ("secured_at", &|_| TableCell::Missing),
        ("drawn", &|(at, _)| TableCell::Count(*at as u64 + 1)),
        ("model", &|(_, run)| TableCell::text(run.model.as_deref())),
        ("steps", &|(_, run)| TableCell::Count(run.steps as u64)),
        ("tokens", &|(_, run)| TableCell::count(run.tokens)),
        ("cost_usd", &|(_, run)| text(&run.cost)),
        ("recorded_end", &|(_, run)| text(run.recorded_end)),
        ("stacks_that_stop", &|(_, run)| TableCell::Text(stops(run))),
        ("recording", &|(_, run)| TableCell::text(run.file.as_deref())),
        ("prompt", &|(_, run)| text(&run.prompt)),
        ("show", &|(_, run)| TableCell::Text(show(run, args))),
    ];
    let proxy: TableColumns<'_, (usize, &Unlabelled)> = &[("proxy", &|(_, run)| TableCell::text(run.proxy.as_deref()))];
    let with_proxies = runs.iter().any(|run| run.proxy.is_some());
    DataTable::by_column(&places, &[columns, if with_proxies { proxy } else { &[] }].concat())
}

/// What was written, in which order, and what to do with it.
fn advice(runs: &[Unlabelled], n_runs: usize, args: &Args) -> String {
    let shown = args.template.display().to_string();
    let (to, file) = if shown == "-" { ("stdout", "FILE") } else { (shown.as_str(), shown.as_str()) };
    let order = "in an order drawn at random: as many as you fill in from the top are a fair sample";
    if runs.iter().any(|run| run.proxy.is_some()) {
        return format!(
            "{} of {n_runs} {} have no grade; written to {to},\n{order}\n\
             fill in `success` from the top without a look at `proxy`, the last column; then count: true successes, of them\n\
             marked so, true failures, of them marked so. `--label-checked` takes these four numbers",
            runs.len(),
            args.corpus.unit.noun(),
        );
    }
    let stopped = runs.iter().filter(|run| !run.stops.is_empty()).count();
    let stopped =
        if args.stacks.is_empty() { String::new() } else { format!("; {stopped} of them some stack would stop") };
    format!(
        "{} of {n_runs} {} have no outcome{stopped}; written to {to},\n{order}\n\
         fill in `success` (true or false) or `score` from the top, leave the rest empty,\n\
         and add `--labels {file}` to the command",
        runs.len(),
        args.corpus.unit.noun(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unlabelled(run_id: &str, steps: usize, stacks: &[&str]) -> Unlabelled {
        let by = stacks.iter().map(|stack| ((*stack).to_owned(), 1)).collect();
        Unlabelled { run_id: run_id.to_owned(), steps, stops: by, recorded_end: "unknown", ..Unlabelled::default() }
    }

    #[test]
    fn every_beginning_holds_each_kind_in_proportion() {
        let kinds = [(400, vec![]), (120, vec!["a"]), (80, vec!["a", "b"])];
        let runs: Vec<Unlabelled> = kinds
            .iter()
            .enumerate()
            .flat_map(|(kind, (n, stops))| (0..*n).map(move |at| unlabelled(&format!("r{kind}-{at}"), 9, stops)))
            .collect();
        let order = drawn(runs.clone());
        for first in 1..=600 {
            for (n, stops) in &kinds {
                let there = order[..first].iter().filter(|run| run.stops.len() == stops.len()).count() as f64;
                let share = f64::from(*n) * first as f64 / 600.0;
                assert!((there - share).abs() <= 2.0, "{there} of {first}, {share} expected");
            }
        }
        // The order depends on nothing but the runs.
        let mut reversed = runs;
        reversed.reverse();
        assert_eq!(drawn(reversed), order);
    }

    #[test]
    fn without_stops_every_length_has_its_share() {
        let order = drawn((0..200).map(|at| unlabelled(&format!("r{at}"), at, &[])).collect());
        let long = order[..40].iter().filter(|run| run.steps >= 100).count();
        assert!((18..=22).contains(&long), "{long}");
        // Within a kind the order is that of a hash, not of length.
        let lengths: Vec<usize> = order[..40].iter().map(|run| run.steps).collect();
        assert!(!lengths.is_sorted() && !lengths.iter().rev().is_sorted());
    }
}
