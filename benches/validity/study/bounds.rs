//! Bounds on unknown outcomes: the sample's own mean must always lie within, the true mean within the outer interval.

use whenstop::stats::bounds::{Dominance, difference_bounds, dominance};
use whenstop::stats::{BoundSums, ClusterSums, Interval, bound_difference, bound_mean, task_rate};

use super::{Corpus, Row, repeat};

/// Success rate of every corpus.
const SUCCESS: f64 = 0.6;

/// `effect` of the failures and half that share of the successes are beyond the wall: not at random.
pub(crate) fn outcomes(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("bounds", corpus, repetitions, |random, tally| {
        let (mut tasks, mut gains) = (Vec::new(), Vec::new());
        let (mut sample, mut n, mut gain) = (Vec::new(), 0.0, 0.0);
        for _ in 0..corpus.tasks {
            let rate = random.task_rate(SUCCESS, corpus.icc);
            let (mut task, mut differences) = (BoundSums::default(), BoundSums::default());
            let mut as_it_is = ClusterSums::default();
            for _ in 0..corpus.runs(random) {
                let run = |random: &mut super::random::Random| {
                    let success = random.chance(rate);
                    let y = f64::from(u8::from(success));
                    let hidden = random.chance(if success { 0.5 * corpus.effect } else { corpus.effect });
                    (y, if hidden { Interval { low: 0.0, high: 1.0 } } else { Interval { low: y, high: y } })
                };
                let (a, b) = (run(random), run(random));
                task.add(a.1, 1.0);
                let alike = random.chance(0.5);
                differences.add(difference_bounds(a.1, b.1, alike), 1.0);
                gain += if alike { 0.0 } else { a.0 - b.0 };
                as_it_is.add(a.0, 1.0);
                n += 1.0;
            }
            sample.push(as_it_is);
            tasks.push(task);
            gains.push(differences);
        }
        let estimate = bound_mean(&tasks, 0.95);
        let within = |mean: f64, bounds: Option<Interval>| {
            bounds.map(|bounds| bounds.low - 1e-9 <= mean && mean <= bounds.high + 1e-9)
        };
        tally.note(
            "bounds",
            "sample-within",
            within(task_rate(&sample, 0.95).value.unwrap_or(f64::NAN), estimate.bounds()),
        );
        tally.note("printed", "truth-within", within(SUCCESS, estimate.interval()));
        let difference = bound_difference(&gains, 0.95);
        tally.note("difference-bounds", "sample-within", within(gain / n, difference.bounds()));
        tally.note("dominance", "false-dominance", Some(dominance(&difference) == Dominance::Confident));
    })
}
