//! Figure: success by budget, one curve per suite and model.

use plotters::prelude::*;

use super::canvas::Picture;
use super::pen::{At, FigureHeading, MARGIN, Pen, TextStyle, WIDTH};
use super::scale::{Plane, Quantity, Scale, log_ticks, ticks};
use super::style::{self, AMBER, BLUE, GREEN, GREY, INK, RED, SMALL, STONE, TEAL};
use crate::aggregate::{BudgetCurve, Unit};
use crate::stats::Interval;

/// The budget curves figure of a corpus.
pub struct BudgetFigure<'a> {
    /// The curves.
    pub curves: &'a [BudgetCurve],
    /// The subtitle: what was recorded.
    pub subtitle: String,
}

/// One colour per curve. If there are more curves, the largest groups are drawn; the table has them all.
const COLOURS: [RGBColor; 7] = [BLUE, RED, GREEN, AMBER, TEAL, INK, STONE];
/// With more curves than this no bands are drawn: they would only hide each other.
const MOST_BANDS: usize = 4;
/// Groups with fewer tasks are left out if others are larger.
const FEW_TASKS: u64 = 8;
/// Curves whose last successes are further apart than by this factor are drawn on a logarithmic axis.
const DIFFERENT: f64 = 8.0;
const PLANE: (i32, i32) = (66, 756);
const LEGEND: i32 = 782;
const HEIGHT: i32 = 440;
const ROW: i32 = 40;

impl BudgetFigure<'_> {
    /// The largest groups, in table order.
    fn drawn(&self) -> Vec<&BudgetCurve> {
        let mut by_size: Vec<(usize, &BudgetCurve)> = self.curves.iter().enumerate().collect();
        by_size.sort_by_key(|(at, curve)| (std::cmp::Reverse(curve.runs), *at));
        // A curve of few tasks says little beside others; with a single task it is one step from 0 to all.
        let least = [FEW_TASKS, 2].into_iter().find(|least| by_size.iter().any(|(_, curve)| curve.tasks >= *least));
        if let Some(least) = least {
            by_size.retain(|(_, curve)| curve.tasks >= least);
        }
        by_size.truncate(if least.is_some() { COLOURS.len() } else { 1 });
        by_size.sort_by_key(|(at, _)| *at);
        by_size.into_iter().map(|(_, curve)| curve).collect()
    }

    fn unit(&self) -> Unit {
        self.curves.first().map_or(Unit::Steps, |curve| curve.unit)
    }

    fn head(&self) -> FigureHeading {
        let noun = style::amounts(self.unit());
        if self.curves.is_empty() {
            return FigureHeading::new("Success by budget")
                .sentence(
                    "No run has both an outcome and a recorded cost: nothing can be said about what a budget would achieve.",
                )
                .note(&self.subtitle);
        }
        let drawn = self.drawn();
        let mut notes =
            vec!["a cross ends what is known: beyond it, capped runs might have gone on to succeed".to_owned()];
        if !drawn.iter().any(|curve| curve.curve.known_to.is_some()) {
            notes.clear();
        }
        if drawn.len() <= MOST_BANDS && drawn.iter().any(|curve| curve.band.iter().any(Option::is_some)) {
            notes.push("bands: 95 % intervals, by task".to_owned());
        }
        let left: Vec<&BudgetCurve> =
            self.curves.iter().filter(|curve| !drawn.iter().any(|drawn| std::ptr::eq(*drawn, *curve))).collect();
        if !left.is_empty() {
            let runs: u64 = left.iter().map(|curve| curve.runs).sum();
            let groups = if left.len() == 1 { "group is" } else { "groups are" };
            notes.push(format!("{} smaller {groups} in budget.csv ({runs} runs)", left.len()));
        }
        let head = FigureHeading::new(format!("Success by budget in {noun}: the runs as recorded, without any stack"));
        let head = head.note(&self.subtitle);
        if notes.is_empty() { head } else { head.note(&notes.join("; ")) }
    }
}

impl Picture for BudgetFigure<'_> {
    fn draw(&self, pen: &mut Pen) -> (u32, u32) {
        let head = self.head();
        head.draw(pen);
        let drawn = self.drawn();
        if drawn.is_empty() {
            return (WIDTH, (head.bottom() + 20).unsigned_abs());
        }
        // Every curve is flat beyond the last success.
        let right = drawn.iter().map(|curve| last_success(curve)).fold(0.0, f64::max) * 1.2;
        let ends = drawn.iter().filter_map(|curve| curve.curve.steps.last()).map(|step| step.at).fold(0.0, f64::max);
        let right = if right > 0.0 { ends.min(right) } else { ends };
        let right = if right > 0.0 { right * 1.03 } else { 1.0 };
        let top = head.bottom() + 40;
        let quantity = Quantity::from_unit(self.unit());
        let (x, x_ticks) = match logarithmic_from(&drawn) {
            Some(left) => (Scale::new((left, right), PLANE).logged(), log_ticks(left, right, quantity)),
            None => (Scale::new((0.0, right), PLANE), ticks(0.0, right, 8, quantity, self.unit() != Unit::CostUsd)),
        };
        let plane = Plane { x, y: Scale::new((0.0, 100.0), (top + HEIGHT, top)), pad: 0 };
        let y_ticks = ticks(0.0, 100.0, 10, Quantity::Percent, true);
        let scale = if logarithmic_from(&drawn).is_some() { ", logarithmic scale" } else { "" };
        let x_name = format!("budget, {} a run{scale}", style::amounts(self.unit()));
        plane.draw(pen, (&x_ticks, &y_ticks), (&x_name, "runs with success by then, %"));
        let pixels = |points: Vec<(f64, f64)>| -> Vec<At> { points.into_iter().map(|(x, y)| plane.at(x, y)).collect() };
        let coloured = || drawn.iter().zip(COLOURS);
        if drawn.len() <= MOST_BANDS {
            for (curve, colour) in coloured() {
                pen.shape(&pixels(band(curve, right)), colour.mix(0.12).filled());
            }
        }
        for (curve, colour) in coloured() {
            let points = pixels(steps(curve, right));
            if let (Some(end), Some(_)) = (points.last(), curve.curve.known_to.filter(|known| *known <= right)) {
                pen.cross(*end, 5, colour.stroke_width(2));
            }
            pen.line(&points, colour.stroke_width(2));
        }
        let room = WIDTH.cast_signed() - MARGIN - LEGEND - 22;
        let mut y = top + 10;
        for (curve, colour) in coloured() {
            pen.rectangle((LEGEND, y - 2, LEGEND + 14, y + 2), colour.filled());
            pen.text(&style::fitted(&name(curve), SMALL, room), (LEGEND + 22, y), TextStyle::SMALL);
            let cut_off =
                if curve.cut_off > 0 { format!(", {} cut off by a cap", curve.cut_off) } else { String::new() };
            let of = format!("{} runs of {} tasks{cut_off}", curve.runs, curve.tasks);
            pen.text(&of, (LEGEND + 22, y + 17), TextStyle::SMALL.colour(GREY));
            y += ROW;
        }
        (WIDTH, (head.bottom() + HEIGHT + 120).unsigned_abs())
    }
}

fn name(curve: &BudgetCurve) -> String {
    let parts: Vec<&str> = [curve.suite.as_deref(), curve.model.as_deref()].into_iter().flatten().collect();
    if parts.is_empty() { "all runs".to_owned() } else { parts.join(", ") }
}

/// Where a logarithmic axis begins, if the curves end in budgets of different orders of magnitude: on a linear axis the
/// short ones would be a line at its left.
fn logarithmic_from(curves: &[&BudgetCurve]) -> Option<f64> {
    let ends = curves.iter().map(|curve| last_success(curve)).filter(|end| *end > 0.0);
    let (short, long) = ends.fold((f64::INFINITY, 0.0_f64), |(short, long), end| (short.min(end), long.max(end)));
    let first = |curve: &&BudgetCurve| curve.curve.steps.iter().map(|step| step.at).find(|at| *at > 0.0);
    let begins = curves.iter().filter_map(first).fold(f64::INFINITY, f64::min);
    if long > short * DIFFERENT && begins.is_finite() && begins < long { Some(begins) } else { None }
}

/// The budget of the last success.
fn last_success(curve: &BudgetCurve) -> f64 {
    let Some(last) = curve.curve.steps.last() else { return 0.0 };
    match curve.curve.steps.iter().find(|step| step.incidence >= last.incidence) {
        Some(step) => step.at,
        None => 0.0,
    }
}

/// The corners of the step curve up to `right`, in percent; stops at the end of the known range.
fn steps(curve: &BudgetCurve, right: f64) -> Vec<(f64, f64)> {
    let known_to = curve.curve.known_to.unwrap_or(f64::INFINITY);
    let shown = curve.curve.steps.iter().take_while(|step| step.at <= known_to);
    corners(shown.map(|step| (step.at, step.incidence)), right)
}

/// The outline of the band: along the lower ends and back along the upper ends.
fn band(curve: &BudgetCurve, right: f64) -> Vec<(f64, f64)> {
    let known = || curve.curve.steps.iter().zip(&curve.band).filter_map(|(step, band)| Some((step.at, (*band)?)));
    let Some((first, _)) = known().next() else { return Vec::new() };
    let side = |end: fn(Interval) -> f64| -> Vec<(f64, f64)> {
        let corners = corners(known().map(|(at, interval)| (at, end(interval))), right);
        corners.into_iter().filter(|(at, _)| *at >= first).collect()
    };
    let (low, high) = (side(|interval| interval.low), side(|interval| interval.high));
    low.into_iter().chain(high.into_iter().rev()).collect()
}

/// A step function's corners up to `right`, in percent.
fn corners(values: impl Iterator<Item = (f64, f64)>, right: f64) -> Vec<(f64, f64)> {
    let mut points = vec![(0.0, 0.0)];
    let mut level = 0.0;
    let mut last = 0.0_f64;
    for (at, value) in values {
        last = at;
        if at > right {
            break;
        }
        points.push((at, level));
        level = value * 100.0;
        points.push((at, level));
    }
    points.push((last.min(right), level));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{Group, Rows, budget_curves};

    #[test]
    fn without_curves_there_is_a_sentence() {
        let figure = BudgetFigure { curves: &[], subtitle: "nothing".to_owned() };
        assert!(figure.draw(&mut Pen::default()).1 < 140);
    }

    #[test]
    fn the_largest_of_many_groups_are_drawn_in_their_order() {
        let none = Rows::default();
        assert!(budget_curves(&Group::empty(&none), Unit::Steps).is_empty());
        let curve = |runs: u64| BudgetCurve {
            suite: Some(format!("suite-{runs}").as_str().into()),
            model: None,
            unit: Unit::Steps,
            runs,
            tasks: runs,
            cut_off: 0,
            informative: 0,
            most: crate::stats::incidence::Incidence::default(),
            curve: crate::stats::incidence::Incidence::default(),
            band: Vec::new(),
        };
        let curves: Vec<BudgetCurve> = [7, 19, 12, 18, 13, 17, 14, 16, 15].map(curve).into();
        let figure = BudgetFigure { curves: &curves, subtitle: String::new() };
        let runs: Vec<u64> = figure.drawn().iter().map(|curve| curve.runs).collect();
        assert_eq!(runs, [19, 18, 13, 17, 14, 16, 15]);
        let few: Vec<BudgetCurve> = [3, 1, 2].map(curve).into();
        assert_eq!(BudgetFigure { curves: &few, subtitle: String::new() }.drawn().len(), 2);
        let lone: Vec<BudgetCurve> = [1, 1].map(curve).into();
        assert_eq!(BudgetFigure { curves: &lone, subtitle: String::new() }.drawn().len(), 1);
    }
}
