//! Strategies that nobody tuned, such as the presets, chosen as a comparison would choose them.

use std::collections::{BTreeMap, BTreeSet};

use super::held_out::{Chosen, HeldOut};
use super::rate::{SetChoice, Stake, candidate};
use super::{Appetite, Study, TaskTotals};
use crate::aggregate::{Candidate, Entrant, Group, Over, Rows, RunEffect, TaskSums, by_stack};

/// Strategies by their rows of the runs of a study. What each does by task is summed up when it is asked for: all of them
/// together would take more memory than the rows.
pub struct Contenders<'r> {
    study: &'r Study,
    strategies: Vec<Group<'r>>,
    /// The study's task for each task of the rows.
    tasks: BTreeMap<usize, usize>,
}

/// The results of one strategy by task, every unknown at its worst.
#[derive(Clone, Debug)]
pub struct Contender {
    /// By task index, for every task of the study.
    tasks: Vec<TaskSums>,
}

impl Contender {
    fn effects(&self, tasks: &[usize]) -> Vec<&TaskSums> {
        tasks.iter().map(|task| &self.tasks[*task]).collect()
    }

    /// The results on these tasks.
    pub fn totals(&self, tasks: &[usize]) -> TaskTotals {
        tasks.iter().map(|task| (*task, self.tasks[*task])).collect()
    }

    fn rate(&self, tasks: &[usize], appetite: Appetite) -> Candidate {
        Candidate {
            killed_at_most: self.totals(tasks).killed().high(),
            ..candidate(&self.effects(tasks), appetite, Entrant { hosts: 1, rules: 1, place: None })
        }
    }

    fn stakes(&self, tasks: &[usize]) -> Vec<Stake> {
        Stake::by_task(self.effects(tasks))
    }
}

impl<'r> Contenders<'r> {
    /// The strategies of rows of the study's runs, in their order.
    pub fn new(rows: &'r Rows, study: &'r Study) -> Self {
        let named = study.tasks().iter().enumerate();
        let named: BTreeMap<(&str, &str), usize> = named.map(|(at, task)| ((&*task.suite, &*task.task), at)).collect();
        let strategies = by_stack(rows);
        let mut tasks = BTreeMap::new();
        for row in strategies.iter().flat_map(Group::rows) {
            tasks
                .entry(row.task())
                .or_insert_with(|| *named.get(&row.cluster()).expect("the rows are of the runs of the study"));
        }
        Self { study, strategies, tasks }
    }

    /// Takes the strategies from this index on.
    #[must_use]
    pub fn split_off(&mut self, at: usize) -> Self {
        let strategies = self.strategies.split_off(at.min(self.strategies.len()));
        Self { study: self.study, strategies, tasks: self.tasks.clone() }
    }

    /// The names of the strategies.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.strategies.iter().map(|group| &*group.stack)
    }

    /// The name of the strategy with this index.
    pub fn name(&self, at: usize) -> &str {
        &self.strategies[at].stack
    }

    /// What the strategy with this index does, in the study's unit.
    pub fn contender(&self, at: usize) -> Contender {
        let mut tasks = vec![TaskSums::default(); self.study.tasks().len()];
        for row in self.strategies[at].rows() {
            tasks[self.tasks[&row.task()]].add(&RunEffect::from_row(row, self.study.unit()), Over::Judged);
        }
        Contender { tasks }
    }

    /// The index of the one to ship on these tasks, among those whose killed share has an upper end of at most the rate that
    /// is tolerated: decided as a comparison decides.
    pub fn best(&self, tasks: &[usize], appetite: Appetite) -> Option<usize> {
        self.best_each(&[tasks.to_vec()], appetite).remove(0)
    }

    /// The same for each of some sets of tasks.
    fn best_each(&self, sets: &[Vec<usize>], appetite: Appetite) -> Vec<Option<usize>> {
        let mut choices: Vec<SetChoice<'_>> = sets.iter().map(|tasks| SetChoice::new(tasks)).collect();
        let all = 0..self.strategies.len();
        for at in all.clone() {
            let contender = self.contender(at);
            for choice in &mut choices {
                choice.add(&contender.rate(choice.tasks(), appetite));
            }
        }
        for choice in &mut choices {
            choice.find_best(appetite);
        }
        let bests: BTreeSet<usize> = choices.iter().filter_map(SetChoice::best).collect();
        for at in bests {
            let contender = self.contender(at);
            for choice in choices.iter_mut().filter(|choice| choice.best() == Some(at)) {
                choice.set_best(contender.stakes(choice.tasks()));
            }
        }
        for at in all {
            if !choices.iter().any(|choice| choice.is_rival(at)) {
                continue;
            }
            let contender = self.contender(at);
            for choice in choices.iter_mut().filter(|choice| choice.is_rival(at)) {
                choice.compare(at, &contender.stakes(choice.tasks()), appetite);
            }
        }
        choices.into_iter().map(|choice| choice.decide(appetite).1.ship).collect()
    }

    /// The held-out totals of the best: chosen anew without each part of the tasks, and rated on that part.
    pub fn held_out(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        HeldOut::by_part(
            self.study,
            tasks,
            |sets| self.best_each(sets, appetite),
            |at| Chosen::new(self.name(*at).to_owned(), self.contender(*at).totals(tasks)),
            None,
        )
    }
}
