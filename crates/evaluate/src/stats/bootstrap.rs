//! Cluster bootstrap with hashed Poisson(1) weights: the weight of a task in a replicate depends only on the seed, the
//! replicate's number and the task's key, so shards, threads and reading order cannot change a byte of the result.
//!
//! Chamandy, Muralidharan, Najmi & Naidu (2012), Estimating uncertainty for massive data streams.

use super::interval::Interval;
use crate::parallel;

/// The default number of replicates.
pub const REPLICATES: usize = 2000;

/// The key of a cluster: a hash of its name (for example suite and task id), the same on every machine.
pub fn cluster_key(name: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(name.as_bytes())
}

/// The state that all weights of one replicate share.
fn stream(seed: u64, replicate: usize) -> u64 {
    mix(mix(seed).wrapping_add(replicate as u64 + 1))
}

fn weight_in(stream: u64, key: u64) -> u8 {
    // Cumulative probabilities P[Poisson(1) <= k] for k = 0, 1, ..: inverts a uniform 53-bit number.
    const CUMULATIVE: [f64; 12] = [
        0.367_879_441_171_442_33,
        0.735_758_882_342_884_7,
        0.919_698_602_928_605_8,
        0.981_011_843_123_846_2,
        0.996_340_153_172_656_2,
        0.999_405_815_182_418_3,
        0.999_916_758_850_711_9,
        0.999_989_750_803_325_3,
        0.999_998_874_797_402,
        0.999_999_888_574_521_7,
        0.999_999_989_952_233_7,
        0.999_999_999_168_389_2,
    ];
    let uniform = (mix(stream ^ key) >> 11) as f64 / (1_u64 << 53) as f64;
    let mut weight = 0;
    for limit in CUMULATIVE {
        if uniform < limit {
            break;
        }
        weight += 1;
    }
    weight
}

/// The finaliser of splitmix64 (Steele, Lea & Flood 2014): a bijection; every output bit depends on every input bit.
pub(super) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A bootstrap over one set of clusters. The same resamples serve any number of statistics, so differences and maxima
/// over statistics are taken within a replicate.
#[derive(Clone, Debug)]
pub struct Resamples {
    seed: u64,
    replicates: usize,
    keys: Vec<u64>,
    order: Vec<usize>,
}

impl Resamples {
    /// Resamples the clusters with these `keys` (see [`cluster_key`]); later columns must give the clusters in the
    /// order of `keys`. Sums are taken in ascending order of the keys, whatever the order given.
    pub fn new(keys: &[u64], replicates: usize, seed: u64) -> Self {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|at| keys[*at]);
        Self { seed, replicates, keys: order.iter().map(|at| keys[*at]).collect(), order }
    }

    /// The number of clusters.
    pub fn clusters(&self) -> usize {
        self.keys.len()
    }

    /// The number of replicates.
    pub fn replicates(&self) -> usize {
        self.replicates
    }

    /// For each cluster, in the order the keys were given, its position in ascending order of the keys.
    pub fn ranks(&self) -> Vec<usize> {
        let mut ranks = vec![0; self.order.len()];
        for (rank, at) in self.order.iter().enumerate() {
            ranks[*at] = rank;
        }
        ranks
    }

    /// Puts one value per cluster into ascending order of the keys. Missing values at the end count as 0.
    pub fn sorted(&self, column: &[f64]) -> Vec<f64> {
        self.order.iter().map(|at| column.get(*at).copied().unwrap_or(0.0)).collect()
    }

    /// What `of` makes of the weights of each replicate, which are in ascending order of the keys. The replicates are
    /// shared between threads; the result is in their order.
    pub fn map<T: Send>(&self, of: impl Fn(&[u8]) -> T + Sync) -> Vec<T> {
        parallel::map_range(0..self.replicates, |replicate| {
            let stream = stream(self.seed, replicate);
            let weights: Vec<u8> = self.keys.iter().map(|key| weight_in(stream, *key)).collect();
            of(&weights)
        })
    }

    /// Calls `each` once per replicate with a sign (1 or -1) for every cluster, in ascending order of the keys.
    pub fn for_each_sign(&self, mut each: impl FnMut(&[f64])) {
        let mut signs = vec![1.0; self.keys.len()];
        for replicate in 0..self.replicates {
            let stream = stream(self.seed, replicate);
            for (sign, key) in signs.iter_mut().zip(&self.keys) {
                *sign = if mix(stream ^ key) >> 63 == 0 { 1.0 } else { -1.0 };
            }
            each(&signs);
        }
    }

    /// Weighted sums of `columns` (one value per cluster each): for every replicate, one sum per column.
    pub fn sums(&self, columns: &[&[f64]]) -> Vec<Vec<f64>> {
        let sorted: Vec<Vec<f64>> = columns.iter().map(|column| self.sorted(column)).collect();
        self.map(|weights| sorted.iter().map(|column| weighted_sum(weights, column)).collect())
    }

    /// The ratio `sum of numerators / sum of denominators` in every replicate; replicates with denominator 0 are
    /// dropped and counted.
    pub fn ratios(&self, numerators: &[f64], denominators: &[f64]) -> Replicates {
        let ratio = |sums: &Vec<f64>| if sums[1] == 0.0 { None } else { Some(sums[0] / sums[1]) };
        self.sums(&[numerators, denominators]).iter().map(ratio).collect()
    }
}

fn weighted_sum(weights: &[u8], column: &[f64]) -> f64 {
    weights.iter().zip(column).map(|(weight, value)| f64::from(*weight) * value).sum()
}

/// The values of a statistic in the bootstrap replicates in which it is defined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replicates {
    /// The values, in ascending order.
    pub values: Vec<f64>,
    /// Replicates in which the statistic was undefined.
    pub dropped: usize,
}

impl FromIterator<Option<f64>> for Replicates {
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(iter: I) -> Self {
        let mut replicates = Self::default();
        for value in iter {
            match value {
                Some(value) if value.is_finite() => replicates.values.push(value),
                _ => replicates.dropped += 1,
            }
        }
        replicates.values.sort_by(f64::total_cmp);
        replicates
    }
}

impl Replicates {
    /// The quantile at `p` in [0, 1], interpolated between neighbours; `None` without values.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let last = self.values.len().checked_sub(1)?;
        let position = p.clamp(0.0, 1.0) * last as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the length of a vector")]
        let below = position as usize;
        let (low, high) = (self.values.get(below)?, self.values.get((below + 1).min(last))?);
        Some(low + (high - low) * (position - below as f64))
    }

    /// The percentile interval at `level` (Efron 1979); `None` with fewer than 100 defined replicates.
    pub fn interval(&self, level: f64) -> Option<Interval> {
        if self.values.len() < 100 {
            return None;
        }
        let tail = 0.5 * (1.0 - level);
        Some(Interval { low: self.quantile(tail)?, high: self.quantile(1.0 - tail)? })
    }

    /// The standard deviation over replicates; `None` with fewer than two.
    pub fn standard_error(&self) -> Option<f64> {
        let n = self.values.len();
        if n < 2 {
            return None;
        }
        let mean = self.values.iter().sum::<f64>() / n as f64;
        Some((self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt())
    }
}
