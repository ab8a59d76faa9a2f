//! Builds the list of metrics.

use super::{Measure, Measured, Needs, Shown, Summary, SummaryMetric};

/// Builds the list.
#[derive(Default)]
pub(super) struct MetricList(pub(super) Vec<SummaryMetric>);

impl MetricList {
    pub(super) fn push(
        &mut self,
        name: &str,
        read: impl Fn(&Summary) -> Measured + Send + Sync + 'static,
        measure: Measure,
        needs: Needs,
        meaning: &str,
    ) -> &mut SummaryMetric {
        let (name, of, meaning, read) = (name.to_owned(), String::new(), meaning.to_owned(), Box::new(read));
        self.0.push(SummaryMetric { name, measure, needs, unit: None, of, meaning, shown: Shown::Value, read });
        self.0.last_mut().expect("it was just pushed")
    }
}

impl SummaryMetric {
    /// It is an estimate over this; the summary has it with its interval, or not at all.
    pub(super) fn over(&mut self, of: &str, shown: Shown) -> &mut Self {
        of.clone_into(&mut self.of);
        self.shown = shown;
        self
    }
}
