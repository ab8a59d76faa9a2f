//! Arguments about uncertainty: label errors, and assumptions beyond the recordings.

use clap::Args;

use crate::stats::labels::{CheckedLabels, ErrorRates, LabelErrors};
use crate::verdict::Assumptions;

/// Heading of these options in the help.
pub(in crate::cli) const DOUBTS: &str = "Label errors and assumptions";

/// How reliable the outcome labels are.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_field_names, reason = "the arguments are named so")]
pub(in crate::cli) struct LabelErrorArgs {
    /// Probability that a true success is labelled a success, if labels have errors.
    #[arg(long, value_name = "CHANCE", value_parser = crate::cli::values::share)]
    label_sensitivity: Option<f64>,
    /// Probability that a true failure is labelled a failure, if labels have errors.
    #[arg(long, value_name = "CHANCE", value_parser = crate::cli::values::share)]
    label_specificity: Option<f64>,
    /// Labels checked by hand: true successes, how many of them are labelled a success, true failures, how many of
    /// them are labelled a failure. The uncertainty of these checks is part of every interval and certificate.
    #[arg(
        long,
        value_name = "N_POS,K_POS,N_NEG,K_NEG",
        value_parser = checked_labels,
        conflicts_with_all = ["label_sensitivity", "label_specificity"]
    )]
    label_checked: Option<CheckedLabels>,
}

/// Parses four counts; the second and fourth are at most as large as the one before.
fn checked_labels(text: &str) -> Result<CheckedLabels, String> {
    let counts: Result<Vec<u64>, _> = text.split(',').map(|count| count.trim().parse::<u64>()).collect();
    match counts.as_deref() {
        Ok(&[n_pos, k_pos, n_neg, k_neg]) if k_pos <= n_pos && k_neg <= n_neg && n_pos > 0 && n_neg > 0 => {
            Ok(CheckedLabels { successes: (n_pos, k_pos), failures: (n_neg, k_neg) })
        }
        _ => Err(
            "give four counts, such as 50,47,50,44: true successes checked, of them labelled a success; true failures \
                  checked, of them labelled a failure"
                .to_owned(),
        ),
    }
}

impl LabelErrorArgs {
    /// The error rates, if any is given; one not given is taken as perfect.
    pub(in crate::cli) fn rates(&self) -> Option<ErrorRates> {
        match (self.label_checked, self.label_sensitivity.or(self.label_specificity)) {
            (Some(checked), _) => Some(ErrorRates::Checked(checked)),
            (None, None) => None,
            (None, Some(_)) => Some(ErrorRates::Stated(LabelErrors {
                sensitivity: self.label_sensitivity.unwrap_or(1.0),
                specificity: self.label_specificity.unwrap_or(1.0),
            })),
        }
    }
}

/// Assumptions that narrow the bounds beyond what is recorded. None is made by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Assumption {
    /// A run that failed in the end held no success earlier.
    M1,
    /// Continuing does not destroy a success.
    M2,
    /// The framework discards the work of a stopped run.
    StopDiscardsWork,
}

/// The assumptions to make.
#[derive(Clone, Debug, Default, Args)]
pub(in crate::cli) struct AssumptionArgs {
    /// Make an assumption that narrows the bounds; reports mention it. Repeatable.
    #[arg(long, value_name = "ASSUMPTION")]
    pub(in crate::cli) assume: Vec<Assumption>,
}

impl AssumptionArgs {
    /// Converts the arguments to the verdict's assumptions.
    pub(in crate::cli) fn assumptions(&self) -> Assumptions {
        Assumptions {
            final_failure_had_no_success: self.assume.contains(&Assumption::M1),
            continuing_keeps_success: self.assume.contains(&Assumption::M2),
            stop_discards_work: self.assume.contains(&Assumption::StopDiscardsWork),
        }
    }
}
