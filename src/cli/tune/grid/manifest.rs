//! The manifest of a sweep over a grid: enough to judge how much was tried, and to run it again.

use serde_json::{Value, json};

use super::results::GridResults;
use super::{Sweep, Walked};
use crate::aggregate::{LEVEL, RowView, fingerprint};
use crate::stats::bootstrap::REPLICATES;
use crate::sweep::GridAxis;

impl Sweep<'_> {
    /// `manifest.json`.
    pub(super) fn manifest(&self, walked: &Walked, judged: &GridResults) -> Value {
        let (question, grid, split) = (self.question, self.grid, self.split);
        let axis = |axis: &GridAxis| json!({ "axis": axis.name, "choices": axis.choices.len() });
        let first = judged.rows.get(0);
        let one_stack: Vec<RowView<'_>> =
            first.into_iter().flat_map(|row| judged.rows.for_stack(row.stack())).collect();
        json!({
            "whenstop": env!("CARGO_PKG_VERSION"),
            "command": "tune",
            "grid": question.path,
            "axes": grid.axes.iter().map(axis).collect::<Vec<_>>(),
            "stacks": grid.len(),
            "stacks_reached": walked.reached,
            "stacks_tried": walked.tried,
            "interrupted": walked.interrupted,
            "stacks_kept": walked.finds.len(),
            "corpus": fingerprint(one_stack),
            "split": split.split.name(),
            "split_salt": split.split_salt,
            "dev_share": split.dev_share,
            "test_opened": self.recordings.chosen_on.is_some(),
            "replicates": REPLICATES,
            "level": LEVEL,
            "max_killed": question.max_killed,
            "chosen": walked.chosen(judged.chosen).map(|find| grid.name(find.index)),
            "saved_unit": walked.unit.name(),
            "whole_numbers_a_unit": walked.scale,
        })
    }
}
