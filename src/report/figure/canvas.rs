//! Writes drawings to SVG and PNG files.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend, WHITE};

use super::plain_text::PlainText;
use super::style::register_fonts;
use crate::diagnostic::{Diagnostic, Location};
use crate::report::write_atomically;

/// A drawing area: a backend with pixel coordinates.
pub type Drawing<B> = DrawingArea<B, Shift>;

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
    pub fn of_picture(&self, folder: &Path, name: &str) -> Diagnostic {
        let at = Location::file(folder.join(name).display().to_string());
        Diagnostic::new(at, self.to_string(), "report it with the rows that caused it")
    }
}

/// Something that can be drawn on any backend.
pub trait Picture {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// Draws it on an area of this size or a multiple of it; the background is already white.
    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError>;
}

/// Writes `<folder>/<name>.svg` and `<folder>/<name>.png`; returns the SVG.
pub fn save<P: Picture>(picture: &P, folder: &Path, name: &str) -> Result<String, Diagnostic> {
    let svg = svg(picture).map_err(|error| error.of_picture(folder, name))?;
    let png = png(picture).map_err(|error| error.of_picture(folder, name))?;
    write_atomically(&folder.join(format!("{name}.svg")), |out| out.write_all(svg.as_bytes()))?;
    write_atomically(&folder.join(format!("{name}.png")), |out| out.write_all(&png))?;
    Ok(svg)
}

/// The picture as SVG.
pub fn svg<P: Picture>(picture: &P) -> Result<String, FigureError> {
    register_fonts().map_err(FigureError)?;
    let mut text = String::new();
    {
        let area = PlainText(SVGBackend::with_string(&mut text, picture.size())).into_drawing_area();
        area.fill(&WHITE).map_err(|error| FigureError::from_error(&error))?;
        picture.draw(&area)?;
        area.present().map_err(|error| FigureError::from_error(&error))?;
    }
    Ok(text)
}

/// Maximum pixels of a PNG at twice the picture's resolution; larger pictures are drawn at single resolution. A figure
/// of dozens of stacks would otherwise take more memory than the rows it shows.
const MOST_PIXELS: u64 = 7_000_000;

/// The scale factor of a PNG in each direction.
fn sharpness((width, height): (u32, u32)) -> u32 {
    if 4 * u64::from(width) * u64::from(height) > MOST_PIXELS { 1 } else { 2 }
}

fn png<P: Picture>(picture: &P) -> Result<Vec<u8>, FigureError> {
    register_fonts().map_err(FigureError)?;
    let (width, height) = picture.size();
    let sharpness = sharpness((width, height));
    let (width, height) = (width.saturating_mul(sharpness), height.saturating_mul(sharpness));
    let mut pixels = vec![0; width as usize * height as usize * 3];
    {
        let area = PlainText(BitMapBackend::with_buffer(&mut pixels, (width, height))).into_drawing_area();
        area.fill(&WHITE).map_err(|error| FigureError::from_error(&error))?;
        picture.draw(&area)?;
        area.present().map_err(|error| FigureError::from_error(&error))?;
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // Areas of one colour pack better as they are, and choosing a filter for each row takes longer than drawing.
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().map_err(|error| FigureError::from_error(&error))?;
    writer.write_image_data(&pixels).map_err(|error| FigureError::from_error(&error))?;
    writer.finish().map_err(|error| FigureError::from_error(&error))?;
    Ok(file)
}
