//! Stacks and settings of the user's own: which of them to ship, decided as `compare` decides it. They can be compared in
//! parts, as `compare` does it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::files::grounds_text;
use super::shipped::TUNED;
use super::{Args, TuneResult, nothing_today};
use crate::aggregate::{Count, Detector, Group, Label, RowView, Rows, Summary, by_stack};
use crate::answers::tables::{self, DataTable};
use crate::answers::words;
use crate::cli::ProgramExit;
use crate::cli::compare::shard::{ComparedPart, ShardScope, run_shard, write_comparison};
use crate::cli::compare::{self, CompareQuestion, Published};
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::LoadedStacks;
use crate::cli::output::{Output, TableFormat};
use crate::cli::values::shell_path;
use crate::compare::Keeps;
use crate::diagnostic::one_line;
use crate::report::figure::{DetectorFigure, save};
use crate::report::{FolderFormat, Merge, Publication, Shippable, write_text};
use crate::stack::Grounds;
use crate::tune::promise;
use crate::verdict::Assumptions;

/// Stacks of the user's own, and how each is written if it is the one to ship.
pub(super) struct OwnStacks {
    pub(super) stacks: LoadedStacks,
    pub(super) shippable: Vec<Shippable>,
    /// The one that runs today.
    pub(super) today: Option<String>,
}

impl OwnStacks {
    fn question<'a>(&'a self, args: &'a Args) -> CompareQuestion<'a> {
        CompareQuestion {
            appetite: args.appetite(),
            failure_rate: None,
            baseline: self.today.as_deref(),
            keeps: Keeps::default(),
            assumptions: Assumptions::default(),
            split: &args.own.split,
            errors: args.own.label_errors(),
            proxies: args.corpus.reading.outcome_from.as_ref().map(ToString::to_string),
            texts: args.out.as_ref().map(|_| args.embed_text),
            made: None,
        }
    }
}

/// What was compared, and what comes of it.
struct Decided<'p> {
    publication: &'p Publication,
    /// The one to ship.
    ships: Option<Label>,
    /// The text of `tuned.toml`.
    file: Option<String>,
    /// What to do with it.
    note: Option<String>,
    detectors: Vec<Detector>,
}

impl<'p> Decided<'p> {
    /// `agents`: those of the runs. `out`: the folder that is written.
    fn new(
        publication: &'p Publication,
        agents: &BTreeSet<String>,
        shippable: &[Shippable],
        out: Option<&Path>,
    ) -> Self {
        let (mut file, mut note) = (None, None);
        let ship = publication.first().ship();
        let ships = ship.map(|summary| summary.stack.clone());
        if let Some(summary) = ship
            && let Some(shipped) = shippable.iter().find(|shippable| *shippable.stack == *summary.stack)
        {
            let appetite = publication.manifest().appetite;
            let promise = promise(appetite.max_killed, appetite.confidence);
            file = tuned_file(shipped, promise, summary, publication.rows(), agents);
            note = settings_note(shipped, out);
        }
        Self { publication, ships, file, note, detectors: detectors(publication) }
    }

    fn write(&self, out: &Path, output: &Output) -> Result<(), CommandFailure> {
        let figure = DetectorFigure {
            ship: self.detectors.iter().position(|detector| self.ships.as_ref() == Some(&detector.stack)),
            detectors: self.detectors.clone(),
            subtitle: self.publication.headline_words(),
        };
        let write_own = |folder: &Path| {
            if let Some(text) = &self.file {
                write_text(&folder.join("tuned.toml"), text)?;
            }
            if !figure.detectors.is_empty() {
                save(&figure, folder, "detector")?;
            }
            Ok(())
        };
        let format = FolderFormat { csv: output.csv, ..FolderFormat::default() };
        self.publication.write_with(out, format, write_own).map_err(CommandFailure::input)
    }

    fn show(&self, format: TableFormat, output: &Output) -> Result<(), CommandFailure> {
        compare::show_publication(self.publication, format, output)?;
        if format == TableFormat::Table
            && let Some(table) = self.detector_table()
        {
            output.data("\n");
            output.paragraph(
                "As detectors: of the graded runs that each ends early, the share that fails; the share of all runs of the same \
                 models that fails anyway; and the share of all failures that it catches.",
            );
            output.table(&table, format)?;
        }
        if let Some(note) = &self.note {
            output.note(note);
        }
        Ok(())
    }

    /// What the stacks of the first table detect; `None` if nothing is known of it.
    fn detector_table(&self) -> Option<DataTable> {
        let mut shown = Vec::new();
        for summary in &self.publication.first().shown {
            let detector = self.detectors.iter().find(|detector| detector.stack == summary.stack);
            shown.extend(detector.map(|detector| (detector, *summary)));
        }
        if shown.is_empty() { None } else { Some(tables::detectors(&shown, self.publication.unit())) }
    }

    /// Writes the folder, if one is asked for, and shows the answer.
    fn answer(
        self,
        format: TableFormat,
        out: Option<&Path>,
        output: &Output,
    ) -> Result<(TuneResult, ProgramExit), CommandFailure> {
        if let Some(out) = out {
            self.write(out, output)?;
        }
        self.show(format, output)?;
        if let Some(out) = out {
            output.wrote_page(out);
        }
        let exit = if self.ships.is_some() { ProgramExit::Done } else { ProgramExit::GateFailed };
        Ok((self.result(), exit))
    }

    /// The answer as values.
    fn result(self) -> TuneResult {
        let answer = self.publication.answer();
        let mut notes = words::notes(&answer.notes);
        let detectors = self.detector_table();
        notes.extend(self.note);
        TuneResult {
            verdict: words::verdict(&answer.verdict),
            recordings: words::headline(answer.headline.as_ref()),
            table: answer.table.unwrap_or_default(),
            strata: None,
            detectors,
            notes,
            stack: self.file,
            certificate: compare::json(self.publication),
        }
    }
}

/// What each stack detects, in the order of the stacks. One that speaks to agents is left out: whether the runs end early
/// that it speaks to is not known.
fn detectors(publication: &Publication) -> Vec<Detector> {
    let summaries = publication.summaries();
    let groups = by_stack(publication.rows());
    let speaks = |group: &Group<'_>| {
        summaries.iter().any(|summary| summary.stack == group.stack && summary.counted(Count::Diverged) > 0)
    };
    let mut detectors: Vec<Detector> = groups.iter().filter(|group| !speaks(group)).map(Detector::from_group).collect();
    detectors.retain(|detector| detector.failures > 0);
    detectors
}

/// The stack to ship as a file, with the grounds on which it was chosen: what is promised, and what it does to the runs
/// that these rows are of.
pub(super) fn tuned_file(
    shipped: &Shippable,
    promise: String,
    summary: &Summary,
    rows: &Rows,
    agents: &BTreeSet<String>,
) -> Option<String> {
    let head = format!("# Made by `whenstop tune` from {} runs: {}\n", summary.runs, one_line(&shipped.stack));
    let mut text = head + shipped.entry.as_ref()?;
    // Grounds are written beside rules only, not beside settings of a framework.
    if shipped.settings.is_none() {
        let models: BTreeSet<&Label> = rows.iter().filter_map(RowView::model).collect();
        text += &grounds_text(Grounds {
            promise,
            models: models.into_iter().map(ToString::to_string).collect(),
            agents: agents.iter().cloned().collect(),
            runs: u32::try_from(summary.runs).unwrap_or(u32::MAX),
            stopped: summary.counted(Count::Stops) as f64 / summary.runs.max(1) as f64,
            ranges: Vec::new(),
        });
    }
    Some(text)
}

/// What to do with settings of a framework; nothing if they are those it ships.
fn settings_note(shipped: &Shippable, out: Option<&Path>) -> Option<String> {
    let settings = shipped.settings.as_ref().filter(|settings| !settings.set.is_empty())?;
    let mut note = format!("set {} in {}", settings.set, settings.framework);
    if let Some(out) = out.filter(|_| settings.is_exported) {
        let file = out.join(format!("{TUNED}.toml"));
        let _ = write!(
            note,
            "; `whenstop export {} --to {}` writes it as it is read there",
            shell_path(&file),
            settings.framework
        );
    }
    Some(note)
}

/// Compares the stacks, shows them, and writes the one to ship.
pub(super) fn decide(args: &Args, own: &OwnStacks, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let format = args.format.table_format().ok_or_else(|| nothing_today(args.asked_with()))?;
    if let (Some(shard), Some(out)) = (args.shard, &args.out) {
        return run_shard(shard, out, output, |extent| write_own_stacks(args, own, extent, out, output));
    }
    if let Some(by) = args.walk_forward {
        return super::forward::run_compared(args, by, &compared(args, own, output)?, output);
    }
    Ok(answered(args, own, format, output)?.1)
}

fn compared(args: &Args, own: &OwnStacks, output: &Output) -> Result<Published, CommandFailure> {
    let runs = args.corpus.runs().with_told_limits();
    compare::published(&own.question(args), &runs, &own.stacks, output)
}

/// Compares the stacks, shows them, writes the one to ship, and returns the answer as values.
pub(super) fn answered(
    args: &Args,
    own: &OwnStacks,
    format: TableFormat,
    output: &Output,
) -> Result<(TuneResult, ProgramExit), CommandFailure> {
    let (published, out) = (compared(args, own, output)?, args.out.as_deref());
    Decided::new(&published.publication, &published.agents, &own.shippable, out).answer(format, out, output)
}

/// Compares the user's own stacks on one part of the runs and writes it. Returns the number of its runs.
pub(super) fn write_own_stacks(
    args: &Args,
    own: &OwnStacks,
    extent: &ShardScope,
    out: &Path,
    output: &Output,
) -> Result<u64, CommandFailure> {
    let runs = args.corpus.runs().with_told_limits();
    let question = &own.question(args);
    let part = ComparedPart { question, stacks: &own.stacks, shippable: Some(&own.shippable) };
    write_comparison(&part, &runs, extent, out, output)
}

/// The answer of the comparison whose parts these are.
pub(super) fn answered_parts(
    merge: &Merge,
    shippable: &[Shippable],
    format: TableFormat,
    out: Option<&Path>,
    output: &Output,
) -> Result<(TuneResult, ProgramExit), CommandFailure> {
    let Some((evidence, manifest)) = merge.evidence().map_err(CommandFailure::input)? else {
        return Err(CommandFailure::nothing("the parts hold no run", "compare recordings that have some"));
    };
    let publication = Publication::new(evidence, manifest);
    Decided::new(&publication, &merge.agents(), shippable, out).answer(format, out, output)
}
