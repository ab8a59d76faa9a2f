//! `whenstop corpus`: shows what is in the files, and what looks wrong.

use std::fmt::Write as _;

use super::ProgramExit;
use super::failure::CommandFailure;
use super::inputs::{CorpusArgs, READING, ReadingArgs, UnitOfRun, counted, has_read, open};
use super::output::{Output, TableFormat, is_seen};
use super::values::shell_path;
use super::{effects, forecast, rounds};
use crate::aggregate::{Tail, Tails};
use crate::answers::tables::{DataTable, TableCell, TableColumns};
use crate::diagnostic::{count, one_line};
use crate::effects::{EffectTable, Work};
use crate::reader::{
    CallCounts, CorpusReport, Detail, FormatCounts, OWN_FORMAT, Oddity, PricingReport, ReadOptions, RunRead,
    UnusedField,
};
use crate::transcript::Run;
use crate::verdict::Ledger;
use crate::words::percents;

/// Arguments of `corpus`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Args {
    /// Files and folders.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<std::path::PathBuf>,
    /// For each file, print which format it was read as, and why.
    #[arg(long)]
    why: bool,
    /// List every run: its outcome and the outcome's source, how it ended, and what looks wrong.
    #[arg(long, conflicts_with_all = ["rounds", "unused", "effects"])]
    runs: bool,
    /// List every round instead (CSV, unless at a terminal): what each prompt led to.
    #[arg(long, conflicts_with_all = ["unused", "effects"])]
    rounds: bool,
    /// List the fields that most runs have and that were not used.
    #[arg(long)]
    unused: bool,
    /// List every call instead (CSV, unless at a terminal), with what it does to the world: edits, hands over, checks, reads.
    #[arg(long)]
    effects: bool,
    /// With `--effects`: a stack file whose `[effects]` take precedence over the built-in table. Repeatable.
    #[arg(long, value_name = "FILE", requires = "effects")]
    stacks: Vec<std::path::PathBuf>,
    #[command(flatten)]
    forecast: forecast::Args,
    /// How the counts are printed.
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    #[command(flatten, next_help_heading = READING)]
    reading: ReadingArgs,
}

/// `whenstop corpus`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let recordings = |unit| CorpusArgs { paths: args.paths.clone(), reading: args.reading.clone(), unit };
    if args.forecast.forecast {
        let unit = if args.rounds { UnitOfRun::Round } else { UnitOfRun::Run };
        return forecast::run(&args.forecast, &recordings(unit), args.format, output);
    }
    let detail = if args.runs { Detail::Runs } else { Detail::Hygiene };
    let options = ReadOptions { detail, ..args.reading.options()? };
    let corpus = open(&args.paths, options)?;
    // Lists that are mostly for programs: CSV, unless a terminal shows them.
    let data_format = if args.format == TableFormat::Table && !is_seen() { TableFormat::Csv } else { args.format };
    if args.rounds {
        return rounds::list(&corpus, data_format, output);
    }
    if args.effects {
        return effects::list(&recordings(UnitOfRun::Run), &args.stacks, data_format, output);
    }
    let bar = output.progress(corpus.bytes());
    let (effects, mut tails) = (EffectTable::default(), Tails::default());
    let is_told = args.format == TableFormat::Table;
    let tail_of = |run: Run| {
        if !is_told {
            return None;
        }
        let work = Work::from_run(&run, &effects, &Ledger::from_run(&run));
        Some(Tails::from_outcome(run.grade.outcome, run.header.model.as_deref(), work.tail()))
    };
    let report = corpus.process(tail_of, |tail| {
        tails.extend(tail.unwrap_or_default());
        bar.set_position(corpus.bytes_read());
    })?;
    bar.finish_and_clear();
    let list = match &report.run_list {
        Some(runs) => Some(run_table(runs)),
        None if args.unused => Some(unused_table(&report.unused)),
        None => None,
    };
    match (args.format, list) {
        (TableFormat::Json, _) => {
            output.json(&serde_json::to_value(&report).map_err(|error| CommandFailure::internal(&error))?);
        }
        (TableFormat::Table, Some(list)) => {
            output.table(&counts(&report), TableFormat::Table)?;
            output.data("\n");
            output.table(&list, TableFormat::Table)?;
        }
        // A table without a line says less than the refusal.
        (TableFormat::Table, None) if report.formats.is_empty() && report.unreadable == 0 => {}
        // Other formats are documents for programs: one table each.
        (format, list) => output.table(&list.unwrap_or_else(|| counts(&report)), format)?,
    }
    if args.format == TableFormat::Table {
        tell_tails(&tails, output)?;
        output.data(&details(&report, args.why));
    }
    has_read(&report)?;
    if report.runs() > 0
        && args.format == TableFormat::Table
        && let Some(line) = next_step(args, &report)
    {
        output.note(&line);
    }
    if report.runs() == 0 {
        let (what, advice) = report.nothing_read();
        if advice.is_some() && args.format == TableFormat::Table {
            output.data(&own_format());
        }
        let help = advice.unwrap_or("`--why` says what each file was taken for");
        return Err(CommandFailure::nothing(what, help.to_owned()));
    }
    Ok(ProgramExit::Done)
}

/// The contents of the files, with an entry for every run.
pub(super) fn listed(args: &Args) -> Result<CorpusReport, CommandFailure> {
    let options = ReadOptions { detail: Detail::Runs, ..args.reading.options()? };
    let report = open(&args.paths, options)?.process(|_| (), |()| ())?;
    has_read(&report)?;
    Ok(report)
}

fn counts(report: &CorpusReport) -> DataTable {
    let columns: TableColumns<'_, FormatCounts> = &[
        ("format", &|f| TableCell::Text(f.format.clone())),
        ("files", &|f| TableCell::Count(f.files)),
        ("runs", &|f| TableCell::Count(f.runs)),
        ("steps", &|f| TableCell::Count(f.steps)),
        ("successes", &|f| TableCell::Count(f.successes)),
        ("failures", &|f| TableCell::Count(f.failures)),
        ("unknown", &|f| TableCell::Count(f.unknown)),
        ("with usage", &|f| TableCell::Count(f.with_usage)),
        ("tokens", &|f| TableCell::count(Some(f.tokens).filter(|_| f.with_usage > 0))),
    ];
    let mut table = DataTable::by_column(&report.formats, columns);
    if report.unreadable > 0 {
        let mut row = vec![TableCell::Text("unreadable".to_owned()), TableCell::Count(report.unreadable)];
        row.resize(table.columns.len(), TableCell::Missing);
        table.rows.push(row);
    }
    table
}

/// One line per run.
fn run_table(runs: &[RunRead]) -> DataTable {
    let columns: TableColumns<'_, RunRead> = &[
        ("run", &|run| TableCell::Text(run.run_id.clone())),
        ("format", &|run| TableCell::Text(run.format.clone())),
        ("steps", &|run| TableCell::Count(run.steps)),
        ("tokens", &|run| TableCell::count(run.tokens)),
        ("outcome", &|run| TableCell::Text(run.outcome.to_owned())),
        ("from", &|run| TableCell::some_text(run.outcome_source.clone())),
        ("end", &|run| TableCell::Text(run.end.to_owned())),
        ("told", &told_cell),
        ("told_at", &|run| TableCell::count(run.told.as_ref().and_then(|sign| sign.notice_step))),
        ("odd", &|run| TableCell::Text(run.hygiene.join(" "))),
    ];
    DataTable::by_column(runs, columns)
}

/// What tells of a limit on the steps of a run: a sentence that the model saw, or a setting. Empty if nothing shows one,
/// which does not mean that there was none.
fn told_cell(run: &RunRead) -> TableCell {
    match (&run.told, run.declared_cap) {
        (Some(sign), _) => TableCell::Text(sign.quote.clone()),
        (None, Some(cap)) => TableCell::Text(format!("declared: {cap}")),
        (None, None) => TableCell::Missing,
    }
}

/// One line for each field.
fn unused_table(fields: &[UnusedField]) -> DataTable {
    let columns: TableColumns<'_, UnusedField> = &[
        ("format", &|field| TableCell::Text(field.format.clone())),
        ("field", &|field| TableCell::Text(field.field.clone())),
        ("runs", &|field| TableCell::Count(field.runs)),
        ("of", &|field| TableCell::Count(field.of)),
        ("values", &|field| TableCell::Text(field.look.clone())),
        ("may be used", &|field| TableCell::some_text(field.hint.clone())),
    ];
    DataTable::by_column(fields, columns)
}

/// The fields that may be what is missing.
fn hints(report: &CorpusReport) -> Vec<String> {
    const SHOWN: usize = 8;
    let mut hints = Vec::new();
    for field in &report.unused {
        if let Some(hint) = &field.hint {
            hints.push(format!("not used: field `{}` ({}) {hint}", field.field, field.format));
        }
    }
    let more = hints.len().saturating_sub(SHOWN);
    hints.truncate(SHOWN);
    if more > 0 {
        hints.push(format!("not used: {more} more fields that may be; `--unused` lists them"));
    }
    hints
}

/// What comes next where `--map` reads the recordings: the outcomes beside them, or a project that keeps the mapping.
fn next_step(args: &Args, report: &CorpusReport) -> Option<String> {
    let map = args.reading.map.as_ref()?;
    let paths: Vec<String> = args.paths.iter().map(|path| shell_path(path)).collect();
    let mut arguments = format!("{} --map {map}", paths.join(" "));
    for path in &args.reading.labels {
        let _ = write!(arguments, " --labels {}", shell_path(path));
    }
    if let Some(columns) = &args.reading.label_columns {
        let _ = write!(arguments, " --label-columns {columns}");
    }
    Some(match &report.outcomes_beside {
        Some((path, columns)) => {
            let path = shell_path(path);
            format!("next, with the outcomes: `whenstop corpus {arguments} --labels {path} --label-columns {columns}`")
        }
        None => format!(
            "next, `whenstop ci init {arguments}` keeps this in whenstop.toml, and `whenstop tune {arguments}` looks for a limit to ship"
        ),
    })
}

/// What a log looks like that needs no mapping.
fn own_format() -> String {
    let lines = OWN_FORMAT.iter().map(|line| format!("  {line}\n"));
    format!("in whenstop's own format, one object a line (`whenstop schema trace`):\n{}", lines.collect::<String>())
}

/// Prints the tokens after the last effect of each run, by outcome and model; only the first if there are many.
fn tell_tails(tails: &Tails, output: &Output) -> Result<(), CommandFailure> {
    const TOLD: usize = 12;
    let rows = tails.rows();
    if rows.is_empty() {
        return Ok(());
    }
    let line = |outcome: &str, model: &str, tail: &Tail| {
        vec![
            TableCell::Text(outcome.to_owned()),
            TableCell::Text(model.to_owned()),
            TableCell::Count(tail.runs),
            TableCell::Count(tail.tokens),
            TableCell::some_text(tail.share().map(percents)),
        ]
    };
    let told = rows.iter().take(TOLD);
    let mut lines: Vec<Vec<TableCell>> =
        told.map(|(outcome, model, tail)| line(outcome.name(), model.unwrap_or("-"), tail)).collect();
    if rows.len() > TOLD {
        lines.extend(tails.by_outcome().iter().map(|(outcome, tail)| line(outcome.name(), "(all)", tail)));
    }
    output.data("\n");
    let columns = ["outcome", "model", "runs", "tokens", "after last work"];
    output.table(&DataTable::new(columns, lines), TableFormat::Table)?;
    output.paragraph(
        "after last work: tokens after the last edit, hand-over or check that turned green of their run: what a perfect stop could save, \
         in hindsight; a check that stayed green was worth running before anyone knew",
    );
    Ok(())
}

/// Suspicious findings about the runs: one line per check, with the first run it was found in.
pub(super) fn oddities(report: &CorpusReport) -> Vec<String> {
    let line = |odd: &Oddity| {
        let first = odd.first.first().map(|run| format!(" (first `{run}`)")).unwrap_or_default();
        format!("odd: {} in {}{first}: {}", odd.check, count(odd.runs, "run"), odd.advice)
    };
    report.hygiene.iter().map(line).collect()
}

/// The sources of outcomes of a format, with many files summarised in one line.
fn sources(format: &FormatCounts) -> Vec<String> {
    const LISTED: usize = 5;
    let line =
        |runs: u64, source: &str| format!("outcome of {}: {source}", count(runs, &format!("{} run", format.format)));
    let files = || format.outcome_sources.iter().filter(|(source, _)| source.starts_with("file "));
    let (n, runs) = (files().count(), files().map(|(_, runs)| runs).sum());
    if n <= LISTED {
        return format.outcome_sources.iter().map(|(source, runs)| line(*runs, source)).collect();
    }
    let first = files().next().map(|(source, _)| source.trim_start_matches("file ")).unwrap_or_default();
    let others = format.outcome_sources.iter().filter(|(source, _)| !source.starts_with("file "));
    let mut lines: Vec<String> = others.map(|(source, runs)| line(*runs, source)).collect();
    lines.push(line(runs, &format!("{n} files (first {first})")));
    lines
}

/// How calls and results belong together, if something about it is out of the ordinary.
fn calls(report: &CorpusReport) -> Option<String> {
    let mut all = CallCounts::default();
    for format in &report.formats {
        all.add(format.calls);
    }
    let mut odd = Vec::new();
    if all.host_calls > 0 {
        let them = if all.host_calls == 1 { "it" } else { "them" };
        odd.push(format!("{} that the host made on its own: no reply asked for {them}", all.host_calls));
    }
    if all.results_without_call > 0 {
        odd.push(format!("{} of no call", count(all.results_without_call, "result")));
    }
    if all.second_results > 0 {
        odd.push(format!("{} of calls that have one already", count(all.second_results, "result")));
    }
    if all.runs_without_requests > 0 {
        let its = if all.runs_without_requests == 1 { "its" } else { "their" };
        odd.push(format!(
            "in {} replies do not record what they ask for, so some of {its} {} may be the host's: rules on calls are not \
             evaluable there",
            count(all.runs_without_requests, "run"),
            all.calls_without_requests
        ));
    }
    if odd.is_empty() { None } else { Some(format!("calls: {} of the agent; {}", all.calls, odd.join("; "))) }
}

/// How many runs tell the agent of a limit on its steps.
fn limits(report: &CorpusReport) -> Option<String> {
    let (run, quote) = report.told.first.as_ref()?;
    Some(format!(
        "told of a limit: the agent, in {} (first `{run}`: `{quote}`): under another limit it would act otherwise from the \
         notice on; say so in a stack file (`told = true`)",
        count(report.told.told, "run")
    ))
}

/// How many hidden names were not looked into.
fn hidden(report: &CorpusReport) -> Option<String> {
    let n: u64 = report.skipped.iter().map(|skipped| skipped.hidden).sum();
    if n == 0 { None } else { Some(format!("{} not looked into; `--why` lists them", count(n, "hidden name"))) }
}

/// Sources of outcomes, findings, and files left out.
fn details(report: &CorpusReport, why: bool) -> String {
    let notices: Vec<String> = report.notices.iter().map(|notice| notice.diagnostic.render(notice.severity)).collect();
    let mut told: Vec<String> = Vec::new();
    for format in &report.formats {
        told.extend(sources(format));
        if format.scored_only > 0 {
            told.push(format!(
                "score of {} {} runs: the agent's share of what was committed, in `metadata.json` beside them; no grade by \
                 itself (`--success-at`)",
                format.scored_only, format.format
            ));
        }
        if format.unknown > 0 {
            told.push(format!(
                "outcome of {}: nobody graded {}",
                count(format.unknown, &format!("{} run", format.format)),
                if format.unknown == 1 { "it" } else { "them" }
            ));
        }
    }
    told.extend(calls(report));
    told.extend(limits(report));
    told.extend(hints(report));
    told.extend(oddities(report));
    told.extend(report.pricing.iter().flat_map(PricingReport::lines));
    if why {
        told.extend(
            report.files.iter().map(|f| format!("{}: {} ({}), {}", f.path, f.format, f.why, count(f.runs, "run"))),
        );
        told.extend(report.skipped.iter().map(|skipped| format!("{}: left out: {}", skipped.path, skipped.reason)));
    } else if report.runs() > 0 {
        let other = report.skipped.iter().filter(|skipped| !skipped.unreadable && skipped.hidden == 0).count();
        if other > 0 {
            told.push(format!(
                "{} no recording; `--why` lists {}",
                if other == 1 { "1 file is".to_owned() } else { format!("{other} files are") },
                if other == 1 { "it" } else { "them" }
            ));
        }
    }
    told.extend(hidden(report).filter(|_| !why));
    for (kind, times) in &report.unknown_kinds {
        told.push(format!("{} of an unknown kind: {kind}", count(*times, "line")));
    }
    // Paths, kinds and ids are text from the recordings: none of them may begin a line.
    let mut lines = notices;
    lines.extend(told.iter().map(|line| one_line(line).into_owned()));
    for (finding, times) in report.gathered(false) {
        lines.push(counted(finding, times).render(finding.severity));
    }
    if report.findings_not_listed > 0 {
        lines.push(format!("… and {} more findings", report.findings_not_listed));
    }
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
}
