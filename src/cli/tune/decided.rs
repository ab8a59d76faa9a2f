//! Stacks and settings of the user's own: which of them to ship, decided as `compare` decides it. They can be compared in
//! parts, as `compare` does it.

use std::path::Path;

use super::{Answered, Args, limits, nothing_today};
use crate::aggregate::{Detector, Summary};
use crate::answers::words;
use crate::cli::Exit;
use crate::cli::compare::shard::{Part, run_part};
use crate::cli::compare::{self, CompareQuestion, Published};
use crate::cli::failure::Failure;
use crate::cli::inputs::LoadedStacks;
use crate::cli::output::{Format, Output};
use crate::compare::Keeps;
use crate::report::figure::{DetectorFigure, save};
use crate::report::{FolderFormat, Publication, write_atomically};
use crate::verdict::Assumptions;

/// What comes of the one to ship.
pub(super) struct ToShip {
    /// The text of `tuned.toml`.
    pub(super) file: Option<String>,
    /// What to do with it.
    pub(super) note: Option<String>,
}

/// What was compared, and what comes of it.
struct Decided<'p> {
    publication: &'p Publication,
    summaries: Vec<Summary>,
    to_ship: Option<ToShip>,
    detectors: Vec<Detector>,
}

impl<'p> Decided<'p> {
    fn new(published: &'p Published, ship: impl Fn(&Summary, &Published) -> ToShip) -> Self {
        let publication = &published.publication;
        let summaries = publication.summaries();
        let to_ship = publication.first(&summaries).ship().map(|summary| ship(summary, published));
        let detectors = limits::detectors(publication, &summaries);
        Self { publication, summaries, to_ship, detectors }
    }

    /// The text of `tuned.toml`.
    fn file(&self) -> Option<&str> {
        self.to_ship.as_ref()?.file.as_deref()
    }

    fn write(&self, out: &Path, output: &Output) -> Result<(), Failure> {
        let shipped = self.publication.first(&self.summaries).ship();
        let figure = DetectorFigure {
            ship: self
                .detectors
                .iter()
                .position(|detector| shipped.is_some_and(|shipped| shipped.stack == detector.stack)),
            detectors: self.detectors.clone(),
            subtitle: self.publication.headline_words(),
        };
        let write_own = |folder: &Path| {
            if let Some(text) = self.file() {
                write_atomically(&folder.join("tuned.toml"), |file| file.write_all(text.as_bytes()))?;
            }
            if !figure.detectors.is_empty() {
                save(&figure, folder, "detector")?;
            }
            Ok(())
        };
        let format = FolderFormat { csv: output.csv_style(), ..FolderFormat::default() };
        self.publication.write_with(&self.summaries, out, format, write_own).map_err(Failure::input)
    }

    fn show(&self, format: Format, output: &Output) -> Result<(), Failure> {
        compare::show_summaries(self.publication, &self.summaries, format, output)?;
        if format == Format::Table {
            limits::show_detectors(&self.detectors, self.publication, &self.summaries, output)?;
        }
        if let Some(note) = self.to_ship.as_ref().and_then(|to_ship| to_ship.note.as_ref()) {
            output.note(note);
        }
        Ok(())
    }

    /// The answer as values.
    fn values(&self) -> Answered {
        let answer = self.publication.answer(&self.summaries);
        let mut notes = words::notes(&answer.notes);
        notes.extend(self.to_ship.as_ref().and_then(|to_ship| to_ship.note.clone()));
        Answered {
            verdict: words::verdict(&answer.verdict),
            recordings: words::headline(answer.headline.as_ref()),
            table: answer.table.unwrap_or_default(),
            strata: None,
            detectors: limits::detector_table(&self.detectors, self.publication, &self.summaries),
            notes,
            stack: self.file().map(str::to_owned),
            certificate: compare::json(self.publication, &self.summaries),
        }
    }
}

fn question<'a>(args: &'a Args, today: Option<&'a str>) -> CompareQuestion<'a> {
    CompareQuestion {
        appetite: args.promise.appetite(),
        failure_rate: None,
        baseline: today,
        keeps: Keeps::default(),
        assumptions: Assumptions::default(),
        split: &args.own.split,
        errors: args.own.label_errors(),
        proxies: args.corpus.reading.outcome_from.as_ref().map(ToString::to_string),
        texts: args.out.as_ref().map(|_| args.embed_text.texts()),
        made: None,
    }
}

/// Compares `stacks`, shows them, and writes the one to ship, which `ship` words. `today` is the one that runs today.
pub(super) fn decide(
    args: &Args,
    stacks: LoadedStacks,
    today: Option<&str>,
    output: &Output,
    ship: impl Fn(&Summary, &Published) -> ToShip,
) -> Result<Exit, Failure> {
    let format = args.format.of_table().ok_or_else(|| nothing_today(args.asked_with()))?;
    let question = question(args, today);
    let runs = args.corpus.runs().with_told_limits();
    if let (Some(shard), Some(out)) = (args.shard, &args.out) {
        let part = Part { question, stacks, unit: args.corpus.unit, embed_text: args.embed_text };
        return run_part(&part, &runs, shard, out, output);
    }
    let published = compare::published(&question, &runs, &stacks, output)?;
    if let Some(by) = args.walk_forward {
        return super::forward::run_compared(args, by, &published, output);
    }
    let decided = Decided::new(&published, ship);
    if let Some(out) = &args.out {
        decided.write(out, output)?;
    }
    decided.show(format, output)?;
    if let Some(out) = &args.out {
        output.wrote_page(out);
    }
    Ok(if decided.to_ship.is_some() { Exit::Done } else { Exit::GateFailed })
}

/// The same as values, for a program that embeds whenstop.
pub(super) fn answered(
    args: &Args,
    stacks: &LoadedStacks,
    output: &Output,
    ship: impl Fn(&Summary, &Published) -> ToShip,
) -> Result<Answered, Failure> {
    let runs = args.corpus.runs().with_told_limits();
    let published = compare::published(&question(args, None), &runs, stacks, output)?;
    let decided = Decided::new(&published, ship);
    if let Some(out) = &args.out {
        decided.write(out, output)?;
    }
    Ok(decided.values())
}
