//! What was found, rated as a comparison rates stacks, and held against what such choices do to tasks left out.

use super::shipped::hosts_of_shipped;
use crate::aggregate::{Candidate, Entrant, LEAST_SAVED, LEVEL};
use crate::stats::{CostSums, Estimate, cost_estimate};
use crate::tune::{Appetite, Fate, HeldOut, Shipped, Study, TaskTotals};

/// What speaks against a rule that is worth it on the tasks it was chosen on: what rules chosen the same way do to
/// tasks left out.
pub(super) enum Elsewhere {
    /// They save too little: the share.
    SavesLittle(f64),
    /// Each success left costs this much more, as a share, beyond chance.
    Dearer(Estimate),
}

/// What is known about one stack on all tasks.
pub(super) struct RatedStack {
    pub(super) candidate: Candidate,
    pub(super) totals: TaskTotals,
}

/// What is shipped as a candidate of a comparison, on the tasks it was chosen on.
pub(super) fn rate(shipped: &Shipped, study: &Study, tasks: &[usize], appetite: Appetite) -> RatedStack {
    let fates: Vec<Fate> = (0..study.runs().len()).map(|run| shipped.fate(study, run)).collect();
    let hosts = hosts_of_shipped(shipped, study).len();
    let entrant = Entrant { hosts, rules: shipped.rules(study).len(), place: None };
    let fate = |run: usize| fates.get(run).copied().unwrap_or(Fate::Unread);
    RatedStack { candidate: study.rate(tasks, appetite, entrant, fate), totals: study.totals(tasks, fate) }
}

/// What tasks left out say against a choice, if they tell anything.
pub(super) fn elsewhere(held_out: &HeldOut, appetite: Appetite) -> Option<Elsewhere> {
    if held_out.refused == held_out.parts {
        return None;
    }
    let saved = held_out.totals.saved().value.unwrap_or(0.0);
    if saved < LEAST_SAVED {
        return Some(Elsewhere::SavesLittle(saved));
    }
    let sums: Vec<CostSums> = held_out.totals.tasks.iter().map(|(_, totals)| totals.cost).collect();
    let cost = cost_estimate(&sums, LEVEL);
    let is_dearer = matches!(cost.interval, Some(interval) if interval.low > 1.0);
    if is_dearer && appetite.lost_success_costs.is_none() { Some(Elsewhere::Dearer(cost)) } else { None }
}
