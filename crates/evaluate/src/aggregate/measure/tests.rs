//! Where amounts are missing, what is said holds: in worlds of known truth.

use std::collections::BTreeMap;

use super::*;
use crate::stats::{ClusterSums, ratio_estimate};
use crate::transcript::{Tokens, Usd};

/// Numbers in (0, 1), the same for each seed.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) as f64 + 1.0) / (u64::MAX as f64 + 2.0)
    }

    fn normal(&mut self) -> f64 {
        normal_quantile(self.uniform())
    }
}

#[derive(Clone, Copy)]
struct Run {
    task: u64,
    success: bool,
    steps: u64,
    has_tokens: bool,
}

const LIMIT: u64 = 30;

impl Run {
    /// Every request repeats what was said before.
    fn tokens(steps: u64) -> f64 {
        (500 * steps + 100 * steps * steps) as f64
    }

    /// Usefully saved by a limit of 30 steps, and recorded.
    fn parts(&self, unit: Unit) -> (f64, f64) {
        let amount = |steps: u64| if unit == Unit::Steps { steps as f64 } else { Self::tokens(steps) };
        let whole = amount(self.steps);
        let saved = if self.success { 0.0 } else { whole - amount(self.steps.min(LIMIT)) };
        (saved, whole)
    }

    fn measured(&self) -> MeasuredRun {
        let tokens = self.has_tokens.then_some(Tokens(1));
        let outcome = if self.success { Outcome::Success } else { Outcome::Failure };
        MeasuredRun::new(self.task, outcome, Amounts { steps: self.steps, tokens, cost: None::<Usd>, ms: None })
    }
}

/// Two trials of each task; tasks differ in length and difficulty, and failures are longer.
fn world(tasks: u64, seed: u64) -> Vec<Run> {
    let mut random = Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
    let mut runs = Vec::new();
    for task in 0..tasks {
        let (hard, long) = (random.normal(), random.normal());
        for _ in 0..2 {
            let success = random.normal() + hard > 0.0;
            let exponent = if success { 2.4 } else { 2.9 } + 0.3 * long + 0.5 * random.normal();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few dozen steps")]
            let steps = 1 + exponent.exp() as u64;
            runs.push(Run { task, success, steps, has_tokens: true });
        }
    }
    runs
}

/// Which runs lose their tokens.
#[derive(Clone, Copy, Debug)]
enum Missing {
    Longest,
    LongFailures,
    LongestSuccesses,
    AtRandom,
    WholeTasks,
}

fn hide(runs: &mut [Run], missing: Missing, seed: u64) {
    let mut random = Random(seed + 77);
    let n = runs.len() * 44 / 1000;
    let by_task: Vec<f64> = runs.iter().map(|_| random.uniform()).collect();
    let mut keys: Vec<(f64, usize)> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let long = run.steps as f64 + 0.1 * random.uniform();
        let key = match missing {
            Missing::Longest => Some(long),
            Missing::LongFailures => (!run.success && run.steps > 20).then(|| random.uniform()),
            Missing::LongestSuccesses => run.success.then_some(long),
            Missing::AtRandom => Some(random.uniform()),
            Missing::WholeTasks => Some(by_task[usize::try_from(run.task).unwrap()]),
        };
        keys.extend(key.map(|key| (-key, at)));
    }
    keys.sort_by(|a, b| a.0.total_cmp(&b.0));
    keys.into_iter().take(n).for_each(|(_, at)| runs[at].has_tokens = false);
}

fn sums(runs: &[Run], unit: Unit) -> Vec<ClusterSums> {
    let mut tasks: BTreeMap<u64, ClusterSums> = BTreeMap::new();
    for run in runs.iter().filter(|run| unit == Unit::Steps || run.has_tokens) {
        let (saved, whole) = run.parts(unit);
        tasks.entry(run.task).or_default().add(saved, whole);
    }
    tasks.into_values().collect()
}

fn truth(unit: Unit) -> f64 {
    let all = world(40_000, 1_000_003);
    let (mut saved, mut whole) = (0.0, 0.0);
    for run in &all {
        let parts = run.parts(unit);
        saved += parts.0;
        whole += parts.1;
    }
    saved / whole
}

/// Of 300 corpora of 200 runs: how often the interval of what is saved covers the truth, in the unit it is told in, and
/// how often that is tokens.
fn covered(missing: Missing) -> (f64, f64) {
    let truths = [Unit::Steps, Unit::Tokens].map(truth);
    let (mut covered, mut in_tokens) = (0, 0);
    for seed in 0..300 {
        let mut runs = world(100, seed);
        hide(&mut runs, missing, seed);
        let unit = BestUnit::from_runs(&runs.iter().map(Run::measured).collect::<Vec<_>>()).unit;
        let truth = truths[usize::from(unit == Unit::Tokens)];
        let interval = ratio_estimate(&sums(&runs, unit), 0.95).interval.unwrap();
        covered += u32::from(interval.low <= truth && truth <= interval.high);
        in_tokens += u32::from(unit == Unit::Tokens);
    }
    (f64::from(covered) / 300.0, f64::from(in_tokens) / 300.0)
}

#[test]
fn what_is_saved_is_covered_wherever_tokens_are_missing() {
    for missing in [Missing::Longest, Missing::LongFailures, Missing::LongestSuccesses] {
        let (covered, in_tokens) = covered(missing);
        assert!(covered >= 0.93, "{missing:?}: {covered}, in tokens {in_tokens}");
    }
    for missing in [Missing::AtRandom, Missing::WholeTasks] {
        let (covered, in_tokens) = covered(missing);
        assert!(covered >= 0.93 && in_tokens >= 0.92, "{missing:?}: {covered}, in tokens {in_tokens}");
    }
}

#[test]
fn what_is_passed_over_is_said_and_what_most_runs_lack_is_not() {
    let mut runs = world(100, 5);
    let unit = |runs: &[Run]| BestUnit::from_runs(&runs.iter().map(Run::measured).collect::<Vec<_>>());
    assert_eq!(unit(&runs), BestUnit { unit: Unit::Tokens, passed_over: None });
    hide(&mut runs, Missing::Longest, 5);
    let said = unit(&runs).passed_over.map(|passed_over| passed_over.sentence());
    assert_eq!(
        said.as_deref(),
        Some("Savings are in steps: the 8 of 200 runs without tokens are longer than the others, beyond chance.")
    );
    runs.iter_mut().filter(|run| run.task < 20).for_each(|run| run.has_tokens = false);
    assert_eq!(unit(&runs), BestUnit { unit: Unit::Steps, passed_over: None });
    assert_eq!(unit(&[]), BestUnit { unit: Unit::Steps, passed_over: None });
}
