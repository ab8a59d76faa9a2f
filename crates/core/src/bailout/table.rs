//! A bailout of one's own: an ordered list of conditions and what to do when the first one holds.

use super::{AtCap, Bailout, Reply};
use crate::transcript::PointView;

/// A condition, shown every point of the run.
pub trait Condition: Send {
    /// Does it hold at this point?
    fn holds(&mut self, view: &PointView<'_>) -> bool;
}

/// One line of the table.
pub struct Row {
    /// When it applies; `None` always does.
    pub when: Option<Box<dyn Condition>>,
    /// What happens then.
    pub then: Reply,
}

/// A bailout made of rows: the first whose condition holds replies; without one, the run stops.
pub struct Table {
    rows: Vec<(Row, bool)>,
}

impl Table {
    /// A table of rows, in the order they are asked.
    pub fn new(rows: Vec<Row>) -> Self {
        Self { rows: rows.into_iter().map(|row| (row, false)).collect() }
    }
}

impl Bailout for Table {
    fn observe(&mut self, view: &PointView<'_>) {
        for (row, holds) in &mut self.rows {
            *holds = row.when.as_mut().is_none_or(|condition| condition.holds(view));
        }
    }

    fn on_cap(&mut self, _at: &AtCap<'_>) -> Reply {
        self.rows.iter().find(|(_, holds)| *holds).map_or(Reply::STOP, |(row, _)| row.then.clone())
    }
}
