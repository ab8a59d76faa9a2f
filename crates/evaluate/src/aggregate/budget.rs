//! Success by budget: what share of runs has succeeded by each number of steps or tokens.

use std::collections::{BTreeMap, BTreeSet};

use super::{Group, LEVEL, Label, RowView, Unit};
use crate::stats::Interval;
use crate::stats::incidence::{End, Ending, Incidence, incidence_band, incidence_bounds, informative_cuts};
use crate::transcript::Outcome;

/// The curve of one stratum (suite and model).
#[derive(Clone, Debug)]
pub struct BudgetCurve {
    /// The suite; `None` if the recordings name none.
    pub suite: Option<Label>,
    /// The model; `None` if the recordings name none.
    pub model: Option<Label>,
    /// The unit of the budget axis.
    pub unit: Unit,
    /// Runs with a known outcome and a known cost.
    pub runs: u64,
    /// Distinct tasks of those runs.
    pub tasks: u64,
    /// Runs cut off by their own cap: the recording cannot tell whether they would have succeeded.
    pub cut_off: u64,
    /// Of those, runs cut off while others went on, so not by a cap on this axis: they turn the curve into a range.
    pub informative: u64,
    /// The curve, or its lower bound if it is a range.
    pub curve: Incidence,
    /// The upper bound, step by step; equal to `curve` if there is no range.
    pub most: Incidence,
    /// A pointwise 95 % interval for each step of the curve, covering both bounds; on a long curve only some steps have
    /// one.
    pub band: Vec<Option<Interval>>,
}

/// Number of steps of one curve that get an interval.
const BAND_STEPS: usize = 200;

/// One curve per suite and model, from the recordings themselves: the rows of any one stack will do.
pub fn budget_curves(group: &Group<'_>, unit: Unit) -> Vec<BudgetCurve> {
    let mut strata: BTreeMap<(Option<&Label>, Option<&Label>), Stratum> = BTreeMap::new();
    for row in group.rows() {
        if let Some(ending) = ending(row, unit) {
            strata.entry((row.suite(), row.model())).or_default().push((ending, row.task()));
        }
    }
    strata.into_iter().map(|((suite, model), runs)| curve(suite.cloned(), model.cloned(), unit, &runs)).collect()
}

/// The endings of a stratum's runs, each with the index of its task.
type Stratum = Vec<(Ending, usize)>;

fn curve(suite: Option<Label>, model: Option<Label>, unit: Unit, runs: &Stratum) -> BudgetCurve {
    let tasks: BTreeSet<usize> = runs.iter().map(|(_, task)| *task).collect();
    let places: BTreeMap<usize, usize> = tasks.into_iter().zip(0..).collect();
    let endings: Vec<Ending> = runs.iter().map(|(ending, _)| *ending).collect();
    let task_of: Vec<usize> = runs.iter().map(|(_, task)| places.get(task).copied().unwrap_or(usize::MAX)).collect();
    let (curve, most) = incidence_bounds(&endings, &task_of);
    let every = curve.steps.len().div_ceil(BAND_STEPS).max(1);
    let with_band = |at: usize| at % every == every - 1 || at + 1 == curve.steps.len();
    let budgets: Vec<f64> =
        curve.steps.iter().enumerate().filter(|(at, _)| with_band(*at)).map(|(_, step)| step.at).collect();
    let mut intervals = incidence_band(&endings, &task_of, &budgets, LEVEL).into_iter();
    BudgetCurve {
        suite,
        model,
        unit,
        runs: endings.len() as u64,
        tasks: places.len() as u64,
        cut_off: endings.iter().filter(|ending| ending.end == End::CutOff).count() as u64,
        informative: informative_cuts(&endings) as u64,
        most,
        band: (0..curve.steps.len()).map(|at| if with_band(at) { intervals.next().flatten() } else { None }).collect(),
        curve,
    }
}

/// A success counts at the point that secured it, if known; a failure at its own cap counts as cut off.
fn ending(row: RowView<'_>, unit: Unit) -> Option<Ending> {
    let recorded = unit.recorded(row)?;
    let (at, end) = match row.outcome() {
        Outcome::Success => (recorded - unit.after_success(row)?, End::Success),
        Outcome::Failure if row.end().is_censoring() => (recorded, End::CutOff),
        Outcome::Failure => (recorded, End::Failure),
        Outcome::Unknown => return None,
    };
    Some(Ending { at, end })
}
