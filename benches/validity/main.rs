//! The validity simulation: draws corpora of known truth, and counts how often what the tool prints is right.
//!
//! `cargo bench --bench validity [-- FOLDER]` writes `results.csv`, `outside.csv`, `summary.csv` and `power.csv`
//! into FOLDER (default `target/validity`). Everything is seeded: the same code writes the same bytes.
//!
//! `cargo bench --bench validity -- --quick` draws a few corpora of the hardest cells, writes nothing, and fails if a printed number
//! misses its target by more than chance allows; with `--only`, of some experiments.
//!
//! `cargo bench --bench validity -- --only limit,worth [FOLDER]` prints the cells of some experiments, and writes them into FOLDER;
//! `--only worlds` those of the worlds at one shape.
#![expect(clippy::print_stdout, reason = "a bench says where it wrote its results")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

mod cells;
mod power;
mod study;
mod tables;
mod targets;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cells::{Job, is_wanted, jobs};
use power::{Power, power};
use rayon::prelude::*;
use study::{Row, summary};
use tables::{write_power, write_results, write_summary};
use targets::{side, target};

/// How many of the slowest cells the quick form names: it should stay below half a minute.
const SLOWEST: usize = 12;

/// Fails if a cell of a printed number lies outside its target on the rough side, further than four Monte-Carlo errors and a point.
fn quick(wanted: &str) -> Result<(), Box<dyn Error>> {
    let timed = |(name, draw): Job| {
        let began = Instant::now();
        let rows = draw();
        (began.elapsed(), name, rows)
    };
    let mut drawn: Vec<(Duration, &str, Vec<Row>)> =
        jobs(true).into_par_iter().filter(|(name, _)| is_wanted(wanted, name)).map(timed).collect();
    let rows: Vec<Row> = drawn.iter_mut().flat_map(|(_, _, rows)| std::mem::take(rows)).collect();
    let mut misses = Vec::new();
    for row in &rows {
        let (Some((_, _, _, low, high)), Some(share), Some(error)) = (target(row), row.share(), row.error()) else {
            continue;
        };
        let slack = 4.0 * error.max((0.05 * 0.95 / row.answered as f64).sqrt()) + 0.01;
        let slack = if (low, high) == (&0.0, &0.0) || (low, high) == (&1.0, &1.0) { 0.0 } else { slack };
        let is_rough = if *low >= 0.5 { share < low - slack } else { share > high + slack };
        if is_rough {
            misses.push(format!(
                "{} {} {}: {share:.3}, wanted {low} to {high} in {:?}",
                row.experiment, row.method, row.measure, row.corpus
            ));
        }
    }
    println!("{} cells, {} outside", rows.len(), misses.len());
    drawn.sort_unstable_by_key(|(took, ..)| std::cmp::Reverse(*took));
    let slowest = drawn.iter().take(SLOWEST).map(|(took, name, _)| format!("{name} {:.1} s", took.as_secs_f64()));
    println!("slowest: {}", slowest.collect::<Vec<_>>().join(", "));
    if misses.is_empty() { Ok(()) } else { Err(misses.join("\n").into()) }
}

/// Prints the cells of some experiments (`worlds`: those at one shape each), and writes them into a folder if there is one.
fn only(wanted: &str, folder: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let jobs: Vec<Job> = jobs(false).into_iter().filter(|(name, _)| is_wanted(wanted, name)).collect();
    let rows: Vec<Row> = jobs.into_par_iter().flat_map_iter(|(_, draw)| draw()).collect();
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)?;
        let sided: Vec<(&Row, &str)> = rows.iter().map(|row| (row, side(row))).collect();
        write_results(&sided, &folder.join("results.csv"))?;
    }
    for row in &rows {
        let corpus = row.corpus;
        println!(
            "{} {} {} tasks {} icc {} effect {}: {:.3} of {} {} {}",
            row.experiment,
            row.method,
            row.measure,
            corpus.tasks,
            corpus.icc,
            corpus.effect,
            row.share().unwrap_or(f64::NAN),
            row.answered,
            widths(row),
            side(row)
        );
    }
    Ok(())
}

/// How wide the intervals are, and how wide 95 % of the estimates lie.
fn widths(row: &Row) -> String {
    match (row.width, row.repeated) {
        (Some(width), Some(repeated)) => format!("width {width:.4}, {:.2} of repetition", width / repeated),
        (Some(width), None) => format!("width {width:.4}"),
        (None, _) => String::new(),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let at = arguments.iter().position(|argument| argument == "--only");
    let wanted = at.and_then(|at| arguments.get(at + 1)).map_or("", String::as_str);
    if arguments.iter().any(|argument| argument == "--quick") {
        return quick(wanted);
    }
    if let Some(at) = at {
        let folder = arguments.get(at + 2).filter(|folder| !folder.starts_with('-')).map(PathBuf::from);
        return only(wanted, folder.as_deref());
    }
    let folder = arguments.iter().find(|arg| !arg.starts_with('-'));
    let folder = folder.map_or_else(|| PathBuf::from("target/validity"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let rows: Vec<Row> = jobs(false).into_par_iter().flat_map_iter(|(_, draw)| draw()).collect();
    let cells: Vec<(u64, f64)> =
        [1, 4, 8].into_iter().flat_map(|runs| [0.0, 0.01, 0.02].map(|rate| (runs, rate))).collect();
    let powers: Vec<Power> = cells.into_par_iter().flat_map_iter(|(runs, rate)| power(runs, rate, 300)).collect();
    write_power(&powers, &folder.join("power.csv"))?;
    let mut sided: Vec<(&Row, &str)> = rows.iter().map(|row| (row, side(row))).collect();
    write_results(&sided, &folder.join("results.csv"))?;
    sided.retain(|(_, side)| !side.is_empty());
    write_results(&sided, &folder.join("outside.csv"))?;
    write_summary(&summary::lines(&rows), &folder.join("summary.csv"))?;
    println!(
        "{} cells, {} corpora: see {}",
        rows.len(),
        rows.iter().map(|row| row.drawn).sum::<u64>(),
        folder.display()
    );
    Ok(())
}
