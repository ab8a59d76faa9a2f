//! `whenstop certify`: the most aggressive setting whose false-early-stop rate is at most alpha, with confidence, or
//! what is missing for one. There is no fallback.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;

use super::Exit;
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs};
use super::output::{Format, Output};
use super::sweep::{GridArgs, SplitArgs, SplitPart, parts, share_inside, swept, unknown_setting};
use crate::diagnostic::{Diagnostic, Location};
use crate::report::{table, write_atomically};
use crate::stats::certificate::Verdict;
use crate::sweep::{CorpusCertificate, Grid, Ordering, ResultOptions, Results};

/// Arguments of `certify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exits 0 with a certificate and 100 without.")]
pub(super) struct Args {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    grid: GridArgs,
    #[command(flatten)]
    split: SplitArgs,
    /// Highest tolerated rate of false early stops, averaged over tasks.
    #[arg(long, value_name = "RATE", default_value_t = 0.05, value_parser = share_inside)]
    alpha: f64,
    /// Chance that the certificate is wrong.
    #[arg(long, value_name = "CHANCE", default_value_t = 0.1, value_parser = share_inside)]
    delta: f64,
    /// For several signals: all settings from conservative to aggressive, by name, set apart by `;`. Fix it before you
    /// look at the recordings.
    #[arg(long, value_name = "SETTINGS", conflicts_with = "unordered")]
    order: Option<String>,
    /// Test the settings without an order (Holm over all), and take the passing one that saves most.
    #[arg(long)]
    unordered: bool,
    /// Write the certificate, or the refusal, as JSON to this file too.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How it is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Shown,
}

/// The forms of a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// For a terminal.
    #[default]
    Table,
    /// One JSON document.
    Json,
}

/// `whenstop certify`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let grid = args.grid.load()?;
    let order = order(args, &grid)?;
    let rows = swept(&args.corpus, &grid, &AssumptionArgs::default(), output)?;
    let parts = parts(rows, &args.split)?;
    let ordering = match (order, &parts.other) {
        (Some(order), _) => Ordering::Fixed(order),
        (None, None) => Ordering::Unordered { preference: None },
        (None, Some(dev)) => {
            let results =
                Results::of(&grid, dev, ResultOptions::default()).map_err(|error| Failure::internal(&error))?;
            Ordering::Unordered { preference: Some(results.by_saving()) }
        }
    };
    let certificate = CorpusCertificate::of(&parts.reported, &ordering, args.alpha, args.delta);
    let json = document(args, &certificate);
    if let Some(out) = &args.out {
        write_atomically(out, |file| file.write_all(format!("{json:#}\n").as_bytes())).map_err(Failure::input)?;
    }
    match args.format {
        Shown::Json => output.json(&json),
        Shown::Table => {
            output.data(&format!("{}\n\n", certificate.sentence()));
            output.table(&table::certificate_overview(&certificate), Format::Table)?;
            output.data(&format!("\n{}\n", notes(args, &certificate, &parts.headline()).join("\n")));
        }
    }
    Ok(if certificate.chosen().is_some() { Exit::Done } else { Exit::GateFailed })
}

/// The order of the walk; `None` for none.
fn order(args: &Args, grid: &Grid) -> Result<Option<Vec<usize>>, Failure> {
    if args.unordered {
        return Ok(None);
    }
    let all = 0..grid.settings.len();
    let Some(named) = &args.order else {
        if grid.axes.len() > 1 {
            let what = "several signals have no order from conservative to aggressive";
            let help = "give one with `--order`, or test without an order: `--unordered`";
            return Err(Failure::usage(Diagnostic::new(Location::default(), what, help)));
        }
        return Ok(Some(all.collect()));
    };
    let mut order = Vec::new();
    for name in named.split(';').map(str::trim).filter(|name| !name.is_empty()) {
        order.push(grid.find(name).ok_or_else(|| unknown_setting(name, grid))?);
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(all) {
        let what = format!("`--order` does not name each of the {} settings once", grid.settings.len());
        let all: Vec<&str> = grid.settings.iter().map(crate::sweep::Setting::name).collect();
        return Err(Failure::usage(Diagnostic::new(Location::default(), what, all.join("; "))));
    }
    Ok(Some(order))
}

const CAVEATS: [&str; 2] = [
    "The rate is averaged over tasks: for each task the share of its successful runs that the setting stops early.",
    "It holds for new tasks of the same kind and the same models; under distribution shift (another model, agent or \
     mix of tasks) the certificate is void.",
];

/// What to say below the table.
fn notes(args: &Args, of: &CorpusCertificate, headline: &str) -> Vec<String> {
    let mut notes = vec![
        format!(
            "{headline}; {} tasks with a success, {} successes; models: {}",
            of.certificate.tasks,
            of.successes,
            if of.models.is_empty() { "not recorded".to_owned() } else { of.models.join(", ") }
        ),
        format!("corpus {}", of.fingerprint),
        format!(
            "alpha {}, delta {}, {} over {} settings, p-values {}",
            args.alpha,
            args.delta,
            of.ordering,
            of.settings.len(),
            of.certificate.bound.name()
        ),
    ];
    if of.left_out > 0 {
        notes.push(format!("{} runs lack what a signal reads and are left out", of.left_out));
    }
    notes.push("A stopped success of which nothing tells when it was secured counts as stopped early.".to_owned());
    notes.extend(CAVEATS.map(str::to_owned));
    notes
}

/// The certificate as JSON.
fn document(args: &Args, of: &CorpusCertificate) -> serde_json::Value {
    let certificate = &of.certificate;
    let more = match certificate.verdict {
        Verdict::NeedsMoreTasks(more) => Some(more),
        _ => None,
    };
    json!({
        "schema_version": 1,
        "whenstop": env!("CARGO_PKG_VERSION"),
        "certified": of.chosen().map(|setting| setting.name.as_str()),
        "sentence": of.sentence(),
        "needs_more_tasks": more,
        "alpha": certificate.alpha,
        "delta": certificate.delta,
        "ordering": of.ordering,
        "settings_tried": of.settings.len(),
        "bound": certificate.bound.name(),
        "tasks": certificate.tasks,
        "successes": of.successes,
        "runs": of.runs,
        "runs_left_out": of.left_out,
        "corpus": of.fingerprint,
        "models": of.models,
        "with": args.grid.with(),
        "split": args.split.split.name(),
        "split_salt": (args.split.split != SplitPart::None).then_some(&args.split.split_salt),
        "dev_share": (args.split.split != SplitPart::None).then_some(args.split.dev_share),
        "settings": table::certificate(of).to_json(),
        "caveats": CAVEATS,
    })
}
