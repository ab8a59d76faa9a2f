//! The walk of one family from cautious to bold, and how far it is certified.

use super::rate::EffectsByLimit;
use super::{Fate, Study, names_too_few_tasks};
use crate::stats::Bound;
use crate::stats::distribution::binomial_cdf;
use crate::stats::gaffke::Surpluses;
use crate::transcript::Outcome;

/// The requirements for what is shipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Appetite {
    /// The share of successes that may be killed, averaged over tasks.
    pub alpha: f64,
    /// The probability that the certificate is wrong.
    pub delta: f64,
    /// The test behind the p-values.
    pub bound: Bound,
    /// What a lost success costs, in dollars: if given, the certified limit that is worth most is chosen, not the one
    /// that makes successes cheapest.
    pub lost_success_costs: Option<f64>,
}

/// The number of tasks with a success, none of them killed, that certify `alpha` at `delta`.
pub fn clean_tasks_needed(alpha: f64, delta: f64) -> u64 {
    let needed = (delta.ln() / (-alpha).ln_1p()).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of tasks")]
    if needed.is_finite() { needed.max(1.0) as u64 } else { u64::MAX }
}

/// The number of further tasks with a success, none of them killed, after which a limit would pass at `delta` that now has
/// the p-value `p` by the exact binomial tail on `n` tasks. `None` if `p` is no such tail, or more than 10,000 are missing.
pub fn clean_tasks_missing(p: f64, n: u64, alpha: f64, delta: f64) -> Option<u64> {
    const MOST: u64 = 10_000;
    let killed = (0..n).find(|killed| (binomial_cdf(*killed, n, alpha) - p).abs() < 1e-9)?;
    (1..=MOST).find(|more| binomial_cdf(killed, n + more, alpha) <= delta)
}

/// What one limit kills, by task.
#[derive(Clone, Debug, Default)]
struct Losses(Vec<Loss>);

/// For one task, the share of successful runs that are killed, and whether its picked run is.
#[derive(Clone, Copy, Debug)]
struct Loss {
    task: usize,
    share: f64,
    picked: bool,
}

/// What the limits of every family kill, precomputed so that walks on any tasks need no replay.
pub(super) struct Walks<'s> {
    pub(super) study: &'s Study,
    /// For each family, the losses of its limits in order, up to the limit that kills in more than half of the tasks:
    /// no walk gets that far.
    losses: Vec<Vec<Losses>>,
    /// What the limits do, as far as anybody asked.
    pub(super) effects: EffectsByLimit,
}

/// How far one family is certified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    /// The family's index.
    pub family: usize,
    /// The share of delta that it may spend, as a probability.
    pub delta: f64,
    /// Number of limits that passed, from the most cautious on.
    pub passed: usize,
    /// The p-value of the last limit that passed.
    pub p: Option<f64>,
    /// The p-value of the first limit that did not.
    pub p_next: Option<f64>,
}

impl Walk {
    /// The index of the boldest limit that passed.
    pub fn boldest(&self) -> Option<usize> {
        self.passed.checked_sub(1)
    }
}

impl<'s> Walks<'s> {
    /// Precomputes what every limit of every family kills.
    pub(super) fn of(study: &'s Study) -> Self {
        let n_tasks = study.with_success(&study.all_tasks());
        let losses = (0..study.families().len()).map(|family| losses_of(study, family, n_tasks)).collect();
        Self { study, losses, effects: EffectsByLimit::default() }
    }

    /// Walks one family on some of the tasks, spending `delta`.
    pub(super) fn walk(&self, family: usize, tasks: &[usize], alpha: f64, delta: f64, bound: Bound) -> Walk {
        let mut is_in = vec![false; self.study.tasks().len()];
        for task in tasks {
            is_in[*task] = true;
        }
        let n = self.study.with_success(tasks);
        let mut walk = Walk { family, delta, passed: 0, p: None, p_next: None };
        if names_too_few_tasks(self.study.without_task(), self.study.runs().len()) {
            return walk;
        }
        let mut last: Option<(Vec<(usize, u64)>, f64)> = None;
        for losses in &self.losses[family] {
            let here: Vec<&Loss> = losses.0.iter().filter(|loss| is_in[loss.task]).collect();
            // Neighbouring limits mostly kill the same runs, so p-values are reused.
            let key: Vec<(usize, u64)> =
                here.iter().map(|loss| (2 * loss.task + usize::from(loss.picked), loss.share.to_bits())).collect();
            let p = match last.take().filter(|(known, _)| *known == key) {
                Some((_, p)) => p,
                None => p_value(&here, n, alpha, bound),
            };
            last = Some((key, p));
            if p > delta || p.is_nan() {
                walk.p_next = Some(p);
                break;
            }
            walk.passed += 1;
            walk.p = Some(p);
        }
        walk
    }
}

fn p_value(losses: &[&Loss], n: u64, alpha: f64, bound: Bound) -> f64 {
    if n == 0 {
        return 1.0;
    }
    match bound {
        Bound::OneRun => binomial_cdf(losses.iter().filter(|loss| loss.picked).count() as u64, n, alpha),
        Bound::Binomial | Bound::Gaffke | Bound::Betting => {
            let clean = usize::try_from(n).unwrap_or(usize::MAX).saturating_sub(losses.len());
            let shares = losses.iter().map(|loss| loss.share).chain(std::iter::repeat_n(0.0, clean));
            bound.p_value(&Surpluses::of_losses(shares, alpha))
        }
    }
}

/// The p-value from the tasks with a success: for each, whether its picked run is killed, and the share of its
/// successes killed.
pub(super) fn p_value_of_picked(tasks: &[(bool, f64)], alpha: f64, bound: Bound) -> f64 {
    let losses: Vec<Loss> = tasks
        .iter()
        .filter(|(picked, share)| *picked || *share > 0.0)
        .map(|(picked, share)| Loss { task: 0, share: *share, picked: *picked })
        .collect();
    p_value(&losses.iter().collect::<Vec<_>>(), tasks.len() as u64, alpha, bound)
}

fn losses_of(study: &Study, family: usize, n_tasks: u64) -> Vec<Losses> {
    let mut all = Vec::new();
    let limits = study.families()[family].limits();
    let has_unread = study.unread_by(family).next().is_some();
    let range = study.range(family);
    for limit in limits {
        let mut losses = Losses::default();
        if !has_unread && !range.is_some_and(|(low, high)| study.fires_within(family, *limit, low, high)) {
            all.push(losses);
            continue;
        }
        for (at, task) in study.tasks().iter().enumerate().filter(|(_, task)| task.picked.is_some()) {
            let is_killed = |run: usize| {
                if study.is_unread(family, run) {
                    return study.loses(run, Fate::Unread);
                }
                study.first(family, *limit, run).is_some_and(|end| study.runs()[run].kills(end))
            };
            let (mut killed, mut successes) = (0_u32, 0_u32);
            for run in task.runs.clone().filter(|run| study.runs()[*run].outcome() == Outcome::Success) {
                killed += u32::from(is_killed(run));
                successes += 1;
            }
            if killed > 0 {
                let picked = task.picked.is_some_and(is_killed);
                losses.0.push(Loss { task: at, share: f64::from(killed) / f64::from(successes), picked });
            }
        }
        let is_far = losses.0.iter().map(|loss| loss.share).sum::<f64>() > 0.5 * n_tasks as f64;
        all.push(losses);
        if is_far {
            break;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_tasks_needed_are_those_of_the_design() {
        let needed = |share: f64| [0.1, 0.05, 0.02].map(|alpha| clean_tasks_needed(alpha, 0.1 * share));
        assert_eq!(needed(0.5), [29, 59, 149]);
        assert_eq!(needed(0.1), [44, 90, 228]);
        assert_eq!(clean_tasks_needed(0.0, 0.1), u64::MAX);
    }

    #[test]
    fn clean_tasks_are_missing_up_to_those_needed() {
        assert_eq!(clean_tasks_missing(binomial_cdf(0, 89, 0.05), 89, 0.05, 0.01), Some(1));
        assert_eq!(clean_tasks_missing(binomial_cdf(0, 40, 0.05), 40, 0.05, 0.01), Some(50));
        let one = clean_tasks_missing(binomial_cdf(1, 89, 0.05), 89, 0.05, 0.01).unwrap();
        assert!(binomial_cdf(1, 89 + one, 0.05) <= 0.01 && binomial_cdf(1, 88 + one, 0.05) > 0.01);
        assert_eq!(clean_tasks_missing(0.5, 89, 0.05, 0.01), None, "no tail of 89 tasks");
    }
}
