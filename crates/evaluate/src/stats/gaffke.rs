//! P-values of "the mean of independent bounded losses is at least alpha", valid for any number of losses and any
//! distribution.
//!
//! A loss L in [0, 1] enters as its surplus, alpha - L, which is at least -slack, where slack = 1 - alpha; under the
//! null hypothesis the means of the surpluses sum to at most 0.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::distribution::normal_quantile;
use super::exponential_sums::chance_of_more;

/// Surpluses of independent tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surpluses {
    /// One per task; positive values are evidence of a small risk.
    pub values: Vec<f64>,
    /// The surplus of a task without any loss.
    alpha: f64,
}

/// The bets of [`Surpluses::betting`] with their weights; a bet is in eighths of the largest one allowed.
pub(super) const BETS: [(f64, f64); 8] = [
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
    pub fn from_losses(losses: impl IntoIterator<Item = f64>, alpha: f64) -> Self {
        Self { values: losses.into_iter().map(|loss| alpha - loss).collect(), alpha }
    }

    /// The most that a task can lose against `alpha`: no surplus is below `-slack`.
    fn slack(&self) -> f64 {
        1.0 - self.alpha
    }

    /// The mean; `None` without tasks.
    pub fn mean(&self) -> Option<f64> {
        if self.values.is_empty() {
            return None;
        }
        Some(self.values.iter().sum::<f64>() / self.values.len() as f64)
    }

    /// `P[slack E_0 >= sum surplus_k E_k]` for independent standard exponential E: a valid p-value for any number of
    /// independent tasks and any distribution. With losses 0 and 1 it is the exact binomial p-value. 1 without a
    /// positive surplus.
    ///
    /// Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
    /// variable; validity: Vlassis & Thomas (2026), arXiv 2607.08415, theorem 1. Computed as the frustum of a simplex
    /// after Varsi (1973) and Ali (1973), which adds positive terms only; for many tasks, where that takes the product of
    /// those with a positive and those with a negative surplus, as an integral.
    pub fn gaffke(&self) -> f64 {
        self.sides().map_or(1.0, |sides| sides.p_value())
    }

    /// `None` if there is no p-value.
    fn sides(&self) -> Option<Sides> {
        if self.slack().is_nan() || self.slack() <= 0.0 || self.values.iter().any(|value| value.is_nan()) {
            return None;
        }
        Some(Sides::new(&grouped(&self.values), self.slack()))
    }

    /// The fewest further tasks, all clean, with which [`Self::gaffke`] is at most `delta`; 0 if it already is. `None`
    /// beyond a million.
    pub fn clean_tasks_needed(&self, delta: f64) -> Option<u64> {
        const MOST: u64 = 1_000_000;
        let mut race = Race::between(&self.sides().filter(|_| self.alpha > 0.0)?);
        let mut added = 0;
        while added < MOST && race.p_value() > delta {
            race.add(self.alpha);
            added += 1;
        }
        if race.p_value() <= delta { Some(added) } else { None }
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
        let (mut low, mut high) = (0.0, (1.0 - 1e-12) / self.slack());
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
        if growth > 0.0 { Some(tasks) } else { None }
    }

    /// Wealth of a mixture of eight constant bets with a total stake of 1. Under the null hypothesis it is a
    /// supermartingale over tasks as they arrive, so its inverse is a p-value that may be checked after every task.
    ///
    /// Ville (1939); Waudby-Smith & Ramdas (2024), Estimating means of bounded random variables by betting, JRSS B 86.
    pub fn wealth(&self) -> f64 {
        let path = |bet: f64| self.values.iter().map(|value| (bet * value / self.slack()).ln_1p()).sum::<f64>().exp();
        BETS.iter().map(|(eighths, weight)| weight * path(eighths / 8.0)).sum()
    }

    /// The p-value of [`Self::wealth`], at most 1.
    pub fn betting(&self) -> f64 {
        let wealth = self.wealth();
        if wealth > 1.0 { 1.0 / wealth } else { 1.0 }
    }
}

/// The most pairs of a positive and a negative surplus that the recursion takes.
const MOST_PAIRS: usize = 1_500;
/// A probability below this counts as 0.
const NEGLIGIBLE: f64 = 1e-18;
/// A probability from here on counts as 1.
const CERTAIN: f64 = 1.0 - 1e-16;

/// A value with the number of tasks that have it.
type Group = (f64, usize);

/// The distinct values in rising order, so that no result depends on the order of the tasks, to the byte.
fn grouped(values: &[f64]) -> Vec<Group> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|equal| (equal[0], equal.len())).collect()
}

/// The two sums that [`Surpluses::gaffke`] compares.
struct Sides {
    /// The positive surpluses, in rising order.
    good: Vec<Group>,
    /// The absolute values of the negative ones, in rising order after the slack.
    bad: Vec<Group>,
}

impl Sides {
    /// From the surpluses in rising order.
    fn new(surpluses: &[Group], slack: f64) -> Self {
        let mut bad = vec![(slack, 1)];
        bad.extend(surpluses.iter().rev().filter(|(value, _)| *value < 0.0).map(|(value, n)| (-value, *n)));
        Self { good: surpluses.iter().copied().filter(|(value, _)| *value > 0.0).collect(), bad }
    }

    fn p_value(&self) -> f64 {
        let tasks = |side: &[Group]| side.iter().map(|(_, n)| n).sum::<usize>();
        let many = tasks(&self.good) * tasks(&self.bad) > MOST_PAIRS;
        let integral = if many { chance_of_more(&self.bad, &self.good) } else { None };
        integral.unwrap_or_else(|| Race::between(self).p_value())
    }
}

/// The recursion behind [`Surpluses::gaffke`].
struct Race {
    /// The absolute values of the negative surpluses, the slack first.
    bad: Vec<f64>,
    /// For each number of them, from none: the probability that their weighted sum is at least that of the positive
    /// surpluses added so far. Never falls from one to the next.
    chances: Vec<f64>,
    /// All chances before this one, and this one, count as 0.
    first: usize,
}

impl Race {
    fn between(sides: &Sides) -> Self {
        let bad: Vec<f64> = sides.bad.iter().flat_map(|(value, n)| std::iter::repeat_n(*value, *n)).collect();
        let mut chances = vec![1.0; bad.len() + 1];
        chances[0] = 0.0;
        let mut race = Self { bad, chances, first: 0 };
        for (value, n) in &sides.good {
            for _ in 0..*n {
                race.add(*value);
            }
        }
        race
    }

    /// Adds a positive surplus. Chances that are 0 or 1 to the last digit stay as they are.
    fn add(&mut self, good: f64) {
        let last = self.bad.len();
        for at in self.first..last {
            let bad = self.bad[at];
            let chance = (bad * self.chances[at + 1] + good * self.chances[at]) / (good + bad);
            self.chances[at + 1] = chance;
            if chance >= CERTAIN {
                break;
            }
        }
        while self.first + 1 < last && self.chances[self.first + 1] < NEGLIGIBLE {
            self.first += 1;
            self.chances[self.first] = 0.0;
        }
    }

    fn p_value(&self) -> f64 {
        self.chances[self.bad.len()]
    }
}

/// The upper confidence bound at `1 - delta` on the mean of independent losses in [0, 1]: the smallest mean that
/// Gaffke's test rejects, to 1e-10. 1 without losses.
///
/// Regula falsi on the logarithm of the p-value, with the Illinois rule (Dowell & Jarratt 1971), from where the bound would be
/// if means were normal: 5 to 10 tests, seldom more. The mean returned is always one that the test rejects.
pub fn upper_bound(losses: &[f64], delta: f64) -> f64 {
    if losses.is_empty() {
        return 1.0;
    }
    let groups = grouped(losses);
    let print = fingerprint(&groups, delta);
    if let Some(bound) = known_bounds().get(&print) {
        return *bound;
    }
    let bound = bound_of_groups(&groups, losses.len() as f64, delta);
    let mut known = known_bounds();
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    known.insert(print, bound);
    bound
}

/// The most bounds that are kept.
const MOST_KNOWN: usize = 1 << 16;

/// The bounds so far: a comparison asks for most of its bounds several times, for its tables, parts, verdict, notes and
/// figures.
fn known_bounds() -> MutexGuard<'static, HashMap<u128, f64>> {
    static KNOWN: LazyLock<Mutex<HashMap<u128, f64>>> = LazyLock::new(Mutex::default);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells losses and probabilities from others.
fn fingerprint(groups: &[Group], delta: f64) -> u128 {
    let mut bytes = delta.to_le_bytes().to_vec();
    for (loss, tasks) in groups {
        bytes.extend(loss.to_le_bytes());
        bytes.extend(tasks.to_le_bytes());
    }
    xxh3_128(&bytes)
}

/// The bound of `n` losses.
fn bound_of_groups(losses: &[Group], n: f64, delta: f64) -> f64 {
    let mean = losses.iter().map(|(loss, tasks)| loss * *tasks as f64).sum::<f64>() / n;
    if mean > 1.0 - 1e-12 {
        return 1.0;
    }
    let excess = |mean: f64| {
        let surpluses: Vec<Group> = losses.iter().rev().map(|(loss, tasks)| (mean - loss, *tasks)).collect();
        Sides::new(&surpluses, 1.0 - mean).p_value().ln() - delta.ln()
    };
    let variance = losses.iter().map(|(loss, tasks)| (loss - mean).powi(2) * *tasks as f64).sum::<f64>() / n;
    let start = mean + normal_quantile(1.0 - delta).max(0.0) * (variance / n).sqrt() - delta.ln() / n;
    let Some([(mut low, mut above), (mut high, mut below)]) =
        bracket((mean, -delta.ln()), start.min(0.5 * (1.0 + mean)), excess)
    else {
        return 1.0;
    };
    let mut high_moved_last = None;
    while high - low > 1e-10 && below < -1e-9 {
        let secant = (low * below - high * above) / (below - above);
        let next = if low < secant && secant < high { secant } else { 0.5 * (low + high) };
        let value = excess(next);
        let moves_high = value <= 0.0;
        if moves_high {
            (high, below) = (next, value);
        } else {
            (low, above) = (next, value);
        }
        // The end that stays a second time counts for half, or it would stay for good.
        if high_moved_last == Some(moves_high) {
            *(if moves_high { &mut above } else { &mut below }) *= 0.5;
        }
        high_moved_last = Some(moves_high);
    }
    high
}

/// A mean that is not rejected and one that is, each with its excess, found from `start` in steps that double. `floor` is not
/// rejected, with an excess of at most its own. `None` if nothing below 1 is rejected.
fn bracket(floor: (f64, f64), start: f64, excess: impl Fn(f64) -> f64) -> Option<[(f64, f64); 2]> {
    let mut step = 0.2 * (start - floor.0);
    let mut last = (start, excess(start));
    if last.1 <= 0.0 {
        loop {
            let next = last.0 - step;
            if next <= floor.0 {
                return Some([floor, last]);
            }
            let value = excess(next);
            if value > 0.0 {
                return Some([(next, value), last]);
            }
            last = (next, value);
            step *= 2.0;
        }
    }
    while last.0 <= 1.0 - 1e-12 {
        let next = (last.0 + step).min(0.5 * (1.0 + last.0));
        let value = excess(next);
        if value <= 0.0 {
            return Some([last, (next, value)]);
        }
        last = (next, value);
        step *= 2.0;
    }
    None
}

/// Whether Gaffke's test rejects a mean of `mean` or more, so that [`upper_bound`] is at most `mean`, as it always is at
/// 1. False without losses.
pub fn is_bound(losses: &[f64], mean: f64, delta: f64) -> bool {
    if mean >= 1.0 {
        return !losses.is_empty();
    }
    Surpluses::from_losses(losses.iter().copied(), mean).gaffke() <= delta
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            let surpluses = Surpluses::from_losses(losses.iter().copied(), alpha);
            assert!((surpluses.gaffke() - p).abs() < 6e-7, "{parts:?}: {}", surpluses.gaffke());
            assert!((upper_bound(&losses, 0.1) - upper).abs() < 6e-7, "{parts:?}: {}", upper_bound(&losses, 0.1));
            assert!((surpluses.wealth() - wealth).abs() < 6e-7, "{parts:?}: {}", surpluses.wealth());
            let clean = [0.1, 0.05].map(|delta| surpluses.clean_tasks_needed(delta).unwrap());
            assert_eq!(clean, needed, "{parts:?}");
            assert_eq!(surpluses.tasks_at_this_rate(0.1), at_rate, "{parts:?}");
        }
    }

    /// The p-value by the whole recursion.
    fn whole(losses: &[f64], mean: f64) -> f64 {
        let mut good: Vec<f64> = losses.iter().map(|loss| mean - loss).filter(|value| *value > 0.0).collect();
        let mut bad: Vec<f64> = losses.iter().map(|loss| loss - mean).filter(|value| *value > 0.0).collect();
        good.sort_by(f64::total_cmp);
        bad.sort_by(f64::total_cmp);
        bad.insert(0, 1.0 - mean);
        let mut chances = vec![1.0; bad.len() + 1];
        chances[0] = 0.0;
        for value in good {
            for (at, bad) in bad.iter().enumerate() {
                chances[at + 1] = (bad * chances[at + 1] + value * chances[at]) / (value + bad);
            }
        }
        chances[bad.len()]
    }

    fn by_halving(losses: &[f64], delta: f64) -> f64 {
        let (mut low, mut high) = (losses.iter().sum::<f64>() / losses.len() as f64, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if whole(losses, middle) <= delta { high = middle } else { low = middle }
        }
        high
    }

    proptest! {
        #[test]
        fn the_bound_is_the_one_of_halving(
            clean in 0_usize..120, killed in prop::collection::vec((0_u32..6, 1_u32..6), 0..40),
            delta in prop_oneof![Just(0.05), Just(0.025), 0.0001..0.3_f64],
        ) {
            let shares = killed.iter().map(|(killed, of)| f64::from(*killed.min(of)) / f64::from(*of));
            let losses: Vec<f64> = std::iter::repeat_n(0.0, clean).chain(shares).collect();
            prop_assume!(!losses.is_empty());
            let bound = upper_bound(&losses, delta);
            prop_assert!((bound - by_halving(&losses, delta)).abs() < 2e-10, "{bound} {}", by_halving(&losses, delta));
            prop_assert!(bound >= 1.0 || whole(&losses, bound) <= delta + 1e-14);
        }

        #[test]
        fn the_band_holds_all_that_matters(
            clean in 0_usize..400, killed in prop::collection::vec(0.0..1.0_f64, 0..200), mean in 0.001..0.9_f64,
        ) {
            let losses: Vec<f64> = std::iter::repeat_n(0.0, clean).chain(killed).collect();
            let p = Surpluses::from_losses(losses.iter().copied(), mean).gaffke();
            prop_assert!((p - whole(&losses, mean)).abs() < 1e-13, "{p} {}", whole(&losses, mean));
        }

        /// With so many tasks that it is an integral: the recursion's value, to thirteen digits of it.
        #[test]
        fn many_tasks_have_the_same_p_value(
            clean in 300_usize..1_500, killed in prop::collection::vec((1_u32..9, 1_u32..9), 180..500), near in -0.5..1.5_f64,
        ) {
            let shares = killed.iter().map(|(killed, of)| f64::from(*killed.min(of)) / f64::from(*of));
            let losses: Vec<f64> = std::iter::repeat_n(0.0, clean).chain(shares).collect();
            let mean = losses.iter().sum::<f64>() / losses.len() as f64;
            let surpluses = Surpluses::from_losses(losses.iter().copied(), mean * (1.0 + 0.3 * near));
            let (p, exact) = (surpluses.gaffke(), whole(&losses, mean * (1.0 + 0.3 * near)));
            prop_assert!((p - exact).abs() < 1e-13 + 1e-12 * exact, "{p} {exact}");
        }

        /// Where only a few tasks have a surplus that matters, too.
        #[test]
        fn surpluses_of_next_to_nothing_do_not_matter(few in 1_usize..4, many in 60_000_usize..70_000, tiny in 1e-17..1e-9_f64) {
            let losses: Vec<f64> = std::iter::repeat_n(0.25, few).chain(std::iter::repeat_n(0.5 + tiny, many)).collect();
            let p = Surpluses::from_losses(losses.iter().copied(), 0.5).gaffke();
            prop_assert!((p - whole(&losses, 0.5)).abs() < 1e-12, "{p} {}", whole(&losses, 0.5));
        }

        /// A further kill never lowers the bound, a further task without a kill never raises it.
        #[test]
        fn the_bound_is_monotone(
            tasks in prop::collection::vec((0_u32..6, 1_u32..6), 1..60), which in any::<prop::sample::Index>(),
            delta in prop_oneof![Just(0.05), Just(0.025), 0.0001..0.3_f64],
        ) {
            let bound = |tasks: &[(u32, u32)]| {
                let losses: Vec<f64> = tasks.iter().map(|(killed, of)| f64::from(*killed.min(of)) / f64::from(*of)).collect();
                upper_bound(&losses, delta)
            };
            let before = bound(&tasks);
            let mut more = tasks.clone();
            which.get_mut(&mut more).0 += 1;
            prop_assert!(bound(&more) >= before - 1e-9, "{} {before}", bound(&more));
            let mut further = tasks.clone();
            further.push((0, 1));
            prop_assert!(bound(&further) <= before + 1e-9, "{} {before}", bound(&further));
        }
    }

    /// 64 tasks of 4 successes each, with 0 to 5 kills in different tasks; and 0 kills need 59 tasks for 5 %.
    #[test]
    fn one_kill_more_costs_two_fifths_of_a_point() {
        let bound = |clean: usize, killed: usize, share: f64| {
            100.0 * upper_bound(&repeat(&[(clean, 0.0), (killed, share)]), 0.05)
        };
        let expected = [4.573, 5.001, 5.427, 5.851, 6.273, 6.693];
        for (kills, expected) in expected.into_iter().enumerate() {
            assert!((bound(64 - kills, kills, 0.25) - expected).abs() < 1e-3, "{}", bound(64 - kills, kills, 0.25));
        }
        assert!(bound(59, 0, 1.0) <= 5.0 && bound(58, 0, 1.0) > 5.0);
    }

    #[test]
    fn it_is_the_binomial_tail_with_one_run_a_task_and_order_free() {
        let losses = repeat(&[(93, 0.0), (4, 1.0)]);
        let exact = crate::stats::distribution::binomial_cdf(4, 97, 0.05);
        let p = Surpluses::from_losses(losses.iter().copied(), 0.05).gaffke();
        assert!((p - exact).abs() < 1e-12, "{p} {exact}");
        let turned = Surpluses::from_losses(losses.iter().rev().copied(), 0.05).gaffke();
        assert_eq!(p.to_bits(), turned.to_bits());
        assert_eq!(Surpluses::from_losses([], 0.05).gaffke().to_bits(), 1.0_f64.to_bits());
    }
}
