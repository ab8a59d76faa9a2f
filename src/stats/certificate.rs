//! Risk-controlled choice: the most aggressive setting whose rate of false early stops is at most alpha, with
//! confidence 1 - delta over new tasks of the same kind. When none qualifies it says what is missing; there is no fallback.
//!
//! Angelopoulos, Bates, Candes, Jordan & Lei (2021), Learn then test, arXiv 2110.01052.

use super::distribution::binomial_cdf;
use super::multiplicity::holm;

/// What calibration knows: for every task its successful runs, for every setting how many of them it stopped early.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    /// Successful runs of each task. Tasks without any drop out.
    pub successes: Vec<u64>,
    /// For each setting, from conservative to aggressive (an order fixed before these data were seen): the false early
    /// stops of each task, in the order of `successes`, at most as many.
    pub early_stops: Vec<Vec<u64>>,
}

/// How the p-values were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// Every task has one successful run: the exact binomial tail.
    Binomial,
    /// Hoeffding-Bentkus for task losses in [0, 1].
    HoeffdingBentkus,
}

impl Bound {
    /// The name on the certificate.
    pub fn name(self) -> &'static str {
        match self {
            Self::Binomial => "exact-binomial",
            Self::HoeffdingBentkus => "hoeffding-bentkus",
        }
    }

    /// The p-value of "the risk exceeds alpha", from task losses that sum to `loss_sum` over `tasks` tasks.
    pub fn p_value(self, loss_sum: f64, tasks: u64, alpha: f64) -> f64 {
        match self {
            Self::Binomial => binomial_cdf(ceiling(loss_sum), tasks, alpha),
            Self::HoeffdingBentkus => hoeffding_bentkus(loss_sum, tasks, alpha),
        }
    }
}

/// One setting on the walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The mean over tasks of the share of successful runs stopped early.
    pub risk: f64,
    /// P-value of "the risk exceeds alpha".
    pub p: f64,
    /// True if it was reached and passed.
    pub passed: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This setting (an index into the settings) is certified.
    Certified(usize),
    /// No setting can be certified; even if all further tasks were clean, at least this many more are needed.
    NeedsMoreTasks(u64),
    /// No setting can be certified and no number of tasks was found that would do it (up to 10 million):
    /// alpha or delta is 0, or there are no settings.
    Impossible,
}

/// The certificate, or the refusal.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Highest tolerated risk.
    pub alpha: f64,
    /// Chance that the certificate is wrong.
    pub delta: f64,
    /// Tasks with at least one successful run.
    pub tasks: u64,
    /// How the p-values were made.
    pub bound: Bound,
    /// The settings, in the order given.
    pub tested: Vec<Tested>,
    /// The setting chosen, or what is missing.
    pub verdict: Verdict,
}

/// Fixed-sequence testing: walks from the most conservative setting while each passes at `delta`, and chooses the last.
pub fn certify(calibration: &Calibration, alpha: f64, delta: f64) -> Certificate {
    let mut certificate = evaluate(calibration, alpha, delta);
    let mut chosen = None;
    for (at, tested) in certificate.tested.iter_mut().enumerate() {
        if tested.p > delta || tested.p.is_nan() {
            break;
        }
        tested.passed = true;
        chosen = Some(at);
    }
    // The walk never gets past its first setting unless that one passes, so that one says what is missing.
    let first = calibration.early_stops.first().map(|stops| loss_sum(&calibration.successes, stops));
    certificate.verdict = chosen.map_or_else(|| refusal(first, &certificate, delta), Verdict::Certified);
    certificate
}

/// For settings without an order: Holm over all of them, then the passing one that comes last in `preference`
/// (positions from least to most wanted, for example by tokens saved on the development split).
pub fn certify_unordered(calibration: &Calibration, preference: &[usize], alpha: f64, delta: f64) -> Certificate {
    let mut certificate = evaluate(calibration, alpha, delta);
    let adjusted = holm(&certificate.tested.iter().map(|tested| tested.p).collect::<Vec<_>>());
    for (tested, p) in certificate.tested.iter_mut().zip(adjusted) {
        tested.passed = p <= delta;
    }
    let passed = |at: &&usize| certificate.tested.get(**at).is_some_and(|tested| tested.passed);
    let losses = calibration.early_stops.iter().map(|stops| loss_sum(&calibration.successes, stops));
    let least = losses.min_by(f64::total_cmp);
    let strictest = delta / certificate.tested.len().max(1) as f64;
    certificate.verdict = preference
        .iter()
        .rev()
        .find(passed)
        .map_or_else(|| refusal(least, &certificate, strictest), |at| Verdict::Certified(*at));
    certificate
}

/// The p-value of "at least one of several risks is too high": the largest of theirs.
pub fn joint_p(p_values: &[f64]) -> Option<f64> {
    p_values.iter().copied().reduce(f64::max)
}

/// The Hoeffding-Bentkus p-value of "the mean of losses in [0, 1] exceeds `alpha`", for `n` losses summing to `loss_sum`:
/// `min(exp(-n h(min(R, alpha), alpha)), e P[Bin(n, alpha) <= ceil(n R)])`, 1 without losses.
///
/// Bates, Angelopoulos, Lei, Malik & Jordan (2021), Distribution-free, risk-controlling prediction sets, JACM 68.
pub fn hoeffding_bentkus(loss_sum: f64, n: u64, alpha: f64) -> f64 {
    let risk = loss_sum / n as f64;
    if n == 0 || risk >= alpha || !(alpha > 0.0 && alpha < 1.0) {
        return 1.0;
    }
    let hoeffding = (-(n as f64) * relative_entropy(risk, alpha)).exp();
    let bentkus = std::f64::consts::E * binomial_cdf(ceiling(loss_sum), n, alpha);
    hoeffding.min(bentkus).min(1.0)
}

/// Relative entropy of a coin with share `a` to one with share `b`, `0 <= a < b < 1`.
fn relative_entropy(a: f64, b: f64) -> f64 {
    let heads = if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    heads + (1.0 - a) * ((1.0 - a) / (1.0 - b)).ln()
}

/// The smallest whole number not below a sum of shares; sums of thirds may be off by rounding.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of losses in [0, 1] over tasks")]
fn ceiling(loss_sum: f64) -> u64 {
    (loss_sum - 1e-9).ceil().max(0.0) as u64
}

fn evaluate(calibration: &Calibration, alpha: f64, delta: f64) -> Certificate {
    let tasks = calibration.successes.iter().filter(|successes| **successes > 0).count() as u64;
    let one_each = calibration.successes.iter().all(|successes| *successes <= 1);
    let bound = if one_each { Bound::Binomial } else { Bound::HoeffdingBentkus };
    let tested = calibration
        .early_stops
        .iter()
        .map(|early_stops| {
            let loss_sum = loss_sum(&calibration.successes, early_stops);
            Tested { risk: loss_sum / tasks as f64, p: bound.p_value(loss_sum, tasks, alpha), passed: false }
        })
        .collect();
    Certificate { alpha, delta, tasks, bound, tested, verdict: Verdict::Impossible }
}

/// Sum over tasks of the share of successful runs stopped early.
fn loss_sum(successes: &[u64], early_stops: &[u64]) -> f64 {
    let shares = successes.iter().zip(early_stops).filter(|(successes, _)| **successes > 0);
    shares.map(|(successes, stopped)| *stopped as f64 / *successes as f64).sum()
}

/// The fewest further clean tasks with which a setting whose losses sum to `loss_sum` would have p <= `threshold`.
fn refusal(loss_sum: Option<f64>, certificate: &Certificate, threshold: f64) -> Verdict {
    let Some(least) = loss_sum else { return Verdict::Impossible };
    tasks_needed(certificate.bound, least, certificate.alpha, threshold)
        .map_or(Verdict::Impossible, |needed| Verdict::NeedsMoreTasks(needed.saturating_sub(certificate.tasks).max(1)))
}

/// The fewest tasks, with losses that sum to `loss_sum`, at which the p-value is at most `delta`; `None` beyond 10 million.
pub fn tasks_needed(bound: Bound, loss_sum: f64, alpha: f64, delta: f64) -> Option<u64> {
    const MOST: u64 = 10_000_000;
    let enough = |tasks: u64| bound.p_value(loss_sum, tasks, alpha) <= delta;
    let mut high = ceiling(loss_sum).max(1);
    while !enough(high) {
        high = high.checked_mul(2).filter(|high| *high <= MOST)?;
    }
    let mut low = 0;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
