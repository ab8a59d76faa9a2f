//! The validity simulation: draws corpora of known truth, and counts how often what the tool prints is right.
//!
//! `cargo bench --bench validity [-- FOLDER]` writes `results.csv`, `outside.csv`, `summary.csv`, `validity.png` and `validity.svg` into
//! FOLDER (default `target/validity`). Everything is seeded: the same code writes the same bytes. A bounded
//! version of the same study is part of the tests.
#![expect(clippy::print_stdout, reason = "a bench says where it wrote its results")]

mod figure;
mod study;

use std::error::Error;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use study::{Corpus, Row, bounds, certificates, intervals, summary, sweeps, tests};

const TASKS: [usize; 7] = [8, 12, 20, 30, 50, 100, 200];
/// Runs per task: one; always five; one to six.
const SHAPES: [(u64, bool); 3] = [(1, true), (5, true), (6, false)];
const CORRELATIONS: [f64; 3] = [0.0, 0.3, 0.7];

type Experiment = fn(Corpus) -> Vec<Row>;

/// Every experiment with the effect sizes it is run at.
const EXPERIMENTS: [(Experiment, &[f64]); 12] = [
    (|corpus| intervals::rate(corpus, 2000, 200), &[0.02, 0.05, 0.1, 0.3, 0.5]),
    (|corpus| intervals::stops(corpus, 2000, 200), &[0.05, 0.1, 0.3, 0.5]),
    (|corpus| intervals::tokens(corpus, 2000, 200), &[0.05, 0.1, 0.3, 0.5]),
    (|corpus| intervals::free_ratios(corpus, 2000), &[0.1, 0.3, 0.5]),
    (|corpus| intervals::budget(corpus, 500, 200), &[0.3, 1.0]),
    (|corpus| intervals::labels(corpus, 2000), &[0.3, 0.6]),
    (|corpus| tests::yes_no(corpus, 2000), &[0.05, 0.1, 0.3, 0.5]),
    (|corpus| tests::costs(corpus, 2000, 0), &[0.1, 0.3, 0.5]),
    (|corpus| sweeps::rates(corpus, 500, 400, false), &[0.05, 0.2]),
    (|corpus| sweeps::rates(corpus, 500, 400, true), &[0.05, 0.2]),
    (|corpus| certificates::walk(corpus, 2000), &[0.05, 0.1, 0.2]),
    (|corpus| bounds::outcomes(corpus, 1000), &[0.1, 0.3]),
];

/// Experiment, method, measure, and the range its share should lie in.
type Target = (&'static str, &'static str, &'static str, f64, f64);

/// What each printed number promises.
const TARGETS: [Target; 16] = [
    ("rate", "printed", "coverage", 0.93, 0.97),
    ("stops", "printed", "coverage", 0.93, 0.97),
    ("tokens", "printed", "coverage", 0.93, 0.97),
    ("free-ratios", "after-rework", "coverage", 0.93, 0.97),
    ("free-ratios", "per-success", "coverage", 0.93, 0.97),
    ("budget-curve", "printed", "coverage", 0.93, 0.97),
    ("labels", "printed", "coverage", 0.93, 0.97),
    ("paired-yes-no", "printed", "type-I", 0.04, 0.06),
    ("paired-costs", "printed", "type-I", 0.04, 0.06),
    ("paired-costs", "printed", "coverage", 0.93, 0.97),
    ("sweep-all-alike", "printed", "family-wise", 0.0, 0.05),
    ("sweep-half-differ", "printed", "family-wise", 0.0, 0.05),
    ("certificate", "exact-binomial", "violated", 0.0, 0.1),
    ("certificate", "hoeffding-bentkus", "violated", 0.0, 0.1),
    ("bounds", "bounds", "sample-within", 1.0, 1.0),
    ("bounds", "difference-bounds", "sample-within", 1.0, 1.0),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let folder = folder.map_or_else(|| PathBuf::from("target/validity"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let mut jobs: Vec<(Experiment, Corpus)> = Vec::new();
    for (experiment, effects) in EXPERIMENTS {
        for tasks in TASKS {
            for (trials, even) in SHAPES {
                // With one run per task there is nothing to correlate.
                for icc in CORRELATIONS.into_iter().filter(|icc| trials > 1 || *icc == 0.0) {
                    jobs.extend(
                        effects.iter().map(|effect| (experiment, Corpus { tasks, trials, even, icc, effect: *effect })),
                    );
                }
            }
        }
    }
    let rows: Vec<Row> = jobs.into_par_iter().flat_map_iter(|(experiment, corpus)| experiment(corpus)).collect();
    let mut sided: Vec<(&Row, &str)> = rows.iter().map(|row| (row, side(row))).collect();
    write_results(&sided, &folder.join("results.csv"))?;
    sided.retain(|(_, side)| !side.is_empty());
    write_results(&sided, &folder.join("outside.csv"))?;
    let lines = summary::lines(&rows);
    write_summary(&lines, &folder.join("summary.csv"))?;
    figure::draw(&lines, &folder)?;
    println!(
        "{} cells, {} corpora: see {}",
        rows.len(),
        rows.iter().map(|row| row.drawn).sum::<u64>(),
        folder.display()
    );
    Ok(())
}

/// For a cell outside its target by more than two Monte-Carlo errors, whether the number errs on the safe side; else empty.
fn side(row: &Row) -> &'static str {
    let is_of = |target: &&Target| (target.0, target.1, target.2) == (row.experiment, row.method.as_str(), row.measure);
    let (Some((_, _, _, low, high)), Some(share), Some(error)) =
        (TARGETS.iter().find(is_of), row.share().filter(|_| row.answered >= 100), row.error())
    else {
        return "";
    };
    // A coverage errs on the safe side upwards, an error rate downwards.
    let (below, above) = if *low >= 0.5 { ("rough", "safe") } else { ("safe", "rough") };
    match share {
        share if share < low - 2.0 * error => below,
        share if share > high + 2.0 * error => above,
        _ => "",
    }
}

fn write_results(rows: &[(&Row, &str)], path: &Path) -> Result<(), Box<dyn Error>> {
    let mut csv = csv::Writer::from_path(path)?;
    csv.write_record([
        "experiment",
        "method",
        "measure",
        "tasks",
        "trials",
        "even",
        "icc",
        "effect",
        "share",
        "monte_carlo_error",
        "events",
        "answered",
        "drawn",
        "side",
    ])?;
    for (row, side) in rows {
        let digits = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:.4}"));
        let corpus = row.corpus;
        csv.write_record([
            row.experiment.to_owned(),
            row.method.clone(),
            row.measure.to_owned(),
            corpus.tasks.to_string(),
            corpus.trials.to_string(),
            corpus.even.to_string(),
            corpus.icc.to_string(),
            corpus.effect.to_string(),
            digits(row.share()),
            digits(row.error()),
            row.events.to_string(),
            row.answered.to_string(),
            row.drawn.to_string(),
            (*side).to_owned(),
        ])?;
    }
    csv.flush()?;
    Ok(())
}

fn write_summary(lines: &[summary::Line], path: &Path) -> Result<(), Box<dyn Error>> {
    let mut csv = csv::Writer::from_path(path)?;
    csv.write_record([
        "experiment",
        "measure",
        "method",
        "tasks",
        "cells",
        "share",
        "monte_carlo_error",
        "lowest_cell",
        "highest_cell",
        "answered",
    ])?;
    for line in lines {
        csv.write_record([
            line.experiment.to_owned(),
            line.measure.to_owned(),
            line.method.clone(),
            line.tasks.to_string(),
            line.cells.to_string(),
            format!("{:.4}", line.share),
            format!("{:.4}", line.error),
            format!("{:.4}", line.lowest),
            format!("{:.4}", line.highest),
            format!("{:.3}", line.answered),
        ])?;
    }
    csv.flush()?;
    Ok(())
}
