//! A permutation test of two strategies on the same runs, clustered by task: printed p-values are checked against it
//! if few tasks differ.

use super::bootstrap::mix;

/// Up to this many tasks with a difference, all sign patterns are enumerated instead of sampled.
const MAX_EXACT_FLIPS: usize = 16;
/// Sign patterns drawn when there are too many to enumerate.
const SAMPLED_FLIPS: u32 = 9_999;

/// Discordant runs of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairedCounts {
    /// Runs of the task seen under both strategies.
    pub n: u64,
    /// Runs with the property under the first strategy only.
    pub only_a: u64,
    /// Runs with the property under the second strategy only.
    pub only_b: u64,
}

/// Sign-flip permutation p-value, two-sided, of "the tasks' differences are symmetric around 0"; 1 if all are 0.
///
/// All sign patterns are enumerated for up to 16 tasks with a difference; beyond, 9999 are drawn from `seed` and the
/// p-value is `(1 + as extreme) / 10000`. The test is exact if the null hypothesis of symmetry is true.
///
/// Good (2005), Permutation, parametric and bootstrap tests of hypotheses, ch. 3.
pub fn sign_flip(differences: &[f64], seed: u64) -> f64 {
    let sizes: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    let observed = sizes.iter().sum::<f64>().abs();
    // Sums that are equal in exact arithmetic must not differ through rounding.
    let at_least = observed - 1e-12 * sizes.iter().map(|size| size.abs()).sum::<f64>();
    if let Some(p) = exact_sign_flip(&sizes) {
        return p;
    }
    let extreme = (0..u64::from(SAMPLED_FLIPS))
        .filter(|draw| {
            let mut signs = mix(mix(seed).wrapping_add(*draw));
            let sum: f64 = sizes
                .chunks(64)
                .map(|chunk| {
                    signs = mix(signs);
                    signed_sum(chunk, signs)
                })
                .sum();
            sum.abs() >= at_least
        })
        .count();
    (1 + extreme) as f64 / f64::from(SAMPLED_FLIPS + 1)
}

/// As [`sign_flip`], over all sign patterns; `None` with more than 16 tasks with a difference.
pub fn exact_sign_flip(differences: &[f64]) -> Option<f64> {
    let sizes: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if sizes.len() > MAX_EXACT_FLIPS {
        return None;
    }
    let at_least = sizes.iter().sum::<f64>().abs() - 1e-12 * sizes.iter().map(|size| size.abs()).sum::<f64>();
    // Gray code: from one pattern to the next a single sign changes.
    let mut sum: f64 = sizes.iter().sum();
    let mut signs = vec![1.0; sizes.len()];
    let mut extreme = 1_u32;
    for pattern in 1_u32..1 << sizes.len() {
        let at = pattern.trailing_zeros() as usize;
        sum -= 2.0 * signs[at] * sizes[at];
        signs[at] = -signs[at];
        extreme += u32::from(sum.abs() >= at_least);
    }
    Some(f64::from(extreme) / f64::from(1_u32 << sizes.len()))
}

/// The sum of up to 64 `sizes`, each with the sign of its bit.
fn signed_sum(sizes: &[f64], signs: u64) -> f64 {
    // Flips the sign bit directly: a branch per size would be mispredicted half of the time.
    let signed = |(at, size): (usize, &f64)| f64::from_bits(size.to_bits() ^ ((signs >> at) << 63));
    sizes.iter().enumerate().map(signed).sum()
}
