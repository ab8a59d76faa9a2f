//! Tuning by class: the smallest cap and the best rule of each class, with a certificate of its own where it has the tasks,
//! and that of all classes together where it has not.
//!
//! The promise covers all classes: each is certified at delta over their number and one more, for the pooled one. Whether a
//! class has the tasks depends on the number of its tasks with a success alone, never on what a rule kills.

use std::collections::BTreeMap;

use super::{Appetite, Choice, Family, Fate, LimitIx, Study, Tuned, clean_tasks_needed};
use crate::aggregate::{LEAST_SAVED, Label, TaskSums};
use crate::stats::Estimate;
use crate::sweep::engine::{Extract, Plan};

/// Limits of a family that are tried on a class without a certificate of its own: evenly spread over those certified.
const TRIED: usize = 20;

/// A certified limit, by its rule, and what it does to the recorded runs of the class.
#[derive(Clone, Debug)]
pub struct ClassLimit {
    /// The limit, in the study of the class or, if pooled, of all runs.
    pub choice: Choice,
    /// The rule as text.
    pub rule: String,
    /// The limit itself.
    pub limit: f64,
    /// What it does to the class: successes killed.
    pub killed: f64,
    /// Of so many that can be judged.
    pub successes: f64,
    /// Successes killed averaged over tasks: the rate that is certified.
    pub task_rate: Option<f64>,
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
    /// Whether it has too few for a certificate of its own.
    pub is_pooled: bool,
    /// The smallest certified cap: a limit of the budget.
    pub cap: Option<ClassLimit>,
    /// What half of that cap would do: how much a tempting limit costs.
    pub half: Option<ClassLimit>,
    /// The certified rule to ship: of a certificate of its own what [`decide`](crate::aggregate::decide) chooses, of that of
    /// all classes what saves most here, if it saves [`LEAST_SAVED`] and kills no more here than it may over all.
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
    /// Runs without a class: they count in the pooled certificate alone.
    pub unclassed: usize,
}

/// Tunes each class. `budget` is the signal of the cap, of `families` the first.
pub fn tune_classes(
    extracts: Vec<(Option<Label>, Extract)>,
    families: &[Family],
    plan: &Plan,
    budget: &str,
    appetite: Appetite,
) -> TunedClasses {
    let mut by_class: BTreeMap<Label, Vec<Extract>> = BTreeMap::new();
    let mut unclassed = 0;
    for (class, extract) in &extracts {
        match class {
            Some(class) => by_class.entry(class.clone()).or_default().push(extract.clone()),
            None => unclassed += 1,
        }
    }
    let pooled = Study::new(extracts.into_iter().map(|(_, extract)| extract).collect(), families.to_vec(), plan);
    let delta_each = appetite.delta / (by_class.len() + 1) as f64;
    let appetite = Appetite { delta: delta_each, ..appetite };
    let share = families.first().map_or(1.0, Family::share);
    let needed = clean_tasks_needed(appetite.alpha, delta_each * share);
    let of_all = pooled.tune(&pooled.all_tasks(), appetite);
    let of_class = |(class, extracts): (Label, Vec<Extract>)| {
        let study = Study::new(extracts, families.to_vec(), plan).in_unit(pooled.unit());
        let with_success = study.with_success(&study.all_tasks());
        let is_pooled = with_success < needed;
        let own = (!is_pooled).then(|| study.tune(&study.all_tasks(), appetite));
        let (tuned, source) = own.as_ref().map_or((&of_all, &pooled), |own| (own, &study));
        let best = match &own {
            Some(own) => own.chosen.ok().map(|choice| judged(&study, source, choice)),
            None => best_here(&of_all, &study, &pooled, appetite.alpha),
        };
        let cap = cap(tuned, source, budget);
        let half = cap.and_then(|cap| half(source, cap)).map(|choice| judged(&study, source, choice));
        let cap = cap.map(|choice| judged(&study, source, choice));
        TunedClass { class, study, with_success, is_pooled, cap, half, best }
    };
    let classes = by_class.into_iter().map(of_class).collect();
    TunedClasses { classes, pooled, delta_each, needed, unclassed }
}

/// Of all limits certified in `source`, what saves most in `study`. All of them hold at once, so any may be chosen.
fn best_here(tuned: &Tuned, study: &Study, source: &Study, alpha: f64) -> Option<ClassLimit> {
    let families = tuned.choices.chunk_by(|one, next| one.at.family == next.at.family);
    let few = families.flat_map(|family| family.iter().step_by(family.len().div_ceil(TRIED)));
    let here = few.map(|choice| judged(study, source, *choice)).filter(|limit| {
        limit.saved.is_some_and(|saved| saved >= LEAST_SAVED) && limit.task_rate.is_none_or(|killed| killed <= alpha)
    });
    // Of equals the first: the boldest of the first family.
    here.reduce(|best, next| if next.saved > best.saved { next } else { best })
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

/// What a limit chosen in `source` does to the runs of `study`. A family that cannot be read there does nothing that
/// anybody could see: its successes count as killed.
fn judged(study: &Study, source: &Study, choice: Choice) -> ClassLimit {
    let rule = source.rule(choice.at);
    let family = study.families().iter().position(|family| family.first_rule().signal.id == rule.signal.id);
    let fate = |run| family.map_or(Fate::Unread, |family| study.fate(LimitIx { family, ..choice.at }, run));
    let totals = study.totals(&study.all_tasks(), fate);
    let all: TaskSums = totals.all();
    let task_rate: Estimate = totals.killed();
    ClassLimit {
        choice,
        limit: rule.limit,
        rule: rule.to_string(),
        killed: all.killed.high.hits as f64,
        successes: all.killed.high.of as f64,
        task_rate: task_rate.value,
        saved: all.saved_ratio(),
    }
}
