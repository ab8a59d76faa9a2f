//! The legend of the frontier figure: what marks mean, every stack with its numbers, and the stacks that could not be
//! placed.

use plotters::prelude::Color;

use super::entry::{FrontierEntry, KillLevel, MarkShape, StackMark};
use crate::aggregate::Summary;
use crate::answers::FirstTable;
use crate::report::figure::pen::{At, Pen, TextStyle};
use crate::report::figure::style::{self, GREY, SMALL};
use crate::words::{chosen_percent, digits, some_of, span};

/// The legend's lines, ready to be drawn.
pub(super) struct Legend {
    width: i32,
    /// Lines of text; the first line of a key has its sign.
    keys: Vec<(Option<LegendSymbol>, String)>,
    stacks: Vec<LegendLine>,
    remarks: Vec<String>,
}

/// What stands before a key.
#[derive(Clone, Copy)]
enum LegendSymbol {
    Stack(StackMark),
    /// The line through the frontier.
    Frontier,
}

/// A stack with its numbers.
struct LegendLine {
    mark: StackMark,
    name: String,
    killed: String,
    saved: String,
}

/// The height of a line.
pub(super) const ROW: i32 = 19;
/// Free space between the parts.
const GAP: i32 = 10;
/// Where names begin, measured from the left.
const NAMES: i32 = 22;
/// Where the numbers of what is killed end, measured from the right.
const KILLED: i32 = 78;
/// Up to this many stacks that could not be placed are named without their number.
const SINGLE: usize = 3;

impl Legend {
    pub(super) fn from_entries(
        entries: &[FrontierEntry<'_>],
        first: &FirstTable<'_>,
        max_killed: f64,
        width: i32,
    ) -> Self {
        let mut lines = Vec::new();
        for (sign, text) in keys(entries, max_killed) {
            for (at, part) in style::wrapped(&text, SMALL, width - NAMES).into_iter().enumerate() {
                lines.push((if at == 0 { Some(sign) } else { None }, part));
            }
        }
        Self { width, keys: lines, stacks: entries.iter().map(line).collect(), remarks: remarks(entries, first, width) }
    }

    pub(super) fn height(&self) -> i32 {
        let rows = self.keys.len() + self.stacks.len() + self.remarks.len();
        i32::try_from(rows).unwrap_or(i32::MAX / ROW).saturating_mul(ROW).saturating_add(2 * GAP + 2 * ROW)
    }

    /// The middle of the line of the first stack, in a legend drawn at `top`.
    pub(super) fn first_stack(&self, top: i32) -> i32 {
        top + ROW / 2 + ROW * i32::try_from(self.keys.len()).unwrap_or(0) + GAP + ROW
    }

    pub(super) fn draw(&self, pen: &mut Pen, (x, top): At) {
        let mut y = top + ROW / 2;
        for (sign, text) in &self.keys {
            match sign {
                Some(LegendSymbol::Stack(mark)) => draw_mark(pen, *mark, (x + 7, y)),
                Some(LegendSymbol::Frontier) => draw_stair(pen, (x, y)),
                None => {}
            }
            pen.text(text, (x + NAMES, y), TextStyle::SMALL);
            y += ROW;
        }
        y = self.first_stack(top);
        let grey = TextStyle::SMALL.colour(GREY);
        pen.text("killed, %", (x + self.width - KILLED, y - ROW), grey.ending());
        pen.text("saved, %", (x + self.width, y - ROW), grey.ending());
        for line in &self.stacks {
            draw_mark(pen, line.mark, (x + 7, y));
            let room = self.width - KILLED - NAMES - style::width(&line.killed, SMALL) - 10;
            pen.text(&style::fitted(&line.name, SMALL, room), (x + NAMES, y), TextStyle::SMALL);
            pen.text(&line.killed, (x + self.width - KILLED, y), grey.ending());
            pen.text(&line.saved, (x + self.width, y), grey.ending());
            y += ROW;
        }
        y += GAP;
        for remark in &self.remarks {
            pen.text(remark, (x, y), grey);
            y += ROW;
        }
    }
}

/// The line through the frontier.
pub(super) const LINE: plotters::style::ShapeStyle = plotters::style::ShapeStyle {
    color: plotters::style::RGBAColor(0x77, 0x77, 0x77, 0.7),
    filled: false,
    stroke_width: 2,
};

fn line(entry: &FrontierEntry<'_>) -> LegendLine {
    let saved = match entry.saved {
        (None, high) => format!("≤{}", digits(high / 100.0)),
        (Some(low), high) => span(low / 100.0, high / 100.0),
    };
    LegendLine {
        mark: entry.mark,
        name: format!("{} {}", entry.number, entry.stack),
        killed: span(entry.killed.0 / 100.0, entry.killed.1 / 100.0),
        saved,
    }
}

/// The keys of what occurs: fills and colours, then shapes, then the line.
fn keys(entries: &[FrontierEntry<'_>], max_killed: f64) -> Vec<(LegendSymbol, String)> {
    let limit = chosen_percent(max_killed);
    let mut keys = Vec::new();
    let colours = [
        (KillLevel::Tolerated, true, format!("filled: can be shipped, kills at most {limit} (95 %), and pays")),
        (KillLevel::Tolerated, false, format!("kills at most {limit} (95 %), but saves too little")),
        (KillLevel::Unproven, false, format!("may kill more than {limit}")),
        (KillLevel::TooMany, false, format!("kills more than {limit}")),
    ];
    for (kills, filled, words) in colours {
        if entries.iter().any(|entry| (entry.mark.kills, entry.mark.filled) == (kills, filled)) {
            keys.push((LegendSymbol::Stack(StackMark { shape: MarkShape::Dot, kills, filled }), words));
        }
    }
    let shapes = [
        (MarkShape::Square, "known within bounds: at worst, and bars to the best"),
        (MarkShape::Arrow, "saves at most this: what it may cost is not limited"),
    ];
    for (shape, words) in shapes {
        let kills = entries.iter().filter(|entry| entry.mark.shape == shape).map(|entry| entry.mark.kills).next();
        if let Some(kills) = kills {
            keys.push((LegendSymbol::Stack(StackMark { shape, kills, filled: false }), words.to_owned()));
        }
    }
    if entries.iter().filter(|entry| entry.on_frontier && entry.careful().is_some()).count() > 1 {
        keys.push((LegendSymbol::Frontier, "through stacks than which none kills less and saves more".to_owned()));
    }
    keys
}

/// Draws a step of the frontier in the middle of a line.
fn draw_stair(pen: &mut Pen, (x, y): At) {
    pen.line(&[(x, y + 4), (x + 8, y + 4), (x + 8, y - 4), (x + 15, y - 4)], LINE);
}

/// Draws a mark in the middle of a line.
fn draw_mark(pen: &mut Pen, mark: StackMark, (x, y): At) {
    match mark.shape {
        MarkShape::Dot => mark.draw(pen, (x, y)),
        MarkShape::Arrow => mark.draw(pen, (x, y - 7)),
        MarkShape::Square => {
            let colour = mark.colour();
            pen.rectangle((x - 8, y - 1, x + 4, y + 1), colour.mix(0.3).filled());
            pen.line(&[(x - 8, y - 5), (x - 8, y + 5)], colour.stroke_width(2));
            mark.draw(pen, (x + 3, y));
        }
    }
}

/// What is said of groups of stacks: which are beaten, and which could not be placed.
fn remarks(entries: &[FrontierEntry<'_>], first: &FirstTable<'_>, width: i32) -> Vec<String> {
    let mut beaten = Vec::new();
    for entry in entries.iter().filter(|entry| entry.is_beaten) {
        beaten.push(entry.number.to_string());
    }
    let mut unplaced = Vec::new();
    for summary in first.shown.iter().chain(&first.folded) {
        if !entries.iter().any(|entry| *entry.stack == *summary.stack) {
            unplaced.push(&*summary.stack);
        }
    }
    let names = |summaries: &[&Summary]| -> Vec<String> { summaries.iter().map(|s| s.stack.to_string()).collect() };
    let mut lines = Vec::new();
    if !beaten.is_empty() {
        let text = format!("another is better on both counts, beyond chance: {}", beaten.join(", "));
        lines.extend(style::wrapped(&text, SMALL, width));
    }
    let unplaced = unplaced.into_iter().map(str::to_owned).collect();
    for (why, who) in
        [("never acted", names(&first.idle)), ("not judged", names(&first.unread)), ("not placed", unplaced)]
    {
        lines.extend(style::wrapped(&folded(why, &who), SMALL, width));
    }
    lines
}

/// Formats `never acted: same-call, errors`; many names are counted, and some of them named.
fn folded(why: &str, names: &[String]) -> String {
    /// Maximum names to list.
    const TOLD: usize = 8;
    match names.len() {
        0 => String::new(),
        count if count <= SINGLE => format!("{why}: {}", names.join(", ")),
        count => format!("{why} ({count}): {}", some_of(names, TOLD)),
    }
}
