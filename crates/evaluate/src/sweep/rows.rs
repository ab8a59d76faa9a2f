//! Evaluates a grid over runs, returning rows.

use super::Grid;
use super::engine::{Extract, Formula, Plan};
use crate::aggregate::{Label, Row};
use crate::replay::replay;
use crate::transcript::Run;
use crate::verdict::Assumptions;

/// A grid, ready to be evaluated on any number of runs from any thread.
pub struct Sweep<'g> {
    grid: &'g Grid,
    names: Vec<Label>,
    plan: Plan,
    /// One formula per setting; `None` for a setting that must be replayed.
    formulas: Vec<Option<Formula>>,
    assumptions: Assumptions,
}

impl<'g> Sweep<'g> {
    /// Prepares the sweep.
    pub fn new(grid: &'g Grid, assumptions: Assumptions) -> Self {
        let mut plan = Plan::default();
        let formulas = grid.settings.iter().map(|setting| Formula::of(&setting.stack, &mut plan)).collect();
        let names = grid.settings.iter().map(|setting| setting.name().into()).collect();
        Self { grid, names, plan, formulas, assumptions }
    }

    /// Number of settings that do more than stop and are replayed one by one.
    pub fn folded(&self) -> usize {
        self.formulas.iter().filter(|formula| formula.is_none()).count()
    }

    /// The rows of one run, in setting order; reads every signal once.
    pub fn rows_of(&self, run: &Run) -> Vec<Row> {
        let extract = Extract::of(run, &self.plan, self.assumptions);
        let settings = self.grid.settings.iter().zip(&self.names).zip(&self.formulas);
        settings
            .map(|((setting, name), formula)| {
                let replay =
                    formula.as_ref().map_or_else(|| replay(run, &setting.stack), |formula| formula.replay(&extract));
                extract.row(name, &replay)
            })
            .collect()
    }
}
