use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Event, PointView};

/// The latest value of the metric named by `metric`, from a report whose status is `completed` or that has no status.
///
/// Unit: the metric's own. Changes at: whenever reported. Options: `metric` (required). Not evaluable when:
/// the run reports no metrics.
///
/// ## Fires too early when
/// The value was lucky once, or is a stale value of an old experiment.
/// ## Never fires when
/// The metric has another name, or its experiment is never marked as completed.
#[derive(Debug)]
pub struct Metric {
    metric: String,
    value: Option<f64>,
}

impl Registered for Metric {
    const ID: &'static str = "metric";
    const SUMMARY: &'static str = "the latest value of a named metric";
    const UNIT: &'static str = "as reported";
    const SOURCE: &'static str = "mira 0.3 automation goals";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const OPTIONS: &'static [&'static str] = &["metric"];
    const NEED: Option<Need> = Some(Need::Metrics);

    fn start(options: &Options) -> Self {
        Self { metric: options.metric.clone().unwrap_or_default(), value: None }
    }
}

impl Signal for Metric {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        for event in view.news() {
            if let Event::Metrics(metrics) = event
                && metrics.status.as_deref().is_none_or(|status| status == "completed")
                && let Some((_, value)) = metrics.values.iter().rfind(|(name, _)| **name == *self.metric)
            {
                self.value = Some(*value);
            }
        }
        self.value
    }
}
