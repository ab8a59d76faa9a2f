//! Which of two weighted sums of independent standard exponentials is larger, by an integral: for many terms.

/// The step of the integral, over the standard deviation of the integrand. No singularity is nearer to its path than
/// that deviation, so the error is about `exp(-2 pi / STEP)`.
const STEP: f64 = 0.15;
/// Terms of the integral below this share of its first are left out, with all after them.
const NEGLIGIBLE: f64 = 1e-18;
/// With enough weights of one order, the integral has some sixty terms. It has more only where a few weights are far above
/// all others.
const MOST_TERMS: u32 = 10_000;

/// Distinct weights and how many there are of each. Those of the other sum are negative.
struct Weights(Vec<(f64, f64)>);

/// `P[sum over_i E_i >= sum under_k E_k]` for independent standard exponential E and positive weights, each with how many
/// there are. `None` if too few of them matter for an integral.
///
/// With S the difference of the sums and `M(t) = prod 1 / (1 - w t)`, it is `1 / (2 pi i)` times the integral of
/// `M(t) / t` along a vertical line, here through the saddle point, by the trapezoidal rule, which converges
/// geometrically (Lugannani & Rice 1980, Saddle point approximation for the distribution of the sum of independent
/// random variables; Trefethen & Weideman 2014, The exponentially convergent trapezoidal rule). The error is about
/// 1e-14.
pub(super) fn chance_of_more(over: &[(f64, usize)], under: &[(f64, usize)]) -> Option<f64> {
    let sum = |side: &[(f64, usize)]| side.iter().map(|(weight, n)| weight * *n as f64).sum::<f64>();
    if sum(over) > sum(under) { Some(1.0 - tail(under, over)?) } else { tail(over, under) }
}

/// The same if the first sum is not expected to be the larger.
fn tail(over: &[(f64, usize)], under: &[(f64, usize)]) -> Option<f64> {
    let under = under.iter().map(|(weight, n)| (-weight, *n as f64));
    let weights = Weights(over.iter().map(|(weight, n)| (*weight, *n as f64)).chain(under).collect());
    let largest = over.iter().map(|(weight, _)| *weight).reduce(f64::max)?;
    let at = weights.saddle(1.0 / largest);
    let deviation = (weights.sum(|weight| (weight / (1.0 - weight * at)).powi(2)) + at.powi(-2)).sqrt();
    let height = (-weights.sum(|weight| (-weight * at).ln_1p())).exp();
    let step = STEP / deviation;
    let mut sum = 0.5 / at;
    for nth in 1..=MOST_TERMS {
        let y = f64::from(nth) * step;
        let (mut log, mut angle) = (0.0, 0.0);
        for (weight, n) in &weights.0 {
            let turn = weight * y / (1.0 - weight * at);
            log -= 0.5 * n * (turn * turn).ln_1p();
            angle += n * turn.atan();
        }
        let size = log.exp();
        if size < NEGLIGIBLE {
            return Some((height * step * sum / std::f64::consts::PI).clamp(0.0, 1.0));
        }
        sum += size * (at * angle.cos() + y * angle.sin()) / (at * at + y * y);
    }
    None
}

impl Weights {
    fn sum(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.0.iter().map(|(weight, n)| n * of(*weight)).sum()
    }

    /// The minimum of `M(t) / t` between 0 and `end`, where it grows beyond all bounds at both ends.
    fn saddle(&self, end: f64) -> f64 {
        let (mut low, mut high) = (0.0, end);
        // To a part of the distance to the nearer end: the integral is the same along any line.
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high || high - low < 1e-6 * low.min(end - high) {
                break;
            }
            let slope = self.sum(|weight| weight / (1.0 - weight * middle)) - 1.0 / middle;
            if slope > 0.0 { high = middle } else { low = middle }
        }
        0.5 * (low + high)
    }
}
