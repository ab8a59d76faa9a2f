//! The part of the tasks to choose on and the part to report on.

use crate::aggregate::Row;
use crate::stats::split::{Part, split_tasks};

/// How tasks are split.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Salt of the hash that puts the tasks into an order.
    pub salt: String,
    /// The share of each suite's tasks that goes to dev, in [0, 1].
    pub dev_share: f64,
}

impl Split {
    /// Splits rows into dev and test, by task within each suite, keeping their order.
    pub fn rows(&self, rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
        let parts = {
            let tasks: Vec<(&str, &str)> = rows.iter().map(Row::cluster).collect();
            split_tasks(&tasks, &self.salt, self.dev_share)
        };
        let (mut dev, mut test) = (Vec::new(), Vec::new());
        for (row, part) in rows.into_iter().zip(parts) {
            if part == Part::Dev { dev.push(row) } else { test.push(row) }
        }
        (dev, test)
    }
}
