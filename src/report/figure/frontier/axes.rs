//! The axes of the frontier figure.

use super::entry::FrontierEntry;
use super::layout::FrontierLayout;
use crate::report::figure::scale::{Plane, Quantity, Scale, Tick, ticks};

/// The plane with its ticks, and from where on the axis of what is killed is coarse.
pub(super) struct Axes {
    pub(super) plane: Plane,
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y_ticks: Vec<Tick>,
    /// In percent.
    pub(super) coarse_from: Option<f64>,
}

/// Padding for marks of stacks that kill no success.
const PAD: i32 = 14;
/// Stacks that kill more than this multiple of what is tolerated share the coarse end of the axis …
const NEAR: f64 = 4.0;
/// … which begins no earlier than at this percentage.
const LEAST_NEAR: f64 = 10.0;

impl Axes {
    /// The axes of a plane that begins at the height `top`; `tolerated` is in percent.
    pub(super) fn from_entries(
        entries: &[FrontierEntry<'_>],
        tolerated: f64,
        layout: FrontierLayout,
        top: i32,
    ) -> Self {
        let (mut right, mut low, mut high) = ((tolerated * 1.6).max(2.0), 0.0_f64, 1.0_f64);
        for entry in entries {
            let killed = entry.killed.1;
            // The far end of an interval is cut off if it would leave no room for the rest.
            if let Some((_, high)) = entry.interval {
                right = right.max(high.min(killed * 3.0 + 5.0));
            }
            right = right.max(killed);
            low = low.min(entry.saved.0.unwrap_or(0.0));
            high = high.max(entry.saved.1);
        }
        let (right, low, high) = ((right * 1.05).min(102.0), low * 1.1, high * 1.1);
        let (from, to) = layout.plane();
        let most = if layout == FrontierLayout::Wide { 8 } else { 5 };
        let mut x = Scale::new((0.0, right), (from + PAD, to));
        let mut x_ticks = ticks(0.0, right, most, Quantity::Percent, false);
        let coarse_from = coarse_from(entries, tolerated, right);
        if let Some(near) = coarse_from {
            x = x.coarse_from(near);
            x_ticks = ticks(0.0, near, most, Quantity::Percent, false);
            x_ticks.extend(ticks(near * 1.2, right, 2, Quantity::Percent, false));
        }
        let y = Scale::new((low - high * 0.04, high), (top + layout.height(), top));
        let y_ticks = ticks(low, high, most, Quantity::Percent, false);
        Self { plane: Plane { x, y, pad: PAD }, x_ticks, y_ticks, coarse_from }
    }
}

/// From which percentage on the axis is coarse; `None` if it need not be. One stack that kills nearly everything would
/// otherwise push all others into a corner.
fn coarse_from(entries: &[FrontierEntry<'_>], tolerated: f64, right: f64) -> Option<f64> {
    let near = (tolerated * NEAR).max(LEAST_NEAR);
    let n_near = entries.iter().filter(|entry| entry.place().0 <= near).count();
    if right > near * 1.5 && n_near * 3 >= entries.len() { Some(near) } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{KillLevel, MarkLabel, MarkShape, StackMark};
    use super::*;

    /// What the presets do on the bundled recordings: killed at least and at most, saved at least and at most, in percent.
    const PRESETS: [(f64, f64, f64, f64); 22] = [
        (0.0, 0.0, 2.1, 2.1),
        (0.0, 0.0, 0.2, 0.2),
        (0.0, 0.3, 0.6, 0.6),
        (1.1, 2.7, 12.0, 12.0),
        (0.7, 3.6, 18.0, 19.0),
        (2.7, 4.3, 14.0, 14.0),
        (2.7, 4.3, 12.0, 12.0),
        (4.0, 5.8, 17.0, 17.0),
        (5.3, 7.2, 16.0, 16.0),
        (0.0, 7.8, 15.0, 17.0),
        (0.0, 8.1, 2.1, 4.9),
        (6.6, 8.4, 23.0, 23.0),
        (0.0, 10.0, 25.0, 25.0),
        (0.0, 11.0, 15.0, 15.0),
        (0.0, 12.0, 26.0, 26.0),
        (0.0, 12.0, 22.0, 22.0),
        (11.0, 13.0, 34.0, 34.0),
        (0.0, 17.0, 19.0, 19.0),
        (0.0, 23.0, 39.0, 39.0),
        (50.0, 55.0, 47.0, 47.0),
        (0.0, 82.0, 38.0, 56.0),
        (94.0, 99.0, 53.0, 53.0),
    ];

    fn entry(number: usize, (killed_low, killed, saved, saved_high): (f64, f64, f64, f64)) -> FrontierEntry<'static> {
        FrontierEntry {
            number,
            stack: "some-stack",
            killed: (killed_low, killed),
            saved: (Some(saved), saved_high),
            interval: Some((killed_low * 0.7, killed * 1.4)),
            on_frontier: false,
            is_beaten: false,
            named: MarkLabel::IfFew,
            mark: StackMark { shape: MarkShape::Square, kills: KillLevel::Unproven, filled: false },
        }
    }

    /// The most marks in any part of the plane that has `share` of its width and of its height.
    fn most_in_a_corner(axes: &Axes, entries: &[FrontierEntry<'_>], share: f64) -> usize {
        let (left, top, right, bottom) = axes.plane.frame();
        let (width, height) = (f64::from(right - left) * share, f64::from(bottom - top) * share);
        let marks: Vec<(i32, i32)> = entries.iter().map(|e| axes.plane.at(e.place().0, e.place().1)).collect();
        let mut most = 0;
        for (x, _) in &marks {
            for (_, y) in &marks {
                let is_in = |(other_x, other_y): &&(i32, i32)| {
                    (0.0..=width).contains(&f64::from(other_x - x)) && (0.0..=height).contains(&f64::from(other_y - y))
                };
                most = most.max(marks.iter().filter(is_in).count());
            }
        }
        most
    }

    #[test]
    fn the_presets_do_not_fall_on_one_heap() {
        let entries: Vec<FrontierEntry<'_>> =
            PRESETS.iter().zip(1..).map(|(numbers, number)| entry(number, *numbers)).collect();
        for layout in [FrontierLayout::Wide, FrontierLayout::Narrow] {
            let axes = Axes::from_entries(&entries, 5.0, layout, 0);
            assert_eq!(axes.coarse_from, Some(20.0));
            // A twentieth of the area.
            let most = most_in_a_corner(&axes, &entries, 0.05_f64.sqrt());
            assert!(most < 9, "{most} of {} marks", entries.len());
        }
    }

    #[test]
    fn an_axis_is_coarse_only_where_it_has_to_be() {
        let at = |killed: &[f64]| -> Option<f64> {
            let entries: Vec<FrontierEntry<'_>> =
                killed.iter().zip(1..).map(|(killed, number)| entry(number, (*killed, *killed, 5.0, 5.0))).collect();
            Axes::from_entries(&entries, 5.0, FrontierLayout::Wide, 0).coarse_from
        };
        assert_eq!(at(&[1.0, 4.0, 17.0]), None);
        assert_eq!(at(&[1.0, 4.0, 90.0]), Some(20.0));
        // Where nearly all kill as much, there is no end to push together.
        assert_eq!(at(&[1.0, 50.0, 60.0, 70.0]), None);
        assert_eq!(at(&[]), None);
    }
}
