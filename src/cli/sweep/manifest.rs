//! The manifest of a sweep: enough to judge how much was tried, and to run it again.

use serde::Serialize;

use super::{Args, Judged, Parts};
use crate::aggregate::{LEVEL, RowView, fingerprint};
use crate::stats::bootstrap::REPLICATES;
use crate::stats::label_certificate::ErrorRates;
use crate::sweep::{Axis, Grid};

/// `manifest.json` of a sweep.
#[derive(Debug, Serialize)]
pub(super) struct Manifest {
    whenstop: &'static str,
    command: &'static str,
    settings_tried: usize,
    axes: Vec<ManifestAxis>,
    with: Option<String>,
    corpus: String,
    split: &'static str,
    split_salt: String,
    dev_share: f64,
    test_opened: bool,
    baseline: Option<String>,
    fes_p_adjusted_by: &'static str,
    useful_p_adjusted_by: &'static str,
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
    pub(super) fn of(args: &Args, grid: &Grid, parts: &Parts, judged: &Judged) -> Self {
        let errors = judged.label_errors.and_then(ErrorRates::errors);
        let axis = |axis: &Axis| ManifestAxis { signal: axis.name(), limits: axis.limits().to_vec() };
        let first = grid.settings.first().map(crate::sweep::Setting::name);
        let one: Vec<RowView<'_>> = parts.reported.iter().filter(|row| Some(&**row.stack()) == first).collect();
        Self {
            whenstop: env!("CARGO_PKG_VERSION"),
            command: "sweep",
            settings_tried: grid.settings.len(),
            axes: grid.axes.iter().map(axis).collect(),
            with: args.grid.with(),
            corpus: fingerprint(one),
            split: args.split.split.name(),
            split_salt: args.split.split_salt.clone(),
            dev_share: args.split.dev_share,
            test_opened: parts.other.is_some(),
            baseline: judged.reported.baseline_name().map(str::to_owned),
            fes_p_adjusted_by: judged.reported.adjusted_by(|setting| setting.fes_difference).name(),
            useful_p_adjusted_by: judged.reported.adjusted_by(|setting| setting.useful_difference).name(),
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
        }
    }
}
