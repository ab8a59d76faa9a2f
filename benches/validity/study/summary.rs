//! The cells of one experiment put together by number of tasks.

use std::collections::BTreeMap;

use super::Row;

/// One method at one number of tasks, over all shapes, correlations and effect sizes.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) experiment: &'static str,
    pub(crate) measure: &'static str,
    pub(crate) method: String,
    pub(crate) tasks: usize,
    pub(crate) cells: usize,
    /// Mean over cells.
    pub(crate) share: f64,
    /// Monte-Carlo standard error of that mean.
    pub(crate) error: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    /// Share of corpora in which the method answered.
    pub(crate) answered: f64,
}

/// One line per experiment, measure, method and number of tasks; cells in which the method hardly ever answers are left out.
pub(crate) fn lines(rows: &[Row]) -> Vec<Line> {
    let mut groups: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.answered >= 100) {
        groups.entry((row.experiment, row.measure, row.method.as_str(), row.corpus.tasks)).or_default().push(row);
    }
    groups
        .into_iter()
        .map(|((experiment, measure, method, tasks), rows)| {
            let shares: Vec<f64> = rows.iter().filter_map(|row| row.share()).collect();
            let cells = rows.len();
            let squares: f64 = rows.iter().filter_map(|row| row.error()).map(|error| error * error).sum();
            let (answered, drawn) = rows.iter().fold((0, 0), |sum, row| (sum.0 + row.answered, sum.1 + row.drawn));
            Line {
                experiment,
                measure,
                method: method.to_owned(),
                tasks,
                cells,
                share: shares.iter().sum::<f64>() / cells as f64,
                error: squares.sqrt() / cells as f64,
                lowest: shares.iter().copied().fold(f64::INFINITY, f64::min),
                highest: shares.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                answered: answered as f64 / drawn as f64,
            }
        })
        .collect()
}
