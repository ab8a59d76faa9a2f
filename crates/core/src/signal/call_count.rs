use super::calls::asked;
use super::tally::StepRepeats;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// How often this step's list of calls has occurred in the run so far, including this time, consecutively or not. With
/// `window`, only that many latest steps with calls are counted. A step without calls reads 0.
///
/// Unit: times. Changes at: after-tools. Options: `identity`, `exempt_tools`, `only_tools`, `any_order` (of parallel
/// calls), `window` (default: the whole run). Always evaluable.
///
/// ## Fires too early when
/// Coding agents re-run the same test after each edit: two thirds of such runs repeat a call three times.
/// ## Never fires when
/// An argument contains a counter or a timestamp.
#[derive(Debug)]
pub struct CallCount(StepRepeats);

impl Registered for CallCount {
    const ID: &'static str = "call.count";
    const SUMMARY: &'static str = "how often this step's calls have occurred in the run";
    const UNIT: &'static str = "times";
    const SOURCE: &'static str = "agentao 0.5 repeated-call guard; DeerFlow @f1f4af9 loop hash (window 20)";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["identity", "exempt_tools", "only_tools", "window", "any_order"];
    const CONTENTS: &'static [Need] = &[Need::CallArguments];

    fn start(options: &Options) -> Self {
        Self(StepRepeats::start(options))
    }
}

impl Signal for CallCount {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.observe(view, |_, reply, options| Some(asked(reply, options)))
    }
}
