//! Figure: bounds on success under each stack, the interval around them, and which share is unknown and why.

use plotters::prelude::*;

use super::canvas::{Drawing, FigureError, Picture};
use super::frontier::ungraded;
use super::pen::{Head, Look, MARGIN, Pen, WIDTH};
use super::scale::{Quantity, Scale, ticks};
use super::stops::named;
use super::style::{self, BLUE, FAINT, GREY, RED, SMALL};
use crate::aggregate::{Group, RowView, Summary};

/// The bounds figure of a comparison.
pub struct BoundsFigure<'a> {
    /// The stacks.
    pub summaries: &'a [Summary],
    /// The rows of each stack, in the same order.
    pub groups: &'a [Group<'a>],
    /// The subtitle: what was compared.
    pub subtitle: String,
}

const ROW: i32 = 26;
const LEFT: i32 = 236;
const RIGHT: i32 = 570;
/// Horizontal positions: of the causes, and of the break-even point.
const CAUSES: i32 = RIGHT + 24;
const EVEN: i32 = WIDTH.cast_signed() - MARGIN;
const HALF: i32 = 5;
/// Up to this many idle stacks are drawn one by one; more share one line.
const SINGLE: usize = 3;

/// Causes for an open outcome, in order of precedence; each run counts under the first that applies.
const CAUSE: [(&str, &str); 5] = [
    ("unread", "a rule could not be read"),
    ("diverged", "the stack warned, asked or refused, and what follows is not recorded"),
    ("ungraded", "nobody graded the run"),
    ("stopped", "nobody graded the state at the stop"),
    ("capped", "the recording was cut off by its own cap before the stack stopped it"),
];

/// One line of the figure.
struct Line<'a> {
    name: String,
    summary: &'a Summary,
    /// Number of runs by cause, in the order of [`CAUSE`].
    causes: [u64; CAUSE.len()],
}

impl BoundsFigure<'_> {
    fn is_ungraded(&self) -> bool {
        self.summaries.iter().all(|summary| summary.outcomes.recorded.is_none())
    }

    /// One line per stack; stacks that never acted share a line if there are many.
    fn lines(&self) -> Vec<Line<'_>> {
        if self.is_ungraded() {
            return Vec::new();
        }
        let idle = self.folded(Summary::never_acted);
        let unread = self.folded(Summary::is_unread);
        let mut lines: Vec<Line<'_>> = Vec::new();
        for (summary, group) in self.summaries.iter().zip(self.groups) {
            let kind = [&idle, &unread].into_iter().find(|names| names.contains(&&*summary.stack));
            let name = match kind {
                Some(names) if names.first() != Some(&&*summary.stack) => continue,
                Some(names) if summary.never_acted() => format!("{} that never acted", names.len()),
                Some(names) => format!("{} that cannot be judged", names.len()),
                None => summary.stack.to_string(),
            };
            lines.push(Line { name, summary, causes: causes(group) });
        }
        lines
    }

    /// Stacks of a kind that share one line; empty if there are few.
    fn folded(&self, kind: fn(&Summary) -> bool) -> Vec<&str> {
        let names: Vec<&str> =
            self.summaries.iter().filter(|summary| kind(summary)).map(|summary| &*summary.stack).collect();
        if names.len() > SINGLE { names } else { Vec::new() }
    }

    fn head(&self, lines: &[Line<'_>]) -> Head {
        let head = Head::new("Success under each stack: what the recordings allow");
        if lines.is_empty() {
            let runs = self.summaries.iter().map(|summary| summary.runs).max().unwrap_or(0);
            return head.sentence(&ungraded(runs)).note(&self.subtitle);
        }
        let mut notes = vec![
            "bar: from every open outcome a failure to every one a success; line: 95 % interval around it".to_owned(),
        ];
        let words: Vec<String> = CAUSE
            .iter()
            .enumerate()
            .filter(|(at, _)| lines.iter().any(|line| line.causes[*at] > 0))
            .map(|(_, (name, words))| format!("{name}: {words}"))
            .collect();
        if !words.is_empty() {
            notes.push(format!("open, of all runs: {}", words.join("; ")));
            notes.push("even at: so many of the open runs must succeed for as many successes as recorded".to_owned());
        }
        for (why, kind) in
            [("never acted", Summary::never_acted as fn(&Summary) -> bool), ("cannot be judged", Summary::is_unread)]
        {
            let names: Vec<String> = self.folded(kind).into_iter().map(str::to_owned).collect();
            if !names.is_empty() {
                notes.push(format!("{why}: {}", named(&names)));
            }
        }
        notes.iter().fold(head.note(&self.subtitle), |head, note| head.note(note))
    }
}

impl Picture for BoundsFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let lines = self.lines();
        let top = self.head(&lines).bottom();
        if lines.is_empty() {
            return (WIDTH, top.unsigned_abs() + 20);
        }
        (WIDTH, (top + 40 + height(&lines) + 64).unsigned_abs())
    }

    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let pen = Pen::on(area);
        let lines = self.lines();
        let head = self.head(&lines);
        head.draw(&pen)?;
        if lines.is_empty() {
            return Ok(());
        }
        let top = head.bottom() + 40;
        let scale = Scale::new((0.0, 100.0), (LEFT, RIGHT));
        self.draw_axis(&pen, &scale, (top, top + height(&lines)))?;
        let mut y = top + ROW / 2;
        for line in &lines {
            draw_line(&pen, &scale, line, y)?;
            y += ROW;
        }
        Ok(())
    }
}

fn height(lines: &[Line<'_>]) -> i32 {
    i32::try_from(lines.len()).unwrap_or(i32::MAX / 200).saturating_mul(ROW)
}

impl BoundsFigure<'_> {
    /// Draws ticks at every fifth below, and the share of recorded successes through all rows.
    fn draw_axis<B: DrawingBackend>(
        &self,
        pen: &Pen<'_, B>,
        scale: &Scale,
        (top, bottom): (i32, i32),
    ) -> Result<(), FigureError> {
        let grey = Look::SMALL.colour(GREY);
        for (at, label) in ticks(0.0, 100.0, 5, Quantity::Percent, true) {
            let at = scale.at(at);
            pen.line(&[(at, top), (at, bottom)], FAINT)?;
            pen.text(&label, (at, bottom + 14), grey.centred())?;
        }
        pen.text("successes, % of runs", (i32::midpoint(LEFT, RIGHT), bottom + 36), Look::LABEL.centred())?;
        pen.text("open, and why", (CAUSES, top - 16), grey)?;
        pen.text("even at", (EVEN, top - 16), grey.ending())?;
        if let Some(share) = self.summaries.first().and_then(|summary| summary.outcomes.recorded) {
            let at = scale.at(share * 100.0);
            pen.dashes((at, top - 4), (at, bottom), RED.stroke_width(1))?;
            let label = format!("as recorded: {:.0} %", share * 100.0);
            let half = style::width(&label, SMALL) / 2;
            let at = at.clamp(LEFT + half, RIGHT - half);
            pen.text(&label, (at, top - 16), Look::SMALL.colour(RED).centred())?;
        }
        Ok(())
    }
}

fn draw_line<B: DrawingBackend>(pen: &Pen<'_, B>, scale: &Scale, line: &Line<'_>, y: i32) -> Result<(), FigureError> {
    let name = style::fitted(&line.name, SMALL, LEFT - 12 - MARGIN);
    pen.text(&name, (LEFT - 12, y), Look::SMALL.ending())?;
    let success = &line.summary.outcomes.success;
    let x = |share: f64| scale.at(share * 100.0);
    if let Some(interval) = success.interval {
        pen.line(&[(x(interval.low), y), (x(interval.high), y)], BLUE.mix(0.6))?;
        for end in [interval.low, interval.high] {
            pen.line(&[(x(end), y - 3), (x(end), y + 3)], BLUE.mix(0.6))?;
        }
    }
    if let Some(bounds) = success.bounds {
        // Widened by a pixel on each side, so that an exact value is still visible.
        pen.rectangle((x(bounds.low) - 1, y - HALF, x(bounds.high) + 1, y + HALF), BLUE.filled())?;
    }
    let unknown = unknown(&line.causes, line.summary.runs);
    pen.text(&style::fitted(&unknown, SMALL, EVEN - 50 - CAUSES), (CAUSES, y), Look::SMALL)?;
    let even = line.summary.outcomes.tipping_point.map(|share| format!("{:.0} %", share * 100.0));
    pen.text(&even.unwrap_or_default(), (EVEN, y), Look::SMALL.ending())
}

/// Counts the runs whose outcome under the stack is open, by cause.
fn causes(group: &Group<'_>) -> [u64; CAUSE.len()] {
    let mut causes = [0; CAUSE.len()];
    for cause in group.rows().filter_map(|row| cause(row)) {
        causes[cause] += 1;
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
