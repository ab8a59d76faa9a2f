//! Figure: what was solved by each step without and with a limit, and what the limit was predicted to do and did.

use plotters::prelude::*;

use super::canvas::Picture;
use super::pen::{At, FigureHeading, MARGIN, Pen, TextStyle, WIDTH};
use super::scale::{Plane, Quantity, Scale, ticks};
use super::style::{self, AMBER, BLUE, GREY, RED, SMALL, STONE};
use crate::against::PredictionCheck;
use crate::answers::AgainstLine;

/// The figure of a comparison of predicted and measured.
pub struct AgainstFigure<'a> {
    /// The lines; those that were not compared are left out.
    pub lines: &'a [AgainstLine],
    /// What became of the first of them, in words.
    pub sentence: String,
}

const PLANE: (i32, i32) = (66, 756);
const LEGEND: i32 = 782;
const HEIGHT: i32 = 320;
/// Where the names of the lines end and their scale begins.
const NAMES: i32 = 250;
const ROW: i32 = 26;
/// The room for axes and their names.
const AXIS: i32 = 60;
const COLOURS: [(RGBColor, &str); 2] = [(BLUE, "without the limit"), (RED, "with it")];

impl AgainstFigure<'_> {
    fn compared(&self) -> Vec<(&AgainstLine, &PredictionCheck)> {
        let mut compared = Vec::new();
        for line in self.lines {
            if let Ok(check) = &line.result {
                compared.push((line, check));
            }
        }
        compared
    }
}

/// The curves of the first line, with its notice and its limit.
fn draw_steps(pen: &mut Pen, top: i32, line: &AgainstLine, check: &PredictionCheck) {
    let right = check.by_step.last().map_or(1.0, |line| line.step as f64) * 1.03;
    let plane = Plane { x: Scale::new((0.0, right), PLANE), y: Scale::new((0.0, 100.0), (top + HEIGHT, top)), pad: 0 };
    let x_ticks = ticks(0.0, right, 8, Quantity::Count, true);
    let y_ticks = ticks(0.0, 100.0, 10, Quantity::Percent, true);
    plane.draw(pen, (&x_ticks, &y_ticks), ("steps", "runs with success by then, %"));
    let marks = match line.told {
        Some(told) => vec![(told.notice, "notice"), (Some(told.steps), "limit")],
        None => Vec::new(),
    };
    for (step, name) in marks {
        let Some(step) = step else { continue };
        let at = plane.at(f64::from(step), 100.0);
        pen.dashes(at, (at.0, top + HEIGHT), AMBER.stroke_width(1));
        let height = if name == "notice" { 10 } else { 26 };
        pen.text(name, (at.0 + 4, at.1 + height), TextStyle::SMALL.colour(GREY));
    }
    for (side, (colour, name)) in COLOURS.into_iter().enumerate() {
        let (mut points, mut solved): (Vec<At>, f64) = (vec![plane.at(0.0, 0.0)], 0.0);
        for line in &check.by_step {
            points.push(plane.at(line.step as f64, solved));
            solved = line.solved[side] * 100.0;
            points.push(plane.at(line.step as f64, solved));
        }
        points.push(plane.at(right, solved));
        pen.line(&points, colour.stroke_width(2));
        let y = top + 10 + 22 * i32::try_from(side).unwrap_or(0);
        pen.rectangle((LEGEND, y - 2, LEGEND + 14, y + 2), colour.filled());
        pen.text(name, (LEGEND + 22, y), TextStyle::SMALL);
    }
}

/// A row for each line: what was predicted, what was lost, and what was at risk.
fn draw_rows(pen: &mut Pen, top: i32, compared: &[(&AgainstLine, &PredictionCheck)]) {
    let (mut low, mut high) = (0.0_f64, 0.05_f64);
    for (_, check) in compared {
        let found = &check.estimates;
        low = low.min(found.lost.value);
        high = high.max(found.at_risk.value).max(found.lost.value);
    }
    let (low, high) = (low * 105.0, high * 105.0);
    let bottom = top + ROW * i32::try_from(compared.len()).unwrap_or(0);
    let plane =
        Plane { x: Scale::new((low, high), (NAMES, PLANE.1)), y: Scale::new((0.0, 1.0), (bottom, top)), pad: 0 };
    plane.draw(pen, (&ticks(low, high, 8, Quantity::Percent, false), &[]), ("successes lost, %", ""));
    for (row, (line, check)) in compared.iter().enumerate() {
        let found = &check.estimates;
        let y = top + ROW * i32::try_from(row).unwrap_or(0) + ROW / 2;
        let at = |share: f64| (plane.x.at(share * 100.0), y);
        let name = match &line.class {
            Some(class) => format!("{}, {class}", line.stack),
            None => line.stack.to_string(),
        };
        pen.text(&style::fitted(&name, SMALL, NAMES - MARGIN - 12), (NAMES - 10, y), TextStyle::SMALL.ending());
        if line.told.is_some() {
            pen.line(&[at(0.0), at(found.at_risk.value)], STONE.stroke_width(5));
        }
        pen.line(&[at(found.killed.value), at(found.lost.value)], GREY.stroke_width(2));
        pen.dot(at(found.killed.value), 6, WHITE, BLUE);
        pen.dot(at(found.lost.value), 5, RED, RED);
    }
    for (row, (colour, fill, name)) in
        [(BLUE, WHITE, "predicted by the replay"), (RED, RED, "really lost, net")].into_iter().enumerate()
    {
        let y = top + 10 + 22 * i32::try_from(row).unwrap_or(0);
        pen.dot((LEGEND + 7, y), 6, fill, colour);
        pen.text(name, (LEGEND + 22, y), TextStyle::SMALL);
    }
    let y = top + 54;
    pen.line(&[(LEGEND, y), (LEGEND + 14, y)], STONE.stroke_width(5));
    pen.text("running at the notice of a told limit", (LEGEND + 22, y), TextStyle::SMALL);
}

impl Picture for AgainstFigure<'_> {
    fn draw(&self, pen: &mut Pen) -> (u32, u32) {
        let head = FigureHeading::new("Predicted, then measured").sentence(&self.sentence);
        head.draw(pen);
        let compared = self.compared();
        let Some((line, check)) = compared.first() else { return (WIDTH, (head.bottom() + 20).unsigned_abs()) };
        let top = head.bottom() + 40;
        draw_steps(pen, top, line, check);
        draw_rows(pen, top + HEIGHT + AXIS + 20, &compared);
        let rows = (ROW * i32::try_from(compared.len()).unwrap_or(0)).max(70);
        (WIDTH, (head.bottom() + HEIGHT + 2 * AXIS + rows + 60).unsigned_abs())
    }
}
