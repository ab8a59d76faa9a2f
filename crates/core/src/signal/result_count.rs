use super::calls::got;
use super::tally::StepRepeats;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// How often this step's list of result texts has occurred in the run so far, including this time, whatever was called.
/// With `window`, only that many latest steps with calls are counted. A step without calls reads 0; a step whose calls
/// have no recorded result has no reading.
///
/// Unit: times. Changes at: after-tools. Options: `exempt_tools`, `only_tools`, `any_order` (of parallel calls),
/// `window` (default: the whole run). Not evaluable when: tools were called and no result is recorded.
///
/// ## Fires too early when
/// Different commands succeed with the same word, or without output.
/// ## Never fires when
/// Results contain a timestamp or a process id.
#[derive(Debug)]
pub struct ResultCount(StepRepeats);

impl Registered for ResultCount {
    const ID: &'static str = "result.count";
    const SUMMARY: &'static str = "how often these results have occurred in the run, whatever was called";
    const UNIT: &'static str = "times";
    const SOURCE: &'static str = "browser-use 0.13 page_stagnation (equal states, whatever the action)";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["exempt_tools", "only_tools", "window", "any_order"];
    const NEED: Option<Need> = Some(Need::Results);
    const CONTENTS: &'static [Need] = &[Need::ResultTexts];

    fn start(options: &Options) -> Self {
        Self(StepRepeats::start(options))
    }
}

impl Signal for ResultCount {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.observe(view, got)
    }
}
