//! `whenstop sweep`: tries many limits of one or more signals at once.

mod answer;
mod arguments;
mod cache;
mod manifest;
mod recordings;
mod wide;

use std::path::{Path, PathBuf};

use super::Exit;
use super::export::hosts_of;
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, DOUBTS, LabelErrorArgs};
use super::output::{Format, Output, lines_of};
use super::values::share;
use crate::aggregate::{Ease, Rows, RowsBuilder, SEED};
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::report::figure::{SweepFigure, save};
use crate::report::{self, Appetite, table, write_atomically, write_folder, write_rows};
use crate::stats::label_certificate::ErrorRates;
use crate::stats::split::optimism;
use crate::sweep::{Grid, ResultOptions, Results, Sweep};

use answer::Answer;
pub(super) use arguments::{GridArgs, Parts, SplitArgs, SplitPart, parts};
use manifest::Manifest;

/// Arguments of `sweep`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    grid: GridArgs,
    #[command(flatten)]
    wide: wide::WideArgs,
    /// The setting the others are compared with, by name, or `none`; by default the first signal's most conservative
    /// one.
    #[arg(long, value_name = "SETTING")]
    baseline: Option<String>,
    /// Choose the setting that saves most among those whose rate of false early stops is at most this, at the upper
    /// end of its 95 % interval.
    #[arg(long, alias = "max-fes", value_name = "RATE", default_value_t = 0.05, value_parser = share)]
    max_killed: f64,
    /// Seed of the resamples behind adjusted p-values.
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
    /// Folder for the table, the figure and the manifest; without it only the table is printed.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write `sweep-rows.csv`: one row per run and setting.
    #[arg(long, requires = "out")]
    rows: bool,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten, next_help_heading = "Splitting the tasks")]
    split: SplitArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    errors: LabelErrorArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    assumptions: AssumptionArgs,
}

impl Args {
    fn baseline(&self, grid: &Grid) -> Result<Option<usize>, Failure> {
        match self.baseline.as_deref() {
            None => Ok(Some(0)),
            Some("none") => Ok(None),
            Some(name) => grid.find(name).map(Some).ok_or_else(|| unknown_setting(name, grid)),
        }
    }
}

/// The rows of every run under every setting.
pub(super) fn swept(
    corpus: &CorpusArgs,
    grid: &Grid,
    assumptions: &AssumptionArgs,
    output: &Output,
) -> Result<Rows, Failure> {
    let sweep = Sweep::new(grid, assumptions.assumptions());
    let mut rows = RowsBuilder::default();
    corpus.process(output, |run| sweep.rows_of(&run), |more| rows.extend(more))?;
    Ok(rows.finish())
}

/// The error for an unknown setting `name`.
pub(super) fn unknown_setting(name: &str, grid: &Grid) -> Failure {
    let names = || grid.settings.iter().map(crate::sweep::Setting::name);
    let help = nearest(name, names())
        .map_or_else(|| names().collect::<Vec<_>>().join("; "), |near| format!("did you mean `{near}`?"));
    Failure::usage(Diagnostic::new(Location::default(), format!("no setting is named `{name}`"), help))
}

/// The results of a sweep: on the reported tasks, and on those the choice was made on.
struct Judged {
    label_errors: Option<ErrorRates>,
    reported: Results,
    chosen_on: Option<Results>,
    answer: Answer,
}

/// `whenstop sweep`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    if let Some(path) = &args.wide.grid {
        return wide::run(args, path, output);
    }
    let grid = args.grid.load()?;
    let baseline = args.baseline(&grid)?;
    let options = ResultOptions { baseline, label_errors: args.errors.rates(), seed: args.seed };
    let rows = swept(&args.corpus, &grid, &args.assumptions, output)?;
    let parts = parts(rows, &args.split)?;
    let results = |rows: &Rows| Results::of(&grid, rows, options);
    let reported = results(&parts.reported);
    let chosen_on = parts.other.as_ref().map(results);
    let hosts: Vec<usize> = grid.settings.iter().map(|setting| hosts_of(&setting.stack).len()).collect();
    let ease: Vec<Ease> = hosts.iter().map(|hosts| Ease { hosts: *hosts, rules: 1 }).collect();
    let appetite = Appetite { max_killed: args.max_killed, ..Appetite::default() };
    let answer = Answer::of(&parts, &args.split, reported.unit, options.label_errors, &ease, appetite, None);
    let judged = Judged { label_errors: options.label_errors, reported, chosen_on, answer };
    let headline = parts.headline();
    if let Some(out) = &args.out {
        let manifest = Manifest::of(args, &grid, &parts, &judged);
        let fill = |out: &Path| {
            write(args, &grid, &judged, &manifest, &headline, out)?;
            if args.rows { write_rows(&out.join("sweep-rows.csv"), &parts.reported) } else { Ok(()) }
        };
        write_folder(out, output.csv_style(), fill).map_err(Failure::input)?;
    }
    show(args, &grid, &judged, &parts, &headline, output)?;
    if let Some(out) = &args.out {
        output.note(&format!("written to {}", out.display()));
    }
    Ok(Exit::Done)
}

fn show(
    args: &Args,
    grid: &Grid,
    judged: &Judged,
    parts: &Parts,
    headline: &str,
    output: &Output,
) -> Result<(), Failure> {
    match args.format {
        Format::Table => {
            output.paragraph(&judged.answer.verdict);
            output.data("\n");
            output.paragraph(headline);
            output.table(&table::sweep_overview(&judged.reported, judged.answer.chosen), Format::Table)?;
            let table = table::sweep_overview(&judged.reported, judged.answer.chosen);
            output.notes(lines_of(&[&judged.answer.verdict, headline], &[&table]) + 1, &notes(judged));
        }
        Format::Json => output.json(&serde_json::json!({
            "schema_version": 1,
            "verdict": judged.answer.verdict,
            "ship": judged.answer.ship,
            "manifest": Manifest::of(args, grid, parts, judged),
            "sweep": table::sweep(grid, &judged.reported).to_json(),
        })),
        Format::Csv | Format::Md => output.table(&table::sweep(grid, &judged.reported), args.format)?,
        Format::Latex => output.table(&table::sweep_overview(&judged.reported, judged.answer.chosen), args.format)?,
    }
    Ok(())
}

fn write(
    args: &Args,
    grid: &Grid,
    judged: &Judged,
    manifest: &Manifest,
    headline: &str,
    out: &Path,
) -> Result<(), Diagnostic> {
    let table = table::sweep(grid, &judged.reported);
    write_atomically(&out.join("sweep.csv"), |file| table.write_csv(file))?;
    if let Some(dev) = &judged.chosen_on {
        let table = table::sweep(grid, dev);
        write_atomically(&out.join("sweep-dev.csv"), |file| table.write_csv(file))?;
    }
    let overview = table::sweep_overview(&judged.reported, judged.answer.chosen).to_markdown();
    let notes: Vec<String> = notes(judged).iter().map(|note| format!("- {note}\n")).collect();
    let page = format!(
        "# Which limit?\n\n**{}**\n\n{headline}.\n\n{overview}\n{}\n![Killed and saved against the limit](sweep.svg)\n",
        judged.answer.verdict,
        notes.concat()
    );
    write_atomically(&out.join("sweep.md"), |file| file.write_all(report::page(&page).as_bytes()))?;
    let json = serde_json::to_string_pretty(manifest).unwrap_or_default() + "\n";
    write_atomically(&out.join("manifest.json"), |file| file.write_all(json.as_bytes()))?;
    let subtitle = format!("{headline}; bars: 95 % intervals, clustered by task");
    let Judged { reported, answer, .. } = judged;
    save(
        &SweepFigure { grid, results: reported, chosen: answer.chosen, max_killed: args.max_killed, subtitle },
        out,
        "sweep",
    )?;
    Ok(())
}

/// The notes below the table.
fn notes(judged: &Judged) -> Vec<String> {
    let Judged { reported, chosen_on, answer, .. } = judged;
    let mut notes = vec![];
    if let (Some(dev), Some(at)) = (chosen_on, answer.chosen) {
        let rate = |of: &Results| of.settings.get(at).and_then(|setting| setting.summary.fes_rate().value());
        let saved = |of: &Results| of.settings.get(at).and_then(|setting| setting.useful.value());
        let points =
            |gap: Option<f64>| gap.map_or_else(|| "undefined".to_owned(), |gap| format!("{:+.1} points", gap * 100.0));
        notes.push(format!(
            "optimism (dev minus test): killed {}, saved {}",
            points(optimism(rate(dev), rate(reported))),
            points(optimism(saved(dev), saved(reported)))
        ));
    }
    let n = reported.settings.len();
    let adjusted = match reported.baseline_name() {
        Some(name) => {
            let fes = reported.adjusted_by(|setting| setting.fes_difference).name();
            let useful = reported.adjusted_by(|setting| setting.useful_difference).name();
            let by = if fes == useful { fes.to_owned() } else { format!("{fes} (killed) and {useful} (saved)") };
            format!("; differences are to `{name}` in points, with * where p <= 0.05 adjusted by {by}")
        }
        None => String::new(),
    };
    notes.push(format!("{n} settings tried{adjusted}; intervals are 95 %, clustered by task"));
    let corrections = reported.settings.iter().filter_map(|setting| setting.summary.corrected.as_ref());
    for correction in
        corrections.map(|corrected| corrected.correction.name()).collect::<std::collections::BTreeSet<_>>()
    {
        notes.push(format!("label errors: {correction}"));
    }
    let dark = reported.settings.iter().map(|setting| setting.not_evaluable).max().unwrap_or(0);
    if dark > 0 {
        notes.push(format!("{dark} runs lack what a signal reads and are left out of its settings"));
    }
    notes
}
