//! Classifies each stack of the frontier figure: can it be shipped, is it beaten, does it kill more than tolerated.

use plotters::prelude::RGBColor;

use crate::aggregate::{FrontierPoint, Standing as Decided, Summary};
use crate::answers::FirstTable;
use crate::report::figure::style::{BLUE, INK, RED, STONE};

/// The class of a stack; the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Kills more than tolerated even at its lowest.
    Beyond {
        /// Whether another stack is also better on both counts beyond chance.
        beaten: bool,
    },
    /// Another stack is better on both counts beyond chance.
    Beaten,
    /// It can be shipped: safe and worth it.
    Safe,
    /// By point estimates, no stack within the tolerated share is better on both counts, but it may kill more than
    /// tolerated.
    Frontier,
    /// None of these.
    Neither,
}

impl Standing {
    pub(super) fn colour(self) -> RGBColor {
        match self {
            Self::Beyond { .. } => STONE,
            Self::Beaten => RED,
            Self::Safe | Self::Frontier => BLUE,
            Self::Neither => INK,
        }
    }

    /// True for a filled dot, false for a ring.
    pub(super) fn is_filled(self) -> bool {
        !matches!(self, Self::Frontier | Self::Neither)
    }
}

/// One stack on the plane, in percent.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    /// The stack's number in the legend.
    pub(super) number: usize,
    pub(super) stack: &'a str,
    /// Killed at least and at most, in percent.
    pub(super) killed: (f64, f64),
    /// Saved at least (`None` if unlimited) and at most, in percent.
    pub(super) saved: (Option<f64>, f64),
    /// The 95 % interval of what is killed.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) on_frontier: bool,
    /// Whether this is the stack to ship.
    pub(super) ship: bool,
    pub(super) standing: Standing,
}

impl Entry<'_> {
    /// Whether its name should be drawn beside its dot.
    pub(super) fn is_wanted(&self) -> bool {
        self.ship || matches!(self.standing, Standing::Safe | Standing::Frontier)
    }

    /// Whether it is known only within bounds, on either count.
    pub(super) fn is_range(&self) -> bool {
        self.killed.0 < self.killed.1 || self.saved.0.is_none_or(|low| low < self.saved.1)
    }

    /// Killed at most and saved at least; `None` if nothing limits what it may cost.
    pub(super) fn careful(&self) -> Option<(f64, f64)> {
        Some((self.killed.1, self.saved.0?))
    }

    /// The position of its mark, in percent.
    pub(super) fn mark(&self) -> (f64, f64) {
        (self.killed.1, self.saved.0.unwrap_or(self.saved.1))
    }
}

/// The stacks that can be placed, in the order of the first table.
pub(super) fn entries<'a>(points: &'a [FrontierPoint], first: &FirstTable<'_>, max_killed: f64) -> Vec<Entry<'a>> {
    let found = |summary: &&Summary| points.iter().find(|point| point.stack == summary.stack);
    let placed = first.shown.iter().chain(&first.folded).filter_map(found);
    let ship = first.ship().map(|summary| &*summary.stack);
    let numbered = placed.filter_map(|point| entry(point, first.standing(&point.stack), max_killed)).zip(1..);
    numbered.map(|(entry, number)| Entry { number, ship: ship == Some(entry.stack), ..entry }).collect()
}

fn entry(point: &FrontierPoint, decided: Option<Decided>, max_killed: f64) -> Option<Entry<'_>> {
    let killed = point.fes_rate.bounds()?;
    let saved = (point.saved_ratio.low.value, point.saved_ratio.high.value?);
    let percent = |share: f64| share * 100.0;
    Some(Entry {
        number: 0,
        stack: &point.stack,
        killed: (percent(killed.low), percent(killed.high)),
        saved: (saved.0.map(percent), percent(saved.1)),
        interval: point.fes_rate.interval().map(|interval| (percent(interval.low), percent(interval.high))),
        on_frontier: point.on_frontier,
        ship: false,
        standing: standing(point, killed.low, decided, max_killed),
    })
}

fn standing(point: &FrontierPoint, killed: f64, decided: Option<Decided>, max_killed: f64) -> Standing {
    let beaten = point.beaten_by.is_some();
    let is_safe = decided == Some(Decided::Allowed);
    let within = point.fes_rate.high.value.is_some_and(|high| high <= max_killed);
    match () {
        () if killed > max_killed => Standing::Beyond { beaten },
        () if beaten => Standing::Beaten,
        () if is_safe => Standing::Safe,
        () if point.on_frontier && within => Standing::Frontier,
        () => Standing::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Unit;
    use crate::stats::{ClusterSums, RangeEstimate, ratio_estimate};

    /// `killed` of 800 successes in 200 tasks, at least and at most.
    fn point(killed: (u64, u64), saved: (Option<f64>, f64)) -> FrontierPoint {
        let rate = |hits: u64| {
            let tasks: Vec<ClusterSums> =
                (0..200).map(|task| ClusterSums::of_counts(u64::from(task < hits), 4)).collect();
            ratio_estimate(&tasks, 0.95)
        };
        let share = |share: f64| {
            let tasks: Vec<ClusterSums> = (0..50).map(|_| ClusterSums::of_runs([(share * 7.0, 7.0)])).collect();
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
    fn each_stack_stands_where_it_may_be_shipped_from() {
        let decided = |point: &FrontierPoint, decided| entry(point, Some(decided), 0.05).unwrap().standing;
        let of = |point: &FrontierPoint| decided(point, Decided::Unsafe);
        let saves = (Some(0.1), 0.1);
        assert_eq!(decided(&point((4, 4), saves), Decided::Allowed), Standing::Safe);
        // Safe but useless.
        assert_eq!(decided(&point((4, 4), (Some(0.0), 0.0)), Decided::SavesNothing), Standing::Neither);
        // The estimate is within the tolerated share, the interval is not.
        assert_eq!(of(&point((32, 32), saves)), Standing::Neither);
        assert_eq!(of(&FrontierPoint { on_frontier: true, ..point((32, 32), saves) }), Standing::Frontier);
        assert_eq!(
            of(&FrontierPoint { on_frontier: true, ..point((120, 120), saves) }),
            Standing::Beyond { beaten: false }
        );
        let beaten = |point: FrontierPoint| FrontierPoint { beaten_by: Some("other".into()), ..point };
        assert_eq!(decided(&beaten(point((4, 4), saves)), Decided::Allowed), Standing::Beaten);
        assert_eq!(of(&beaten(point((120, 120), saves))), Standing::Beyond { beaten: true });
        // It may kill more than tolerated: neither safe nor certainly beyond.
        assert_eq!(of(&point((0, 120), saves)), Standing::Neither);
        // It may cost any amount.
        assert_eq!(of(&point((0, 0), (None, 0.1))), Standing::Neither);
    }

    #[test]
    fn what_is_known_within_bounds_has_its_mark_at_the_careful_corner() {
        let known = point((4, 16), (Some(0.1), 0.3));
        let range = entry(&known, None, 0.05).unwrap();
        assert!(range.is_range());
        assert_eq!(range.careful(), Some(range.mark()));
        assert!((range.mark().0 - 2.0).abs() < 1e-9 && (range.mark().1 - 10.0).abs() < 1e-9);
        let unlimited = point((1, 1), (None, 0.3));
        let unlimited = entry(&unlimited, None, 0.05).unwrap();
        assert!(unlimited.is_range() && unlimited.careful().is_none());
        assert!((unlimited.mark().1 - 30.0).abs() < 1e-9);
        let known = point((1, 1), (Some(0.3), 0.3));
        assert!(!entry(&known, None, 0.05).unwrap().is_range());
    }
}
