//! What is kept of one run: its readings, and all that its rows need.

use super::plan::Plan;
use crate::aggregate::{Label, Row, RunRows, Unit};
use crate::decision::Need;
use crate::replay::{Holding, RecordedEnd, Replay};
use crate::signal::Signal;
use crate::transcript::{Moment, Point, Run};
use crate::verdict::{Amounts, Assumptions};

/// A reading that is not there yet. Signals have no business with this one pattern of bits among those that are not a
/// number; should one read it, it is taken for another of them.
const UNREAD: u64 = 0x7ff8_0000_0000_5708;

/// What a signal read at the points of one moment, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Series(Vec<f64>);

impl Series {
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

    /// The reading at the `nth` point; `None` where there was nothing to read yet.
    pub(super) fn get(&self, nth: usize) -> Option<f64> {
        self.0.get(nth).copied().filter(|reading| reading.to_bits() != UNREAD)
    }

    /// All readings, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.0.iter().map(|reading| (reading.to_bits() != UNREAD).then_some(*reading))
    }
}

/// An amount in one unit.
pub(super) fn in_unit(amounts: Amounts, unit: Unit) -> Option<f64> {
    match unit {
        Unit::Steps => Some(amounts.steps as f64),
        Unit::Tokens => amounts.tokens.map(|tokens| tokens.0 as f64),
        Unit::CostUsd => amounts.cost.map(|cost| cost.0),
    }
}

/// What is kept of one run. It is read by the [`Plan`] it was made with, and later versions of that plan that asked for
/// nothing more.
pub struct Extract {
    pub(super) rows: RunRows,
    pub(super) end: RecordedEnd,
    /// By need of the plan, in order.
    pub(super) holdings: Vec<(Need, Holding)>,
    /// All points with the number of events that have happened there.
    pub(super) points: Vec<(Point, usize)>,
    /// For each moment, in order, the places of its points.
    pub(super) places: [Vec<u32>; 4],
    /// True where one more request would be made after everything recorded: then each series of that moment has one
    /// reading more.
    pub(super) has_one_more: Option<Point>,
    /// By feature of the plan, in order.
    pub(super) series: Vec<Series>,
}

impl Extract {
    /// Reads `run` as `plan` says.
    pub fn of(run: &Run, plan: &Plan, assumptions: Assumptions) -> Self {
        let mut signals: Vec<(Moment, Box<dyn Signal>, Series)> =
            plan.features().iter().map(|feature| (feature.at, feature.rule.start(), Series::default())).collect();
        let mut points = Vec::with_capacity(run.points().len());
        let mut places: [Vec<u32>; 4] = Default::default();
        for view in run.views() {
            let moment = view.moment();
            places[moment as usize].push(u32::try_from(points.len()).unwrap_or(u32::MAX));
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
            rows: RunRows::of(run, assumptions),
            end: RecordedEnd::of(run),
            holdings: plan.needs().iter().map(|need| (*need, Holding::of(run, *need))).collect(),
            points,
            places,
            has_one_more: one_more.map(|view| view.point()),
            series: signals.into_iter().map(|(_, _, series)| series).collect(),
        }
    }

    /// How much of `need` the recording holds. Nothing of one that the plan does not name.
    pub(super) fn holding(&self, need: Need) -> Holding {
        self.holdings.iter().find(|(of, _)| *of == need).map_or(Holding::Nothing, |(_, holding)| *holding)
    }

    /// Where the recording ends.
    pub fn end(&self) -> RecordedEnd {
        self.end
    }

    /// What all rows of the run share.
    pub fn shared(&self) -> &RunRows {
        &self.rows
    }

    /// The readings of a feature of the plan, in order: `None` where there was nothing to read yet.
    pub fn readings(&self, feature: usize) -> impl Iterator<Item = Option<f64>> + '_ {
        self.series.get(feature).into_iter().flat_map(Series::iter)
    }

    /// The readings of a feature.
    pub(super) fn series(&self, feature: usize) -> Option<&Series> {
        self.series.get(feature)
    }

    /// All points, each with the number of events that have happened there.
    pub(super) fn points(&self) -> &[(Point, usize)] {
        &self.points
    }

    /// How many points of that moment the recording has.
    pub(super) fn n_points(&self, at: Moment) -> usize {
        self.places[at as usize].len()
    }

    /// The `nth` point of that moment, and how many events have happened there.
    pub(super) fn point(&self, at: Moment, nth: usize) -> Option<(Point, usize)> {
        self.points.get(*self.places[at as usize].get(nth)? as usize).copied()
    }

    /// The point at which one more request would be made after everything recorded.
    pub(super) fn one_more_request(&self, at: Moment) -> Option<Point> {
        self.has_one_more.filter(|_| at == Moment::BeforeRequest)
    }

    /// A stop at or after the point at which everything recorded had happened is no early stop.
    pub fn early(&self, stop: Option<Point>) -> Option<Point> {
        stop.filter(|stop| self.end.last_point.is_some_and(|end| *stop < end))
    }

    /// Spent by a point, or in all; `None` where the recording does not tell.
    pub fn amount(&self, by: Option<Point>, unit: Unit) -> Option<f64> {
        let ledger = self.rows.ledger();
        in_unit(by.map_or_else(|| ledger.whole(), |point| ledger.until(point)), unit)
    }

    /// The readings after the tools of a feature that is read there, at points at which a stop is an early one.
    pub fn early_readings(&self, feature: usize) -> impl Iterator<Item = f64> + '_ {
        let at = Moment::AfterTools;
        let is_early = move |nth: usize| self.point(at, nth).and_then(|(point, _)| self.early(Some(point))).is_some();
        self.readings(feature).enumerate().filter(move |(nth, _)| is_early(*nth)).filter_map(|(_, reading)| reading)
    }

    /// The row of a stack that came to `replay`.
    pub fn row(&self, stack: &Label, replay: &Replay) -> Row {
        self.rows.row(stack, &Label::from(""), replay)
    }
}
