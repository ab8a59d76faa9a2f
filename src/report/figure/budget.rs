//! Success by budget, one curve a suite and model.

use plotters::prelude::*;

use super::canvas::{Drawing, FigureError, Picture};
use super::style::{self, AMBER, BLUE, FAINT, GREEN, GREY, INK, LABEL, RED, SMALL, STONE, TEAL, TITLE};
use crate::aggregate::BudgetCurve;
use crate::stats::Interval;

/// The budget curves of a corpus.
pub struct BudgetFigure<'a> {
    /// The curves.
    pub curves: &'a [BudgetCurve],
    /// What was recorded, for the subtitle.
    pub subtitle: String,
}

/// Colours in turn; beyond them curves share a colour and are told apart by their number.
const COLOURS: [RGBColor; 7] = [BLUE, RED, GREEN, AMBER, TEAL, INK, STONE];
/// With more curves than this the bands would only hide each other; the table has them.
const MOST_BANDS: usize = 7;
const LEGEND: u32 = 340;
const ROW: i32 = 19;

impl Picture for BudgetFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let rows = u32::try_from(self.curves.len()).unwrap_or(u32::MAX).saturating_mul(19);
        (1120, 560.max(rows.saturating_add(130)))
    }

    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let unit = self.curves.first().map_or("steps", |curve| curve.unit.name());
        let title = format!("Success by budget of {unit}");
        area.draw(&Text::new(title, (20, 14), ("sans-serif", TITLE).into_font().color(&INK))).map_err(error)?;
        let small = ("sans-serif", SMALL).into_font().color(&GREY);
        let note = format!(
            "{}; Aalen-Johansen, capped runs cut off; a cross ends what is known; bands: 95 %, by task",
            self.subtitle
        );
        area.draw(&Text::new(note, (20, 42), small.clone())).map_err(error)?;
        let (body, legend) = area.margin(64, 10, 10, 10).split_horizontally(1120 - LEGEND - 20);
        // Beyond the last success every curve is flat.
        let right = self.curves.iter().map(last_success).fold(1.0, f64::max) * 1.2;
        let ends = self.curves.iter().filter_map(|curve| curve.curve.steps.last()).map(|step| step.at);
        let right = ends.fold(1.0, f64::max).min(right);
        let mut chart = ChartBuilder::on(&body)
            .x_label_area_size(48)
            .y_label_area_size(62)
            .margin(8)
            .build_cartesian_2d(0.0..right * 1.03, 0.0..100.0)
            .map_err(error)?;
        chart
            .configure_mesh()
            .x_desc(format!("budget, {unit} a run"))
            .x_label_formatter(&|budget| format!("{budget:.0}"))
            .y_desc("runs with success by then, %")
            .axis_desc_style(("sans-serif", LABEL).into_font().color(&INK))
            .label_style(small.clone())
            .light_line_style(WHITE)
            .bold_line_style(FAINT)
            .axis_style(GREY)
            .draw()
            .map_err(error)?;
        if self.curves.len() <= MOST_BANDS {
            for (curve, colour) in self.curves.iter().zip(COLOURS) {
                let band = Polygon::new(band(curve, right * 1.03), colour.mix(0.12).filled());
                chart.draw_series([band]).map_err(error)?;
            }
        }
        for (index, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let points = steps(curve, right * 1.03);
            if let (Some(end), Some(_)) = (points.last().copied(), curve.curve.known_to.filter(|known| *known <= right))
            {
                chart.draw_series([Cross::new(end, 5, colour.stroke_width(2))]).map_err(error)?;
            }
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2))).map_err(error)?;
        }
        for (index, (curve, y)) in
            self.curves.iter().zip((4_i32..).step_by(usize::try_from(ROW).unwrap_or(19))).enumerate()
        {
            let colour = COLOURS[index % COLOURS.len()];
            legend.draw(&Rectangle::new([(0, y + 4), (14, y + 8)], colour.filled())).map_err(error)?;
            let name =
                [curve.suite.as_deref(), curve.model.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(", ");
            let text = format!("{} ({} runs)", style::clipped(&name, 34), curve.runs);
            legend.draw(&Text::new(text, (20, y), ("sans-serif", SMALL).into_font().color(&INK))).map_err(error)?;
        }
        Ok(())
    }
}

/// The budget of the last success.
fn last_success(curve: &BudgetCurve) -> f64 {
    let total = curve.curve.steps.last().map_or(0.0, |step| step.incidence);
    curve.curve.steps.iter().find(|step| step.incidence >= total).map_or(0.0, |step| step.at)
}

/// The corners of the step curve up to `right`, in percent; ends where what is known ends.
fn steps(curve: &BudgetCurve, right: f64) -> Vec<(f64, f64)> {
    let known_to = curve.curve.known_to.unwrap_or(f64::INFINITY);
    let shown = curve.curve.steps.iter().take_while(|step| step.at <= known_to);
    corners(shown.map(|step| (step.at, step.incidence)), right)
}

/// The outline of the band: along the lower ends and back along the upper ones.
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
