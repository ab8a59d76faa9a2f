//! What followed the stops of each stack, for programs: the numbers of the first table for runs that nobody graded.

use super::{DataTable, NamedCells, TableCell};
use crate::aggregate::FollowedSummary;
use crate::stats::RangeEstimate;

/// One line per stack: stops and stops that cut work short, at least and at most; the share of all runs cut short with
/// its 95 % interval over tasks (or sessions); tokens after stops that nothing followed, and after all stops, as shares
/// of all tokens.
pub fn followed(summaries: &[FollowedSummary]) -> DataTable {
    let lines = summaries.iter().map(|summary| {
        let mut line = NamedCells::default();
        line.push("stack", TableCell::Text(summary.stack.to_string()));
        line.push("runs", TableCell::Count(summary.runs));
        line.push("stops_min", TableCell::Count(summary.stops.0));
        line.push("stops_max", TableCell::Count(summary.stops.1));
        line.push("cut_short_stops_min", TableCell::Count(summary.cut_short.0));
        line.push("cut_short_stops_max", TableCell::Count(summary.cut_short.1));
        let share = RangeEstimate { low: summary.cut_short_low, high: summary.cut_short_high };
        line.push_range("cut_short", "runs", &share);
        line.push("saved_where_nothing_followed", TableCell::number(summary.saved_free));
        line.push("saved_in_all", TableCell::number(summary.saved));
        line
    });
    DataTable::from_lines(lines.collect())
}
