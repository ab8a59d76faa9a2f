//! Stacks that save seldom and much, beside a baseline that saves often and little: to the same mean.

use whenstop::stats::{
    ClusterSums, PairedSums, RatioDifference, Resamples, SweepTest, adjust_sweep, ratio_difference, ratio_estimate,
};

use super::{Corpus, Row, keys, repeat};

const LEVEL: f64 = 0.95;
const STACKS: usize = 8;
/// The share of the runs that the baseline stops.
const OFTEN: f64 = 0.5;

/// Seven stacks stop `effect` of the runs and save all that is left of each, at a random point; the baseline stops every second run, and saves so
/// little of each that both save alike. Coverage of what one of them saves and of a difference, and the chance that any is called
/// different from the baseline.
pub(crate) fn alike(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("seldom-and-much", corpus, repetitions, |random, tally| {
        let mut sums = vec![vec![ClusterSums::default(); corpus.tasks]; STACKS];
        for task in 0..corpus.tasks {
            let level = corpus.icc.sqrt() * random.normal();
            let stops = |stack: usize| if stack == 0 { OFTEN } else { corpus.effect };
            let rates: Vec<f64> = (0..STACKS).map(|stack| random.task_rate(stops(stack), corpus.icc)).collect();
            for _ in 0..corpus.runs(random) {
                let tokens = (level + (1.0 - corpus.icc).sqrt() * random.normal()).exp();
                for (stack, sums) in sums.iter_mut().enumerate() {
                    let share = corpus.effect / stops(stack);
                    let saved = if random.chance(rates[stack]) { tokens * share * random.uniform() } else { 0.0 };
                    sums[task].add(saved, tokens);
                }
            }
        }
        let estimate = ratio_estimate(&sums[1], LEVEL).interval;
        tally.note("printed", "coverage", estimate.map(|interval| interval.contains(0.5 * corpus.effect)));
        let against_baseline = |stack: usize| -> Vec<PairedSums> {
            sums[stack].iter().zip(&sums[0]).map(|(a, b)| PairedSums { a: *a, b: *b }).collect()
        };
        let comparison = ratio_difference(&against_baseline(1), LEVEL);
        let both = comparison.interval.zip(comparison.p);
        tally.note("printed", "difference-coverage", both.map(|(interval, _)| interval.contains(0.0)));
        tally.note("printed", "disagree", both.map(|(interval, p)| interval.contains(0.0) != (p >= 0.05)));
        let resamples = Resamples::new(&keys(corpus.tasks, random), 500, random.bits());
        let tests: Vec<SweepTest> = (1..STACKS)
            .map(|stack| {
                let difference = RatioDifference::new(&against_baseline(stack));
                difference.map_or(SweepTest::default(), RatioDifference::into_test)
            })
            .collect();
        let (adjusted, _) = adjust_sweep(&tests, &resamples);
        tally.note("printed", "family-wise", Some(adjusted.iter().any(|p| p.is_some_and(|p| p <= 0.05))));
    })
}
