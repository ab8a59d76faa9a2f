//! The stacks of the frontier figure: where each one lies, and how it is marked.

use plotters::prelude::{Color, RGBColor, WHITE};

use crate::aggregate::{FrontierPoint, Standing, Summary};
use crate::answers::FirstTable;
use crate::report::figure::pen::{At, Pen};
use crate::report::figure::style::{BLUE, INK, RED};

/// What a stack kills, against what is tolerated: the colour of its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KillLevel {
    /// No more than tolerated.
    Tolerated,
    /// Perhaps more than tolerated.
    Unproven,
    /// More than tolerated even at its lowest.
    TooMany,
}

/// What is known of a stack: the shape of its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkShape {
    /// Both numbers: a dot.
    Dot,
    /// Bounds: a square at the worst, with bars to the best.
    Square,
    /// The most that it saves, and nothing limits what it may cost: an arrow down.
    Arrow,
}

/// The mark of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StackMark {
    pub(super) shape: MarkShape,
    pub(super) kills: KillLevel,
    /// Filled if the stack can be shipped, else hollow.
    pub(super) filled: bool,
}

impl StackMark {
    pub(super) fn colour(self) -> RGBColor {
        match self.kills {
            KillLevel::Tolerated => BLUE,
            KillLevel::Unproven => INK,
            KillLevel::TooMany => RED,
        }
    }

    /// Draws it; an arrow begins at `at`.
    pub(super) fn draw(self, pen: &mut Pen, (x, y): At) {
        let colour = self.colour();
        let inside = if self.filled { colour } else { WHITE };
        match self.shape {
            MarkShape::Dot => pen.dot((x, y), 6, inside, colour),
            MarkShape::Square => {
                pen.rectangle((x - 5, y - 5, x + 5, y + 5), colour.filled());
                pen.rectangle((x - 3, y - 3, x + 3, y + 3), inside.filled());
            }
            MarkShape::Arrow => {
                pen.line(&[(x - 6, y), (x + 6, y)], colour.stroke_width(2));
                pen.line(&[(x, y), (x, y + 6)], colour.stroke_width(2));
                pen.shape(&[(x - 6, y + 6), (x + 6, y + 6), (x, y + 15)], colour.filled());
                pen.shape(&[(x - 3, y + 8), (x + 3, y + 8), (x, y + 12)], inside.filled());
            }
        }
    }
}

/// What is written beside a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkLabel {
    /// That this is the stack to ship.
    Ship,
    /// Its name.
    Always,
    /// Its name if there are few stacks, else its number in the legend.
    IfFew,
}

/// One stack on the plane, in percent.
#[derive(Clone, Debug)]
pub(super) struct FrontierEntry<'a> {
    /// The stack's number in the legend.
    pub(super) number: usize,
    pub(super) stack: &'a str,
    /// Killed at least and at most.
    pub(super) killed: (f64, f64),
    /// Saved at least (`None` if unlimited) and at most.
    pub(super) saved: (Option<f64>, f64),
    /// The 95 % interval of what is killed.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) on_frontier: bool,
    /// Whether another stack is better on both counts beyond chance.
    pub(super) is_beaten: bool,
    pub(super) named: MarkLabel,
    pub(super) mark: StackMark,
}

impl FrontierEntry<'_> {
    /// Killed at most and saved at least; `None` if nothing limits what it may cost.
    pub(super) fn careful(&self) -> Option<(f64, f64)> {
        Some((self.killed.1, self.saved.0?))
    }

    /// The position of its mark.
    pub(super) fn place(&self) -> (f64, f64) {
        (self.killed.1, self.saved.0.unwrap_or(self.saved.1))
    }
}

/// The stacks that can be placed, in the order of the first table.
pub(super) fn entries<'a>(
    points: &'a [FrontierPoint],
    first: &FirstTable<'_>,
    max_killed: f64,
) -> Vec<FrontierEntry<'a>> {
    let found = |summary: &&Summary| points.iter().find(|point| point.stack == summary.stack);
    let placed = first.shown.iter().chain(&first.folded).filter_map(found);
    let ship = first.ship().map(|summary| &*summary.stack);
    let numbered = placed.filter_map(|point| entry(point, first.standing(&point.stack), max_killed)).zip(1..);
    let mut entries = Vec::new();
    for (entry, number) in numbered {
        let named = if ship == Some(entry.stack) { MarkLabel::Ship } else { entry.named };
        entries.push(FrontierEntry { number, named, ..entry });
    }
    entries
}

fn entry(point: &FrontierPoint, standing: Option<Standing>, max_killed: f64) -> Option<FrontierEntry<'_>> {
    let killed = point.fes_rate.bounds()?;
    let saved = (point.saved_ratio.low.value, point.saved_ratio.high.value?);
    let percent = |share: f64| share * 100.0;
    let can_be_shipped = standing == Some(Standing::Allowed);
    let shape = match saved.0 {
        None => MarkShape::Arrow,
        Some(low) if killed.low < killed.high || low < saved.1 => MarkShape::Square,
        Some(_) => MarkShape::Dot,
    };
    let kills = if can_be_shipped || standing.is_some_and(Standing::is_not_worth_it) {
        KillLevel::Tolerated
    } else if killed.low > max_killed {
        KillLevel::TooMany
    } else {
        KillLevel::Unproven
    };
    let is_near = point.on_frontier && killed.high <= max_killed;
    let named = if can_be_shipped || is_near { MarkLabel::Always } else { MarkLabel::IfFew };
    Some(FrontierEntry {
        number: 0,
        stack: &point.stack,
        killed: (percent(killed.low), percent(killed.high)),
        saved: (saved.0.map(percent), percent(saved.1)),
        interval: point.fes_rate.interval().map(|interval| (percent(interval.low), percent(interval.high))),
        on_frontier: point.on_frontier,
        is_beaten: point.beaten_by.is_some(),
        named,
        mark: StackMark { shape, kills, filled: can_be_shipped },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Unit;
    use crate::stats::{ClusterSums, RangeEstimate, loss_rate, ratio_estimate};

    /// `killed` of 800 successes in 200 tasks, at least and at most.
    fn point(killed: (u64, u64), saved: (Option<f64>, f64)) -> FrontierPoint {
        let rate = |hits: u64| {
            let tasks: Vec<ClusterSums> =
                (0..200).map(|task| ClusterSums::from_counts(u64::from(task < hits), 4)).collect();
            loss_rate(&tasks, 0.95)
        };
        let share = |share: f64| {
            let tasks: Vec<ClusterSums> = (0..50).map(|_| ClusterSums::from_runs([(share * 7.0, 7.0)])).collect();
            ratio_estimate(&tasks, 0.95)
        };
        FrontierPoint {
            stack: "stack".into(),
            unit: Unit::Steps,
            fes_rate: RangeEstimate { low: rate(killed.0), high: rate(killed.1) },
            saved_ratio: RangeEstimate {
                low: saved.0.map_or(crate::stats::Estimate::UNDEFINED, share),
                high: share(saved.1),
            },
            on_frontier: false,
            beaten_by: None,
        }
    }

    #[test]
    fn only_what_can_be_shipped_is_filled_and_the_colour_is_what_is_killed() {
        let mark = |point: &FrontierPoint, standing| {
            let mark = entry(point, Some(standing), 0.05).unwrap().mark;
            (mark.kills, mark.filled)
        };
        let saves = (Some(0.1), 0.1);
        assert_eq!(mark(&point((4, 4), saves), Standing::Allowed), (KillLevel::Tolerated, true));
        let useless = (Some(0.0), 0.0);
        for standing in [Standing::SavesNothing, Standing::DoesNotPay, Standing::Dearer] {
            assert_eq!(mark(&point((4, 4), useless), standing), (KillLevel::Tolerated, false));
        }
        for standing in [Standing::Unknown, Standing::Unsafe, Standing::Idle] {
            // The estimate is within the tolerated share, the bound is not.
            assert_eq!(mark(&point((32, 32), saves), standing), (KillLevel::Unproven, false));
            // It may kill more than tolerated, or less.
            assert_eq!(mark(&point((0, 120), saves), standing), (KillLevel::Unproven, false));
            assert_eq!(mark(&point((120, 120), saves), standing), (KillLevel::TooMany, false));
        }
    }

    #[test]
    fn what_is_known_within_bounds_has_its_mark_at_the_careful_corner() {
        let known = point((4, 16), (Some(0.1), 0.3));
        let range = entry(&known, None, 0.05).unwrap();
        assert_eq!((range.mark.shape, range.careful()), (MarkShape::Square, Some(range.place())));
        assert!((range.place().0 - 2.0).abs() < 1e-9 && (range.place().1 - 10.0).abs() < 1e-9);
        let unlimited = point((1, 1), (None, 0.3));
        let unlimited = entry(&unlimited, None, 0.05).unwrap();
        assert_eq!((unlimited.mark.shape, unlimited.careful()), (MarkShape::Arrow, None));
        assert!((unlimited.place().1 - 30.0).abs() < 1e-9);
        let known = point((1, 1), (Some(0.3), 0.3));
        assert_eq!(entry(&known, None, 0.05).unwrap().mark.shape, MarkShape::Dot);
    }
}
