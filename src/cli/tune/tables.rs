//! The tables of the answer: the shipped stack and its alternatives, and its kills by suite and model.

use super::words::{Words, percent};
use crate::report::table::{Cell, Table, digits};
use crate::stats::Estimate;
use crate::sweep::Combine;
use crate::tune::{Effects, Shipped};

/// Maximum suites and models shown, the worst first.
const STRATA: usize = 6;

/// A share in a percent column, with its interval.
fn cell(estimate: &Estimate) -> Cell {
    let Some(value) = estimate.value else { return Cell::Missing };
    let interval = estimate.interval.map_or_else(String::new, |i| format!(" ({}–{})", digits(i.low), digits(i.high)));
    Cell::Text(format!("{}{interval}", digits(value)))
}

impl Words<'_> {
    /// Every line of the table: what it is, its rule, whether it is certified, and its effects.
    pub(super) fn lines(&self) -> Vec<(&'static str, String, bool, Effects)> {
        let study = self.study;
        let none = study.effects(&study.all_tasks(), |_| None);
        let mut lines = vec![("no stopping", String::new(), false, none)];
        let others = self.answer.beside.others.iter();
        for other in others {
            let name = other.name.clone().unwrap_or_else(|| "none".to_owned());
            lines.push((other.what, name, other.certified, other.effects.clone()));
        }
        if let Some((limit, what)) = self.answer.beside.limit.as_ref().zip(self.without()) {
            let name = limit.name.clone().unwrap_or_default();
            lines.push((what, name, limit.certified, limit.effects.clone()));
        }
        if let Ok((shipped, held_out)) = &self.answer.shipped {
            let rules = shipped.rules(study);
            let together = if matches!(shipped, Shipped::Grid(choice) if choice.combine != Combine::Any) {
                "all of them"
            } else {
                "any of them"
            };
            let name =
                if let [rule] = &rules[..] { rule.clone() } else { format!("{} rules, {together}", rules.len()) };
            lines.push(("tuned", name, !self.is_estimate(), held_out.effects.clone()));
        }
        lines
    }

    /// The table for people.
    pub(super) fn table(&self) -> Table {
        let unit = self.study.unit().noun();
        let promise = percent(self.args.max_killed);
        let columns = ["", "rule", "at most", "killed, %", &format!("{unit} saved, %")];
        let mut rows: Vec<Vec<Cell>> = self
            .lines()
            .into_iter()
            .map(|(what, name, certified, effects)| {
                let certified = if certified { promise.clone() } else { "–".to_owned() };
                let is_none = what == "no stopping" || name == "none";
                let (killed, saved) =
                    if is_none && effects.sum(|effect| effect.stops as f64 + effect.saved.numerator) == 0.0 {
                        (Cell::Text("0".to_owned()), Cell::Text("0".to_owned()))
                    } else {
                        (cell(&effects.killed()), cell(&effects.saved()))
                    };
                vec![Cell::Text(what.to_owned()), Cell::Text(name), Cell::Text(certified), killed, saved]
            })
            .collect();
        if let Some(oracle) = self.study.oracle() {
            let texts = ["oracle", "stops what fails", "–", "0", &digits(oracle)];
            rows.push(texts.map(|text| Cell::Text(text.to_owned())).to_vec());
        }
        Table { columns: columns.map(str::to_owned).to_vec(), rows }
    }

    /// Kills by suite and model, the worst first; `None` where there is only one.
    pub(super) fn strata(&self) -> Option<Table> {
        let (_, held_out) = self.answer.shipped.as_ref().ok()?;
        let mut strata = self.study.strata(|run| held_out.runs.get(run).copied().unwrap_or_default());
        strata.retain(|stratum| stratum.effects.sum(|effect| effect.killed.denominator) > 0.0);
        if strata.len() < 2 {
            return None;
        }
        let rate = |effects: &Effects| effects.killed().value.unwrap_or(0.0);
        strata.sort_by(|a, b| rate(&b.effects).total_cmp(&rate(&a.effects)));
        let more = strata.len().saturating_sub(STRATA);
        strata.truncate(STRATA);
        let unit = self.study.unit().noun();
        let mut columns =
            vec!["suite", "model", "successes", "killed, %"].into_iter().map(str::to_owned).collect::<Vec<_>>();
        columns.push(format!("{unit} saved, %"));
        let mut rows: Vec<Vec<Cell>> = strata
            .iter()
            .map(|stratum| {
                let successes = stratum.effects.sum(|effect| effect.killed.denominator);
                let model = stratum.model.as_deref().unwrap_or("–");
                let suite = if stratum.suite.is_empty() { "–" } else { &stratum.suite };
                vec![
                    Cell::Text(cut(suite, 16)),
                    Cell::Text(cut(model, 24)),
                    Cell::Number(successes),
                    cell(&stratum.effects.killed()),
                    cell(&stratum.effects.saved()),
                ]
            })
            .collect();
        if more > 0 {
            let mut last = vec![Cell::Text(format!("and {more} more"))];
            last.resize(5, Cell::Text(String::new()));
            rows.push(last);
        }
        Some(Table { columns, rows })
    }
}

/// The beginning of a name; `strata.csv` has the full name.
fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most - 1).chain(['…']).collect()
}
