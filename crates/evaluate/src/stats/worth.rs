//! The net benefit of stopping: what it saves per run, less the price of the successes it kills; and the break-even
//! price.
//!
//! Kills are rare, so a sample may hold few or none, and an interval from the spread of "saved less killed" would
//! ignore the kills that were not seen. Instead, saved and killed each get an interval by the method that holds for
//! it, both over all runs together, and the ends are combined into an interval for the difference (MOVER). The
//! break-even price uses the same ends, so the two cannot disagree.
//!
//! Zou & Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27; the ratio
//! after Donner & Zou (2012), Closed-form confidence intervals for functions of the normal mean and standard
//! deviation, Statistical Methods in Medical Research 21.

use super::cluster::{ClusterSums, spread};
use super::distribution::normal_quantile;
use super::estimate::{Estimate, Method, free_ratio_estimate};
use super::interval::Interval;
use super::lost::interval_of_lost;
use super::seldom::{Carried, EventAllowance};

/// What one task contributes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorthSums {
    /// Not spent by run, in any unit.
    saved: ClusterSums,
    /// Successes killed.
    killed: u64,
}

impl WorthSums {
    /// Adds one run: what was not spent, in any unit, and whether a success was killed.
    pub fn add(&mut self, saved: f64, is_killed: bool) {
        self.saved.add(saved, 1.0);
        self.killed += u64::from(is_killed);
    }

    /// Adds the runs of another part.
    pub fn merge(&mut self, part: &Self) {
        self.saved.merge(&part.saved);
        self.killed += part.killed;
    }

    /// The number of runs.
    pub fn runs(&self) -> u64 {
        self.saved.n
    }
}

/// Saved and killed per run.
struct WorthTerms {
    saved: Estimate,
    /// Killed, with its interval; `None` without runs.
    killed: Option<(f64, Option<Interval>)>,
}

impl WorthTerms {
    fn from_tasks(tasks: &[WorthSums], level: f64) -> Self {
        let saved: Vec<ClusterSums> = tasks.iter().map(|task| task.saved).collect();
        let killed: Vec<ClusterSums> =
            tasks.iter().map(|task| ClusterSums::from_counts(task.killed, task.runs())).collect();
        let mut estimate = free_ratio_estimate(&saved, level);
        let runs = estimate.n as f64;
        let carried = Carried::by_few_of_any(saved.iter().map(|task| task.numerator / runs), estimate.clusters);
        if let (Some(value), Some(interval), Some(carried)) = (estimate.value, estimate.interval, carried) {
            let z = normal_quantile(0.5 + 0.5 * level);
            let (low, high) = (value - carried.below(z), value + carried.above(z, EventAllowance::Full));
            estimate.interval = Some(interval.hull(Interval { low, high }));
        }
        let killed = spread(&killed).map(|killed| (killed.ratio, interval_of_lost(&killed, level)));
        Self { saved: estimate, killed }
    }

    /// The value of saved and of killed.
    fn values(&self) -> Option<(f64, f64)> {
        Some((self.saved.value?, self.killed?.0))
    }

    /// Both values with their intervals; `None` unless both have an interval.
    fn ends(&self) -> Option<[(f64, Interval); 2]> {
        let (saved, killed) = self.values()?;
        Some([(saved, self.saved.interval?), (killed, self.killed?.1?)])
    }

    /// The combined estimate, with the n, tasks and warning of what is saved.
    fn estimate(&self, value: Option<f64>, interval: Option<Interval>) -> Estimate {
        let method = if interval.is_some() { Method::Mover } else { Method::EstimateOnly };
        Estimate { value, interval, method, ..self.saved }
    }
}

/// Net benefit per run: saved, less `price` for every success killed. No interval below 20 tasks.
pub fn net_worth(tasks: &[WorthSums], price: f64, level: f64) -> Estimate {
    let parts = WorthTerms::from_tasks(tasks, level);
    let value = parts.values().map(|(saved, killed)| saved - price * killed);
    let interval = value.zip(parts.ends()).map(|(value, [(saved, s), (killed, k)])| Interval {
        low: value - (saved - s.low).hypot(price * (k.high - killed)),
        high: value + (s.high - saved).hypot(price * (killed - k.low)),
    });
    parts.estimate(value, interval)
}

/// The price of a lost success at which stopping breaks even: saved over killed. Undefined if nothing was killed,
/// since stopping then pays at any price; an upper end of infinity says that it may. No interval below 20 tasks, or if
/// possibly nothing is saved.
pub fn break_even(tasks: &[WorthSums], level: f64) -> Estimate {
    let parts = WorthTerms::from_tasks(tasks, level);
    let both = parts.values().filter(|(_, killed)| *killed > 0.0);
    let interval = parts.ends().filter(|[(_, saved), (killed, _)]| saved.low > 0.0 && *killed > 0.0);
    let interval = interval.map(|[(saved, s), (killed, k)]| {
        // The prices at which an end of the net benefit is 0: (saved - price killed)^2 equals the square of that side.
        let both = saved * killed;
        let of_saved = |end: f64| end * (2.0 * saved - end);
        let of_killed = |end: f64| end * (2.0 * killed - end);
        let root = |saved: f64, killed: f64| (both * both - of_saved(saved) * of_killed(killed)).max(0.0).sqrt();
        let scale = of_killed(k.low);
        let high = if scale > 0.0 { (both + root(s.high, k.low)) / scale } else { f64::INFINITY };
        Interval { low: of_saved(s.low) / (both + root(s.low, k.high)), high }
    });
    parts.estimate(both.map(|(saved, killed)| saved / killed), interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(killed: usize) -> Vec<WorthSums> {
        let task = |at: usize| {
            let mut task = WorthSums::default();
            task.add(1.0 + 0.1 * (at % 7) as f64, at < killed);
            if at % 2 == 1 {
                task.add(0.5, false);
            }
            task
        };
        (0..60).map(task).collect()
    }

    #[test]
    fn successes_killed_that_were_not_seen_count_too() {
        let tasks = corpus(0);
        let net = net_worth(&tasks, 100.0, 0.95);
        let saved = net_worth(&tasks, 0.0, 0.95);
        assert_eq!(net.value, saved.value);
        // None of 60 tasks: the upper limit is about 6 % of the runs.
        assert!(net.low().unwrap() < -2.0, "{net:?}");
        assert!(saved.low().unwrap() > 0.5, "{saved:?}");
        assert_eq!(break_even(&tasks, 0.95).value, None);
    }

    #[test]
    fn a_loss_has_an_interval_too() {
        let net = net_worth(&corpus(30), 10.0, 0.95);
        assert!(
            net.value.unwrap() < 0.0 && net.low().unwrap() < net.value.unwrap() && net.high().unwrap() < 0.0,
            "{net:?}"
        );
    }

    #[test]
    fn at_the_ends_of_the_break_even_the_worth_ends_at_0() {
        for killed in [2, 9, 30] {
            let tasks = corpus(killed);
            let even = break_even(&tasks, 0.95);
            let (value, interval) = (even.value.unwrap(), even.interval.unwrap());
            assert!(interval.low < value && value < interval.high, "{even:?}");
            assert!(net_worth(&tasks, value, 0.95).value.unwrap().abs() < 1e-9);
            assert!(net_worth(&tasks, interval.low, 0.95).low().unwrap().abs() < 1e-9);
            if interval.high.is_finite() {
                assert!(net_worth(&tasks, interval.high, 0.95).high().unwrap().abs() < 1e-9);
            }
        }
    }
}
