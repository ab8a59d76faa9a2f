//! P-values of "the mean of independent bounded losses is at least alpha", valid for any number of losses and any
//! distribution.
//!
//! A loss L in [0, 1] enters as its surplus, alpha - L, which is at least -slack, where slack = 1 - alpha; under the
//! null hypothesis the means of the surpluses sum to at most 0. Other statistics of this form (weighted rates, rates
//! under label errors) supply their own surplus and slack.

/// Surpluses of independent tasks, each at least `-slack`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surpluses {
    /// One per task; positive values are evidence of a small risk.
    pub values: Vec<f64>,
    /// The largest loss a task can contribute, as a positive number: no surplus is below `-slack`.
    pub slack: f64,
    /// The surplus of a task without any loss.
    pub clean: f64,
}

/// The bets of [`Surpluses::betting`] with their weights; a bet is in eighths of the largest one allowed.
const BETS: [(f64, f64); 8] = [
    (1.0, 1.0 / 14.0),
    (2.0, 1.0 / 14.0),
    (3.0, 1.0 / 14.0),
    (4.0, 1.0 / 14.0),
    (5.0, 1.0 / 14.0),
    (6.0, 1.0 / 14.0),
    (7.0, 1.0 / 14.0),
    (8.0, 0.5),
];

impl Surpluses {
    /// The surpluses of losses in [0, 1] against `alpha`.
    pub fn of_losses(losses: impl IntoIterator<Item = f64>, alpha: f64) -> Self {
        Self { values: losses.into_iter().map(|loss| alpha - loss).collect(), slack: 1.0 - alpha, clean: alpha }
    }

    /// The mean; `None` without tasks.
    pub fn mean(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| self.values.iter().sum::<f64>() / self.values.len() as f64)
    }

    /// `P[slack E_0 >= sum surplus_k E_k]` for independent standard exponential E: a valid p-value for any number of
    /// independent tasks and any distribution. With losses 0 and 1 it is the exact binomial p-value. 1 without a
    /// positive surplus.
    ///
    /// Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
    /// variable; validity: Vlassis & Thomas (2026), arXiv 2607.08415, theorem 1. Computed as the frustum of a simplex
    /// after Varsi (1973) and Ali (1973), which adds positive terms only.
    pub fn gaffke(&self) -> f64 {
        self.after_clean(0, 1.0).0
    }

    /// Finds the fewest further clean tasks, at most `most`, that bring the p-value to `delta` or below; returns that
    /// p-value and number.
    fn after_clean(&self, most: u64, delta: f64) -> (f64, u64) {
        if self.slack.is_nan() || self.slack <= 0.0 || self.values.iter().any(|value| value.is_nan()) {
            return (1.0, 0);
        }
        let mut good: Vec<f64> = self.values.iter().copied().filter(|value| *value > 0.0).collect();
        let mut bad: Vec<f64> = self.values.iter().filter(|value| **value < 0.0).map(|value| -value).collect();
        // Sorted, so that the result does not depend on the order of the tasks, to the byte.
        good.sort_by(f64::total_cmp);
        bad.sort_by(f64::total_cmp);
        bad.insert(0, self.slack);
        let mut race = vec![1.0; bad.len() + 1];
        race[0] = 0.0;
        let step = |race: &mut Vec<f64>, value: f64| {
            for (at, bad) in bad.iter().enumerate() {
                race[at + 1] = (bad * race[at + 1] + value * race[at]) / (value + bad);
            }
        };
        for value in &good {
            step(&mut race, *value);
        }
        let last = bad.len();
        let mut added = 0;
        while added < most && race[last] > delta {
            step(&mut race, self.clean);
            added += 1;
        }
        (race[last], added)
    }

    /// The fewest further tasks, all clean, with which [`Self::gaffke`] is at most `delta`; 0 if it already is. `None`
    /// beyond a million.
    pub fn clean_tasks_needed(&self, delta: f64) -> Option<u64> {
        const MOST: u64 = 1_000_000;
        let (p, added) = if self.clean > 0.0 { self.after_clean(MOST, delta) } else { (1.0, 0) };
        (p <= delta).then_some(added)
    }

    /// The total number of tasks like these needed for a p-value of `delta`: `ln(1 / delta) / g`, with g the growth of
    /// the best constant bet. `None` if the mean surplus is not positive: more of the same tasks would not suffice.
    pub fn tasks_at_this_rate(&self, delta: f64) -> Option<u64> {
        if self.mean().is_none_or(|mean| mean <= 0.0) {
            return None;
        }
        let n = self.values.len() as f64;
        let slope = |bet: f64| self.values.iter().map(|value| value / (1.0 + bet * value)).sum::<f64>();
        // At the largest bet a total loss ends the game, so evaluate the slope just below it.
        let (mut low, mut high) = (0.0, (1.0 - 1e-12) / self.slack);
        if slope(high) > 0.0 {
            low = high;
        }
        while high - low > 1e-12 * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if slope(middle) > 0.0 { low = middle } else { high = middle }
        }
        let growth = self.values.iter().map(|value| (low * value).ln_1p()).sum::<f64>() / n;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of tasks")]
        let tasks = (-delta.ln() / growth).ceil() as u64;
        (growth > 0.0).then_some(tasks)
    }

    /// Wealth of a mixture of eight constant bets with a total stake of 1. Under the null hypothesis it is a
    /// supermartingale over tasks as they arrive, so its inverse is a p-value that may be checked after every task.
    ///
    /// Ville (1939); Waudby-Smith & Ramdas (2024), Estimating means of bounded random variables by betting, JRSS B 86.
    pub fn wealth(&self) -> f64 {
        let path = |bet: f64| self.values.iter().map(|value| (bet * value / self.slack).ln_1p()).sum::<f64>().exp();
        BETS.iter().map(|(eighths, weight)| weight * path(eighths / 8.0)).sum()
    }

    /// The p-value of [`Self::wealth`], at most 1.
    pub fn betting(&self) -> f64 {
        let wealth = self.wealth();
        if wealth > 1.0 { 1.0 / wealth } else { 1.0 }
    }
}

/// The upper confidence bound at `1 - delta` on the mean of independent losses in [0, 1]: the largest mean that
/// Gaffke's test does not reject. 1 without losses.
pub fn upper_bound(losses: &[f64], delta: f64) -> f64 {
    if losses.is_empty() {
        return 1.0;
    }
    let (mut low, mut high) = (losses.iter().sum::<f64>() / losses.len() as f64, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if is_bound(losses, middle, delta) { high = middle } else { low = middle }
    }
    high
}

/// Whether Gaffke's test rejects a mean of `mean` or more, so that [`upper_bound`] is at most `mean`. False without
/// losses.
pub fn is_bound(losses: &[f64], mean: f64, delta: f64) -> bool {
    Surpluses::of_losses(losses.iter().copied(), mean).gaffke() <= delta
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Losses with their numbers, alpha, p, upper bound, wealth, clean tasks needed at 10 and 5 %, tasks at this rate.
    type Golden = (&'static [(usize, f64)], f64, f64, f64, f64, [u64; 2], Option<u64>);

    fn repeat(parts: &[(usize, f64)]) -> Vec<f64> {
        parts.iter().flat_map(|(n, loss)| std::iter::repeat_n(*loss, *n)).collect()
    }

    #[test]
    fn golden_values_of_exact_rationals() {
        let golden: [Golden; 11] = [
            (&[(45, 0.0)], 0.05, 0.099_440, 0.049_881, 6.910_764, [0, 14], Some(45)),
            (&[(150, 0.0), (3, 1.0)], 0.05, 0.049_445, 0.043_142, 2.083_017, [0, 0], Some(184)),
            (&[(58, 0.0), (1, 0.25), (1, 0.125)], 0.05, 0.070_201, 0.044_381, 9.498_460, [0, 7], Some(53)),
            (&[(80, 0.0), (2, 0.125), (1, 0.25), (1, 0.5)], 0.05, 0.046_343, 0.041_089, 13.915_625, [0, 0], Some(64)),
            (
                &[(130, 0.0), (10, 0.125), (6, 0.25), (3, 0.5), (1, 1.0)],
                0.05,
                0.204_899,
                0.056_570,
                0.909_415,
                [21, 38],
                Some(418),
            ),
            (
                &[(200, 0.0), (30, 1.0 / 30.0), (8, 1.0 / 3.0), (2, 2.0 / 3.0)],
                0.05,
                0.002_625,
                0.033_829,
                205.760_044,
                [0, 0],
                Some(95),
            ),
            (&[(30, 0.0), (4, 0.05), (4, 0.25), (2, 0.5)], 0.10, 0.201_676, 0.117_198, 3.424_611, [8, 15], Some(63)),
            (&[(1, 0.0), (1, 0.05), (1, 0.2)], 0.10, 523.0 / 570.0, 0.576_418, 1.033_147, [22, 29], Some(166)),
            (&[(20, 0.02)], 0.05, (0.95_f64 / 0.98).powi(20), 0.126_574, 1.623_002, [33, 47], Some(75)),
            (&[(10, 0.0), (5, 0.05)], 0.05, 0.95_f64.powi(10), 0.156_844, 1.488_199, [35, 49], Some(68)),
            (&[(30, 0.0), (10, 1.0)], 0.05, 0.999_997, 0.358_765, 0.030_161, [266, 296], None),
        ];
        for (parts, alpha, p, upper, wealth, needed, at_rate) in golden {
            let losses = repeat(parts);
            let surpluses = Surpluses::of_losses(losses.iter().copied(), alpha);
            assert!((surpluses.gaffke() - p).abs() < 6e-7, "{parts:?}: {}", surpluses.gaffke());
            assert!((upper_bound(&losses, 0.1) - upper).abs() < 6e-7, "{parts:?}: {}", upper_bound(&losses, 0.1));
            assert!((surpluses.wealth() - wealth).abs() < 6e-7, "{parts:?}: {}", surpluses.wealth());
            let clean = [0.1, 0.05].map(|delta| surpluses.clean_tasks_needed(delta).unwrap());
            assert_eq!(clean, needed, "{parts:?}");
            assert_eq!(surpluses.tasks_at_this_rate(0.1), at_rate, "{parts:?}");
        }
    }

    #[test]
    fn it_is_the_binomial_tail_with_one_run_a_task_and_order_free() {
        let losses = repeat(&[(93, 0.0), (4, 1.0)]);
        let exact = crate::stats::distribution::binomial_cdf(4, 97, 0.05);
        let p = Surpluses::of_losses(losses.iter().copied(), 0.05).gaffke();
        assert!((p - exact).abs() < 1e-12, "{p} {exact}");
        let turned = Surpluses::of_losses(losses.iter().rev().copied(), 0.05).gaffke();
        assert_eq!(p.to_bits(), turned.to_bits());
        assert_eq!(Surpluses::of_losses([], 0.05).gaffke().to_bits(), 1.0_f64.to_bits());
    }
}
