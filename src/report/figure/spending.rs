//! Figure: where the tokens (or dollars, or steps) went, one bar per stack with the recording first.

use plotters::prelude::*;

use super::canvas::Picture;
use super::pen::{FigureHeading, MARGIN, Pen, TextStyle, WIDTH};
use super::scale::{Quantity, Scale, ticks};
use super::stops::NAMED;
use super::style::{self, AMBER, BLUE, FAINT, GREEN, GREY, INK, LABEL, MAUVE, RED, ROSE, SKY, SMALL, STONE, TEAL};
use crate::aggregate::{Group, RowView, Unit};
use crate::answers::words::first_of;
use crate::transcript::Outcome;
use crate::verdict::Verdict;

/// The spending figure of a comparison.
pub struct SpendingFigure<'a> {
    /// The rows of each stack.
    pub groups: &'a [Group<'a>],
    /// The unit of the spending.
    pub unit: Unit,
    /// The subtitle: what was compared.
    pub subtitle: String,
}

const PARTS: usize = 10;
/// The parts of a bar in drawing order: spent, unknown, saved.
const PART: [(&str, RGBColor); PARTS] = [
    ("spent on kept successes", BLUE),
    ("spent after success", SKY),
    ("spent on failures", AMBER),
    ("spent on killed successes", RED),
    ("spent, nobody graded", STONE),
    ("not known: a rule not read, or path left", MAUVE),
    ("killed successes: not spent", ROSE),
    ("saved after success", TEAL),
    ("saved on failures", GREEN),
    ("not spent, nobody graded", RGBColor(0xdd, 0xdd, 0xdd)),
];

const BAR: i32 = 26;
const LEFT: i32 = 260;
const RIGHT: i32 = WIDTH.cast_signed() - MARGIN - 20;
const COLUMN: i32 = 272;

/// Everything that is drawn.
struct Bars {
    /// Names and parts of the bars, the recording first.
    all: Vec<(String, [f64; PARTS])>,
    /// Stacks that changed nothing: their bars would equal the recording's.
    idle: Vec<String>,
    /// Stacks whose spending is known on no run.
    unread: Vec<String>,
    /// Number of runs whose spending is recorded.
    told: usize,
    runs: usize,
}

impl Bars {
    fn from_groups(groups: &[Group<'_>], unit: Unit) -> Self {
        let (mut idle, mut unread) = (Vec::new(), Vec::new());
        let first = groups.first();
        let rows = first.iter().flat_map(|group| group.rows());
        let told = rows.filter(|row| unit.recorded(*row).is_some()).count();
        let recorded = groups.first().map(|group| parts(group, unit, true));
        let mut bars = Vec::new();
        bars.extend(recorded.filter(|_| told > 0).map(|parts| ("as recorded".to_owned(), parts)));
        for group in groups.iter().filter(|_| told > 0) {
            let parts = parts(group, unit, false);
            if group.rows().all(|row| row.unknown().unread) {
                unread.push(group.stack.to_string());
            } else if Some(parts) == recorded {
                idle.push(group.stack.to_string());
            } else {
                bars.push((group.stack.to_string(), parts));
            }
        }
        Self { all: bars, idle, unread, told, runs: first.map_or(0, Group::len) }
    }

    fn head(&self, unit: Unit, subtitle: &str) -> FigureHeading {
        let noun = style::amounts(unit);
        let mut head = FigureHeading::new(format!("Where the {noun} went"));
        if self.told == 0 {
            return head.sentence(&format!("No run tells how many {noun} it spent.")).note(subtitle);
        }
        head = head.note(subtitle);
        if self.told < self.runs {
            head = head.note(&format!(
                "over the {} of {} runs whose {noun} are recorded; the others are left out, not counted as 0",
                self.told, self.runs
            ));
        }
        for (why, names) in [("change nothing here", &self.idle), ("not judged", &self.unread)] {
            if !names.is_empty() {
                head = head.note(&format!("{why}: {}", first_of(names, NAMED)));
            }
        }
        head
    }

    /// The parts that occur in some bar.
    fn legend(&self) -> Vec<usize> {
        (0..PARTS).filter(|part| self.all.iter().any(|(_, parts)| parts[*part] > 0.0)).collect()
    }

    fn legend_height(&self) -> i32 {
        i32::try_from(self.legend().len().div_ceil(4)).unwrap_or(0) * 22 + 10
    }

    fn height(&self) -> i32 {
        i32::try_from(self.all.len()).unwrap_or(i32::MAX / 200).saturating_mul(BAR)
    }
}

impl Picture for SpendingFigure<'_> {
    fn draw(&self, pen: &mut Pen) -> (u32, u32) {
        let bars = Bars::from_groups(self.groups, self.unit);
        let head = bars.head(self.unit, &self.subtitle);
        head.draw(pen);
        let Some((_, recorded)) = bars.all.first() else { return (WIDTH, (head.bottom() + 20).unsigned_abs()) };
        for (place, part) in (0..).zip(bars.legend()) {
            let (x, y) = (MARGIN + (place % 4) * COLUMN, head.bottom() + 8 + (place / 4) * 22);
            pen.rectangle((x, y - 7, x + 14, y + 7), PART[part].1.filled());
            pen.text(PART[part].0, (x + 20, y), TextStyle::SMALL);
        }
        let top = head.bottom() + bars.legend_height();
        let whole: f64 = recorded.iter().sum();
        let most = bars.all.iter().map(|(_, parts)| parts.iter().sum()).fold(0.0, f64::max);
        let scale = Scale::new((0.0, most), (LEFT, RIGHT));
        let bottom = top + bars.height();
        for (at, label) in ticks(0.0, most, 8, Quantity::from_unit(self.unit), self.unit != Unit::CostUsd) {
            let at = scale.at(at);
            pen.line(&[(at, top), (at, bottom + 4)], FAINT);
            pen.text(&label, (at, bottom + 16), TextStyle::SMALL.colour(GREY).centred());
        }
        let mut y = top;
        for (name, parts) in &bars.all {
            draw_bar(pen, &scale, y, name, parts, whole);
            y += BAR;
        }
        let name = format!("{} of all runs together; in the bars: % of those recorded", style::amounts(self.unit));
        pen.text(&name, (i32::midpoint(LEFT, RIGHT), bottom + 38), TextStyle::LABEL.centred());
        (WIDTH, bottom.saturating_add(74).unsigned_abs())
    }
}

fn draw_bar(pen: &mut Pen, scale: &Scale, y: i32, name: &str, parts: &[f64; PARTS], whole: f64) {
    let middle = y + BAR / 2;
    pen.text(&style::fitted(name, LABEL, LEFT - 12 - MARGIN), (LEFT - 12, middle), TextStyle::LABEL.ending());
    let mut sum = 0.0;
    for (part, (_, colour)) in parts.iter().zip(PART).filter(|(part, _)| **part > 0.0) {
        let start = scale.at(sum);
        sum += part;
        let end = scale.at(sum);
        pen.rectangle((start, middle - 10, end, middle + 9), colour.filled());
        let label = format!("{:.0} %", part / whole * 100.0);
        if style::width(&label, SMALL) + 6 <= end - start {
            let ink = if matches!(colour, BLUE | RED | GREEN | MAUVE) { WHITE } else { INK };
            pen.text(&label, (i32::midpoint(start, end), middle), TextStyle::SMALL.colour(ink).centred());
        }
    }
}

/// The amount in each part of the bar. `as_recorded` ignores what the stack did. Runs without recorded spending are in
/// no part.
fn parts(group: &Group<'_>, unit: Unit, as_recorded: bool) -> [f64; PARTS] {
    let mut parts = [0.0; PARTS];
    for row in group.rows() {
        let (Some(recorded), Some(after)) = (unit.recorded(row), unit.after_success(row)) else { continue };
        let known = if as_recorded { Some((recorded, recorded)) } else { spent(row, unit) };
        let Some((spent, most)) = known else {
            parts[5] += recorded;
            continue;
        };
        parts[5] += most - spent;
        let saved = (recorded - most).max(0.0);
        let after = after.min(recorded);
        let (spent_on, saved_on) = match (row.outcome(), row.verdict()) {
            (Outcome::Unknown, _) => (4, 9),
            (_, verdict) if verdict.is_fes() && !as_recorded => (3, 6),
            (Outcome::Success, _) => {
                let useful = spent.min(recorded - after);
                parts[1] += spent - useful;
                parts[0] -= spent - useful;
                (0, 7)
            }
            (Outcome::Failure, Verdict::GoodTrim) => (2, 7),
            (Outcome::Failure, _) => (2, 8),
        };
        parts[spent_on] += spent;
        parts[saved_on] += saved;
    }
    parts
}

/// Spent under the stack at least and at most, including the cost of a forced answer. `None` if a rule could not be
/// evaluated, if a success may or may not have been killed, or if nothing limits the cost.
fn spent(row: RowView<'_>, unit: Unit) -> Option<(f64, f64)> {
    let (low, high) = match unit {
        Unit::Steps => (row.steps_low() as f64, row.steps_high()? as f64),
        Unit::Tokens => (row.tokens_low()? as f64, row.tokens_high()? as f64),
        Unit::CostUsd => (row.cost_usd_low()?, row.cost_usd_high()?),
    };
    let is_known =
        !row.unknown().unread && (row.outcome() != Outcome::Success || row.killed_low() == row.killed_high());
    if is_known { Some((low, high.max(low))) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_runs_there_is_a_sentence() {
        let figure = SpendingFigure { groups: &[], unit: Unit::CostUsd, subtitle: "nothing".to_owned() };
        assert!(figure.draw(&mut Pen::default()).1 < 140);
    }
}
