//! Savings against false early stops, with the frontier: the figure that says which stack to ship.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Drawing, FigureError, Picture};
use super::style::{self, BLUE, FAINT, GREY, INK, LABEL, RED, SMALL, TITLE};
use crate::aggregate::{FrontierPoint, Summary};

/// The frontier of a comparison.
pub struct FrontierFigure<'a> {
    /// The points, in stack order.
    pub points: &'a [FrontierPoint],
    /// The same stacks' summaries, for the intervals.
    pub summaries: &'a [Summary],
    /// What was compared, for the subtitle.
    pub subtitle: String,
}

const LEGEND: u32 = 330;
const ROW: u32 = 19;

impl Picture for FrontierFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let rows = u32::try_from(self.points.len()).unwrap_or(u32::MAX).saturating_mul(ROW);
        (1120, 620.max(rows.saturating_add(130)))
    }

    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let (width, _) = self.size();
        let ink = |size: u32| ("sans-serif", size).into_font().color(&INK);
        area.draw(&Text::new("Cost saved against successes killed", (20, 14), ink(TITLE))).map_err(error)?;
        area.draw(&Text::new(self.subtitle.clone(), (20, 42), ("sans-serif", SMALL).into_font().color(&GREY)))
            .map_err(error)?;
        let (body, legend) = area.margin(64, 10, 10, 10).split_horizontally(width - LEGEND - 20);
        self.draw_plane(&body)?;
        self.draw_legend(&legend)
    }
}

impl FrontierFigure<'_> {
    /// Percentages of each placed stack: number, killed, saved, interval of killed, on the frontier.
    fn placed(&self) -> Vec<Placed> {
        let numbered = self.points.iter().zip(self.summaries).zip(1..);
        numbered
            .filter_map(|((point, summary), number)| {
                let interval = summary.estimates.fes_rate.interval;
                Some(Placed {
                    number,
                    killed: point.fes_rate.value? * 100.0,
                    saved: point.saved_ratio.value? * 100.0,
                    interval: interval.map(|interval| (interval.low * 100.0, interval.high * 100.0)),
                    on_frontier: point.on_frontier,
                })
            })
            .collect()
    }

    fn draw_plane<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let placed = self.placed();
        let ends = placed.iter().map(|p| p.interval.map_or(p.killed, |(_, high)| high.min(p.killed * 3.0 + 5.0)));
        let right = ends.fold(5.0_f64, f64::max) * 1.06;
        let top = placed.iter().map(|p| p.saved).fold(5.0_f64, f64::max) * 1.1;
        let mut chart = ChartBuilder::on(area)
            .x_label_area_size(48)
            .y_label_area_size(62)
            .margin(8)
            .build_cartesian_2d(-right * 0.02..right, -top * 0.02..top)
            .map_err(error)?;
        let unit = self.points.first().map_or("steps", |point| point.unit.name());
        chart
            .configure_mesh()
            .x_desc("successes killed, % of successes (bar: 95 % interval); left is better")
            .y_desc(format!("{unit} saved on failures and after success, %; up is better"))
            .axis_desc_style(("sans-serif", LABEL).into_font().color(&INK))
            .label_style(("sans-serif", SMALL).into_font().color(&GREY))
            .light_line_style(WHITE)
            .bold_line_style(FAINT)
            .axis_style(GREY)
            .draw()
            .map_err(error)?;
        let mut line: Vec<(f64, f64)> = placed.iter().filter(|p| p.on_frontier).map(|p| (p.killed, p.saved)).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let steps: Vec<(f64, f64)> =
            line.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]).chain(line.last().copied()).collect();
        chart.draw_series(LineSeries::new(steps, BLUE.mix(0.6).stroke_width(2))).map_err(error)?;
        for p in &placed {
            let colour = if p.on_frontier { BLUE } else { RED };
            if let Some((low, high)) = p.interval {
                let bar = vec![(low.max(0.0), p.saved), (high.min(right), p.saved)];
                chart.draw_series(LineSeries::new(bar, colour.mix(0.35).stroke_width(1))).map_err(error)?;
            }
            chart.draw_series([Circle::new((p.killed, p.saved), 5, colour.filled())]).map_err(error)?;
        }
        for (p, (dx, dy)) in placed.iter().zip(label_places(&placed, right, top)) {
            let style = ("sans-serif", SMALL).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
            let label = EmptyElement::at((p.killed, p.saved)) + Text::new(p.number.to_string(), (dx, dy), style);
            chart.draw_series([label]).map_err(error)?;
        }
        Ok(())
    }

    fn draw_legend<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let head = "on the frontier: blue; beaten: red";
        area.draw(&Text::new(head, (0, 0), ("sans-serif", SMALL).into_font().color(&GREY))).map_err(error)?;
        for (index, point) in (0_i32..).zip(self.points) {
            let y = 26 + index * i32::try_from(ROW).unwrap_or(0);
            let colour = if point.axes().is_none() {
                GREY
            } else if point.on_frontier {
                BLUE
            } else {
                RED
            };
            area.draw(&Circle::new((6, y + 7), 4, colour.filled())).map_err(error)?;
            let place = point.axes().map_or_else(
                || "not placed".to_owned(),
                |(killed, saved)| format!("{:.1} / {:.1}", killed * 100.0, saved * 100.0),
            );
            let text = format!("{} {}", index + 1, style::clipped(&point.stack, 29));
            area.draw(&Text::new(text, (16, y), ("sans-serif", SMALL).into_font().color(&INK))).map_err(error)?;
            let right = ("sans-serif", SMALL).into_font().color(&GREY).pos(Pos::new(HPos::Right, VPos::Top));
            area.draw(&Text::new(place, (i32::try_from(LEGEND).unwrap_or(0) - 6, y), right)).map_err(error)?;
        }
        Ok(())
    }
}

/// One stack on the plane, in percent.
struct Placed {
    number: u32,
    killed: f64,
    saved: f64,
    interval: Option<(f64, f64)>,
    on_frontier: bool,
}

/// Offsets in pixels that keep the numbers of neighbouring points apart.
fn label_places(placed: &[Placed], right: f64, top: f64) -> Vec<(i32, i32)> {
    let near =
        |a: &Placed, b: &Placed| (a.killed - b.killed).abs() < right * 0.025 && (a.saved - b.saved).abs() < top * 0.025;
    placed
        .iter()
        .enumerate()
        .map(|(index, point)| {
            let crowd = placed[..index].iter().filter(|other| near(other, point)).count();
            (8 + 20 * i32::try_from(crowd % 8).unwrap_or(0), -8 - 12 * i32::try_from(crowd / 8).unwrap_or(0))
        })
        .collect()
}
