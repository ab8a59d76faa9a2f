//! The results of a sweep: what each setting kills and saves, and how it differs from the baseline.

use super::Grid;
use crate::aggregate::{
    Count, Difference, Group, Rows, RunEffect, Summary, Unit, by_stack, differences as family, frontier, killed_parts,
    paired, resample_tasks, summarise, unit_of, useful_parts,
};
use crate::stats::label_certificate::ErrorRates;
use crate::stats::{Adjustment, RangeEstimate, Resamples};

/// What to compute.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultOptions {
    /// Index of the setting the others are compared with.
    pub baseline: Option<usize>,
    /// The label errors, if there are any.
    pub label_errors: Option<ErrorRates>,
    /// Seed of the resamples.
    pub seed: u64,
}

/// The results of one setting.
#[derive(Clone, Debug)]
pub struct SettingResult {
    /// Counts and rates.
    pub summary: Summary,
    /// Index of its axis in the grid.
    pub axis: usize,
    /// Its limit.
    pub limit: f64,
    /// Useful saving (on failures and after success), over what was recorded.
    pub useful: RangeEstimate,
    /// Difference in the rate of killed successes from the baseline; `None` for the baseline itself or without one.
    pub killed_difference: Option<Difference>,
    /// Difference in the useful saving from the baseline.
    pub useful_difference: Option<Difference>,
    /// Runs without the data that its rule reads: left out of the rates and savings.
    pub not_evaluable: u64,
    /// True if no other setting kills no more and saves no less, with one of them strictly better.
    pub on_frontier: bool,
}

/// The results of all settings, in grid order.
#[derive(Clone, Debug)]
pub struct Results {
    /// The unit of the savings.
    pub unit: Unit,
    /// The baseline's index.
    pub baseline: Option<usize>,
    /// The settings.
    pub settings: Vec<SettingResult>,
}

impl Results {
    /// Computes the results from the rows of a sweep over `grid`.
    pub fn of(grid: &Grid, rows: &Rows, options: ResultOptions) -> Self {
        let unit = unit_of(rows);
        let all = by_stack(rows);
        let summaries = summarise(&all, options.label_errors);
        let points = frontier(&summaries, unit);
        let resamples = resample_tasks(&all, options.seed);
        let against = |parts: EffectParts| differences(&all, options.baseline, unit, parts, &resamples);
        let killed_differences = against(killed_parts);
        let useful_differences = against(useful_parts);
        let numbered = grid.settings.iter().zip(summaries).zip(points).enumerate();
        let settings = numbered.map(|(at, ((setting, summary), point))| SettingResult {
            not_evaluable: summary.counted(Count::NotEvaluableRuns),
            useful: summary.ratios_in(unit).useful,
            summary,
            axis: setting.axis,
            limit: setting.limit,
            killed_difference: killed_differences[at],
            useful_difference: useful_differences[at],
            on_frontier: point.on_frontier,
        });
        let settings = settings.collect();
        Self { unit, baseline: options.baseline, settings }
    }

    /// The baseline's name.
    pub fn baseline_name(&self) -> Option<&str> {
        self.settings.get(self.baseline?).map(|setting| &*setting.summary.stack)
    }

    /// How the p-values of one family of differences are adjusted.
    pub fn adjusted_by(&self, family: fn(&SettingResult) -> Option<Difference>) -> Adjustment {
        self.settings.iter().find_map(family).map_or(Adjustment::None, |difference| difference.adjusted_by)
    }

    /// Indices from the least to the most useful; among equals, the more conservative ranks higher.
    pub fn by_saving(&self) -> Vec<usize> {
        by_saving(self.settings.iter().map(|setting| setting.useful.low.value))
    }
}

impl SettingResult {
    /// Judged successes killed, unverified ones included.
    pub fn killed(&self) -> u64 {
        self.summary.counted(Count::Killed)
    }
}

/// Indices in ascending order of savings; among equals, the later first; an unknown saving is the lowest.
pub(super) fn by_saving(saved: impl Iterator<Item = Option<f64>>) -> Vec<usize> {
    let mut order: Vec<(f64, std::cmp::Reverse<usize>)> =
        saved.enumerate().map(|(at, saved)| (saved.unwrap_or(f64::NEG_INFINITY), std::cmp::Reverse(at))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, at)| at.0).collect()
}

/// Numerator and denominator that a run contributes to a rate.
type EffectParts = fn(&RunEffect) -> Option<(f64, f64)>;

/// Compares every setting with the baseline as one family of tests, each over the runs on which both can be evaluated.
fn differences(
    groups: &[Group<'_>],
    baseline: Option<usize>,
    unit: Unit,
    parts: EffectParts,
    resamples: &Resamples,
) -> Vec<Option<Difference>> {
    let mut all: Vec<Option<Difference>> = vec![None; groups.len()];
    let Some((at_baseline, base)) = baseline.and_then(|at| Some((at, groups.get(at)?))) else { return all };
    let others: Vec<usize> = (0..groups.len()).filter(|at| *at != at_baseline).collect();
    let sums = others.iter().map(|at| paired(&groups[*at], base, unit, parts));
    for (at, difference) in others.iter().zip(family(sums, resamples)) {
        all[*at] = Some(difference);
    }
    all
}
