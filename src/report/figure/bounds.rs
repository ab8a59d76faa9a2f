//! What can be said of success under each stack: bounds, the interval around them, and what was recorded.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Drawing, FigureError, Picture};
use super::style::{self, BLUE, FAINT, GREY, INK, LABEL, RED, SMALL, TITLE};
use crate::aggregate::Summary;

/// Bounds on success of a comparison.
pub struct BoundsFigure<'a> {
    /// The stacks.
    pub summaries: &'a [Summary],
    /// What was compared, for the subtitle.
    pub subtitle: String,
}

const ROW: i32 = 26;
const TOP: i32 = 112;
const LEFT: i32 = 260;
const RIGHT: i32 = 880;
const HALF: i32 = 5;

impl Picture for BoundsFigure<'_> {
    fn size(&self) -> (u32, u32) {
        (1120, self.bottom().unsigned_abs().saturating_add(64))
    }

    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let ink = |size: u32| ("sans-serif", size).into_font().color(&INK);
        let small = || ("sans-serif", SMALL).into_font().color(&GREY);
        area.draw(&Text::new("Success under each stack: what the recordings allow", (20, 14), ink(TITLE)))
            .map_err(error)?;
        area.draw(&Text::new(self.subtitle.clone(), (20, 42), small())).map_err(error)?;
        let note = "bar: from every unknown outcome a failure to every one a success; line: 95 % interval around it; dashed: as recorded";
        area.draw(&Text::new(note, (20, 62), small())).map_err(error)?;
        area.draw(&Text::new("tipping point", (RIGHT + 24, TOP - 24), small())).map_err(error)?;
        self.draw_axis(area)?;
        for (summary, y) in self.summaries.iter().zip((TOP..).step_by(ROW.unsigned_abs() as usize)) {
            draw_row(area, summary, y)?;
        }
        Ok(())
    }
}

impl BoundsFigure<'_> {
    fn bottom(&self) -> i32 {
        TOP + ROW.saturating_mul(i32::try_from(self.summaries.len()).unwrap_or(i32::MAX / ROW - TOP))
    }

    /// Tenths below, and the share of recorded successes through all rows.
    fn draw_axis<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let (top, bottom) = (TOP - 8, self.bottom());
        for tenth in 0..=10_i32 {
            let at = x(f64::from(tenth) / 10.0);
            area.draw(&PathElement::new(vec![(at, top), (at, bottom)], FAINT.stroke_width(1))).map_err(error)?;
            let style = ("sans-serif", SMALL).into_font().color(&GREY).pos(Pos::new(HPos::Center, VPos::Top));
            area.draw(&Text::new((tenth * 10).to_string(), (at, bottom + 6), style)).map_err(error)?;
        }
        let style = ("sans-serif", LABEL).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Top));
        area.draw(&Text::new("successes, % of runs", (i32::midpoint(LEFT, RIGHT), bottom + 26), style))
            .map_err(error)?;
        let recorded = self.summaries.first().and_then(|summary| summary.outcomes.recorded);
        if let Some(at) = recorded.map(x) {
            let dashes =
                (top..bottom).step_by(8).map(|y| PathElement::new(vec![(at, y), (at, y + 4)], RED.stroke_width(1)));
            for dash in dashes {
                area.draw(&dash).map_err(error)?;
            }
        }
        Ok(())
    }
}

fn draw_row<B: DrawingBackend>(area: &Drawing<B>, summary: &Summary, y: i32) -> Result<(), FigureError> {
    let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
    let middle = y + ROW / 2 - 4;
    let anchored =
        |at: HPos, colour: &RGBColor| ("sans-serif", SMALL).into_font().color(colour).pos(Pos::new(at, VPos::Center));
    let name = style::clipped(&summary.stack, 32);
    area.draw(&Text::new(name, (LEFT - 12, middle), anchored(HPos::Right, &INK))).map_err(error)?;
    let success = &summary.outcomes.success;
    if let Some(interval) = success.interval {
        let line = vec![(x(interval.low), middle), (x(interval.high), middle)];
        area.draw(&PathElement::new(line, BLUE.mix(0.6).stroke_width(1))).map_err(error)?;
    }
    if let Some(bounds) = success.bounds {
        // What is known exactly is still to be seen.
        let bar = [(x(bounds.low) - 1, middle - HALF), (x(bounds.high) + 1, middle + HALF)];
        area.draw(&Rectangle::new(bar, BLUE.filled())).map_err(error)?;
    }
    let tipping =
        summary.outcomes.tipping_point.map_or_else(|| "nothing unknown".to_owned(), |share| format!("{share:.2}"));
    area.draw(&Text::new(tipping, (RIGHT + 24, middle), anchored(HPos::Left, &INK))).map_err(error)
}

/// The pixel of a share.
#[expect(clippy::cast_possible_truncation, reason = "between LEFT and RIGHT")]
fn x(share: f64) -> i32 {
    LEFT + (share.clamp(0.0, 1.0) * f64::from(RIGHT - LEFT)).round() as i32
}
