//! Tuning by class: the smallest cap and the best rule of each class that has the tasks for a certificate of its own. Of the
//! others nothing is said: what holds for all classes together says nothing of one of them.
//!
//! The promise covers all classes: each is certified at delta over their number. Whether a class has the tasks depends on the
//! number of its tasks with a success alone, never on what a rule kills.

use std::collections::BTreeMap;

use super::{Appetite, Choice, Family, LimitIx, Study, StudyRun, Tuned, clean_tasks_needed};
use crate::aggregate::{Label, TaskSums};

/// A certified limit, by its rule, and what it does to the recorded runs of the class.
#[derive(Clone, Debug)]
pub struct ClassLimit {
    /// The limit, in the study of the class.
    pub choice: Choice,
    /// The rule as text.
    pub rule: String,
    /// The limit itself.
    pub limit: f64,
    /// What it does to the class: successes killed.
    pub killed: f64,
    /// Of so many that can be judged.
    pub successes: f64,
    /// The share of the recorded amount that it saves in the class.
    pub saved: Option<f64>,
}

/// The answer for one class.
pub struct TunedClass {
    /// Its name.
    pub class: Label,
    /// Its runs.
    pub study: Study,
    /// Tasks with a success.
    pub with_success: u64,
    /// Whether these are enough for a certificate of its own. Without one nothing is said of the class.
    pub is_certified: bool,
    /// The smallest certified cap: a limit of the budget.
    pub cap: Option<ClassLimit>,
    /// What half of that cap would do: how much a tempting limit costs.
    pub half: Option<ClassLimit>,
    /// The certified rule to ship: what [`decide`](crate::aggregate::decide) chooses.
    pub best: Option<ClassLimit>,
}

/// The answer for all classes.
pub struct TunedClasses {
    /// The classes, by name.
    pub classes: Vec<TunedClass>,
    /// All runs together.
    pub pooled: Study,
    /// The probability that one class's certificate is wrong.
    pub delta_each: f64,
    /// Tasks with a success that a class needs for a certificate of its own, none of them killed.
    pub needed: u64,
    /// Runs without a class: they count in no certificate.
    pub unclassed: usize,
}

/// Tunes each class. `budget` is the signal of the cap, of `families` the first.
pub fn tune_classes(
    runs: Vec<(Option<Label>, StudyRun)>,
    families: &[Family],
    budget: &str,
    appetite: Appetite,
) -> TunedClasses {
    let mut by_class: BTreeMap<Label, Vec<StudyRun>> = BTreeMap::new();
    let mut unclassed = 0;
    for (class, run) in &runs {
        match class {
            Some(class) => by_class.entry(class.clone()).or_default().push(run.clone()),
            None => unclassed += 1,
        }
    }
    let pooled = Study::new(runs.into_iter().map(|(_, run)| run).collect(), families.to_vec());
    let delta_each = appetite.delta / by_class.len().max(1) as f64;
    let appetite = Appetite { delta: delta_each, ..appetite };
    let share = families.first().map_or(1.0, Family::share);
    let needed = clean_tasks_needed(appetite.alpha, delta_each * share);
    let of_class = |(class, runs): (Label, Vec<StudyRun>)| {
        let study = Study::new(runs, families.to_vec()).in_unit(pooled.unit());
        let with_success = study.with_success(&study.all_tasks());
        let tuned = if with_success >= needed { Some(study.tune(&study.all_tasks(), appetite)) } else { None };
        let cap = tuned.as_ref().and_then(|tuned| cap(tuned, &study, budget));
        let best = tuned.as_ref().and_then(|tuned| tuned.chosen.ok());
        let half = cap.and_then(|cap| half(&study, cap));
        let [cap, half, best] = [cap, half, best].map(|choice| Some(judged(&study, choice?)));
        TunedClass { class, study, with_success, is_certified: tuned.is_some(), cap, half, best }
    };
    let classes = by_class.into_iter().map(of_class).collect();
    TunedClasses { classes, pooled, delta_each, needed, unclassed }
}

/// The boldest certified limit of the budget.
fn cap(tuned: &Tuned, study: &Study, budget: &str) -> Option<Choice> {
    let is_budget = |choice: &Choice| study.families()[choice.at.family].first_rule().signal.id == budget;
    tuned.budget().filter(is_budget)
}

/// The largest limit that is at most half of the cap.
fn half(study: &Study, cap: Choice) -> Option<Choice> {
    let limits = study.families()[cap.at.family].limits();
    let limit = limits.iter().position(|limit| *limit <= limits[cap.at.limit] / 2.0)?;
    Some(Choice { at: LimitIx { limit, ..cap.at }, ..cap })
}

/// What a limit does to the runs of a study.
fn judged(study: &Study, choice: Choice) -> ClassLimit {
    let rule = study.rule(choice.at);
    let totals = study.totals(&study.all_tasks(), |run| study.fate(choice.at, run));
    let all: TaskSums = totals.all();
    ClassLimit {
        choice,
        limit: rule.limit,
        rule: rule.to_string(),
        killed: all.killed.high.hits as f64,
        successes: all.killed.high.of as f64,
        saved: all.saved_ratio(),
    }
}
