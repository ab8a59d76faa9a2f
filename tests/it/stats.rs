//! Statistics: golden values, simulations, closed forms.

use whenstop::stats::cluster::spread;
use whenstop::stats::interval::{clopper_pearson, upper_limit, wilson};
use whenstop::stats::{ClusterSums, Interval, Method, Resamples, cluster_key, ratio_estimate};

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

#[test]
fn wilson_golden() {
    check_interval(wilson(17, 20, 0.95), "0.63958", "0.94763");
    check_interval(wilson(5, 5, 0.95), "0.56552", "1");
    check_interval(wilson(0, 59, 0.95), "0", "0.06113");
    check_interval(wilson(3, 100, 0.95), "0.010255", "0.084519");
}

#[test]
fn clopper_pearson_golden() {
    check_interval(clopper_pearson(0, 59, 0.95), "0", "0.060609");
    check_interval(clopper_pearson(0, 45, 0.95), "0", "0.078705");
    check_interval(clopper_pearson(1, 93, 0.95), "0.000272", "0.058458");
    check_interval(clopper_pearson(3, 100, 0.95), "0.006230", "0.085176");
    check_interval(clopper_pearson(17, 20, 0.95), "0.621073", "0.967929");
    check(upper_limit(0, 59, 0.95).unwrap(), "0.049508");
    check(upper_limit(1, 93, 0.95).unwrap(), "0.049994");
    check(upper_limit(3, 100, 0.95).unwrap(), "0.075711");
    assert_eq!(clopper_pearson(0, 0, 0.95), None);
    assert_eq!(clopper_pearson(2, 1, 0.95), None);
}

#[test]
fn cluster_robust_standard_error_golden() {
    let clusters = ["1101", "0001", "1111", "0100"]
        .map(|bits| ClusterSums::of_runs(bits.chars().map(|bit| (if bit == '1' { 1.0 } else { 0.0 }, 1.0))));
    let spread = spread(&clusters).unwrap();
    check(spread.ratio, "0.5625");
    check(spread.naive_standard_error, "0.124020");
    check(spread.naive_standard_error * (16.0_f64 / 15.0).sqrt(), "0.128087");
    check(spread.standard_error, "0.162380");
    check(spread.design_effect().unwrap(), "1.7143");
    check(spread.effective_n().unwrap(), "9.333");
    assert_eq!(clusters, [(3, 4), (1, 4), (4, 4), (1, 4)].map(|(hits, n)| ClusterSums::of_counts(hits, n)));
}

#[test]
fn few_tasks_are_named_and_undefined_is_none() {
    let tasks = |n: usize| (0..n).map(|at| ClusterSums::of_counts(at as u64 % 3, 3)).collect::<Vec<_>>();
    assert_eq!(ratio_estimate(&[], 0.95).value, None);
    assert_eq!(ratio_estimate(&[ClusterSums::default()], 0.95).method, Method::Undefined);
    let seven = ratio_estimate(&tasks(7), 0.95);
    assert_eq!((seven.method, seven.interval, seven.n), (Method::EstimateOnly, None, 21));
    let nine = ratio_estimate(&tasks(9), 0.95);
    assert_eq!(nine.method, Method::WilsonClustered);
    assert!(nine.warning.unwrap().to_string().starts_with("only 9 tasks"));
    assert_eq!(ratio_estimate(&tasks(20), 0.95).warning, None);
}

#[test]
fn one_run_per_task_is_plain_wilson() {
    let tasks: Vec<ClusterSums> = (0..100).map(|at| ClusterSums::of_counts(u64::from(at < 3), 1)).collect();
    let estimate = ratio_estimate(&tasks, 0.95);
    assert_eq!(estimate.method, Method::Wilson);
    check_interval(estimate.interval, "0.010255", "0.084519");
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
    let sums: Vec<ClusterSums> = rows.iter().map(|row| ClusterSums::of_runs([(row.1, row.2)])).collect();
    let linearised = spread(&sums).unwrap().standard_error;
    assert!((forward.standard_error().unwrap() / linearised - 1.0).abs() < 0.06);
    assert_eq!(Resamples::new(&[1, 2], 2000, 1).ratios(&[1.0, 1.0], &[0.0, 0.0]).dropped, 2000);
}

#[test]
fn poisson_weights_have_mean_and_variance_one() {
    let keys: Vec<u64> = (0..500).map(|at| cluster_key(&format!("t{at}"))).collect();
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    Resamples::new(&keys, 400, 7).for_each(|weights| {
        for weight in weights {
            sum += f64::from(*weight);
            squares += f64::from(*weight).powi(2);
            count += 1.0;
        }
    });
    let mean: f64 = sum / count;
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
    assert!((squares / count - mean * mean - 1.0).abs() < 0.02);
}
