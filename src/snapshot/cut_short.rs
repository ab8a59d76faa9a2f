//! Gates on what followed the stops: the share of runs whose work a stack cut short.

use super::gate::{GateComparator, GateParts, GateResult};
use crate::aggregate::FollowedSummary;
use crate::diagnostic::{Diagnostic, Location};
use crate::report::plain_number;

/// The metrics: the upper and the lower end of the interval, which covers every value that unknown effects allow.
const METRICS: [&str; 2] = ["cut_short_high", "cut_short_low"];

/// A gate such as `cut_short_high>0.05`, or `ours:cut_short_high>0.05` for one stack.
#[derive(Clone, Debug, PartialEq)]
pub struct CutShortGate {
    text: String,
    stack: Option<String>,
    metric: &'static str,
    sign: GateComparator,
    limit: f64,
}

impl CutShortGate {
    /// Parses a gate; `None` if it is on another metric. `stacks` are the known stacks.
    pub fn parse(text: &str, stacks: &[String]) -> Option<Result<Self, Diagnostic>> {
        let written = GateParts::read(text).ok()?;
        let metric = METRICS.into_iter().find(|known| *known == written.metric)?;
        if let Err(unknown) = written.refuse_unknown_stack(stacks) {
            return Some(Err(unknown));
        }
        let GateParts { stack, sign, limit, .. } = written;
        if !(0.0..=1.0).contains(&limit) {
            let what = format!("gate `{text}`: `{limit}` is no share from 0 to 1");
            return Some(Err(Diagnostic::new(Location::default(), what, "write `cut_short_high>0.05` for 5 %")));
        }
        Some(Ok(Self { text: text.to_owned(), stack, metric, sign, limit }))
    }

    /// Checks the gate on the stacks it applies to. An unknown value fails.
    pub fn hold(&self, summaries: &[FollowedSummary]) -> Vec<GateResult> {
        let mine = summaries.iter().filter(|summary| self.stack.as_ref().is_none_or(|stack| **stack == *summary.stack));
        mine.map(|summary| {
            let value = match self.metric {
                "cut_short_high" => summary.cut_short_high.high(),
                _ => summary.cut_short_low.low(),
            };
            let (low, high) = summary.cut_short;
            let (failed, why) = match value {
                None => (true, "unknown: nothing to count".to_owned()),
                Some(value) => {
                    let (rate, runs) = (plain_number(value), summary.runs);
                    let why = format!("{rate} a task ({low} to {high} of {runs} cut short, 95 % interval)");
                    (self.sign.fails(value, self.limit), why)
                }
            };
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
        let parse = |text| CutShortGate::parse(text, &["ours".to_owned()]);
        assert_eq!(parse("fes_rate_high>0.05"), None);
        assert!(parse("cut_short_high>5").unwrap().is_err());
        let gate = parse("ours: cut_short_high >= 0.05").unwrap().unwrap();
        assert_eq!(gate.stack.as_deref(), Some("ours"));
        assert_eq!((gate.sign, gate.limit), (GateComparator::AtLeast, 0.05));
        assert!(gate.hold(&[]).is_empty());
    }

    #[test]
    fn a_gate_on_a_stack_that_is_not_there_is_refused_and_does_not_hold() {
        let error = CutShortGate::parse("our:cut_short_high>0.05", &["ours".to_owned()]).unwrap().unwrap_err();
        assert_eq!(
            (&*error.what, &*error.help),
            ("gate `our:cut_short_high>0.05`: no stack `our`", "did you mean `ours`?")
        );
    }
}
