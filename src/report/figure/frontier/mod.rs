//! Figure: savings against killed successes, which shows which stack to ship and why not the others.

mod legend;
mod standing;

use plotters::prelude::*;

use self::legend::Legend;
use self::standing::{Entry, Standing, entries};
use super::canvas::{Drawing, FigureError, Picture};
use super::labels::{Labelled, place};
use super::pen::{At, Frame, Head, Look, MARGIN, Pen, WIDTH};
use super::scale::{Plane, Quantity, Scale, Tick, root_ticks, ticks};
use super::style::{self, BLUE, GREY, INK, RED, SHADE, SMALL, STONE};
use crate::aggregate::{FrontierPoint, Unit};
use crate::answers::{FirstTable, words};
use crate::words::chosen_percent;

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
}

/// Left and right end of the plane, in pixels.
const PLANE: (i32, i32) = (66, 706);
/// Padding for dots of stacks that kill no success.
const PAD: i32 = 14;
const LEGEND: (i32, i32) = (736, WIDTH.cast_signed() - MARGIN);
/// Minimum height of the plane.
const HEIGHT: i32 = 500;
/// From this share of killed successes (in percent), the axis uses a square-root scale: otherwise one stack that kills
/// nearly everything would push all others into a corner.
const ROOTED_FROM: f64 = 30.0;
/// Up to this many stacks, all are named beside their points.
const NAMED: usize = 12;

impl Picture for FrontierFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let top = self.head().bottom();
        let entries = self.entries();
        if entries.is_empty() {
            return (WIDTH, top.unsigned_abs() + 20);
        }
        let legend = self.legend(&entries).height();
        (WIDTH, (top + 20 + legend.max(HEIGHT + 84)).unsigned_abs())
    }

    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let pen = Pen::on(area);
        let head = self.head();
        head.draw(&pen)?;
        let entries = self.entries();
        if entries.is_empty() {
            return Ok(());
        }
        let top = head.bottom() + 8;
        self.draw_plane(&pen, &entries, top)?;
        self.legend(&entries).draw(&pen, (LEGEND.0, top))
    }
}

impl FrontierFigure<'_> {
    fn unit(&self) -> Unit {
        self.points.first().map_or(Unit::Steps, |point| point.unit)
    }

    fn entries(&self) -> Vec<Entry<'_>> {
        if self.first.is_ungraded() { Vec::new() } else { entries(self.points, self.first, self.max_killed) }
    }

    fn legend(&self, entries: &[Entry<'_>]) -> Legend {
        Legend::from_entries(entries, self.first, self.max_killed, LEGEND.1 - LEGEND.0)
    }

    fn head(&self) -> Head {
        let noun = self.unit().noun();
        let title = noun.get(..1).map_or_else(String::new, |first| first.to_uppercase() + &noun[1..]);
        let head = Head::new(format!("{title} saved against successes killed"));
        if self.first.is_ungraded() {
            let all =
                self.first.shown.iter().chain(&self.first.folded).chain(&self.first.idle).chain(&self.first.unread);
            return head.sentence(&ungraded(all.map(|summary| summary.runs).max().unwrap_or(0))).note(&self.subtitle);
        }
        head.sentence(&words::verdict(&self.first.verdict()).replace('`', "")).note(&self.subtitle)
    }

    fn plane(&self, entries: &[Entry<'_>], top: i32) -> (Plane, Vec<Tick>, Vec<Tick>) {
        // The far end of an interval is cut off if it would leave no room for the rest.
        let ends = entries.iter().map(|entry| {
            let killed = entry.killed.1;
            entry.interval.map_or(killed, |(_, high)| high.min(killed * 3.0 + 5.0)).max(killed)
        });
        let tolerated = self.max_killed * 100.0;
        let right = ends.fold((tolerated * 1.6).max(2.0), f64::max).min(100.0);
        let high = entries.iter().map(|entry| entry.saved.1).fold(1.0_f64, f64::max) * 1.1;
        let low = entries.iter().filter_map(|entry| entry.saved.0).fold(0.0_f64, f64::min) * 1.1;
        let x = Scale::new((0.0, right * 1.05), (PLANE.0 + PAD, PLANE.1));
        let (x, x_ticks) = if right > ROOTED_FROM {
            (x.rooted(), root_ticks(right * 1.05))
        } else {
            (x, ticks(0.0, right * 1.05, 8, Quantity::Percent, false))
        };
        let y = Scale::new((low - high * 0.04, high), (top + 36 + HEIGHT, top + 36));
        let y_ticks = ticks(low, high, 8, Quantity::Percent, false);
        (Plane { x, y, pad: PAD }, x_ticks, y_ticks)
    }

    fn draw_plane<B: DrawingBackend>(
        &self,
        pen: &Pen<'_, B>,
        entries: &[Entry<'_>],
        top: i32,
    ) -> Result<(), FigureError> {
        let (plane, x_ticks, y_ticks) = self.plane(entries, top);
        let (_, top, right, bottom) = plane.frame();
        let appetite = plane.x.at(self.max_killed * 100.0);
        pen.rectangle((appetite, top, right, bottom), SHADE.filled())?;
        let scale = if plane.x.is_rooted() { ", square-root scale" } else { "" };
        let x_name = format!("successes killed, % of successes (line: 95 % interval{scale}); left is better");
        let y_name = format!("{} saved on failures and after success, %; up is better", self.unit().noun());
        plane.draw(pen, (&x_ticks, &y_ticks), (&x_name, &y_name))?;
        pen.line(&[(appetite, top), (appetite, bottom)], INK.stroke_width(2))?;
        let tolerated = format!("tolerated: {}", chosen_percent(self.max_killed));
        let width = style::width(&tolerated, SMALL);
        let label = if appetite + width + 12 < right { appetite + 6 } else { appetite - width - 6 };
        pen.text(&tolerated, (label, top + 10), Look::SMALL)?;
        let mut lines = frontier_line(pen, &plane, entries, self.max_killed * 100.0)?;
        lines.push((appetite - 3, top, appetite + 3, bottom));
        for entry in entries {
            lines.extend(draw_interval(pen, &plane, entry)?);
        }
        for entry in entries.iter().rev() {
            draw_entry(pen, &plane, entry)?;
        }
        let labelled = labelled(entries, &plane);
        let taken = [(label, top, label + width, top + 20)];
        for (point, placed) in labelled.iter().zip(place(&labelled, inside(plane.frame()), &taken, &lines)) {
            let Some(placed) = placed else { continue };
            if let Some(end) = placed.leader {
                pen.line(&[point.at, end], GREY.mix(0.6))?;
            }
            pen.text(&placed.text, placed.at, Look::SMALL)?;
        }
        Ok(())
    }
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

/// Draws the staircase through the frontier stacks, grey beyond the tolerated share of kills. Returns the area
/// covered.
fn frontier_line<B: DrawingBackend>(
    pen: &Pen<'_, B>,
    plane: &Plane,
    entries: &[Entry<'_>],
    tolerated: f64,
) -> Result<Vec<Frame>, FigureError> {
    let mut corners: Vec<(f64, f64)> =
        entries.iter().filter(|entry| entry.on_frontier).filter_map(Entry::careful).collect();
    corners.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut covered = Vec::new();
    for pair in corners.windows(2) {
        let [(x, y), (next_x, next_y)] = [pair[0], pair[1]];
        let colour = if next_x > tolerated { STONE } else { BLUE };
        let (start, corner, end) = (plane.at(x, y), plane.at(next_x, y), plane.at(next_x, next_y));
        pen.line(&[start, corner, end], colour.mix(0.7).stroke_width(2))?;
        covered.push((start.0, start.1 - 1, corner.0, corner.1 + 1));
        covered.push((corner.0 - 1, end.1, corner.0 + 1, corner.1));
    }
    Ok(covered)
}

/// Draws the interval of killed successes level with the entry's mark, with a tick at the upper end. Returns the area
/// covered.
fn draw_interval<B: DrawingBackend>(
    pen: &Pen<'_, B>,
    plane: &Plane,
    entry: &Entry<'_>,
) -> Result<Option<Frame>, FigureError> {
    let Some((low, high)) = entry.interval else { return Ok(None) };
    let (left, y) = plane.at(low.max(0.0), entry.mark().1);
    let right = plane.x.at(high);
    let style = entry.standing.colour().mix(0.45).stroke_width(1);
    pen.line(&[(left, y), (right, y)], style)?;
    if plane.x.holds(high) {
        pen.line(&[(right, y - 4), (right, y + 4)], style)?;
    }
    Ok(Some((left, y - 1, right, y + 1)))
}

/// Draws a dot; for a stack known only within bounds, a square at the worst with bars to the best; and if nothing
/// limits the cost, a triangle pointing down from the largest possible saving.
fn draw_entry<B: DrawingBackend>(pen: &Pen<'_, B>, plane: &Plane, entry: &Entry<'_>) -> Result<(), FigureError> {
    let colour = entry.standing.colour();
    let (x, y) = plane.at(entry.mark().0, entry.mark().1);
    if !entry.is_range() {
        let fill = if entry.standing.is_filled() { colour } else { WHITE };
        let outline = if entry.standing == (Standing::Beyond { beaten: true }) { RED } else { colour };
        return pen.dot((x, y), 6, fill, outline);
    }
    let (left, top) = plane.at(entry.killed.0, entry.saved.1);
    if left < x {
        pen.rectangle((left, y - 2, x, y + 2), colour.mix(0.2).filled())?;
        pen.line(&[(left, y - 6), (left, y + 6)], colour.stroke_width(2))?;
    }
    if entry.saved.0.is_none() {
        return draw_open(pen, (x, y), colour);
    }
    if top < y {
        pen.rectangle((x - 2, top, x + 2, y), colour.mix(0.2).filled())?;
        pen.line(&[(x - 6, top), (x + 6, top)], colour.stroke_width(2))?;
    }
    pen.rectangle((x - 4, y - 4, x + 4, y + 4), colour.filled())
}

/// A triangle for a stack with a largest but no smallest saving.
fn draw_open<B: DrawingBackend>(pen: &Pen<'_, B>, (x, y): At, colour: RGBColor) -> Result<(), FigureError> {
    pen.line(&[(x - 6, y), (x + 6, y)], colour.stroke_width(2))?;
    pen.line(&[(x, y), (x, y + 12)], colour.stroke_width(2))?;
    pen.shape(&[(x - 5, y + 10), (x + 5, y + 10), (x, y + 18)], colour.filled())
}

/// Points that coincide share one label. Stacks that can be shipped come first.
fn labelled(entries: &[Entry<'_>], plane: &Plane) -> Vec<Labelled> {
    let near = |a: At, b: At| (a.0 - b.0).abs() <= 5 && (a.1 - b.1).abs() <= 5;
    let mut groups: Vec<(At, Vec<&Entry<'_>>)> = Vec::new();
    for entry in entries {
        let (x, y) = entry.mark();
        let at = plane.at(x, y);
        match groups.iter_mut().find(|(other, _)| near(*other, at)) {
            Some((_, group)) => group.push(entry),
            None => groups.push((at, vec![entry])),
        }
    }
    let all = entries.len() <= NAMED;
    let mut labelled: Vec<(bool, Labelled)> = groups
        .into_iter()
        .map(|(at, group)| (group.iter().any(|entry| entry.is_wanted()), Labelled { at, texts: texts(&group, all) }))
        .collect();
    labelled.sort_by_key(|(is_wanted, _)| !*is_wanted);
    labelled.into_iter().map(|(_, labelled)| labelled).collect()
}

/// Label candidates of a group: names if they matter or stacks are few, else the legend numbers.
fn texts(group: &[&Entry<'_>], all: bool) -> Vec<String> {
    let numbers: Vec<String> = group.iter().map(|entry| entry.number.to_string()).collect();
    let brief = match &numbers[..] {
        [first, second, rest @ ..] if rest.len() > 2 => format!("{first}, {second} and {} more", rest.len()),
        _ => numbers.join(", "),
    };
    let is_named = all || group.iter().any(|entry| entry.is_wanted());
    if !is_named || group.len() > 2 {
        let ship = group.iter().find(|entry| entry.ship);
        let named = ship.map(|entry| format!("ship {} {}, in {brief}", entry.number, style::clipped(entry.stack, 24)));
        return named.into_iter().chain([brief]).collect();
    }
    let name = |entry: &&Entry<'_>| {
        let ship = if entry.ship { "ship " } else { "" };
        format!("{ship}{} {}", entry.number, style::clipped(entry.stack, 24))
    };
    let named: Vec<String> = group.iter().map(name).collect();
    match (&named[..], &numbers[..]) {
        ([first, _], [_, second]) => vec![named.join(", "), format!("{first}, {second}"), brief],
        _ => vec![named.join(", "), brief],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_fall_together_share_a_label() {
        let entry = |number: usize, standing: Standing| Entry {
            number,
            stack: "some-stack",
            killed: (1.0, 1.0),
            saved: (Some(2.0), 2.0),
            interval: None,
            on_frontier: false,
            ship: false,
            standing,
        };
        let plane = Plane { x: Scale::new((0.0, 10.0), (0, 100)), y: Scale::new((0.0, 10.0), (100, 0)), pad: 0 };
        let mut entries: Vec<Entry<'_>> = (1..=6).map(|number| entry(number, Standing::Neither)).collect();
        let labels = labelled(&entries, &plane);
        assert_eq!(labels.len(), 1);
        assert_eq!(labels[0].texts, ["1, 2 and 4 more"]);
        entries.truncate(2);
        assert_eq!(labelled(&entries, &plane)[0].texts, ["1 some-stack, 2 some-stack", "1 some-stack, 2", "1, 2"]);
        let mut far = entry(9, Standing::Safe);
        (far.killed, far.ship) = ((8.0, 8.0), true);
        entries.push(far);
        // Stacks that can be shipped are placed before the others.
        assert_eq!(labelled(&entries, &plane)[0].texts[0], "ship 9 some-stack");
    }
}
