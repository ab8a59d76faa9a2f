//! `frontier.csv`: every stack on the two axes, who beats it, and how sure that is.

use super::{Cell, Line, Table};
use crate::aggregate::{FrontierPoint, FrontierSpread};
use crate::stats::{Estimate, Interval};

/// The points of the frontier figure.
pub fn frontier(points: &[FrontierPoint], spread: &FrontierSpread) -> Table {
    let shares = spread.shares.iter().copied().chain(std::iter::repeat(None));
    let lines = points.iter().zip(shares).map(|(point, share)| {
        let mut line = Line::default();
        let unit = point.unit.name();
        line.push("stack", Cell::Text(point.stack.to_string()));
        line.push("unit", Cell::Text(unit.to_owned()));
        line.push_estimate("fes_rate", "successes", &point.fes_rate);
        line.push_estimate("retention", "successes", &one_less(&point.fes_rate));
        line.push_estimate("saved_ratio", &format!("{unit} recorded"), &point.saved_ratio);
        line.push_estimate("cost_ratio", &format!("{unit} recorded"), &one_less(&point.saved_ratio));
        line.push("on_frontier", Cell::Text(if point.on_frontier { "yes" } else { "no" }.to_owned()));
        line.push("beaten_by", Cell::text(point.beaten_by.as_deref()));
        line.push("resamples_on_frontier", Cell::number(share));
        line
    });
    Table::of(lines.collect())
}

/// One minus it.
fn one_less(estimate: &Estimate) -> Estimate {
    let turned = estimate.interval.map(|interval| Interval { low: 1.0 - interval.high, high: 1.0 - interval.low });
    Estimate { value: estimate.value.map(|value| 1.0 - value), interval: turned, ..*estimate }
}
