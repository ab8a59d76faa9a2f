//! On how many runs the number of a gate is known, and what the others lack.

use crate::aggregate::{Group, MetricPart, Named, Needs, RowView, Summary, Unit};
use crate::answers::known::{Lack, missing};
use crate::answers::words;

/// Whether it is an end of an interval, which depends on the level.
pub(super) fn is_interval_end(number: &Named) -> bool {
    matches!(number.part, MetricPart::Low | MetricPart::High)
}

/// The share of the runs of `group` on which it is known.
pub(super) fn known_share(number: &Named, group: &Group<'_>) -> f64 {
    let metric = number.metric;
    let is_known = |row: RowView<'_>| {
        let is_recorded = match metric.unit {
            Some(Unit::Tokens) => row.tokens_recorded().is_some(),
            Some(Unit::CostUsd) => row.cost_usd_recorded().is_some(),
            Some(Unit::Steps) | None => true,
        };
        is_recorded
            && match metric.needs {
                Needs::Nothing => true,
                Needs::Stop => !row.unknown().unread && !row.unknown().diverged,
                Needs::Outcome => row.unknown().is_none(),
            }
    };
    if group.is_empty() {
        return 0.0;
    }
    group.rows().filter(|row| is_known(*row)).count() as f64 / group.len() as f64
}

/// What is missing, in words; empty if nothing is.
pub(super) fn what_is_missing(number: &Named, summary: &Summary) -> String {
    let lacks: &[Lack] = match number.metric.needs {
        Needs::Nothing => &[],
        Needs::Stop => &Lack::OF_A_STOP,
        Needs::Outcome => &Lack::OF_A_KILL,
    };
    words::missing(&missing(summary, lacks, number.metric.unit))
}
