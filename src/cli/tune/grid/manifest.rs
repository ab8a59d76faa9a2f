//! The manifest of a sweep over a grid: enough to judge how much was tried, and to run it again.

use serde::Serialize;
use serde_json::Value;

use super::{GridQuestion, SplitArgs, Walked};
use crate::aggregate::{LEVEL, RowView, Rows, fingerprint};
use crate::stats::bootstrap::REPLICATES;
use crate::sweep::{GridAxis, WideGrid};

/// Which recordings were swept, and how their tasks were split.
#[derive(Debug, Serialize)]
pub(super) struct Swept {
    corpus: String,
    split: &'static str,
    split_salt: String,
    dev_share: f64,
    test_opened: bool,
}

impl Swept {
    /// From the rows reported; `is_test`: others were chosen on.
    pub(super) fn from_rows(split: &SplitArgs, reported: &Rows, is_test: bool) -> Self {
        let one: Vec<RowView<'_>> =
            reported.get(0).into_iter().flat_map(|row| reported.of_stack(row.stack())).collect();
        Self {
            corpus: fingerprint(one),
            split: split.split.name(),
            split_salt: split.split_salt.clone(),
            dev_share: split.dev_share,
            test_opened: is_test,
        }
    }
}

/// `manifest.json`.
#[derive(Debug, Serialize)]
pub(super) struct GridManifest {
    whenstop: &'static str,
    command: &'static str,
    grid: String,
    axes: Vec<ManifestAxis>,
    stacks: u64,
    stacks_reached: u64,
    stacks_tried: u64,
    interrupted: bool,
    stacks_kept: usize,
    #[serde(flatten)]
    swept: Swept,
    replicates: usize,
    level: f64,
    max_killed: f64,
    chosen: Option<String>,
    saved_unit: &'static str,
    whole_numbers_a_unit: f64,
}

#[derive(Debug, Serialize)]
struct ManifestAxis {
    axis: String,
    choices: usize,
}

impl GridManifest {
    /// The manifest of a completed walk; `chosen`: the kept stack to ship, by index.
    pub(super) fn from_walked(
        question: &GridQuestion,
        grid: &WideGrid,
        swept: Swept,
        walked: &Walked,
        chosen: Option<usize>,
    ) -> Value {
        let axis = |axis: &GridAxis| ManifestAxis { axis: axis.name.clone(), choices: axis.choices.len() };
        let manifest = Self {
            whenstop: env!("CARGO_PKG_VERSION"),
            command: "tune",
            grid: question.path.clone(),
            axes: grid.axes.iter().map(axis).collect(),
            stacks: grid.len(),
            stacks_reached: walked.reached,
            stacks_tried: walked.tried,
            interrupted: walked.interrupted,
            stacks_kept: walked.finds.len(),
            swept,
            replicates: REPLICATES,
            level: LEVEL,
            max_killed: question.max_killed,
            chosen: walked.chosen(chosen).map(|find| grid.name(find.index)),
            saved_unit: walked.unit.name(),
            whole_numbers_a_unit: walked.scale,
        };
        serde_json::to_value(manifest).expect("a manifest has text keys and nothing that JSON cannot hold")
    }
}
