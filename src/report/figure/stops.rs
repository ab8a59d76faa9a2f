//! At which step each stack stops, and what that did to the run.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Drawing, FigureError, Picture};
use super::style::{self, FAINT, GREEN, GREY, INK, LABEL, RED, SMALL, STONE, TEAL, TITLE};
use crate::aggregate::Group;
use crate::verdict::Verdict;

/// Stop steps of a comparison.
pub struct StopsFigure<'a> {
    /// The rows of each stack.
    pub groups: &'a [Group<'a>],
    /// What was compared, for the subtitle.
    pub subtitle: String,
}

const KINDS: [(&str, RGBColor); 4] =
    [("success killed", RED), ("stopped after success", TEAL), ("failure stopped", GREEN), ("unlabelled", STONE)];
const BINS: usize = 40;
const STRIP: u32 = 64;
const NAMES: i32 = 250;
const RIGHT: i32 = 1090;

impl Picture for StopsFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let strips = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        (1120, strips.saturating_mul(STRIP).saturating_add(160))
    }

    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let title = ("sans-serif", TITLE).into_font().color(&INK);
        area.draw(&Text::new("When each stack stops", (20, 14), title)).map_err(error)?;
        area.draw(&Text::new(self.subtitle.clone(), (20, 42), ("sans-serif", SMALL).into_font().color(&GREY)))
            .map_err(error)?;
        for (index, (name, colour)) in (0_i32..).zip(KINDS) {
            let x = 20 + index * 220;
            area.draw(&Rectangle::new([(x, 66), (x + 14, 80)], colour.filled())).map_err(error)?;
            area.draw(&Text::new(name, (x + 20, 66), ("sans-serif", SMALL).into_font().color(&INK))).map_err(error)?;
        }
        let width = bin_width(self.groups);
        for (index, group) in (0_i32..).zip(self.groups) {
            let base = 150 + index * i32::try_from(STRIP).unwrap_or(0);
            draw_strip(area, base, group, width)?;
        }
        let base = 150 + i32::try_from(self.groups.len()).unwrap_or(0) * i32::try_from(STRIP).unwrap_or(0) - 44;
        draw_axis(area, base, width)
    }
}

/// Steps a bin: the longest stop fits into the bins.
fn bin_width(groups: &[Group<'_>]) -> u64 {
    let longest = groups.iter().flat_map(|group| &group.rows).filter(|row| row.is_stop()).map(|row| row.steps_at_stop);
    longest.max().unwrap_or(0) / BINS as u64 + 1
}

fn bin_x(bin: usize) -> i32 {
    NAMES + i32::try_from(bin).unwrap_or(0) * (RIGHT - NAMES) / i32::try_from(BINS).unwrap_or(1)
}

fn draw_strip<B: DrawingBackend>(
    area: &Drawing<B>,
    base: i32,
    group: &Group<'_>,
    width: u64,
) -> Result<(), FigureError> {
    let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
    let mut bins = [[0_u32; 4]; BINS];
    let mut stops = 0;
    for row in group.rows.iter().filter(|row| row.is_stop()) {
        let bin = usize::try_from(row.steps_at_stop / width).unwrap_or(BINS - 1).min(BINS - 1);
        let kind = match row.verdict {
            verdict if verdict.is_fes() => 0,
            Verdict::GoodTrim | Verdict::Rescued => 1,
            Verdict::Unlabelled => 3,
            _ => 2,
        };
        bins[bin][kind] += 1;
        stops += 1;
    }
    let right = |size: u32, colour: &RGBColor| {
        ("sans-serif", size).into_font().color(colour).pos(Pos::new(HPos::Right, VPos::Center))
    };
    let name = style::clipped(&group.stack, 28);
    area.draw(&Text::new(name, (NAMES - 10, base - 22), right(LABEL, &INK))).map_err(error)?;
    let count = format!("{stops} of {} runs", group.rows.len());
    area.draw(&Text::new(count, (NAMES - 10, base - 6), right(SMALL, &GREY))).map_err(error)?;
    area.draw(&PathElement::new(vec![(NAMES, base), (RIGHT, base)], FAINT)).map_err(error)?;
    let tallest = bins.iter().map(|kinds| kinds.iter().sum::<u32>()).max().unwrap_or(0).max(1);
    for (bin, kinds) in bins.iter().enumerate() {
        let mut below = 0;
        for (count, (_, colour)) in kinds.iter().zip(KINDS) {
            let height = |count: u32| i32::try_from(count * 46 / tallest).unwrap_or(0);
            // A single run stays visible beside a tall neighbour.
            let top = if *count > 0 { height(below + count).max(height(below) + 2) } else { height(below) };
            let corners = [(bin_x(bin) + 1, base - top), (bin_x(bin + 1) - 1, base - height(below))];
            if *count > 0 {
                area.draw(&Rectangle::new(corners, colour.filled())).map_err(error)?;
            }
            below += count;
        }
    }
    let scale = ("sans-serif", SMALL).into_font().color(&GREY).pos(Pos::new(HPos::Right, VPos::Top));
    area.draw(&Text::new(format!("max {tallest}"), (RIGHT, base - 46), scale)).map_err(error)
}

fn draw_axis<B: DrawingBackend>(area: &Drawing<B>, base: i32, width: u64) -> Result<(), FigureError> {
    let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
    for bin in (0..=BINS).step_by(5) {
        let style = ("sans-serif", SMALL).into_font().color(&GREY).pos(Pos::new(HPos::Center, VPos::Top));
        area.draw(&Text::new((bin as u64 * width).to_string(), (bin_x(bin), base), style)).map_err(error)?;
    }
    let style = ("sans-serif", LABEL).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Top));
    let middle = i32::midpoint(NAMES, RIGHT);
    area.draw(&Text::new("steps paid for at the stop; each strip has its own height", (middle, base + 18), style))
        .map_err(error)
}
