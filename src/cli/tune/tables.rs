//! The tables of the answer: the shipped stack and its alternatives, and its kills by suite and model.

use super::answer::{BesideLine, Rival};
use super::words::TuneSentences;
use crate::answers::tables::{DataTable, TableCell, TableColumns};
use crate::answers::words::{ends, with_interval};
use crate::stats::Estimate;
use crate::tune::{Stratum, TaskTotals};
use crate::words::{chosen_percent, cut, digits};

/// Maximum suites and models shown, the worst first.
const STRATA: usize = 6;

/// A share in a percent column, with its interval.
fn cell(estimate: &Estimate) -> TableCell {
    let Some(value) = estimate.value else { return TableCell::Missing };
    TableCell::Text(digits(value) + &ends(estimate.interval))
}

impl TuneSentences<'_> {
    /// The table for people.
    pub(super) fn table(&self) -> DataTable {
        let saved = format!("{} saved, %", self.study.unit().noun());
        let promise = chosen_percent(self.question.max_killed);
        let share = |line: &BesideLine, of: fn(&TaskTotals) -> Estimate| {
            let has_none = line.name.is_none() && line.refused.0 == line.refused.1;
            if line.rival == Rival::NoStopping || has_none {
                TableCell::Text("0".to_owned())
            } else {
                cell(&of(&line.totals))
            }
        };
        let columns: TableColumns<'_, BesideLine> = &[
            ("", &|line| TableCell::Text(line.rival.name().to_owned())),
            ("rule", &|line| TableCell::Text(line.name.as_deref().unwrap_or("none").to_owned())),
            ("at most", &|line| TableCell::Text(if line.certified { promise.clone() } else { "–".to_owned() })),
            ("killed, %", &|line| share(line, TaskTotals::killed)),
            (&saved, &|line| share(line, TaskTotals::saved)),
        ];
        let mut table = DataTable::by_column(&self.answer.beside, columns);
        if let Some(oracle) = self.study.oracle() {
            let texts = ["oracle", "stops what fails", "–", "0", &digits(oracle)];
            table.rows.push(texts.map(|text| TableCell::Text(text.to_owned())).to_vec());
        }
        table
    }

    /// The suites and models, if there are several, with what is shipped on tasks it was not chosen on: the most kills first.
    fn by_kills(&self) -> Option<Vec<Stratum>> {
        let (_, held_out) = self.answer.shipped.as_ref().ok()?;
        let mut strata = held_out.strata.clone();
        strata.retain(|stratum| stratum.totals.all().killed.high.of > 0);
        let rate = |totals: &TaskTotals| totals.all().killed_rate();
        strata.sort_by(|a, b| rate(&b.totals).partial_cmp(&rate(&a.totals)).unwrap_or(std::cmp::Ordering::Equal));
        if strata.len() > 1 { Some(strata) } else { None }
    }

    /// A note on the suite and model with the most kills, if there are any.
    pub(super) fn worst(&self) -> Option<String> {
        let strata = self.by_kills()?;
        let worst = strata.first().filter(|worst| worst.totals.all().killed.high.hits > 0)?;
        let name = [worst.suite.as_str(), worst.model.as_deref().unwrap_or_default()].join(" ");
        Some(format!(
            "of {} suites and models, `{}` loses most: {} of its {} successes",
            strata.len(),
            name.trim(),
            with_interval(&worst.totals.killed()),
            worst.totals.all().killed.high.of
        ))
    }

    /// Kills by suite and model, the worst first; `None` where there is only one.
    pub(super) fn strata(&self) -> Option<DataTable> {
        let mut strata = self.by_kills()?;
        let more = strata.len().saturating_sub(STRATA);
        strata.truncate(STRATA);
        let saved = format!("{} saved, %", self.study.unit().noun());
        let columns: TableColumns<'_, Stratum> = &[
            ("suite", &|of| TableCell::Text(cut(if of.suite.is_empty() { "–" } else { &of.suite }, 16))),
            ("model", &|of| TableCell::Text(cut(of.model.as_deref().unwrap_or("–"), 24))),
            ("successes", &|of| TableCell::Number(of.totals.all().killed.high.of as f64)),
            ("killed, %", &|of| cell(&of.totals.killed())),
            (&saved, &|of| cell(&of.totals.saved())),
        ];
        let mut table = DataTable::by_column(&strata, columns);
        if more > 0 {
            let mut last = vec![TableCell::Text(format!("and {more} more"))];
            last.resize(columns.len(), TableCell::Text(String::new()));
            table.rows.push(last);
        }
        Some(table)
    }
}
