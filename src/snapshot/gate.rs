//! Gates: a number of the summary compared with a limit. An unknown number fails, and the result says what is missing.

mod metric;
mod written;

use std::fmt::{self, Write as _};

use super::known_or;
pub use crate::aggregate::MIN_KNOWN;
use crate::aggregate::{Contest, Measured, MetricPart, Named, Summary, metric_names, named, summarise_at};
use crate::answers::words::known_on;
use crate::diagnostic::{Diagnostic, Location, did_you_mean, nearest};
use crate::report::plain_number;
use crate::stats::distribution::binomial_cdf;

use metric::{is_interval_end, known_share, what_is_missing};
pub(super) use written::{GateComparator, GateParts};

/// Level of the intervals that gates use, before adjustment for the number of stacks.
const LEVEL: f64 = 0.95;

/// `metric > number` and the like; the gate fails if the condition is true. `stack:metric>number` checks one stack
/// only.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    stack: Option<String>,
    number: Named,
    sign: GateComparator,
    limit: f64,
}

/// The result of a gate on one stack.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GateResult {
    /// The gate, as given.
    pub gate: String,
    /// The stack.
    pub stack: String,
    /// The value of the metric; `None` if it is undefined.
    pub value: Option<f64>,
    /// Whether it failed.
    pub failed: bool,
    /// Why, in words.
    pub why: String,
}

impl Gate {
    /// Parses a gate; `stacks` are the known stacks.
    pub fn parse(text: &str, stacks: &[String]) -> Result<Self, Diagnostic> {
        let error = |what: String, help: String| Diagnostic::new(Location::default(), what, help);
        let written = GateParts::read(text)?;
        let metric = written.metric;
        let Some(number) = named(metric) else {
            let names: Vec<String> = metric_names().collect();
            let near = nearest(metric, names.iter().map(String::as_str));
            let help = did_you_mean(near, "`whenstop schema estimates` lists the metrics");
            return Err(error(format!("gate `{text}`: no metric `{metric}`"), help));
        };
        written.refuse_unknown_stack(stacks)?;
        let GateParts { stack, sign, limit, .. } = written;
        let gate = Self { stack, number, sign, limit };
        gate.can_tell().map_err(|(what, help)| error(format!("gate `{text}` {what}"), help))?;
        Ok(gate)
    }

    /// Refuses a limit that every value passes, or that none does: it is a mistake.
    fn can_tell(&self) -> Result<(), (String, String)> {
        let (least, most) = self.number.metric.measure.range();
        let fails = |value: Option<f64>| value.map(|value| self.sign.fails(value, self.limit));
        let (best, worst) = match self.sign {
            GateComparator::More | GateComparator::AtLeast => (least, most),
            GateComparator::Less | GateComparator::AtMost => (most, least),
        };
        let word = match (fails(best), fails(worst)) {
            (_, Some(false)) => "never fails",
            (Some(true), _) => "always fails",
            _ => return Ok(()),
        };
        let name = self.number.name();
        let help = if most == Some(1.0) && self.limit > 1.0 && self.limit <= 100.0 {
            let sign = self.sign.text();
            format!("`{name}` is a share from 0 to 1: for {} % write `{name}{sign}{}`", self.limit, self.limit / 100.0)
        } else {
            let least = least.unwrap_or(f64::NEG_INFINITY);
            format!("`{name}` goes from {least} to {}", known_or("any size", most))
        };
        Err((word.to_owned(), help))
    }

    /// Checks the gate on the stacks of `contest` that it applies to. Intervals are widened so that all of them hold
    /// jointly, and the bound on what is killed allows for all stacks of the contest; a number known on fewer than
    /// `min_known` of the runs fails.
    pub fn hold(&self, contest: &Contest<'_>, min_known: f64) -> Vec<GateResult> {
        let all = contest.groups();
        let mut groups = all.to_vec();
        groups.retain(|group| self.stack.as_ref().is_none_or(|stack| **stack == *group.stack));
        let adjusted = if is_interval_end(&self.number) { groups.len().max(1) } else { 1 };
        let level = 1.0 - (1.0 - LEVEL) / adjusted as f64;
        let mut summaries = summarise_at(&groups, None, level);
        for summary in &mut summaries {
            let mut candidates = all.iter().zip(contest.candidates());
            let own = candidates.find(|(group, _)| group.stack == summary.stack);
            summary.killed_at_most = own.and_then(|(_, candidate)| candidate.killed_at_most);
        }
        let judged = groups.iter().zip(&summaries).map(|(group, summary)| {
            let known = (known_share(&self.number, group), min_known);
            self.judge(summary, &self.number.metric.read_from(summary), level, known)
        });
        judged.collect()
    }

    /// `known`: the share of the runs on which the number is known, and the share required.
    fn judge(&self, summary: &Summary, measured: &Measured, level: f64, known: (f64, f64)) -> GateResult {
        let value = measured.part(self.number.part);
        let result =
            |failed, why| GateResult { gate: self.to_string(), stack: summary.stack.to_string(), value, failed, why };
        let missing = what_is_missing(&self.number, summary);
        let Some(value) = value else {
            let why = if missing.is_empty() { "too few tasks, or nothing to count".to_owned() } else { missing };
            return result(true, format!("unknown: {why}"));
        };
        let (known, needed) = known;
        if known < needed {
            return result(true, format!("{}: {missing}", known_on(known, needed)));
        }
        let failed = self.sign.fails(value, self.limit);
        let mut why = plain_number(value);
        if failed {
            let _ = write!(why, ", {} {} would have passed", self.sign.passing(), self.limit);
        }
        if is_interval_end(&self.number) {
            let _ = write!(why, " ({:.1} % interval)", level * 100.0);
        } else if let Some(chance) = self.chance_at_limit(measured) {
            let _ = write!(
                why,
                "; a point, not a bound: a true rate of {} would fail {:.0} % of the time; `{}` passes only what is shown safe",
                self.limit,
                chance * 100.0,
                Named { part: MetricPart::High, ..self.number.clone() }.name()
            );
        }
        result(failed, why)
    }

    /// The probability of failing for a share whose true value equals the limit, from the number of tasks;
    /// `None` for other metrics.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of tasks")]
    fn chance_at_limit(&self, measured: &Measured) -> Option<f64> {
        let made = measured.made.filter(|_| self.number.metric.is_rate() && self.number.part == MetricPart::Value)?;
        let at_most = binomial_cdf((self.limit * made.tasks as f64).floor() as u64, made.tasks, self.limit);
        match self.sign {
            GateComparator::More | GateComparator::AtLeast => Some(1.0 - at_most),
            GateComparator::Less | GateComparator::AtMost => None,
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(stack) = &self.stack {
            write!(f, "{stack}:")?;
        }
        write!(f, "{}{}{}", self.number.name(), self.sign.text(), self.limit)
    }
}

#[cfg(test)]
mod tests;
