//! The main job: replays a corpus under several strategies and returns rows and firings.

mod against;
mod evaluation;
pub mod fuse;
mod grounds;
mod kept;

use std::sync::Arc;

use crate::aggregate::{Firing, Label, Row, RunRows, firings};
use crate::decision::{Program, Strategy};
use crate::effects::EffectTable;
use crate::explain::{Story, Texts};
use crate::replay::replay;
use crate::transcript::Run;
use crate::verdict::Assumptions;

pub use against::{BeforeAndAfter, LimitedRun};
pub use evaluation::{Evaluation, EvaluationOptions, Evaluator, Gathered, Keeps, OfRun};
pub use grounds::{Met, Outside, TunedStack};
pub use kept::{KeptStories, matters};

/// A strategy's name and profile, with the rules it consults in order.
#[derive(Clone, Debug, PartialEq)]
pub struct StackInfo {
    /// The name.
    pub name: Label,
    /// The profile.
    pub profile: Label,
    /// Its rules.
    pub rules: Vec<Label>,
    /// The program that decides, if it is a guard.
    pub program: Option<Program>,
}

impl StackInfo {
    /// Reads them from a strategy.
    pub fn from_strategy(strategy: &dyn Strategy) -> Self {
        Self {
            name: strategy.name().into(),
            profile: strategy.profile().into(),
            rules: strategy.rules().iter().map(|rule| rule.as_str().into()).collect(),
            program: strategy.program().cloned(),
        }
    }
}

/// Several strategies, ready to be replayed on any number of runs from any thread.
pub struct Comparison<'s> {
    strategies: &'s [Arc<dyn Strategy>],
    infos: Vec<StackInfo>,
    assumptions: Assumptions,
}

impl<'s> Comparison<'s> {
    /// Prepares the strategies for replay.
    pub fn new(strategies: &'s [Arc<dyn Strategy>], assumptions: Assumptions) -> Self {
        let infos = strategies.iter().map(|strategy| StackInfo::from_strategy(&**strategy)).collect();
        Self { strategies, infos, assumptions }
    }

    /// The strategies' names, profiles and rules, in order.
    pub fn infos(&self) -> &[StackInfo] {
        &self.infos
    }

    /// Replays one run under every strategy: rows and firings, in strategy order.
    pub fn rows_of(&self, run: &Run) -> (Vec<Row>, Vec<Firing>) {
        self.rows_sharing(&self.shared(run), run)
    }

    /// What all rows of a run share.
    fn shared(&self, run: &Run) -> RunRows {
        RunRows::from_run(run, self.assumptions)
    }

    fn rows_sharing(&self, shared: &RunRows, run: &Run) -> (Vec<Row>, Vec<Firing>) {
        let (mut rows, mut fired) = (Vec::with_capacity(self.strategies.len()), Vec::new());
        for (strategy, info) in self.strategies.iter().zip(&self.infos) {
            let replay = replay(run, strategy);
            let row = shared.row(&info.name, &info.profile, &replay);
            fired.extend(firings(shared, &info.name, &row.run_id, &info.rules, &replay));
            rows.push(row);
        }
        (rows, fired)
    }

    /// The run step by step, with texts around the stops in `rows`.
    pub fn story_of(&self, run: &Run, rows: &[Row], texts: Texts, effects: &EffectTable) -> Story {
        let stops = rows.iter().filter_map(|row| row.stop_point).map(crate::transcript::Point::steps_paid);
        Story::from_run(run, self.strategies, &stops.collect::<Vec<_>>(), texts, effects)
    }
}
