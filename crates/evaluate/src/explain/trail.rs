//! The decisions of strategies on one run as data: which strategy acts at which call, and how.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::decision::{Decision, Strategy};
use crate::replay::trail;
use crate::transcript::{Moment, Run};

/// One decision of one strategy on one run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrailLine {
    /// The run.
    pub run_id: String,
    /// The strategy.
    pub stack: String,
    /// The number (from 1) of the tool call it is about; for a decision about no single call, the number of calls the
    /// agent had requested by then. 0 before the first.
    pub call: usize,
    /// The decision itself.
    pub decision: Decision,
}

/// Every decision of `strategies` on `run`, strategy by strategy, each up to its first terminal decision.
pub fn trail_lines(run: &Run, strategies: &[Arc<dyn Strategy>]) -> Vec<TrailLine> {
    let mut lines = Vec::new();
    for strategy in strategies {
        lines.extend(trail(run, strategy).into_iter().map(|decision| TrailLine {
            run_id: run.header.run_id.clone(),
            stack: strategy.name().to_owned(),
            call: call_number(run, &decision),
            decision,
        }));
    }
    lines
}

fn call_number(run: &Run, decision: &Decision) -> usize {
    let step = decision.point.step as usize;
    let known = if decision.point.moment == Moment::BeforeRequest { step } else { step + 1 };
    let calls = |index: usize| run.calls(index);
    let asked_for: usize = (0..known).map(|index| calls(index).len()).sum();
    let Some(id) = decision.call_id.as_deref() else { return asked_for };
    // The latest step with a call of this id: ids are not always unique in a run.
    for index in (0..known).rev() {
        if let Some(within) = calls(index).iter().position(|call| call.id.as_deref() == Some(id)) {
            return (0..index).map(|index| calls(index).len()).sum::<usize>() + within + 1;
        }
    }
    asked_for
}

/// A summary of what one strategy did on one run: for each rule and limit, its kinds of action with the first call of
/// each, in order, as `w3 d5 h6`; in brackets if the model never sees it; `–` for nothing.
pub fn first_actions<'l>(lines: impl IntoIterator<Item = &'l TrailLine>) -> String {
    let (mut seen, mut text) = (Vec::new(), String::new());
    for TrailLine { call, decision, .. } in lines {
        let kind = (decision.action, decision.delivered, &decision.rule, decision.evidence.limit);
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let blank = if text.is_empty() { "" } else { " " };
        let (open, close) = if decision.delivered { ("", "") } else { ("(", ")") };
        // Writing to a string cannot fail.
        let _ = write!(text, "{blank}{open}{}{call}{close}", decision.action.letter());
    }
    if text.is_empty() { "–".to_owned() } else { text }
}
