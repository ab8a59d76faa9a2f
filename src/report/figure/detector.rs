//! Figure: limits as detectors of failing runs, once as a receiver operating characteristic and once as precision against
//! recall.

use plotters::prelude::*;

use super::canvas::Picture;
use super::labels::{Labelled, place};
use super::pen::{At, FigureHeading, Pen, TextStyle, WIDTH};
use super::scale::{Plane, Quantity, Scale, ticks};
use super::style::{BLUE, GREY, INK, STONE};
use crate::aggregate::Detector;

/// What limits detect.
pub struct DetectorFigure {
    /// The limits, signal by signal, each from the most cautious to the boldest.
    pub detectors: Vec<Detector>,
    /// The place of the one to ship among them.
    pub ship: Option<usize>,
    /// What was compared.
    pub subtitle: String,
}

const HEIGHT: i32 = 380;
const PANELS: [(i32, i32); 2] = [(70, 530), (630, 1090)];
/// The room for the names of the axes: above a panel and below it.
const ABOVE: i32 = 40;
const BELOW: i32 = 70;

/// The shares at which a limit stands in one panel, across and up; `None` where one is not defined.
type Place = fn(&Detector) -> Option<(f64, f64)>;

impl DetectorFigure {
    fn head(&self) -> FigureHeading {
        FigureHeading::new("How many of the runs that each stack ends early fail")
            .note(&self.subtitle)
            .note("grey: ending as many runs at random; filled: the one to ship")
    }

    /// The share of all graded runs that fail.
    fn base_rate(&self) -> f64 {
        let most = self.detectors.iter().max_by_key(|detector| detector.runs);
        let Some(most) = most else { return 0.0 };
        most.failures as f64 / most.runs.max(1) as f64
    }

    /// Whether it is the first or the last limit of its signal.
    fn is_end(&self, index: usize) -> bool {
        let is_of_other = |other: Option<&Detector>| other.map(signal) != Some(signal(&self.detectors[index]));
        is_of_other(index.checked_sub(1).and_then(|before| self.detectors.get(before)))
            || is_of_other(self.detectors.get(index + 1))
    }

    fn draw_limits(&self, pen: &mut Pen, plane: &Plane, place_of: Place) {
        let mut points: Vec<(usize, At)> = Vec::new();
        for (index, detector) in self.detectors.iter().enumerate() {
            let Some((x, y)) = place_of(detector) else { continue };
            let at = plane.at(x * 100.0, y * 100.0);
            if let Some((before, from)) = points.last()
                && signal(&self.detectors[*before]) == signal(detector)
            {
                pen.line(&[*from, at], BLUE.stroke_width(1));
            }
            points.push((index, at));
        }
        // The one to ship is named, and the ends of each signal.
        let is_named = |index: usize| Some(index) == self.ship || self.is_end(index);
        points.sort_by_key(|(index, _)| (Some(*index) != self.ship, !is_named(*index)));
        let labelled: Vec<Labelled> = points
            .iter()
            .map(|(index, at)| Labelled { at: *at, texts: vec![self.detectors[*index].stack.to_string()] })
            .collect();
        for (index, at) in points.iter().rev() {
            pen.dot(*at, 5, if Some(*index) == self.ship { BLUE } else { WHITE }, BLUE);
        }
        for ((index, at), placed) in points.iter().zip(place(&labelled, plane.frame(), &[], &[])) {
            let Some(placed) = placed.filter(|_| is_named(*index)) else { continue };
            if let Some(from) = placed.leader {
                pen.line(&[from, *at], STONE);
            }
            pen.text(&placed.text, placed.at, TextStyle::SMALL.colour(INK));
        }
    }
}

/// The signal of a limit, with which the name of its rule begins.
fn signal(detector: &Detector) -> &str {
    detector.stack.split_whitespace().next().unwrap_or_default()
}

impl Picture for DetectorFigure {
    fn draw(&self, pen: &mut Pen) -> (u32, u32) {
        let head = self.head();
        head.draw(pen);
        let top = head.bottom() + ABOVE;
        let [curve, precision] = PANELS.map(|panel| Plane {
            x: Scale::new((0.0, 100.0), panel),
            y: Scale::new((0.0, 100.0), (top + HEIGHT, top)),
            pad: 0,
        });
        let every_fifth = ticks(0.0, 100.0, 5, Quantity::Percent, true);
        let ticks = (&every_fifth[..], &every_fifth[..]);
        curve.draw(pen, ticks, ("successes ended early, %", "failures ended early, %"));
        precision.draw(pen, ticks, ("failures ended early, %", "of the runs ended early, fail, %"));
        pen.line(&[curve.at(0.0, 0.0), curve.at(100.0, 100.0)], STONE.stroke_width(1));
        let base = self.base_rate() * 100.0;
        let (right, y) = precision.at(100.0, base);
        pen.line(&[precision.at(0.0, base), (right, y)], STONE.stroke_width(1));
        let name = format!("of all runs, {base:.0} % fail");
        pen.text(&name, (right, y - 10), TextStyle::SMALL.colour(GREY).ending());
        self.draw_limits(pen, &curve, |detector| Some((detector.false_alarms()?, detector.recall()?)));
        self.draw_limits(pen, &precision, |detector| Some((detector.recall()?, detector.precision()?)));
        (WIDTH, (top + HEIGHT + BELOW).unsigned_abs())
    }
}
