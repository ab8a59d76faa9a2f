//! Figure: bounds on success under each stack that warns, asks or refuses, the interval around them, and which share is
//! unknown and why. What a stack that only stops would have led to is known: the other figures show it.

use plotters::prelude::*;

use super::canvas::Picture;
use super::pen::{FigureHeading, MARGIN, Pen, TextStyle, WIDTH};
use super::scale::{Quantity, Scale, ticks};
use super::style::{self, BLUE, FAINT, GREY, RED, SMALL};
use crate::aggregate::{Group, RowView, Summary};

/// The bounds figure of a comparison.
pub struct BoundsFigure<'a> {
    lines: Vec<BoundsLine<'a>>,
    recorded: Option<f64>,
    subtitle: String,
}

const ROW: i32 = 26;
const LEFT: i32 = 236;
const RIGHT: i32 = 570;
/// Horizontal positions: of the causes, and of the break-even point.
const CAUSES: i32 = RIGHT + 24;
const EVEN: i32 = WIDTH.cast_signed() - MARGIN;
const HALF: i32 = 5;

/// Causes for an open outcome, in order of precedence; each run counts under the first that applies.
const CAUSE: [(&str, &str); 5] = [
    ("unread", "a rule could not be read"),
    ("diverged", "the stack warned, asked or refused, and what follows is not recorded"),
    ("ungraded", "nobody graded the run"),
    ("stopped", "nobody graded the state at the stop"),
    ("capped", "the recording was cut off by its own cap before the stack stopped it"),
];

/// The cause of the stacks that are shown.
const DIVERGED: usize = 1;

/// One line of the figure.
struct BoundsLine<'a> {
    summary: &'a Summary,
    /// Number of runs by cause, in the order of [`CAUSE`].
    causes: [u64; CAUSE.len()],
}

impl<'a> BoundsFigure<'a> {
    /// The figure of those of `stacks` that warned, asked or refused, in their order; `None` if none did. The subtitle
    /// says what was compared.
    pub fn from_stacks(stacks: &[(&'a Summary, &Group<'_>)], subtitle: String) -> Option<Self> {
        let mut lines = Vec::new();
        for (summary, group) in stacks {
            let causes = causes(group);
            if causes[DIVERGED] > 0 {
                lines.push(BoundsLine { summary, causes });
            }
        }
        let recorded = lines.first()?.summary.outcomes.recorded;
        Some(Self { lines, recorded, subtitle })
    }

    fn head(&self) -> FigureHeading {
        let mut open = Vec::new();
        for (at, (name, words)) in CAUSE.iter().enumerate() {
            if self.lines.iter().any(|line| line.causes[at] > 0) {
                open.push(format!("{name}: {words}"));
            }
        }
        FigureHeading::new("Success under each stack that warns, asks or refuses: what the recordings allow")
            .note(&self.subtitle)
            .note("bar: from every open outcome a failure to every one a success; line: 95 % interval around it")
            .note(&format!("open, of all runs: {}", open.join("; ")))
            .note("even at: so many of the open runs must succeed for as many successes as recorded")
    }
}

impl Picture for BoundsFigure<'_> {
    fn draw(&self, pen: &mut Pen) -> (u32, u32) {
        let head = self.head();
        head.draw(pen);
        let top = head.bottom() + 40;
        let scale = Scale::new((0.0, 100.0), (LEFT, RIGHT));
        let bottom = top + height(&self.lines);
        self.draw_axis(pen, &scale, (top, bottom));
        let mut y = top + ROW / 2;
        for line in &self.lines {
            draw_line(pen, &scale, line, y);
            y += ROW;
        }
        (WIDTH, (bottom + 64).unsigned_abs())
    }
}

fn height(lines: &[BoundsLine<'_>]) -> i32 {
    i32::try_from(lines.len()).unwrap_or(i32::MAX / 200).saturating_mul(ROW)
}

impl BoundsFigure<'_> {
    /// Draws ticks at every fifth below, and the share of recorded successes through all rows.
    fn draw_axis(&self, pen: &mut Pen, scale: &Scale, (top, bottom): (i32, i32)) {
        let grey = TextStyle::SMALL.colour(GREY);
        for (at, label) in ticks(0.0, 100.0, 5, Quantity::Percent, true) {
            let at = scale.at(at);
            pen.line(&[(at, top), (at, bottom)], FAINT);
            pen.text(&label, (at, bottom + 14), grey.centred());
        }
        pen.text("successes, % of runs", (i32::midpoint(LEFT, RIGHT), bottom + 36), TextStyle::LABEL.centred());
        pen.text("open, and why", (CAUSES, top - 16), grey);
        pen.text("even at", (EVEN, top - 16), grey.ending());
        if let Some(share) = self.recorded {
            let at = scale.at(share * 100.0);
            pen.dashes((at, top - 4), (at, bottom), RED.stroke_width(1));
            let label = format!("as recorded: {:.0} %", share * 100.0);
            let half = style::width(&label, SMALL) / 2;
            let at = at.clamp(LEFT + half, RIGHT - half);
            pen.text(&label, (at, top - 16), TextStyle::SMALL.colour(RED).centred());
        }
    }
}

fn draw_line(pen: &mut Pen, scale: &Scale, line: &BoundsLine<'_>, y: i32) {
    let name = style::fitted(&line.summary.stack, SMALL, LEFT - 12 - MARGIN);
    pen.text(&name, (LEFT - 12, y), TextStyle::SMALL.ending());
    let success = &line.summary.outcomes.success;
    let x = |share: f64| scale.at(share * 100.0);
    if let Some(interval) = success.interval() {
        pen.line(&[(x(interval.low), y), (x(interval.high), y)], BLUE.mix(0.6));
        for end in [interval.low, interval.high] {
            pen.line(&[(x(end), y - 3), (x(end), y + 3)], BLUE.mix(0.6));
        }
    }
    if let Some(bounds) = success.bounds() {
        // Widened by a pixel on each side, so that an exact value is still visible.
        pen.rectangle((x(bounds.low) - 1, y - HALF, x(bounds.high) + 1, y + HALF), BLUE.filled());
    }
    let unknown = unknown(&line.causes, line.summary.runs);
    pen.text(&style::fitted(&unknown, SMALL, EVEN - 50 - CAUSES), (CAUSES, y), TextStyle::SMALL);
    let even = line.summary.outcomes.tipping_point.map(|share| format!("{:.0} %", share * 100.0));
    pen.text(&even.unwrap_or_default(), (EVEN, y), TextStyle::SMALL.ending());
}

/// Counts the runs whose outcome under the stack is open, by cause.
fn causes(group: &Group<'_>) -> [u64; CAUSE.len()] {
    let mut causes = [0; CAUSE.len()];
    for row in group.rows() {
        if let Some(cause) = cause(row) {
            causes[cause] += 1;
        }
    }
    causes
}

/// Why the outcome is open, or that it is unclear whether the run was stopped; `None` if all is known.
fn cause(row: RowView<'_>) -> Option<usize> {
    match row.unknown() {
        doubts if doubts.unread => Some(0),
        doubts if doubts.diverged => Some(1),
        doubts if doubts.unlabelled => Some(2),
        _ if row.outcome_low() == row.outcome_high() => None,
        _ => Some(if row.is_stop() { 3 } else { 4 }),
    }
}

/// Formats `12 % unread, 40 % diverged, 5 % ungraded`, as shares of all runs; a nonzero share never rounds to 0.
fn unknown(causes: &[u64; CAUSE.len()], runs: u64) -> String {
    let parts: Vec<String> = causes
        .iter()
        .zip(CAUSE)
        .filter(|(count, _)| **count > 0)
        .map(|(count, (name, _))| {
            let percent = *count as f64 * 100.0 / runs.max(1) as f64;
            let percent = match percent {
                small if small < 1.0 => "<1".to_owned(),
                large if large > 99.0 && *count < runs => ">99".to_owned(),
                percent => format!("{percent:.0}"),
            };
            format!("{percent} % {name}")
        })
        .collect();
    if parts.is_empty() { "nothing unknown".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_said_with_its_causes() {
        assert_eq!(unknown(&[12, 40, 5, 0, 0], 100), "12 % unread, 40 % diverged, 5 % ungraded");
        assert_eq!(unknown(&[0, 1, 0, 999, 0], 1000), "<1 % diverged, >99 % stopped");
        assert_eq!(unknown(&[0, 0, 50, 0, 0], 50), "100 % ungraded");
        assert_eq!(unknown(&[0; 5], 50), "nothing unknown");
    }
}
