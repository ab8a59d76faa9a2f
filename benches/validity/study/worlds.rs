//! Corpora unlike the regular ones: a giant task, heavy tails, unequal trials, missing labels, judges that err, runs given up by
//! hand, strategies that are all alike.

use whenstop::stats::distribution::normal_quantile;
use whenstop::stats::frontier::surely_beaten;
use whenstop::stats::incidence::{End, Ending, incidence_band};
use whenstop::stats::label_rate::{LabelSums, corrected_rate};
use whenstop::stats::labels::{CheckedLabels, ErrorRates};
use whenstop::stats::{
    BoundSums, ClusterSums, CostSums, DifferenceEstimate, Interval, PairedSums, RatioDifference, Resamples, SweepTest,
    WorthSums, adjust_sweep, bound_mean, break_even, cost_of_success, net_worth, positive_ratio_estimate,
    ratio_difference, ratio_estimate, task_rate,
};

use super::intervals::saved_by_limit;
use super::{Corpus, Row, Tally, keys, random::Random, repeat};

const LEVEL: f64 = 0.95;

/// How many runs each task has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// One task has 300 of 460 runs, the others one each.
    Giant,
    /// Two tasks with a hundred runs beside those with two.
    TwoGiants,
    /// The first task has 300 runs, the k-th 300 / k.
    Zipf,
    /// Uniform from one to thirty.
    OneToThirty,
}

impl Sizes {
    pub(crate) const ALL: [Self; 4] = [Self::Giant, Self::TwoGiants, Self::Zipf, Self::OneToThirty];

    fn draw(self, tasks: usize, random: &mut Random) -> Vec<u64> {
        let place = |at: usize| at as u64;
        match self {
            Self::Giant => (0..161).map(|at| if at == 0 { 300 } else { 1 }).collect(),
            Self::TwoGiants => (0..tasks).map(|at| if at < 2 { 100 } else { 2 }).collect(),
            Self::Zipf => (0..tasks).map(|at| (300 / (place(at) + 1)).max(1)).collect(),
            Self::OneToThirty => (0..tasks).map(|_| random.one_to(30)).collect(),
        }
    }

    /// The experiments of this world.
    fn name(self, of: [&'static str; 4]) -> &'static str {
        of[self as usize]
    }
}

fn covers(tally: &mut Tally, interval: Option<Interval>, truth: f64) {
    tally.note("printed", "coverage", interval.map(|interval| interval.contains(truth)));
}

/// An interval and its p-value may not disagree about 0.
fn agree(tally: &mut Tally, comparison: &DifferenceEstimate) {
    let both = comparison.interval.zip(comparison.p);
    tally.note("printed", "disagree", both.map(|(interval, p)| interval.contains(0.0) != (p >= 0.05)));
}

/// A rate of `effect`.
pub(crate) fn rate(sizes: Sizes, corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let name = sizes.name(["rate-giant", "rate-two-giants", "rate-zipf", "rate-1-30"]);
    repeat(name, corpus, repetitions, |random, tally| {
        let tasks: Vec<ClusterSums> = sizes
            .draw(corpus.tasks, random)
            .into_iter()
            .map(|n| {
                let rate = random.task_rate(corpus.effect, corpus.icc);
                ClusterSums::from_counts(random.binomial(n, rate), n)
            })
            .collect();
        covers(tally, task_rate(&tasks, LEVEL).interval, corpus.effect);
    })
}

/// The difference of two rates of `effect`.
pub(crate) fn difference(sizes: Sizes, corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let name = sizes.name(["difference-giant", "difference-two-giants", "difference-zipf", "difference-1-30"]);
    repeat(name, corpus, repetitions, |random, tally| {
        let tasks: Vec<PairedSums> = sizes
            .draw(corpus.tasks, random)
            .into_iter()
            .map(|n| {
                let [a, b] = [0, 1].map(|_| {
                    let rate = random.task_rate(corpus.effect, corpus.icc);
                    ClusterSums::from_counts(random.binomial(n, rate), n)
                });
                PairedSums { a, b }
            })
            .collect();
        let comparison = ratio_difference(&tasks, LEVEL);
        covers(tally, comparison.interval, 0.0);
        agree(tally, &comparison);
    })
}

/// Success by budget 1, an easy or a hard task as giants.
pub(crate) fn budget(sizes: Sizes, corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let name = sizes.name(["budget-giant", "budget-two-giants", "budget-zipf", "budget-1-30"]);
    repeat(name, corpus, repetitions, |random, tally| {
        let (mut runs, mut task_of) = (Vec::new(), Vec::new());
        for (task, n) in sizes.draw(corpus.tasks, random).into_iter().enumerate() {
            let rate = random.task_rate(corpus.effect, corpus.icc);
            for _ in 0..n {
                let at = random.uniform() * 2.0;
                let end = if at > 1.5 {
                    End::CutOff
                } else if random.chance(rate) {
                    End::Success
                } else {
                    End::Failure
                };
                runs.push(Ending { at: at.min(1.5), end });
                task_of.push(task);
            }
        }
        let band = incidence_band(&runs, &task_of, &[1.0], LEVEL);
        covers(tally, band.first().copied().flatten(), 0.5 * corpus.effect);
    })
}

/// Tokens whose logarithm has standard deviation `effect`; three runs in ten are stopped at a random point and then lost, three in ten
/// succeed: what a success costs, that against no stopping, and what is saved, the last in pairs too.
pub(crate) fn costs(sizes: Sizes, corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let of = |kind: usize| {
        let names = [
            ["cost-of-success-giant", "cost-of-success-two-giants", "cost-of-success-zipf", "cost-of-success-1-30"],
            ["cost-ratio-giant", "cost-ratio-two-giants", "cost-ratio-zipf", "cost-ratio-1-30"],
            ["saved-giant", "saved-two-giants", "saved-zipf", "saved-1-30"],
            ["saved-difference-giant", "saved-difference-two-giants", "saved-difference-zipf", "saved-difference-1-30"],
        ];
        sizes.name(names[kind])
    };
    let mut tallies = [Tally::default(), Tally::default(), Tally::default(), Tally::default()];
    let _ = repeat(of(0), corpus, repetitions, |random, _| {
        let (mut per_success, mut ratio) = (Vec::new(), Vec::new());
        let (mut saved, mut pairs) = (Vec::new(), Vec::new());
        for n in sizes.draw(corpus.tasks, random) {
            let task = corpus.icc.sqrt() * random.normal();
            let (stopped, succeeds) = (random.task_rate(0.3, corpus.icc), random.task_rate(0.3, corpus.icc));
            let (mut own, mut cost) = (ClusterSums::default(), CostSums::default());
            let mut pair = PairedSums::default();
            for _ in 0..n {
                let tokens = (corpus.effect * (task + (1.0 - corpus.icc).sqrt() * random.normal())).exp();
                let mut stop = || if random.chance(stopped) { tokens * random.uniform() } else { 0.0 };
                let (here, there) = (stop(), stop());
                let success = f64::from(u8::from(random.chance(succeeds)));
                own.add_either(tokens, success);
                pair.a.add(here, tokens);
                pair.b.add(there, tokens);
                cost.spent_without += tokens;
                cost.spent_with += tokens - here;
                cost.successes_without += success;
                cost.successes_with += if here > 0.0 { 0.0 } else { success };
                cost.n += 1;
            }
            per_success.push(own);
            ratio.push(cost);
            saved.push(pair.a);
            pairs.push(pair);
        }
        let mean = (0.5 * corpus.effect * corpus.effect).exp();
        covers(&mut tallies[0], positive_ratio_estimate(&per_success, LEVEL).interval, mean / 0.3);
        let (estimate, p) = cost_of_success(&ratio, LEVEL);
        covers(&mut tallies[1], estimate.interval, 0.85 / 0.7);
        let both = estimate.interval.zip(p);
        tallies[1].note("printed", "disagree", both.map(|(interval, p)| interval.contains(1.0) != (p >= 0.05)));
        covers(&mut tallies[2], ratio_estimate(&saved, LEVEL).interval, 0.15);
        let comparison = ratio_difference(&pairs, LEVEL);
        covers(&mut tallies[3], comparison.interval, 0.0);
        agree(&mut tallies[3], &comparison);
    });
    tallies.into_iter().enumerate().flat_map(|(kind, tally)| tally.rows(of(kind), corpus)).collect()
}

/// The share of tokens saved by a limit which `effect` of the runs pass, and how much more that is than what one saves that half as many
/// pass; tokens are lognormal with sigma 1. A run in the tail can hold more than all others save together, so the cases that
/// the tool does not call rough are counted apart.
pub(crate) fn limit(sizes: Sizes, corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let name = sizes.name(["limit-giant", "limit-two-giants", "limit-zipf", "limit-1-30"]);
    let limits = [corpus.effect, 0.5 * corpus.effect].map(|effect| normal_quantile(1.0 - effect));
    let [truth, less] = limits.map(saved_by_limit);
    repeat(name, corpus, repetitions, |random, tally| {
        let tasks: Vec<PairedSums> = sizes
            .draw(corpus.tasks, random)
            .into_iter()
            .map(|n| {
                let task = corpus.icc.sqrt() * random.normal();
                let tokens = (0..n).map(|_| (task + (1.0 - corpus.icc).sqrt() * random.normal()).exp());
                let tokens: Vec<f64> = tokens.collect();
                let [a, b] = limits.map(|limit| {
                    ClusterSums::from_runs(tokens.iter().map(|tokens| ((tokens - limit.exp()).max(0.0), *tokens)))
                });
                PairedSums { a, b }
            })
            .collect();
        let estimate = ratio_estimate(&tasks.iter().map(|pair| pair.a).collect::<Vec<_>>(), LEVEL);
        covers(tally, estimate.interval, truth);
        let trusted = estimate.interval.filter(|_| estimate.warning.is_none());
        tally.note("printed-not-rough", "coverage", trusted.map(|interval| interval.contains(truth)));
        let comparison = ratio_difference(&tasks, LEVEL);
        let holds = comparison.interval.map(|interval| interval.contains(truth - less));
        tally.note("printed", "difference-coverage", holds);
        agree(tally, &comparison);
    })
}

/// `effect` stacks of equal truth: the chance that any is called different from the baseline in what it kills or saves, and that
/// any is called beaten by another.
pub(crate) fn alike(sizes: Sizes, corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let name = sizes.name(["alike-giant", "alike-two-giants", "alike-zipf", "alike-1-30"]);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let stacks = corpus.effect as usize;
    repeat(name, corpus, repetitions, |random, tally| {
        let drawn = sizes.draw(corpus.tasks, random);
        let mut kills = vec![vec![ClusterSums::default(); drawn.len()]; stacks];
        let mut saves = kills.clone();
        for (task, n) in drawn.iter().enumerate() {
            let level = corpus.icc.sqrt() * random.normal();
            let rates: Vec<f64> = (0..stacks).map(|_| random.task_rate(0.2, corpus.icc)).collect();
            for _ in 0..*n {
                let tokens = (level + (1.0 - corpus.icc).sqrt() * random.normal()).exp();
                let success = random.chance(0.5);
                for ((rate, kills), saves) in rates.iter().zip(&mut kills).zip(&mut saves) {
                    let stop = random.chance(*rate);
                    let spared = if stop && !success { tokens * random.uniform() } else { 0.0 };
                    saves[task].add(spared, tokens);
                    if success {
                        kills[task].add(f64::from(u8::from(stop)), 1.0);
                    }
                }
            }
        }
        let resamples = Resamples::new(&keys(drawn.len(), random), 500, random.bits());
        let pair = |sums: &[Vec<ClusterSums>], a: usize, b: usize| {
            let tasks = sums[a].iter().zip(&sums[b]).map(|(a, b)| PairedSums { a: *a, b: *b });
            RatioDifference::new(&tasks.collect::<Vec<_>>())
        };
        for (measure, sums) in [("family-wise-kills", &kills), ("family-wise-savings", &saves)] {
            let test = |at: usize| pair(sums, at, 0).map_or(SweepTest::default(), RatioDifference::into_test);
            let tests: Vec<SweepTest> = (1..stacks).map(test).collect();
            let (adjusted, _) = adjust_sweep(&tests, &resamples);
            tally.note("printed", measure, Some(adjusted.iter().any(|p| p.is_some_and(|p| p <= 0.05))));
        }
        let beats = |better: usize, worse: usize| {
            let differences = pair(&kills, worse, better).zip(pair(&saves, better, worse));
            differences.is_some_and(|(fewer, more)| surely_beaten(&fewer, &more, stacks * (stacks - 1), 0.05))
        };
        let beaten = (0..stacks).any(|worse| (0..stacks).any(|better| worse != better && beats(better, worse)));
        tally.note("printed", "any-beaten", Some(beaten));
        let rate = |at: usize, sums: &[Vec<ClusterSums>]| ratio_estimate(&sums[at], LEVEL).value.unwrap_or(f64::NAN);
        let points: Vec<(f64, f64)> = (0..stacks).map(|at| (rate(at, &kills), rate(at, &saves))).collect();
        let below = |a: &(f64, f64), b: &(f64, f64)| b.0 <= a.0 && b.1 >= a.1 && b != a;
        let any = points.iter().any(|a| points.iter().any(|b| below(a, b)));
        tally.note("points-alone", "any-beaten", Some(any));
    })
}

/// The rate of false early stops corrected for a judge of specificity `1 - effect`, known from fifty checks of either kind; two runs in
/// ten succeed, three in ten are stopped.
pub(crate) fn checked_labels(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("labels-checked", corpus, repetitions, |random, tally| {
        let (sensitivity, wrong) = (0.9, corpus.effect);
        let tasks: Vec<LabelSums> = (0..corpus.tasks)
            .map(|_| {
                let runs = corpus.runs(random);
                let succeeds = random.task_rate(0.2, corpus.icc);
                let kills = random.task_rate(0.2, corpus.icc);
                let mut sums = LabelSums { runs, ..LabelSums::default() };
                for _ in 0..runs {
                    let success = random.chance(succeeds);
                    let stopped = random.chance(if success { kills } else { 0.4 });
                    let labelled = random.chance(if success { sensitivity } else { wrong });
                    sums.killed += f64::from(u8::from(stopped && labelled));
                    sums.at_risk += f64::from(u8::from(stopped));
                    sums.successes += f64::from(u8::from(labelled));
                }
                sums
            })
            .collect();
        let checked = CheckedLabels {
            successes: (50, random.binomial(50, sensitivity)),
            failures: (50, 50 - random.binomial(50, wrong)),
        };
        let (estimate, _) = corrected_rate(&tasks, ErrorRates::Checked(checked), LEVEL);
        covers(tally, estimate.interval, 0.2);
        let as_known = checked.errors().map(ErrorRates::Stated);
        let as_known = as_known.and_then(|rates| corrected_rate(&tasks, rates, LEVEL).0.interval);
        tally.note("checks-taken-as-exact", "coverage", as_known.map(|interval| interval.contains(0.2)));
    })
}

/// Success by budget 1 where a person ends `effect` of the runs that would fail, early: the truth is what would have been seen without.
pub(crate) fn given_up(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("budget-given-up", corpus, repetitions, |random, tally| {
        let (mut runs, mut task_of) = (Vec::new(), Vec::new());
        for task in 0..corpus.tasks {
            let rate = random.task_rate(0.5, corpus.icc);
            for _ in 0..corpus.runs(random) {
                let at = random.uniform() * 2.0;
                let success = random.chance(rate);
                let ending = if !success && random.chance(corpus.effect) {
                    Ending { at: at * random.uniform(), end: End::CutOff }
                } else {
                    Ending { at, end: if success { End::Success } else { End::Failure } }
                };
                runs.push(ending);
                task_of.push(task);
            }
        }
        let band = incidence_band(&runs, &task_of, &[1.0], LEVEL);
        tally.note("printed", "truth-within", band.first().copied().flatten().map(|interval| interval.contains(0.25)));
    })
}

/// Tokens saved on failures where `effect` of the labels are missing at random: out of both sums.
pub(crate) fn missing_labels(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("saved-missing-labels", corpus, repetitions, |random, tally| {
        let tasks: Vec<ClusterSums> = (0..corpus.tasks)
            .map(|_| {
                let task = corpus.icc.sqrt() * random.normal();
                let fails = random.task_rate(0.5, corpus.icc);
                let mut sums = ClusterSums::default();
                for _ in 0..corpus.runs(random) {
                    let tokens = (task + (1.0 - corpus.icc).sqrt() * random.normal()).exp();
                    let saved =
                        if random.chance(fails) && random.chance(0.6) { tokens * random.uniform() } else { 0.0 };
                    if !random.chance(corpus.effect) {
                        sums.add(saved, tokens);
                    }
                }
                sums
            })
            .collect();
        covers(tally, ratio_estimate(&tasks, LEVEL).interval, 0.15);
    })
}

/// What stopping `effect` of the runs is worth a run, where three in twenty of the stops kill a success, and the price of a success at which it
/// is worth nothing.
pub(crate) fn worth(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let mean = (0.5_f64 * 0.7 * 0.7).exp();
    let price = 2.0 * mean;
    repeat("worth", corpus, repetitions, |random, tally| {
        let tasks: Vec<WorthSums> = (0..corpus.tasks)
            .map(|_| {
                let task = corpus.icc.sqrt() * random.normal();
                let rate = random.task_rate(corpus.effect, corpus.icc);
                let mut sums = WorthSums::default();
                for _ in 0..corpus.runs(random) {
                    let tokens = (0.7 * (task + (1.0 - corpus.icc).sqrt() * random.normal())).exp();
                    let stopped = random.chance(rate);
                    let saved = if stopped { tokens * random.uniform() } else { 0.0 };
                    sums.add(saved, stopped && random.chance(0.15));
                }
                sums
            })
            .collect();
        covers(tally, net_worth(&tasks, price, LEVEL).interval, corpus.effect * (0.5 * mean - 0.15 * price));
        let even = break_even(&tasks, LEVEL).interval;
        tally.note("printed", "break-even-coverage", even.map(|interval| interval.contains(0.5 * mean / 0.15)));
    })
}

/// Success under a strategy that stops `effect` of the runs, where the state at the stop is graded only now and then, and otherwise lost or not
/// at random: what the bounds hold.
pub(crate) fn sparse_checkpoints(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("bounds-sparse-checkpoints", corpus, repetitions, |random, tally| {
        let mut sample = Vec::new();
        let tasks: Vec<BoundSums> = (0..corpus.tasks)
            .map(|_| {
                let rate = random.task_rate(0.5, corpus.icc);
                let mut task = BoundSums::default();
                let mut as_it_is = ClusterSums::default();
                for _ in 0..corpus.runs(random) {
                    let (now, stopped) = (random.chance(rate), random.chance(corpus.effect));
                    let graded = random.chance(0.4);
                    let y = f64::from(u8::from(now));
                    let known = !stopped || graded;
                    task.add(if known { Interval { low: y, high: y } } else { Interval { low: 0.0, high: 1.0 } }, 1.0);
                    as_it_is.add(y, 1.0);
                }
                sample.push(as_it_is);
                task
            })
            .collect();
        let estimate = bound_mean(&tasks, LEVEL);
        let mean = task_rate(&sample, LEVEL).value.unwrap_or(f64::NAN);
        let within = |bounds: Interval| bounds.low - 1e-9 <= mean && mean <= bounds.high + 1e-9;
        tally.note("bounds", "sample-within", estimate.bounds().map(within));
        tally.note("printed", "truth-within", estimate.interval().map(|interval| interval.contains(0.5)));
    })
}
