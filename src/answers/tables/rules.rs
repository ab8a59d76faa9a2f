//! `rules.csv`: what each rule contributes to its stack.

use super::{Cell, Line, Table};
use crate::aggregate::RuleShare;

/// The shares of every rule.
pub fn rules(shares: &[RuleShare]) -> Table {
    let lines = shares.iter().map(|share| {
        let mut line = Line::default();
        line.push("stack", Cell::Text(share.stack.to_string()));
        line.push("rule", Cell::Text(share.rule.to_string()));
        line.push("stops", Cell::Count(share.stops));
        line.push_estimate("first_fire_share", "stops of the stack", &share.first_fire_share);
        line.push("killed", Cell::Count(share.killed));
        line.push("fires", Cell::count(share.fires));
        line.push("shadowed", Cell::count(share.shadowed));
        line.push("killed_alone", Cell::count(share.killed_alone));
        line.push("stops_lost_without", Cell::count(share.stops_lost_without));
        line.push("killed_less_without", Cell::count(share.killed_less_without));
        line.push("steps_added_without", Cell::count(share.steps_added_without));
        line
    });
    Table::of(lines.collect())
}
