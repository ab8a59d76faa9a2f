//! `whenstop tune --signal … --limits …`: certifies the most aggressive limit of the user's own signals whose rate of
//! killed successes is at most alpha with the requested confidence, or says what is missing. There is no fallback.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use super::files::grounds_text;
use super::{Args, Shown};
use crate::aggregate::{Label, Picked, Rows, by_stack};
use crate::answers::tables;
use crate::cli::Exit;
use crate::cli::failure::Failure;
use crate::cli::inputs::{DOUBTS, LabelErrorArgs, undrawn_labels, unnamed_tasks};
use crate::cli::output::{Format, Output};
use crate::cli::sweep::{GridArgs, Reading, Recordings, SplitArgs, SplitPart, headline, unknown_setting};
use crate::diagnostic::{Diagnostic, Location, one_line};
use crate::report::{write_atomically, write_folder};
use crate::stack::Grounds;
use crate::stats::certificate::{Certification, Promise, Rate};
use crate::stats::label_certificate::{ErrorModel, LabelDoubt};
use crate::sweep::engine::Plan;
use crate::sweep::{Candidates, CorpusCertificate, Grid, Ordering, ResultOptions, Results};
use crate::transcript::{Moment, Outcome};
use crate::verdict::Assumptions;
use crate::words::chosen_percent;

/// Arguments for limits of the user's own.
#[derive(Debug, clap::Args)]
pub(super) struct OwnArgs {
    #[command(flatten)]
    pub(super) grid: GridArgs,
    /// Assume that label errors do not depend on whether a run is stopped: needs fewer tasks, but is wrong if they do.
    #[arg(long, requires = "signal")]
    label_errors_alike: bool,
    /// For several signals: all settings from conservative to aggressive, by name, separated by `;`. Fix the order
    /// before you look at the recordings.
    #[arg(long, value_name = "SETTINGS", conflicts_with = "unordered", requires = "signal")]
    order: Option<String>,
    /// Test the settings without an order (Holm over all), and choose the passing one that saves most.
    #[arg(long, requires = "signal")]
    unordered: bool,
    #[command(flatten, next_help_heading = "Splitting the tasks")]
    split: SplitArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    errors: LabelErrorArgs,
}

impl OwnArgs {
    /// Whether limits of the user's own are to be certified.
    pub(super) fn are_asked_for(&self) -> bool {
        self.grid.is_some()
    }

    /// An error if something is requested that only limits of the user's own have.
    pub(super) fn check_unused(&self) -> Result<(), Failure> {
        if self.split.split == SplitPart::None && self.errors.rates().is_none() {
            return Ok(());
        }
        let what = "`--split` and errors of labels are for limits of your own: `--signal … --limits …`";
        let help = "leave them out: without `--signal`, tasks are split where a choice needs it";
        Err(Failure::usage(Diagnostic::new(Location::default(), what, help)))
    }
}

impl Args {
    fn own_promise(&self) -> Promise {
        let (alpha, delta, bound) = (self.promise.max_killed, self.promise.delta(), self.promise.bound());
        Promise { alpha, delta, rate: Rate::TaskAveraged, bound }
    }

    /// The label errors; an error if no certificate can account for them.
    fn doubt(&self) -> Result<Option<LabelDoubt>, Failure> {
        let refuse = |what: &str, help: &str| Err(Failure::usage(Diagnostic::new(Location::default(), what, help)));
        let Some(errors) = self.own.errors.rates() else {
            if self.corpus.reading.outcome_from.is_some() {
                return refuse(
                    "no certificate of proxies: marks of recordings are no grades",
                    "check some by hand (`whenstop labels --template FILE --outcome-from …`) and state how they err with \
                     `--label-checked N_POS,K_POS,N_NEG,K_NEG`",
                );
            }
            return Ok(None);
        };
        if self.promise.anytime {
            return refuse("labels that err have no certificate for every time", "leave out `--anytime`");
        }
        let model = if self.own.label_errors_alike { ErrorModel::Alike } else { ErrorModel::Any };
        Ok(Some(LabelDoubt { model, errors }))
    }
}

/// The recordings, with the rows of every setting.
struct Tested {
    grid: Grid,
    plan: Plan,
    recordings: Recordings,
    reported: Rows,
}

impl Tested {
    fn read(args: &Args, grid: Grid, output: &Output) -> Result<(Self, Option<Rows>), Failure> {
        let mut plan = Plan::default();
        let candidates = Candidates::new(grid.stacks(), &mut plan);
        let reading =
            Reading { corpus: &args.corpus, split: &args.own.split, assumptions: Assumptions::default(), cache: None };
        let recordings = reading.read(&plan, output)?;
        let reported = candidates.rows(recordings.reported());
        let chosen_on = recordings.chosen_on().map(|on| candidates.rows(on));
        Ok((Self { grid, plan, recordings, reported }, chosen_on))
    }

    /// Why nothing can be certified, whatever the settings do.
    fn refusal(&self) -> Option<String> {
        let first = self.reported.get(0)?.stack().clone();
        let without = self.reported.of_stack(&first).filter(|row| row.task_id().is_none()).count();
        let runs = self.reported.of_stack(&first).count();
        let known = self.reported.of_stack(&first).filter(|row| row.outcome() != Outcome::Unknown).count();
        let picked = Picked::of(&by_stack(&self.reported));
        unnamed_tasks(without, runs)
            .or_else(|| picked.map(|picked| format!("Nothing can be certified. {}", picked.sentence())))
            .or_else(|| undrawn_labels(self.recordings.labels, known, runs))
    }

    /// The certified setting as a stack file with the grounds of its certificate. `None` if it is added to another stack,
    /// whose text is not at hand.
    fn stack_file(&self, args: &Args, certificate: &CorpusCertificate) -> Option<String> {
        let at = self.grid.find(&certificate.chosen()?.name)?;
        let setting = self.grid.settings.get(at).filter(|_| self.grid.base.is_none())?;
        let axis = self.grid.axes.get(setting.axis)?;
        let label = Label::from(setting.name());
        let stops = self.reported.of_stack(&label).filter(|row| row.is_stop()).count();
        let rule = axis.first_rule();
        let extracts = || self.recordings.reported().iter();
        let agents: BTreeSet<&str> = extracts().filter_map(|on| on.shared().agent()).collect();
        let readings = self.plan.place(rule, Moment::AfterTools).into_iter();
        let readings = readings.flat_map(|place| extracts().flat_map(move |on| on.early_readings(place)));
        let range = readings.filter(|reading| !reading.is_nan()).fold(None, |range: Option<(f64, f64)>, reading| {
            Some(range.map_or((reading, reading), |(low, high)| (low.min(reading), high.max(reading))))
        });
        let grounds = Grounds {
            promise: promised(args, certificate),
            models: certificate.models.clone(),
            agents: agents.into_iter().map(str::to_owned).collect(),
            runs: u32::try_from(certificate.runs).unwrap_or(u32::MAX),
            stopped: stops as f64 / certificate.runs as f64,
            ranges: range.map(|(low, high)| (rule.signal.id.to_owned(), low, high)).into_iter().collect(),
        };
        Some(format!(
            "# Made by `whenstop tune` from {} runs, {}.\n# {}\n\n[[stack]]\nname = \"tuned\"\nany = [{}]\n{}",
            certificate.runs,
            certificate.fingerprint,
            one_line(&certificate.sentence()),
            axis.written(setting.limit),
            grounds_text(grounds)
        ))
    }
}

/// What the certificate promises, in one clause.
fn promised(args: &Args, of: &CorpusCertificate) -> String {
    let (alpha, confidence) = (chosen_percent(args.promise.max_killed), chosen_percent(args.promise.confidence));
    let rate = match of.certificate.promise.rate {
        Rate::TaskAveraged => ", averaged over tasks",
        Rate::RunWeighted => "",
    };
    format!("at most {alpha} of successes killed{rate}, with {confidence} confidence")
}

/// Certifies.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    if args.format == Shown::Pr {
        let what = "`--format pr` is not for limits of your own: nothing is run today to hold them against";
        return Err(Failure::usage(Diagnostic::new(Location::default(), what, "leave out `--signal`, or use `table`")));
    }
    let grid = args.own.grid.load()?;
    let order = order(args, &grid)?;
    let (promise, doubt) = (args.own_promise(), args.doubt()?);
    let (tested, chosen_on) = Tested::read(args, grid, output)?;
    if let Some(sentence) = tested.refusal() {
        return refused(args, &sentence, output);
    }
    let preference =
        || chosen_on.as_ref().map(|dev| Results::of(&tested.grid, dev, ResultOptions::default()).by_saving());
    let ordering = order.map_or_else(|| Ordering::Unordered { preference: preference() }, Ordering::Fixed);
    let certificate = CorpusCertificate::of(&tested.reported, &ordering, promise, doubt);
    let json = document(args, &certificate);
    write(args, &json, tested.stack_file(args, &certificate).as_deref(), output)?;
    match args.format {
        Shown::Json => output.json(&json),
        Shown::Table | Shown::Pr => {
            output.paragraph(&certificate.sentence());
            output.data("\n");
            output.table(&tables::certificate_overview(&certificate), Format::Table)?;
            output.data("\n");
            for note in notes(args, &certificate, &headline(&tested.reported, args.own.split.split)) {
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
        "alpha": args.promise.max_killed,
        "confidence": args.promise.confidence,
    });
    write(args, &json, None, output)?;
    match args.format {
        Shown::Json => output.json(&json),
        Shown::Table | Shown::Pr => output.paragraph(sentence),
    }
    Ok(Exit::GateFailed)
}

/// Writes a folder with the certificate, or the refusal, and the stack to ship beside it.
fn write(args: &Args, json: &serde_json::Value, stack: Option<&str>, output: &Output) -> Result<(), Failure> {
    let Some(out) = &args.out else { return Ok(()) };
    let put = |path: &Path, text: &str| write_atomically(path, |file| file.write_all(text.as_bytes()));
    let document = format!("{json:#}\n");
    let fill = |folder: &Path| {
        put(&folder.join("certificate.json"), &document)?;
        stack.map_or(Ok(()), |stack| put(&folder.join("tuned.toml"), stack))
    };
    write_folder(out, output.csv_style(), fill).map_err(Failure::input)
}

/// The order of the walk; `None` without an order.
fn order(args: &Args, grid: &Grid) -> Result<Option<Vec<usize>>, Failure> {
    if args.own.unordered {
        return Ok(None);
    }
    let all = 0..grid.settings.len();
    let Some(named) = &args.own.order else {
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
            args.promise.max_killed,
            args.promise.delta(),
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
    notes.push(
        match (args.promise.anytime, of.chosen()) {
            (true, _) => "It may be looked at again after every new task.",
            (false, Some(_)) => "It holds for one look: chosen in advance, not the first of many that succeeds.",
            (false, None) => {
                "To look again as runs come in until it certifies, use `--anytime` at every look: without it the promise \
                 is for one look (at 15 looks, a delta of 0.1 was seen to become 0.13)."
            }
        }
        .to_owned(),
    );
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
        "confidence": args.promise.confidence,
        "rate": certificate.promise.rate.name(),
        "ordering": of.ordering,
        "settings_tried": of.settings.len(),
        "bound": certificate.promise.bound.name(),
        "theorem": certificate.promise.bound.theorem(),
        "anytime": args.promise.anytime,
        "tasks": certificate.tasks,
        "successes": of.successes,
        "runs": of.runs,
        "counted_as_killed": of.counted_as_killed,
        "corpus": of.fingerprint,
        "models": of.models,
        "with": args.own.grid.with(),
        "split": args.own.split.split.name(),
        "split_salt": (args.own.split.split != SplitPart::None).then_some(&args.own.split.split_salt),
        "dev_share": (args.own.split.split != SplitPart::None).then_some(args.own.split.dev_share),
        "settings": tables::certificate(of).to_json(),
        "caveats": caveats(of),
    })
}
