//! What is still to come, given how far a run is: intervals for the steps, tokens, dollars and time that remain, by class.
//!
//! A forecast looks at the recorded runs that were still going after so many steps. Each run counts once, since who asks
//! has a run: of a task whose runs are long, more are still going. The intervals leave room for the runs of one task more,
//! and if every task has one run they are conformal: on a new task like these they cover at least as often as they say,
//! whatever the distribution. How often they cover runs of other tasks is measured: each tenth of the tasks is forecast from
//! the others.
//!
//! Vovk, Gammerman & Shafer (2005), Algorithmic learning in a random world; Dunn, Wasserman & Ramdas (2023),
//! Distribution-free prediction sets for two-layer hierarchical models, JASA 118.

mod interval;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::aggregate::{Label, MIN_KNOWN};
use crate::class::By;
use crate::transcript::{EndCause, Moment, Point, Run, named};
use crate::verdict::{Amounts, Ledger};
use interval::{ForecastSpread, SortedSample};

named! {
    /// What is forecast.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Amount {
        /// Model calls.
        Steps = "steps",
        /// Input plus output tokens.
        Tokens = "tokens",
        /// US dollars.
        CostUsd = "cost_usd",
        /// Milliseconds.
        Ms = "ms",
    }
}

impl Amount {
    /// The amount; `None` if it is not recorded.
    pub fn pick(self, amounts: Amounts) -> Option<f64> {
        match self {
            Self::Steps => Some(amounts.steps as f64),
            Self::Tokens => amounts.tokens.map(|tokens| tokens.0 as f64),
            Self::CostUsd => amounts.cost.map(|cost| cost.0),
            Self::Ms => amounts.ms.map(|ms| ms as f64),
        }
    }
}

/// Parts of the tasks that are left out in turn.
const PARTS: u64 = 10;
/// Fewest tasks for a tenth to be told from the rest: with fewer, one of ten new tasks may lie outside all of them.
pub const LEAST_TASKS: u64 = 9;

/// A run, as far as forecasts need it.
#[derive(Clone, Debug)]
pub struct RunCourse {
    task: u64,
    class: Option<Label>,
    is_capped: bool,
    /// What remained after each of the numbers of steps that are asked for, as far as the run got.
    left: Vec<Amounts>,
}

impl RunCourse {
    /// Reads what remained after each of `after` steps, in rising order.
    pub fn from_run(run: &Run, by: By, after: &[u64]) -> Self {
        let ledger = Ledger::from_run(run);
        let whole = ledger.whole();
        let left = |steps: &u64| match usize::try_from(*steps).unwrap_or(usize::MAX).checked_sub(1) {
            None => whole,
            Some(last) => whole.less(ledger.until(Point::new(last, Moment::AfterTools))),
        };
        let (suite, task) = run.cluster();
        Self {
            task: xxh3_64(format!("{suite}\u{1f}{task}").as_bytes()),
            class: by.label(run),
            is_capped: matches!(run.grade.end, EndCause::Cap | EndCause::Timeout | EndCause::Killed),
            left: after.iter().filter(|after| **after < whole.steps).map(left).collect(),
        }
    }

    /// What remained after each of the numbers of steps, as far as the run got.
    pub fn left(&self) -> &[Amounts] {
        &self.left
    }

    /// Its class.
    pub fn class(&self) -> Option<&Label> {
        self.class.as_ref()
    }
}

/// What remains of one amount after so many steps, in one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// The class it is for.
    pub class: String,
    /// Whether it is made from all runs, since the class has too few tasks.
    pub is_pooled: bool,
    /// Steps taken so far.
    pub after: u64,
    /// What is forecast.
    pub amount: Amount,
    /// Tasks with a run that was still going.
    pub tasks: u64,
    /// Their runs that were still going.
    pub runs: u64,
    /// Those that a cap, a time limit or a person ended: without it more would have remained.
    pub capped: u64,
    /// With probability 0.1 at most, less than this remains.
    pub p10: f64,
    /// The median.
    pub p50: f64,
    /// With probability 0.1 at most, more than this remains.
    pub p90: f64,
    /// How often runs of tasks left out were between the two above, from 0 to 1.
    pub covered: Option<f64>,
    /// With probability 0.025 at most, less than this remains.
    pub low: f64,
    /// With probability 0.025 at most, more than this remains; `None` with fewer than 39 tasks.
    pub high: Option<f64>,
    /// How often runs of tasks left out were between the two above.
    pub covered_95: Option<f64>,
}

/// The forecasts of every class, after each of `after` steps, for each amount that nearly all of the runs record. A class
/// with fewer than [`LEAST_TASKS`] tasks still going gets the forecast from all runs; if these have too few as well, none.
pub fn forecasts(courses: &[RunCourse], after: &[u64]) -> Vec<Forecast> {
    let classes: BTreeSet<&Label> = courses.iter().filter_map(RunCourse::class).collect();
    let mut all = Vec::new();
    let mut by_class: BTreeMap<&Label, Vec<&RunCourse>> = BTreeMap::new();
    for course in courses {
        if let Some(class) = &course.class {
            by_class.entry(class).or_default().push(course);
        }
    }
    let everything: Vec<&RunCourse> = courses.iter().collect();
    for (place, steps) in after.iter().enumerate() {
        for amount in Amount::ALL {
            let pooled = match classes.len() {
                0 | 1 => None,
                _ => ForecastSpread::from_courses(&everything, place, amount),
            };
            for (class, of_class) in &by_class {
                if !of_class.iter().any(|course| course.left.len() > place) {
                    continue;
                }
                let own = ForecastSpread::from_courses(of_class, place, amount);
                let (spread, is_pooled) = match (&own, &pooled) {
                    (Some(own), _) => (own, false),
                    (None, Some(pooled)) => (pooled, true),
                    (None, None) => continue,
                };
                all.push(spread.forecast(class, is_pooled, *steps, amount));
            }
        }
    }
    all.sort_by(|a, b| (&a.class, a.after, a.amount).cmp(&(&b.class, b.after, b.amount)));
    all
}

impl ForecastSpread {
    /// Gathers what remained, `None` with too few tasks or too few runs that record it.
    fn from_courses(courses: &[&RunCourse], place: usize, amount: Amount) -> Option<Self> {
        let going: Vec<(&RunCourse, Option<f64>)> =
            courses.iter().filter_map(|course| Some((*course, amount.pick(*course.left.get(place)?)))).collect();
        let known: Vec<(u64, f64)> = going.iter().filter_map(|(course, left)| Some((course.task, (*left)?))).collect();
        if (known.len() as f64) < MIN_KNOWN * going.len() as f64 {
            return None;
        }
        let sample = SortedSample::from_known(&known);
        if sample.tasks() < LEAST_TASKS {
            return None;
        }
        Some(Self {
            runs: known.len() as u64,
            capped: going.iter().filter(|(course, left)| course.is_capped && left.is_some()).count() as u64,
            covered: [0.1, 0.025].map(|tail| covered(&known, tail)),
            sample,
        })
    }

    fn forecast(&self, class: &str, is_pooled: bool, after: u64, amount: Amount) -> Forecast {
        Forecast {
            class: class.to_owned(),
            is_pooled,
            after,
            amount,
            tasks: self.sample.tasks(),
            runs: self.runs,
            capped: self.capped,
            p10: self.sample.low(0.1),
            p50: self.sample.median(),
            // With `LEAST_TASKS` tasks there is one.
            p90: self.sample.high(0.1).unwrap_or(f64::NAN),
            covered: self.covered[0],
            low: self.sample.low(0.025),
            high: self.sample.high(0.025),
            covered_95: self.covered[1],
        }
    }
}

/// How often the runs of each tenth of the tasks are within the interval from the others. `None` where the others are too
/// few for an interval.
fn covered(known: &[(u64, f64)], tail: f64) -> Option<f64> {
    let mut within = 0;
    for part in 0..PARTS {
        let (left_out, others): (Vec<(u64, f64)>, _) = known.iter().partition(|(task, _)| task % PARTS == part);
        let sample = SortedSample::from_known(&others);
        let (low, high) = (sample.low(tail), sample.high(tail));
        for (_, left) in left_out {
            within += usize::from(low <= left && left <= high?);
        }
    }
    if known.is_empty() { None } else { Some(within as f64 / known.len() as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(task: u64, class: &str, steps: u64, after: &[u64]) -> RunCourse {
        let amounts = |steps| Amounts { steps, ..Amounts::default() };
        RunCourse {
            task,
            class: Some(class.into()),
            is_capped: false,
            left: after.iter().filter(|after| **after < steps).map(|after| amounts(steps - after)).collect(),
        }
    }

    #[test]
    fn amounts_have_one_name_in_files_and_tables() {
        for amount in Amount::ALL {
            assert_eq!(serde_json::to_value(amount).unwrap(), amount.name());
        }
    }

    #[test]
    fn nineteen_runs_of_one_to_nineteen_steps() {
        let courses: Vec<RunCourse> = (1..=19).map(|steps| course(steps, "a", steps, &[0, 10])).collect();
        let of = forecasts(&courses, &[0, 10]);
        // Twenty places: one in ten below the second, one in ten above the 18th.
        assert_eq!((of[0].after, of[0].tasks, of[0].p10, of[0].p50, of[0].p90), (0, 19, 2.0, 10.0, 18.0));
        assert_eq!((of[0].low, of[0].high), (0.0, None), "39 tasks would do");
        // After ten steps nine are still going, with one to nine left.
        assert_eq!((of[1].after, of[1].runs, of[1].p10, of[1].p50, of[1].p90), (10, 9, 1.0, 5.0, 9.0));
        assert_eq!(of.len(), 2, "nothing but steps is recorded");
    }

    #[test]
    fn a_class_of_few_tasks_gets_the_forecast_of_all() {
        let mut courses: Vec<RunCourse> = (1..=18).map(|steps| course(steps, "a", steps, &[0])).collect();
        courses.push(course(19, "b", 19, &[0]));
        let of = forecasts(&courses, &[0]);
        assert_eq!(
            of.iter().map(|of| (&*of.class, of.is_pooled, of.tasks)).collect::<Vec<_>>(),
            [("a", false, 18), ("b", true, 19)]
        );
    }

    /// Numbers in (0, 1).
    fn chance(seed: u64, n: u64) -> f64 {
        (xxh3_64(&[seed.to_le_bytes(), n.to_le_bytes()].concat()) as f64 + 1.0) / (u64::MAX as f64 + 2.0)
    }

    /// Twenty trials of each of 40 tasks, some of which take three times as long: after ten steps most runs that are still
    /// going are theirs. What is printed is what a run of another task finds.
    #[test]
    fn coverage_is_that_of_runs_of_other_tasks() {
        let trial = |seed: u64, task: u64, trial: u64| {
            let long = if chance(seed, task) < 0.3 { 3.0 } else { 1.0 };
            let own = -chance(seed, 1_000 + task).ln();
            let steps = long * (4.0 + 4.0 * own - 4.0 * chance(seed, 10_000 + task * 100 + trial).ln());
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few dozen steps")]
            course(xxh3_64(&task.to_le_bytes()), "a", steps as u64, &[10])
        };
        let (mut said, mut of_runs, mut within, mut runs) = (0.0, 0.0, 0, 0);
        for seed in 0..60 {
            let courses: Vec<RunCourse> = (0..800).map(|run| trial(seed, run / 20, run % 20)).collect();
            let of = forecasts(&courses, &[10]);
            said += of[0].covered.unwrap() * of[0].runs as f64;
            of_runs += of[0].runs as f64;
            for run in 0..800 {
                let left = trial(seed + 900, run / 20, run % 20);
                if let Some(left) = left.left().first() {
                    runs += 1;
                    within += u32::from((of[0].p10..=of[0].p90).contains(&(left.steps as f64)));
                }
            }
        }
        let (said, found) = (said / of_runs, f64::from(within) / f64::from(runs));
        assert!((found - said).abs() < 0.02, "{said:.3} is said, {found:.3} of the runs are covered");
        assert!(found >= 0.79, "{found}");
    }
}
