//! The walk of one family from cautious to bold, and how far it is certified.

use super::{Family, Fate, Study, names_too_few_tasks};
use crate::stats::Bound;
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

/// One task of which a limit kills a success, or may: a run without an outcome is a success where it may be killed.
#[derive(Clone, Copy, Debug)]
struct Loss {
    task: usize,
    /// The share of its successes that is killed.
    share: f64,
    /// Whether it has a success whose outcome is known.
    has_success: bool,
}

/// Tunes on different sets of tasks repeatedly: what the limits of every family kill is computed once, and no walk needs
/// a replay.
pub struct Tuner<'s> {
    pub(super) study: &'s Study,
    /// For each family, the losses of its limits in order, up to the limit that kills in more than half of the tasks:
    /// no walk gets that far.
    losses: Vec<Vec<Vec<Loss>>>,
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

impl<'s> Tuner<'s> {
    /// Precomputes what every limit of every family kills.
    pub fn new(study: &'s Study) -> Self {
        let n_tasks = study.with_success(&study.all_tasks());
        let losses = (0..study.families().len()).map(|family| losses_of(study, family, n_tasks)).collect();
        Self { study, losses }
    }

    /// The study it tunes on.
    pub fn study(&self) -> &'s Study {
        self.study
    }

    /// Walks one family on some of the tasks, spending `delta`.
    pub(super) fn walk(&self, family: usize, tasks: &[usize], alpha: f64, delta: f64, bound: Bound) -> Walk {
        let mut walk = Walk { family, delta, passed: 0, p: None, p_next: None };
        if !names_too_few_tasks(self.study.without_task(), self.study.runs().len()) {
            self.walk_on(&mut walk, tasks, alpha, delta, bound);
        }
        walk
    }

    /// Goes on with a walk that may spend `delta` now.
    fn walk_on(&self, walk: &mut Walk, tasks: &[usize], alpha: f64, delta: f64, bound: Bound) {
        let mut is_in = vec![false; self.study.tasks().len()];
        for task in tasks {
            is_in[*task] = true;
        }
        let n = self.study.with_success(tasks);
        walk.delta = delta;
        let mut last: Option<(Vec<(usize, u64)>, f64)> = None;
        for losses in &self.losses[walk.family][walk.passed..] {
            let here: Vec<&Loss> = losses.iter().filter(|loss| is_in[loss.task]).collect();
            // Neighbouring limits mostly kill the same runs, so p-values are reused.
            let key: Vec<(usize, u64)> = here.iter().map(|loss| (loss.task, loss.share.to_bits())).collect();
            let p = match last.take().filter(|(known, _)| *known == key) {
                Some((_, p)) => p,
                None => bound.p_value(&surpluses(&here, n, alpha)),
            };
            last = Some((key, p));
            if p > delta || p.is_nan() {
                walk.p_next = Some(p);
                return;
            }
            walk.passed += 1;
            walk.p = Some(p);
        }
        walk.p_next = None;
    }

    /// The number of further tasks with a success, none of them killed, with which the first limit that did not pass
    /// would pass. `None` if all passed, and beyond a million.
    pub(super) fn missing(&self, walk: &Walk, tasks: &[usize], alpha: f64) -> Option<u64> {
        walk.p_next?;
        let losses = self.losses[walk.family].get(walk.passed)?;
        let here: Vec<&Loss> = losses.iter().filter(|loss| tasks.binary_search(&loss.task).is_ok()).collect();
        surpluses(&here, self.study.with_success(tasks), alpha).clean_tasks_needed(walk.delta)
    }

    /// Walks every family. One whose limits all pass leaves its share to the others, as in a comparison.
    pub(super) fn walk_all(&self, tasks: &[usize], appetite: Appetite) -> Vec<Walk> {
        let Appetite { alpha, delta, bound, .. } = appetite;
        let shares: Vec<f64> = self.study.families().iter().map(Family::share).collect();
        let start = |(family, share): (usize, &f64)| self.walk(family, tasks, alpha, delta * share, bound);
        let mut walks: Vec<Walk> = shares.iter().enumerate().map(start).collect();
        let all: f64 = shares.iter().sum();
        loop {
            let open = |walk: &&Walk| walk.p_next.is_some();
            let left: f64 = walks.iter().filter(open).map(|walk| shares[walk.family]).sum();
            let passed: usize = walks.iter().map(|walk| walk.passed).sum();
            for walk in walks.iter_mut().filter(|walk| walk.p_next.is_some()) {
                let share = shares[walk.family] * all / left;
                self.walk_on(walk, tasks, alpha, delta * share, bound);
            }
            if walks.iter().map(|walk| walk.passed).sum::<usize>() == passed {
                return walks;
            }
        }
    }
}

/// The surpluses of `n` tasks with a success, and of those without that may have one.
fn surpluses(losses: &[&Loss], n: u64, alpha: f64) -> Surpluses {
    let with_success = losses.iter().filter(|loss| loss.has_success).count();
    let clean = usize::try_from(n).unwrap_or(usize::MAX).saturating_sub(with_success);
    let shares = losses.iter().map(|loss| loss.share).chain(std::iter::repeat_n(0.0, clean));
    Surpluses::from_losses(shares, alpha)
}

fn losses_of(study: &Study, family: usize, n_tasks: u64) -> Vec<Vec<Loss>> {
    let mut all = Vec::new();
    let limits = study.families()[family].limits();
    let has_unread = study.unread_by(family).next().is_some();
    let range = study.range(family);
    for limit in limits {
        let mut losses = Vec::new();
        if !has_unread && !range.is_some_and(|(low, high)| study.fires_within(family, *limit, low, high)) {
            all.push(losses);
            continue;
        }
        for (at, task) in study.tasks().iter().enumerate() {
            let is_stopped = |run: usize| {
                if study.is_unread(family, run) {
                    return study.runs()[run].last_end().is_some();
                }
                study.first(family, *limit, run).is_some()
            };
            let is_killed = |run: usize| {
                if study.is_unread(family, run) {
                    return study.loses(run, Fate::Unread);
                }
                matches!(study.first(family, *limit, run), Some(end) if study.runs()[run].kills(end))
            };
            let (mut killed, mut all, mut has_success) = (0_u32, 0_u32, false);
            for run in task.runs.clone() {
                match study.runs()[run].outcome() {
                    Outcome::Success => {
                        killed += u32::from(is_killed(run));
                        all += 1;
                        has_success = true;
                    }
                    Outcome::Unknown if is_stopped(run) => {
                        killed += 1;
                        all += 1;
                    }
                    Outcome::Unknown | Outcome::Failure => {}
                }
            }
            if killed > 0 {
                losses.push(Loss { task: at, share: f64::from(killed) / f64::from(all), has_success });
            }
        }
        let is_far = losses.iter().map(|loss| loss.share).sum::<f64>() > 0.5 * n_tasks as f64;
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
}
