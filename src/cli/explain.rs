//! `whenstop explain`: shows one run step by step, with each stack's signals and where it stopped, or only the
//! decisions as data.

use std::path::PathBuf;

use super::ProgramExit;
use super::failure::CommandFailure;
use super::inputs::{CorpusArgs, KeptForecasts, StackArgs, tell_troubles};
use super::output::{LineStyle, Output, TableFormat, width};
use crate::answers::tables::{DataTable, TableCell, TableColumns};
use crate::catalog::Strategies;
use crate::explain::{Explanation, Extent, LineKind, TrailLine, first_actions, trail_lines};

/// Arguments of `explain`.
// Here `--run` selects the run to explain, so the reading option for the run's id is renamed.
#[derive(Debug, clap::Args)]
#[command(mut_arg("run_id", |arg| arg.long("run-id")))]
pub(super) struct Args {
    #[command(flatten)]
    stacks: StackArgs,
    /// The run to explain, by its id or a part of it. Repeatable; can be omitted if there is only one run.
    #[arg(long, value_name = "RUN")]
    run: Vec<String>,
    /// Show only this many steps before and after each action of a stack.
    #[arg(long, value_name = "N")]
    around: Option<usize>,
    /// Maximum characters shown of each text.
    #[arg(long, value_name = "N", default_value_t = 70)]
    text: usize,
    /// Print only the decisions of every run, one per line.
    #[arg(long, conflicts_with = "first")]
    trail: bool,
    /// Print only which stack acts first at which call: one line per stack, one column per run. `w3 d5`: warns at call
    /// 3, refuses call 5 (o noted, w warns, i instructs, d refuses, a asks a human, f forces an answer, x lifts a cap,
    /// h halts, e ends with an error; in brackets if the model never sees it).
    #[arg(long)]
    first: bool,
    /// How the decisions are printed.
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    /// Also tell what is still to come after so many steps: a file that `corpus --forecast --out` wrote.
    #[arg(long, value_name = "FILE")]
    forecast: Option<PathBuf>,
    #[command(flatten)]
    corpus: CorpusArgs,
}

/// Maximum runs that are explained when none is named.
const WITHOUT_NAME: usize = 1;

/// `whenstop explain`.
pub(super) fn run(mut args: Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    args.stacks.or_starter(&args.corpus.runs(), output)?;
    let args = &args;
    let stacks = args.stacks.load_some()?;
    let strategies = &stacks.strategies;
    let wanted = |id: &str| args.run.is_empty() || args.run.iter().any(|part| id.contains(part.as_str()));
    if args.trail || args.first {
        return decisions(args, strategies, &wanted, output);
    }
    if args.format != TableFormat::Table {
        return Err(CommandFailure::arguments("`--format` is for decisions alone", "add `--trail` or `--first`"));
    }
    let extent = Extent { text: args.text, columns: usize::from(width()), around: args.around };
    let (mut shown, mut others) = (Vec::new(), 0_usize);
    let effects = stacks.effects();
    let forecasts = KeptForecasts::read(args.forecast.as_deref()).map_err(CommandFailure::input)?;
    args.corpus.classed(forecasts.by().as_ref()).runs().with_undrawn().each(
        output,
        |run| {
            if !wanted(&run.header.run_id) {
                return None;
            }
            Some((Explanation::from_run(&run, strategies, extent, &effects), forecasts.told(&run)))
        },
        |told| match told {
            Some(told) if !args.run.is_empty() || shown.len() < WITHOUT_NAME => shown.push(told),
            _ => others += 1,
        },
    )?;
    tell_troubles(strategies, args.corpus.reading.strict, output)?;
    if shown.is_empty() {
        return Err(no_such_run(args));
    }
    for (nth, (story, to_come)) in shown.iter().enumerate() {
        if nth > 0 {
            output.data("\n");
        }
        tell(story, output);
        for line in to_come {
            output.paragraph(line);
        }
    }
    if args.run.is_empty() && others > 0 {
        output.note(&format!("{others} more runs; name one with `--run`"));
    }
    Ok(ProgramExit::Done)
}

/// Prints the story, with an empty line after the timeline. Colour only repeats what the words say.
fn tell(story: &Explanation, output: &Output) {
    let mut before = LineKind::Title;
    for (kind, line) in story.lines() {
        if *kind != before && (before == LineKind::Timeline || matches!(kind, LineKind::Timeline | LineKind::End)) {
            output.data("\n");
        }
        before = *kind;
        let style = match kind {
            LineKind::Title | LineKind::End => LineStyle::Strong,
            LineKind::Stop => LineStyle::Stop,
            LineKind::Decision => LineStyle::Notable,
            LineKind::Timeline | LineKind::Step => LineStyle::Plain,
        };
        output.styled(style, line);
    }
}

fn no_such_run(args: &Args) -> CommandFailure {
    CommandFailure::nothing(
        format!("no run is called {}", args.run.join(" or ")),
        "`rows.csv` of `compare --out` lists the runs; a part of the id is enough",
    )
}

/// The decisions of all requested runs, as one table.
fn decisions(
    args: &Args,
    strategies: &Strategies,
    wanted: &(impl Fn(&str) -> bool + Sync),
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    let mut runs: Vec<(String, Vec<TrailLine>)> = Vec::new();
    args.corpus.runs().with_undrawn().each(
        output,
        |run| {
            let id = &run.header.run_id;
            if wanted(id) { Some((id.clone(), trail_lines(&run, strategies))) } else { None }
        },
        |run| runs.extend(run),
    )?;
    tell_troubles(strategies, args.corpus.reading.strict, output)?;
    if runs.is_empty() {
        return Err(no_such_run(args));
    }
    let lines: Vec<&TrailLine> = runs.iter().flat_map(|(_, lines)| lines).collect();
    let table = match (args.first, args.format) {
        (true, _) => first_table(strategies, &runs),
        (false, TableFormat::Table) => short_trail_table(&lines),
        (false, _) => trail_table(&lines),
    };
    output.table(&table, args.format)?;
    Ok(ProgramExit::Done)
}

/// The trail for a terminal: only the essential columns; the other formats have the rest.
fn short_trail_table(lines: &[&TrailLine]) -> DataTable {
    let action = |line: &TrailLine| {
        let action = line.decision.action.name();
        if line.decision.delivered { action.to_owned() } else { format!("({action})") }
    };
    let columns: TableColumns<'_, &TrailLine> = &[
        ("run", &|line| TableCell::Text(line.run_id.clone())),
        ("stack", &|line| TableCell::Text(line.stack.clone())),
        ("call", &|line| TableCell::Count(line.call as u64)),
        ("step", &|line| TableCell::Count(u64::from(line.decision.point.step))),
        ("action", &|line| TableCell::Text(action(line))),
        ("rule", &|line| TableCell::Text(line.decision.rule.as_str().to_owned())),
        ("limit", &|line| TableCell::number(line.decision.evidence.limit)),
    ];
    DataTable::by_column(lines, columns)
}

fn trail_table(lines: &[&TrailLine]) -> DataTable {
    let columns: TableColumns<'_, &TrailLine> = &[
        ("run_id", &|line| TableCell::Text(line.run_id.clone())),
        ("stack", &|line| TableCell::Text(line.stack.clone())),
        ("call", &|line| TableCell::Count(line.call as u64)),
        ("point", &|line| TableCell::Text(line.decision.point.to_string())),
        ("action", &|line| TableCell::Text(line.decision.action.name().to_owned())),
        ("rule", &|line| TableCell::Text(line.decision.rule.as_str().to_owned())),
        ("code", &|line| TableCell::text(line.decision.code.as_deref())),
        ("observed", &|line| TableCell::number(line.decision.evidence.observed)),
        ("limit", &|line| TableCell::number(line.decision.evidence.limit)),
        ("delivered", &|line| TableCell::Text(line.decision.delivered.to_string())),
    ];
    DataTable::by_column(lines, columns)
}

fn first_table(strategies: &Strategies, runs: &[(String, Vec<TrailLine>)]) -> DataTable {
    let rows = strategies.iter().map(|strategy| {
        let of_stack = |lines: &[TrailLine]| {
            TableCell::Text(first_actions(lines.iter().filter(|line| line.stack == strategy.name())))
        };
        let cells = runs.iter().map(|(_, lines)| of_stack(lines));
        std::iter::once(TableCell::Text(strategy.name().to_owned())).chain(cells).collect()
    });
    let columns = std::iter::once("stack".to_owned()).chain(runs.iter().map(|(id, _)| id.clone()));
    DataTable { columns: columns.collect(), rows: rows.collect() }
}
