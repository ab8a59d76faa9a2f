//! Writes drawings to SVG and PNG files.

use std::path::Path;

use plotters::prelude::{BitMapBackend, SVGBackend};

use super::pen::{FigureError, Pen};
use super::style::register_fonts;
use crate::diagnostic::Diagnostic;
use crate::report::{write_atomically, write_text};

/// Something that can be drawn.
pub trait Picture {
    /// Draws it, and returns its width and height in pixels.
    fn draw(&self, pen: &mut Pen) -> (u32, u32);
}

/// Writes `<folder>/<name>.svg` and `<folder>/<name>.png`; returns the SVG.
pub fn save(picture: &impl Picture, folder: &Path, name: &str) -> Result<String, Diagnostic> {
    let mut pen = Pen::default();
    let size = picture.draw(&mut pen);
    let svg = to_svg(&pen, size).map_err(|error| error.in_picture(folder, name))?;
    let png = to_png(&pen, size).map_err(|error| error.in_picture(folder, name))?;
    write_text(&folder.join(format!("{name}.svg")), &svg)?;
    write_atomically(&folder.join(format!("{name}.png")), |out| out.write_all(&png))?;
    Ok(svg)
}

/// The picture as SVG.
pub fn svg(picture: &impl Picture) -> Result<String, FigureError> {
    let mut pen = Pen::default();
    let size = picture.draw(&mut pen);
    to_svg(&pen, size)
}

fn to_svg(pen: &Pen, size: (u32, u32)) -> Result<String, FigureError> {
    register_fonts().map_err(FigureError)?;
    let mut text = String::new();
    pen.paint(SVGBackend::with_string(&mut text, size), 1)?;
    Ok(text)
}

/// Maximum pixels of a PNG at twice the picture's resolution; larger pictures are drawn at single resolution. A figure
/// of dozens of stacks would otherwise take more memory than the rows it shows.
const MOST_PIXELS: u64 = 7_000_000;

/// The scale factor of a PNG in each direction.
fn sharpness((width, height): (u32, u32)) -> u32 {
    if 4 * u64::from(width) * u64::from(height) > MOST_PIXELS { 1 } else { 2 }
}

fn to_png(pen: &Pen, (width, height): (u32, u32)) -> Result<Vec<u8>, FigureError> {
    register_fonts().map_err(FigureError)?;
    let sharpness = sharpness((width, height));
    let (width, height) = (width.saturating_mul(sharpness), height.saturating_mul(sharpness));
    let mut pixels = vec![0; width as usize * height as usize * 3];
    pen.paint(BitMapBackend::with_buffer(&mut pixels, (width, height)), sharpness)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figure::pen::TextStyle;

    /// A figure with one text.
    struct Named(String);

    impl Picture for Named {
        fn draw(&self, pen: &mut Pen) -> (u32, u32) {
            pen.text(&self.0, (4, 10), TextStyle::SMALL);
            (200, 40)
        }
    }

    #[test]
    fn any_name_can_be_drawn() {
        let every = |from: u32, to: u32| (from..to).filter_map(char::from_u32).collect::<String>();
        let names = [
            String::new(),
            " ".to_owned(),
            every(0, 0x30),
            every(0x7f, 0xa0),
            every(0x2000, 0x2070),
            every(0xfff0, 0x1_0000),
            "<b>&amp;]]>\"'".to_owned(),
            "👩‍🔬 עברית 日本語 \u{301}\u{301}".to_owned(),
            "x".repeat(1 << 20),
        ];
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            save(&Named(name), folder.path(), "figure").unwrap();
            let svg = std::fs::read_to_string(folder.path().join("figure.svg")).unwrap();
            let is_xml =
                |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
            assert!(svg.chars().all(is_xml) && svg.len() < 20_000, "{svg:?}");
            assert_eq!(svg.matches('<').count(), svg.matches('>').count(), "{svg}");
        }
    }
}
