//! What is kept of one run: its signal readings, and everything its rows need.

use super::plan::Plan;
use crate::aggregate::{Label, Row, RunRows, Unit};
use crate::decision::Need;
use crate::replay::{Holding, RecordedEnd, Replay};
use crate::signal::Signal;
use crate::transcript::{Moment, Point, Run};
use crate::verdict::Assumptions;

/// Marks a reading that does not exist yet. Signals should not produce this particular NaN; if one does, it is stored
/// as another NaN.
const UNREAD: u64 = 0x7ff8_0000_0000_5708;

/// The readings of a signal at the points of one moment, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FeatureSeries(Vec<f64>);

impl FeatureSeries {
    pub(super) fn push(&mut self, reading: Option<f64>) {
        self.0.push(match reading {
            None => f64::from_bits(UNREAD),
            Some(reading) if reading.to_bits() == UNREAD => f64::NAN,
            Some(reading) => reading,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The reading at the `nth` point; `None` if nothing could be read yet.
    pub(super) fn get(&self, nth: usize) -> Option<f64> {
        self.0.get(nth).copied().filter(|reading| reading.to_bits() != UNREAD)
    }

    /// All readings, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.0.iter().map(|reading| if reading.to_bits() == UNREAD { None } else { Some(*reading) })
    }
}

impl FromIterator<Option<f64>> for FeatureSeries {
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(readings: I) -> Self {
        let mut series = Self::default();
        readings.into_iter().for_each(|reading| series.push(reading));
        series
    }
}

/// What is kept of one run. It may be used with the [`Plan`] it was made with, and with later versions of that plan
/// that ask for nothing more.
#[derive(Clone)]
pub struct Extract {
    pub(super) rows: RunRows,
    pub(super) end: RecordedEnd,
    /// How much the recording holds of each need, in the plan's order.
    pub(super) holdings: Vec<(Need, Holding)>,
    /// All points, each with the number of events that have happened there.
    pub(super) points: Vec<(Point, usize)>,
    /// For each moment, the indices of its points, in order.
    pub(super) places: [Vec<u32>; 4],
    /// The point before one more request, if one would be made after everything recorded: each series of that moment
    /// then has one more reading.
    pub(super) has_one_more: Option<Point>,
    /// Series by feature, in the plan's order.
    pub(super) series: Vec<FeatureSeries>,
}

impl Extract {
    /// Reads from `run` what `plan` asks for.
    pub fn from_run(run: &Run, plan: &Plan, assumptions: Assumptions) -> Self {
        for feature in plan.features() {
            feature.rule.options.number.ask(run);
        }
        let mut signals: Vec<(Moment, Box<dyn Signal>, FeatureSeries)> = plan
            .features()
            .iter()
            .map(|feature| (feature.at, feature.rule.start(), FeatureSeries::default()))
            .collect();
        let mut points = Vec::with_capacity(run.points().len());
        let mut places: [Vec<u32>; 4] = Default::default();
        for view in run.views() {
            let moment = view.moment();
            places[moment as usize].push(u32::try_from(points.len()).expect("a run has fewer than 2^32 points"));
            points.push((view.point(), view.events().len()));
            for (at, signal, series) in &mut signals {
                let reading = signal.observe(&view);
                if *at == moment {
                    series.push(reading);
                }
            }
        }
        let one_more = run.one_more_request();
        if let Some(view) = &one_more {
            for (at, signal, series) in &mut signals {
                if *at == view.moment() {
                    series.push(signal.observe(view));
                }
            }
        }
        Self {
            rows: RunRows::from_run(run, assumptions),
            end: RecordedEnd::from_run(run),
            holdings: plan.needs().iter().map(|need| (*need, Holding::from_run(run, *need))).collect(),
            points,
            places,
            has_one_more: one_more.map(|view| view.point()),
            series: signals.into_iter().map(|(_, _, series)| series).collect(),
        }
    }

    /// The same run as one of another task.
    #[must_use]
    pub fn with_task(self, task: &str) -> Self {
        Self { rows: self.rows.with_task(task), ..self }
    }

    /// How much of `need` the recording holds. Nothing for a need that the plan does not contain.
    pub fn holding(&self, need: Need) -> Holding {
        match self.holdings.iter().find(|(of, _)| *of == need) {
            Some((_, holding)) => *holding,
            None => Holding::Nothing,
        }
    }

    /// Where the recording ends.
    pub fn end(&self) -> RecordedEnd {
        self.end
    }

    /// What all rows of the run share.
    pub fn shared(&self) -> &RunRows {
        &self.rows
    }

    /// The readings of a feature of the plan, in order; `None` where nothing could be read yet.
    pub fn readings(&self, feature: usize) -> impl Iterator<Item = Option<f64>> + '_ {
        self.series.get(feature).into_iter().flat_map(FeatureSeries::iter)
    }

    /// The series of a feature.
    pub(super) fn series(&self, feature: usize) -> Option<&FeatureSeries> {
        self.series.get(feature)
    }

    /// All points, each with the number of events that have happened there.
    pub(super) fn points(&self) -> &[(Point, usize)] {
        &self.points
    }

    /// Number of points of that moment in the recording.
    pub(super) fn n_points(&self, at: Moment) -> usize {
        self.places[at as usize].len()
    }

    /// The `nth` point of that moment, and the number of events that have happened there.
    pub(super) fn point(&self, at: Moment, nth: usize) -> Option<(Point, usize)> {
        self.points.get(*self.places[at as usize].get(nth)? as usize).copied()
    }

    /// The point before one more request after everything recorded, if there is one at that moment.
    pub(super) fn one_more_request(&self, at: Moment) -> Option<Point> {
        self.has_one_more.filter(|_| at == Moment::BeforeRequest)
    }

    /// Drops a stop at or after the point where everything recorded had happened: it is not an early stop.
    pub fn early(&self, stop: Option<Point>) -> Option<Point> {
        stop.filter(|stop| self.end.last_point.is_some_and(|end| *stop < end))
    }

    /// The amount spent by a point, or in total without one; `None` if the recording does not tell.
    pub fn amount(&self, by: Option<Point>, unit: Unit) -> Option<f64> {
        unit.amount_in(self.rows.ledger().paid_by(by))
    }

    /// The points of that moment at which a stop would be early.
    pub fn early_points(&self, at: Moment) -> impl Iterator<Item = Point> + '_ {
        (0..self.n_points(at)).map_while(move |nth| self.early(self.point(at, nth).map(|(point, _)| point)))
    }

    /// The readings of a feature that is read after the tools, at points where a stop would be early; NaN where nothing
    /// could be read yet.
    pub fn early_readings(&self, feature: usize) -> impl Iterator<Item = f64> + '_ {
        let readings = self.readings(feature).map(|reading| reading.unwrap_or(f64::NAN));
        self.early_points(Moment::AfterTools).zip(readings).map(|(_, reading)| reading)
    }

    /// The row of a stack with the result `replay`.
    pub fn row(&self, stack: &Label, replay: &Replay) -> Row {
        self.rows.row(stack, &Label::default(), replay)
    }
}
