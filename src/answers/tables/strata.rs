//! `strata.csv`: the summary by suite, by model, and by both.

use super::FileColumns;
use super::summary::summed;
use crate::aggregate::Summary;

/// The columns of `strata.csv`: the summaries of every stratum.
pub fn strata_columns() -> FileColumns<'static, Summary> {
    let columns = FileColumns::new()
        .some_label("suite", "The suite; empty where the stratum spans several.", |stratum: &Summary| {
            stratum.suite.as_ref()
        })
        .some_label("model", "The model; empty where the stratum spans several.", |stratum| stratum.model.as_ref());
    summed(columns)
}
