//! Statistics: golden values, simulations, closed forms.

#[path = "../../benches/validity/study/mod.rs"]
mod study;

use proptest::prelude::*;
use study::worlds::{self, Sizes};
use study::{Corpus, Row, bounds as bound_study, certificates, intervals, seldom, sweeps, tests as test_study};
use whenstop::stats::bounds::{Dominance, difference_bounds, dominance, tipping_point};
use whenstop::stats::cluster::spread;
use whenstop::stats::distribution::binomial_cdf;
use whenstop::stats::frontier::{Tradeoff, hypervolume, membership, on_frontier};
use whenstop::stats::gaffke::Surpluses;
use whenstop::stats::incidence::{End, Ending, Incidence, incidence_band, incidence_bounds};
use whenstop::stats::multiplicity::{holm, max_t};
use whenstop::stats::paired::sign_flip;
use whenstop::stats::split::{Part, split_tasks};
use whenstop::stats::{
    Adjustment, BoundSums, ClusterSums, Contrast, Interval, Method, PairedSums, RatioDifference, Resamples, SweepTest,
    adjust_sweep, bound_difference, bound_mean, cluster_key, ratio_difference, ratio_estimate, task_rate,
};

/// `actual` printed with as many digits as `expected` has.
#[track_caller]
fn check(actual: f64, expected: &str) {
    let digits = expected.split_once('.').map_or(0, |(_, digits)| digits.len());
    assert_eq!(format!("{actual:.digits$}"), expected);
}

#[track_caller]
fn check_interval(actual: Option<Interval>, low: &str, high: &str) {
    let interval = actual.unwrap();
    check(interval.low, low);
    check(interval.high, high);
}

/// A task of one run under two strategies, as (numerator, denominator).
fn paired(a: (f64, f64), b: (f64, f64)) -> PairedSums {
    PairedSums { a: ClusterSums::from_runs([a]), b: ClusterSums::from_runs([b]) }
}

/// One run a task: the interval of Clopper and Pearson.
#[test]
fn rate_of_one_run_a_task_golden() {
    let rate = |hits: u64, n: u64| {
        task_rate(&(0..n).map(|at| ClusterSums::from_counts(u64::from(at < hits), 1)).collect::<Vec<_>>(), 0.95)
    };
    check_interval(rate(0, 59).interval, "0", "0.060609");
    check_interval(rate(0, 45).interval, "0", "0.078705");
    check_interval(rate(1, 93).interval, "0.000272", "0.058458");
    check_interval(rate(3, 100).interval, "0.006230", "0.085176");
    check_interval(rate(17, 20).interval, "0.621073", "0.967929");
    assert_eq!(rate(0, 0).interval, None);
    assert_eq!((rate(17, 20).method, rate(17, 20).warning), (Method::Gaffke, None));
}

#[test]
fn cluster_robust_standard_error_golden() {
    let clusters = ["1101", "0001", "1111", "0100"]
        .map(|bits| ClusterSums::from_runs(bits.chars().map(|bit| (if bit == '1' { 1.0 } else { 0.0 }, 1.0))));
    let spread = spread(&clusters).unwrap();
    check(spread.ratio, "0.5625");
    // Residuals without each task, larger than those of a mean over four equal tasks by 4/3.
    check(spread.standard_error() * 0.75, "0.162380");
    assert_eq!(clusters, [(3, 4), (1, 4), (4, 4), (1, 4)].map(|(hits, n)| ClusterSums::from_counts(hits, n)));
}

#[test]
fn few_tasks_are_named_and_undefined_is_none() {
    assert_eq!(ratio_estimate(&[], 0.95).value, None);
    assert_eq!(ratio_estimate(&[ClusterSums::default()], 0.95).method, Method::Undefined);
    // Exact bounds hold for any number of tasks.
    let tasks = |n: usize| (0..n).map(|at| ClusterSums::from_counts(at as u64 % 3, 3)).collect::<Vec<_>>();
    let seven = task_rate(&tasks(7), 0.95);
    assert_eq!((seven.method, seven.n, seven.clusters, seven.warning), (Method::Gaffke, 21, 7, None));
    assert!(seven.interval.unwrap().width() > 0.4);
    assert_eq!(task_rate(&[ClusterSums::default()], 0.95).method, Method::Undefined);
    let amounts = |n: u32| {
        let tasks = (0..n).map(|at| ClusterSums::from_runs([(f64::from(at % 5), 7.0 + f64::from(at % 3))]));
        ratio_estimate(&tasks.collect::<Vec<_>>(), 0.95)
    };
    assert_eq!((amounts(19).method, amounts(19).interval), (Method::EstimateOnly, None));
    assert_eq!(amounts(20).method, Method::LogitT);
    assert!(amounts(20).warning.unwrap().to_string().contains("at least 50"));
    let losses = (0..60).map(|at| ClusterSums::from_runs([(f64::from(at % 5) - 1.0, 7.0)])).collect::<Vec<_>>();
    assert_eq!(ratio_estimate(&losses, 0.95).method, Method::SkewnessCorrectedT);
    assert_eq!(ratio_estimate(&vec![ClusterSums::from_runs([(0.0, 7.0)]); 60], 0.95).interval, None);
}

#[test]
fn bootstrap_is_the_same_in_any_order_and_agrees_with_the_standard_error() {
    let names: Vec<String> = (0..60).map(|at| format!("task-{at}")).collect();
    let rows: Vec<(u64, f64, f64)> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (cluster_key(name), (at % 7) as f64 + 0.1, 5.0 + (at % 3) as f64))
        .collect();
    let ratios = |rows: &[(u64, f64, f64)]| {
        let keys: Vec<u64> = rows.iter().map(|row| row.0).collect();
        let numerators: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let denominators: Vec<f64> = rows.iter().map(|row| row.2).collect();
        Resamples::new(&keys, 2000, 1).ratios(&numerators, &denominators)
    };
    let forward = ratios(&rows);
    let mut turned = rows.clone();
    turned.reverse();
    assert_eq!(forward, ratios(&turned));
    assert_eq!(forward.values.len(), 2000);
    let sums: Vec<ClusterSums> = rows.iter().map(|row| ClusterSums::from_runs([(row.1, row.2)])).collect();
    let linearised = spread(&sums).unwrap().standard_error();
    assert!((forward.standard_error().unwrap() / linearised - 1.0).abs() < 0.06);
    assert_eq!(Resamples::new(&[1, 2], 2000, 1).ratios(&[1.0, 1.0], &[0.0, 0.0]).dropped, 2000);
}

#[test]
fn poisson_weights_have_mean_and_variance_one() {
    let keys: Vec<u64> = (0..500).map(|at| cluster_key(&format!("t{at}"))).collect();
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for weight in Resamples::new(&keys, 400, 7).map(<[u8]>::to_vec).concat() {
        sum += f64::from(weight);
        squares += f64::from(weight).powi(2);
        count += 1.0;
    }
    let mean: f64 = sum / count;
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
    assert!((squares / count - mean * mean - 1.0).abs() < 0.02);
}

#[test]
fn sign_flip_counts_all_patterns_and_agrees_with_the_binomial() {
    check(sign_flip(&[1.0, 2.0, 3.0], 1), "0.25");
    check(sign_flip(&[], 1), "1");
    let of_signs = |plus: usize, minus: usize| [vec![1.0; plus], vec![-1.0; minus]].concat();
    check(sign_flip(&of_signs(2, 10), 1), "0.038574");
    let sampled = sign_flip(&of_signs(13, 27), 1);
    // With differences of one size the test is McNemar's.
    let exact = 2.0 * binomial_cdf(13, 40, 0.5);
    assert!((sampled - exact).abs() < 0.006, "{sampled} {exact}");
}

#[test]
fn multiplicity_golden() {
    let rounded = |values: Vec<f64>| values.iter().map(|p| format!("{p:.2}")).collect::<Vec<_>>();
    assert_eq!(rounded(holm(&[0.01, 0.04, 0.03, 0.005])), ["0.03", "0.06", "0.06", "0.02"]);
}

#[test]
fn max_t_pays_once_for_copies_and_names_the_undefined() {
    let tasks: Vec<PairedSums> =
        (0..40).map(|at| paired((f64::from(at % 5) + 0.3, 4.0), (f64::from((at * 7) % 5), 4.0))).collect();
    let keys: Vec<u64> = (0..40).map(|at| cluster_key(&format!("t{at}"))).collect();
    let resamples = Resamples::new(&keys, 2000, 3);
    let one = RatioDifference::new(&tasks).unwrap().into_contrast();
    let alone = max_t(std::slice::from_ref(&one), &resamples)[0].unwrap();
    let mut none = one.clone();
    none.scores = vec![0.0; 40];
    let mut zero = none.clone();
    zero.value = 0.0;
    let adjusted = max_t(&[one.clone(), one.clone(), none.clone(), one.clone(), zero.clone()], &resamples);
    assert_eq!(adjusted, [Some(alone), Some(alone), None, Some(alone), Some(1.0)]);
    let single = ratio_difference(&tasks, 0.95).p.unwrap();
    assert!((alone - single).abs() < 0.05, "{alone} {single}");
}

#[test]
fn a_sweep_is_adjusted_by_what_holds_for_its_tests_and_tasks() {
    let adjusted = |clusters: usize, own: &[Option<f64>]| {
        let scores: Vec<f64> = (0..clusters).map(|at| if at % 2 == 0 { 0.03 } else { -0.01 }).collect();
        let contrast = Contrast { value: 0.1, scores, clusters: clusters as u64 };
        let tests: Vec<SweepTest> = own.iter().map(|p| SweepTest { p: *p, contrast: Some(contrast.clone()) }).collect();
        let keys: Vec<u64> = (0..clusters).map(|at| cluster_key(&format!("t{at}"))).collect();
        adjust_sweep(&tests, &Resamples::new(&keys, 200, 3))
    };
    assert_eq!(adjusted(7, &[Some(0.01); 6]), (vec![None; 6], Adjustment::None));
    let (few_tasks, method) = adjusted(19, &[Some(0.01), None, Some(0.02), None, None, None]);
    assert_eq!(method, Adjustment::Holm);
    // A test that could not be made still counts: 6 in all.
    check(few_tasks[0].unwrap(), "0.06");
    check(few_tasks[2].unwrap(), "0.10");
    assert_eq!(few_tasks[1], None);
    assert_eq!(adjusted(60, &[Some(0.01); 4]).1, Adjustment::Holm, "a handful");
    let (many, method) = adjusted(20, &[Some(0.01), Some(0.01), None, Some(0.01), Some(0.01)]);
    assert_eq!((method, many[2], many[0] == many[4]), (Adjustment::HolmAndMaxT, None, true));
}

#[test]
fn bounds_golden() {
    let known = |y: f64| Interval { low: y, high: y };
    let unknown = Interval { low: 0.0, high: 1.0 };
    let rest = [unknown, unknown, unknown, known(1.0), known(1.0), known(1.0), known(0.0)];
    let estimate = |first: [Interval; 3]| {
        bound_mean(&first.iter().chain(&rest).map(|run| BoundSums::from_runs([*run])).collect::<Vec<_>>(), 0.95)
    };
    let checkpoints = estimate([known(0.0), known(1.0), known(0.0)]);
    check_interval(checkpoints.bounds(), "0.4", "0.7");
    check(checkpoints.bounds().unwrap().width(), "0.3");
    check(tipping_point(checkpoints.bounds().unwrap(), 0.6).unwrap(), "0.6667");
    assert!(checkpoints.interval().unwrap().low < 0.4 && checkpoints.interval().unwrap().high > 0.7);
    check_interval(estimate([unknown; 3]).bounds(), "0.3", "0.9");
}

#[test]
fn dominance_uses_differences_run_by_run() {
    // Both strategies act alike on three of four runs, where nothing is known; the differences are known there: 0.
    let unknown = Interval { low: 0.0, high: 1.0 };
    let (yes, no) = (Interval { low: 1.0, high: 1.0 }, Interval { low: 0.0, high: 0.0 });
    let tasks = |n: usize, better: usize| {
        (0..n)
            .map(|at| {
                let run = if at < better {
                    difference_bounds(yes, no, false)
                } else {
                    difference_bounds(unknown, unknown, true)
                };
                BoundSums::from_runs([run])
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(dominance(&bound_difference(&tasks(4, 1), 0.95)), Dominance::OnTheseRuns);
    assert_eq!(dominance(&bound_difference(&tasks(12, 9), 0.95)), Dominance::OnTheseRuns);
    assert_eq!(dominance(&bound_difference(&tasks(100, 30), 0.95)), Dominance::Confident);
    assert_eq!(dominance(&bound_difference(&tasks(100, 0), 0.95)), Dominance::No);
}

#[test]
fn incidence_golden() {
    let ending = |at: f64, end: End| Ending { at, end };
    let shares = |curve: &Incidence| curve.steps.iter().map(|step| (step.at, step.incidence)).collect::<Vec<_>>();
    // A cap on this axis ends the curve; a failure can no longer succeed.
    let capped = [0.2, 0.5].map(|at| ending(at, End::Success)).into_iter().chain([ending(2.0, End::CutOff); 2]);
    let (curve, most) = incidence_bounds(&capped.collect::<Vec<_>>(), &[0, 1, 2, 3]);
    assert_eq!((shares(&curve), curve.known_to), (vec![(0.2, 0.25), (0.5, 0.5), (2.0, 0.5)], Some(2.0)));
    assert_eq!(curve, most);
    // By hand: of the four runs, three are of one task. The run cut off at 3 fails or is about to succeed.
    let mixed =
        [ending(1.0, End::Success), ending(2.0, End::Failure), ending(3.0, End::CutOff), ending(4.0, End::Success)];
    let (least, most) = incidence_bounds(&mixed, &[0, 0, 0, 1]);
    let sixth = 1.0 / 6.0;
    assert_eq!(shares(&least), [(1.0, sixth), (2.0, sixth), (3.0, sixth), (4.0, sixth + 0.5)]);
    assert_eq!(shares(&most), [(1.0, sixth), (2.0, sixth), (3.0, 2.0 * sixth), (4.0, 2.0 * sixth + 0.5)]);
    assert_eq!(least.steps.iter().map(|step| step.at_risk).collect::<Vec<_>>(), [4, 3, 2, 1]);
    assert_eq!((least.known_to, incidence_bounds(&[], &[]).0), (None, Incidence::default()));
}

#[test]
fn incidence_band_is_the_rate_at_each_budget_and_covers_both_bounds() {
    let end = |at: u32| if at.is_multiple_of(3) { End::Success } else { End::Failure };
    let mut runs: Vec<Ending> = (0..90).map(|at| Ending { at: f64::from(at % 10), end: end(at) }).collect();
    let task_of: Vec<usize> = (0..90).map(|at| at / 3).collect();
    let rate = |budget: f64| {
        let in_time = |run: &&Ending| run.at <= budget && run.end == End::Success;
        let of_task = |runs: &[Ending]| ClusterSums::from_counts(runs.iter().filter(in_time).count() as u64, 3);
        task_rate(&runs.chunks(3).map(of_task).collect::<Vec<_>>(), 0.95).interval
    };
    let rates = [4.0, 9.0].map(rate);
    assert_eq!(incidence_band(&runs, &task_of, &[4.0, 9.0], 0.95), rates);
    runs[7].end = End::CutOff;
    let [in_time, late] = [0, 1].map(|at| incidence_band(&runs, &task_of, &[4.0, 9.0], 0.95)[at].unwrap());
    assert_eq!(Some(in_time), rates[0]);
    assert_eq!(late.hull(rates[1].unwrap()), late);
    assert!(late.width() > rates[1].unwrap().width(), "{late:?}");
}

#[test]
fn clean_tasks_needed_golden() {
    let table = [
        (0.01, [(0_u64, 0.05, 299), (0, 0.1, 230), (1, 0.05, 473), (2, 0.05, 628), (3, 0.05, 773), (5, 0.05, 1049)]),
        (0.02, [(0, 0.05, 149), (0, 0.1, 114), (1, 0.05, 236), (2, 0.05, 313), (3, 0.05, 386), (5, 0.05, 523)]),
        (0.05, [(0, 0.05, 59), (0, 0.1, 45), (1, 0.05, 93), (2, 0.05, 124), (3, 0.05, 153), (5, 0.05, 208)]),
        (0.1, [(0, 0.05, 29), (0, 0.1, 22), (1, 0.05, 46), (2, 0.05, 61), (3, 0.05, 76), (5, 0.05, 103)]),
    ];
    for (alpha, row) in table {
        for (stops, delta, tasks) in row {
            let losses = (0..stops).map(|_| 1.0);
            let needed = Surpluses::from_losses(losses, alpha).clean_tasks_needed(delta);
            assert_eq!(
                needed.map(|clean| clean + stops),
                Some(tasks),
                "alpha {alpha}, delta {delta}, {stops} false early stops"
            );
        }
    }
}

#[test]
fn split_keeps_tasks_whole_and_suites_balanced() {
    let names: Vec<String> = (0..30).map(|at| format!("task-{at}")).collect();
    let tasks: Vec<(&str, &str)> =
        names.iter().enumerate().map(|(at, name)| (if at < 10 { "small" } else { "large" }, name.as_str())).collect();
    let parts = split_tasks(&tasks, "salt", 0.5);
    let dev = |range: std::ops::Range<usize>| parts[range].iter().filter(|part| **part == Part::Dev).count();
    assert_eq!((dev(0..10), dev(10..30)), (5, 10));
    assert_ne!(parts, split_tasks(&tasks, "pepper", 0.5));
    let turned: Vec<_> = tasks.iter().rev().copied().collect();
    let mut again = split_tasks(&turned, "salt", 0.5);
    again.reverse();
    assert_eq!(parts, again);
}

#[test]
fn hypervolume_golden() {
    let point = |(retention, cost): (f64, f64)| Tradeoff { retention, cost };
    let points = [(0.99, 0.8), (0.95, 0.6), (0.90, 0.5)].map(point);
    check(hypervolume(&points, point((0.8, 1.0))), "0.078");
    let more = [points.to_vec(), vec![point((0.94, 0.7)), point((0.95, 0.6)), point((f64::NAN, 0.1))]].concat();
    check(hypervolume(&more, point((0.8, 1.0))), "0.078");
    assert_eq!(on_frontier(&more), [true, true, true, false, true, false]);
    check(membership(&[more.clone(), points[..1].to_vec()]).unwrap()[0], "1.0");
}

proptest! {
    #[test]
    fn intervals_contain_the_estimate_and_stay_in_range(counts in prop::collection::vec((0_u64..6, 1_u64..6), 1..40)) {
        let clusters: Vec<ClusterSums> = counts.iter().map(|(hits, n)| ClusterSums::from_counts(*hits.min(n), *n)).collect();
        let estimate = task_rate(&clusters, 0.95);
        let interval = estimate.interval.unwrap();
        prop_assert!(interval.contains(estimate.value.unwrap()));
        prop_assert!(interval.low >= 0.0 && interval.high <= 1.0);
    }

    #[test]
    fn holm_never_beats_bonferroni_and_keeps_order(p in prop::collection::vec(0.0_f64..=1.0, 1..20)) {
        let adjusted = holm(&p);
        for (at, adjusted) in adjusted.iter().enumerate() {
            prop_assert!(*adjusted >= p[at] && *adjusted <= (p[at] * p.len() as f64).min(1.0) + 1e-12);
        }
    }

    #[test]
    fn without_unknown_outcomes_bounds_are_the_estimate(counts in prop::collection::vec((0_u64..6, 1_u64..6), 1..30)) {
        let clusters: Vec<ClusterSums> = counts.iter().map(|(hits, n)| ClusterSums::from_counts(*hits.min(n), *n)).collect();
        let bounds = bound_mean(&clusters.iter().map(|sums| BoundSums { low: *sums, high: *sums }).collect::<Vec<_>>(), 0.95);
        let plain = task_rate(&clusters, 0.95);
        prop_assert_eq!(bounds.interval(), plain.interval);
        prop_assert_eq!(bounds.bounds().map(|bounds| bounds.width()), Some(0.0));
    }
}

/// A few corpora shapes of the long simulation: several runs per task, correlated, and one run per task.
const CORPORA: [Corpus; 3] = [
    Corpus { tasks: 20, trials: 6, even: false, icc: 0.3, effect: 0.3 },
    Corpus { tasks: 60, trials: 4, even: true, icc: 0.7, effect: 0.1 },
    Corpus { tasks: 60, trials: 1, even: true, icc: 0.0, effect: 0.2 },
];

/// The share of `method`'s events lies within `range`, give or take three Monte-Carlo errors, and it answered at all.
#[track_caller]
fn check_share(rows: &[Row], method: &str, measure: &str, range: std::ops::RangeInclusive<f64>) {
    let row = rows.iter().find(|row| row.method == method && row.measure == measure).unwrap();
    let share = row.share().unwrap();
    let slack = 3.0 * (range.end() * (1.0 - range.start()) / row.answered as f64).sqrt().max(1e-9);
    let within = range.start() - slack..=range.end() + slack;
    assert!(within.contains(&share), "{method} {measure}: {share:.3}, wanted {within:?} in {:?}", row.corpus);
}

#[test]
fn printed_intervals_cover_the_truth_as_often_as_they_say() {
    for corpus in CORPORA {
        check_share(&intervals::rate(corpus, 300, 0), "printed", "coverage", 0.95..=1.0);
    }
    let corpus = Corpus { effect: 0.3, ..CORPORA[1] };
    check_share(&intervals::stops(corpus, 300, 0), "printed", "coverage", 0.93..=0.98);
    for method in ["after-rework", "per-success"] {
        check_share(&intervals::free_ratios(corpus, 300), method, "coverage", 0.93..=0.98);
    }
    check_share(&intervals::budget(corpus, 60), "printed", "coverage", 0.95..=1.0);
}

#[test]
fn paired_tests_and_sweeps_rarely_cry_wolf() {
    for corpus in CORPORA {
        check_share(&test_study::yes_no(corpus, 300), "printed", "type-I", 0.0..=0.06);
        check_share(&test_study::costs(corpus, 300), "printed", "type-I", 0.0..=0.06);
    }
    check_share(&sweeps::rates(CORPORA[1], 40, 100, false), "printed", "family-wise", 0.0..=0.05);
}

#[test]
fn what_is_saved_seldom_and_much_is_not_called_worse() {
    for (tasks, effect) in [(30, 0.05), (60, 0.1), (60, 0.02), (120, 0.05)] {
        let corpus = Corpus { tasks, trials: 4, even: true, icc: 0.3, effect };
        let rows = seldom::alike(corpus, 60);
        for measure in ["coverage", "difference-coverage"] {
            check_share(&rows, "printed", measure, 0.93..=1.0);
        }
        check_share(&rows, "printed", "disagree", 0.0..=0.0);
        check_share(&rows, "printed", "family-wise", 0.0..=0.06);
    }
}

#[test]
fn certificates_are_violated_at_most_as_often_as_they_say() {
    for (tasks, trials) in [(60, 1), (60, 3), (120, 1)] {
        let corpus = Corpus { tasks, trials, even: true, icc: 0.3, effect: 0.1 };
        check_share(&certificates::walk(corpus, 300), "gaffke", "violated", 0.0..=certificates::DELTA);
    }
}

#[test]
fn worlds_with_a_giant_task_or_judges_that_err_hold_too() {
    let corpus = Corpus { tasks: 60, trials: 4, even: true, icc: 0.3, effect: 0.3 };
    for sizes in Sizes::ALL {
        check_share(&worlds::rate(sizes, corpus, 200), "printed", "coverage", 0.95..=1.0);
        check_share(&worlds::budget(sizes, corpus, 40), "printed", "coverage", 0.95..=1.0);
        for row in worlds::costs(sizes, Corpus { effect: 1.2, ..corpus }, 100) {
            let range = if row.measure == "disagree" { 0.0..=0.0 } else { 0.93..=1.0 };
            check_share(std::slice::from_ref(&row), "printed", row.measure, range);
        }
        let rows = worlds::difference(sizes, corpus, 200);
        check_share(&rows, "printed", "coverage", 0.93..=1.0);
        check_share(&rows, "printed", "disagree", 0.0..=0.0);
    }
    let alike = Corpus { effect: 8.0, ..corpus };
    let rows = worlds::alike(Sizes::OneToThirty, alike, 30);
    for measure in ["family-wise-kills", "family-wise-savings", "any-beaten"] {
        check_share(&rows, "printed", measure, 0.0..=0.06);
    }
    check_share(&worlds::checked_labels(Corpus { effect: 0.1, ..corpus }, 60), "printed", "coverage", 0.93..=0.98);
    check_share(&worlds::missing_labels(corpus, 100), "printed", "coverage", 0.90..=1.0);
    check_share(&worlds::sparse_checkpoints(corpus, 100), "bounds", "sample-within", 1.0..=1.0);
    check_share(&worlds::given_up(Corpus { effect: 0.8, ..corpus }, 60), "printed", "truth-within", 0.95..=1.0);
}

#[test]
fn bounds_always_hold_the_truth() {
    for corpus in CORPORA {
        let rows = bound_study::outcomes(corpus, 200);
        for method in ["bounds", "difference-bounds"] {
            let row = rows.iter().find(|row| row.method == method).unwrap();
            assert_eq!((row.events, row.answered), (200, 200), "{method}");
        }
        check_share(&rows, "printed", "truth-within", 0.95..=1.0);
        check_share(&rows, "dominance", "false-dominance", 0.0..=0.025);
    }
}
