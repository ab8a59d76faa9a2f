//! The validity simulation: draws corpora of known truth, and counts how often what the tool prints is right.
//!
//! `cargo bench --bench validity [-- FOLDER]` writes `results.csv`, `outside.csv`, `summary.csv`, `power.csv`, `validity.png` and
//! `validity.svg` into FOLDER (default `target/validity`). Everything is seeded: the same code writes the same bytes.
//!
//! `cargo bench --bench validity -- --quick` draws a few corpora of the hardest cells, writes nothing, and fails if a printed number
//! misses its target by more than chance allows; with `--only`, of some experiments.
//!
//! `cargo bench --bench validity -- --only limit,worth [FOLDER]` prints the cells of some experiments, and writes them into FOLDER;
//! `--only worlds` those of the worlds at one shape.
#![expect(clippy::print_stdout, reason = "a bench says where it wrote its results")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

mod figure;
mod power;
mod study;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use power::{Power, power};
use rayon::prelude::*;
use study::worlds::{self, Sizes};
use study::{
    Corpus, Row, bounds, certificates, chosen, intervals, seldom, small, spent, summary, sweeps, tests, tuning,
    unknowns,
};

const TASKS: [usize; 7] = [8, 12, 20, 30, 50, 100, 200];
/// Runs per task: one; always five; one to six.
const SHAPES: [(u64, bool); 3] = [(1, true), (5, true), (6, false)];
const CORRELATIONS: [f64; 3] = [0.0, 0.3, 0.7];

/// A name and what it runs.
type Experiment = (&'static str, fn(Corpus) -> Vec<Row>, &'static [f64]);

/// Every experiment with the effect sizes it is run at.
const EXPERIMENTS: [Experiment; 12] = [
    ("intervals-rate", |corpus| intervals::rate(corpus, 2000, 200), &[0.02, 0.05, 0.1, 0.3, 0.5]),
    ("intervals-stops", |corpus| intervals::stops(corpus, 2000, 200), &[0.05, 0.1, 0.3, 0.5]),
    ("intervals-tokens", |corpus| intervals::tokens(corpus, 2000, 200), &[0.05, 0.1, 0.3, 0.5]),
    ("intervals-free-ratios", |corpus| intervals::free_ratios(corpus, 2000), &[0.1, 0.3, 0.5]),
    ("intervals-budget", |corpus| intervals::budget(corpus, 200), &[0.3, 1.0]),
    ("intervals-labels", |corpus| intervals::labels(corpus, 2000), &[0.3, 0.6]),
    ("tests-yes-no", |corpus| tests::yes_no(corpus, 2000), &[0.05, 0.1, 0.3, 0.5]),
    ("tests-costs", |corpus| tests::costs(corpus, 2000, 0), &[0.1, 0.3, 0.5]),
    ("sweeps-rates", |corpus| sweeps::rates(corpus, 200, 400, false), &[0.05, 0.2]),
    ("sweeps-rates", |corpus| sweeps::rates(corpus, 200, 400, true), &[0.05, 0.2]),
    ("certificates-walk", |corpus| certificates::walk(corpus, 2000), &[0.05, 0.1, 0.2]),
    ("bounds-outcomes", |corpus| bounds::outcomes(corpus, 400), &[0.1, 0.3]),
];

/// The worlds: every experiment with the effect sizes and corpora it is run at.
type World = (&'static str, fn(Corpus, u64) -> Vec<Row>, &'static [f64], u64);
type SizedWorld = (&'static str, fn(Sizes, Corpus, u64) -> Vec<Row>, &'static [f64], u64);

/// Worlds with tasks of unequal size.
const SIZED: [SizedWorld; 6] = [
    ("rate", worlds::rate, &[0.05, 0.3], 1000),
    ("difference", worlds::difference, &[0.05, 0.3], 1000),
    ("budget", worlds::budget, &[0.3], 300),
    ("costs", worlds::costs, &[0.7, 1.2, 1.6], 1000),
    ("limit", worlds::limit, &[0.02, 0.05, 0.2], 1000),
    ("alike", worlds::alike, &[8.0, 30.0], 200),
];

/// Worlds of other kinds.
const WORLDS: [World; 7] = [
    ("checked-labels", worlds::checked_labels, &[0.05, 0.1, 0.2], 1000),
    ("judged-certificate", worlds::judged_certificate, &[0.05, 0.1, 0.2], 1000),
    ("given-up", worlds::given_up, &[0.3, 0.8], 500),
    ("missing-labels", worlds::missing_labels, &[0.3], 1000),
    ("worth", worlds::worth, &[0.1, 0.3], 1000),
    ("sparse-checkpoints", worlds::sparse_checkpoints, &[0.3], 1000),
    ("seldom", seldom::alike, &[0.02, 0.05, 0.1, 0.2], 1000),
];

/// A world at one shape: so many tasks with so many runs each (or one to so many), at an effect; on how many corpora, and
/// on how many by `--quick`.
struct Placed(&'static str, fn(Corpus, u64) -> Vec<Row>, (usize, u64, bool), f64, (u64, u64));

const PLACED: [Placed; 23] = [
    Placed("recorders", tuning::recorders, (140, 4, true), 0.05, (400, 1)),
    Placed("unnamed", tuning::unnamed, (40, 6, true), 0.1, (400, 3)),
    Placed("models", tuning::models, (80, 4, true), 0.1, (200, 0)),
    Placed("unlike", tuning::unlike, (70, 4, true), 0.1, (200, 2)),
    Placed("unlike-gaffke", tuning::unlike_gaffke, (70, 4, true), 0.1, (200, 0)),
    Placed("gridded", tuning::gridded, (160, 3, true), 0.1, (200, 0)),
    Placed("listed", tuning::listed, (330, 3, true), 0.1, (200, 0)),
    Placed("cost-unseen", spent::unseen, (40, 1, true), 0.02, (1000, 60)),
    Placed("cost-unlike", spent::unlike, (60, 50, false), 20.0, (2000, 0)),
    Placed("cost-unlike", spent::unlike, (60, 50, false), 2.0, (1000, 0)),
    Placed("cost-unlike", spent::unlike, (200, 50, false), 20.0, (1000, 0)),
    Placed("cost-unlike", spent::unlike, (60, 4, true), 20.0, (1000, 0)),
    Placed("cost-unlike", spent::unlike, (60, 4, true), 2.0, (1000, 0)),
    Placed("best-of-many", chosen::best_of_many, (100, 3, true), 0.055, (400, 2)),
    Placed("labels-misstated", unknowns::misstated, (60, 5, true), 0.05, (400, 10)),
    Placed("labels-misstated", unknowns::misstated, (60, 5, true), -0.05, (400, 0)),
    Placed("labels-unseen", unknowns::unseen, (60, 4, true), 0.02, (400, 20)),
    Placed("labels-unseen", unknowns::unseen, (60, 4, true), 0.05, (400, 0)),
    Placed("refused", small::refused, (0, 0, true), 0.05, (400, 50)),
    Placed("giant-session", small::giant_session, (20, 10, false), 0.2, (400, 20)),
    Placed("budget-two-caps", unknowns::two_caps, (60, 4, true), 0.2, (1000, 40)),
    Placed("keeps", unknowns::kept_work, (60, 4, true), 0.0, (400, 15)),
    Placed("keeps", unknowns::kept_work, (60, 4, true), 0.5, (400, 0)),
];

/// Experiment (a `*` at its end stands for anything), method, measure, and the range its share should lie in.
type Target = (&'static str, &'static str, &'static str, f64, f64);

/// What each printed number promises.
const TARGETS: &[Target] = &[
    ("unnamed", "catalogue", "certified", 0.0, 0.0),
    ("recorders", "catalogue", "as-counted", 1.0, 1.0),
    ("unlike", "catalogue", "contains-own", 1.0, 1.0),
    ("best-of-many", "printed", "allows-for-all", 1.0, 1.0),
    ("labels-misstated", "printed", "says-more", 1.0, 1.0),
    ("labels-unseen", "printed", "leaves-room", 1.0, 1.0),
    ("cost-unseen", "printed", "coverage", 0.93, 1.0),
    ("recorders", "catalogue", "broken", 0.0, 0.1),
    ("unnamed", "catalogue", "broken", 0.0, 0.1),
    ("models", "catalogue", "broken", 0.0, 0.1),
    ("models", "catalogue", "killed", 0.93, 1.0),
    ("models", "catalogue", "saved", 0.93, 1.0),
    ("unlike", "catalogue", "broken", 0.0, 0.1),
    ("unlike", "catalogue", "killed", 0.93, 1.0),
    ("unlike", "catalogue", "saved", 0.93, 1.0),
    ("unlike-gaffke", "catalogue", "broken", 0.0, 0.1),
    ("unlike-gaffke", "catalogue", "killed", 0.93, 1.0),
    ("unlike-gaffke", "catalogue", "saved", 0.93, 1.0),
    ("gridded", "grid", "broken", 0.0, 0.1),
    ("gridded", "grid", "killed", 0.93, 1.0),
    ("gridded", "grid", "saved", 0.93, 1.0),
    ("listed", "list", "broken", 0.0, 0.1),
    ("listed", "list", "killed", 0.93, 1.0),
    ("listed", "list", "saved", 0.93, 1.0),
    ("cost-unlike", "printed", "coverage", 0.93, 0.98),
    ("cost-unlike", "printed", "disagree", 0.0, 0.0),
    ("best-of-many", "printed", "false", 0.0, 0.025),
    ("labels-misstated", "printed", "truth-within", 0.95, 1.0),
    ("labels-unseen", "printed", "coverage", 0.93, 1.0),
    ("refused", "printed", "as-many-missing", 1.0, 1.0),
    ("giant-session", "printed", "rough", 1.0, 1.0),
    ("budget-two-caps", "printed", "truth-within", 0.95, 1.0),
    ("keeps", "printed", "truth-within", 0.95, 1.0),
    ("rate", "printed", "coverage", 0.93, 0.98),
    ("stops", "printed", "coverage", 0.93, 0.98),
    ("tokens", "printed", "coverage", 0.93, 0.98),
    ("free-ratios", "after-rework", "coverage", 0.93, 0.98),
    ("free-ratios", "per-success", "coverage", 0.93, 0.98),
    ("budget-curve", "printed", "coverage", 0.93, 0.98),
    ("labels", "printed", "coverage", 0.93, 0.98),
    ("paired-yes-no", "printed", "type-I", 0.02, 0.06),
    ("paired-costs", "printed", "type-I", 0.02, 0.06),
    ("paired-costs", "printed", "coverage", 0.93, 0.98),
    ("sweep-all-alike", "printed", "family-wise", 0.0, 0.06),
    ("sweep-half-differ", "printed", "family-wise", 0.0, 0.06),
    ("certificate", "exact-binomial", "violated", 0.0, 0.1),
    ("certificate", "gaffke", "violated", 0.0, 0.1),
    ("certificate", "betting", "violated", 0.0, 0.1),
    ("bounds", "bounds", "sample-within", 1.0, 1.0),
    ("bounds", "difference-bounds", "sample-within", 1.0, 1.0),
    ("rate-*", "printed", "coverage", 0.93, 0.98),
    ("difference-*", "printed", "coverage", 0.93, 0.98),
    ("difference-*", "printed", "disagree", 0.0, 0.0),
    ("budget-giant", "printed", "coverage", 0.93, 0.98),
    ("budget-two-giants", "printed", "coverage", 0.93, 0.98),
    ("budget-zipf", "printed", "coverage", 0.93, 0.98),
    ("budget-1-30", "printed", "coverage", 0.93, 0.98),
    ("cost-*", "printed", "coverage", 0.93, 0.98),
    ("cost-*", "printed", "disagree", 0.0, 0.0),
    ("saved-*", "printed", "coverage", 0.93, 0.98),
    ("saved-*", "printed", "disagree", 0.0, 0.0),
    ("alike-*", "printed", "family-wise-kills", 0.0, 0.06),
    ("alike-*", "printed", "family-wise-savings", 0.0, 0.06),
    ("alike-*", "printed", "any-beaten", 0.0, 0.06),
    ("limit-*", "printed", "coverage", 0.93, 0.98),
    ("limit-*", "printed-not-rough", "coverage", 0.93, 0.98),
    ("limit-*", "printed", "difference-coverage", 0.93, 0.98),
    ("limit-*", "printed", "disagree", 0.0, 0.0),
    ("labels-checked", "printed", "coverage", 0.93, 0.98),
    ("certificate-judge", "printed", "violated", 0.0, 0.1),
    ("budget-given-up", "printed", "truth-within", 0.95, 1.0),
    ("seldom-and-much", "printed", "coverage", 0.93, 0.98),
    ("seldom-and-much", "printed", "difference-coverage", 0.93, 0.98),
    ("seldom-and-much", "printed", "disagree", 0.0, 0.0),
    ("seldom-and-much", "printed", "family-wise", 0.0, 0.06),
    ("worth", "printed", "coverage", 0.93, 0.98),
    ("worth", "printed", "break-even-coverage", 0.93, 0.98),
    ("bounds-sparse-checkpoints", "bounds", "sample-within", 1.0, 1.0),
    ("bounds-sparse-checkpoints", "printed", "truth-within", 0.95, 1.0),
];

/// A cell of the study, ready to run: of which experiment, and how.
type Job = (&'static str, Box<dyn Fn() -> Vec<Row> + Send + Sync>);

/// At most so many corpora of a cell are drawn by `--quick`.
const FEW: u64 = 100;

/// The regular corpora, then the worlds. `quick`: few cells and few corpora.
fn jobs(quick: bool) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let corpora = |n: u64| if quick { n.min(FEW) } else { n };
    if !quick {
        for (name, experiment, effects) in EXPERIMENTS {
            for tasks in TASKS {
                for (trials, even) in SHAPES {
                    // With one run per task there is nothing to correlate.
                    for icc in CORRELATIONS.into_iter().filter(|icc| trials > 1 || *icc == 0.0) {
                        jobs.extend(effects.iter().map(|&effect| -> Job {
                            (name, Box::new(move || experiment(Corpus { tasks, trials, even, icc, effect })))
                        }));
                    }
                }
            }
        }
    }
    for Placed(name, world, (tasks, trials, even), effect, (n, few)) in PLACED {
        let n = if quick { few } else { n };
        let corpus = Corpus { tasks, trials, even, icc: 0.3, effect };
        if n > 0 {
            jobs.push((name, Box::new(move || world(corpus, n))));
        }
    }
    let correlations: &[f64] = if quick { &[0.3] } else { &CORRELATIONS };
    for &icc in correlations {
        for sizes in Sizes::ALL {
            for (name, world, effects, n) in SIZED {
                let n = corpora(n);
                jobs.extend(effects.iter().take(if quick { 1 } else { effects.len() }).map(|&effect| -> Job {
                    (
                        name,
                        Box::new(move || world(sizes, Corpus { tasks: 60, trials: 30, even: false, icc, effect }, n)),
                    )
                }));
            }
        }
        let sizes: &[usize] = if quick { &[60] } else { &[30, 60, 200] };
        for &tasks in sizes {
            for (name, world, effects, n) in WORLDS {
                let n = corpora(n);
                jobs.extend(effects.iter().map(|&effect| -> Job {
                    (name, Box::new(move || world(Corpus { tasks, trials: 4, even: true, icc, effect }, n)))
                }));
            }
        }
    }
    jobs
}

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

/// Whether an experiment is among those named, separated by commas: `worlds` are those at one shape, and nothing means all.
fn is_wanted(wanted: &str, name: &str) -> bool {
    let is_placed = || PLACED.iter().any(|world| world.0 == name);
    wanted.is_empty() || wanted.split(',').any(|wanted| wanted == name || (wanted == "worlds" && is_placed()))
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
            row.width.map_or_else(String::new, |width| format!("width {width:.4}")),
            side(row)
        );
    }
    Ok(())
}

fn target(row: &Row) -> Option<&'static Target> {
    let named = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => row.experiment.starts_with(start),
        None => row.experiment == pattern,
    };
    TARGETS.iter().find(|target| named(target.0) && (target.1, target.2) == (row.method.as_str(), row.measure))
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
    let (Some((_, _, _, low, high)), Some(share), Some(error)) =
        (target(row), row.share().filter(|_| row.answered >= 100), row.error())
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
        "mean_width",
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
            digits(row.width),
            (*side).to_owned(),
        ])?;
    }
    csv.flush()?;
    Ok(())
}

fn write_power(powers: &[Power], path: &Path) -> Result<(), Box<dyn Error>> {
    let mut csv = csv::Writer::from_path(path)?;
    csv.write_record(["method", "runs_per_task", "true_rate", "tasks_until_half_certify", "tasks_until_four_in_five"])?;
    for line in powers {
        let count = |tasks: Option<usize>| tasks.map_or_else(|| "over 700".to_owned(), |tasks| tasks.to_string());
        csv.write_record([
            line.method.to_owned(),
            line.runs.to_string(),
            line.rate.to_string(),
            count(line.half),
            count(line.most),
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
