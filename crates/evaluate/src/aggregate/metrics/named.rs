//! Finds metrics by name, those of earlier versions included.

use super::{MetricPart, SummaryMetric, metrics};

/// A metric or one end of it, by name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The metric.
    pub metric: &'static SummaryMetric,
    /// Which end of it.
    pub part: MetricPart,
    /// The name that was written, if it is one of earlier versions.
    pub wrote: Option<String>,
}

impl Named {
    /// Its name now.
    pub fn name(&self) -> String {
        format!("{}{}", self.metric.name, self.part.ending())
    }
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// The metric, or the end of one, with that name. Names of earlier versions are still read.
pub fn named(name: &str) -> Option<Named> {
    let former = || former_bound(name).or_else(|| find(name, |metric| &metric.former));
    let now = find(name, |metric| &metric.name).map(|(metric, part)| Named { metric, part, wrote: None });
    now.or_else(|| former().map(|(metric, part)| Named { metric, part, wrote: Some(name.to_owned()) }))
}

/// The metric that is called `name` (by `called`), or `name` without the ending of one of its ends.
fn find(name: &str, called: fn(&SummaryMetric) -> &String) -> Option<(&'static SummaryMetric, MetricPart)> {
    let by = |wanted: &str| metrics().iter().find(|metric| !wanted.is_empty() && called(metric) == wanted);
    by(name).map(|metric| (metric, MetricPart::Value)).or_else(|| {
        MetricPart::ENDS.into_iter().find_map(|part| {
            let metric = by(name.strip_suffix(part.ending())?)?;
            metric.is_estimate().then_some((metric, part))
        })
    })
}

/// Bounds had names of their own: `success_bound_low` was the lowest value, `success_bound_ci_low` the end of its interval.
fn former_bound(name: &str) -> Option<(&'static SummaryMetric, MetricPart)> {
    ["success", "retained"].into_iter().find_map(|bound| {
        let part = match name.strip_prefix(bound)?.strip_prefix("_bound")? {
            "_low" => MetricPart::Min,
            "_high" => MetricPart::Max,
            "_ci_low" => MetricPart::Low,
            "_ci_high" => MetricPart::High,
            _ => return None,
        };
        let metric = metrics().iter().find(|metric| metric.name == format!("{bound}_rate"))?;
        Some((metric, part))
    })
}

/// Every name that [`named`] knows, without those of earlier versions.
pub fn metric_names() -> impl Iterator<Item = String> {
    metrics().iter().flat_map(|metric| {
        let ends = MetricPart::ENDS.into_iter().filter(|_| metric.is_estimate());
        let parts = std::iter::once(MetricPart::Value).chain(ends);
        parts.map(|part| format!("{}{}", metric.name, part.ending()))
    })
}
