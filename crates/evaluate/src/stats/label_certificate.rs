//! Tests a rate of false early stops against alpha when the labels come from a judge that errs.
//!
//! Only the run-weighted rate is identified: the share of the truly successful runs that is stopped early. A task's
//! surplus is the mean over its runs of a number whose mean is at most 0 if that rate is at least alpha.

use super::gaffke::Surpluses;
use super::interval::{clopper_pearson, upper_limit};
use super::labels::{CheckedLabels, LabelErrors};

/// The graded runs of one task under one setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelledTask {
    /// Stopped early, labelled a success.
    pub stopped_success: u64,
    /// Stopped early, labelled a failure.
    pub stopped_failure: u64,
    /// Not stopped, labelled a success.
    pub kept_success: u64,
    /// Not stopped, labelled a failure.
    pub kept_failure: u64,
}

impl LabelledTask {
    /// Runs labelled a success.
    pub fn successes(&self) -> u64 {
        self.stopped_success + self.kept_success
    }

    /// All graded runs.
    pub fn runs(&self) -> u64 {
        self.successes() + self.stopped_failure + self.kept_failure
    }
}

/// Whether label errors may depend on the run being stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorModel {
    /// They may: uses only limits on both error rates.
    #[default]
    Any,
    /// They do not: stopped and kept runs have the same error rates.
    Alike,
}

/// What is known about the label errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelDoubt {
    /// Whether errors may depend on the stop.
    pub model: ErrorModel,
    /// The error rates.
    pub errors: ErrorRates,
}

/// The error rates: stated, or estimated from labels checked by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorRates {
    /// Taken as known.
    Stated(LabelErrors),
    /// Estimated; their uncertainty is part of the p-value.
    Checked(CheckedLabels),
}

impl ErrorRates {
    /// The counts that the rates are estimated from: true successes checked, those labelled a success, true failures
    /// checked, those labelled a failure; `None` for stated rates.
    pub fn counts(self) -> Option<[u64; 4]> {
        match self {
            Self::Stated(_) => None,
            Self::Checked(CheckedLabels { successes, failures }) => {
                Some([successes.0, successes.1, failures.0, failures.1])
            }
        }
    }

    /// The error rates; `None` if one was never checked.
    pub fn errors(self) -> Option<LabelErrors> {
        match self {
            Self::Stated(errors) => Some(errors),
            Self::Checked(checked) => checked.errors(),
        }
    }
}

impl LabelDoubt {
    /// The p-value of "the rate is at least `alpha`", and the surpluses it is computed from. `None` if the labels say
    /// too little for this alpha.
    ///
    /// Estimated rates cost `delta / 10`: under [`ErrorModel::Alike`] the p-values at both ends of the interval of the
    /// false positive rate are added, since the event is linear in it; under [`ErrorModel::Any`] the worst rates are
    /// taken.
    pub fn p_value(self, tasks: &[LabelledTask], alpha: f64, delta: f64) -> Option<(f64, Surpluses)> {
        let cost = 0.1 * delta;
        let (p, surpluses) = match (self.errors, self.model) {
            (ErrorRates::Stated(errors), model) => {
                let surpluses = surpluses(tasks, alpha, errors.sensitivity, 1.0 - errors.specificity, model)?;
                (surpluses.gaffke(), surpluses)
            }
            (ErrorRates::Checked(checked), ErrorModel::Alike) => {
                let (n, right) = checked.failures;
                let wrong = clopper_pearson(n.checked_sub(right)?, n, 1.0 - cost)?;
                let low = surpluses(tasks, alpha, 1.0, wrong.low, ErrorModel::Alike)?;
                let high = surpluses(tasks, alpha, 1.0, wrong.high, ErrorModel::Alike)?;
                (low.gaffke() + high.gaffke() + cost, low)
            }
            (ErrorRates::Checked(checked), ErrorModel::Any) => {
                let (successes, failures) = (checked.successes, checked.failures);
                let missed = upper_limit(successes.0.checked_sub(successes.1)?, successes.0, 1.0 - 0.5 * cost)?;
                let wrong = upper_limit(failures.0.checked_sub(failures.1)?, failures.0, 1.0 - 0.5 * cost)?;
                let surpluses = surpluses(tasks, alpha, 1.0 - missed, wrong, ErrorModel::Any)?;
                (surpluses.gaffke() + cost, surpluses)
            }
        };
        Some((p.min(1.0), surpluses))
    }

    /// The rate corrected for false positives, assuming errors do not depend on the stop; `None` if it is undefined.
    pub fn corrected_rate(self, tasks: &[LabelledTask]) -> Option<f64> {
        let wrong = 1.0 - self.errors.errors()?.specificity;
        let (mut above, mut below) = (0.0, 0.0);
        for task in tasks.iter().filter(|task| task.runs() > 0) {
            let stopped = (task.stopped_success + task.stopped_failure) as f64;
            above += (task.stopped_success as f64 - wrong * stopped) / task.runs() as f64;
            below += task.successes() as f64 / task.runs() as f64 - wrong;
        }
        (below > 0.0).then(|| (above / below).clamp(0.0, 1.0))
    }
}

/// The tasks' surpluses if true successes are labelled so with probability at least `sensitivity`, and failures are
/// labelled successes with probability at most `wrong` (exactly `wrong` for [`ErrorModel::Alike`]). `None` if a
/// condition fails.
fn surpluses(tasks: &[LabelledTask], alpha: f64, sensitivity: f64, wrong: f64, model: ErrorModel) -> Option<Surpluses> {
    let holds = match model {
        ErrorModel::Alike => alpha + wrong <= 1.0 && sensitivity > wrong,
        ErrorModel::Any => {
            sensitivity > 0.0 && wrong < 1.0 && alpha * wrong * sensitivity <= (1.0 - wrong) * (1.0 - alpha)
        }
    };
    if !holds || wrong.is_nan() || sensitivity.is_nan() {
        return None;
    }
    // The contribution of a run: stopped and labelled a success, stopped otherwise, kept and labelled a success, kept
    // otherwise.
    let worth = match model {
        ErrorModel::Alike => {
            let scale = (1.0 - alpha) * (1.0 - wrong);
            [
                -(1.0 - alpha) * (1.0 - wrong) / scale,
                (1.0 - alpha) * wrong / scale,
                alpha * (1.0 - wrong) / scale,
                -alpha * wrong / scale,
            ]
        }
        ErrorModel::Any => {
            let kept = alpha * sensitivity / (1.0 - alpha);
            [-1.0, 0.0, kept, -kept * wrong / (1.0 - wrong)]
        }
    };
    let values: Vec<f64> = tasks
        .iter()
        .filter(|task| task.runs() > 0)
        .map(|task| {
            let counts = [task.stopped_success, task.stopped_failure, task.kept_success, task.kept_failure];
            let sum: f64 = counts.iter().zip(worth).map(|(count, worth)| *count as f64 * worth).sum();
            sum / task.runs() as f64
        })
        .collect();
    // A clean task: none of its labelled successes is stopped, and it has the average share of runs labelled a
    // success.
    let (successes, runs) = tasks.iter().fold((0, 0), |sum, task| (sum.0 + task.successes(), sum.1 + task.runs()));
    let share = successes as f64 / runs as f64;
    let clean = share * worth[2] + (1.0 - share) * worth[3];
    Some(Surpluses { values, slack: 1.0, clean: if clean.is_finite() { clean } else { 0.0 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks of four runs: how many, and the counts of each.
    fn tasks(parts: &[(usize, [u64; 4])]) -> Vec<LabelledTask> {
        let task = |[a, b, c, d]: [u64; 4]| LabelledTask {
            stopped_success: a,
            stopped_failure: b,
            kept_success: c,
            kept_failure: d,
        };
        parts.iter().flat_map(|(n, counts)| std::iter::repeat_n(task(*counts), *n)).collect()
    }

    fn stated(model: ErrorModel, sensitivity: f64, wrong: f64) -> LabelDoubt {
        LabelDoubt { model, errors: ErrorRates::Stated(LabelErrors { sensitivity, specificity: 1.0 - wrong }) }
    }

    #[test]
    fn golden_values_under_label_errors() {
        let corpus = tasks(&[
            (70, [0, 0, 4, 0]),
            (40, [0, 0, 2, 2]),
            (20, [0, 2, 2, 0]),
            (2, [1, 0, 3, 0]),
            (1, [1, 1, 1, 1]),
            (10, [0, 1, 0, 3]),
        ]);
        let golden = [
            (stated(ErrorModel::Alike, 1.0, 0.0), 0.012_204),
            (stated(ErrorModel::Alike, 1.0, 0.05), 0.006_842),
            (stated(ErrorModel::Alike, 1.0, 0.1), 0.003_656),
            (stated(ErrorModel::Any, 1.0, 0.0), 0.012_204),
            (stated(ErrorModel::Any, 0.9, 0.02), 0.021_008),
            (stated(ErrorModel::Any, 0.9, 0.05), 0.021_905),
            (
                LabelDoubt {
                    model: ErrorModel::Alike,
                    errors: ErrorRates::Checked(CheckedLabels { successes: (100, 100), failures: (100, 96) }),
                },
                0.024_089,
            ),
        ];
        for (doubt, expected) in golden {
            let (p, _) = doubt.p_value(&corpus, 0.05, 0.1).unwrap();
            assert!((p - expected).abs() < 6e-7, "{doubt:?}: {p}");
        }
    }

    #[test]
    fn labels_that_say_nothing_give_nothing() {
        let corpus = tasks(&[(50, [0, 0, 4, 0])]);
        assert_eq!(stated(ErrorModel::Alike, 0.5, 0.5).p_value(&corpus, 0.05, 0.1), None);
        assert_eq!(stated(ErrorModel::Any, 0.0, 0.1).p_value(&corpus, 0.05, 0.1), None);
    }
}
