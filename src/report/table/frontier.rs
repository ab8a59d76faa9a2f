//! `frontier.csv`: every stack on the two axes, and who beats it.

use super::{Cell, Line, Table};
use crate::aggregate::FrontierPoint;

/// The points of the frontier figure.
pub fn frontier(points: &[FrontierPoint]) -> Table {
    let lines = points.iter().map(|point| {
        let mut line = Line::default();
        line.push("stack", Cell::Text(point.stack.to_string()));
        line.push("unit", Cell::Text(point.unit.name().to_owned()));
        line.push("fes_rate", Cell::number(point.fes_rate));
        line.push("retention", Cell::number(point.fes_rate.map(|rate| 1.0 - rate)));
        line.push("saved_ratio", Cell::number(point.saved_ratio));
        line.push("cost_ratio", Cell::number(point.saved_ratio.map(|ratio| 1.0 - ratio)));
        line.push("on_frontier", Cell::Text(if point.on_frontier { "yes" } else { "no" }.to_owned()));
        line.push("beaten_by", Cell::text(point.beaten_by.as_deref()));
        line
    });
    Table::of(lines.collect())
}
