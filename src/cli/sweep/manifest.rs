//! The manifests of sweeps: enough to judge how much was tried, and to run them again.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::Args;
use super::settings::Judged;
use super::wide::Walked;
use crate::aggregate::{LEVEL, RowView, Rows, fingerprint};
use crate::stats::bootstrap::REPLICATES;
use crate::stats::label_certificate::ErrorRates;
use crate::sweep::{Axis, Grid, GridAxis, WideGrid};

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
    pub(super) fn of(args: &Args, reported: &Rows, is_test: bool) -> Self {
        let one: Vec<RowView<'_>> =
            reported.get(0).into_iter().flat_map(|row| reported.of_stack(row.stack())).collect();
        Self {
            corpus: fingerprint(one),
            split: args.split.split.name(),
            split_salt: args.split.split_salt.clone(),
            dev_share: args.split.dev_share,
            test_opened: is_test,
        }
    }
}

/// `manifest.json` of a sweep over signals and their limits.
#[derive(Debug, Serialize)]
pub(super) struct Manifest {
    whenstop: &'static str,
    command: &'static str,
    settings_tried: usize,
    axes: Vec<ManifestAxis>,
    with: Option<String>,
    #[serde(flatten)]
    swept: Swept,
    baseline: Option<String>,
    killed_p_adjusted_by: &'static str,
    saved_p_adjusted_by: &'static str,
    seed: u64,
    replicates: usize,
    level: f64,
    max_killed: f64,
    chosen: Option<String>,
    saved_unit: &'static str,
    label_sensitivity: Option<f64>,
    label_specificity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_checked: Option<[u64; 4]>,
    assumptions: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct ManifestAxis {
    signal: String,
    limits: Vec<f64>,
}

impl Manifest {
    /// The manifest of a completed sweep.
    pub(super) fn of(args: &Args, grid: &Grid, judged: &Judged) -> Value {
        let errors = judged.label_errors.and_then(ErrorRates::errors);
        let axis = |axis: &Axis| ManifestAxis { signal: axis.name(), limits: axis.limits().to_vec() };
        json(&Self {
            whenstop: env!("CARGO_PKG_VERSION"),
            command: "sweep",
            settings_tried: grid.settings.len(),
            axes: grid.axes.iter().map(axis).collect(),
            with: args.grid.with(),
            swept: Swept::of(args, &judged.rows, judged.chosen_on.is_some()),
            baseline: judged.reported.baseline_name().map(str::to_owned),
            killed_p_adjusted_by: judged.reported.adjusted_by(|setting| setting.killed_difference).name(),
            saved_p_adjusted_by: judged.reported.adjusted_by(|setting| setting.useful_difference).name(),
            seed: args.seed,
            replicates: REPLICATES,
            level: LEVEL,
            max_killed: args.max_killed,
            chosen: judged.answer.chosen.and_then(|at| grid.settings.get(at)).map(|setting| setting.name().to_owned()),
            saved_unit: judged.reported.unit.name(),
            label_sensitivity: errors.map(|errors| errors.sensitivity),
            label_specificity: errors.map(|errors| errors.specificity),
            label_checked: judged.label_errors.and_then(ErrorRates::counts),
            assumptions: args.assumptions.assumptions().names(),
        })
    }
}

/// A manifest as JSON.
pub(super) fn json(manifest: &impl Serialize) -> Value {
    serde_json::to_value(manifest).expect("a manifest has text keys and nothing that JSON cannot hold")
}

/// `manifest.json` of a sweep over a grid file.
#[derive(Debug, Serialize)]
pub(super) struct WideManifest {
    whenstop: &'static str,
    command: &'static str,
    grid: String,
    axes: Vec<WideAxis>,
    stacks: u64,
    stacks_reached: u64,
    stacks_tried: u64,
    interrupted: bool,
    /// Number of stacks replayed one by one because they do more than stop: always 0, since a grid refuses them.
    stacks_folded: u64,
    stacks_kept: usize,
    #[serde(flatten)]
    swept: Swept,
    replicates: usize,
    level: f64,
    max_killed: f64,
    chosen: Option<String>,
    saved_unit: &'static str,
    whole_numbers_a_unit: f64,
    assumptions: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct WideAxis {
    axis: String,
    choices: usize,
}

impl WideManifest {
    /// The manifest of a completed walk; `chosen`: the kept stack to ship, by index.
    pub(super) fn of(
        args: &Args,
        path: &Path,
        grid: &WideGrid,
        swept: Swept,
        walked: &Walked,
        chosen: Option<usize>,
    ) -> Value {
        let axis = |axis: &GridAxis| WideAxis { axis: axis.name.clone(), choices: axis.choices.len() };
        json(&Self {
            whenstop: env!("CARGO_PKG_VERSION"),
            command: "sweep",
            grid: path.display().to_string(),
            axes: grid.axes.iter().map(axis).collect(),
            stacks: grid.len(),
            stacks_reached: walked.reached,
            stacks_tried: walked.tried,
            interrupted: walked.interrupted,
            stacks_folded: 0,
            stacks_kept: walked.finds.len(),
            swept,
            replicates: REPLICATES,
            level: LEVEL,
            max_killed: args.max_killed,
            chosen: chosen.and_then(|at| walked.finds.get(at)).map(|find| WideGrid::name(find.index)),
            saved_unit: walked.unit.name(),
            whole_numbers_a_unit: walked.scale,
            assumptions: args.assumptions.assumptions().names(),
        })
    }
}
