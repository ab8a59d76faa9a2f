//! A benchmark under stop rules: what stopping saves, what it changes of each model's score and of the ranking, and what it
//! cannot change.
//!
//! A stopped run counts as failed, so a score can only fall, by the share of the model's runs that succeeded and were
//! stopped. Scores are means over tasks of the share of the task's graded runs that succeeded.

mod pairs;
mod score;

pub use pairs::{ModelPair, Pairs, tau};
pub use score::{Audit, ModelScore};

use std::collections::BTreeMap;

use crate::aggregate::{BestUnit, Label, MeasuredRun, Unit};
use crate::class::{Certainty, Trial};
use crate::stats::cluster_key;
use crate::stats::multiplicity::holm;

/// How a benchmark is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BenchTerms {
    /// The probability that some limit or some certified pair is wrong, over all models, pairs and stacks together.
    pub delta: f64,
    /// The probability with which a stopped run goes on, if stops are audited.
    pub audit: Option<f64>,
}

/// One benchmark: the runs of one class.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// The class.
    pub class: Label,
    /// The models, by name.
    pub models: Vec<ModelScore>,
    /// The pairs of models.
    pub pairs: Pairs,
}

/// Judges every class of `trials`, where `rule` says which stack stops the runs of a model, if any. `tried` is the number
/// of stacks that `rule` picks from: the limits hold for all of them. Trials without a class or a model are left out.
pub fn benchmarks(
    trials: &[Trial],
    rule: impl Fn(&Label) -> Option<usize>,
    tried: usize,
    terms: BenchTerms,
) -> Vec<Benchmark> {
    let mut classes: BTreeMap<&Label, BTreeMap<&Label, Vec<&Trial>>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| !trial.model.is_empty()) {
        let Some(class) = &trial.class else { continue };
        classes.entry(class).or_default().entry(&trial.model).or_default().push(trial);
    }
    let n_models: usize = classes.values().map(BTreeMap::len).sum();
    let delta = terms.delta / (n_models.max(1) * tried.max(1)) as f64;
    // What never acted on any run takes nothing from a score; nor does no stack.
    let acts = |stack: usize| {
        trials.iter().any(|trial| trial.under[stack].early || trial.under[stack].certainty != Certainty::Certain)
    };
    let n_stacks = trials.first().map_or(0, |trial| trial.under.len());
    let acting: Vec<bool> = (0..n_stacks).map(acts).collect();
    let delta_of = |stack: Option<usize>| if acting[stack?] { Some(delta) } else { None };
    let of_class = |(class, models): (&Label, BTreeMap<&Label, Vec<&Trial>>)| {
        let of_model = |(model, trials): (&Label, Vec<&Trial>)| {
            ModelScore::from_model(model, &trials, rule(model), delta_of(rule(model)), terms.audit)
        };
        let models: Vec<ModelScore> = models.into_iter().filter_map(of_model).collect();
        let pairs = Pairs::from_models(&models);
        Benchmark { class: class.clone(), models, pairs }
    };
    let mut all: Vec<Benchmark> = classes.into_iter().map(of_class).collect();
    // Holm over the pairs of all classes; every stack that was tried counts.
    let p: Vec<f64> = all.iter().flat_map(|of| of.pairs.pairs.iter().map(|pair| pair.p)).collect();
    let mut adjusted = holm(&p).into_iter();
    for pair in all.iter_mut().flat_map(|of| &mut of.pairs.pairs) {
        pair.p = (adjusted.next().unwrap_or(1.0) * tried.max(1) as f64).min(1.0);
        pair.is_certified = pair.p <= terms.delta;
    }
    all
}

/// The stack that saves most on the other models among those that kill at most `tolerated` of their successes; `None` if
/// none saves anything. Equal stacks: the first.
pub fn chosen_on_others(trials: &[Trial], model: &Label, n_stacks: usize, tolerated: f64, unit: Unit) -> Option<usize> {
    let others = || trials.iter().filter(|trial| trial.model != *model && !trial.model.is_empty());
    let successes = others().filter(|trial| trial.success() == Some(true)).count();
    let mut best: Option<(usize, f64)> = None;
    for stack in 0..n_stacks {
        let killed = others().filter(|trial| trial.under[stack].killed).count();
        if killed as f64 > tolerated * successes as f64 {
            continue;
        }
        let (spared, whole) = spared(others(), Some(stack), unit);
        let saved = spared / whole;
        if saved > best.map_or(0.0, |(_, saved)| saved) {
            best = Some((stack, saved));
        }
    }
    best.map(|(stack, _)| stack)
}

/// What a stack spares of the trials that record the unit, and what they spent in all.
pub fn spared<'t>(trials: impl Iterator<Item = &'t Trial>, stack: Option<usize>, unit: Unit) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    for trial in trials {
        let spent = match stack {
            Some(stack) => trial.under[stack].spent,
            None => trial.whole,
        };
        if let Some((whole, spent)) = unit.amount_in(trial.whole).zip(unit.amount_in(spent)) {
            sums.0 += whole - spent;
            sums.1 += whole;
        }
    }
    sums
}

/// The unit that nearly all trials record, if the others are like these.
pub fn unit(trials: &[Trial]) -> Unit {
    let measured = |trial: &Trial| {
        let (suite, task) = &trial.task;
        MeasuredRun::new(cluster_key(&format!("{suite}\u{0}{task}")), trial.outcome, trial.whole)
    };
    BestUnit::from_runs(&trials.iter().map(measured).collect::<Vec<_>>()).unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::tests::trial;

    const TERMS: BenchTerms = BenchTerms { delta: 0.05, audit: Some(1.0) };

    /// Two models on ten tasks: `a` solves the first eight and is stopped on the last two of those; `b` solves five.
    fn two() -> Vec<Trial> {
        let of = |model: &'static str, solved: usize, stopped: std::ops::Range<usize>| {
            (0..10).map(move |task| {
                let stop = stopped.contains(&task).then_some(2);
                trial(&task.to_string(), model, 0, task < solved, 4, stop)
            })
        };
        of("a", 8, 6..8).chain(of("b", 5, 8..10)).collect()
    }

    #[test]
    fn scores_fall_by_what_is_killed_and_an_audit_of_all_is_the_full_benchmark() {
        let all = benchmarks(&two(), |_| Some(0), 1, TERMS);
        let [a, b] = &all[0].models[..] else { panic!() };
        assert_eq!((a.score, a.with_stops, a.killed, a.stopped), (0.8, 0.6, 2, 2));
        assert_eq!((b.score, b.with_stops, b.killed, b.stopped), (0.5, 0.5, 0, 2));
        assert!((a.saved[0].unwrap() - 0.1).abs() < 1e-12, "4 of 40 steps");
        for model in [a, b] {
            let audit = model.audit.as_ref().unwrap();
            assert_eq!((audit.score.value, audit.added_error, audit.saved[0]), (Some(model.score), 0.0, Some(0.0)));
        }
        // 0 of 10 at 5 % in two models: (1 - u)^10 = 0.025.
        assert!((b.at_most - (1.0 - 0.025_f64.powf(0.1))).abs() < 1e-9, "{}", b.at_most);
        let pairs = &all[0].pairs;
        assert_eq!((pairs.pairs.len(), pairs.tied, pairs.flipped()), (1, 0, 0));
        assert_eq!(pairs.tau, Some(1.0));
    }

    #[test]
    fn a_rule_that_never_fires_changes_nothing() {
        let all = benchmarks(&two(), |_| None, 1, TERMS);
        for model in &all[0].models {
            assert_eq!((model.score.to_bits(), model.killed, model.stopped), (model.with_stops.to_bits(), 0, 0));
            assert_eq!(model.saved[0], Some(0.0));
        }
        assert_eq!((all[0].pairs.flipped(), all[0].pairs.tau), (0, Some(1.0)));
    }

    #[test]
    fn a_rule_is_chosen_on_the_other_models() {
        let mut trials = two();
        for trial in &mut trials {
            let second = crate::class::Stopped { spent: trial.whole, ..Default::default() };
            trial.under.push(second);
        }
        // On `b` the first stack kills nothing and saves; on `a` it kills two of eight.
        assert_eq!(chosen_on_others(&trials, &"a".into(), 2, 0.02, Unit::Steps), Some(0));
        assert_eq!(chosen_on_others(&trials, &"b".into(), 2, 0.02, Unit::Steps), None);
    }
}
