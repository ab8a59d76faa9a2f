//! Rates corrected for the errors of the judge that labelled the runs.

use super::tasks::Tasks;
use super::{Group, RowView};
use crate::stats::Estimate;
use crate::stats::label_rate::{LabelSums, corrected_rate};
use crate::stats::labels::Correction;
use crate::stats::labels::ErrorRates;
use crate::transcript::Outcome;
use crate::verdict::Verdict;

/// A corrected rate and how the correction turned out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedRate {
    /// The rate; its n is the number of labelled runs. Undefined if the correction is.
    pub estimate: Estimate,
    /// Whether the rate was corrected, clipped to [0, 1] or is undefined.
    pub correction: Correction,
}

/// The rate of false early stops among true successes, when labels are wrong at these `rates`, with an interval at `level`; see
/// [`corrected_rate`].
///
/// A true success that was labelled a failure has no secured point, so its stop counts as false. A run on which the
/// strategy left the recorded path counts as killed.
pub fn corrected_fes_rate(group: &Group<'_>, rates: ErrorRates, level: f64) -> CorrectedRate {
    let flag = |is: bool| f64::from(u8::from(is));
    let parts = |row: RowView<'_>| {
        if !row.is_judged() {
            return None;
        }
        Some(LabelSums {
            killed: f64::from(row.killed_high()),
            at_risk: flag(row.stopped_high() == 1 && row.verdict() != Verdict::GoodTrim),
            successes: flag(row.outcome() == Outcome::Success),
            runs: 1,
        })
    };
    let sums = Tasks::from_group(group).sums(group, parts, |sums: &mut LabelSums, run| {
        sums.killed += run.killed;
        sums.at_risk += run.at_risk;
        sums.successes += run.successes;
        sums.runs += run.runs;
    });
    let (estimate, correction) = corrected_rate(&sums, rates, level);
    CorrectedRate { estimate, correction }
}
