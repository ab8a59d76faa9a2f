//! The one estimand of rates: the mean over tasks of the share of a task's runs that have a property, with exact bounds.

use super::cluster::ClusterSums;
use super::estimate::{Estimate, Method};
use super::gaffke::upper_bound;
use super::interval::Interval;

/// The mean over tasks of numerator over denominator, each in [0, 1], over the tasks that have a denominator, with its
/// two-sided interval at `level`, in (0, 1). Undefined without such tasks.
///
/// Either end is an exact one-sided bound: in at most `(1 - level) / 2` of all samples of independent tasks the true mean
/// lies beyond it, whatever the distribution and however few the tasks are ([`upper_bound`]).
pub fn task_rate(tasks: &[ClusterSums], level: f64) -> Estimate {
    let tail = 0.5 * (1.0 - level);
    mean_over_tasks(tasks, tail, tail)
}

/// The same for what must not be too much, such as the share of the successes killed: the upper end is the one-sided
/// bound at `level`, so that the mean lies above it in at most `1 - level` of all samples. It never falls if a numerator
/// rises, and never rises if a task with numerator 0 is added. The lower end is that of [`task_rate()`].
pub fn loss_rate(tasks: &[ClusterSums], level: f64) -> Estimate {
    mean_over_tasks(tasks, 0.5 * (1.0 - level), 1.0 - level)
}

/// The mean with the probabilities that the truth lies below and above the interval.
fn mean_over_tasks(tasks: &[ClusterSums], below: f64, above: f64) -> Estimate {
    let (mut shares, mut others, mut n) = (Vec::new(), Vec::new(), 0);
    for task in tasks.iter().filter(|task| task.denominator > 0.0) {
        let share = task.numerator / task.denominator;
        shares.push(share);
        others.push(1.0 - share);
        n += task.n;
    }
    if shares.is_empty() {
        return Estimate::UNDEFINED;
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let low = if mean > 0.0 { (1.0 - upper_bound(&others, below)).max(0.0) } else { 0.0 };
    Estimate {
        value: Some(mean),
        interval: Some(Interval { low, high: upper_bound(&shares, above) }),
        n,
        clusters: shares.len() as u64,
        method: Method::Gaffke,
        warning: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(parts: &[(usize, u64, u64)]) -> Vec<ClusterSums> {
        let of = |(n, lost, all): &(usize, u64, u64)| std::iter::repeat_n(ClusterSums::from_counts(*lost, *all), *n);
        parts.iter().flat_map(of).collect()
    }

    /// A task counts as one whatever its size; both ends are Gaffke's, of the losses and of what is kept.
    #[test]
    fn it_is_the_mean_over_tasks_between_its_two_bounds() {
        let rate = loss_rate(&tasks(&[(1, 180, 200), (99, 0, 2), (3, 0, 0)]), 0.95);
        assert!((rate.value.unwrap() - 0.009).abs() < 1e-12);
        assert_eq!((rate.n, rate.clusters), (398, 100));
        let high = upper_bound(&[vec![0.9], vec![0.0; 99]].concat(), 0.05);
        let low = 1.0 - upper_bound(&[vec![0.1], vec![1.0; 99]].concat(), 0.025);
        let interval = rate.interval.unwrap();
        assert!((interval.low - low).abs() < 1e-9 && (interval.high - high).abs() < 1e-9, "{interval:?}");
        assert!(low > 0.0 && low < 0.009 && high > 0.04 && high < 0.05, "{low} {high}");
    }

    /// In how many of 400 samples the bound is at most 5 %: `n` tasks of two trials, of which three in five succeed, and a stack
    /// that kills a success with a probability of `rate`.
    fn ships(n: usize, rate: f64) -> u32 {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut chance = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut shipped = 0;
        for _ in 0..400 {
            let mut tasks = Vec::new();
            while tasks.len() < n {
                let (mut lost, mut all) = (0, 0);
                for _ in 0..2 {
                    let succeeds = chance() < 0.6;
                    all += u64::from(succeeds);
                    lost += u64::from(succeeds && chance() < rate);
                }
                tasks.extend((all > 0).then(|| ClusterSums::from_counts(lost, all)));
            }
            shipped += u32::from(loss_rate(&tasks, 0.95).high().is_some_and(|most| most <= 0.05));
        }
        shipped
    }

    /// A stack that kills what is just not tolerated passes in at most 5 % of the samples; one that kills 1.4 % in most.
    #[test]
    fn what_is_false_seldom_passes_and_what_is_true_mostly_does() {
        let (false_ones, true_ones) =
            ([100, 150, 200].map(|n| ships(n, 0.0501)), [100, 150, 200].map(|n| ships(n, 0.014)));
        assert!(false_ones.iter().all(|shipped| *shipped <= 20), "{false_ones:?}");
        for (shipped, least) in true_ones.into_iter().zip([30, 55, 75]) {
            assert!(shipped >= 4 * least, "{true_ones:?}");
        }
    }

    /// With one success a task the ends are those of Clopper and Pearson: 3 of 100 is at most 7.5711 %, at least 0.6230 %.
    #[test]
    fn with_one_success_a_task_it_is_exact() {
        let interval = loss_rate(&tasks(&[(3, 1, 1), (97, 0, 1)]), 0.95).interval.unwrap();
        assert!((interval.high - 0.075_711).abs() < 1e-6 && (interval.low - 0.006_230).abs() < 1e-6, "{interval:?}");
        let none = loss_rate(&tasks(&[(59, 0, 1)]), 0.95).interval.unwrap();
        assert!(none.low == 0.0 && (none.high - 0.049_508).abs() < 1e-6, "{none:?}");
        assert_eq!(loss_rate(&tasks(&[(2, 1, 1)]), 0.95).high(), Some(1.0));
        assert_eq!(loss_rate(&[], 0.95), Estimate::UNDEFINED);
    }
}
