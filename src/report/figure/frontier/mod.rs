//! Figure: savings against killed successes, which shows which stack to ship and why not the others.

mod axes;
mod entry;
mod layout;
mod legend;
mod names;

use plotters::prelude::*;
use serde::Serialize;

use self::axes::Axes;
use self::entry::{FrontierEntry, MarkShape, entries};
pub use self::layout::FrontierLayout;
use self::legend::{LINE, Legend, ROW};
use self::names::labelled;
use super::canvas::Picture;
use super::labels::place;
use super::pen::{At, FigureHeading, Frame, Pen, TextStyle};
use super::scale::Plane;
use super::style::{self, GREY, INK, SHADE, SMALL};
use crate::aggregate::{FrontierPoint, Unit};
use crate::answers::{FirstTable, words};
use crate::words::{chosen_percent, digits};

/// The frontier figure of a comparison, with its parts laid out.
pub struct FrontierFigure<'a> {
    first: &'a FirstTable<'a>,
    /// The largest tolerated share of killed successes.
    max_killed: f64,
    layout: FrontierLayout,
    head: FigureHeading,
    /// The height of the title and what is said below it.
    top: i32,
    /// The stacks that are placed; none if no run is graded.
    entries: Vec<FrontierEntry<'a>>,
    /// The name of the axis of what is saved.
    y_name: String,
    axes: Axes,
    legend: Legend,
    /// The top left corner of the legend.
    legend_at: At,
    /// Width and height in pixels.
    size: (u32, u32),
}

/// Where the page's script finds the parts of a drawing, in its pixels.
#[derive(Serialize)]
pub struct FrontierView {
    /// The name of the figure.
    name: &'static str,
    /// The part without the title, which the page says itself: left, top, width, height.
    window: [i32; 4],
    /// In the order of the legend.
    stacks: Vec<ShownAt>,
}

/// Where a stack is shown.
#[derive(Serialize)]
struct ShownAt {
    /// Its index among the summaries.
    stack: usize,
    /// The middle of its mark.
    mark: At,
    /// Its line in the legend.
    line: Frame,
}

impl Picture for FrontierFigure<'_> {
    fn draw(&self, pen: &mut Pen) -> (u32, u32) {
        if self.layout == FrontierLayout::Wide {
            self.head.draw(pen);
        }
        if !self.entries.is_empty() {
            self.draw_plane(pen);
            self.legend.draw(pen, self.legend_at);
        }
        self.size
    }
}

impl<'a> FrontierFigure<'a> {
    /// The figure of these points, in stack order. `first` has the same stacks: what to ship, the order, and which are
    /// left out. The subtitle says what was compared.
    pub fn new(
        points: &'a [FrontierPoint],
        first: &'a FirstTable<'a>,
        max_killed: f64,
        subtitle: &str,
        layout: FrontierLayout,
    ) -> Self {
        let noun = points.first().map_or(Unit::Steps, |point| point.unit).noun();
        let head = heading(noun, first, subtitle);
        let top = match layout {
            FrontierLayout::Wide => head.bottom(),
            FrontierLayout::Narrow => 0,
        };
        let entries = if first.is_ungraded() { Vec::new() } else { entries(points, first, max_killed) };
        let y_name = format!("{noun} saved on failures and after success, %; up is better");
        let (left, right) = layout.plane();
        let top_of_plane = top + 8 + Plane::above(&y_name, right - left);
        let axes = Axes::from_entries(&entries, max_killed * 100.0, layout, top_of_plane);
        let (left, right) = layout.legend();
        let legend = Legend::from_entries(&entries, first, max_killed, right - left);
        let below_plane = axes.plane.bottom(&x_name(axes.coarse_from)) + 12;
        let (top_of_legend, bottom) = match layout {
            FrontierLayout::Wide => (top + 8, below_plane.max(top + legend.height())),
            FrontierLayout::Narrow => (below_plane, below_plane + legend.height()),
        };
        let bottom = if entries.is_empty() { top + 20 } else { bottom };
        let (legend_at, size) = ((left, top_of_legend), (layout.width().unsigned_abs(), bottom.unsigned_abs()));
        Self { first, max_killed, layout, head, top, entries, y_name, axes, legend, legend_at, size }
    }

    /// Where its parts are, for the page.
    pub fn view(&self, name: &'static str) -> FrontierView {
        let (width, height) = self.size;
        let (left, top) = self.legend_at;
        let right = self.layout.legend().1;
        let mut middle = self.legend.first_stack(top);
        let mut stacks = Vec::new();
        for entry in &self.entries {
            let (x, y) = self.axes.plane.at(entry.place().0, entry.place().1);
            // An arrow hangs below its point.
            let y = if entry.mark.shape == MarkShape::Arrow { y + 7 } else { y };
            let line = (left - 4, middle - ROW / 2, right + 4, middle + ROW / 2);
            if let Some(stack) = self.first.place(entry.stack) {
                stacks.push(ShownAt { stack, mark: (x, y), line });
            }
            middle += ROW;
        }
        let window = [0, self.top, width.cast_signed(), height.cast_signed() - self.top];
        FrontierView { name, window, stacks }
    }

    fn draw_plane(&self, pen: &mut Pen) {
        let Axes { plane, x_ticks, y_ticks, coarse_from } = &self.axes;
        let entries = &self.entries;
        let (_, top, right, bottom) = plane.frame();
        let appetite = plane.x.at(self.max_killed * 100.0);
        pen.rectangle((appetite, top, right, bottom), SHADE.filled());
        plane.draw(pen, (x_ticks, y_ticks), (&x_name(*coarse_from), &self.y_name));
        if let Some(from) = coarse_from {
            pen.dashes((plane.x.at(*from), top), (plane.x.at(*from), bottom), GREY.stroke_width(1));
        }
        pen.line(&[(appetite, top), (appetite, bottom)], INK.stroke_width(2));
        let tolerated = format!("tolerated: {}", chosen_percent(self.max_killed));
        let width = style::width(&tolerated, SMALL);
        let label = if appetite + width + 12 < right { appetite + 6 } else { appetite - width - 6 };
        pen.text(&tolerated, (label, top + 10), TextStyle::SMALL);
        let mut lines = frontier_line(pen, plane, entries);
        lines.push((appetite - 3, top, appetite + 3, bottom));
        for entry in entries {
            lines.extend(draw_interval(pen, plane, entry));
        }
        for entry in entries.iter().rev() {
            draw_entry(pen, plane, entry);
        }
        let labelled = labelled(entries, plane);
        let taken = [(label, top, label + width, top + 20)];
        for (point, placed) in labelled.iter().zip(place(&labelled, inside(plane.frame()), &taken, &lines)) {
            let Some(placed) = placed else { continue };
            if let Some(end) = placed.leader {
                pen.line(&[point.at, end], GREY.mix(0.6));
            }
            pen.text(&placed.text, placed.at, TextStyle::SMALL);
        }
    }
}

/// The title and what is said below it; `noun` names what is saved.
fn heading(noun: &str, first: &FirstTable<'_>, subtitle: &str) -> FigureHeading {
    let title = match noun.get(..1) {
        Some(first) => first.to_uppercase() + &noun[1..],
        None => String::new(),
    };
    let head = FigureHeading::new(format!("{title} saved against successes killed"));
    if first.is_ungraded() {
        let runs = first.in_order().map(|summary| summary.runs).max().unwrap_or(0);
        let sentence = format!(
            "No run has an outcome: nothing can be said about killed successes. {runs} runs; label them with --labels FILE \
             (whenstop labels PATH --template labels.csv writes the file to fill in)."
        );
        return head.sentence(&sentence).note(subtitle);
    }
    head.sentence(&words::verdict(&first.verdict()).replace('`', "")).note(subtitle)
}

/// The name of the axis of what is killed.
fn x_name(coarse_from: Option<f64>) -> String {
    let coarse = coarse_from.map(|from| format!("; coarse beyond {} %", digits(from / 100.0))).unwrap_or_default();
    format!("successes killed, % (line: 95 % interval{coarse}); left is better")
}

/// The interior of a frame, without its edges.
fn inside((left, top, right, bottom): Frame) -> Frame {
    (left + 5, top + 3, right - 3, bottom - 5)
}

/// Draws the staircase through the frontier stacks. Returns the area covered.
fn frontier_line(pen: &mut Pen, plane: &Plane, entries: &[FrontierEntry<'_>]) -> Vec<Frame> {
    let mut corners: Vec<(f64, f64)> =
        entries.iter().filter(|entry| entry.on_frontier).filter_map(FrontierEntry::careful).collect();
    corners.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut covered = Vec::new();
    for pair in corners.windows(2) {
        let [(x, y), (next_x, next_y)] = [pair[0], pair[1]];
        let (start, corner, end) = (plane.at(x, y), plane.at(next_x, y), plane.at(next_x, next_y));
        pen.line(&[start, corner, end], LINE);
        covered.push((start.0, start.1 - 1, corner.0, corner.1 + 1));
        covered.push((corner.0 - 1, end.1, corner.0 + 1, corner.1));
    }
    covered
}

/// Draws the interval of killed successes level with the entry's mark, with a tick at the upper end. Returns the area
/// covered.
fn draw_interval(pen: &mut Pen, plane: &Plane, entry: &FrontierEntry<'_>) -> Option<Frame> {
    let (low, high) = entry.interval?;
    let (left, y) = plane.at(low.max(0.0), entry.place().1);
    let right = plane.x.at(high);
    let style = entry.mark.colour().mix(0.45).stroke_width(1);
    pen.line(&[(left, y), (right, y)], style);
    if plane.x.holds(high) {
        pen.line(&[(right, y - 4), (right, y + 4)], style);
    }
    Some((left, y - 1, right, y + 1))
}

/// Draws the mark, and bars from there to the best that is possible.
fn draw_entry(pen: &mut Pen, plane: &Plane, entry: &FrontierEntry<'_>) {
    let colour = entry.mark.colour();
    let (x, y) = plane.at(entry.place().0, entry.place().1);
    let (left, top) = plane.at(entry.killed.0, entry.saved.1);
    if left < x {
        pen.rectangle((left, y - 2, x, y + 2), colour.mix(0.2).filled());
        pen.line(&[(left, y - 6), (left, y + 6)], colour.stroke_width(2));
    }
    if top < y {
        pen.rectangle((x - 2, top, x + 2, y), colour.mix(0.2).filled());
        pen.line(&[(x - 6, top), (x + 6, top)], colour.stroke_width(2));
    }
    entry.mark.draw(pen, (x, y));
}
