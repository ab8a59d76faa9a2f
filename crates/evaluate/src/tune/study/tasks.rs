//! The runs by task.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::StudyRun;
use crate::transcript::Outcome;

/// The runs of one task.
#[derive(Clone, Debug)]
pub struct TaskRuns {
    /// Its suite; empty if it has none.
    pub suite: String,
    /// Its name.
    pub task: String,
    /// Indices of its runs.
    pub runs: Range<usize>,
    /// The successful run that represents it, picked by a hash of its name. `None` if none succeeded.
    pub picked: Option<usize>,
    /// Its rank in hash order, for halves and folds.
    pub rank: usize,
}

/// Groups sorted runs into tasks.
pub(super) fn tasks(runs: &[StudyRun]) -> Vec<TaskRuns> {
    let mut tasks: Vec<TaskRuns> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let (suite, name) = run.extract().shared().cluster();
        match tasks.last_mut().filter(|task| task.suite == suite && task.task == name) {
            Some(task) => task.runs.end = at + 1,
            None => tasks.push(TaskRuns {
                suite: suite.to_owned(),
                task: name.to_owned(),
                runs: at..at + 1,
                picked: None,
                rank: 0,
            }),
        }
    }
    let hash = |task: &TaskRuns| xxh3_64(format!("{}\u{1f}{}", task.suite, task.task).as_bytes());
    for task in &mut tasks {
        let successes: Vec<usize> = task.runs.clone().filter(|run| runs[*run].outcome() == Outcome::Success).collect();
        let nth = hash(task).checked_rem(successes.len() as u64).and_then(|nth| usize::try_from(nth).ok());
        task.picked = nth.map(|nth| successes[nth]);
    }
    let mut order: Vec<(u64, usize)> = tasks.iter().map(|task| xxh3_64(&hash(task).to_le_bytes())).zip(0..).collect();
    order.sort_unstable();
    for (rank, (_, at)) in order.into_iter().enumerate() {
        tasks[at].rank = rank;
    }
    tasks
}
