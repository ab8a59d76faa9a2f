//! `strata.csv`: the summary by suite, by model, and by both.

use super::summary::summed;
use super::{DataTable, FileColumns};
use crate::aggregate::Summary;

/// The summaries of every stratum.
pub fn strata(summaries: &[Summary]) -> DataTable {
    strata_columns().table(summaries)
}

/// The columns of `strata.csv`.
pub fn strata_columns() -> FileColumns<'static, Summary> {
    let columns = FileColumns::new()
        .some_label("suite", "The suite; empty where the stratum spans several.", |stratum: &Summary| {
            stratum.suite.as_ref()
        })
        .some_label("model", "The model; empty where the stratum spans several.", |stratum| stratum.model.as_ref());
    summed(columns)
}
