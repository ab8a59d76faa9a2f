//! Stacks to try, and their rows.

use std::sync::Arc;

use rayon::prelude::*;

use super::engine::{Extract, Formula, Plan};
use crate::aggregate::{Label, Row, Rows, RowsBuilder};
use crate::replay::Replay;
use crate::stack::Stack;

/// Extracts whose rows are made at a time.
const BATCH: usize = 256;

/// Named stacks, ready to be evaluated on any number of runs. This is how every sweep gets its rows.
#[derive(Clone, Debug)]
pub struct Candidates {
    all: Vec<(Label, Answering)>,
}

/// How it is known what a stack does.
#[derive(Clone, Debug)]
enum Answering {
    /// Computed from readings.
    Computed(Formula),
    /// It does more than stop: replayed while the run was at hand. An index of the plan.
    Replayed(usize),
}

impl Candidates {
    /// Adds to `plan` what these stacks read; make extracts with the finished plan.
    pub fn new(stacks: impl IntoIterator<Item = Arc<Stack>>, plan: &mut Plan) -> Self {
        let ready = |stack: Arc<Stack>| {
            let name = Label::from(stack.name.as_str());
            match Formula::of(&stack, plan) {
                Some(formula) => (name, Answering::Computed(formula)),
                None => (name, Answering::Replayed(plan.replay(stack))),
            }
        };
        Self { all: stacks.into_iter().map(ready).collect() }
    }

    /// The rows of all stacks on all extracts, run by run; equal to those from replaying.
    pub fn rows<'e>(&self, extracts: impl IntoIterator<Item = &'e Extract>) -> Rows {
        let extracts: Vec<&Extract> = extracts.into_iter().collect();
        let mut rows = RowsBuilder::default();
        for some in extracts.chunks(BATCH) {
            let made: Vec<Vec<Row>> = some.par_iter().map(|on| self.rows_of(on)).collect();
            rows.extend(made.into_iter().flatten());
        }
        rows.finish()
    }

    fn rows_of(&self, on: &Extract) -> Vec<Row> {
        self.all.iter().map(|(name, answering)| on.row(name, &answering.replay(on))).collect()
    }
}

impl Answering {
    fn replay(&self, on: &Extract) -> Replay {
        match self {
            Self::Computed(formula) => formula.replay(on),
            Self::Replayed(at) => on.replayed(*at).clone(),
        }
    }
}
