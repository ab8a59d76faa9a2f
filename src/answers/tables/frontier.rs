//! `frontier.csv`: every stack on the two axes, which stack beats it, and how certain its place on the frontier is.

use super::{DataTable, FileColumns};
use crate::aggregate::{FrontierPoint, FrontierSpread};

/// A point, and the share of resamples in which it is on the frontier.
type PlacedPoint = (FrontierPoint, Option<f64>);

/// The points of the frontier figure.
pub fn frontier(points: &[FrontierPoint], spread: &FrontierSpread) -> DataTable {
    let shares = spread.shares.iter().copied().chain(std::iter::repeat(None));
    frontier_columns().table(points.iter().cloned().zip(shares))
}

/// The columns of `frontier.csv`.
pub fn frontier_columns() -> FileColumns<'static, PlacedPoint> {
    let successes = |_: &PlacedPoint| "successes".to_owned();
    let recorded = |(point, _): &PlacedPoint| format!("{} recorded", point.unit.name());
    FileColumns::new()
        .text("stack", "The stack.", |(point, _): &PlacedPoint| point.stack.to_string())
        .text("unit", "What is saved.", |(point, _)| point.unit.name().to_owned())
        .range("killed_rate", successes, "The share of successes killed.", |(point, _)| point.fes_rate)
        .range("retention", successes, "The share of successes kept.", |(point, _)| point.fes_rate.one_less())
        .range("saved_share", recorded, "The share saved on failures and after success.", |(point, _)| {
            point.saved_ratio
        })
        .range("cost_share", recorded, "The share still spent.", |(point, _)| point.saved_ratio.one_less())
        .text(
            "on_frontier",
            "Whether no other stack kills no more and saves no less, by point estimates.",
            |(point, _)| if point.on_frontier { "yes" } else { "no" }.to_owned(),
        )
        .some_label("beaten_by", "A stack that is better on both counts beyond chance.", |(point, _)| {
            point.beaten_by.as_ref()
        })
        .number(
            "resamples_on_frontier",
            "The share of resamples of the tasks in which it is on the frontier.",
            |(_, share)| *share,
        )
}
