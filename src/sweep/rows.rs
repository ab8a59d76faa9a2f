//! A grid over runs, into rows.

use super::{Climb, Grid};
use crate::aggregate::{Label, Row, RunRows};
use crate::replay::replay;
use crate::transcript::Run;
use crate::verdict::Assumptions;

/// A grid, ready to be run over any number of runs, from any thread.
pub struct Sweep<'g> {
    grid: &'g Grid,
    names: Vec<Label>,
    assumptions: Assumptions,
}

impl<'g> Sweep<'g> {
    /// Sets the sweep up.
    pub fn new(grid: &'g Grid, assumptions: Assumptions) -> Self {
        let names = grid.settings.iter().map(|setting| setting.name().into()).collect();
        Self { grid, names, assumptions }
    }

    /// The rows of one run, in setting order. One-rule settings take one pass of each signal; settings on top of an
    /// existing stack are replayed one by one.
    pub fn rows_of(&self, run: &Run) -> Vec<Row> {
        let shared = RunRows::of(run, self.assumptions);
        let profile = Label::from("");
        let settings = self.grid.settings.iter().zip(&self.names);
        if self.grid.base.is_some() {
            return settings.map(|(setting, name)| shared.row(name, &profile, &replay(run, &setting.stack))).collect();
        }
        let climbs: Vec<Climb> = self.grid.axes.iter().map(|axis| Climb::of(axis.first_rule(), run)).collect();
        settings
            .filter_map(|(setting, name)| {
                let climb = climbs.get(setting.axis)?;
                Some(shared.row(name, &profile, &climb.replay(run, setting)))
            })
            .collect()
    }
}
