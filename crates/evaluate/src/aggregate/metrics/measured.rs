//! The value of a metric, with its interval and how it was made.

use crate::stats::labels::Correction;
use crate::stats::{Estimate, Method, RangeEstimate, Warning};
use crate::transcript::named;

/// The value of a metric on one group of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The value; `None` if it is undefined or known only as a range.
    pub value: Option<f64>,
    /// Lower end of the interval, which covers every value the recordings allow.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// The lowest value the recordings allow.
    pub min: Option<f64>,
    /// The highest value the recordings allow.
    pub max: Option<f64>,
    /// How it was estimated; `None` for a count or a sum.
    pub made: Option<Made>,
}

/// How an estimate was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Made {
    /// Number of runs.
    pub n: u64,
    /// Number of tasks.
    pub tasks: u64,
    /// How the interval was computed.
    pub method: Method,
    /// Why to read it with care.
    pub warning: Option<Warning>,
    /// How it was corrected for errors of the labels, if it was.
    pub correction: Option<Correction>,
}

impl Measured {
    /// A count or a sum.
    pub(super) fn plain(value: Option<f64>) -> Self {
        let value = value.filter(|value| value.is_finite());
        Self { value, low: None, high: None, min: value, max: value, made: None }
    }

    pub(super) fn count(count: u64) -> Self {
        Self::plain(Some(count as f64))
    }

    /// One end of it, or its value.
    pub fn part(&self, part: MetricPart) -> Option<f64> {
        match part {
            MetricPart::Value => self.value,
            MetricPart::Low => self.low,
            MetricPart::High => self.high,
            MetricPart::Min => self.min,
            MetricPart::Max => self.max,
        }
    }
}

impl From<&Estimate> for Measured {
    fn from(estimate: &Estimate) -> Self {
        Self::from(&RangeEstimate::exactly(*estimate))
    }
}

impl From<&RangeEstimate> for Measured {
    fn from(range: &RangeEstimate) -> Self {
        Self {
            value: range.value(),
            low: range.lower(),
            high: range.upper(),
            min: range.low.value,
            max: range.high.value,
            made: Some(Made {
                n: range.n(),
                tasks: range.clusters(),
                method: range.method(),
                warning: range.warning(),
                correction: None,
            }),
        }
    }
}

named! {
    /// The value of a metric, or one end of it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MetricPart {
        /// The value itself.
        Value = "value" => "",
        /// Lower end of the interval.
        Low = "low" => "_low",
        /// Upper end of the interval.
        High = "high" => "_high",
        /// The lowest value the recordings allow.
        Min = "min" => "_min",
        /// The highest value the recordings allow.
        Max = "max" => "_max",
    }

    /// What it adds to the name of the metric.
    pub fn ending() -> &'static str;
}

impl MetricPart {
    pub(super) const ENDS: [Self; 4] = [Self::Low, Self::High, Self::Min, Self::Max];
}
