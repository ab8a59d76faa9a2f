//! Upper limits and p-values for the mean of many independent losses in [0, 1], in time linear in their number.
//!
//! Few losses go to Gaffke's statistic, which is sharper but takes time with the square of their number; from [`MANY`] on
//! it is the empirical Bernstein bound, whose error is then a fraction of a point. Which of the two is used depends on the
//! number of losses alone, so each keeps its level.
//!
//! Maurer & Pontil (2009), Empirical Bernstein bounds and sample-variance penalization, COLT, theorem 4.

use super::gaffke::{self, Surpluses};

/// From so many losses on the empirical Bernstein bound is used.
pub const MANY: usize = 2_000;

/// The parts of the bound for x = ln(2 / p): it is `mean + root * sqrt(x) + straight * x`.
struct Bernstein {
    mean: f64,
    root: f64,
    straight: f64,
}

impl Bernstein {
    fn from_losses(losses: &[f64]) -> Self {
        let n = losses.len() as f64;
        let mean = losses.iter().sum::<f64>() / n;
        let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Self { mean, root: (2.0 * variance / n).sqrt(), straight: 7.0 / (3.0 * (n - 1.0)) }
    }
}

/// A limit that the mean exceeds with a probability of at most `delta`.
pub fn upper_bound(losses: &[f64], delta: f64) -> f64 {
    if losses.len() < MANY {
        return gaffke::upper_bound(losses, delta);
    }
    let (of, x) = (Bernstein::from_losses(losses), (2.0 / delta).ln());
    (of.mean + of.root * x.sqrt() + of.straight * x).min(1.0)
}

/// The p-value of "the mean is at least `alpha`".
pub fn p_of_mean(losses: Vec<f64>, alpha: f64) -> f64 {
    if losses.len() < MANY {
        return Surpluses::of_losses(losses, alpha).gaffke();
    }
    let of = Bernstein::from_losses(&losses);
    let gap = (alpha - of.mean).max(0.0);
    let root_of_x = ((of.root * of.root + 4.0 * of.straight * gap).sqrt() - of.root) / (2.0 * of.straight);
    (2.0 * (-root_of_x * root_of_x).exp()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(n: usize, total: usize) -> Vec<f64> {
        (0..n).map(|nth| f64::from(u8::from(nth < total))).collect()
    }

    #[test]
    fn it_is_the_formula_and_never_below_the_exact_limit() {
        // No loss in 2,001: 7 ln(40) / (3 * 2000).
        let none = losses(2_001, 0);
        assert!((upper_bound(&none, 0.05) - 7.0 * 40.0_f64.ln() / 6000.0).abs() < 1e-12);
        for total in [0, 20, 200] {
            let losses = losses(2_500, total);
            let limit = upper_bound(&losses, 0.05);
            assert!(limit > gaffke::upper_bound(&losses, 0.05), "{total}: {limit}");
            // The p-value of the limit is the level.
            assert!((p_of_mean(losses.clone(), limit) - 0.05).abs() < 1e-9, "{total}");
            assert!((p_of_mean(losses, total as f64 / 2_500.0) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn few_losses_have_the_exact_limit() {
        let few = losses(100, 3);
        assert_eq!(upper_bound(&few, 0.05).to_bits(), gaffke::upper_bound(&few, 0.05).to_bits());
    }
}
