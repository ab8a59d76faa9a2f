//! `tune --walk-forward`: for each week, what the runs of the weeks before would have shipped, and what it then did.
//!
//! What is shipped from the past is what `tune` ships from those runs, by the same functions. Only the runs that count
//! change from week to week; what each limit does to each run is found once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::answer::decided;
use super::{Args, TuneSentences, families, nothing_today};
use crate::aggregate::{Forward, ForwardPeriod, Group, Held, Label, Period, PeriodLength, Unit, by_stack};
use crate::answers::{tables, words};
use crate::cli::ProgramExit;
use crate::cli::compare::Published;
use crate::cli::failure::CommandFailure;
use crate::cli::output::{AnswerFormat, Output, TableFormat, lines_of};
use crate::diagnostic::count;
use crate::report::figure::{ForwardFigure, save};
use crate::report::{refuse_foreign, write_atomically, write_folder};
use crate::stack::Stack;
use crate::sweep::Candidates;
use crate::sweep::engine::{Extract, Plan, Runs};
use crate::transcript::Instant;
use crate::tune::{Family, KeptReadings, Shipped, Study, StudyRun, Tuner};
use crate::verdict::Assumptions;

/// The runs, or what is kept of them, by the period in which they started.
pub(super) struct Dated<T> {
    pub(super) periods: BTreeMap<Period, Vec<T>>,
    undated: u64,
}

impl<T> Dated<T> {
    /// From runs with their start; an error if they are of fewer than two periods.
    pub(super) fn new(
        runs: impl IntoIterator<Item = (Option<Instant>, T)>,
        by: PeriodLength,
    ) -> Result<Self, CommandFailure> {
        let (mut periods, mut undated): (BTreeMap<Period, Vec<T>>, u64) = (BTreeMap::new(), 0);
        for (start, run) in runs {
            match start.and_then(|start| Period::holding(start, by)) {
                Some(period) => periods.entry(period).or_default().push(run),
                None => undated += 1,
            }
        }
        if periods.len() >= 2 {
            return Ok(Self { periods, undated });
        }
        let noun = by.name();
        let dated: usize = periods.values().map(Vec::len).sum();
        let (what, help) = match periods.first_key_value() {
            None => (
                format!("none of {} has a date, so there is no {noun} before another", count(undated, "run")),
                "a run is dated by its start, or by its first message with a time".to_owned(),
            ),
            Some((only, _)) => (
                format!(
                    "{} with a date, of one {noun} only ({}): it takes two",
                    count(dated as u64, "run"),
                    only.name()
                ),
                match by {
                    PeriodLength::Day => "give recordings of more days".to_owned(),
                    _ => format!("give recordings of more {noun}s, or shorter periods: `--walk-forward day`"),
                },
            ),
        };
        Err(CommandFailure::recordings(what, help))
    }
}

/// A walk through the periods, in order of time.
pub(super) struct ForwardWalk {
    forward: Forward,
    unit: Unit,
    /// Number of runs of the periods so far.
    past: u64,
    /// What was said of the runs before the last period.
    pub(super) why: String,
}

impl ForwardWalk {
    pub(super) fn new<T>(args: &Args, by: PeriodLength, dated: &Dated<T>, unit: Unit) -> Self {
        let forward =
            Forward { length: by, max_killed: args.promise.max_killed, undated: dated.undated, periods: Vec::new() };
        Self { forward, unit, past: 0, why: String::new() }
    }

    /// The next period, with the stack that the runs before would have shipped.
    pub(super) fn step(&mut self, period: Period, stack: Option<Stack>, runs: &[Extract], plan: &Plan) {
        let shipped = stack.as_ref().map(|stack| Label::from(stack.name.as_str()));
        let nothing = || Stack { name: String::new(), clauses: Vec::new(), cap: None };
        let candidates = Candidates::new([Arc::new(stack.unwrap_or_else(nothing))], &mut plan.clone());
        let rows = candidates.rows(runs);
        for group in by_stack(&rows) {
            self.add(period, shipped.clone(), &group);
        }
    }

    fn add(&mut self, period: Period, stack: Option<Label>, rows: &Group<'_>) {
        self.forward.periods.push(ForwardPeriod::new(period, self.past, stack, rows, self.unit));
        self.past += rows.len() as u64;
    }

    /// Shows and writes what was found.
    pub(super) fn finish(self, args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
        let Self { forward, why, .. } = self;
        let verdict = words::forward(&forward, &why);
        if let Some(out) = &args.out {
            let write = |folder: &std::path::Path| {
                let table = tables::forward_columns().table(&forward.periods);
                write_atomically(&folder.join("walk-forward.csv"), |file| table.write_csv(file))?;
                save(&ForwardFigure { forward: &forward, verdict: &verdict }, folder, "walk-forward").map(drop)
            };
            write_folder(out, output.csv, write).map_err(CommandFailure::input)?;
        }
        show(args, &forward, &verdict, output)?;
        if let Some(out) = &args.out {
            output.note(&format!("written to {}; look at {}", out.display(), out.join("walk-forward.svg").display()));
        }
        let has_held = matches!(forward.finding(), Some(finding) if finding.held == Held::Yes);
        Ok(if has_held { ProgramExit::Done } else { ProgramExit::GateFailed })
    }
}

fn show(args: &Args, forward: &Forward, verdict: &str, output: &Output) -> Result<(), CommandFailure> {
    let notes = words::forward_notes(forward, args.corpus.unit.noun());
    let overview = tables::forward_overview(forward);
    let format = args.format.table_format().ok_or_else(|| nothing_today("--walk-forward"))?;
    match format {
        TableFormat::Table => {
            output.paragraph(verdict);
            output.data("\n");
            output.table(&overview, format)?;
            output.notes(lines_of(&[verdict], &[&overview]) + 1, &notes);
        }
        TableFormat::Json => output.json(&serde_json::json!({
            "schema_version": 1,
            "verdict": verdict,
            "held": forward.finding().map(|finding| held(finding.held)),
            "periods": tables::forward_columns().table(&forward.periods).to_json(),
            "notes": notes,
        })),
        TableFormat::Csv => output.table(&tables::forward_columns().table(&forward.periods), format)?,
        TableFormat::Md | TableFormat::Latex => output.table(&overview, format)?,
    }
    Ok(())
}

fn held(held: Held) -> &'static str {
    match held {
        Held::Yes => "yes",
        Held::No => "no",
        Held::Open => "unknown",
    }
}

/// Refuses what cannot be asked of a walk, before anything is read.
pub(super) fn refuse(args: &Args) -> Result<(), CommandFailure> {
    if args.format == AnswerFormat::Pr {
        return Err(nothing_today("--walk-forward"));
    }
    let Some(out) = &args.out else { return Ok(()) };
    let files = ["walk-forward.csv", "walk-forward.svg", "walk-forward.png"];
    refuse_foreign(out, files.into_iter()).map_err(CommandFailure::input)
}

/// `tune --walk-forward` over the catalogue.
pub(super) fn run(args: &Args, by: PeriodLength, output: &Output) -> Result<ProgramExit, CommandFailure> {
    args.own.check_unused(&args.guards)?;
    let question = args.question(0);
    let families: Vec<Family> = families(&question);
    let plan = Study::plan(&families);
    let mut extracts: Vec<Extract> = Vec::new();
    let report = args.corpus.process(
        output,
        |run| Extract::from_run(&run, &plan, Assumptions::default()),
        |extract| extracts.push(extract),
    )?;
    let unit = Runs::unit_of(&extracts);
    let dated = Dated::new(extracts.into_iter().map(|on| (on.shared().facts().started_at(), on)), by)?;
    let mut walk = ForwardWalk::new(args, by, &dated, unit);
    let mut past: Vec<StudyRun> = Vec::new();
    for (period, runs) in dated.periods {
        let mut stack = None;
        if !past.is_empty() {
            let study = Study::new(past, families.clone());
            let answer = decided(&question, &Tuner::new(&study), report.label_draw);
            walk.why = TuneSentences { study: &study, answer: &answer, question: &question }.verdict();
            if let Ok((Shipped::Limit(choice), _)) = &answer.shipped {
                let name = study.rule(choice.at).to_string();
                stack = Some(Arc::unwrap_or_clone(study.families()[choice.at.family].stack(&name, choice.at.limit)));
            }
            past = study.into_runs();
        }
        walk.step(period, stack, &runs, &plan);
        let kept = |on: &Extract| StudyRun::from_extract(on, &families, &plan, KeptReadings::Records);
        past.extend(runs.iter().map(kept));
    }
    walk.finish(args, output)
}

/// `tune --walk-forward` over stacks that are compared.
pub(super) fn run_compared(
    args: &Args,
    by: PeriodLength,
    published: &Published,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    let publication = &published.publication;
    let runs = published.started.iter().copied().zip(0..);
    let dated: Dated<usize> = Dated::new(runs, by)?;
    let mut walk = ForwardWalk::new(args, by, &dated, publication.unit());
    let groups = by_stack(publication.rows());
    let mut is_past = vec![false; published.started.len()];
    let n_periods = dated.periods.len();
    let mut has_shipped = false;
    for (nth, (period, runs)) in dated.periods.into_iter().enumerate() {
        let stack = if nth == 0 { None } else { publication.shipped_from(&is_past) };
        has_shipped |= stack.is_some();
        if nth + 1 == n_periods && !has_shipped {
            walk.why = publication.verdict_from(&is_past);
        }
        let mut is_now = vec![false; is_past.len()];
        for run in runs {
            is_now[run] = true;
            is_past[run] = true;
        }
        let of_stack = groups.iter().find(|group| stack.as_ref().is_none_or(|stack| group.stack == *stack));
        if let Some(group) = of_stack {
            walk.add(period, stack, &group.part(&is_now));
        }
    }
    walk.finish(args, output)
}
