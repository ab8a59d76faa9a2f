//! Figure: killed and saved against the limit, one panel per signal; ship the limit at which the curves diverge.

use plotters::prelude::*;

use super::canvas::{Drawing, FigureError, Picture};
use super::frontier::ungraded;
use super::pen::{At, Head, Look, MARGIN, Pen, WIDTH};
use super::scale::{Plane, Quantity, Scale, Tick, ticks};
use super::style::{self, BLUE, GREY, INK, RED, SMALL};
use crate::stats::RangeEstimate;
use crate::sweep::{Grid, Results, SettingResult};
use crate::words::chosen_percent;

/// The sweep figure.
pub struct SweepFigure<'a> {
    /// The grid, for names and units.
    pub grid: &'a Grid,
    /// The numbers of every setting.
    pub results: &'a Results,
    /// The index of the chosen setting, which is marked.
    pub chosen: Option<usize>,
    /// The highest tolerated rate of false early stops, drawn as a line.
    pub max_killed: f64,
    /// The subtitle: what was swept over.
    pub subtitle: String,
}

const HEIGHT: i32 = 440;
const LEGEND: i32 = 26;

impl SweepFigure<'_> {
    /// Number of panels side by side.
    fn columns(&self) -> i32 {
        if self.grid.axes.len() < 2 { 1 } else { 2 }
    }

    fn is_ungraded(&self) -> bool {
        self.results.settings.iter().all(|setting| setting.summary.outcomes.recorded.is_none())
    }

    fn head(&self) -> Head {
        let head = Head::new("Killed and saved against the limit");
        if self.is_ungraded() {
            let runs = self.results.settings.iter().map(|setting| setting.summary.runs).max().unwrap_or(0);
            return head.sentence(&ungraded(runs)).note(&self.subtitle);
        }
        head.note(&self.subtitle)
    }

    /// The settings of an axis with their indices among all settings, ordered by limit.
    fn of_axis(&self, axis: usize) -> Vec<(usize, &SettingResult)> {
        let mut own: Vec<(usize, &SettingResult)> =
            self.results.settings.iter().enumerate().filter(|(_, setting)| setting.axis == axis).collect();
        own.sort_by(|a, b| a.1.limit.total_cmp(&b.1.limit));
        own
    }
}

impl Picture for SweepFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let top = self.head().bottom();
        if self.is_ungraded() {
            return (WIDTH, top.unsigned_abs() + 20);
        }
        let panels = i32::try_from(self.grid.axes.len().max(1)).unwrap_or(1);
        let rows = (panels + self.columns() - 1) / self.columns();
        (WIDTH, (top + LEGEND + rows.saturating_mul(HEIGHT)).unsigned_abs())
    }

    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let pen = Pen::on(area);
        let head = self.head();
        head.draw(&pen)?;
        if self.is_ungraded() {
            return Ok(());
        }
        let (mut x, y) = (MARGIN, head.bottom() + 8);
        let saved = format!("{} saved on failures and after success, % of all", self.results.unit.noun());
        for (text, colour) in [("successes killed, % of successes", RED), (&saved, BLUE)] {
            pen.dot((x + 7, y), 5, colour, colour)?;
            pen.text(text, (x + 20, y), Look::SMALL)?;
            x += 44 + style::width(text, SMALL);
        }
        let tolerated = format!("tolerated killed: {}", chosen_percent(self.max_killed));
        pen.dashes((x, y), (x + 20, y), INK.stroke_width(1))?;
        pen.text(&tolerated, (x + 28, y), Look::SMALL)?;
        x += 52 + style::width(&tolerated, SMALL);
        if self.results.settings.iter().flat_map(|setting| [killed(setting), useful(setting)]).any(|of| is_range(&of)) {
            pen.text("box: known only within bounds", (x, y), Look::SMALL.colour(GREY))?;
        }
        let width = WIDTH.cast_signed() / self.columns();
        for (axis, place) in (0..self.grid.axes.len()).zip(0..) {
            let (column, row) = (place % self.columns(), place / self.columns());
            self.draw_panel(&pen, axis, (column * width, head.bottom() + LEGEND + row * HEIGHT), width)?;
        }
        Ok(())
    }
}

impl SweepFigure<'_> {
    fn draw_panel<B: DrawingBackend>(
        &self,
        pen: &Pen<'_, B>,
        axis: usize,
        (left, top): At,
        width: i32,
    ) -> Result<(), FigureError> {
        let Some(of) = self.grid.axes.get(axis) else { return Ok(()) };
        let settings = self.of_axis(axis);
        let name = axis_name(&of.name(), of.unit());
        let estimates = || settings.iter().flat_map(|(_, setting)| [killed(setting), useful(setting)]);
        if !estimates().any(|estimate| estimate.is_defined()) {
            let text = format!("{name}: no run tells what the signal reads, so there is nothing to draw.");
            let lines = style::wrapped(&text, SMALL, width - 2 * MARGIN - 20);
            return (0..)
                .zip(lines)
                .try_for_each(|(at, line)| pen.text(&line, (left + MARGIN, top + 60 + at * 19), Look::SMALL));
        }
        let highs = estimates().filter_map(|estimate| estimate.upper().or(estimate.high.value));
        let high = (highs.fold(self.max_killed * 1.5, f64::max) * 104.0).min(104.0);
        let lows = estimates().filter_map(|estimate| estimate.lower().or(estimate.low.value));
        let low = (lows.fold(0.0, f64::min) * 104.0).max(-100.0);
        let count = settings.len() as f64;
        let plane = Plane {
            x: Scale::new((-0.5, count - 0.5), (left + 66, left + width - 30)),
            y: Scale::new((low, high), (top + HEIGHT - 64, top + 44)),
            pad: 0,
        };
        let x_ticks = limit_ticks(&settings, width - 96);
        plane.draw(pen, (&x_ticks, &ticks(low, high, 8, Quantity::Percent, false)), (&name, "%"))?;
        let (left, top, right, bottom) = plane.frame();
        let tolerated = plane.y.at(self.max_killed * 100.0);
        pen.dashes((left, tolerated), (right, tolerated), INK.stroke_width(1))?;
        for (colour, shift, of) in [(RED, -4, killed as Of), (BLUE, 4, useful as Of)] {
            draw_curve(pen, &plane, &settings, colour, shift, of)?;
        }
        if let Some(at) = settings.iter().position(|(at, _)| self.chosen == Some(*at)) {
            let x = plane.x.at(at as f64);
            pen.dashes((x, top), (x, bottom), INK.stroke_width(1))?;
            pen.text("chosen", (x, top - 9), Look::SMALL.centred())?;
        }
        Ok(())
    }
}

/// Selects one of the two curves.
type Of = fn(&SettingResult) -> RangeEstimate;

fn killed(setting: &SettingResult) -> RangeEstimate {
    setting.summary.fes_rate()
}

fn useful(setting: &SettingResult) -> RangeEstimate {
    setting.useful
}

/// Draws points with their intervals, connected if both neighbours are points; boxes if only bounds are known.
fn draw_curve<B: DrawingBackend>(
    pen: &Pen<'_, B>,
    plane: &Plane,
    settings: &[(usize, &SettingResult)],
    colour: RGBColor,
    shift: i32,
    of: Of,
) -> Result<(), FigureError> {
    let (_, _, _, bottom) = plane.frame();
    let mut line: Vec<At> = Vec::new();
    for (at, (_, setting)) in settings.iter().enumerate() {
        let estimate = of(setting);
        let x = plane.x.at(at as f64) + shift;
        let y = |share: f64| plane.y.at(share * 100.0);
        if let Some(interval) = estimate.interval() {
            pen.line(&[(x, y(interval.low)), (x, y(interval.high))], colour.mix(0.45).stroke_width(2))?;
        }
        if let Some(value) = estimate.value() {
            line.push((x, y(value)));
            continue;
        }
        if let Some(high) = estimate.high.value {
            let low = estimate.low.value.map_or(bottom, y);
            pen.rectangle((x - 4, y(high) - 1, x + 4, low + 1), colour.mix(0.25).filled())?;
            pen.rectangle((x - 4, y(high) - 1, x + 4, low + 1), colour)?;
            if estimate.low.value.is_none() {
                // A triangle: nothing limits it from below.
                pen.shape(&[(x - 6, bottom - 8), (x + 6, bottom - 8), (x, bottom)], colour.filled())?;
            }
        }
        draw_line(pen, &std::mem::take(&mut line), colour)?;
    }
    draw_line(pen, &line, colour)
}

fn draw_line<B: DrawingBackend>(pen: &Pen<'_, B>, points: &[At], colour: RGBColor) -> Result<(), FigureError> {
    if points.len() > 1 {
        pen.line(points, colour.stroke_width(2))?;
    }
    points.iter().try_for_each(|point| pen.dot(*point, 4, colour, colour))
}

fn is_range(estimate: &RangeEstimate) -> bool {
    estimate.is_defined() && !estimate.is_point()
}

/// The limits, or every second, third … if all of them do not fit within `width`.
fn limit_ticks(settings: &[(usize, &SettingResult)], width: i32) -> Vec<Tick> {
    let labels: Vec<Tick> =
        settings.iter().enumerate().map(|(at, (_, setting))| (at as f64, short(setting.limit))).collect();
    let widest = labels.iter().map(|(_, label)| style::width(label, SMALL) + 10).max().unwrap_or(0);
    let room = usize::try_from(width / widest.max(1)).unwrap_or(1).max(1);
    let every = labels.len().div_ceil(room).max(1);
    labels.into_iter().step_by(every).collect()
}

fn axis_name(name: &str, unit: &str) -> String {
    format!("{name} … ({unit})")
}

/// Formats a limit briefly: `200k`, `1.5M`.
pub fn short(limit: f64) -> String {
    let (value, suffix) = match limit.abs() {
        size if size >= 1e6 => (limit / 1e6, "M"),
        size if size >= 1e4 => (limit / 1e3, "k"),
        _ => (limit, ""),
    };
    let text = format!("{value:.3}");
    format!("{}{suffix}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_short() {
        assert_eq!([2.0, 0.05, 50_000.0, 1_500_000.0, 0.0].map(short), ["2", "0.05", "50k", "1.5M", "0"]);
    }
}
