//! How often a certificate is violated: the chosen setting's true rate of false early stops exceeds alpha.

use whenstop::stats::Bound;
use whenstop::stats::distribution::normal_quantile;
use whenstop::stats::gaffke::Surpluses;

use super::{Corpus, Row, repeat};

/// The confidence asked for is 1 minus this.
pub(crate) const DELTA: f64 = 0.1;
/// True risks of the settings, as multiples of alpha. The fourth lies just above: the hardest place to be right.
const RISKS: [f64; 7] = [0.2, 0.5, 0.8, 1.001, 1.2, 1.5, 2.0];

/// Nested settings of known risk; `effect` is alpha, `trials` the successful runs per task.
pub(crate) fn walk(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("certificate", corpus, repetitions, |random, tally| {
        let limits = RISKS.map(|risk| normal_quantile(risk * corpus.effect));
        let mut losses = vec![Vec::new(); RISKS.len()];
        for _ in 0..corpus.tasks {
            let task = corpus.icc.sqrt() * random.normal();
            let n = corpus.runs(random);
            let latent: Vec<f64> = (0..n).map(|_| task + (1.0 - corpus.icc).sqrt() * random.normal()).collect();
            for (losses, limit) in losses.iter_mut().zip(limits) {
                losses.push(latent.iter().filter(|latent| **latent < limit).count() as f64 / n as f64);
            }
        }
        for bound in [Bound::Gaffke, Bound::Betting] {
            // From cautious to bold, to the first that does not pass.
            let mut chosen = None;
            for (at, losses) in losses.iter().enumerate() {
                let surpluses = Surpluses::from_losses(losses.iter().copied(), corpus.effect);
                if bound.p_value(&surpluses) > DELTA {
                    break;
                }
                chosen = Some(at);
            }
            tally.note(bound.name(), "violated", Some(chosen.is_some_and(|at| RISKS[at] > 1.0)));
            tally.note(bound.name(), "certified", Some(chosen.is_some()));
        }
    })
}
