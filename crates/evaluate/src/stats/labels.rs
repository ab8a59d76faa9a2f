//! Rates from labels that are sometimes wrong: the Rogan-Gladen correction.

/// How a correction turned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Correction {
    /// As computed.
    Corrected,
    /// The result was outside [0, 1] and was clipped: the stated error rates do not fit the data well.
    Clipped,
    /// Sensitivity and specificity sum to 1 or less: the labels carry no information.
    Undefined,
}

impl Correction {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Corrected => "rogan-gladen",
            Self::Clipped => "rogan-gladen-clipped",
            Self::Undefined => "undefined",
        }
    }
}

/// How reliable the labels are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelErrors {
    /// Probability that a true success is labelled a success, in [0, 1].
    pub sensitivity: f64,
    /// Probability that a true failure is labelled a failure, in [0, 1].
    pub specificity: f64,
}

/// How much a stated specificity may be wrong, to show what depends on it.
const MISSTATED: f64 = 0.05;

impl LabelErrors {
    /// What these rates may be if they were stated, not checked: the specificity 0.05 lower and higher, where that is a
    /// probability. The sensitivity cancels in the rate of kills: successes that the labels miss are missing from the killed
    /// and from all.
    pub fn misstated(self) -> impl Iterator<Item = Self> {
        let others = [self.specificity - MISSTATED, self.specificity + MISSTATED].into_iter();
        others.filter(|other| (0.0..=1.0).contains(other)).map(move |specificity| Self { specificity, ..self })
    }
}

/// Hand-checked labels from which the error rates are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedLabels {
    /// True successes checked, and how many of them were labelled a success.
    pub successes: (u64, u64),
    /// True failures checked, and how many of them were labelled a failure.
    pub failures: (u64, u64),
}

impl CheckedLabels {
    /// The estimated error rates; `None` if either kind was never checked.
    pub fn errors(self) -> Option<LabelErrors> {
        let share = |(n, right): (u64, u64)| if n == 0 { None } else { Some(right as f64 / n as f64) };
        Some(LabelErrors { sensitivity: share(self.successes)?, specificity: share(self.failures)? })
    }
}

/// The error rates: stated, or estimated from labels checked by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorRates {
    /// Taken as known.
    Stated(LabelErrors),
    /// Estimated; their uncertainty is part of every interval.
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
