//! `whenstop rules texts`: measures the systems' text tests on labelled texts.

use std::path::PathBuf;

use super::Exit;
use super::failure::Failure;
use super::inputs::read_text;
use super::output::{Format, Output};
use crate::answers::tables::{Cell, Table};
use crate::system::benchmark::{Question, Score, score, score_bundled};

/// Arguments of `rules texts`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Labelled texts, JSON Lines: `id`, `input.text` and one of `label.really_asks_user`,
    /// `label.really_blocked`, `label.really_complete`. By default the bundled ones.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// `whenstop rules texts`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let scores = match &args.file {
        None => score_bundled(),
        Some(path) => {
            let table = read_text(path, "give a table of labelled texts").map_err(Failure::usage)?;
            score(&table)
        }
    };
    if scores.is_empty() {
        return Err(Failure::nothing(
            "no labelled text",
            "a line is {\"id\": …, \"input\": {\"text\": …}, \"label\": {\"really_asks_user\": true}}; the labels are \
             really_asks_user, really_blocked and really_complete",
        ));
    }
    if args.format != Format::Table {
        output.table(&table(&scores), args.format)?;
        return Ok(Exit::Done);
    }
    for (index, scores) in scores.chunk_by(|a, b| a.question == b.question).enumerate() {
        let blank = if index > 0 { "\n" } else { "" };
        if let Some(Score { question, counts, .. }) = scores.first() {
            output.data(&format!("{blank}{}: {} texts\n", question.label(), counts.n()));
        }
        output.table(&short_table(scores), args.format)?;
    }
    Ok(Exit::Done)
}

/// The system whose tests answer the question.
fn system_of(question: Question) -> &'static str {
    match question {
        Question::AsksUser | Question::Blocked => "mira",
        Question::Complete => "adaptive",
    }
}

/// One line per test: its hits and misses, the share of its matches that are right (precision) and the share of the
/// right texts it matches (recall).
fn table(scores: &[Score]) -> Table {
    let columns = ["label", "test", "texts", "right", "false_stops", "missed", "precision", "recall"];
    let count = |count: usize| Cell::Count(count as u64);
    let share = |share: Option<f64>| Cell::number(share.map(|share| (share * 1000.0).round() / 1000.0));
    let rows = scores.iter().map(|Score { question, test, counts }| {
        vec![
            Cell::Text(question.label().to_owned()),
            Cell::Text(format!("{} {test}", system_of(*question))),
            count(counts.n()),
            count(counts.true_positives),
            count(counts.false_positives),
            count(counts.false_negatives),
            share(counts.precision()),
            share(counts.recall()),
        ]
    });
    Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }
}

/// A short table for a terminal about one question: few columns, shares in percent.
fn short_table(scores: &[Score]) -> Table {
    let columns = ["test", "right", "false stops", "missed", "precision", "recall"];
    let count = |count: usize| Cell::Count(count as u64);
    let rows = scores.iter().map(|Score { question, test, counts }| {
        vec![
            Cell::Text(format!("{} {test}", system_of(*question))),
            count(counts.true_positives),
            count(counts.false_positives),
            count(counts.false_negatives),
            Cell::percent(counts.precision()),
            Cell::percent(counts.recall()),
        ]
    });
    Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_never_right_has_no_precision() {
        let texts = r#"{"id":"a","input":{"text":"Which file do you mean?"},"label":{"really_asks_user":true}}"#;
        let table = table(&score(texts));
        let precision = table.columns.iter().position(|column| column == "precision").unwrap();
        assert_eq!(table.rows.len(), 4, "one line for each test of the one question there are labels for");
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
        assert!(table.rows.iter().any(|row| row[precision] == Cell::Missing));
    }
}
