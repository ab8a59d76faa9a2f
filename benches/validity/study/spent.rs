//! The cost of a success against no stopping, in corpora where few tasks carry what is saved.

use whenstop::stats::distribution::normal_quantile;
use whenstop::stats::{ClusterSums, CostSums, cost_estimate, cost_of_success, ratio_estimate};

use super::{Corpus, Row, Tally, random::Random, repeat};

const LEVEL: f64 = 0.95;
/// Tasks that the truth is taken from.
const TRUTH: usize = 20_000;

/// The runs of one task under a rule that stops at `limit` steps; or, for a limit below 10, at so many errors.
fn task(n: u64, spread: f64, limit: f64, random: &mut Random) -> CostSums {
    let length = 9.0 * (spread * random.normal()).exp();
    let rate = random.task_rate(0.55, 0.3);
    let mut sums = CostSums::default();
    for _ in 0..n {
        let success = random.chance(rate);
        let longer = if success { 1.0 } else { 1.7 };
        let steps = (length * longer * (0.35 * random.normal()).exp()).round().clamp(2.0, 150.0);
        let failing = if success { 0.06 } else { 0.22 };
        let at_errors = |random: &mut Random| {
            let mut errors = 0.0;
            let mut step = 1.0;
            while step < steps {
                errors += f64::from(u8::from(random.chance(failing)));
                if errors >= limit {
                    return Some(step);
                }
                step += 1.0;
            }
            None
        };
        let stop = if limit < 10.0 { at_errors(random) } else { Some(limit).filter(|limit| steps > *limit) };
        let kept = f64::from(u8::from(success && stop.is_none()));
        sums.add(stop.unwrap_or(steps), kept, steps, success);
    }
    sums
}

/// Runs of twenty steps: failures are stopped one step before the end, which saves nearly nothing and always the same, and
/// `effect` of the successes with them. Most corpora show no kill at all.
pub(crate) fn unseen(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let truth =
        (0.5 * 20.0 * (1.0 - corpus.effect) + (0.5 + 0.5 * corpus.effect) * 19.0) / 20.0 / (1.0 - corpus.effect);
    repeat("cost-unseen", corpus, repetitions, |random, tally| {
        let task = |_: usize| {
            let mut sums = CostSums::default();
            for _ in 0..corpus.trials {
                let success = random.chance(0.5);
                let stops = !success || random.chance(corpus.effect);
                sums.add(if stops { 19.0 } else { 20.0 }, f64::from(u8::from(!stops)), 20.0, success);
            }
            sums
        };
        let tasks: Vec<CostSums> = (0..corpus.tasks).map(task).collect();
        tally.interval("printed", "coverage", cost_estimate(&tasks, LEVEL).interval, Some(truth));
    })
}

/// A limit on tokens that `effect` of the runs pass; half of the runs succeed, and those that fail are half as long again. What
/// is saved, and the cost of a success; of both, how often the interval holds where nothing calls it rough.
pub(crate) fn limited(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let within = (1.0 - corpus.icc).sqrt();
    let limit = (0.7 * normal_quantile(1.0 - corpus.effect) + 0.2).exp();
    let draw = |tasks: usize, random: &mut Random| -> (Vec<ClusterSums>, Vec<CostSums>) {
        let one = |_| {
            let (length, ability) = (corpus.icc.sqrt() * random.normal(), corpus.icc.sqrt() * random.normal());
            let (mut saved, mut cost) = (ClusterSums::default(), CostSums::default());
            for _ in 0..corpus.runs(random) {
                let success = ability + within * random.normal() > 0.0;
                let longer = if success { 0.0 } else { 0.4 };
                let tokens = (0.7 * (length + within * random.normal()) + longer).exp();
                let spent = tokens.min(limit);
                saved.add(tokens - spent, tokens);
                cost.add(spent, f64::from(u8::from(success && tokens <= limit)), tokens, success);
            }
            (saved, cost)
        };
        (0..tasks).map(one).unzip()
    };
    let (saved, cost) = draw(100_000, &mut Random::new(80));
    let truths = [ratio_estimate(&saved, LEVEL).value, cost.iter().fold(CostSums::default(), CostSums::plus).ratio()];
    let mut saved = Tally::default();
    let mut rows = repeat("cost-limited", corpus, repetitions, |random, cost| {
        let (of_saved, of_cost) = draw(corpus.tasks, random);
        let estimates = [ratio_estimate(&of_saved, LEVEL), cost_estimate(&of_cost, LEVEL)];
        for ((tally, estimate), truth) in [&mut saved, cost].into_iter().zip(&estimates).zip(truths) {
            tally.estimate("printed", "coverage", estimate, truth);
            let trusted = estimate.interval.filter(|_| estimate.warning.is_none());
            tally.interval("printed-not-rough", "coverage", trusted, truth);
        }
    });
    rows.extend(saved.rows("saved-limited", corpus));
    rows
}

/// Tasks that differ much in length, with one to fifty trials each if the corpus is uneven; `effect` is the limit.
pub(crate) fn unlike(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let spread = 0.8;
    let draw = |tasks: usize, random: &mut Random| -> Vec<CostSums> {
        let tasks = (0..tasks).map(|_| {
            let n = corpus.runs(random);
            task(n, spread, corpus.effect, random)
        });
        tasks.collect()
    };
    let all = draw(TRUTH, &mut Random::new(79)).iter().fold(CostSums::default(), CostSums::plus);
    let truth = all.ratio();
    repeat("cost-unlike", corpus, repetitions, |random, tally| {
        let (estimate, p) = cost_of_success(&draw(corpus.tasks, random), LEVEL);
        tally.estimate("printed", "coverage", &estimate, truth);
        let both = estimate.interval.zip(p);
        tally.note("printed", "disagree", both.map(|(interval, p)| interval.contains(1.0) != (p >= 0.05)));
        tally.note("printed", "rough", Some(estimate.warning.is_some()));
    })
}
