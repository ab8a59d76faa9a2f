//! `whenstop rules texts`: measures the systems' text tests on labelled texts.

use std::path::PathBuf;

use super::ProgramExit;
use super::failure::CommandFailure;
use super::inputs::read_text;
use super::output::{Output, TableFormat};
use crate::answers::tables::{DataTable, TableCell, TableColumns};
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
    format: TableFormat,
}

/// `whenstop rules texts`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let scores = match &args.file {
        None => score_bundled(),
        Some(path) => {
            let table = read_text(path, "give a table of labelled texts").map_err(CommandFailure::usage)?;
            score(&table)
        }
    };
    if scores.is_empty() {
        return Err(CommandFailure::nothing(
            "no labelled text",
            "a line is {\"id\": …, \"input\": {\"text\": …}, \"label\": {\"really_asks_user\": true}}; the labels are \
             really_asks_user, really_blocked and really_complete",
        ));
    }
    if args.format != TableFormat::Table {
        output.table(&table(&scores), args.format)?;
        return Ok(ProgramExit::Done);
    }
    for (index, scores) in scores.chunk_by(|a, b| a.question == b.question).enumerate() {
        let blank = if index > 0 { "\n" } else { "" };
        if let Some(Score { question, counts, .. }) = scores.first() {
            output.data(&format!("{blank}{}: {} texts\n", question.name(), counts.n()));
        }
        output.table(&short_table(scores), args.format)?;
    }
    Ok(ProgramExit::Done)
}

/// The test, after the system that it is of.
fn test_of(score: &Score) -> TableCell {
    let system = match score.question {
        Question::AsksUser | Question::Blocked => "mira",
        Question::Complete => "adaptive",
    };
    TableCell::Text(format!("{system} {}", score.test))
}

/// One line per test: its hits and misses, the share of its matches that are right (precision) and the share of the
/// right texts it matches (recall).
fn table(scores: &[Score]) -> DataTable {
    let share = |share: Option<f64>| TableCell::number(share.map(|share| (share * 1000.0).round() / 1000.0));
    let columns: TableColumns<'_, Score> = &[
        ("label", &|score| TableCell::Text(score.question.name().to_owned())),
        ("test", &test_of),
        ("texts", &|score| TableCell::Count(score.counts.n() as u64)),
        ("right", &|score| TableCell::Count(score.counts.true_positives as u64)),
        ("false_stops", &|score| TableCell::Count(score.counts.false_positives as u64)),
        ("missed", &|score| TableCell::Count(score.counts.false_negatives as u64)),
        ("precision", &|score| share(score.counts.precision())),
        ("recall", &|score| share(score.counts.recall())),
    ];
    DataTable::by_column(scores, columns)
}

/// A short table for a terminal about one question: few columns, shares in percent.
fn short_table(scores: &[Score]) -> DataTable {
    let columns: TableColumns<'_, Score> = &[
        ("test", &test_of),
        ("right", &|score| TableCell::Count(score.counts.true_positives as u64)),
        ("false stops", &|score| TableCell::Count(score.counts.false_positives as u64)),
        ("missed", &|score| TableCell::Count(score.counts.false_negatives as u64)),
        ("precision", &|score| TableCell::percent(score.counts.precision())),
        ("recall", &|score| TableCell::percent(score.counts.recall())),
    ];
    DataTable::by_column(scores, columns)
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
        assert!(table.rows.iter().any(|row| row[precision] == TableCell::Missing));
    }
}
