//! A user-defined bailout: an ordered list of conditions, each with a reply.

use super::{AtCap, Bailout, Reply};
use crate::transcript::PointView;

/// A condition; it is shown every point of the run.
pub trait CapCondition: Send {
    /// True if it holds at this point.
    fn holds(&mut self, view: &PointView<'_>) -> bool;
}

/// One row of the table.
pub struct TableRow {
    /// When the row applies; `None` means always.
    pub when: Option<Box<dyn CapCondition>>,
    /// The reply.
    pub then: Reply,
}

/// A bailout made of rows. The first row whose condition holds gives the reply; if none holds, the run stops.
pub struct Table {
    rows: Vec<(TableRow, bool)>,
}

impl Table {
    /// A table of rows, in the order they are checked.
    pub fn new(rows: Vec<TableRow>) -> Self {
        Self { rows: rows.into_iter().map(|row| (row, false)).collect() }
    }
}

impl Bailout for Table {
    fn observe(&mut self, view: &PointView<'_>) {
        for (row, holds) in &mut self.rows {
            *holds = match &mut row.when {
                Some(condition) => condition.holds(view),
                None => true,
            };
        }
    }

    fn on_cap(&mut self, _at: &AtCap<'_>) -> Reply {
        match self.rows.iter().find(|(_, holds)| *holds) {
            Some((row, _)) => row.then.clone(),
            None => Reply::STOP,
        }
    }
}
