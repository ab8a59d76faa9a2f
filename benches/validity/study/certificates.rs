//! How often a certificate is violated: the chosen setting's true rate of false early stops exceeds alpha.

use whenstop::stats::certificate::Certification;
use whenstop::stats::distribution::normal_quantile;
use whenstop::stats::{Bound, Calibration, Promise, certify};

use super::{Corpus, Row, repeat};

/// The confidence asked for is 1 minus this.
pub(crate) const DELTA: f64 = 0.1;
/// True risks of the settings, as multiples of alpha. The fourth lies just above: the hardest place to be right.
const RISKS: [f64; 7] = [0.2, 0.5, 0.8, 1.001, 1.2, 1.5, 2.0];

/// Nested settings of known risk; `effect` is alpha, `trials` the successful runs per task.
pub(crate) fn walk(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("certificate", corpus, repetitions, |random, tally| {
        let mut calibration =
            Calibration { successes: Vec::new(), runs: Vec::new(), early_stops: vec![Vec::new(); RISKS.len()] };
        let limits = RISKS.map(|risk| normal_quantile(risk * corpus.effect));
        for _ in 0..corpus.tasks {
            let task = corpus.icc.sqrt() * random.normal();
            let n = corpus.runs(random);
            let latent: Vec<f64> = (0..n).map(|_| task + (1.0 - corpus.icc).sqrt() * random.normal()).collect();
            calibration.successes.push(n);
            for (stops, limit) in calibration.early_stops.iter_mut().zip(limits) {
                stops.push(latent.iter().filter(|latent| **latent < limit).count() as u64);
            }
        }
        for bound in [Bound::Gaffke, Bound::Betting] {
            let certificate = certify(&calibration, Promise { bound, ..Promise::new(corpus.effect, DELTA) });
            let chosen = match certificate.verdict {
                Certification::Certified(at) => Some(at),
                _ => None,
            };
            let method = certificate.promise.bound.name();
            tally.note(method, "violated", Some(chosen.is_some_and(|at| RISKS[at] > 1.0)));
            tally.note(method, "certified", Some(chosen.is_some()));
        }
    })
}
