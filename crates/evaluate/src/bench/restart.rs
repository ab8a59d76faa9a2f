//! Stop, then one fresh try under the same rule: what it would have come to, from trials that can stand for one another.

use std::collections::BTreeMap;

use crate::aggregate::{LEVEL, Label, Unit};
use crate::class::{Trial, TrialGroup};
use crate::stats::{DifferenceEstimate, PairedSums, ratio_difference};

/// What one way of running comes to, per run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Way {
    /// The share of runs that succeed.
    pub success: f64,
    /// Spent per run; `None` if too few runs record it.
    pub spent: Option<f64>,
}

impl Way {
    /// Spent for each success.
    pub fn per_success(self) -> Option<f64> {
        self.spent.map(|spent| spent / self.success).filter(|cost| cost.is_finite())
    }
}

/// A stack with one restart, on the groups with at least two graded trials.
#[derive(Clone, Debug)]
pub struct Restart {
    /// Those groups.
    pub groups: usize,
    /// Their graded trials.
    pub trials: usize,
    /// Trials stopped early.
    pub stopped: usize,
    /// Without stopping.
    pub untouched: Way,
    /// With stops, and no second try.
    pub stop: Way,
    /// With a second try after each stop.
    pub restart: Way,
    /// The success rate with restarts minus that without stopping, over tasks.
    pub gain: DifferenceEstimate,
}

/// The estimate for a stack: the mean over ordered pairs of distinct trials of a group of "the first, and if it is stopped
/// the second under the same rule", groups weighted by their trials. Without bias where the trials of a group are
/// exchangeable; see [`super::exchangeable`]. `None` without a group of two.
///
/// Hoeffding (1948), A class of statistics with asymptotically normal distribution, Ann. Math. Statist. 19.
pub fn restart(trials: &[Trial], groups: &[TrialGroup], stack: Option<usize>, unit: Unit) -> Option<Restart> {
    let mut by_task: BTreeMap<&(Label, Label), PairedSums> = BTreeMap::new();
    let mut sums = [(0.0, Some(0.0)); 3];
    let (mut n_groups, mut n, mut n_stopped) = (0, 0, 0);
    for group in groups {
        let of_group: Vec<Try> =
            group.trials.iter().filter_map(|at| Try::from_trial(&trials[*at], stack, unit)).collect();
        if of_group.len() < 2 {
            continue;
        }
        n_groups += 1;
        n += of_group.len();
        let others = (of_group.len() - 1) as f64;
        let all_kept: f64 = of_group.iter().map(|one| one.kept).sum();
        let all_spent: Option<f64> = of_group.iter().map(|one| one.spent).sum();
        for one in &of_group {
            n_stopped += usize::from(one.is_stopped);
            let second = (all_kept - one.kept) / others;
            let second_spent = all_spent.zip(one.spent).map(|(all, own)| (all - own) / others);
            let with_restart = if one.is_stopped {
                // What it had secured by the stop is kept, whatever becomes of the second try.
                (one.kept.max(second), one.spent.zip(second_spent).map(|(first, second)| first + second))
            } else {
                (one.full, one.whole)
            };
            for (sum, (success, spent)) in
                sums.iter_mut().zip([(one.full, one.whole), (one.kept, one.spent), with_restart])
            {
                sum.0 += success;
                sum.1 = sum.1.zip(spent).map(|(sum, more)| sum + more);
            }
            let of_task = by_task.entry(&group.task).or_default();
            of_task.a.add(with_restart.0, 1.0);
            of_task.b.add(one.full, 1.0);
        }
    }
    let way = |(success, spent): (f64, Option<f64>)| Way {
        success: success / n as f64,
        spent: spent.map(|spent| spent / n as f64),
    };
    (n > 0).then(|| Restart {
        groups: n_groups,
        trials: n,
        stopped: n_stopped,
        untouched: way(sums[0]),
        stop: way(sums[1]),
        restart: way(sums[2]),
        gain: ratio_difference(&by_task.into_values().collect::<Vec<_>>(), LEVEL),
    })
}

/// One graded trial under the stack.
struct Try {
    is_stopped: bool,
    full: f64,
    kept: f64,
    whole: Option<f64>,
    spent: Option<f64>,
}

impl Try {
    fn from_trial(trial: &Trial, stack: Option<usize>, unit: Unit) -> Option<Self> {
        let full = f64::from(u8::from(trial.success()?));
        let under = stack.map(|stack| trial.under[stack]);
        let is_stopped = under.is_some_and(|under| under.early);
        Some(Self {
            is_stopped,
            full,
            kept: if under.is_some_and(|under| under.killed) { 0.0 } else { full },
            whole: unit.of_amounts(trial.whole),
            spent: unit.of_amounts(under.map_or(trial.whole, |under| under.spent)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::groups;
    use crate::class::tests::trial;

    #[test]
    fn pairs_of_three_trials_worked_out_by_hand() {
        // Solved in 4 steps; solved in 10 but stopped at 6; failed in 8, stopped at 6.
        let trials = [
            trial("t", "m", 0, true, 4, None),
            trial("t", "m", 1, true, 10, Some(6)),
            trial("t", "m", 2, false, 8, Some(6)),
        ];
        let of = restart(&trials, &groups(&trials).0, Some(0), Unit::Steps).unwrap();
        assert_eq!((of.groups, of.trials, of.stopped), (1, 3, 2));
        assert_eq!(of.untouched, Way { success: 2.0 / 3.0, spent: Some(22.0 / 3.0) });
        assert_eq!(of.stop, Way { success: 1.0 / 3.0, spent: Some(16.0 / 3.0) });
        // The first succeeds for 4. Each of the others is followed by one of two, of which the first alone succeeds:
        // 1/2, for 6 + (4 + 6) / 2.
        assert_eq!(of.restart, Way { success: 2.0 / 3.0, spent: Some((4.0 + 11.0 + 11.0) / 3.0) });
        assert_eq!(of.restart.per_success(), Some(13.0));
    }

    #[test]
    fn with_a_rule_that_never_fires_it_is_one_try() {
        let trials: Vec<_> = (0..6).map(|nth| trial("t", "m", nth, nth < 2, 3, None)).collect();
        let of = restart(&trials, &groups(&trials).0, Some(0), Unit::Steps).unwrap();
        assert_eq!((of.restart, of.stop, of.gain.value), (of.untouched, of.untouched, Some(0.0)));
        assert!(restart(&trials[..1], &groups(&trials[..1]).0, Some(0), Unit::Steps).is_none());
    }
}
