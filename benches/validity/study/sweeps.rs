//! Family-wise error of a sweep: the chance that any strategy that is no better is called different.

use whenstop::stats::distribution::{normal_quantile, t_two_sided};
use whenstop::stats::multiplicity::{Contrast, holm};
use whenstop::stats::{PairedSums, RatioDifference, Resamples, SweepTest, adjust_sweep};

use super::{Corpus, Row, keys, random::Random, repeat};

const ALPHA: f64 = 0.05;
/// Strategies in the sweep.
pub(crate) const STRATEGIES: usize = 20;
/// Correlation of neighbouring strategies' decisions.
const ALIKE: f64 = 0.9;

/// A rate of `effect` under the baseline and all strategies; with `half_differ` every second one has twice the rate and only
/// the others can be false findings.
pub(crate) fn rates(corpus: Corpus, repetitions: u64, replicates: usize, half_differ: bool) -> Vec<Row> {
    let name = if half_differ { "sweep-half-differ" } else { "sweep-all-alike" };
    repeat(name, corpus, repetitions, |random, tally| {
        let mut tasks = vec![vec![PairedSums::default(); corpus.tasks]; STRATEGIES];
        for task in 0..corpus.tasks {
            let shared: Vec<f64> = chain(random);
            for _ in 0..corpus.runs(random) {
                let own = chain(random);
                let fires = |at: usize, rate: f64| {
                    let latent = corpus.icc.sqrt() * shared[at] + (1.0 - corpus.icc).sqrt() * own[at];
                    f64::from(u8::from(latent < normal_quantile(rate)))
                };
                let baseline = fires(STRATEGIES, corpus.effect);
                for (at, strategy) in tasks.iter_mut().enumerate() {
                    let rate = if half_differ && at % 2 == 1 { 2.0 * corpus.effect } else { corpus.effect };
                    strategy[task].a.add(fires(at, rate), 1.0);
                    strategy[task].b.add(baseline, 1.0);
                }
            }
        }
        let contrasts: Vec<Contrast> =
            tasks.iter().filter_map(|tasks| RatioDifference::new(tasks)).map(RatioDifference::into_contrast).collect();
        let tests: Vec<SweepTest> =
            tasks.iter().filter_map(|tasks| RatioDifference::new(tasks)).map(RatioDifference::into_test).collect();
        let resamples = Resamples::new(&keys(corpus.tasks, random), replicates, random.bits());
        let plain: Vec<f64> = contrasts.iter().map(|contrast| single(contrast, corpus.tasks)).collect();
        let alike = |at: usize| !half_differ || at.is_multiple_of(2);
        let any = |p: &[f64]| Some(p.iter().enumerate().any(|(at, p)| alike(at) && *p <= ALPHA));
        tally.note("unadjusted", "family-wise", any(&plain));
        tally.note("holm", "family-wise", any(&holm(&plain)));
        let (adjusted, _) = adjust_sweep(&tests, &resamples);
        let adjusted: Vec<f64> = adjusted.into_iter().map(|p| p.unwrap_or(1.0)).collect();
        tally.note("printed", "family-wise", any(&adjusted));
        if half_differ {
            let power = |p: &[f64]| Some(p.iter().skip(1).step_by(2).any(|p| *p <= ALPHA));
            tally.note("holm", "any-true-finding", power(&holm(&plain)));
            tally.note("printed", "any-true-finding", power(&adjusted));
        }
    })
}

/// Correlated latent values of the strategies, the baseline last.
fn chain(random: &mut Random) -> Vec<f64> {
    let mut value = random.normal();
    (0..=STRATEGIES)
        .map(|_| {
            value = ALIKE * value + (1.0 - ALIKE * ALIKE).sqrt() * random.normal();
            value
        })
        .collect()
}

/// Student's t over tasks, as if all were of one size.
fn single(contrast: &Contrast, tasks: usize) -> f64 {
    let n = tasks as f64;
    let squares: f64 = contrast.scores.iter().map(|score| (score - contrast.value / n).powi(2)).sum();
    if squares > 0.0 { t_two_sided(contrast.value / (squares * n / (n - 1.0)).sqrt(), n - 1.0) } else { 1.0 }
}
