//! Adjusts p-values for many comparisons: Holm and max-T control the probability of any false finding.

use super::bootstrap::Resamples;
use super::estimate::{MIN_CLUSTERS_FOR_INTERVAL, MIN_CLUSTERS_WITHOUT_WARNING};

/// Up to this many tests Holm is used, whatever the number of tasks.
const HANDFUL: usize = 4;

/// Holm's adjusted p-values, in the order given; valid under any dependence.
///
/// Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian J. Statistics 6.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = vec![0.0; p_values.len()];
    let mut running = 0.0_f64;
    for (rank, at) in order.iter().enumerate() {
        running = running.max(((p_values.len() - rank) as f64 * p_values[*at]).min(1.0));
        adjusted[*at] = running;
    }
    adjusted
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order
}

/// The difference of one strategy of a sweep from the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// The estimated difference.
    pub value: f64,
    /// Each task's contribution to the difference; they sum to it (see [`super::difference::RatioDifference`]).
    pub scores: Vec<f64>,
    /// Tasks that contributed; all others have score 0.
    pub clusters: u64,
}

/// One test of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepTest {
    /// Its own p-value, in a family [`super::RatioDifference::careful_p`]; `None` if it could not be computed. The
    /// test still counts towards the size of the family.
    pub p: Option<f64>,
    /// The difference tested, with its tasks in the order of the resamples' keys; `None` if it is undefined.
    pub contrast: Option<Contrast>,
}

/// How the p-values of a sweep were adjusted. The name is printed in the `method` column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Adjustment {
    /// Fewer than 8 tasks: no p-values.
    None,
    /// Up to 4 tests, or 8 to 19 tasks: Holm over the tests' own p-values.
    Holm,
    /// More tests over at least 20 tasks: the larger of Holm's and the sign-flip max-T p-value. Holm's method depends
    /// on each p-value far out in its tail, max-T is sensitive to tasks of unequal size; each misses its level in
    /// cases where the other does not.
    HolmAndMaxT,
}

impl Adjustment {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Holm => "holm",
            Self::HolmAndMaxT => "holm-max-t",
        }
    }
}

/// The p-values of a sweep against one baseline, adjusted by the method that holds for the number of tests and of
/// tasks (the fewest of any contrast). A test without its own p-value has no adjusted one, and no adjusted p-value is
/// below the test's own; see [`max_t`].
pub fn adjust_sweep(tests: &[SweepTest], resamples: &Resamples) -> (Vec<Option<f64>>, Adjustment) {
    let clusters = tests.iter().filter_map(|test| test.contrast.as_ref()).map(|contrast| contrast.clusters).min();
    let clusters = clusters.unwrap_or(0);
    if clusters < MIN_CLUSTERS_FOR_INTERVAL {
        return (vec![None; tests.len()], Adjustment::None);
    }
    let single: Vec<f64> = tests.iter().map(|test| test.p.unwrap_or(1.0)).collect();
    let mut adjusted = holm(&single);
    let many = tests.len() > HANDFUL && clusters >= MIN_CLUSTERS_WITHOUT_WARNING;
    if many {
        let places = (0..tests.len()).filter(|&at| tests[at].contrast.is_some());
        let contrasts: Vec<Contrast> = tests.iter().filter_map(|test| test.contrast.clone()).collect();
        for (at, p) in places.zip(max_t(&contrasts, resamples)) {
            adjusted[at] = adjusted[at].max(p.unwrap_or(1.0));
        }
    }
    let method = if many { Adjustment::HolmAndMaxT } else { Adjustment::Holm };
    (tests.iter().zip(adjusted).map(|(test, p)| test.p.map(|_| p)).collect(), method)
}

/// Adjusted p-values of step-down max-T by sign flips, in the order given. The probability of any false finding among
/// all contrasts is at most the level at which they are read; dependence between contrasts makes the test more
/// powerful.
///
/// In each draw every task's scores change sign or not, all contrasts of a task together. A contrast's t is its sum
/// over the root of its sum of squares, which sign changes do not affect; it is compared with the largest |t| among
/// itself and all contrasts with a smaller observed |t|. If a strategy that is no better than the baseline is as
/// likely to differ from it one way as the other, this is exact for any number of tasks of any size; otherwise it
/// holds for many tasks, as a t test does. `None` for a contrast whose scores are all 0 although it differs; a
/// contrast in which nothing differs has p = 1.
///
/// Romano & Wolf (2005), Exact and approximate stepdown methods for multiple hypothesis testing, JASA 100; Westfall &
/// Young (1993), Resampling-based multiple testing.
pub fn max_t(contrasts: &[Contrast], resamples: &Resamples) -> Vec<Option<f64>> {
    let mut adjusted: Vec<Option<f64>> = vec![None; contrasts.len()];
    let mut tested: Vec<TestedContrast> = Vec::new();
    for (at, contrast) in contrasts.iter().enumerate() {
        let norm = contrast.scores.iter().map(|score| score * score).sum::<f64>().sqrt();
        if norm > 0.0 {
            let sum: f64 = contrast.scores.iter().sum();
            // Sums that are equal in exact arithmetic must not differ through rounding.
            tested.push(TestedContrast { at, norm, t: sum.abs() / norm - 1e-9 });
        } else if contrast.value == 0.0 {
            adjusted[at] = Some(1.0);
        }
    }
    tested.sort_by(|a, b| b.t.total_cmp(&a.t).then(a.at.cmp(&b.at)));
    let exceeding = exceedances(contrasts, &tested, resamples);
    let mut running = 0.0_f64;
    for (contrast, count) in tested.iter().zip(exceeding) {
        running = running.max((1 + count) as f64 / (resamples.replicates() + 1) as f64);
        adjusted[contrast.at] = Some(running);
    }
    adjusted
}

/// A contrast with at least one nonzero score.
struct TestedContrast {
    /// Its index.
    at: usize,
    /// Root of the sum of its squared scores.
    norm: f64,
    /// Its observed |t|.
    t: f64,
}

/// For each contrast, in the order of `tested`: the number of draws in which the largest |t| from there on reaches its
/// own.
fn exceedances(contrasts: &[Contrast], tested: &[TestedContrast], resamples: &Resamples) -> Vec<usize> {
    // One row per cluster, so that a cluster's sign is applied to all contrasts in one pass over memory.
    let columns: Vec<Vec<f64>> = tested
        .iter()
        .map(|contrast| {
            resamples.sorted(&contrasts[contrast.at].scores).iter().map(|score| score / contrast.norm).collect()
        })
        .collect();
    let rows: Vec<Vec<f64>> = (0..resamples.clusters())
        .map(|cluster| columns.iter().map(|column| column[cluster]).collect::<Vec<f64>>())
        .collect();
    let mut exceeding = vec![0; tested.len()];
    let mut sums = vec![0.0; tested.len()];
    resamples.for_each_sign(|signs| {
        sums.fill(0.0);
        for (sign, row) in signs.iter().zip(&rows) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += sign * value;
            }
        }
        let mut largest = 0.0_f64;
        for (at, contrast) in tested.iter().enumerate().rev() {
            largest = largest.max(sums[at].abs());
            exceeding[at] += usize::from(largest >= contrast.t);
        }
    });
    exceeding
}
