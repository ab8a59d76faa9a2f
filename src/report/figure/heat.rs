//! Figure: killed and saved at every pair of limits on two axes, as two heat maps side by side.

use plotters::prelude::*;

use super::canvas::Picture;
use super::pen::{At, FigureHeading, MARGIN, Pen, TextStyle, WIDTH};
use super::style::{self, BLUE, GREY, INK, RED, SMALL};
use crate::sweep::engine::Tally;

/// The heat maps of a grid with two axes.
pub struct HeatFigure<'a> {
    /// The names of the axes; the first runs from top to bottom.
    pub axes: [&'a str; 2],
    /// The limits of each axis, formatted.
    pub limits: [Vec<String>; 2],
    /// The result of each pair, second axis fastest; `None` if the pair was not tried.
    pub cells: &'a [Option<Tally>],
    /// The index of the chosen pair.
    pub chosen: Option<usize>,
    /// The noun for what is saved, such as `tokens`.
    pub saved: &'a str,
    /// The subtitle: what was swept over.
    pub subtitle: String,
}

/// Maximum height of a row of cells.
const ROW: i32 = 26;
/// Height available for the cells.
const HEIGHT: i32 = 520;
const LEFT: i32 = 120;
const TOP: i32 = 64;

impl HeatFigure<'_> {
    fn head(&self) -> FigureHeading {
        let sentence = format!(
            "Rows: {}. Columns: {}. The darker, the more; a frame marks the pair chosen.",
            self.axes[0], self.axes[1]
        );
        FigureHeading::new("Killed and saved at every pair of limits").sentence(&sentence).note(&self.subtitle)
    }

    fn row_height(&self) -> i32 {
        (HEIGHT / i32::try_from(self.limits[0].len().max(1)).unwrap_or(i32::MAX)).clamp(2, ROW)
    }

    fn draw_panel(&self, pen: &mut Pen, panel: &Panel, (left, top): At) {
        let (rows, columns) = (self.limits[0].len().max(1), self.limits[1].len().max(1));
        let room = WIDTH.cast_signed() / 2 - LEFT - MARGIN;
        let high = self.height();
        // Adjacent cells share edges: each edge is a fraction of the room.
        let x = |at: usize| left + LEFT + share(at, columns, room);
        let y = |at: usize| top + TOP + share(at, rows, high);
        let most = self.cells.iter().flatten().filter_map(panel.of).fold(0.0, f64::max);
        let fits = self.row_height() >= 15 && room / i32::try_from(columns).unwrap_or(i32::MAX) >= 34;
        // If cells are too small to print their numbers, the shades need a scale.
        let scale = if fits { String::new() } else { format!("; the darkest is {:.1}", most * 100.0) };
        pen.text(&format!("{}{scale}", panel.title), (left + LEFT, top + 14), TextStyle::LABEL);
        for (at, cell) in self.cells.iter().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let frame = (x(column), y(row), x(column + 1) - 1, y(row + 1) - 1);
            let middle = (i32::midpoint(frame.0, frame.2), i32::midpoint(frame.1, frame.3));
            let Some(value) = cell.as_ref().and_then(panel.of) else {
                pen.text("–", middle, TextStyle::SMALL.centred().colour(GREY));
                continue;
            };
            let shade = if most > 0.0 { 0.06 + 0.86 * value / most } else { 0.06 };
            pen.rectangle(frame, panel.colour.mix(shade).filled());
            if fits {
                let colour = if shade > 0.55 { WHITE } else { INK };
                pen.text(&format!("{:.1}", value * 100.0), middle, TextStyle::SMALL.centred().colour(colour));
            }
        }
        if let Some(chosen) = self.chosen {
            let (row, column) = (chosen / columns, chosen % columns);
            pen.rectangle((x(column), y(row), x(column + 1) - 1, y(row + 1) - 1), INK.stroke_width(2));
        }
        let widest = self.limits[1].iter().map(|label| style::width(label, SMALL) + 8).max().unwrap_or(1);
        let every =
            |room: i32, n: usize, size: i32| n.div_ceil(usize::try_from(room / size.max(1)).unwrap_or(1).max(1)).max(1);
        for (at, label) in self.limits[1].iter().enumerate().step_by(every(room, columns, widest)) {
            pen.text(label, (i32::midpoint(x(at), x(at + 1)), top + TOP - 12), TextStyle::SMALL.centred());
        }
        for (at, label) in self.limits[0].iter().enumerate().step_by(every(high, rows, 16)) {
            let label = style::fitted(label, SMALL, LEFT - 12);
            pen.text(&label, (left + LEFT - 6, i32::midpoint(y(at), y(at + 1))), TextStyle::SMALL.ending());
        }
    }

    fn height(&self) -> i32 {
        self.row_height() * i32::try_from(self.limits[0].len()).unwrap_or(0)
    }
}

/// One heat map: killed or saved.
struct Panel {
    title: String,
    colour: RGBColor,
    of: fn(&Tally) -> Option<f64>,
}

fn share(at: usize, of: usize, room: i32) -> i32 {
    let (at, of) = (i32::try_from(at).unwrap_or(0), i32::try_from(of).unwrap_or(1));
    room.saturating_mul(at) / of.max(1)
}

impl Picture for HeatFigure<'_> {
    fn draw(&self, pen: &mut Pen) -> (u32, u32) {
        let head = self.head();
        head.draw(pen);
        let top = head.bottom() + 8;
        let saved = format!("{} saved on failures and after success, %", self.saved);
        let panels = [
            Panel { title: "successes killed, %".to_owned(), colour: RED, of: Tally::killed_rate },
            Panel { title: saved, colour: BLUE, of: Tally::useful_ratio },
        ];
        for (panel, left) in panels.iter().zip([0, WIDTH.cast_signed() / 2]) {
            self.draw_panel(pen, panel, (left, top));
        }
        (WIDTH, (head.bottom() + TOP + self.height() + 36).unsigned_abs())
    }
}

/// Formats a limit briefly: `200k`, `1.5M`.
pub fn short(limit: f64) -> String {
    let (value, suffix) = match limit.abs() {
        size if size >= 1e6 => (limit / 1e6, "M"),
        size if size >= 1e4 => (limit / 1e3, "k"),
        _ => (limit, ""),
    };
    let text = format!("{value:.3}");
    format!("{}{suffix}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_short() {
        assert_eq!([2.0, 0.05, 50_000.0, 1_500_000.0, 0.0].map(short), ["2", "0.05", "50k", "1.5M", "0"]);
    }
}
