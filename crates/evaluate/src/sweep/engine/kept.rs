//! Stores extracts in files, so that a later sweep need not read the recordings: one record per run for what its rows
//! share, and one column per signal for the readings of all runs.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::extract::{Extract, FeatureSeries};
use super::plan::Plan;
use crate::aggregate::RunRows;
use crate::decision::Need;
use crate::replay::{Holding, RecordedEnd};
use crate::transcript::{Moment, Point};
use crate::verdict::Assumptions;

/// An extract as one JSON value, readings included.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeptExtract {
    /// See [`Extract::record`].
    record: Box<RawValue>,
    /// How much the recording holds of each need, in the plan's order.
    holdings: Vec<Holding>,
    /// By feature, in the plan's order.
    readings: Vec<Vec<Option<f64>>>,
}

impl KeptExtract {
    /// The extract, which was made with `plan`. `None` if it was made with another.
    pub fn restored(&self, plan: &Plan, assumptions: Assumptions) -> Option<Extract> {
        let mut on = Extract::from_record(self.record.get(), assumptions)?;
        if self.holdings.len() != plan.needs().len() || self.readings.len() != plan.features().len() {
            return None;
        }
        for (need, holding) in plan.needs().iter().zip(&self.holdings) {
            on.add_holding(*need, *holding);
        }
        for readings in &self.readings {
            on.add_readings(plan, readings.iter().copied())?;
        }
        Some(on)
    }
}

/// The stored fields of a run.
type Record = (RunRows, RecordedEnd, Vec<(Point, usize)>, Option<Point>);

impl Extract {
    /// Everything except what the plan asked for, as JSON. `None` for a run that would not be read back unchanged,
    /// such as one with a non-finite cost.
    pub fn record(&self) -> Option<String> {
        let text = serde_json::to_string(&(&self.rows, self.end, &self.points, self.has_one_more)).ok()?;
        let back: Record = serde_json::from_str(&text).ok()?;
        if serde_json::to_string(&back).ok()? == text { Some(text) } else { None }
    }

    /// All of it as one JSON value. `None` for a run that would not be read back unchanged: see [`Self::record`].
    pub fn kept(&self) -> Option<KeptExtract> {
        let finite = |reading: Option<f64>| match reading {
            Some(reading) if reading.is_infinite() => None,
            reading => Some(reading.filter(|reading| !reading.is_nan())),
        };
        let mut readings = Vec::new();
        for series in &self.series {
            readings.push(series.iter().map(finite).collect::<Option<Vec<_>>>()?);
        }
        Some(KeptExtract {
            record: RawValue::from_string(self.record()?).ok()?,
            holdings: self.holdings.iter().map(|(_, holding)| *holding).collect(),
            readings,
        })
    }

    /// Reads back [`Self::record`], without anything that a plan asks for. `None` if the text is not a record.
    pub fn from_record(text: &str, assumptions: Assumptions) -> Option<Self> {
        let (rows, end, points, has_one_more): Record = serde_json::from_str(text).ok()?;
        let mut places: [Vec<u32>; 4] = Default::default();
        for (at, (point, _)) in points.iter().enumerate() {
            places[point.moment as usize].push(u32::try_from(at).ok()?);
        }
        let rows = rows.assuming(assumptions);
        Some(Self { rows, end, holdings: Vec::new(), points, places, has_one_more, series: Vec::new() })
    }

    /// Number of readings of a feature of that moment.
    pub fn n_readings(&self, at: Moment) -> usize {
        self.n_points(at) + usize::from(self.one_more_request(at).is_some())
    }

    /// How much of each need of the plan the recording holds, in the plan's order.
    pub fn holdings(&self) -> impl Iterator<Item = (Need, Holding)> + '_ {
        self.holdings.iter().copied()
    }

    /// Adds how much the recording holds of a need. Call it for all needs of a plan, in the plan's order.
    pub fn add_holding(&mut self, need: Need, holding: Holding) {
        self.holdings.push((need, holding));
    }

    /// Adds the readings of the plan's next feature. `None` if their number does not match the run's points.
    pub fn add_readings(&mut self, plan: &Plan, readings: impl IntoIterator<Item = Option<f64>>) -> Option<()> {
        let at = plan.features().get(self.series.len())?.at;
        let series: FeatureSeries = readings.into_iter().collect();
        if series.len() != self.n_readings(at) {
            return None;
        }
        self.series.push(series);
        Some(())
    }
}
