//! Type-I error of the paired tests when both strategies are alike.

use whenstop::stats::paired::sign_flip;
use whenstop::stats::{ClusterSums, PairedCounts, PairedSums, ratio_difference};

use super::{Corpus, Row, repeat};

const ALPHA: f64 = 0.05;

/// A yes/no property: `effect` of the runs are discordant, which way is a coin flip whose bias is the task's own
/// (correlation `icc`).
pub(crate) fn yes_no(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("paired-yes-no", corpus, repetitions, |random, tally| {
        let tasks: Vec<PairedCounts> = (0..corpus.tasks)
            .map(|_| {
                let n = corpus.runs(random);
                let discordant = random.binomial(n, corpus.effect);
                let way = random.task_rate(0.5, corpus.icc);
                let only_a = random.binomial(discordant, way);
                PairedCounts { n, only_a, only_b: discordant - only_a }
            })
            .collect();
        let mut rejects = |method: &str, p: Option<f64>| tally.note(method, "type-I", p.map(|p| p <= ALPHA));
        let differences: Vec<f64> = tasks.iter().map(|task| task.only_a as f64 - task.only_b as f64).collect();
        // Sampling sign patterns for many tasks says nothing new and takes most of the time.
        rejects("sign-flip", (corpus.tasks <= 30).then(|| sign_flip(&differences, random.bits())));
        let sums: Vec<PairedSums> = tasks
            .iter()
            .map(|task| PairedSums {
                a: ClusterSums::from_counts(task.only_a, task.n),
                b: ClusterSums::from_counts(task.only_b, task.n),
            })
            .collect();
        rejects("printed", ratio_difference(&sums, 0.95).p);
    })
}

/// The share of tokens saved by two strategies that stop different runs, one of them `effect` of all runs, the other half as many
/// but each time twice the share: equal savings from differences that are skewed.
pub(crate) fn costs(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("paired-costs", corpus, repetitions, |random, tally| {
        let tasks: Vec<PairedSums> = (0..corpus.tasks)
            .map(|_| {
                let task = corpus.icc.sqrt() * random.normal();
                let (rate_a, rate_b) =
                    (random.task_rate(0.5 * corpus.effect, corpus.icc), random.task_rate(corpus.effect, corpus.icc));
                let mut sums = PairedSums::default();
                for _ in 0..corpus.runs(random) {
                    let tokens = (0.7 * (task + (1.0 - corpus.icc).sqrt() * random.normal())).exp();
                    sums.a.add(if random.chance(rate_a) { tokens * random.uniform() } else { 0.0 }, tokens);
                    sums.b.add(if random.chance(rate_b) { 0.5 * tokens * random.uniform() } else { 0.0 }, tokens);
                }
                sums
            })
            .collect();
        let comparison = ratio_difference(&tasks, 0.95);
        tally.note("printed", "type-I", comparison.p.map(|p| p <= ALPHA));
        tally.note("printed", "coverage", comparison.interval.map(|interval| interval.contains(0.0)));
        let differences: Vec<f64> = tasks.iter().map(|task| task.a.numerator - task.b.numerator).collect();
        let flipped = (corpus.tasks <= 30).then(|| sign_flip(&differences, random.bits()));
        tally.note("sign-flip", "type-I", flipped.map(|p| p <= ALPHA));
    })
}
