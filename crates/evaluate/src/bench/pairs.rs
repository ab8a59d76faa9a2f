//! Pairs of models: which change places through stopping, and which cannot.

use crate::stats::gaffke::Surpluses;

use super::ModelScore;

/// Two models with different full scores on the tasks that both were run on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPair {
    /// The place of the model with the higher full score.
    pub above: usize,
    /// The place of the other.
    pub below: usize,
    /// The difference of the full scores, above 0.
    pub gap: f64,
    /// The difference with stops; below 0 if they change places.
    pub gap_with_stops: f64,
    /// Whether the gap is larger than the most that stopping takes from the model above.
    pub is_beyond: bool,
    /// The p-value of the hypothesis that on tasks like these the model above is, with stops, not ahead of the other
    /// without; adjusted for the number of pairs and stacks.
    pub p: f64,
    /// Whether that is ruled out: the model above stays ahead, with both kinds of error counted.
    pub is_certified: bool,
}

impl ModelPair {
    /// Whether the models change places.
    pub fn is_flipped(&self) -> bool {
        self.gap_with_stops < 0.0
    }
}

/// All pairs of models of a benchmark.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Those whose full scores differ.
    pub pairs: Vec<ModelPair>,
    /// How many have equal full scores.
    pub tied: usize,
    /// How many were run on no common task.
    pub apart: usize,
    /// Kendall's tau-b between the scores without and with stops; `None` where no pair is compared, or all scores are
    /// equal.
    pub tau: Option<f64>,
}

/// Differences smaller than this are rounding.
const ROUNDING: f64 = 1e-9;

impl Pairs {
    pub(super) fn from_models(models: &[ModelScore]) -> Self {
        let mut all = Self::default();
        for a in 0..models.len() {
            for b in a + 1..models.len() {
                all.add(models, a, b);
            }
        }
        // Scores on different tasks are not ranked.
        if !all.pairs.is_empty() {
            all.tau = tau(&models.iter().map(|model| (model.score, model.with_stops)).collect::<Vec<_>>());
        }
        all
    }

    fn add(&mut self, models: &[ModelScore], a: usize, b: usize) {
        let shared: Vec<_> =
            models[a].tasks.iter().filter_map(|(task, own)| Some((own, models[b].tasks.get(task)?))).collect();
        if shared.is_empty() {
            self.apart += 1;
            return;
        }
        let n = shared.len() as f64;
        let full = shared.iter().map(|(a, b)| a.full - b.full).sum::<f64>() / n;
        let kept = shared.iter().map(|(a, b)| a.kept - b.kept).sum::<f64>() / n;
        if full.abs() < ROUNDING {
            self.tied += 1;
            return;
        }
        let is_first = full > 0.0;
        let (above, below) = if is_first { (a, b) } else { (b, a) };
        let kept = if is_first { kept } else { -kept };
        // The worst for the pair: the model above loses what is killed, the other nothing. In [0, 1] where 1/2 is a tie.
        let losses = shared.iter().map(|(a, b)| {
            let ahead = if is_first { a.kept - b.full } else { b.kept - a.full };
            (1.0 - ahead) / 2.0
        });
        self.pairs.push(ModelPair {
            above,
            below,
            gap: full.abs(),
            gap_with_stops: if kept.abs() < ROUNDING { 0.0 } else { kept },
            is_beyond: full.abs() > models[above].at_most,
            p: Surpluses::from_losses(losses, 0.5).gaffke(),
            is_certified: false,
        });
    }

    /// How many change places.
    pub fn flipped(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.is_flipped()).count()
    }

    /// How many are further apart than the most that stopping takes from the model above.
    pub fn beyond(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.is_beyond).count()
    }

    /// How many are certain to stay in order.
    pub fn certified(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.is_certified).count()
    }
}

/// Kendall's tau-b between two scores of each model: 1 if they rank alike, -1 if one is the reverse of the other; ties
/// count for neither. `None` where all models are tied in either.
///
/// Kendall (1945), The treatment of ties in ranking problems, Biometrika 33.
pub fn tau(scores: &[(f64, f64)]) -> Option<f64> {
    let sign = |difference: f64| if difference.abs() < ROUNDING { 0.0 } else { difference.signum() };
    let (mut agree, mut first, mut second) = (0.0, 0.0, 0.0);
    for (at, a) in scores.iter().enumerate() {
        for b in &scores[at + 1..] {
            let (x, y) = (sign(a.0 - b.0), sign(a.1 - b.1));
            agree += x * y;
            first += x * x;
            second += y * y;
        }
    }
    let tau = agree / f64::sqrt(first * second);
    if tau.is_finite() { Some(tau) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{BenchTerms, benchmarks};
    use crate::class::Trial;
    use crate::class::tests::trial;

    #[test]
    fn tau_worked_out_by_hand() {
        assert_eq!(tau(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), Some(1.0));
        assert_eq!(tau(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), Some(-1.0));
        // One of three pairs reversed.
        assert!((tau(&[(1.0, 2.0), (2.0, 1.0), (3.0, 3.0)]).unwrap() - 1.0 / 3.0).abs() < 1e-12);
        // Three pairs, one of them tied in the second: 2 / sqrt(3 * 2).
        assert!((tau(&[(1.0, 1.0), (2.0, 1.0), (3.0, 3.0)]).unwrap() - 2.0 / 6.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(tau(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn a_pair_flips_where_more_is_killed_than_the_gap() {
        // `a` solves 60 of 100 and loses 10 of them, `b` solves 55, `c` none.
        let of = |model: &'static str, solved: usize, killed: usize| {
            (0..100).map(move |task| trial(&task.to_string(), model, 0, task < solved, 4, (task < killed).then_some(2)))
        };
        let trials: Vec<Trial> = of("a", 60, 10).chain(of("b", 55, 0)).chain(of("c", 0, 0)).collect();
        let all = benchmarks(&trials, |_| Some(0), 1, BenchTerms { delta: 0.05, audit: None });
        let pairs = &all[0].pairs;
        assert_eq!((pairs.pairs.len(), pairs.flipped()), (3, 1));
        let flipped = pairs.pairs.iter().find(|pair| pair.is_flipped()).unwrap();
        assert!((flipped.gap - 0.05).abs() < 1e-9 && (flipped.gap_with_stops + 0.05).abs() < 1e-9);
        assert!(!flipped.is_beyond && !flipped.is_certified);
        assert_eq!((pairs.beyond(), pairs.certified()), (2, 2), "both are far ahead of `c`");
    }
}
