//! Rates when the labels come from a judge that errs.

use super::estimates::ratio;
use super::{Group, Row};
use crate::stats::interval::Interval;
use crate::stats::labels::{Correction, LabelErrors};
use crate::stats::{Estimate, Method};
use crate::transcript::Outcome;
use crate::verdict::Verdict;

/// A corrected rate, and how the correction came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedRate {
    /// The rate; its n is the labelled runs. Undefined where the correction is.
    pub estimate: Estimate,
    /// Corrected, clipped or undefined.
    pub correction: Correction,
}

/// The rate of false early stops among true successes, when successes and failures are labelled with `errors`.
///
/// Both sums are corrected after Rogan and Gladen: the true successes among all labelled runs, and those among the
/// stopped runs that would be false early stops if they were successes. It takes the labels' errors not to depend on
/// whether the rule stops. A failure that was really a success has no secured point, so its stop counts as false.
/// Where the strategy left the recorded path the run counts as killed. Unless something is clipped, the sensitivity cancels: missed successes are missing above and below.
pub fn corrected_fes_rate(group: &Group<'_>, errors: LabelErrors) -> CorrectedRate {
    let labelled = || group.rows.iter().filter(|row| row.is_judged());
    let at_risk = |row: &Row| row.stopped_high == 1 && row.verdict != Verdict::GoodTrim;
    let share = |hits: usize, n: usize| (n > 0).then(|| hits as f64 / n as f64);
    let (n, stopped) = (labelled().count(), labelled().filter(|row| at_risk(row)).count());
    let successes = labelled().filter(|row| row.outcome == Outcome::Success).count();
    let killed = labelled().filter(|row| row.killed_high == 1).count();

    let (of_all, mut correction) = errors.correct(share(successes, n).unwrap_or(f64::NAN));
    // Nothing stopped, nothing killed: no share to correct.
    let (of_stopped, stopped_correction) =
        share(killed, stopped).map_or((Some(0.0), Correction::Corrected), |share| errors.correct(share));
    correction = correction.max(stopped_correction);
    let value = of_stopped.zip(of_all).filter(|(_, of_all)| *of_all > 0.0);
    let value = value.map(|(of_stopped, of_all)| of_stopped * stopped as f64 / (of_all * n as f64));
    let false_labels = 1.0 - errors.specificity;
    let spread = ratio(&group.rows, |row| {
        let flag = |is: bool| f64::from(u8::from(is));
        let known = row.is_judged();
        let numerator = f64::from(row.killed_high) - false_labels * flag(at_risk(row));
        known.then(|| (numerator, flag(row.outcome == Outcome::Success) - false_labels))
    });
    let Some(value) = value else {
        let estimate = Estimate { value: None, interval: None, method: Method::Undefined, n: n as u64, ..spread };
        return CorrectedRate { estimate, correction: Correction::Undefined };
    };
    if !(0.0..=1.0).contains(&value) {
        correction = correction.max(Correction::Clipped);
    }
    let within = |interval: Interval| Interval { low: interval.low.max(0.0), high: interval.high.min(1.0) };
    let interval = spread.interval.map(within).filter(|interval| interval.low <= interval.high);
    let method = if interval.is_some() { spread.method } else { Method::EstimateOnly };
    let estimate = Estimate { value: Some(value.clamp(0.0, 1.0)), interval, method, n: n as u64, ..spread };
    CorrectedRate { estimate, correction }
}
