//! Stacks and settings of the user's own: which of them to ship, decided as `compare` decides it. They can be compared in
//! parts, as `compare` does it.

use std::path::Path;

use super::{Args, Shown, limits};
use crate::aggregate::Summary;
use crate::cli::Exit;
use crate::cli::compare::shard::{Part, run_part};
use crate::cli::compare::{self, CompareQuestion, Published};
use crate::cli::failure::Failure;
use crate::cli::inputs::LoadedStacks;
use crate::cli::output::{Format, Output};
use crate::compare::Keeps;
use crate::report::figure::{DetectorFigure, save};
use crate::report::{FolderFormat, write_atomically};
use crate::verdict::Assumptions;

/// What comes of the one to ship.
pub(super) struct ToShip {
    /// The text of `tuned.toml`.
    pub(super) file: Option<String>,
    /// What to do with it.
    pub(super) note: Option<String>,
}

/// Compares `stacks`, shows them, and writes the one to ship, which `ship` words. `today` is the one that runs today.
pub(super) fn decide(
    args: &Args,
    stacks: LoadedStacks,
    today: Option<&str>,
    output: &Output,
    ship: impl Fn(&Summary, &Published) -> ToShip,
) -> Result<Exit, Failure> {
    let format = args.format.of_table().ok_or_else(|| Shown::nothing_today(args.asked_with()))?;
    let question = CompareQuestion {
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
    };
    let runs = args.corpus.runs().with_told_limits();
    if let (Some(shard), Some(out)) = (args.shard, &args.out) {
        let part = Part { question, stacks, unit: args.corpus.unit, embed_text: args.embed_text };
        return run_part(&part, &runs, shard, out, output);
    }
    let published = compare::published(&question, &runs, &stacks, output)?;
    if let Some(by) = args.walk_forward {
        return super::forward::run_compared(args, by, &published, output);
    }
    let summaries = published.publication.summaries();
    let shipped = published.publication.first(&summaries).ship();
    let to_ship = shipped.map(|summary| ship(summary, &published));
    let detectors = limits::detectors(&published.publication, &summaries);
    if let Some(out) = &args.out {
        let tuned = to_ship.as_ref().and_then(|to_ship| to_ship.file.as_ref());
        let figure = DetectorFigure {
            ship: detectors.iter().position(|detector| shipped.is_some_and(|shipped| shipped.stack == detector.stack)),
            detectors: detectors.clone(),
            subtitle: published.publication.headline_words(),
        };
        let write_own = |folder: &Path| {
            if let Some(text) = tuned {
                write_atomically(&folder.join("tuned.toml"), |file| file.write_all(text.as_bytes()))?;
            }
            if !figure.detectors.is_empty() {
                save(&figure, folder, "detector")?;
            }
            Ok(())
        };
        let format = FolderFormat { csv: output.csv_style(), ..FolderFormat::default() };
        published.publication.write_with(&summaries, out, format, write_own).map_err(Failure::input)?;
    }
    compare::show_summaries(&published.publication, &summaries, format, output)?;
    if format == Format::Table {
        limits::show_detectors(&detectors, &published.publication, &summaries, output)?;
    }
    if let Some(note) = to_ship.as_ref().and_then(|to_ship| to_ship.note.as_ref()) {
        output.note(note);
    }
    if let Some(out) = &args.out {
        output.wrote_page(out);
    }
    Ok(if to_ship.is_some() { Exit::Done } else { Exit::GateFailed })
}
