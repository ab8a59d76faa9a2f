//! Precomputes what the page shows for each tolerance a reader can choose, so that the page computes no statistics.

use serde::Serialize;

use crate::aggregate::{Standing, Summary};
use crate::answers::{FirstTable, Tolerances, words};
use crate::report::Publication;

/// Shares of killed successes that the page's slider offers, in addition to the one asked for.
const STOPS: [f64; 24] = [
    0.0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.045, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.12, 0.14,
    0.16, 0.18, 0.2, 0.25, 0.3, 0.4,
];

/// The first screen for tolerances from `from` up to the next stop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct AtTolerance {
    /// The tolerated share of killed successes.
    from: f64,
    /// The verdict sentence.
    pub(super) verdict: String,
    /// The index of the stack to ship among the summaries.
    ship: Option<usize>,
    /// How each stack stands, in the order of the summaries.
    standing: Vec<&'static str>,
    /// Indices of all stacks, the most useful first.
    order: Vec<usize>,
    /// The lines below the table.
    below: Vec<String>,
}

/// The first screen at every stop of the slider. If a lost success has a price, or a stack was chosen on other tasks
/// or by tuning, only at the tolerance asked for: a tolerance then decides nothing.
pub(super) fn choices(publication: &Publication) -> Vec<AtTolerance> {
    let (summaries, field, unit) = (publication.summaries(), publication.field(), publication.unit());
    let (appetite, choice) = (publication.appetite(), publication.manifest().choice.as_ref());
    let fixed = appetite.lost_success_costs.is_some() || choice.is_some() || field.is_tuned() || summaries.len() < 2;
    let mut stops: Vec<f64> = if fixed { Vec::new() } else { STOPS.to_vec() };
    stops.push(appetite.max_killed);
    stops.sort_by(f64::total_cmp);
    stops.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
    let at = |from: f64| {
        let appetite = Tolerances { max_killed: from, all: true, ..appetite };
        let first = FirstTable::new(summaries, &field, unit, appetite, choice);
        let place = |wanted: &Summary| summaries.iter().position(|summary| summary.stack == wanted.stack);
        AtTolerance {
            from,
            verdict: words::verdict(&first.verdict()),
            ship: first.ship().and_then(place),
            standing: first.standings_in_order().iter().copied().map(Standing::name).collect(),
            order: first.in_order().filter_map(place).collect(),
            below: words::notes(&first.notes()),
        }
    };
    stops.into_iter().map(at).collect()
}
