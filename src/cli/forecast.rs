//! `whenstop corpus --forecast`: what runs of this corpus still take, given how far they are.

use serde_json::json;

use super::ProgramExit;
use super::destination::Destination;
use super::failure::CommandFailure;
use super::inputs::{ByArg, CorpusArgs};
use super::output::{Output, TableFormat};
use crate::answers::tables::{DataTable, TableCell, TableColumns};
use crate::diagnostic::count;
use crate::forecast::{Amount, Forecast, LEAST_TASKS, RunCourse, forecasts};
use crate::report::write_atomically;
use crate::words::digits;

/// Arguments of `corpus --forecast`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// Forecast what a run still takes, given how far it is: steps, tokens, dollars and time; with `--rounds` of a
    /// round.
    #[arg(long, conflicts_with_all = ["runs", "unused", "effects", "why"])]
    pub(super) forecast: bool,
    /// With `--forecast`: what is forecast on its own: each `suite`, `model`, or value of a field found as for `--outcome`. By default all runs
    /// together; a class with too few tasks gets the forecast of all runs.
    #[arg(long, value_name = "suite|model|FIELD", value_parser = ByArg::parse, requires = "forecast")]
    by: Option<ByArg>,
    /// With `--forecast`: after how many steps.
    #[arg(long, value_name = "STEPS", requires = "forecast", value_delimiter = ',', default_values_t = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])]
    at: Vec<u64>,
    /// With `--forecast`: a file for the forecasts, as JSON.
    #[arg(long, value_name = "FILE", requires = "forecast")]
    out: Option<Destination>,
}

/// `whenstop corpus --forecast`. All formats but the table have every amount on a line of its own.
pub(super) fn run(
    args: &Args,
    recordings: &CorpusArgs,
    format: TableFormat,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    let mut after = args.at.clone();
    after.sort_unstable();
    after.dedup();
    let by = ByArg::by(args.by.as_ref());
    let mut courses = Vec::new();
    let corpus = recordings.classed(args.by.as_ref());
    // How long runs take is known without grades.
    let runs = corpus.runs().with_undrawn();
    runs.each(output, |run| RunCourse::from_run(&run, by, &after), |course| courses.push(course))?;
    let all = forecasts(&courses, &after);
    if all.is_empty() {
        let what = format!("no forecast: fewer than {LEAST_TASKS} tasks have a run that is still going");
        return Err(CommandFailure::nothing(what, "ask earlier with `--at`, or give more recordings"));
    }
    let document = json!({
        "schema_version": 1,
        "whenstop": env!("CARGO_PKG_VERSION"),
        "by": args.by.as_ref().map(ByArg::noun),
        "runs": courses.len(),
        "forecasts": all,
    });
    if let Some(out) = &args.out {
        write_atomically(out, |file| writeln!(file, "{document:#}")).map_err(CommandFailure::input)?;
        output.note(&format!("written to {}", out.display()));
    }
    match format {
        TableFormat::Json => output.json(&document),
        TableFormat::Table => {
            output.paragraph(&sentence(&all));
            output.data("\n");
            output.table(&overview(&all, args.by.is_some()), TableFormat::Table)?;
            output.data("\n");
            for note in notes(&all, &courses) {
                output.paragraph(&note);
            }
        }
        format => output.table(&lines(&all), format)?,
    }
    Ok(ProgramExit::Done)
}

/// Formats an amount for people.
pub(super) fn amount(of: Amount, value: f64) -> String {
    match of {
        Amount::Tokens if value >= 1e6 => format!("{:.1}M", value / 1e6),
        Amount::Tokens if value >= 1e3 => format!("{:.0}k", value / 1e3),
        Amount::Steps | Amount::Tokens => format!("{value:.0}"),
        Amount::CostUsd => format!("${value:.2}"),
        Amount::Ms if value >= 3_600_000.0 => format!("{:.1} h", value / 3_600_000.0),
        Amount::Ms if value >= 60_000.0 => format!("{:.0} min", value / 60_000.0),
        Amount::Ms => format!("{:.0} s", value / 1000.0),
    }
}

/// Formats `6 (3–12)`: the median, and P10 to P90.
pub(super) fn range(of: &Forecast) -> String {
    format!("{} ({}–{})", amount(of.amount, of.p50), amount(of.amount, of.p10), amount(of.amount, of.p90))
}

/// The forecast that is most asked for, in words.
fn sentence(all: &[Forecast]) -> String {
    let middle =
        all.iter().filter(|of| of.amount == Amount::Steps && of.after > 0).max_by_key(|of| (of.runs, of.after));
    let Some(of) = middle.or(all.first()) else { return String::new() };
    let covered = match of.covered {
        Some(covered) => format!("; on tasks left out that held for {} % of the runs", digits(covered)),
        None => String::new(),
    };
    format!(
        "After {} of `{}`, {} more are to come in the middle, from {} to {} in eight of ten runs{covered}.",
        count(of.after, "step"),
        of.class,
        amount(of.amount, of.p50),
        amount(of.amount, of.p10),
        amount(of.amount, of.p90),
    )
}

/// One line per class and number of steps.
fn overview(all: &[Forecast], has_classes: bool) -> DataTable {
    let known: Vec<Amount> =
        Amount::ALL.into_iter().filter(|amount| all.iter().any(|of| of.amount == *amount)).collect();
    let mut columns: Vec<String> = if has_classes { vec!["class".to_owned()] } else { Vec::new() };
    columns.extend(["after", "tasks", "runs"].map(str::to_owned));
    columns.extend(
        known.iter().map(|amount| if *amount == Amount::Ms { "time" } else { amount.name() }.replace("_usd", "")),
    );
    columns.extend(["19 of 20", "covered, %"].map(str::to_owned));
    let mut rows = Vec::new();
    for of_steps in all.chunk_by(|a, b| (&a.class, a.after) == (&b.class, b.after)) {
        let Some(first) = of_steps.first() else { continue };
        let mut row = Vec::new();
        if has_classes {
            row.push(TableCell::Text(if first.is_pooled {
                format!("{} (all runs)", first.class)
            } else {
                first.class.clone()
            }));
        }
        row.extend([first.after, first.tasks, first.runs].map(TableCell::Count));
        let of = |amount: &Amount| of_steps.iter().find(|of| of.amount == *amount);
        row.extend(known.iter().map(|amount| TableCell::some_text(of(amount).map(range))));
        let wide = || {
            let of = of_steps.iter().find(|of| of.amount == Amount::Steps)?;
            Some(format!("{}–{} steps", amount(of.amount, of.low), amount(of.amount, of.high?)))
        };
        row.push(TableCell::some_text(wide()));
        row.push(covered(of_steps));
        rows.push(row);
    }
    DataTable { columns, rows }
}

/// The measured coverage of both intervals, of the amount that is covered least.
fn covered(of_steps: &[Forecast]) -> TableCell {
    let least = |of: fn(&Forecast) -> Option<f64>| of_steps.iter().filter_map(of).reduce(f64::min);
    match (least(|of| of.covered), least(|of| of.covered_95)) {
        (None, _) => TableCell::Missing,
        (Some(narrow), None) => TableCell::Text(digits(narrow)),
        (Some(narrow), Some(wide)) => TableCell::Text(format!("{}/{}", digits(narrow), digits(wide))),
    }
}

fn notes(all: &[Forecast], courses: &[RunCourse]) -> Vec<String> {
    let mut notes = vec![
        "what remains: the median, and in brackets P10 to P90. 19 of 20: the wider interval of the steps. covered: how often \
         runs of tasks left out were within the two, of the amount that is covered least"
            .to_owned(),
    ];
    let unclassed = courses.iter().filter(|course| course.class().is_none()).count();
    if unclassed > 0 {
        notes.push(format!("{} without what `--by` asks for", count(unclassed as u64, "run")));
    }
    let (capped, runs) = all
        .iter()
        .filter(|of| of.amount == Amount::Steps && !of.is_pooled)
        .fold((0, 0), |(capped, runs), of| (capped.max(of.capped), runs.max(of.runs)));
    if capped > 0 {
        notes.push(format!(
            "up to {capped} of {runs} runs were ended by a cap, a time limit or a person: under looser ones more would remain"
        ));
    }
    notes
}

/// One line per class, number of steps and amount.
fn lines(all: &[Forecast]) -> DataTable {
    let columns: TableColumns<'_, Forecast> = &[
        ("class", &|of| TableCell::Text(of.class.clone())),
        ("pooled", &|of| TableCell::Count(u64::from(of.is_pooled))),
        ("after", &|of| TableCell::Count(of.after)),
        ("amount", &|of| TableCell::Text(of.amount.name().to_owned())),
        ("tasks", &|of| TableCell::Count(of.tasks)),
        ("runs", &|of| TableCell::Count(of.runs)),
        ("capped", &|of| TableCell::Count(of.capped)),
        ("p10", &|of| TableCell::Number(of.p10)),
        ("p50", &|of| TableCell::Number(of.p50)),
        ("p90", &|of| TableCell::Number(of.p90)),
        ("covered", &|of| TableCell::number(of.covered)),
        ("low", &|of| TableCell::Number(of.low)),
        ("high", &|of| TableCell::number(of.high)),
        ("covered_95", &|of| TableCell::number(of.covered_95)),
    ];
    DataTable::by_column(all, columns)
}
