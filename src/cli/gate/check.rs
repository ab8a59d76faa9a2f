//! `whenstop ci check`: exits 100 if stop points differ from the accepted ones, or if a gate fails.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::inputs::{GateInputs, Inputs};
use super::replayed::{Replayed, replayed};
use super::reports::{self, ReportFormat, ReportTo};
use super::{read_snapshot, told};
use crate::answers::{RunEvidence, Tolerances};
use crate::cli::ProgramExit;
use crate::cli::destination::Destination;
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::cli::values::share;
use crate::diagnostic::{Diagnostic, Location, count};
use crate::explain::Texts;
use crate::report::{FolderFormat, Manifest, Publication, unreadable};
use crate::review::{ChangeReview, CheckResult, CheckedGate};
use crate::snapshot::{CutShortGate, Gate, MIN_KNOWN};

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    whenstop ci check                                    # all of it as whenstop.toml says\n  \
    whenstop ci check --report junit=junit.xml --report md=comment.md --report github=-\n  \
    whenstop ci check runs --stacks my.toml --snapshot stops.snap --fail-on 'mixed:killed_rate_high>0.05'\n\n\
    In CI: `whenstop ci init` writes a workflow. Exits 100 where stop points are not the accepted ones or a gate fails.")]
pub(in crate::cli) struct CheckArgs {
    /// Fail if a number of the summary passes a limit. `killed_rate_high>0.05` passes only what is shown to be safe,
    /// `killed_rate_low>0.02` fails only what is shown to be unsafe, `killed_rate>0.02` uses the point estimate;
    /// `ours:killed_rate_high>0.05` checks one stack; `cut_short_high>0.05` checks what followed the stops and needs no
    /// outcomes. An unknown number fails. Each check is one look: on the limit it fails falsely in 1 of 40, now and then
    /// in a year of weekly checks. Repeatable.
    #[arg(long, value_name = "GATE")]
    fail_on: Vec<String>,
    /// Judge by what could be read, even if some files, folders or archives could not be, or not completely.
    #[arg(long)]
    allow_unreadable: bool,
    /// A gate fails if its number is known on fewer than this share of the runs [default: 0.95].
    #[arg(long, value_name = "SHARE", value_parser = share, hide_short_help = true)]
    min_known: Option<f64>,
    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
    /// Also write a report, for example `junit=junit.xml`; `-` is stdout, after the normal output. Repeatable.
    #[arg(long, value_name = "FORMAT=PATH")]
    report: Vec<ReportTo>,
    /// Also write a folder of tables and figures, as `compare --out` does.
    #[arg(long, value_name = "DIR")]
    page: Option<Destination>,
    /// Print every changed run, not only those that matter most.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    inputs: GateInputs,
}

/// `whenstop ci check`.
pub(in crate::cli) fn check(args: &CheckArgs, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let inputs = args.inputs.resolve(output)?;
    let stacks = inputs.stacks.load()?;
    let names: Vec<String> = stacks.strategies.iter().map(|stack| stack.name().to_owned()).collect();
    let gates = parsed(written_gates(args, &inputs), &names)?;
    let advice = parsed(inputs.project.advise(), &names)?;
    if inputs.snapshot.is_none() && gates.is_empty() && advice.is_empty() {
        let help = "give `--snapshot FILE` or `--fail-on GATE`, or write them into the project file";
        return Err(CommandFailure::arguments("nothing to check: no snapshot, and no gate", help));
    }
    let wanted = wanted(args, &inputs)?;
    let before = inputs.snapshot.as_deref().map(read_snapshot).transpose()?;
    let page = args.page.as_deref().or(inputs.project.page.as_deref());
    let texts = page.map(|_| Texts::Evidence);
    let replayed = replayed(&inputs.corpus, &stacks, &[], before.as_ref(), texts, output)?;
    if replayed.errors > 0 && !args.allow_unreadable {
        let what = match replayed.unreadable {
            0 => format!("{} in the recordings", count(replayed.errors, "error")),
            n => unreadable(n),
        };
        let help = "mend them or leave them out, or judge without what is lost: `--allow-unreadable`";
        return Err(CommandFailure::recordings(format!("{what}: a gate that has not seen them says nothing"), help));
    }
    if replayed.troubles > 0 && !args.allow_unreadable {
        let what = "a guard failed on some runs: a gate that does not know what it does there says nothing";
        let help = "mend the guard, or judge without those runs: `--allow-unreadable`";
        return Err(CommandFailure::recordings(what, help));
    }
    let min_known = args.min_known.or(inputs.project.min_known()).unwrap_or(MIN_KNOWN);
    let Replayed { evidence, followed, manifest, snapshot, words, places, .. } = replayed;
    let manifest = Manifest { appetite: appetite(&inputs, min_known), ..manifest };
    let contest = manifest.contest(&evidence.rows);
    let hold = |gates: &[(AnyGate, Location)]| {
        let mut held = Vec::new();
        for (gate, at) in gates {
            let results = match gate {
                AnyGate::Summary(gate) => gate.hold(&contest, min_known),
                AnyGate::CutShort(gate) => gate.hold(followed.summaries()),
            };
            held.extend(results.into_iter().map(|result| CheckedGate { result, at: at.clone() }));
        }
        held
    };
    let (gates, advice) = (hold(&gates), hold(&advice));
    drop(contest);
    let checked = CheckResult {
        snapshot: inputs.snapshot.as_ref().map(|path| path.display().to_string()),
        review: before.as_ref().map(|before| ChangeReview::between(before, &snapshot, words)),
        gates,
        advice,
        places,
    };
    if let Some(page) = page {
        let evidence = RunEvidence { followed: Some(followed), ..evidence };
        let publication = Publication::new(evidence, manifest);
        let format = FolderFormat { csv: output.csv, ..FolderFormat::default() };
        publication.write(page, format).map_err(CommandFailure::input)?;
    }
    match args.format {
        ReportFormat::Text => told::checked(&checked, args.all, output)?,
        format => output.bytes(reports::check(format, &checked)?.as_bytes()),
    }
    for (format, path) in &wanted {
        reports::write(path, &reports::check(*format, &checked)?, output)?;
    }
    Ok(if checked.failed() { ProgramExit::GateFailed } else { ProgramExit::Done })
}

/// How the replayed runs are judged, by the project file.
fn appetite(inputs: &Inputs, min_known: f64) -> Tolerances {
    let settings = &inputs.project.appetite;
    Tolerances {
        max_killed: settings.max_killed.unwrap_or(Tolerances::DEFAULT_MAX_KILLED),
        lost_success_costs: settings.lost_success_costs,
        min_known,
        ..Tolerances::default()
    }
}

/// A gate on a number of the summary, or on what followed the stops.
enum AnyGate {
    Summary(Gate),
    CutShort(CutShortGate),
}

/// The gates from the arguments, else those of the project file, each with its location.
fn written_gates(args: &CheckArgs, inputs: &Inputs) -> Vec<(String, Location)> {
    if args.fail_on.is_empty() {
        return inputs.project.gates();
    }
    args.fail_on.iter().map(|gate| (gate.clone(), Location::default())).collect()
}

fn parsed(written: Vec<(String, Location)>, stacks: &[String]) -> Result<Vec<(AnyGate, Location)>, CommandFailure> {
    let parse = |text: &str| match CutShortGate::parse(text, stacks) {
        Some(gate) => gate.map(AnyGate::CutShort),
        None => Gate::parse(text, stacks).map(AnyGate::Summary),
    };
    let parsed = written.into_iter().map(|(text, at)| match parse(&text) {
        Ok(gate) => Ok((gate, at)),
        Err(error) => Err(CommandFailure::usage(Diagnostic { at, ..error })),
    });
    parsed.collect()
}

/// The requested reports: arguments override the project file, format by format.
fn wanted(args: &CheckArgs, inputs: &Inputs) -> Result<Vec<(ReportFormat, PathBuf)>, CommandFailure> {
    let mut wanted = BTreeMap::new();
    for (name, path) in &inputs.project.reports {
        let format = reports::named(name).map_err(|help| {
            CommandFailure::file(&inputs.project.path, format!("`reports` names no format `{name}`"), help)
        })?;
        wanted.insert(format, path.clone());
    }
    wanted.extend(args.report.iter().map(|report| (report.format, report.path.clone())));
    Ok(wanted.into_iter().collect())
}
