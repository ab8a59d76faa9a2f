//! `frontier.csv`: every stack on the two axes, which stack beats it, and how certain its place on the frontier is.

use super::{Cell, Line, Table};
use crate::aggregate::{FrontierPoint, FrontierSpread};

/// The points of the frontier figure.
pub fn frontier(points: &[FrontierPoint], spread: &FrontierSpread) -> Table {
    let shares = spread.shares.iter().copied().chain(std::iter::repeat(None));
    let lines = points.iter().zip(shares).map(|(point, share)| {
        let mut line = Line::default();
        let unit = point.unit.name();
        line.push("stack", Cell::Text(point.stack.to_string()));
        line.push("unit", Cell::Text(unit.to_owned()));
        line.push_range("killed_rate", "successes", &point.fes_rate);
        line.push_range("retention", "successes", &point.fes_rate.one_less());
        line.push_range("saved_share", &format!("{unit} recorded"), &point.saved_ratio);
        line.push_range("cost_share", &format!("{unit} recorded"), &point.saved_ratio.one_less());
        line.push("on_frontier", Cell::Text(if point.on_frontier { "yes" } else { "no" }.to_owned()));
        line.push("beaten_by", Cell::text(point.beaten_by.as_deref()));
        line.push("resamples_on_frontier", Cell::number(share));
        line
    });
    Table::of(lines.collect())
}
