//! Named drawing operations in pixels: text, lines, rectangles and dots.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::style::{self, INK, LABEL, SMALL, TITLE};
use crate::diagnostic::{Diagnostic, Location, one_line};

/// Why a picture could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw the figure: {0}")]
pub struct FigureError(pub String);

impl FigureError {
    /// Converts an error of the drawing library.
    pub fn from_error(error: &dyn std::fmt::Display) -> Self {
        Self(error.to_string())
    }

    /// The error of a picture called `name`, for a person.
    pub fn in_picture(&self, folder: &Path, name: &str) -> Diagnostic {
        let at = Location::file(folder.join(name).display().to_string());
        Diagnostic::new(at, self.to_string(), "report it with the rows that caused it")
    }
}

/// A point in pixels.
pub(super) type At = (i32, i32);
/// A rectangle in pixels: left, top, right, bottom.
pub(super) type Frame = (i32, i32, i32, i32);

/// How a text is drawn: size, colour, and which side of it is at the given point.
#[derive(Clone, Copy)]
pub(super) struct TextStyle {
    size: u32,
    colour: RGBColor,
    side: HPos,
}

impl TextStyle {
    /// Small print, left-aligned at the point.
    pub(super) const SMALL: Self = Self { size: SMALL, colour: INK, side: HPos::Left };
    /// Names of axes and sentences, left-aligned.
    pub(super) const LABEL: Self = Self { size: LABEL, colour: INK, side: HPos::Left };
    /// Titles, left-aligned.
    pub(super) const TITLE: Self = Self { size: TITLE, colour: INK, side: HPos::Left };

    /// The same look in another colour.
    pub(super) const fn colour(self, colour: RGBColor) -> Self {
        Self { colour, ..self }
    }

    /// The same look, centred on the point.
    pub(super) const fn centred(self) -> Self {
        Self { side: HPos::Center, ..self }
    }

    /// The same look, right-aligned at the point.
    pub(super) const fn ending(self) -> Self {
        Self { side: HPos::Right, ..self }
    }
}

/// Maximum characters of a text that are drawn: more than fit on any figure.
const LONGEST: usize = 300;

/// One thing that is drawn.
enum Stroke {
    /// Vertically centred at the point.
    Text(String, At, TextStyle),
    Line(Vec<At>, ShapeStyle),
    Rectangle(At, At, ShapeStyle),
    Shape(Vec<At>, ShapeStyle),
    Disc(At, i32, RGBColor),
    Cross(At, i32, ShapeStyle),
}

/// Notes what is drawn, in order; [`Pen::paint`] puts it on a backend.
#[derive(Default)]
pub struct Pen {
    strokes: Vec<Stroke>,
}

impl Pen {
    /// Draws a text vertically centred at `at`: only what XML allows, and what is displayed as written. Many figures draw
    /// names of stacks, models and suites.
    pub(super) fn text(&mut self, text: &str, at: At, look: TextStyle) {
        // XML does not allow U+FFFE and U+FFFF.
        let fit = |c: char| if matches!(c, '\u{fffe}' | '\u{ffff}') { '\u{fffd}' } else { c };
        let drawn = one_line(text).chars().take(LONGEST).map(fit).collect();
        self.strokes.push(Stroke::Text(drawn, at, look));
    }

    /// A line through `points`.
    pub(super) fn line(&mut self, points: &[At], style: impl Into<ShapeStyle>) {
        self.strokes.push(Stroke::Line(points.to_vec(), style.into()));
    }

    /// A dashed line, vertical or horizontal.
    pub(super) fn dashes(&mut self, from: At, to: At, style: ShapeStyle) {
        let length = (to.0 - from.0).abs().max((to.1 - from.1).abs());
        for start in (0..length).step_by(8) {
            let end = (start + 4).min(length);
            let at = |way: i32| (from.0 + (to.0 - from.0).signum() * way, from.1 + (to.1 - from.1).signum() * way);
            self.line(&[at(start), at(end)], style);
        }
    }

    /// A rectangle.
    pub(super) fn rectangle(&mut self, frame: Frame, style: impl Into<ShapeStyle>) {
        self.strokes.push(Stroke::Rectangle((frame.0, frame.1), (frame.2, frame.3), style.into()));
    }

    /// A filled shape.
    pub(super) fn shape(&mut self, points: &[At], style: impl Into<ShapeStyle>) {
        self.strokes.push(Stroke::Shape(points.to_vec(), style.into()));
    }

    /// A dot filled in one colour and outlined in another.
    pub(super) fn dot(&mut self, at: At, radius: i32, fill: RGBColor, outline: RGBColor) {
        self.strokes.push(Stroke::Disc(at, radius, outline));
        if fill != outline {
            self.strokes.push(Stroke::Disc(at, radius - 2, fill));
        }
    }

    /// A cross.
    pub(super) fn cross(&mut self, at: At, size: i32, style: impl Into<ShapeStyle>) {
        self.strokes.push(Stroke::Cross(at, size, style.into()));
    }

    /// Paints everything on a white ground, `scale` times as large: letters are positioned exactly only where pixels are
    /// small.
    pub(super) fn paint(&self, backend: impl DrawingBackend, scale: u32) -> Result<(), FigureError> {
        let size = |pixels: i32| pixels.saturating_mul(scale.cast_signed());
        let at = |(x, y): At| (size(x), size(y));
        let all = |points: &[At]| -> Vec<At> { points.iter().copied().map(at).collect() };
        let style = |style: ShapeStyle| ShapeStyle { stroke_width: style.stroke_width.saturating_mul(scale), ..style };
        let area = backend.into_drawing_area();
        area.fill(&WHITE).map_err(|error| FigureError::from_error(&error))?;
        for stroke in &self.strokes {
            let drawn = match stroke {
                Stroke::Text(text, (x, y), look) => {
                    let font = ("sans-serif", look.size * scale).into_font().color(&look.colour);
                    // The middle of a line is above the middle of its small letters.
                    area.draw(&Text::new(text.as_str(), at((*x, y + 1)), font.pos(Pos::new(look.side, VPos::Center))))
                }
                Stroke::Line(points, look) => area.draw(&PathElement::new(all(points), style(*look))),
                Stroke::Rectangle(from, to, look) => area.draw(&Rectangle::new([at(*from), at(*to)], style(*look))),
                Stroke::Shape(points, look) => area.draw(&Polygon::new(all(points), *look)),
                Stroke::Disc(middle, radius, colour) => {
                    area.draw(&Circle::new(at(*middle), size(*radius), colour.filled()))
                }
                Stroke::Cross(middle, arm, look) => area.draw(&Cross::new(at(*middle), size(*arm), style(*look))),
            };
            drawn.map_err(|error| FigureError::from_error(&error))?;
        }
        area.present().map_err(|error| FigureError::from_error(&error))
    }
}

/// The title of a figure and the lines below it, wrapped to the figure's width.
pub(super) struct FigureHeading {
    title: String,
    lines: Vec<(String, TextStyle)>,
}

impl FigureHeading {
    /// A title alone.
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), lines: Vec::new() }
    }

    /// Adds a sentence.
    #[must_use]
    pub(super) fn sentence(self, text: &str) -> Self {
        self.with(text, TextStyle::LABEL)
    }

    /// Adds small print.
    #[must_use]
    pub(super) fn note(self, text: &str) -> Self {
        self.with(text, TextStyle::SMALL.colour(style::GREY))
    }

    fn with(mut self, text: &str, look: TextStyle) -> Self {
        let lines = style::wrapped(text, look.size, WIDTH.cast_signed() - 2 * MARGIN);
        self.lines.extend(lines.into_iter().map(|line| (line, look)));
        self
    }

    /// The y position at which content below the head may start.
    pub(super) fn bottom(&self) -> i32 {
        let heights: i32 = self.lines.iter().map(|(_, look)| line_height(*look)).sum();
        46 + heights + 8
    }

    /// Draws it.
    pub(super) fn draw(&self, pen: &mut Pen) {
        pen.text(&self.title, (MARGIN, 26), TextStyle::TITLE);
        let mut y = 46;
        for (text, look) in &self.lines {
            pen.text(text, (MARGIN, y + line_height(*look) / 2), *look);
            y += line_height(*look);
        }
    }
}

/// The width of every figure.
pub(super) const WIDTH: u32 = 1120;
/// Free space on either side.
pub(super) const MARGIN: i32 = 20;

fn line_height(look: TextStyle) -> i32 {
    i32::try_from(look.size).unwrap_or(0) + 6
}
