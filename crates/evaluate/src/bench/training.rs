//! Groups of rollouts for training: what stopping saves, and what it does to the advantages.
//!
//! Everything is exact for the recorded policy. What a policy trained on these advantages would do next is another
//! question, which no recording answers.

use crate::aggregate::Unit;
use crate::class::{Trial, TrialGroup};

/// What a stopped rollout counts as in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Its reward is 0.
    Zero,
    /// It is left out of the group.
    Masked,
    /// Its reward is the one that the whole rollout had.
    Kept,
}

impl Treatment {
    /// The name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Masked => "masked",
            Self::Kept => "kept",
        }
    }
}

/// What a stack does to groups of rollouts with a reward of 0 or 1, where a rollout's advantage is its reward minus its
/// group's mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Training {
    /// Groups with at least two graded rollouts.
    pub groups: u64,
    /// Their graded rollouts.
    pub rollouts: u64,
    /// Rollouts stopped early.
    pub stopped: u64,
    /// Solved rollouts that count as unsolved or are left out.
    pub solved_lost: u64,
    /// Groups in which all rewards are equal before stopping: nothing is learned from them.
    pub flat: u64,
    /// Groups whose rewards become equal.
    pub flattened: u64,
    /// Groups whose rewards become unequal.
    pub unflattened: u64,
    /// The root of the sum of squared advantages, relative to that without stops; `None` if that is 0.
    pub norm_kept: Option<f64>,
    /// Rollouts with an advantage other than 0 before.
    pub signed: u64,
    /// Those of them whose advantage changes its sign.
    pub sign_changes: u64,
    /// The share of the steps, tokens or dollars that is not spent; `None` if none are recorded.
    pub saved: Option<f64>,
}

/// The result for a stack and a treatment.
pub fn training(trials: &[Trial], groups: &[TrialGroup], stack: usize, treatment: Treatment, unit: Unit) -> Training {
    let mut of = Training::default();
    let (mut before_squares, mut after_squares) = (0.0, 0.0);
    let (mut spared, mut whole) = (0.0, 0.0);
    for group in groups {
        let graded: Vec<(&Trial, f64)> = group
            .trials
            .iter()
            .filter_map(|at| Some((&trials[*at], f64::from(u8::from(trials[*at].success()?)))))
            .collect();
        if graded.len() < 2 {
            continue;
        }
        of.groups += 1;
        of.rollouts += graded.len() as u64;
        let after = |(trial, reward): &(&Trial, f64)| match treatment {
            _ if !trial.under[stack].early => Some(*reward),
            Treatment::Zero => Some(0.0),
            Treatment::Masked => None,
            Treatment::Kept => Some(*reward),
        };
        let rewards: Vec<Option<f64>> = graded.iter().map(|(_, reward)| Some(*reward)).collect();
        let afterwards: Vec<Option<f64>> = graded.iter().map(after).collect();
        let (before, after) = (advantages(&rewards), advantages(&afterwards));
        for (((trial, reward), after_reward), (before, after)) in
            graded.iter().zip(&afterwards).zip(before.iter().zip(&after))
        {
            of.stopped += u64::from(trial.under[stack].early);
            of.solved_lost += u64::from(*reward > 0.0 && after_reward.is_none_or(|after| after < *reward));
            of.signed += u64::from(before.abs() > ROUNDING);
            of.sign_changes += u64::from(before * after < -ROUNDING);
            let spent = unit.of_amounts(trial.under[stack].spent);
            if let Some((all, spent)) = unit.of_amounts(trial.whole).zip(spent) {
                spared += all - spent;
                whole += all;
            }
        }
        let squares = |advantages: &[f64]| advantages.iter().map(|advantage| advantage * advantage).sum::<f64>();
        let is_flat = |squares: f64| squares < ROUNDING;
        let (before, after) = (squares(&before), squares(&after));
        of.flat += u64::from(is_flat(before));
        of.flattened += u64::from(!is_flat(before) && is_flat(after));
        of.unflattened += u64::from(is_flat(before) && !is_flat(after));
        before_squares += before;
        after_squares += after;
    }
    of.norm_kept = (before_squares > 0.0).then(|| (after_squares / before_squares).sqrt());
    of.saved = (whole > 0.0).then(|| spared / whole);
    of
}

/// Smaller advantages are rounding.
const ROUNDING: f64 = 1e-12;

/// Each reward minus the mean of those there are; 0 for one that is left out.
fn advantages(rewards: &[Option<f64>]) -> Vec<f64> {
    let there: Vec<f64> = rewards.iter().copied().flatten().collect();
    let mean = there.iter().sum::<f64>() / there.len().max(1) as f64;
    rewards.iter().map(|reward| reward.map_or(0.0, |reward| reward - mean)).collect()
}

/// The share of the amount that is spent after a reply that was cut off at its length, and the number of such runs and of
/// those that say why their replies ended. Nothing after such a reply is trained on where truncated rollouts are dropped:
/// it is certainly saved.
pub fn after_truncated(trials: &[Trial], unit: Unit) -> Option<(f64, u64, u64)> {
    let (mut after, mut whole, mut runs, mut known) = (0.0, 0.0, 0, 0);
    for trial in trials {
        let Some(spent_after) = trial.after_truncated else { continue };
        known += 1;
        // Where nothing is cut off, nothing follows, whatever is recorded of it.
        let spent_after = if spent_after.steps == 0 { trial.whole.nothing() } else { spent_after };
        if let Some((spent, all)) = unit.of_amounts(spent_after).zip(unit.of_amounts(trial.whole)) {
            runs += u64::from(spent > 0.0);
            after += spent;
            whole += all;
        }
    }
    (whole > 0.0).then(|| (after / whole, runs, known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::groups;
    use crate::class::tests::trial;

    #[test]
    fn advantages_by_treatment_worked_out_by_hand() {
        // Rewards 1 1 0 0: advantages ±1/2. The second and the fourth are stopped after one of four steps.
        let trials = [
            trial("t", "m", 0, true, 4, None),
            trial("t", "m", 1, true, 4, Some(1)),
            trial("t", "m", 2, false, 4, None),
            trial("t", "m", 3, false, 4, Some(1)),
        ];
        let groups = groups(&trials).0;
        let of = |treatment| training(&trials, &groups, 0, treatment, Unit::Steps);
        // 1 0 0 0: 3/4 -1/4 -1/4 -1/4, squares 12/16 of 1; the second changes its sign.
        let zero = of(Treatment::Zero);
        assert_eq!((zero.solved_lost, zero.signed, zero.sign_changes, zero.flattened), (1, 4, 1, 0));
        assert_eq!((zero.norm_kept, zero.saved), (Some(0.75_f64.sqrt()), Some(6.0 / 16.0)));
        // 1 0: ±1/2, squares 1/2.
        let masked = of(Treatment::Masked);
        assert_eq!((masked.solved_lost, masked.sign_changes, masked.norm_kept), (1, 0, Some(0.5_f64.sqrt())));
        let kept = of(Treatment::Kept);
        assert_eq!((kept.solved_lost, kept.sign_changes, kept.norm_kept), (0, 0, Some(1.0)));
    }

    #[test]
    fn a_group_can_lose_its_variance_and_gain_it() {
        let solved = |task, stop| (0..2).map(move |nth| trial(task, "m", nth, true, 4, (nth < stop).then_some(1)));
        let mixed = [trial("b", "m", 0, true, 4, Some(1)), trial("b", "m", 1, false, 4, None)];
        let trials: Vec<Trial> = solved("a", 1).chain(mixed).chain(solved("c", 0)).collect();
        let of = training(&trials, &groups(&trials).0, 0, Treatment::Zero, Unit::Steps);
        assert_eq!((of.groups, of.flat, of.flattened, of.unflattened), (3, 2, 1, 1));
    }
}
