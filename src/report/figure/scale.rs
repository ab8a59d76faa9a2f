//! Axes: round ticks, labels that never repeat, and the plane of two axes.

use super::pen::{At, Frame, Pen, TextStyle};
use super::style::{FAINT, GREY, INK, LABEL, SMALL, width, wrapped};
use crate::aggregate::Unit;

/// What the numbers of an axis measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Percentages.
    Percent,
    /// Counts.
    Count,
    /// Dollars.
    Dollars,
}

impl Quantity {
    /// The quantity that `unit` measures.
    pub(super) fn from_unit(unit: Unit) -> Self {
        if unit == Unit::CostUsd { Self::Dollars } else { Self::Count }
    }

    /// Formats a number with enough digits to distinguish values one `step` apart, on an axis that reaches to `most`.
    fn label(self, value: f64, step: f64, most: f64) -> String {
        // A value within a thousandth of a step from zero is zero.
        let value = if value.abs() < step / 1000.0 { 0.0 } else { value };
        match self {
            Self::Percent => decimals(value, step),
            Self::Count => counted(value, step, most),
            Self::Dollars => {
                let (sign, size) = (if value < 0.0 { "−" } else { "" }, value.abs());
                if step >= 1.0 {
                    format!("{sign}${}", counted(size, step, most))
                } else {
                    format!("{sign}${size:.*}", places(step).max(2))
                }
            }
        }
    }
}

fn counted(value: f64, step: f64, most: f64) -> String {
    // All ticks of an axis use the same suffix.
    let (size, suffix) = match most.abs().max(step) {
        most if most >= 1e9 => (1e9, "B"),
        most if most >= 1e6 => (1e6, "M"),
        most if most >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    if value == 0.0 { "0".to_owned() } else { format!("{}{suffix}", decimals(value / size, step / size)) }
}

fn decimals(value: f64, step: f64) -> String {
    format!("{value:.*}", places(step))
}

/// Decimals needed to distinguish two multiples of `step`.
fn places(step: f64) -> usize {
    let needed = (0..12_u8).find(|places| {
        let scaled = step * 10_f64.powi(i32::from(*places));
        (scaled - scaled.round()).abs() < 1e-6 * scaled.abs().max(1e-9) && scaled >= 0.5
    });
    usize::from(needed.unwrap_or(12))
}

/// A tick: a number and its label.
pub(super) type Tick = (f64, String);

/// Round numbers from `low` to `high`: at most `most` of them, in steps of 1, 2 or 5 times a power of ten; only whole
/// numbers if `whole`.
pub(super) fn ticks(low: f64, high: f64, most: u32, quantity: Quantity, whole: bool) -> Vec<Tick> {
    if !(low.is_finite() && high.is_finite() && low < high) || most == 0 {
        return Vec::new();
    }
    let rough = (high - low) / f64::from(most);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|first| first * power).find(|step| *step >= rough);
    let step = step.unwrap_or(power * 10.0).max(if whole { 1.0 } else { 0.0 });
    let first = (low / step - 1e-9).ceil();
    let numbers = (0..=most).map(|at| (first + f64::from(at)) * step);
    numbers
        .take_while(|at| *at <= high + step * 1e-9)
        .map(|at| (at, quantity.label(at, step, high.max(-low))))
        .collect()
}

/// Ticks of 1, 2 and 5 times powers of ten on a logarithmic scale; only the powers if there would be many.
pub(super) fn log_ticks(low: f64, high: f64, quantity: Quantity) -> Vec<Tick> {
    if !(low.is_finite() && high.is_finite() && 0.0 < low && low < high) {
        return Vec::new();
    }
    let (first, last) = (low.log10().floor(), high.log10().ceil());
    let factors: &[f64] = if last - first > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers = std::iter::successors(Some(first), |power| Some(power + 1.0)).take_while(|power| *power <= last);
    let numbers = powers.flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powf(power)));
    numbers
        .filter(|at| low <= *at * (1.0 + 1e-9) && *at <= high * (1.0 + 1e-9))
        .map(|at| (at, quantity.label(at, 10_f64.powf(at.log10().floor()), at)))
        .collect()
}

/// Maps numbers to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: i32,
    to: i32,
    shape: ScaleShape,
}

/// How a scale spreads its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ScaleShape {
    Linear,
    /// Linear with a kink: numbers up to this one take [`FINE`] of the scale.
    CoarseFrom(f64),
    Log,
}

/// The share of a scale up to its kink.
const FINE: f64 = 0.8;

impl Scale {
    /// Maps `low` to pixel `from` and `high` to pixel `to`.
    pub(super) fn new((low, high): (f64, f64), (from, to): (i32, i32)) -> Self {
        Self { low, high, from, to, shape: ScaleShape::Linear }
    }

    /// Separates the numbers up to `kink`, and crowds the larger ones; `kink` must lie between the ends.
    #[must_use]
    pub(super) fn coarse_from(self, kink: f64) -> Self {
        Self { shape: ScaleShape::CoarseFrom(kink), ..self }
    }

    /// Uses logarithms, for numbers of different orders of magnitude; `low` must then be positive, and smaller values
    /// map to it.
    #[must_use]
    pub(super) fn logged(self) -> Self {
        Self { shape: ScaleShape::Log, ..self }
    }

    /// The pixel of a number; numbers off the scale are clamped to its ends.
    #[expect(clippy::cast_possible_truncation, reason = "between the two ends")]
    pub(super) fn at(&self, value: f64) -> i32 {
        let place = |value: f64| match self.shape {
            ScaleShape::Linear => value,
            ScaleShape::CoarseFrom(kink) if value <= kink => (value - self.low) / (kink - self.low) * FINE,
            ScaleShape::CoarseFrom(kink) => FINE + (value - kink) / (self.high - kink) * (1.0 - FINE),
            ScaleShape::Log => value.max(self.low).ln(),
        };
        let (low, high) = (place(self.low), place(self.high));
        let share = if high > low { (place(value) - low) / (high - low) } else { 0.0 };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.from + (share * f64::from(self.to - self.from)).round() as i32
    }

    /// True if the number is on the scale.
    pub(super) fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Its largest number.
    pub(super) fn most(&self) -> f64 {
        self.high
    }

    /// The pixels of its ends.
    pub(super) fn ends(&self) -> (i32, i32) {
        (self.from, self.to)
    }
}

/// A plane spanned by two axes.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    /// The horizontal axis, left to right.
    pub(super) x: Scale,
    /// The vertical axis, bottom to top.
    pub(super) y: Scale,
    /// Space to the left of the lowest number, so that a dot there is not drawn on the frame.
    pub(super) pad: i32,
}

impl Plane {
    /// The pixel of a point.
    pub(super) fn at(&self, x: f64, y: f64) -> At {
        (self.x.at(x), self.y.at(y))
    }

    /// The rectangle it covers.
    pub(super) fn frame(&self) -> Frame {
        let ((left, right), (bottom, top)) = (self.x.ends(), self.y.ends());
        (left - self.pad, top, right, bottom)
    }

    /// Draws grid, ticks and axis names; the name of the vertical axis is placed above it.
    pub(super) fn draw(&self, pen: &mut Pen, (x_ticks, y_ticks): (&[Tick], &[Tick]), (x_name, y_name): (&str, &str)) {
        let (left, top, right, bottom) = self.frame();
        for (at, label) in apart(x_ticks, |at| self.x.at(at)) {
            pen.line(&[(at, top), (at, bottom)], FAINT);
            pen.text(label, (at, bottom + 14), TextStyle::SMALL.colour(GREY).centred());
        }
        for (at, label) in y_ticks {
            let at = self.y.at(*at);
            pen.line(&[(left, at), (right, at)], FAINT);
            pen.text(label, (left - 8, at), TextStyle::SMALL.colour(GREY).ending());
        }
        pen.line(&[(left, top), (left, bottom), (right, bottom)], GREY);
        let mut y = bottom + 36;
        for line in name_lines(x_name, right - left) {
            pen.text(&line, (i32::midpoint(left, right), y), TextStyle::LABEL.colour(INK).centred());
            y += NAME_LINE;
        }
        let mut y = top + 18 - Self::above(y_name, right - left);
        for line in name_lines(y_name, right - left) {
            pen.text(&line, (left - 40, y), TextStyle::LABEL);
            y += NAME_LINE;
        }
    }

    /// The height of the name of the vertical axis above a plane of this width.
    pub(super) fn above(y_name: &str, width: i32) -> i32 {
        16 + NAME_LINE * i32::try_from(name_lines(y_name, width).len()).unwrap_or(0)
    }

    /// Where the name of the horizontal axis ends.
    pub(super) fn bottom(&self, x_name: &str) -> i32 {
        let (left, _, right, bottom) = self.frame();
        bottom + 26 + NAME_LINE * i32::try_from(name_lines(x_name, right - left).len()).unwrap_or(0)
    }
}

/// The height of a line of an axis' name.
const NAME_LINE: i32 = 20;

/// An axis' name as lines; it may be a little wider than the plane.
fn name_lines(name: &str, width: i32) -> Vec<String> {
    wrapped(name, LABEL, width + 32)
}

/// The ticks whose labels do not overlap earlier ones, with their pixels.
fn apart(ticks: &[Tick], pixel: impl Fn(f64) -> i32) -> Vec<(i32, &str)> {
    let mut kept: Vec<(i32, &str)> = Vec::new();
    let mut free = i32::MIN;
    for (at, label) in ticks {
        let (at, half) = (pixel(*at), width(label, SMALL) / 2 + 4);
        if at - half >= free {
            kept.push((at, label));
            free = at + half;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_ticks_never_repeat() {
        for quantity in [Quantity::Percent, Quantity::Count, Quantity::Dollars] {
            for exponent in -40..60 {
                let high = 1.37_f64.powi(exponent);
                let ticks = ticks(0.0, high, 8, quantity, false);
                assert!(ticks.len() >= 3 && ticks.len() <= 9, "{high}: {ticks:?}");
                let labels: std::collections::BTreeSet<&str> = ticks.iter().map(|(_, label)| &**label).collect();
                assert_eq!(labels.len(), ticks.len(), "{ticks:?}");
            }
        }
    }

    #[test]
    fn ticks_are_round_and_within() {
        let texts = |low, high, most, quantity, whole| -> Vec<String> {
            ticks(low, high, most, quantity, whole).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(texts(0.0, 104.0, 5, Quantity::Percent, false), ["0", "50", "100"]);
        assert_eq!(
            texts(0.0, 330_000.0, 8, Quantity::Count, false),
            ["0", "50k", "100k", "150k", "200k", "250k", "300k"]
        );
        assert_eq!(texts(0.0, 28_000.0, 8, Quantity::Count, true), ["0", "5k", "10k", "15k", "20k", "25k"]);
        assert_eq!(
            texts(0.0, 0.5, 5, Quantity::Dollars, false),
            ["$0.00", "$0.10", "$0.20", "$0.30", "$0.40", "$0.50"]
        );
        assert_eq!(texts(0.0, 3.2, 8, Quantity::Count, true), ["0", "1", "2", "3"]);
        assert_eq!(texts(-3.0, 10.0, 8, Quantity::Percent, false), ["-2", "0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(0.0, f64::NAN, 8, Quantity::Count, false), Vec::<String>::new());
        assert_eq!(texts(1.0, 1.0, 8, Quantity::Count, false), Vec::<String>::new());
    }

    #[test]
    fn what_is_off_the_scale_is_at_its_end() {
        let scale = Scale::new((0.0, 50.0), (100, 600));
        assert_eq!((scale.at(0.0), scale.at(25.0), scale.at(50.0)), (100, 350, 600));
        assert_eq!((scale.at(-5.0), scale.at(1e300), scale.at(f64::NAN)), (100, 600, 100));
        let kinked = Scale::new((0.0, 100.0), (0, 100)).coarse_from(20.0);
        assert_eq!((kinked.at(-1.0), kinked.at(10.0), kinked.at(20.0)), (0, 40, 80));
        assert_eq!((kinked.at(60.0), kinked.at(100.0), kinked.at(101.0)), (90, 100, 100));
    }
}
