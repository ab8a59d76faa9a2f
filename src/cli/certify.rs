//! `whenstop certify`: certifies the most aggressive setting whose false-early-stop rate is at most alpha with the
//! requested confidence, or says what is missing. There is no fallback.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;

use super::Exit;
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, DOUBTS, LabelErrorArgs, unnamed_tasks};
use super::output::{Format, Output};
use super::sweep::{GridArgs, SplitArgs, SplitPart, parts, swept, unknown_setting};
use super::values::share_inside;
use crate::aggregate::{Picked, by_stack};
use crate::diagnostic::{Diagnostic, Location};
use crate::report::{table, write_atomically};
use crate::stats::certificate::{Bound, Certification, Promise, Rate};
use crate::stats::label_certificate::{ErrorModel, LabelDoubt};
use crate::sweep::{CorpusCertificate, Grid, Ordering, ResultOptions, Results};

/// Arguments of `certify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exits 0 with a certificate and 100 without.")]
pub(super) struct Args {
    #[command(flatten)]
    grid: GridArgs,
    /// The share of successes that may be killed: this is what is certified; see `--rate`.
    #[arg(long = "max-killed", aliases = ["max-fes", "alpha"], value_name = "RATE", default_value_t = 0.05, value_parser = share_inside)]
    alpha: f64,
    /// Probability that the certificate is wrong.
    #[arg(long, value_name = "CHANCE", default_value_t = 0.1, value_parser = share_inside)]
    delta: f64,
    /// Which rate is certified: the mean over tasks, or that of a random successful run.
    #[arg(long, value_enum, default_value_t)]
    rate: RateArg,
    /// The test behind the certificate: Gaffke's statistic, or betting, which needs more tasks but rests on an older
    /// theorem.
    #[arg(long, value_enum, default_value_t)]
    bound: BoundArg,
    /// Make a certificate that stays valid when checked after every new task (uses betting).
    #[arg(long)]
    anytime: bool,
    /// Assume that label errors do not depend on whether a run is stopped: needs fewer tasks, but is wrong if they do.
    #[arg(long)]
    label_errors_alike: bool,
    /// For several signals: all settings from conservative to aggressive, by name, separated by `;`. Fix the order
    /// before you look at the recordings.
    #[arg(long, value_name = "SETTINGS", conflicts_with = "unordered")]
    order: Option<String>,
    /// Test the settings without an order (Holm over all), and choose the passing one that saves most.
    #[arg(long)]
    unordered: bool,
    /// Also write the certificate, or the refusal, as JSON to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Shown,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten, next_help_heading = "Splitting the tasks")]
    split: SplitArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    errors: LabelErrorArgs,
}

/// Rates that can be certified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum RateArg {
    /// Averaged over tasks: each task counts once.
    #[default]
    Task,
    /// Weighted by runs: each successful run counts once.
    Run,
}

/// Bounds to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum BoundArg {
    /// Gaffke's statistic; the exact binomial test with one run per task.
    #[default]
    Gaffke,
    /// A mixture of bets.
    Betting,
}

impl Args {
    fn promise(&self) -> Promise {
        Promise {
            alpha: self.alpha,
            delta: self.delta,
            rate: match self.rate {
                RateArg::Task => Rate::TaskAveraged,
                RateArg::Run => Rate::RunWeighted,
            },
            bound: match (self.bound, self.anytime) {
                (BoundArg::Gaffke, false) => Bound::Gaffke,
                _ => Bound::Betting,
            },
        }
    }

    /// The label errors; an error if no certificate can account for them.
    fn doubt(&self) -> Result<Option<LabelDoubt>, Failure> {
        let refuse = |what: &str, help: &str| Err(Failure::usage(Diagnostic::new(Location::default(), what, help)));
        let Some(errors) = self.errors.rates() else {
            if self.corpus.reading.outcome_from.is_some() {
                return refuse(
                    "no certificate of proxies: marks of recordings are no grades",
                    "check some by hand (`whenstop labels --template FILE --outcome-from …`) and state how they err with \
                     `--label-checked N_POS,K_POS,N_NEG,K_NEG`",
                );
            }
            return Ok(None);
        };
        if self.anytime || self.bound == BoundArg::Betting {
            return refuse(
                "labels that err have no certificate by bets",
                "leave out `--bound betting` and `--anytime`",
            );
        }
        let model = if self.label_errors_alike { ErrorModel::Alike } else { ErrorModel::Any };
        Ok(Some(LabelDoubt { model, errors }))
    }
}

/// Output formats of a certificate.
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
    let doubt = args.doubt()?;
    let rows = swept(&args.corpus, &grid, &AssumptionArgs::default(), output)?;
    let parts = parts(rows, &args.split)?;
    let ordering = match (order, &parts.other) {
        (Some(order), _) => Ordering::Fixed(order),
        (None, None) => Ordering::Unordered { preference: None },
        (None, Some(dev)) => {
            let results = Results::of(&grid, dev, ResultOptions::default());
            Ordering::Unordered { preference: Some(results.by_saving()) }
        }
    };
    let first = parts.reported.iter().next().map(|row| row.stack().clone());
    let of_first = || parts.reported.iter().filter(|row| Some(row.stack()) == first.as_ref());
    let without = of_first().filter(|row| row.task_id().is_none()).count();
    if let Some(sentence) = unnamed_tasks(without, of_first().count()) {
        return refused(args, &sentence, output);
    }
    if let Some(picked) = Picked::of(&by_stack(&parts.reported)) {
        return refused(args, &format!("Nothing can be certified. {}", picked.sentence()), output);
    }
    let certificate = CorpusCertificate::of(&parts.reported, &ordering, args.promise(), doubt);
    let json = document(args, &certificate);
    if let Some(out) = &args.out {
        write_atomically(out, |file| file.write_all(format!("{json:#}\n").as_bytes())).map_err(Failure::input)?;
    }
    match args.format {
        Shown::Json => output.json(&json),
        Shown::Table => {
            output.paragraph(&certificate.sentence());
            output.data("\n");
            output.table(&table::certificate_overview(&certificate), Format::Table)?;
            output.data("\n");
            for note in notes(args, &certificate, &parts.headline()) {
                output.paragraph(&note);
            }
        }
    }
    Ok(if certificate.chosen().is_some() { Exit::Done } else { Exit::GateFailed })
}

/// Says why there is no certificate.
fn refused(args: &Args, sentence: &str, output: &Output) -> Result<Exit, Failure> {
    let json = json!({
        "schema_version": 1,
        "whenstop": env!("CARGO_PKG_VERSION"),
        "certified": null,
        "sentence": sentence,
        "alpha": args.alpha,
        "delta": args.delta,
    });
    if let Some(out) = &args.out {
        write_atomically(out, |file| file.write_all(format!("{json:#}\n").as_bytes())).map_err(Failure::input)?;
    }
    match args.format {
        Shown::Json => output.json(&json),
        Shown::Table => output.paragraph(sentence),
    }
    Ok(Exit::GateFailed)
}

/// The order of the walk; `None` without an order.
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

const SHIFT: &str = "It holds for new tasks of the same kind and the same models; under distribution shift (another model, \
                     agent or mix of tasks) the certificate is void.";

/// What the certificate does not cover.
fn caveats(of: &CorpusCertificate) -> Vec<String> {
    let rate = match of.certificate.promise.rate {
        Rate::TaskAveraged => {
            "The rate is averaged over tasks: for each task the share of its successful runs that the setting stops early."
        }
        Rate::RunWeighted => {
            "The rate is that of a random run of a random task: how often it is stopped early, given that it succeeds."
        }
    };
    let mut caveats = vec![rate.to_owned()];
    if let Some(doubt) = &of.doubt {
        caveats.push(match doubt.model {
            ErrorModel::Any => {
                "The labels may err as stated or less, and more often on stopped runs than on others.".to_owned()
            }
            ErrorModel::Alike => {
                "The labels err as stated, and no more often on stopped runs than on others.".to_owned()
            }
        });
    }
    caveats.push(SHIFT.to_owned());
    caveats
}

/// The notes below the table.
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
            of.certificate.promise.bound.name()
        ),
    ];
    if !of.counted_as_killed.is_empty() {
        notes.push(format!(
            "{} successes do not record what a signal reads and count as stopped early by its settings; the certificate \
             names them",
            of.counted_as_killed.len()
        ));
    }
    notes.push("A stopped success of which nothing tells when it was secured counts as stopped early.".to_owned());
    notes.push(format!("It rests on {}.", of.certificate.promise.bound.theorem()));
    if args.anytime {
        notes.push("It may be looked at again after every new task.".to_owned());
    }
    notes.extend(caveats(of));
    notes
}

/// The certificate as JSON.
fn document(args: &Args, of: &CorpusCertificate) -> serde_json::Value {
    let certificate = &of.certificate;
    let (more, about) = match certificate.verdict {
        Certification::NeedsMoreTasks { at_least, about } => (Some(at_least), about),
        _ => (None, None),
    };
    json!({
        "schema_version": 1,
        "whenstop": env!("CARGO_PKG_VERSION"),
        "certified": of.chosen().map(|setting| setting.name.as_str()),
        "sentence": of.sentence(),
        "needs_more_tasks": more,
        "tasks_at_this_rate": about,
        "alpha": certificate.promise.alpha,
        "delta": certificate.promise.delta,
        "rate": certificate.promise.rate.name(),
        "ordering": of.ordering,
        "settings_tried": of.settings.len(),
        "bound": certificate.promise.bound.name(),
        "theorem": certificate.promise.bound.theorem(),
        "anytime": args.anytime,
        "tasks": certificate.tasks,
        "successes": of.successes,
        "runs": of.runs,
        "counted_as_killed": of.counted_as_killed,
        "corpus": of.fingerprint,
        "models": of.models,
        "with": args.grid.with(),
        "split": args.split.split.name(),
        "split_salt": (args.split.split != SplitPart::None).then_some(&args.split.split_salt),
        "dev_share": (args.split.split != SplitPart::None).then_some(args.split.dev_share),
        "settings": table::certificate(of).to_json(),
        "caveats": caveats(of),
    })
}
