//! Strategies that nobody tuned, such as the presets, chosen as a comparison would choose them.

use std::collections::BTreeMap;

use super::held_out::{Chosen, HeldOut};
use super::rate::{candidate, is_equal};
use super::{Appetite, Study, TaskTotals};
use crate::aggregate::{Candidate, Entrant, Group, Over, Rows, RunEffect, TaskSums, by_stack, decide};

/// The results of one strategy by task, every unknown at its worst.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The strategy.
    pub name: String,
    /// By task index, for every task of the study.
    tasks: Vec<TaskSums>,
}

impl Contender {
    /// Computes them from rows of the study's runs, in the order of the strategies and in the study's unit.
    pub fn from_rows(rows: &Rows, study: &Study) -> Vec<Self> {
        let tasks = study.tasks().iter().enumerate();
        let places: BTreeMap<(&str, &str), usize> = tasks.map(|(at, task)| ((&*task.suite, &*task.task), at)).collect();
        let of_stack = |group: &Group<'_>| {
            let mut tasks = vec![TaskSums::default(); study.tasks().len()];
            for row in group.rows() {
                let task = *places.get(&row.cluster()).expect("the rows are of the runs of the study");
                tasks[task].add(&RunEffect::from_row(row, study.unit()), Over::Judged);
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

/// The index of the one to ship among those whose killed share has an upper end of at most `max_killed`: decided as a
/// comparison decides.
pub fn best_contender(all: &[Contender], tasks: &[usize], appetite: Appetite) -> Option<usize> {
    let effects: Vec<Vec<&TaskSums>> =
        all.iter().map(|of| tasks.iter().map(|task| &of.tasks[*task]).collect()).collect();
    let candidates: Vec<Candidate> = all
        .iter()
        .zip(&effects)
        .map(|(of, effects)| Candidate {
            killed_at_most: of.totals(tasks).killed().high(),
            ..candidate(effects, appetite, Entrant { hosts: 1, rules: 1, place: None })
        })
        .collect();
    decide(&candidates, appetite.terms(), |a, b| is_equal(&effects[a], &effects[b], appetite.lost_success_costs)).ship
}

/// The held-out totals of the best contender: chosen anew without each part of the tasks, and rated on that part.
pub fn held_out_contender(all: &[Contender], study: &Study, tasks: &[usize], appetite: Appetite) -> HeldOut {
    HeldOut::by_part(study, tasks, |others| {
        let at = best_contender(all, others, appetite)?;
        Some(Chosen::by_task(all[at].name.clone(), all[at].totals(tasks)))
    })
}
