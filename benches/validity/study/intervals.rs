//! Coverage of the intervals printed for a rate, for a share of tokens, and for a budget curve.

use whenstop::stats::cluster::spread;
use whenstop::stats::distribution::{normal_cdf, normal_quantile, t_quantile};
use whenstop::stats::estimate::free_ratio_estimate;
use whenstop::stats::incidence::{End, Ending, incidence_band};
use whenstop::stats::interval::Interval;
use whenstop::stats::{ClusterSums, Resamples, positive_ratio_estimate, ratio_estimate, task_rate};

use super::{Corpus, Row, Tally, keys, random::Random, repeat};

const LEVEL: f64 = 0.95;
/// The share of corpora on which the percentile bootstrap is tried.
const BOOTSTRAPPED: f64 = 0.065;

/// A rate of `effect` over runs.
pub(crate) fn rate(corpus: Corpus, repetitions: u64, replicates: usize) -> Vec<Row> {
    repeat("rate", corpus, repetitions, |random, tally| {
        let clusters: Vec<ClusterSums> = (0..corpus.tasks)
            .map(|_| {
                let n = corpus.runs(random);
                let rate = random.task_rate(corpus.effect, corpus.icc);
                ClusterSums::from_counts(random.binomial(n, rate), n)
            })
            .collect();
        tally.interval("printed", "coverage", task_rate(&clusters, LEVEL).interval, Some(corpus.effect));
        others(&clusters, corpus.effect, replicates, random, tally);
        let hits: f64 = clusters.iter().map(|cluster| cluster.numerator).sum();
        let n: u64 = clusters.iter().map(|cluster| cluster.n).sum();
        let runs: Vec<ClusterSums> =
            (0..n).map(|run| ClusterSums::from_counts(u64::from((run as f64) < hits), 1)).collect();
        tally.interval("gaffke-ignoring-tasks", "coverage", task_rate(&runs, LEVEL).interval, Some(corpus.effect));
    })
}

/// The share of tokens saved by a limit on a run's tokens which `effect` of the runs pass. Tokens are lognormal with
/// sigma 1 (the mean is 1.6 times the median), of which `icc` lies between tasks.
pub(crate) fn tokens(corpus: Corpus, repetitions: u64, replicates: usize) -> Vec<Row> {
    let limit = normal_quantile(1.0 - corpus.effect);
    let truth = saved_by_limit(limit);
    repeat("tokens", corpus, repetitions, |random, tally| {
        let clusters: Vec<ClusterSums> = (0..corpus.tasks)
            .map(|_| {
                let task = corpus.icc.sqrt() * random.normal();
                ClusterSums::from_runs((0..corpus.runs(random)).map(|_| {
                    let tokens = (task + (1.0 - corpus.icc).sqrt() * random.normal()).exp();
                    ((tokens - limit.exp()).max(0.0), tokens)
                }))
            })
            .collect();
        note(&clusters, truth, replicates, random, tally);
    })
}

/// `E (T - L)+ / E T` for a lognormal T with mu 0 and sigma 1, and `limit` the logarithm of L.
pub(crate) fn saved_by_limit(limit: f64) -> f64 {
    normal_cdf(1.0 - limit) - limit.exp() * normal_cdf(-limit) / 0.5_f64.exp()
}

/// The share of tokens saved when `effect` of the runs are stopped at a uniform point, whatever their length.
pub(crate) fn stops(corpus: Corpus, repetitions: u64, replicates: usize) -> Vec<Row> {
    repeat("stops", corpus, repetitions, |random, tally| {
        let clusters: Vec<ClusterSums> = (0..corpus.tasks)
            .map(|_| {
                let task = corpus.icc.sqrt() * random.normal();
                let rate = random.task_rate(corpus.effect, corpus.icc);
                ClusterSums::from_runs((0..corpus.runs(random)).map(|_| {
                    let tokens = (0.7 * (task + (1.0 - corpus.icc).sqrt() * random.normal())).exp();
                    (if random.chance(rate) { tokens * random.uniform() } else { 0.0 }, tokens)
                }))
            })
            .collect();
        note(&clusters, 0.5 * corpus.effect, replicates, random, tally);
    })
}

/// What the tool prints of an amount, and the usual methods it does not use.
fn note(clusters: &[ClusterSums], truth: f64, replicates: usize, random: &mut Random, tally: &mut Tally) {
    let printed = ratio_estimate(clusters, LEVEL).interval;
    tally.note("printed", "coverage", printed.map(|interval| interval.contains(truth)));
    others(clusters, truth, replicates, random, tally);
}

/// The usual methods that the tool does not use.
fn others(clusters: &[ClusterSums], truth: f64, replicates: usize, random: &mut Random, tally: &mut Tally) {
    let covers = |interval: Option<Interval>| interval.map(|interval| interval.contains(truth));
    let Some(spread) = spread(clusters) else { return };
    let quantile = t_quantile(0.5 + 0.5 * LEVEL, spread.clusters() as f64 - 1.0);
    // Without spread the usual interval is a single point, and is counted as that.
    let half = spread.residuals.variance().map_or(0.0, |variance| quantile * variance.sqrt());
    tally.note("students-t", "coverage", covers(Some(Interval::around(spread.ratio, half))));
    tally.note("skewness-corrected-t", "coverage", covers(spread.residuals.interval(spread.ratio, LEVEL)));
    // It takes most of the time and is there for comparison only.
    if replicates > 0 && random.chance(BOOTSTRAPPED) {
        let resamples = Resamples::new(&keys(clusters.len(), random), replicates, random.bits());
        let column = |value: fn(&ClusterSums) -> f64| clusters.iter().map(value).collect::<Vec<f64>>();
        let ratios = resamples.ratios(&column(|cluster| cluster.numerator), &column(|cluster| cluster.denominator));
        tally.note("percentile-bootstrap", "coverage", covers(ratios.interval(LEVEL)));
    }
}

/// The share of runs with success by budget 1: exponential times to success and to failure, tasks of two kinds
/// (`icc` sets how far apart), a cap at budget 1.5.
pub(crate) fn budget(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let rates = |easy: bool| if easy { 1.0 + 2.0 * corpus.icc } else { 1.0 - corpus.icc };
    let by_one = |easy: bool| {
        let success = corpus.effect * rates(easy);
        success / (success + 0.5) * (1.0 - (-(success + 0.5)).exp())
    };
    let truth = 0.5 * (by_one(true) + by_one(false));
    repeat("budget-curve", corpus, repetitions, |random, tally| {
        let (mut runs, mut task_of) = (Vec::new(), Vec::new());
        for task in 0..corpus.tasks {
            let easy = random.chance(0.5);
            for _ in 0..corpus.runs(random) {
                let success = -random.uniform().ln() / (corpus.effect * rates(easy));
                let failure = -random.uniform().ln() / 0.5;
                let at = success.min(failure).min(1.5);
                let end = if at >= 1.5 {
                    End::CutOff
                } else if success < failure {
                    End::Success
                } else {
                    End::Failure
                };
                runs.push(Ending { at, end });
                task_of.push(task);
            }
        }
        let band = incidence_band(&runs, &task_of, &[1.0], LEVEL);
        let covers = band.first().copied().flatten().map(|interval| interval.contains(truth));
        tally.note("printed", "coverage", covers);
    })
}

/// Two ratios of any sign when `effect` of the runs are stopped: what is saved less what it costs to run the killed ones (three in
/// ten stops) again, over what was recorded; and what is spent for each success, which `effect` of the runs are.
pub(crate) fn free_ratios(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    // The mean of a lognormal number with sigma 0.7.
    let mean = (0.5_f64 * 0.7 * 0.7).exp();
    repeat("free-ratios", corpus, repetitions, |random, tally| {
        let (mut rework, mut spent) = (Vec::new(), Vec::new());
        for _ in 0..corpus.tasks {
            let task = corpus.icc.sqrt() * random.normal();
            let rate = random.task_rate(corpus.effect, corpus.icc);
            let (mut own_rework, mut own_spent) = (ClusterSums::default(), ClusterSums::default());
            for _ in 0..corpus.runs(random) {
                let tokens = (0.7 * (task + (1.0 - corpus.icc).sqrt() * random.normal())).exp();
                let saved = if random.chance(rate) { tokens * random.uniform() } else { 0.0 };
                let again = if saved > 0.0 && random.chance(0.3) { mean } else { 0.0 };
                own_rework.add_either(saved - again, tokens);
                own_spent.add_either(tokens, f64::from(u8::from(random.chance(rate))));
            }
            rework.push(own_rework);
            spent.push(own_spent);
        }
        let rework = free_ratio_estimate(&rework, LEVEL).interval;
        tally.note("after-rework", "coverage", rework.map(|interval| interval.contains(0.2 * corpus.effect)));
        let spent = positive_ratio_estimate(&spent, LEVEL).interval;
        tally.note("per-success", "coverage", spent.map(|interval| interval.contains(mean / corpus.effect)));
    })
}
