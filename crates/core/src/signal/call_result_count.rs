use super::calls::asked_and_got;
use super::tally::StepRepeats;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// How often this step's list of calls, with these result texts, has occurred in the run so far, including this time,
/// consecutively or not. With `window`, only that many latest steps with calls are counted. A step without calls reads
/// 0; a step whose calls have no recorded result has no reading.
///
/// Unit: times. Changes at: after-tools. Options: `identity`, `exempt_tools`, `only_tools`, `any_order` (of parallel
/// calls), `window` (default: the whole run). Not evaluable when: tools were called and no result is recorded.
///
/// ## Fires too early when
/// The agent has good reason to look at an unchanged file twice.
/// ## Never fires when
/// Results contain a timestamp or a process id.
#[derive(Debug)]
pub struct CallResultCount(StepRepeats);

impl Registered for CallResultCount {
    const ID: &'static str = "call_result.count";
    const SUMMARY: &'static str = "how often this step's calls with these results have occurred in the run";
    const UNIT: &'static str = "times";
    const SOURCE: &'static str = "CrewAI 1.15 (5th equal tool, arguments, result); Hermes 0.19 read-only same result";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["identity", "exempt_tools", "only_tools", "window", "any_order"];

    const NEED: Option<Need> = Some(Need::Results);
    const CONTENTS: &'static [Need] = &[Need::CallArguments, Need::ResultTexts];

    fn start(options: &Options) -> Self {
        Self(StepRepeats::start(options))
    }
}

impl Signal for CallResultCount {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.observe(view, asked_and_got)
    }
}
