//! Strategies that nobody tuned, such as the presets, chosen as a comparison would choose them.

use std::collections::BTreeMap;

use super::held_out::{Chosen, HeldOut};
use super::{Study, TaskTotals};
use crate::aggregate::{Contribution, Group, Rows, Totals, by_stack};

/// The results of one strategy by task, every unknown at its worst.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The strategy.
    pub name: String,
    /// By task index, for every task of the study.
    tasks: Vec<Totals>,
}

impl Contender {
    /// Computes them from rows of the study's runs, in the order of the strategies and in the study's unit.
    pub fn of(rows: &Rows, study: &Study) -> Vec<Self> {
        let tasks = study.tasks().iter().enumerate();
        let places: BTreeMap<(&str, &str), usize> = tasks.map(|(at, task)| ((&*task.suite, &*task.task), at)).collect();
        let of_stack = |group: &Group<'_>| {
            let mut tasks = vec![Totals::default(); study.tasks().len()];
            for row in group.rows() {
                let task = *places.get(&row.cluster()).expect("the rows are of the runs of the study");
                if let Some(run) = Contribution::of_row(row, study.unit()) {
                    tasks[task].add(&run);
                }
            }
            Self { name: group.stack.to_string(), tasks }
        };
        by_stack(rows).iter().map(of_stack).collect()
    }

    /// The results on these tasks.
    pub fn totals(&self, tasks: &[usize]) -> TaskTotals {
        tasks.iter().map(|task| (*task, self.tasks[*task])).collect()
    }
}

/// The index of the one that saves most, and more than nothing, among those whose killed share has an upper end of at
/// most `max_killed`.
pub fn best_contender(all: &[Contender], tasks: &[usize], max_killed: f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (at, contender) in all.iter().enumerate() {
        let totals = contender.totals(tasks);
        let is_safe = totals.killed().high().is_some_and(|high| high <= max_killed);
        let saved = totals.all().saved_ratio();
        if let Some(saved) = saved.filter(|saved| is_safe && *saved > best.map_or(0.0, |(_, most)| most)) {
            best = Some((at, saved));
        }
    }
    best.map(|(at, _)| at)
}

/// The held-out totals of the best contender: chosen anew without each part of the tasks, and rated on that part.
pub fn held_out_contender(all: &[Contender], study: &Study, tasks: &[usize], max_killed: f64) -> HeldOut {
    HeldOut::by_part(study, tasks, |others| {
        let at = best_contender(all, others, max_killed)?;
        Some(Chosen::by_task(all[at].name.clone(), all[at].totals(tasks)))
    })
}
