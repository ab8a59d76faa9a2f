//! The legend of the frontier figure: what colours mean, every stack with its numbers, and the stacks that could not
//! be placed.

use plotters::prelude::{Color, DrawingBackend, WHITE};

use super::draw_open;
use super::standing::{Entry, Standing};
use crate::aggregate::Summary;
use crate::answers::FirstTable;
use crate::report::figure::canvas::FigureError;
use crate::report::figure::pen::{At, Look, Pen};
use crate::report::figure::style::{self, GREY, RED, SMALL, STONE};
use crate::words::{chosen_percent, digits};

/// The legend's lines, ready to be drawn.
pub(super) struct Legend {
    width: i32,
    keys: Vec<(Mark, String)>,
    stacks: Vec<(Mark, String, String, String)>,
    left_out: Vec<String>,
}

/// The marker of a stack.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    /// A dot or a ring.
    Dot(Standing),
    /// Known only within bounds.
    Range(Standing),
    /// Nothing limits what the stack may cost.
    Open(Standing),
    /// A red ring around a grey dot.
    RedRing,
}

const ROW: i32 = 19;
/// Right ends of the number columns, measured from the right.
const SAVED: i32 = 0;
const KILLED: i32 = 78;
/// Up to this many stacks that could not be placed are named one by one.
const SINGLE: usize = 3;

impl Legend {
    pub(super) fn from_entries(entries: &[Entry<'_>], first: &FirstTable<'_>, max_killed: f64, width: i32) -> Self {
        let stacks = entries.iter().map(|entry| {
            let mark = match entry {
                Entry { saved: (None, _), .. } => Mark::Open(entry.standing),
                range if range.is_range() => Mark::Range(entry.standing),
                _ => Mark::Dot(entry.standing),
            };
            (mark, format!("{} {}", entry.number, entry.stack), killed(entry), saved(entry))
        });
        let is_placed = |summary: &&Summary| entries.iter().any(|entry| *entry.stack == *summary.stack);
        let unplaced: Vec<&Summary> =
            first.shown.iter().chain(&first.folded).copied().filter(|summary| !is_placed(summary)).collect();
        let left_out = [("never acted", &first.idle), ("not judged", &first.unread), ("not placed", &unplaced)];
        let left_out = left_out.into_iter().flat_map(|(why, who)| folded(why, who, width));
        Self { width, keys: keys(entries, max_killed), stacks: stacks.collect(), left_out: left_out.collect() }
    }

    pub(super) fn height(&self) -> i32 {
        let rows = self.keys.len() + self.stacks.len() + self.left_out.len();
        i32::try_from(rows).unwrap_or(i32::MAX / ROW).saturating_mul(ROW).saturating_add(70)
    }

    pub(super) fn draw<B: DrawingBackend>(&self, pen: &Pen<'_, B>, (x, top): At) -> Result<(), FigureError> {
        let mut y = top + ROW / 2;
        for (mark, text) in &self.keys {
            draw_mark(pen, *mark, (x + 7, y))?;
            pen.text(text, (x + 22, y), Look::SMALL)?;
            y += ROW;
        }
        y += 10;
        let grey = Look::SMALL.colour(GREY);
        for (column, name) in [(KILLED, "killed, %"), (SAVED, "saved, %")] {
            pen.text(name, (x + self.width - column, y), grey.ending())?;
        }
        y += ROW;
        for (mark, name, killed, saved) in &self.stacks {
            draw_mark(pen, *mark, (x + 7, y))?;
            let room = self.width - KILLED - 22 - style::width(killed, SMALL) - 10;
            pen.text(&style::fitted(name, SMALL, room), (x + 22, y), Look::SMALL)?;
            pen.text(killed, (x + self.width - KILLED, y), grey.ending())?;
            pen.text(saved, (x + self.width - SAVED, y), grey.ending())?;
            y += ROW;
        }
        y += 10;
        for line in &self.left_out {
            pen.text(line, (x, y), grey)?;
            y += ROW;
        }
        Ok(())
    }
}

/// Keys for the colours that occur.
fn keys(entries: &[Entry<'_>], max_killed: f64) -> Vec<(Mark, String)> {
    let limit = chosen_percent(max_killed);
    let stands = |wanted: Standing| entries.iter().any(|entry| entry.standing == wanted);
    let beyond = |beaten| Standing::Beyond { beaten };
    let mut keys = Vec::new();
    let mut key = |applies: bool, mark: Mark, text: String| {
        if applies {
            keys.push((mark, text));
        }
    };
    key(
        stands(Standing::Safe),
        Mark::Dot(Standing::Safe),
        format!("can be shipped: kills at most {limit} (95 %), and pays"),
    );
    key(
        stands(Standing::Frontier),
        Mark::Dot(Standing::Frontier),
        "on the frontier, but not shown to be safe and worth it".to_owned(),
    );
    key(
        stands(Standing::Beaten),
        Mark::Dot(Standing::Beaten),
        "another is better on both counts beyond chance".to_owned(),
    );
    let grey = stands(beyond(false)) || stands(beyond(true));
    key(grey, Mark::Dot(beyond(false)), "kills more than tolerated".to_owned());
    key(stands(beyond(true)), Mark::RedRing, "the same, and another is better on both counts".to_owned());
    let neither = entries.iter().any(|entry| entry.standing == Standing::Neither && !entry.is_range());
    key(neither, Mark::Dot(Standing::Neither), "neither shown to be safe nor beaten".to_owned());
    let range = entries.iter().any(|entry| entry.is_range() && entry.saved.0.is_some());
    key(range, Mark::Range(Standing::Neither), "known within bounds: at worst, and a bar to the best".to_owned());
    let open = entries.iter().any(|entry| entry.saved.0.is_none());
    key(open, Mark::Open(Standing::Neither), "saves at most this: what it may cost is not limited".to_owned());
    keys
}

fn draw_mark<B: DrawingBackend>(pen: &Pen<'_, B>, mark: Mark, (x, y): At) -> Result<(), FigureError> {
    match mark {
        Mark::Dot(Standing::Beyond { beaten: true }) | Mark::RedRing => pen.dot((x, y), 6, STONE, RED),
        Mark::Dot(standing) => {
            let fill = if standing.is_filled() { standing.colour() } else { WHITE };
            pen.dot((x, y), 6, fill, standing.colour())
        }
        Mark::Range(standing) => {
            let colour = standing.colour();
            pen.rectangle((x - 8, y + 1, x + 4, y + 4), colour.mix(0.3).filled())?;
            pen.line(&[(x - 8, y - 2), (x - 8, y + 7)], colour.stroke_width(2))?;
            pen.rectangle((x + 1, y - 2, x + 8, y + 6), colour.filled())
        }
        Mark::Open(standing) => draw_open(pen, (x, y - 8), standing.colour()),
    }
}

fn span(low: f64, high: f64) -> String {
    let (low, high) = (digits(low / 100.0), digits(high / 100.0));
    if low == high { low } else { format!("{low}–{high}") }
}

fn killed(entry: &Entry<'_>) -> String {
    span(entry.killed.0, entry.killed.1)
}

fn saved(entry: &Entry<'_>) -> String {
    entry.saved.0.map_or_else(|| format!("≤{}", digits(entry.saved.1 / 100.0)), |low| span(low, entry.saved.1))
}

/// Formats `never acted: same-call, errors`; many names are counted and share a few lines.
fn folded(why: &str, who: &[&Summary], width: i32) -> Vec<String> {
    /// Maximum names to list.
    const TOLD: usize = 8;
    let names: Vec<&str> = who.iter().map(|summary| &*summary.stack).collect();
    let text = match names.len() {
        0 => return Vec::new(),
        count if count <= SINGLE => format!("{why}: {}", names.join(", ")),
        count if count <= TOLD => format!("{why} ({count}): {}", names.join(", ")),
        count => format!("{why} ({count}): {} and {} more", names[..TOLD].join(", "), count - TOLD),
    };
    style::wrapped(&text, SMALL, width)
}
