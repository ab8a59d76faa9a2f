//! Finds metrics by name.

use super::{MetricPart, SummaryMetric, metrics};

/// A metric or one end of it, by name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The metric.
    pub metric: &'static SummaryMetric,
    /// Which end of it.
    pub part: MetricPart,
}

impl Named {
    /// Its name.
    pub fn name(&self) -> String {
        format!("{}{}", self.metric.name, self.part.ending())
    }
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// The metric with that name, or the end of the estimate whose name it is (`killed_rate_high`).
pub fn named(name: &str) -> Option<Named> {
    if let Some(metric) = find(name) {
        return Some(Named { metric, part: MetricPart::Value });
    }
    for part in MetricPart::ENDS {
        if let Some(stem) = name.strip_suffix(part.ending())
            && let Some(metric) = find(stem)
            && metric.is_estimate()
        {
            return Some(Named { metric, part });
        }
    }
    None
}

fn find(name: &str) -> Option<&'static SummaryMetric> {
    metrics().iter().find(|metric| metric.name == name)
}

/// Every name that [`named`] knows.
pub fn metric_names() -> impl Iterator<Item = String> {
    metrics().iter().flat_map(|metric| {
        let ends = MetricPart::ENDS.into_iter().filter(|_| metric.is_estimate());
        let parts = std::iter::once(MetricPart::Value).chain(ends);
        parts.map(|part| format!("{}{}", metric.name, part.ending()))
    })
}
