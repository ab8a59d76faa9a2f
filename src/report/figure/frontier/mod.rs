//! Figure: savings against killed successes, which shows which stack to ship and why not the others.

mod axes;
mod entry;
mod legend;
mod names;

use plotters::prelude::*;
use serde::Serialize;

use self::axes::Axes;
use self::entry::{FrontierEntry, MarkShape, entries};
use self::legend::{LINE, Legend, ROW};
use self::names::labelled;
use super::canvas::Picture;
use super::labels::place;
use super::pen::{At, FigureHeading, Frame, MARGIN, Pen, TextStyle, WIDTH};
use super::scale::Plane;
use super::style::{self, GREY, INK, SHADE, SMALL};
use crate::aggregate::{FrontierPoint, Unit};
use crate::answers::{FirstTable, words};
use crate::words::{chosen_percent, digits};

/// The frontier figure of a comparison.
pub struct FrontierFigure<'a> {
    /// The points, in stack order.
    pub points: &'a [FrontierPoint],
    /// The same stacks as in the first table: what to ship, the order, and which are left out.
    pub first: &'a FirstTable<'a>,
    /// The largest tolerated share of killed successes.
    pub max_killed: f64,
    /// The subtitle: what was compared.
    pub subtitle: String,
    /// How its parts lie.
    pub layout: FrontierLayout,
}

/// How the parts of the figure lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontierLayout {
    /// As in the files: title, plane, and the legend beside it.
    Wide,
    /// For the screen of a telephone: no title, and the legend below the plane.
    Narrow,
}

impl FrontierLayout {
    fn width(self) -> i32 {
        match self {
            Self::Wide => WIDTH.cast_signed(),
            Self::Narrow => 364,
        }
    }

    /// Left and right end of the plane.
    fn plane(self) -> (i32, i32) {
        match self {
            Self::Wide => (66, 706),
            Self::Narrow => (36, 356),
        }
    }

    /// Left and right end of the legend.
    fn legend(self) -> (i32, i32) {
        match self {
            Self::Wide => (736, self.width() - MARGIN),
            Self::Narrow => (4, 358),
        }
    }

    /// The height of the plane.
    fn height(self) -> i32 {
        match self {
            Self::Wide => 460,
            Self::Narrow => 340,
        }
    }
}

/// Where a stack is shown.
#[derive(Serialize)]
pub struct ShownAt {
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
            self.head().draw(pen);
        }
        let entries = self.entries();
        if !entries.is_empty() {
            self.draw_plane(pen, &entries);
            self.legend(&entries).draw(pen, self.legend_at(&entries));
        }
        self.size()
    }
}

impl FrontierFigure<'_> {
    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        let (width, top) = (self.layout.width().unsigned_abs(), self.top());
        let entries = self.entries();
        if entries.is_empty() {
            return (width, top.unsigned_abs() + 20);
        }
        let plane = self.below_plane(&entries);
        let legend = self.legend(&entries).height();
        let bottom = match self.layout {
            FrontierLayout::Wide => plane.max(top + legend),
            FrontierLayout::Narrow => plane + legend,
        };
        (width, bottom.unsigned_abs())
    }

    /// Where each stack is shown, in the order of the legend.
    pub fn shown_at(&self) -> Vec<ShownAt> {
        let entries = self.entries();
        let plane = self.axes(&entries).plane;
        let (left, top) = self.legend_at(&entries);
        let right = self.layout.legend().1;
        let mut middle = self.legend(&entries).first_stack(top);
        let mut all = Vec::new();
        for entry in &entries {
            let (x, y) = plane.at(entry.place().0, entry.place().1);
            // An arrow hangs below its point.
            let y = if entry.mark.shape == MarkShape::Arrow { y + 7 } else { y };
            let line = (left - 4, middle - ROW / 2, right + 4, middle + ROW / 2);
            if let Some(stack) = self.first.place(entry.stack) {
                all.push(ShownAt { stack, mark: (x, y), line });
            }
            middle += ROW;
        }
        all
    }

    /// The height of the title and what is said below it.
    pub fn top(&self) -> i32 {
        match self.layout {
            FrontierLayout::Wide => self.head().bottom(),
            FrontierLayout::Narrow => 0,
        }
    }

    fn unit(&self) -> Unit {
        self.points.first().map_or(Unit::Steps, |point| point.unit)
    }

    fn entries(&self) -> Vec<FrontierEntry<'_>> {
        if self.first.is_ungraded() { Vec::new() } else { entries(self.points, self.first, self.max_killed) }
    }

    fn legend(&self, entries: &[FrontierEntry<'_>]) -> Legend {
        let (left, right) = self.layout.legend();
        Legend::from_entries(entries, self.first, self.max_killed, right - left)
    }

    /// The top left corner of the legend.
    fn legend_at(&self, entries: &[FrontierEntry<'_>]) -> At {
        let top = match self.layout {
            FrontierLayout::Wide => self.top() + 8,
            FrontierLayout::Narrow => self.below_plane(entries),
        };
        (self.layout.legend().0, top)
    }

    /// The height at which the plane and the name of its axis end.
    fn below_plane(&self, entries: &[FrontierEntry<'_>]) -> i32 {
        let axes = self.axes(entries);
        axes.plane.bottom(&x_name(axes.coarse_from)) + 12
    }

    fn head(&self) -> FigureHeading {
        let noun = self.unit().noun();
        let title = match noun.get(..1) {
            Some(first) => first.to_uppercase() + &noun[1..],
            None => String::new(),
        };
        let head = FigureHeading::new(format!("{title} saved against successes killed"));
        if self.first.is_ungraded() {
            let runs = self.first.in_order().map(|summary| summary.runs).max().unwrap_or(0);
            return head.sentence(&ungraded(runs)).note(&self.subtitle);
        }
        head.sentence(&words::verdict(&self.first.verdict()).replace('`', "")).note(&self.subtitle)
    }

    fn y_name(&self) -> String {
        format!("{} saved on failures and after success, %; up is better", self.unit().noun())
    }

    fn axes(&self, entries: &[FrontierEntry<'_>]) -> Axes {
        let (left, right) = self.layout.plane();
        let top = self.top() + 8 + Plane::above(&self.y_name(), right - left);
        Axes::from_entries(entries, self.max_killed * 100.0, self.layout, top)
    }

    fn draw_plane(&self, pen: &mut Pen, entries: &[FrontierEntry<'_>]) {
        let Axes { plane, x_ticks, y_ticks, coarse_from } = self.axes(entries);
        let (_, top, right, bottom) = plane.frame();
        let appetite = plane.x.at(self.max_killed * 100.0);
        pen.rectangle((appetite, top, right, bottom), SHADE.filled());
        plane.draw(pen, (&x_ticks, &y_ticks), (&x_name(coarse_from), &self.y_name()));
        if let Some(from) = coarse_from {
            pen.dashes((plane.x.at(from), top), (plane.x.at(from), bottom), GREY.stroke_width(1));
        }
        pen.line(&[(appetite, top), (appetite, bottom)], INK.stroke_width(2));
        let tolerated = format!("tolerated: {}", chosen_percent(self.max_killed));
        let width = style::width(&tolerated, SMALL);
        let label = if appetite + width + 12 < right { appetite + 6 } else { appetite - width - 6 };
        pen.text(&tolerated, (label, top + 10), TextStyle::SMALL);
        let mut lines = frontier_line(pen, &plane, entries);
        lines.push((appetite - 3, top, appetite + 3, bottom));
        for entry in entries {
            lines.extend(draw_interval(pen, &plane, entry));
        }
        for entry in entries.iter().rev() {
            draw_entry(pen, &plane, entry);
        }
        let labelled = labelled(entries, &plane);
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

/// The name of the axis of what is killed.
fn x_name(coarse_from: Option<f64>) -> String {
    let coarse = coarse_from.map(|from| format!("; coarse beyond {} %", digits(from / 100.0))).unwrap_or_default();
    format!("successes killed, % (line: 95 % interval{coarse}); left is better")
}

/// The interior of a frame, without its edges.
fn inside((left, top, right, bottom): Frame) -> Frame {
    (left + 5, top + 3, right - 3, bottom - 5)
}

/// The text of an outcome figure if no run is graded.
pub(super) fn ungraded(runs: u64) -> String {
    format!(
        "No run has an outcome: nothing can be said about killed successes. {runs} runs; label them with `--labels FILE` \
         (`whenstop labels PATH --template labels.csv` writes the file to fill in)."
    )
    .replace('`', "")
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
