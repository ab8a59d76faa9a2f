//! What followed the stops of each stack, for programs: the numbers of the first table for runs that nobody graded.

use super::{Cell, Line, Table};
use crate::aggregate::FollowedSummary;
use crate::stats::RangeEstimate;

/// One line per stack: stops and stops that cut work short, at least and at most; the share of all runs cut short with
/// its 95 % interval over tasks (or sessions); tokens after stops that nothing followed, and after all stops, as shares
/// of all tokens.
pub fn followed(summaries: &[FollowedSummary]) -> Table {
    let lines = summaries.iter().map(|summary| {
        let mut line = Line::default();
        line.push("stack", Cell::Text(summary.stack.to_string()));
        line.push("runs", Cell::Count(summary.runs));
        line.push("stops_min", Cell::Count(summary.stops.0));
        line.push("stops_max", Cell::Count(summary.stops.1));
        line.push("cut_short_stops_min", Cell::Count(summary.cut_short.0));
        line.push("cut_short_stops_max", Cell::Count(summary.cut_short.1));
        let share = RangeEstimate { low: summary.cut_short_low, high: summary.cut_short_high };
        line.push_range("cut_short", "runs", &share);
        line.push("saved_where_nothing_followed", Cell::number(summary.saved_free));
        line.push("saved_in_all", Cell::number(summary.saved));
        line
    });
    Table::from_lines(lines.collect())
}
