//! Quantiles and tails of the few distributions the methods need, on top of `statrs`.
//!
//! The inverses are computed by safeguarded iteration on the forward functions, because those of `statrs` assert on
//! their arguments. Nothing here panics; an argument out of range yields NaN.

use statrs::function::beta::checked_beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::ln_gamma;

/// Quantile of the standard normal distribution; `p` in (0, 1).
pub fn normal_quantile(p: f64) -> f64 {
    if p > 0.0 && p < 1.0 { -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p) } else { f64::NAN }
}

/// `P[Z <= z]` for a standard normal `Z`.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

/// `P[|Z| >= |z|]` for a standard normal `Z`.
pub fn normal_two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// `P[T > t]` for Student's t with `df` degrees of freedom, `t >= 0`.
fn t_upper_tail(t: f64, df: f64) -> f64 {
    0.5 * checked_beta_reg(0.5 * df, 0.5, df / (df + t * t)).unwrap_or(f64::NAN)
}

/// `P[|T| >= |t|]` for Student's t with `df > 0` degrees of freedom.
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    2.0 * t_upper_tail(t.abs(), df)
}

/// Quantile of Student's t with `df > 0` degrees of freedom; `p` in (0, 1).
///
/// Newton's iteration on the upper tail from the normal quantile: that start lies between 0 and the root, where the
/// distribution function is concave, so the iteration approaches the root from one side and cannot overshoot.
pub fn t_quantile(p: f64, df: f64) -> f64 {
    if !(p > 0.0 && p < 1.0 && df > 0.0) {
        return f64::NAN;
    }
    let tail = p.min(1.0 - p);
    let ln_scale = ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df) - 0.5 * (df * std::f64::consts::PI).ln();
    let mut t = normal_quantile(1.0 - tail);
    for _ in 0..500 {
        let density = (ln_scale - 0.5 * (df + 1.0) * (t * t / df).ln_1p()).exp();
        let step = (t_upper_tail(t, df) - tail) / density;
        t += step;
        if step.abs() <= 1e-13 * t.abs().max(1.0) {
            break;
        }
    }
    if p < 0.5 { -t } else { t }
}

/// Quantile of the beta distribution with shapes `a, b > 0`; `p` in [0, 1].
///
/// Bisection on the regularised incomplete beta function, to the last bit or so.
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        match checked_beta_reg(a, b, middle) {
            Ok(cdf) if cdf < p => low = middle,
            Ok(_) => high = middle,
            Err(_) => return f64::NAN,
        }
    }
    0.5 * (low + high)
}

/// `P[X <= x]` for `X` binomial with `n` trials of probability `p` in [0, 1].
pub fn binomial_cdf(x: u64, n: u64, p: f64) -> f64 {
    if x >= n {
        return 1.0;
    }
    // P[X <= x] = I_{1-p}(n - x, x + 1).
    checked_beta_reg((n - x) as f64, x as f64 + 1.0, 1.0 - p).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_printed_tables() {
        for (p, df, t) in [
            (0.975, 1.0, 12.706_204_736),
            (0.975, 7.0, 2.364_624_252),
            (0.975, 19.0, 2.093_024_054),
            (0.95, 10.0, 1.812_461_123),
            (0.995, 3.0, 5.840_909_310),
            (0.025, 49.0, -2.009_575_237),
        ] {
            assert!((t_quantile(p, df) - t).abs() < 1e-8, "t({p}, {df}) = {}", t_quantile(p, df));
        }
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!((t_quantile(0.975, 1e7) - 1.959_964).abs() < 1e-5);
    }

    #[test]
    fn binomial_agrees_with_direct_summation() {
        for (x, n, p) in [(0_u64, 59_u64, 0.05_f64), (3, 153, 0.05), (5, 12, 0.5), (11, 12, 0.9)] {
            let mut term = (1.0 - p).powi(i32::try_from(n).unwrap());
            let mut sum = 0.0;
            for k in 0..=x {
                sum += term;
                term *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
            }
            assert!((binomial_cdf(x, n, p) - sum).abs() < 1e-12, "{x} of {n}");
        }
    }

    #[test]
    fn beta_quantile_inverts_at_corpus_sizes() {
        for n in [10.0, 1e3, 1e5, 1e6] {
            for share in [0.001, 0.02, 0.5] {
                let (a, b) = (n * share + 1.0, n * (1.0 - share));
                let q = beta_quantile(0.975, a, b);
                let normal = a / (a + b) + 1.96 * (a * b / ((a + b).powi(2) * (a + b + 1.0))).sqrt();
                assert!(n < 1e5 || (q / normal - 1.0).abs() < 0.02, "n {n} share {share}: {q} {normal}");
                assert!((checked_beta_reg(a, b, q).unwrap() - 0.975).abs() < 1e-9);
            }
        }
    }
}
