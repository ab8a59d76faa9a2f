//! P-values over many comparisons: Holm and max-T control the chance of any false finding,
//! Benjamini-Hochberg the share of false ones (for exploratory tables, labelled as such).

use super::bootstrap::Resamples;

/// Holm's adjusted p-values, in the order given: valid whatever the dependence.
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

/// Benjamini and Hochberg's adjusted p-values (q-values), in the order given.
///
/// Benjamini & Hochberg (1995), Controlling the false discovery rate, J. Royal Statistical Society B 57.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = vec![0.0; p_values.len()];
    let mut running = 1.0_f64;
    for (rank, at) in order.iter().enumerate().rev() {
        running = running.min(p_values.len() as f64 / (rank + 1) as f64 * p_values[*at]);
        adjusted[*at] = running;
    }
    adjusted
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order
}

/// One strategy of a sweep against the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// The estimated difference.
    pub value: f64,
    /// What each task adds to the difference's error: sums to 0 (see [`super::difference::RatioDifference`]).
    pub influence: Vec<f64>,
}

/// Adjusted p-values of max-T, step-down, in the order given: the chance of any false finding among all contrasts
/// is at most about the level at which they are read, and dependence between contrasts is used, not paid for.
///
/// In each resample every contrast's t statistic is recomputed around its estimate from the same weights; a contrast is
/// compared with the largest |t| among itself and all contrasts with a smaller observed |t|. `None` for a contrast
/// without any spread over tasks; one whose value is 0 as well (nothing differs) has p = 1.
///
/// Romano & Wolf (2005), Exact and approximate stepdown methods for multiple hypothesis testing, JASA 100.
pub fn max_t(contrasts: &[Contrast], resamples: &Resamples) -> Vec<Option<f64>> {
    let mut adjusted: Vec<Option<f64>> = vec![None; contrasts.len()];
    let mut tested: Vec<(f64, usize)> = Vec::new();
    for (at, contrast) in contrasts.iter().enumerate() {
        let squares: f64 = contrast.influence.iter().map(|e| e * e).sum();
        if squares > 0.0 {
            let clusters = resamples.clusters() as f64;
            tested.push((contrast.value.abs() / (squares * clusters / (clusters - 1.0)).sqrt(), at));
        } else if contrast.value == 0.0 {
            adjusted[at] = Some(1.0);
        }
    }
    tested.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let exceeding = exceedances(contrasts, &tested, resamples);
    let mut running = 0.0_f64;
    for ((_, at), count) in tested.iter().zip(exceeding) {
        running = running.max((1 + count) as f64 / (resamples.replicates() + 1) as f64);
        adjusted[*at] = Some(running);
    }
    adjusted
}

/// For each contrast, in the order of `tested`: the resamples in which the largest |t| from there on reaches its own.
fn exceedances(contrasts: &[Contrast], tested: &[(f64, usize)], resamples: &Resamples) -> Vec<usize> {
    // One row per cluster, so that a cluster's weight is applied to all contrasts in one sweep over memory.
    let columns: Vec<Vec<f64>> = tested.iter().map(|(_, at)| resamples.sorted(&contrasts[*at].influence)).collect();
    let rows: Vec<Vec<f64>> =
        (0..resamples.clusters()).map(|cluster| columns.iter().map(|column| column[cluster]).collect()).collect();
    let mut exceeding = vec![0; tested.len()];
    let (mut sums, mut squares) = (vec![0.0; tested.len()], vec![0.0; tested.len()]);
    resamples.for_each(|weights| {
        sums.fill(0.0);
        squares.fill(0.0);
        let mut drawn = 0.0;
        for (weight, row) in weights.iter().zip(&rows).filter(|(weight, _)| **weight > 0) {
            let weight = f64::from(*weight);
            drawn += weight;
            for ((sum, square), value) in sums.iter_mut().zip(&mut squares).zip(row) {
                *sum += weight * value;
                *square += weight * value * value;
            }
        }
        let mut largest = 0.0_f64;
        for (at, (observed, _)) in tested.iter().enumerate().rev() {
            let variance = (squares[at] - sums[at] * sums[at] / drawn) * drawn / (drawn - 1.0);
            let t = if variance > 0.0 { sums[at].abs() / variance.sqrt() } else { 0.0 };
            largest = largest.max(t);
            exceeding[at] += usize::from(largest >= *observed);
        }
    });
    exceeding
}
