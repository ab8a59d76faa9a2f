//! `whenstop sweep --signal … --limits …`: every limit of the signals named, each a stack of one rule.

use std::path::Path;

use super::answer::Answer;
use super::findings::Findings;
use super::manifest::Manifest;
use super::recordings::Recordings;
use super::{Args, Exit, Failure, Output, headline, points, unknown_setting};
use crate::aggregate::{ChainPlace, Entrant, Rows, Tried, chain_places};
use crate::answers::{Appetite, tables};
use crate::cli::export::hosts_of;
use crate::diagnostic::Diagnostic;
use crate::report::figure::{SweepFigure, save};
use crate::report::{write_atomically, write_folder};
use crate::stats::label_certificate::ErrorRates;
use crate::sweep::engine::Plan;
use crate::sweep::{Candidates, Grid, ResultOptions, Results, Setting};

/// The results: on the reported tasks, and on those the choice was made on.
pub(super) struct Judged {
    pub(super) rows: Rows,
    pub(super) label_errors: Option<ErrorRates>,
    pub(super) reported: Results,
    pub(super) chosen_on: Option<Results>,
    pub(super) answer: Answer,
}

fn baseline(args: &Args, grid: &Grid) -> Result<Option<usize>, Failure> {
    match args.baseline.as_deref() {
        None => Ok(Some(0)),
        Some("none") => Ok(None),
        Some(name) => grid.find(name).map(Some).ok_or_else(|| unknown_setting(name, grid)),
    }
}

/// Tries every setting.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let grid = args.grid.load()?;
    let options =
        ResultOptions { baseline: baseline(args, &grid)?, label_errors: args.errors.rates(), seed: args.seed };
    let mut plan = Plan::default();
    let candidates = Candidates::new(grid.stacks(), &mut plan);
    let recordings = args.reading().read(&plan, output)?;
    let judged = judge(args, &grid, &candidates, &recordings, options);
    let headline = headline(&judged.rows, args.split.split);
    let findings = Findings {
        title: "Which limit?",
        answer: &judged.answer,
        table: tables::sweep(&grid, &judged.reported),
        overview: tables::sweep_overview(&judged.reported, judged.answer.chosen),
        more: None,
        notes: notes(&judged),
        figure: "\n![Killed and saved against the limit](sweep.svg)\n",
        manifest: Manifest::of(args, &grid, &judged),
        rows: &judged.rows,
        headline,
    };
    if let Some(out) = &args.out {
        let fill = |out: &Path| {
            findings.write(args, out)?;
            write(args, &grid, &judged, &findings.headline, out)
        };
        write_folder(out, output.csv_style(), fill).map_err(Failure::input)?;
    }
    findings.show(args, output)?;
    if let Some(out) = &args.out {
        output.note(&format!("written to {}", out.display()));
    }
    Ok(Exit::Done)
}

fn judge(args: &Args, grid: &Grid, candidates: &Candidates, recordings: &Recordings, options: ResultOptions) -> Judged {
    let rows = candidates.rows(recordings.reported());
    let chosen_on = recordings.chosen_on().map(|on| candidates.rows(on));
    let mut reported = Results::of(grid, &rows, options);
    let tried: Vec<Tried<'_>> =
        grid.settings.iter().map(|setting| Tried { definition: Some(&setting.stack), source: 0 }).collect();
    let entrant = |(setting, place): (&Setting, ChainPlace)| Entrant {
        hosts: hosts_of(&setting.stack).len(),
        rules: 1,
        place: Some(place),
    };
    let entrants: Vec<Entrant> = grid.settings.iter().zip(chain_places(&tried)).map(entrant).collect();
    let appetite = Appetite { max_killed: args.max_killed, ..Appetite::default() };
    let rated = (reported.unit, options.label_errors, &entrants[..]);
    let answer = Answer::of(&rows, chosen_on.as_ref(), &args.split, rated, appetite, None);
    for (setting, most) in reported.settings.iter_mut().zip(&answer.killed_at_most) {
        setting.summary.killed_at_most = *most;
    }
    let chosen_on = chosen_on.map(|rows| Results::of(grid, &rows, options));
    Judged { rows, label_errors: options.label_errors, reported, chosen_on, answer }
}

/// The files that only this form of a sweep has: the dev tasks, and the figure.
fn write(args: &Args, grid: &Grid, judged: &Judged, headline: &str, out: &Path) -> Result<(), Diagnostic> {
    let Judged { reported, answer, chosen_on, .. } = judged;
    if let Some(dev) = chosen_on {
        let table = tables::sweep(grid, dev);
        write_atomically(&out.join("sweep-dev.csv"), |file| table.write_csv(file))?;
    }
    let subtitle = format!("{headline}; bars: 95 % intervals, clustered by task");
    let figure = SweepFigure { grid, results: reported, chosen: answer.chosen, max_killed: args.max_killed, subtitle };
    save(&figure, out, "sweep")?;
    Ok(())
}

/// The notes below the table.
fn notes(judged: &Judged) -> Vec<String> {
    let Judged { reported, chosen_on, answer, .. } = judged;
    let mut notes = vec![];
    if let (Some(dev), Some(at)) = (chosen_on, answer.chosen) {
        let rate = |of: &Results| of.settings.get(at).and_then(|setting| setting.summary.fes_rate().value());
        let saved = |of: &Results| of.settings.get(at).and_then(|setting| setting.useful.value());
        notes.push(format!(
            "optimism (dev minus test): killed {}, saved {}",
            points(rate(dev), rate(reported)),
            points(saved(dev), saved(reported))
        ));
    }
    let n = reported.settings.len();
    let adjusted = match reported.baseline_name() {
        Some(name) => {
            let killed = reported.adjusted_by(|setting| setting.killed_difference).name();
            let useful = reported.adjusted_by(|setting| setting.useful_difference).name();
            let by =
                if killed == useful { killed.to_owned() } else { format!("{killed} (killed) and {useful} (saved)") };
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
    let unread = reported.settings.iter().map(|setting| setting.not_evaluable).max().unwrap_or(0);
    if unread > 0 {
        notes.push(format!("{unread} runs lack what a signal reads and are left out of its settings"));
    }
    notes
}
