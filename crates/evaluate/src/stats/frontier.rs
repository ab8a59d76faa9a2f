//! The trade-off between success retention (more is better) and cost ratio (less is better).

use super::difference::RatioDifference;

/// A strategy as a point in the trade-off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tradeoff {
    /// Share of successes kept; more is better.
    pub retention: f64,
    /// Cost as a share of the recorded cost; less is better.
    pub cost: f64,
}

impl Tradeoff {
    /// True if `self` is at least as good as `other` on both axes and better on at least one.
    pub fn beats(&self, other: &Self) -> bool {
        let as_good = self.retention >= other.retention && self.cost <= other.cost;
        as_good && (self.retention > other.retention || self.cost < other.cost)
    }
}

/// For each point, whether no other point beats it. Equal points are all on the frontier; NaN never is.
pub fn on_frontier(points: &[Tradeoff]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..points.len()).filter(|at| is_defined(points[*at])).collect();
    order.sort_by(|a, b| {
        let (a, b) = (points[*a], points[*b]);
        a.cost.total_cmp(&b.cost).then(b.retention.total_cmp(&a.retention))
    });
    let mut member = vec![false; points.len()];
    let mut best: Option<Tradeoff> = None;
    for at in order {
        if best.is_none_or(|best| !best.beats(&points[at])) {
            member[at] = true;
            best = Some(points[at]);
        }
    }
    member
}

fn is_defined(point: Tradeoff) -> bool {
    !point.retention.is_nan() && !point.cost.is_nan()
}

/// The area between the frontier and a fixed `reference` (the worst tolerated retention and cost); points that do not
/// beat the reference on both axes add nothing. The reference must not be derived from the data.
///
/// Zitzler & Thiele (1998), Multiobjective optimization using evolutionary algorithms.
pub fn hypervolume(points: &[Tradeoff], reference: Tradeoff) -> f64 {
    let mut within: Vec<Tradeoff> = points
        .iter()
        .copied()
        .filter(|point| point.retention > reference.retention && point.cost < reference.cost)
        .collect();
    within.sort_by(|a, b| b.retention.total_cmp(&a.retention).then(a.cost.total_cmp(&b.cost)));
    let mut volume = 0.0;
    let mut cheapest = reference.cost;
    for point in within {
        if point.cost < cheapest {
            volume += (cheapest - point.cost) * (point.retention - reference.retention);
            cheapest = point.cost;
        }
    }
    volume
}

/// True if the second strategy beats the first beyond chance: on these runs it kills no more (`killed`, first minus
/// second), saves no less (`saved`, second minus first), and one of the differences has a p-value of at most `level`
/// divided by the number of ordered `pairs` compared (Bonferroni). Among equally good strategies, the probability that
/// any is called beaten is about `level` at most.
pub fn surely_beaten(killed: &RatioDifference, saved: &RatioDifference, pairs: usize, level: f64) -> bool {
    let limit = level / pairs.max(1) as f64;
    let sure = |difference: &RatioDifference| {
        difference.value > 0.0 && matches!(difference.careful_p(), Some(p) if p <= limit)
    };
    killed.value >= 0.0 && saved.value >= 0.0 && (sure(killed) || sure(saved))
}

/// The share of bootstrap `replicates` in which each strategy is on the frontier; each replicate holds all strategies
/// in the same order. `None` without replicates.
pub fn membership(replicates: &[Vec<Tradeoff>]) -> Option<Vec<f64>> {
    let mut counts = vec![0_usize; replicates.first()?.len()];
    for replicate in replicates {
        for (count, member) in counts.iter_mut().zip(on_frontier(replicate)) {
            *count += usize::from(member);
        }
    }
    Some(counts.into_iter().map(|count| count as f64 / replicates.len() as f64).collect())
}
