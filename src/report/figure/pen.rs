//! Named drawing operations in pixels: text, lines, rectangles and dots.

use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Drawing, FigureError};
use super::style::{self, INK, LABEL, SMALL, TITLE};

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

/// Draws on one area; errors come from the drawing library. On an area that is a multiple of the figure's width,
/// everything is scaled by that factor: letters are positioned exactly only where pixels are small.
pub(super) struct Pen<'a, B: DrawingBackend> {
    area: &'a Drawing<B>,
    scale: u32,
}

impl<'a, B: DrawingBackend> Pen<'a, B> {
    /// A pen for `area`.
    pub(super) fn on(area: &'a Drawing<B>) -> Self {
        Self { area, scale: (area.dim_in_pixel().0 / WIDTH).max(1) }
    }

    fn at(&self, (x, y): At) -> At {
        (self.size(x), self.size(y))
    }

    fn size(&self, pixels: i32) -> i32 {
        pixels.saturating_mul(self.scale.cast_signed())
    }

    fn style(&self, style: impl Into<ShapeStyle>) -> ShapeStyle {
        let style = style.into();
        ShapeStyle { stroke_width: style.stroke_width.saturating_mul(self.scale), ..style }
    }

    fn element<E>(&self, element: &E) -> Result<(), FigureError>
    where
        for<'e> &'e E: PointCollection<'e, At>,
        E: Drawable<B>,
    {
        self.area.draw(element).map_err(|error| FigureError::from_error(&error))
    }

    /// Draws a text vertically centred at `at`.
    pub(super) fn text(&self, text: &str, at: At, look: TextStyle) -> Result<(), FigureError> {
        let style = ("sans-serif", look.size * self.scale).into_font().color(&look.colour);
        // The middle of a line is above the middle of its small letters.
        self.element(&Text::new(
            text.to_owned(),
            self.at((at.0, at.1 + 1)),
            style.pos(Pos::new(look.side, VPos::Center)),
        ))
    }

    /// A line through `points`.
    pub(super) fn line(&self, points: &[At], style: impl Into<ShapeStyle>) -> Result<(), FigureError> {
        let points: Vec<At> = points.iter().map(|point| self.at(*point)).collect();
        self.element(&PathElement::new(points, self.style(style)))
    }

    /// A dashed line, vertical or horizontal.
    pub(super) fn dashes(&self, from: At, to: At, style: ShapeStyle) -> Result<(), FigureError> {
        let length = (to.0 - from.0).abs().max((to.1 - from.1).abs());
        for start in (0..length).step_by(8) {
            let end = (start + 4).min(length);
            let at = |way: i32| (from.0 + (to.0 - from.0).signum() * way, from.1 + (to.1 - from.1).signum() * way);
            self.line(&[at(start), at(end)], style)?;
        }
        Ok(())
    }

    /// A rectangle.
    pub(super) fn rectangle(&self, frame: Frame, style: impl Into<ShapeStyle>) -> Result<(), FigureError> {
        let corners = [(frame.0, frame.1), (frame.2, frame.3)].map(|corner| self.at(corner));
        self.element(&Rectangle::new(corners, self.style(style)))
    }

    /// A filled shape.
    pub(super) fn shape(&self, points: &[At], style: impl Into<ShapeStyle>) -> Result<(), FigureError> {
        let points: Vec<At> = points.iter().map(|point| self.at(*point)).collect();
        self.element(&Polygon::new(points, style))
    }

    /// A dot filled in one colour and outlined in another.
    pub(super) fn dot(&self, at: At, radius: i32, fill: RGBColor, outline: RGBColor) -> Result<(), FigureError> {
        let circle = |radius: i32, colour: RGBColor| Circle::new(self.at(at), self.size(radius), colour.filled());
        self.element(&circle(radius, outline))?;
        if fill == outline {
            return Ok(());
        }
        self.element(&circle(radius - 2, fill))
    }

    /// A cross.
    pub(super) fn cross(&self, at: At, size: i32, style: impl Into<ShapeStyle>) -> Result<(), FigureError> {
        self.element(&Cross::new(self.at(at), self.size(size), self.style(style)))
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
    pub(super) fn draw<B: DrawingBackend>(&self, pen: &Pen<'_, B>) -> Result<(), FigureError> {
        pen.text(&self.title, (MARGIN, 26), TextStyle::TITLE)?;
        let mut y = 46;
        for (text, look) in &self.lines {
            pen.text(text, (MARGIN, y + line_height(*look) / 2), *look)?;
            y += line_height(*look);
        }
        Ok(())
    }
}

/// The width of every figure.
pub(super) const WIDTH: u32 = 1120;
/// Free space on either side.
pub(super) const MARGIN: i32 = 20;

fn line_height(look: TextStyle) -> i32 {
    i32::try_from(look.size).unwrap_or(0) + 6
}
