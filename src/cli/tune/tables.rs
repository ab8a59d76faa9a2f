//! The tables of the answer: the shipped stack and its alternatives, and its kills by suite and model.

use super::beside::{BesideLine, Rival};
use super::words::{TuneSentences, with_interval};
use crate::answers::tables::{DataTable, TableCell};
use crate::stats::Estimate;
use crate::tune::{Stratum, TaskTotals};
use crate::words::{chosen_percent, cut, digits, interval};

/// Maximum suites and models shown, the worst first.
const STRATA: usize = 6;

/// A share in a percent column, with its interval.
fn cell(estimate: &Estimate) -> TableCell {
    let Some(value) = estimate.value else { return TableCell::Missing };
    TableCell::Text(digits(value) + &interval(estimate.interval.map(|i| (i.low, i.high))))
}

impl TuneSentences<'_> {
    /// The table for people.
    pub(super) fn table(&self) -> DataTable {
        let unit = self.study.unit().noun();
        let promise = chosen_percent(self.question.max_killed);
        let columns = ["", "rule", "at most", "killed, %", &format!("{unit} saved, %")];
        let mut rows = Vec::new();
        for BesideLine { rival, name, certified, totals, refused } in &self.answer.beside {
            let certified = if *certified { promise.clone() } else { "–".to_owned() };
            let does_nothing = *rival == Rival::NoStopping || (name.is_none() && refused.0 == refused.1);
            let (killed, saved) = if does_nothing {
                (TableCell::Text("0".to_owned()), TableCell::Text("0".to_owned()))
            } else {
                (cell(&totals.killed()), cell(&totals.saved()))
            };
            let name = name.as_deref().unwrap_or("none").to_owned();
            let [what, name, certified] = [rival.name().to_owned(), name, certified].map(TableCell::Text);
            rows.push(vec![what, name, certified, killed, saved]);
        }
        if let Some(oracle) = self.study.oracle() {
            let texts = ["oracle", "stops what fails", "–", "0", &digits(oracle)];
            rows.push(texts.map(|text| TableCell::Text(text.to_owned())).to_vec());
        }
        DataTable::new(columns, rows)
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
        let unit = self.study.unit().noun();
        let columns = ["suite", "model", "successes", "killed, %", &format!("{unit} saved, %")];
        let mut rows: Vec<Vec<TableCell>> = strata
            .iter()
            .map(|stratum| {
                let successes = stratum.totals.all().killed.high.of as f64;
                let model = stratum.model.as_deref().unwrap_or("–");
                let suite = if stratum.suite.is_empty() { "–" } else { &stratum.suite };
                vec![
                    TableCell::Text(cut(suite, 16)),
                    TableCell::Text(cut(model, 24)),
                    TableCell::Number(successes),
                    cell(&stratum.totals.killed()),
                    cell(&stratum.totals.saved()),
                ]
            })
            .collect();
        if more > 0 {
            let mut last = vec![TableCell::Text(format!("and {more} more"))];
            last.resize(5, TableCell::Text(String::new()));
            rows.push(last);
        }
        Some(DataTable::new(columns, rows))
    }
}
