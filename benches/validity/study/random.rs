//! Seeded draws: a counter through a mixing function, and the few distributions the corpora need.

use whenstop::stats::distribution::normal_quantile;

/// A stream of draws, fixed by its seed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x1234_5678_9ABC_DEF0)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Uniform in 1 to `most`.
    pub(crate) fn one_to(&mut self, most: u64) -> u64 {
        1 + self.bits() % most
    }

    pub(crate) fn normal(&mut self) -> f64 {
        normal_quantile(self.uniform())
    }

    pub(crate) fn binomial(&mut self, n: u64, p: f64) -> u64 {
        (0..n).filter(|_| self.chance(p)).count() as u64
    }

    /// Gamma with scale 1 (Marsaglia & Tsang 2000); small shapes through shape + 1.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = self.uniform().powf(1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// A task's own rate: beta distributed with this mean, so that runs of a task correlate by `icc`.
    pub(crate) fn task_rate(&mut self, mean: f64, icc: f64) -> f64 {
        if icc <= 0.0 {
            return mean;
        }
        let weight = (1.0 - icc) / icc;
        let (hits, misses) = (self.gamma(mean * weight), self.gamma((1.0 - mean) * weight));
        // Both shapes can underflow at high correlation; the task then has rate 0 or 1.
        if hits + misses > 0.0 { hits / (hits + misses) } else { f64::from(u8::from(self.chance(mean))) }
    }
}
