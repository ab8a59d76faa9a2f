//! A drawing backend that sanitises text: many figures draw names of stacks, models and suites, and all of them pass
//! through here.

use plotters::prelude::DrawingBackend;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind};

use crate::diagnostic::one_line;

/// Maximum characters of a text that are drawn: more than fit on any figure.
const LONGEST: usize = 300;

/// Wraps another backend and passes it only text that XML allows and that is displayed as written.
pub(super) struct PlainText<B>(pub(super) B);

/// The text as it is drawn. XML does not allow U+FFFE and U+FFFF.
fn drawn(text: &str) -> String {
    let fit = |c: char| if matches!(c, '\u{fffe}' | '\u{ffff}') { '\u{fffd}' } else { c };
    one_line(text).chars().take(LONGEST).map(fit).collect()
}

impl<B: DrawingBackend> DrawingBackend for PlainText<B> {
    type ErrorType = B::ErrorType;

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        at: BackendCoord,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.draw_text(&drawn(text), style, at)
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Self::ErrorType>> {
        self.0.estimate_text_size(&drawn(text), style)
    }

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.ensure_prepared()
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.present()
    }

    fn draw_pixel(
        &mut self,
        point: BackendCoord,
        color: BackendColor,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.draw_pixel(point, color)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.draw_line(from, to, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.draw_rect(upper_left, bottom_right, style, fill)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.draw_path(path, style)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.draw_circle(center, radius, style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.fill_polygon(vert, style)
    }

    fn blit_bitmap(
        &mut self,
        pos: BackendCoord,
        size: (u32, u32),
        src: &[u8],
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.0.blit_bitmap(pos, size, src)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figure::{Drawing, FigureError, Picture, save};
    use plotters::prelude::{IntoFont, Text};
    use plotters::style::BLACK;

    /// A figure with one text.
    struct Named(String);

    impl Picture for Named {
        fn size(&self) -> (u32, u32) {
            (200, 40)
        }

        fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
            let style = ("sans-serif", 13).into_font().color(&BLACK);
            area.draw(&Text::new(self.0.clone(), (4, 4), style)).map_err(|error| FigureError::from_error(&error))
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
