//! Splits the tasks into a part to choose on and a part to report on.

use super::engine::Extract;
use crate::aggregate::Rows;
use crate::stats::split::{Part, split_tasks};

/// How tasks are split.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Salt of the hash that orders the tasks.
    pub salt: String,
    /// The share of each suite's tasks that goes to dev, in [0, 1].
    pub dev_share: f64,
}

impl Split {
    /// Splits rows into dev and test, by task within each suite, keeping their order.
    pub fn rows(&self, rows: &Rows) -> (Rows, Rows) {
        let tasks: Vec<(&str, &str)> = rows.tasks().collect();
        let parts = split_tasks(&tasks, &self.salt, self.dev_share);
        let [dev, test] = [Part::Dev, Part::Test].map(|part| rows.filtered(|row| parts.get(row.task()) == Some(&part)));
        (dev, test)
    }

    /// Splits extracts in the same way.
    pub fn extracts(&self, extracts: Vec<Extract>) -> (Vec<Extract>, Vec<Extract>) {
        let tasks: Vec<(&str, &str)> = extracts.iter().map(|on| on.shared().facts().cluster()).collect();
        let parts = split_tasks(&tasks, &self.salt, self.dev_share);
        let (mut dev, mut test) = (Vec::new(), Vec::new());
        for (on, part) in extracts.into_iter().zip(parts) {
            if part == Part::Dev { dev.push(on) } else { test.push(on) }
        }
        (dev, test)
    }
}
