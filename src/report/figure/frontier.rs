//! Savings against false early stops, with the frontier: the figure that says which stack to ship.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Drawing, FigureError, Picture};
use super::labels::{Labelled, place};
use super::style::{self, BLUE, FAINT, GREY, INK, LABEL, RED, SMALL, STONE, TITLE};
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
/// From this share of killed successes on, in percent, the axis is drawn on a square-root scale.
const ROOTED_FROM: f64 = 50.0;

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
    /// Percentages of each placed stack.
    fn placed(&self) -> Vec<Placed> {
        let numbered = self.points.iter().zip(self.summaries).zip(1..);
        numbered
            .filter_map(|((point, summary), number)| {
                let interval = summary.estimates.fes_rate.interval();
                Some(Placed {
                    number,
                    name: style::clipped(&point.stack, 22),
                    killed: point.axes()?.0 * 100.0,
                    saved: point.axes()?.1 * 100.0,
                    interval: interval.map(|interval| (interval.low * 100.0, interval.high * 100.0)),
                    colour: colour(point),
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
        // One stack that kills nearly everything would push all others into a corner.
        let axis = Axis { rooted: right > ROOTED_FROM };
        let mut chart = ChartBuilder::on(area)
            .x_label_area_size(48)
            .y_label_area_size(62)
            .margin(8)
            .build_cartesian_2d(-axis.of(right) * 0.02..axis.of(right), -top * 0.02..top)
            .map_err(error)?;
        let unit = self.points.first().map_or("steps", |point| point.unit.name());
        let scale = if axis.rooted { ", square-root scale" } else { "" };
        chart
            .configure_mesh()
            .x_desc(format!("successes killed, % of successes (bar: 95 % interval{scale}); left is better"))
            .x_label_formatter(&|x| format!("{:.0}", axis.back(*x)))
            .y_desc(format!("{unit} saved on failures and after success, %; up is better"))
            .y_label_formatter(&|y| format!("{y:.0}"))
            .axis_desc_style(("sans-serif", LABEL).into_font().color(&INK))
            .label_style(("sans-serif", SMALL).into_font().color(&GREY))
            .light_line_style(WHITE)
            .bold_line_style(FAINT)
            .axis_style(GREY)
            .draw()
            .map_err(error)?;
        let mut line: Vec<(f64, f64)> =
            placed.iter().filter(|p| p.on_frontier).map(|p| (axis.of(p.killed), p.saved)).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let steps: Vec<(f64, f64)> =
            line.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]).chain(line.last().copied()).collect();
        chart.draw_series(LineSeries::new(steps, BLUE.mix(0.6).stroke_width(2))).map_err(error)?;
        // The frontier is drawn last, on top.
        for p in placed.iter().filter(|p| !p.on_frontier).chain(placed.iter().filter(|p| p.on_frontier)) {
            if let Some((low, high)) = p.interval {
                let bar = vec![(axis.of(low.max(0.0)), p.saved), (axis.of(high.min(right)), p.saved)];
                chart.draw_series(LineSeries::new(bar, p.colour.mix(0.35).stroke_width(1))).map_err(error)?;
            }
            let dot = Circle::new((axis.of(p.killed), p.saved), 5, p.colour.filled());
            chart.draw_series([dot]).map_err(error)?;
        }
        let (groups, labelled): (Vec<(f64, f64)>, Vec<Labelled>) =
            groups(&placed, |p| chart.backend_coord(&(axis.of(p.killed), p.saved)))
                .into_iter()
                .map(|(first, labelled)| ((axis.of(first.killed), first.saved), labelled))
                .unzip();
        let (x, y) = chart.plotting_area().get_pixel_range();
        let bounds = (x.start, y.start, x.end, y.end);
        for (at, label) in groups.into_iter().zip(place(&labelled, bounds)) {
            let Some((text, offset)) = label else { continue };
            let style = ("sans-serif", SMALL).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
            chart.draw_series([EmptyElement::at(at) + Text::new(text, offset, style)]).map_err(error)?;
        }
        Ok(())
    }

    fn draw_legend<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let head = "blue: on the frontier; red: beaten; grey: neither kills nor saves";
        let small = ("sans-serif", SMALL - 1).into_font().color(&GREY);
        area.draw(&Text::new(head, (-60, 0), small)).map_err(error)?;
        for (index, point) in (0_i32..).zip(self.points) {
            let y = 26 + index * i32::try_from(ROW).unwrap_or(0);
            area.draw(&Circle::new((6, y + 7), 4, colour(point).filled())).map_err(error)?;
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
    name: String,
    killed: f64,
    saved: f64,
    interval: Option<(f64, f64)>,
    colour: RGBColor,
    on_frontier: bool,
}

impl Placed {
    fn is_idle(&self) -> bool {
        self.killed == 0.0 && self.saved == 0.0
    }
}

/// Blue on the frontier, red beaten, grey where there is nothing to judge: not placed, or neither kills nor saves.
fn colour(point: &FrontierPoint) -> RGBColor {
    match point.axes() {
        None => STONE,
        Some((killed, saved)) if killed == 0.0 && saved == 0.0 => GREY,
        Some(_) if point.on_frontier => BLUE,
        Some(_) => RED,
    }
}

/// The scale of killed successes.
#[derive(Clone, Copy)]
struct Axis {
    rooted: bool,
}

impl Axis {
    fn of(self, percent: f64) -> f64 {
        if self.rooted { percent.max(0.0).sqrt() } else { percent }
    }

    fn back(self, x: f64) -> f64 {
        if self.rooted { x.signum() * x * x } else { x }
    }
}

/// Points that fall together share one label. The frontier comes first, then the others by number.
fn groups(placed: &[Placed], pixel: impl Fn(&Placed) -> (i32, i32)) -> Vec<(&Placed, Labelled)> {
    let near = |a: (i32, i32), b: (i32, i32)| (a.0 - b.0).abs() <= 3 && (a.1 - b.1).abs() <= 3;
    let mut groups: Vec<((i32, i32), Vec<&Placed>)> = Vec::new();
    for p in placed.iter().filter(|p| p.on_frontier).chain(placed.iter().filter(|p| !p.on_frontier)) {
        let at = pixel(p);
        match groups.iter_mut().find(|(other, group)| near(*other, at) && group[0].is_idle() == p.is_idle()) {
            Some((_, group)) => group.push(p),
            None => groups.push((at, vec![p])),
        }
    }
    groups.into_iter().map(|(at, group)| (group[0], Labelled { at, texts: texts(&group) })).collect()
}

/// What a group may be labelled with: names on the frontier, else numbers.
fn texts(group: &[&Placed]) -> Vec<String> {
    let numbers: Vec<String> = group.iter().map(|p| p.number.to_string()).collect();
    let numbers = if group.len() <= 4 {
        numbers.join(", ")
    } else {
        format!("{}, {} and {} more", numbers[0], numbers[1], numbers.len() - 2)
    };
    match group {
        [one] if one.on_frontier => vec![format!("{} {}", one.number, one.name), numbers],
        [first, ..] if first.is_idle() && group.len() > 1 => {
            vec![format!("{} stacks neither kill nor save", group.len()), numbers]
        }
        _ => vec![numbers],
    }
}
