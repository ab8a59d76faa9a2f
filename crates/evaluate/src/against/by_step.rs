//! How many runs had solved their task by each step, on both sides.

use std::collections::BTreeMap;

use super::Attempt;

/// What was solved by a step, and what still ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolvedByStep {
    /// The step, from 1. Only steps at which a run ends are listed.
    pub step: u64,
    /// The share of the runs that had ended with a success by then, before and after, in [0, 1]. Each cell counts once.
    pub solved: [f64; 2],
    /// The share that took this step.
    pub running: [f64; 2],
}

/// Counts the runs of the shared cells by the step at which they end.
#[derive(Clone, Debug, Default)]
pub(super) struct StepCounts {
    /// For each step: ended and solved, before and after, in cells.
    ends: BTreeMap<u64, [EndedAt; 2]>,
    n_cells: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct EndedAt {
    all: f64,
    solved: f64,
}

impl StepCounts {
    /// Adds the runs of one cell.
    pub(super) fn add_cell(&mut self, sides: [&[Attempt<'_>]; 2]) {
        self.n_cells += 1;
        for (side, runs) in sides.into_iter().enumerate() {
            let weight = 1.0 / runs.len() as f64;
            for run in runs {
                let ended = &mut self.ends.entry(run.steps).or_default()[side];
                ended.all += weight;
                ended.solved += if run.is_success { weight } else { 0.0 };
            }
        }
    }

    /// The curves.
    pub(super) fn curves(&self) -> Vec<SolvedByStep> {
        let n_cells = self.n_cells as f64;
        let (mut solved, mut ended) = ([0.0; 2], [0.0; 2]);
        let mut curves = Vec::new();
        for (step, ends) in &self.ends {
            let running = ended.map(|ended: f64| (1.0 - ended / n_cells).max(0.0));
            for (side, end) in ends.iter().enumerate() {
                solved[side] += end.solved;
                ended[side] += end.all;
            }
            curves.push(SolvedByStep { step: *step, solved: solved.map(|solved| solved / n_cells), running });
        }
        curves
    }
}
