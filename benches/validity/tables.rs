//! The tables the study writes.

use std::error::Error;
use std::path::Path;

use super::power::Power;
use super::study::{Row, summary};

pub(crate) fn write_results(rows: &[(&Row, &str)], path: &Path) -> Result<(), Box<dyn Error>> {
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
        "repeated_width",
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
            digits(row.repeated),
            (*side).to_owned(),
        ])?;
    }
    csv.flush()?;
    Ok(())
}

pub(crate) fn write_power(powers: &[Power], path: &Path) -> Result<(), Box<dyn Error>> {
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

pub(crate) fn write_summary(lines: &[summary::Line], path: &Path) -> Result<(), Box<dyn Error>> {
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
