//! Stacks to try, and their rows.

use std::sync::Arc;

use super::engine::{Extract, Formula, Plan};
use crate::aggregate::{Label, Row, Rows, RowsBuilder};
use crate::parallel;
use crate::stack::Stack;

/// Extracts whose rows are made at a time.
const BATCH: usize = 256;

/// Named stacks that only stop, ready to be evaluated on any number of runs. This is how every sweep gets its rows.
#[derive(Clone, Debug)]
pub struct Candidates {
    all: Vec<(Label, Formula)>,
}

impl Candidates {
    /// Adds to `plan` what these stacks read; make extracts with the finished plan.
    ///
    /// # Panics
    /// If a stack does more than stop.
    pub fn new(stacks: impl IntoIterator<Item = Arc<Stack>>, plan: &mut Plan) -> Self {
        let mut all = Vec::new();
        for stack in stacks {
            let formula = Formula::from_stack(&stack, plan).expect("a stack of a grid only stops");
            all.push((Label::from(stack.name.as_str()), formula));
        }
        Self { all }
    }

    /// The rows of all stacks on all extracts, run by run; equal to those from replaying.
    pub fn rows<'e>(&self, extracts: impl IntoIterator<Item = &'e Extract>) -> Rows {
        let extracts: Vec<&Extract> = extracts.into_iter().collect();
        let mut rows = RowsBuilder::default();
        for some in extracts.chunks(BATCH) {
            let made: Vec<Vec<Row>> = parallel::map(some, |on| self.rows_of(on));
            rows.extend(made.into_iter().flatten());
        }
        rows.finish()
    }

    fn rows_of(&self, on: &Extract) -> Vec<Row> {
        self.all.iter().map(|(name, formula)| on.row(name, &formula.replay(on))).collect()
    }
}
