//! Whether trials of one task can stand for one another: the settings that are recorded, and a test of those that are not.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::class::{Trial, TrialGroup};
use crate::stats::multiplicity::holm;

/// The level of the tests together: trials that are exchangeable are refused with this probability at most.
const LEVEL: f64 = 0.05;
/// Draws of a permutation test, at most.
const DRAWS: u32 = 999;
/// Draws that reach the observed value after which a test ends: it is far from significant. Besag & Clifford (1991),
/// Sequential Monte Carlo p-values, Biometrika 78.
const ENOUGH: u32 = 30;

/// What the trials of a group may differ by, other than by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// The order in which they began.
    Date,
    /// The name of the trial.
    Trial,
}

/// What it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialScore {
    /// How often they succeed.
    Success,
    /// How many steps they take, on the logarithm.
    Steps,
}

/// A difference beyond chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Between what.
    pub factor: Factor,
    /// Of what.
    pub of: TrialScore,
    /// The p-value, adjusted for the tests made (Holm).
    pub p: f64,
}

/// Why trials cannot stand for one another.
#[derive(Clone, Debug, PartialEq)]
pub enum NotExchangeable {
    /// No task has two graded trials by one model.
    OneTrial,
    /// Those it has differ in these settings.
    Settings(Vec<String>),
    /// They differ more by date or name than exchangeable trials would.
    Drift(Drift),
}

/// Whether the trials of the groups may stand for one another, as far as can be told. `differing` are the settings in which
/// trials of one task and model differ, which are in different groups already.
///
/// The test permutes the trials within each group; it is exact at any size.
///
/// # Errors
/// Why they may not.
pub fn exchangeable(trials: &[Trial], groups: &[TrialGroup], differing: &[String]) -> Result<(), NotExchangeable> {
    let graded = |group: &&TrialGroup| group.trials.iter().filter(|at| trials[**at].success().is_some()).count() > 1;
    let groups: Vec<&TrialGroup> = groups.iter().filter(graded).collect();
    if groups.is_empty() {
        return Err(if differing.is_empty() {
            NotExchangeable::OneTrial
        } else {
            NotExchangeable::Settings(differing.to_vec())
        });
    }
    let tests = [Factor::Date, Factor::Trial].into_iter().flat_map(|factor| {
        let design = Design::from_trials(trials, &groups, factor);
        [TrialScore::Success, TrialScore::Steps].map(|of| Some((factor, of, design.as_ref()?.p(trials, of))))
    });
    let tests: Vec<(Factor, TrialScore, f64)> = tests.flatten().collect();
    let adjusted = holm(&tests.iter().map(|(.., p)| *p).collect::<Vec<_>>());
    let first = tests.iter().zip(adjusted).filter(|(_, p)| *p <= LEVEL).min_by(|a, b| a.1.total_cmp(&b.1));
    match first {
        Some((&(factor, of, _), p)) => Err(NotExchangeable::Drift(Drift { factor, of, p })),
        None => Ok(()),
    }
}

/// The trials of each group with their levels of a factor.
struct Design {
    /// For each group, its trials by index.
    groups: Vec<Vec<usize>>,
    /// For each group, the level of each place: a column of sums, and the weight with which a value enters it.
    places: Vec<Vec<(usize, f64)>>,
    levels: usize,
}

impl Design {
    /// `None` if the factor is the same, unknown, or never repeated.
    fn from_trials(trials: &[Trial], groups: &[&TrialGroup], factor: Factor) -> Option<Self> {
        let graded = |group: &&TrialGroup| -> Vec<usize> {
            group.trials.iter().copied().filter(|at| trials[*at].success().is_some()).collect()
        };
        let mut design = Self { groups: Vec::new(), places: Vec::new(), levels: 1 };
        let mut names = BTreeMap::new();
        for mut group in groups.iter().map(graded) {
            let places = match factor {
                Factor::Date => {
                    let mut began: Vec<i64> = group.iter().filter_map(|at| trials[*at].began).collect();
                    began.sort_unstable();
                    if began.len() < group.len() || began.first() == began.last() {
                        continue;
                    }
                    group.sort_by_key(|at| (trials[*at].began, *at));
                    // From -1 for the first to 1 for the last; those that began together are in the middle of their places.
                    let of = |at: &usize| {
                        let own = trials[*at].began.unwrap_or_default();
                        let before = began.iter().filter(|began| **began < own).count();
                        let with = began.iter().filter(|began| **began == own).count();
                        (before as f64 * 2.0 + with as f64 - began.len() as f64) / began.len() as f64
                    };
                    group.iter().map(|at| (0, of(at))).collect::<Vec<_>>()
                }
                Factor::Trial => {
                    let labels: Option<Vec<_>> = group.iter().map(|at| trials[*at].label.as_ref()).collect();
                    let Some(labels) = labels else { continue };
                    let mut column = |label| {
                        let next = names.len();
                        *names.entry(label).or_insert(next)
                    };
                    labels.into_iter().map(|label| (column(label), 1.0)).collect()
                }
            };
            design.groups.push(group);
            design.places.push(places);
        }
        design.levels = names.len().max(1);
        let n: usize = design.groups.iter().map(Vec::len).sum();
        // Names that are all different say nothing of what they have in common.
        let is_repeated = factor == Factor::Date || names.len() > 1 && names.len() < n;
        (!design.groups.is_empty() && is_repeated).then_some(design)
    }

    fn p(&self, trials: &[Trial], of: TrialScore) -> f64 {
        let value = |at: &usize| match of {
            TrialScore::Success => f64::from(u8::from(trials[*at].success() == Some(true))),
            TrialScore::Steps => (1.0 + trials[*at].whole.steps as f64).ln(),
        };
        let mut values: Vec<Vec<f64>> = self
            .groups
            .iter()
            .map(|group| {
                let of: Vec<f64> = group.iter().map(value).collect();
                let mean = of.iter().sum::<f64>() / of.len() as f64;
                of.into_iter().map(|value| value - mean).collect()
            })
            .collect();
        let observed = self.statistic(&values) * (1.0 - 1e-9);
        if observed <= 1e-12 {
            return 1.0;
        }
        let mut random = Draws(xxh3_64_with_seed(b"exchangeable", self.groups.len() as u64));
        let mut reached = 0;
        for draw in 1..=DRAWS {
            for group in &mut values {
                random.shuffle(group);
            }
            reached += u32::from(self.statistic(&values) >= observed);
            if reached == ENOUGH {
                return f64::from(reached) / f64::from(draw);
            }
        }
        f64::from(reached + 1) / f64::from(DRAWS + 1)
    }

    /// The sum over levels of the squared sum of the values there, each over its number of places.
    fn statistic(&self, values: &[Vec<f64>]) -> f64 {
        let mut sums = vec![(0.0, 0.0); self.levels];
        for (value, (level, weight)) in values.iter().flatten().zip(self.places.iter().flatten()) {
            sums[*level].0 += value * weight;
            sums[*level].1 += weight * weight;
        }
        sums.into_iter().filter(|(_, n)| *n > 0.0).map(|(sum, n)| sum * sum / n).sum()
    }
}

/// A seeded stream of numbers (splitmix64).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn shuffle(&mut self, values: &mut [f64]) {
        for last in (1..values.len()).rev() {
            let bits = u128::from(self.next()) * (last as u128 + 1);
            values.swap(last, usize::try_from(bits >> 64).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::groups;
    use crate::class::tests::trial;

    fn judged(trials: &[Trial]) -> Result<(), NotExchangeable> {
        let (groups, differing) = groups(trials);
        exchangeable(trials, &groups, &differing.into_iter().collect::<Vec<_>>())
    }

    /// 40 tasks with four trials each, which succeed as `of` says by task and trial.
    fn trials(of: impl Fn(usize, usize) -> bool) -> Vec<Trial> {
        let of = &of;
        let of_task = |task: usize| (0..4).map(move |nth| trial(&task.to_string(), "m", nth, of(task, nth), 5, None));
        (0..40).flat_map(of_task).collect()
    }

    #[test]
    fn trials_alike_are_exchangeable() {
        assert_eq!(judged(&trials(|task, nth| (task * 7 + nth * 5) % 3 == 0)), Ok(()));
        assert_eq!(judged(&trials(|task, _| task % 2 == 0)), Ok(()), "tasks differ, trials do not");
    }

    #[test]
    fn other_settings_another_attack_and_another_date_are_refused() {
        let mut settings = trials(|task, nth| (task + nth) % 2 == 0);
        settings.retain(|trial| trial.label.as_deref() < Some("2"));
        for trial in settings.iter_mut().filter(|trial| trial.label.as_deref() == Some("1")) {
            trial.settings.insert("temperature".to_owned(), "1".to_owned());
        }
        assert_eq!(judged(&settings), Err(NotExchangeable::Settings(vec!["temperature".to_owned()])));

        let mut attacked = trials(|task, nth| nth < 2 || task % 4 == 0);
        for trial in &mut attacked {
            let name = if trial.label.as_deref() < Some("2") { "none" } else { "important_instructions" };
            trial.label = Some(name.into());
        }
        let Err(NotExchangeable::Drift(drift)) = judged(&attacked) else { panic!() };
        assert_eq!((drift.factor, drift.of), (Factor::Trial, TrialScore::Success));
        assert!(drift.p <= 0.004, "{}", drift.p);

        let mut dated = trials(|task, nth| nth > 1 || task % 4 == 0);
        for (trial, nth) in dated.iter_mut().zip(0..) {
            trial.label = None;
            trial.began = Some(nth % 4);
        }
        let Err(NotExchangeable::Drift(drift)) = judged(&dated) else { panic!() };
        assert_eq!((drift.factor, drift.of), (Factor::Date, TrialScore::Success));

        let single: Vec<Trial> = (0..5).map(|task| trial(&task.to_string(), "m", 0, true, 3, None)).collect();
        assert_eq!(judged(&single), Err(NotExchangeable::OneTrial));
    }
}
