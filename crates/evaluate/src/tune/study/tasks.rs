//! The runs by task.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::StudyRun;
use crate::transcript::Outcome;

/// No more than this share of the runs may name no task where a certificate is asked for.
const UNNAMED: f64 = 0.05;

/// Whether so many of the runs name no task that nothing can be certified.
pub fn names_too_few_tasks(without: usize, runs: usize) -> bool {
    without as f64 > UNNAMED * runs as f64
}

/// The runs of one task.
#[derive(Clone, Debug)]
pub struct TaskRuns {
    /// Its suite; empty if it has none.
    pub suite: String,
    /// Its name.
    pub task: String,
    /// Indices of its runs.
    pub runs: Range<usize>,
    /// Whether one of them succeeded.
    pub has_success: bool,
    /// Its rank in hash order, for halves and folds.
    pub rank: usize,
}

/// Groups sorted runs into tasks.
pub(super) fn tasks(runs: &[StudyRun]) -> Vec<TaskRuns> {
    let mut tasks: Vec<TaskRuns> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let (suite, name) = run.facts().cluster();
        match tasks.last_mut().filter(|task| task.suite == suite && task.task == name) {
            Some(task) => task.runs.end = at + 1,
            None => tasks.push(TaskRuns {
                suite: suite.to_owned(),
                task: name.to_owned(),
                runs: at..at + 1,
                has_success: false,
                rank: 0,
            }),
        }
    }
    let hash = |task: &TaskRuns| xxh3_64(format!("{}\u{1f}{}", task.suite, task.task).as_bytes());
    for task in &mut tasks {
        task.has_success = runs[task.runs.clone()].iter().any(|run| run.outcome() == Outcome::Success);
    }
    let mut order: Vec<(u64, usize)> = tasks.iter().map(|task| xxh3_64(&hash(task).to_le_bytes())).zip(0..).collect();
    order.sort_unstable();
    for (rank, (_, at)) in order.into_iter().enumerate() {
        tasks[at].rank = rank;
    }
    tasks
}
