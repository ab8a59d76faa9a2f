//! Figure: what the limit chosen from the past killed, saved and left to spend, by time.

use plotters::prelude::*;

use super::canvas::Picture;
use super::pen::{FigureHeading, MARGIN, Pen, TextStyle, WIDTH};
use super::scale::{Plane, Quantity, Scale, Tick, ticks};
use super::style::{self, BLUE, GREEN, GREY, INK, RED, ROSE, SHADE, SKY, SMALL, STONE, TEAL};
use crate::aggregate::{Ends, Forward, ForwardPeriod, LEVEL, PeriodLength, Unit};
use crate::words::chosen;

/// The figure of `tune --walk-forward`.
pub struct ForwardFigure<'a> {
    /// What was found.
    pub forward: &'a Forward,
    /// Whether it held, in a sentence.
    pub verdict: &'a str,
}

const LEFT: i32 = 80;
const RIGHT: i32 = WIDTH.cast_signed() - MARGIN - 20;
/// Height of the strip with the limits.
const STRIP: i32 = 26;
/// Height of a panel, and of the space above it.
const PANEL: i32 = 120;
const ABOVE: i32 = 54;

/// A bar: filled up to `low` in one colour, from there to `high` in a lighter one.
struct Bar {
    low: f64,
    high: f64,
    interval: Option<(f64, f64)>,
}

impl ForwardFigure<'_> {
    fn head(&self) -> FigureHeading {
        let length = self.forward.length.name();
        let limit = if self.forward.periods.iter().any(|period| period.stack.is_some()) {
            "pale: what the recordings leave open; thin lines: 95 % intervals, by task"
        } else {
            "no limit was chosen in any of them"
        };
        FigureHeading::new(format!("The limit chosen from the {length}s before, {length} by {length}"))
            .sentence(self.verdict)
            .note(&format!("by the start of the runs, in UTC; {limit}"))
    }

    /// The days of the first and the end of the last period.
    fn days(&self) -> (f64, f64) {
        let first = self.forward.periods.first().map_or(0.0, first_day);
        let last = self.forward.periods.last().map_or(0.0, first_day);
        (first, last + self.length())
    }

    /// Days of a period; of a month, as many as all have.
    fn length(&self) -> f64 {
        match self.forward.length {
            PeriodLength::Day => 1.0,
            PeriodLength::Week => 7.0,
            PeriodLength::Month => 28.0,
        }
    }

    fn killed(period: &ForwardPeriod) -> Option<Bar> {
        period.stack.as_ref()?;
        let rate = period.killed_rate(LEVEL);
        let interval = rate.interval().map(|interval| (percent(interval.low), percent(interval.high)));
        Some(Bar { low: percent(rate.low.value?), high: percent(rate.high.value?), interval })
    }

    fn saved(period: &ForwardPeriod) -> Option<Bar> {
        period.stack.as_ref()?;
        let Ends { low, high } = period.saved();
        Some(Bar { low: percent(low.unwrap_or(0.0)), high: percent(high?), interval: None })
    }

    fn spent(period: &ForwardPeriod) -> Option<Bar> {
        period.stack.as_ref()?;
        let Ends { low, high } = period.spent();
        Some(Bar { low: low?, high: high.unwrap_or_else(|| period.recorded()), interval: None })
    }

    /// Draws the bars of one panel.
    fn bars(
        &self,
        pen: &mut Pen,
        plane: &Plane,
        (full, pale): (RGBColor, RGBColor),
        bar: impl Fn(&ForwardPeriod) -> Option<Bar>,
    ) {
        for period in &self.forward.periods {
            let Some(Bar { low, high, interval }) = bar(period) else { continue };
            let (left, right) = self.sides(plane, period);
            let [floor, low, high] = [0.0, low, high].map(|value| plane.y.at(value));
            pen.rectangle((left, high, right, low), pale.filled());
            pen.rectangle((left, low, right, floor), full.filled());
            if let Some((from, to)) = interval {
                let middle = i32::midpoint(left, right);
                pen.line(&[(middle, plane.y.at(from)), (middle, plane.y.at(to))], INK);
            }
        }
    }

    /// The pixels of a period's bar.
    fn sides(&self, plane: &Plane, period: &ForwardPeriod) -> (i32, i32) {
        let (left, right) = (plane.x.at(first_day(period)), plane.x.at(first_day(period) + self.length()));
        let space = ((right - left) / 8).clamp(0, 6);
        (left + space, (right - space).max(left + space + 1))
    }

    /// The limits, each as long as it was the one chosen from the past.
    fn draw_limits(&self, pen: &mut Pen, x: &Scale, top: i32) {
        let mut rest = &self.forward.periods[..];
        while let Some(first) = rest.first() {
            let same = rest.iter().take_while(|period| period.stack == first.stack).count();
            let (these, others) = rest.split_at(same);
            rest = others;
            let end = these.last().map_or(0.0, first_day) + self.length();
            let (left, right) = (x.at(first_day(first)) + 1, x.at(end) - 1);
            let name = first.stack.as_deref().unwrap_or("none");
            pen.rectangle((left, top, right, top + STRIP - 6), SHADE.filled());
            let at = (i32::midpoint(left, right), top + (STRIP - 6) / 2);
            pen.text(limit_that_fits(name, right - left - 4), at, TextStyle::SMALL.centred());
        }
    }

    /// The plane of the panel with that number, and the largest value on it.
    fn plane(&self, nth: i32, top: i32, most: f64) -> Plane {
        let top = top + STRIP + nth * (PANEL + ABOVE) + ABOVE - 10;
        let most = if most > 0.0 { most } else { 1.0 };
        let y = Scale::new((0.0, most), (top + PANEL, top));
        Plane { x: Scale::new(self.days(), (LEFT, RIGHT)), y, pad: 0 }
    }

    fn most(&self, bar: impl Fn(&ForwardPeriod) -> Option<Bar>) -> f64 {
        self.forward.periods.iter().filter_map(bar).map(|bar| bar.high).fold(0.0, f64::max)
    }
}

impl Picture for ForwardFigure<'_> {
    fn draw(&self, pen: &mut Pen) -> (u32, u32) {
        let head = self.head();
        head.draw(pen);
        let top = head.bottom() + 8;
        let tolerated = percent(self.forward.max_killed);
        let names: Vec<Tick> = self
            .forward
            .periods
            .iter()
            .map(|period| (first_day(period) + self.length() / 2.0, period.period.name()))
            .collect();
        let unit = self.forward.unit();
        let noun = style::amounts(unit);

        let killed = self.plane(0, top, (self.most(Self::killed) * 1.2).max(tolerated * 2.0).min(100.0));
        pen.text("limit", (LEFT - 8, top + (STRIP - 6) / 2), TextStyle::SMALL.colour(GREY).ending());
        self.draw_limits(pen, &killed.x, top);
        let y_ticks = |plane: &Plane, quantity, whole| ticks(0.0, plane.y.most(), 4, quantity, whole);
        let name = format!(
            "successes killed, %, averaged over tasks; dashed: the {} % tolerated",
            chosen(self.forward.max_killed)
        );
        killed.draw(pen, (&names, &y_ticks(&killed, Quantity::Percent, false)), ("", &name));
        self.bars(pen, &killed, (RED, ROSE), Self::killed);
        pen.dashes((LEFT, killed.y.at(tolerated)), (RIGHT, killed.y.at(tolerated)), INK.stroke_width(1));

        let saved = self.plane(1, top, (self.most(Self::saved) * 1.1).clamp(1.0, 100.0));
        let name = format!("{noun} saved, %");
        saved.draw(pen, (&names, &y_ticks(&saved, Quantity::Percent, false)), ("", &name));
        self.bars(pen, &saved, (GREEN, TEAL), Self::saved);

        let recorded =
            |period: &ForwardPeriod| Some(Bar { low: period.recorded(), high: period.recorded(), interval: None });
        let spent = self.plane(2, top, self.most(recorded).max(self.most(Self::spent)) * 1.1);
        let name = format!("{noun} spent: grey as recorded, blue under the limit");
        let amounts = y_ticks(&spent, Quantity::from_unit(unit), unit != Unit::CostUsd);
        spent.draw(pen, (&names, &amounts), (self.forward.length.name(), &name));
        self.bars(pen, &spent, (STONE, STONE), recorded);
        self.bars(pen, &spent, (BLUE, SKY), Self::spent);
        (WIDTH, (head.bottom() + STRIP + 3 * (PANEL + ABOVE) + 60).unsigned_abs())
    }
}

/// As much of a limit's end as there is room for: at least its number, or nothing. The file has all of it.
fn limit_that_fits(name: &str, room: i32) -> &str {
    let mut rest = name;
    while style::width(rest, SMALL) > room {
        let Some((_, shorter)) = rest.split_once(' ') else { return "" };
        rest = shorter;
    }
    rest
}

fn first_day(period: &ForwardPeriod) -> f64 {
    period.period.days_since_1970() as f64
}

fn percent(share: f64) -> f64 {
    share * 100.0
}
