//! Where the tokens (or steps) went: one bar a stack, the recording itself first.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Drawing, FigureError, Picture};
use super::style::{self, AMBER, BLUE, GREEN, GREY, INK, LABEL, RED, ROSE, SKY, SMALL, STONE, TEAL, TITLE};
use crate::aggregate::{Group, Row, Unit};
use crate::verdict::Verdict;

/// Spending of a comparison.
pub struct SpendingFigure<'a> {
    /// The rows of each stack.
    pub groups: &'a [Group<'a>],
    /// What is counted.
    pub unit: Unit,
    /// What was compared, for the subtitle.
    pub subtitle: String,
}

/// The parts of a bar, in drawing order: they add up to what was recorded.
const PARTS: [(&str, RGBColor); 9] = [
    ("spent on kept successes", BLUE),
    ("spent after success", SKY),
    ("spent on failures", AMBER),
    ("spent on killed successes", RED),
    ("spent, unlabelled", STONE),
    ("killed successes: not spent", ROSE),
    ("saved after success", TEAL),
    ("saved on failures", GREEN),
    ("saved, unlabelled", RGBColor(0xdd, 0xdd, 0xdd)),
];

const BAR: u32 = 26;
const NAMES: i32 = 250;

impl Picture for SpendingFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let bars = u32::try_from(self.groups.len()).unwrap_or(u32::MAX).saturating_add(1);
        (1120, bars.saturating_mul(BAR).saturating_add(200))
    }

    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let title = format!("Where the {} went", self.unit.name().replace("cost_usd", "dollars"));
        area.draw(&Text::new(title, (20, 14), ("sans-serif", TITLE).into_font().color(&INK))).map_err(error)?;
        area.draw(&Text::new(self.subtitle.clone(), (20, 42), ("sans-serif", SMALL).into_font().color(&GREY)))
            .map_err(error)?;
        draw_legend(area)?;
        let recorded = self.groups.first().map(|group| parts(group, self.unit, true));
        let bars = recorded.map(|parts| ("as recorded".to_owned(), parts)).into_iter();
        let bars =
            bars.chain(self.groups.iter().map(|group| (group.stack.to_string(), parts(group, self.unit, false))));
        for (index, (name, parts)) in (0_i32..).zip(bars) {
            draw_bar(area, 140 + index * i32::try_from(BAR).unwrap_or(0), &name, &parts)?;
        }
        Ok(())
    }
}

fn draw_legend<B: DrawingBackend>(area: &Drawing<B>) -> Result<(), FigureError> {
    let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
    for (index, (name, colour)) in (0_i32..).zip(PARTS) {
        let (x, y) = (20 + (index % 4) * 270, 66 + (index / 4) * 22);
        area.draw(&Rectangle::new([(x, y), (x + 14, y + 14)], colour.filled())).map_err(error)?;
        area.draw(&Text::new(name, (x + 20, y), ("sans-serif", SMALL).into_font().color(&INK))).map_err(error)?;
    }
    Ok(())
}

fn draw_bar<B: DrawingBackend>(area: &Drawing<B>, y: i32, name: &str, parts: &[f64; 9]) -> Result<(), FigureError> {
    let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
    let right = ("sans-serif", LABEL).into_font().color(&INK).pos(Pos::new(HPos::Right, VPos::Center));
    area.draw(&Text::new(style::clipped(name, 28), (NAMES - 10, y + 9), right)).map_err(error)?;
    let total: f64 = parts.iter().sum();
    if total <= 0.0 {
        let none = ("sans-serif", SMALL).into_font().color(&GREY);
        return area.draw(&Text::new("no run tells", (NAMES, y + 2), none)).map_err(error);
    }
    let width = f64::from(1100 - NAMES);
    let mut x = f64::from(NAMES);
    for (part, (_, colour)) in parts.iter().zip(PARTS) {
        let end = x + part / total * width;
        #[expect(clippy::cast_possible_truncation, reason = "pixels of a figure 1,120 wide")]
        let corners = [(x.round() as i32, y), (end.round() as i32, y + 19)];
        area.draw(&Rectangle::new(corners, colour.filled())).map_err(error)?;
        if part / total > 0.045 {
            let label = format!("{:.0} %", part / total * 100.0);
            #[expect(clippy::cast_possible_truncation, reason = "pixels of a figure 1,120 wide")]
            let middle = (x.midpoint(end) as i32, y + 10);
            let light = matches!(colour, BLUE | RED | GREEN);
            let style = ("sans-serif", SMALL).into_font().color(if light { &WHITE } else { &INK });
            area.draw(&Text::new(label, middle, style.pos(Pos::new(HPos::Center, VPos::Center)))).map_err(error)?;
        }
        x = end;
    }
    Ok(())
}

/// What each part of the bar holds. `as_recorded` ignores the stops.
fn parts(group: &Group<'_>, unit: Unit, as_recorded: bool) -> [f64; 9] {
    let mut parts = [0.0; 9];
    for row in &group.rows {
        let Some(recorded) = unit.recorded(row) else { continue };
        let spent = if as_recorded { recorded } else { unit.at_stop(row).unwrap_or(recorded) };
        let saved = recorded - spent;
        let after = after_success(row, unit).min(recorded);
        match row.verdict {
            Verdict::Unlabelled => {
                parts[4] += spent;
                parts[8] += saved;
            }
            verdict if verdict.is_fes() && !as_recorded => {
                parts[3] += spent;
                parts[5] += saved;
            }
            _ if row.outcome == crate::transcript::Outcome::Success => {
                let useful = spent.min(recorded - after);
                parts[0] += useful;
                parts[1] += spent - useful;
                parts[6] += saved;
            }
            _ => {
                parts[2] += spent;
                parts[7] += saved;
            }
        }
    }
    parts
}

/// Spent after the success was secured, where that is known.
fn after_success(row: &Row, unit: Unit) -> f64 {
    match unit {
        Unit::Steps => row.steps_after_secured.map_or(0.0, |steps| steps as f64),
        Unit::Tokens => row.tokens_after_secured.map_or(0.0, |tokens| tokens as f64),
        Unit::CostUsd => 0.0,
    }
}
