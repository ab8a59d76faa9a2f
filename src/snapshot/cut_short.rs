//! Gates on what followed the stops: the share of runs whose work a stack cut short.

use super::gate::GateResult;
use crate::aggregate::FollowedSummary;
use crate::diagnostic::{Diagnostic, Location};
use crate::report::table::plain_number;

/// The metrics: the upper and the lower end of the interval, which holds every value that unknown effects allow.
const METRICS: [&str; 2] = ["cut_short_high", "cut_short_low"];
const SIGNS: [&str; 4] = [">=", "<=", ">", "<"];

/// A gate such as `cut_short_high>0.05`, or `ours:cut_short_high>0.05` for one stack.
#[derive(Clone, Debug, PartialEq)]
pub struct CutShortGate {
    text: String,
    stack: Option<String>,
    metric: &'static str,
    sign: &'static str,
    limit: f64,
}

impl CutShortGate {
    /// Reads a gate; `None` where it is one on another metric.
    pub fn parse(text: &str) -> Option<Result<Self, Diagnostic>> {
        let (at, sign) = SIGNS
            .iter()
            .filter_map(|sign| Some((text.find(sign)?, *sign)))
            .min_by_key(|(at, sign)| (*at, 2 - sign.len()))?;
        let name = text[..at].trim();
        let (stack, metric) = name.rsplit_once(':').map_or((None, name), |(stack, metric)| (Some(stack), metric));
        let metric = METRICS.into_iter().find(|known| *known == metric.trim())?;
        let limit = text[at + sign.len()..].trim();
        let limit = limit.parse::<f64>().ok().filter(|limit| (0.0..=1.0).contains(limit)).ok_or_else(|| {
            let what = format!("gate `{text}`: `{limit}` is no share from 0 to 1");
            Diagnostic::new(Location::default(), what, "write `cut_short_high>0.05` for 5 %")
        });
        Some(limit.map(|limit| Self {
            text: text.to_owned(),
            stack: stack.map(|stack| stack.trim().to_owned()),
            metric,
            sign,
            limit,
        }))
    }

    /// True for a gate on one stack.
    pub fn names_stack(&self) -> bool {
        self.stack.is_some()
    }

    /// Holds the gate against the stacks it is for. What is not known fails.
    pub fn hold(&self, summaries: &[FollowedSummary]) -> Vec<GateResult> {
        let mine = summaries.iter().filter(|summary| self.stack.as_ref().is_none_or(|stack| **stack == *summary.stack));
        mine.map(|summary| {
            let value = match self.metric {
                "cut_short_high" => summary.cut_short_high.interval.map(|interval| interval.high),
                _ => summary.cut_short_low.interval.map(|interval| interval.low),
            };
            let failed = value.is_none_or(|value| match self.sign {
                ">=" => value >= self.limit,
                "<=" => value <= self.limit,
                ">" => value > self.limit,
                _ => value < self.limit,
            });
            let (low, high) = summary.cut_short;
            let why = value.map_or_else(
                || "unknown: too few tasks for an interval".to_owned(),
                |value| {
                    format!("{} ({low} to {high} of {} cut short, 95 % interval)", plain_number(value), summary.runs)
                },
            );
            GateResult { gate: self.text.clone(), stack: summary.stack.to_string(), value, failed, why }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_metrics_are_read_and_a_share_is_no_percentage() {
        assert_eq!(CutShortGate::parse("fes_rate_high>0.05"), None);
        assert!(CutShortGate::parse("cut_short_high>5").unwrap().is_err());
        let gate = CutShortGate::parse("ours: cut_short_high >= 0.05").unwrap().unwrap();
        assert!(gate.names_stack());
        assert_eq!((gate.sign, gate.limit), (">=", 0.05));
        assert!(gate.hold(&[]).is_empty());
    }
}
