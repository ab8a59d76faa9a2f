use super::calls::asked_and_got;
use super::streak::StepStreak;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// How many consecutive steps, up to this one, had the same ordered list of calls and the same result texts. A step
/// without calls resets it to 0; a step that called only exempt tools is skipped. A step whose calls have no recorded
/// result has no reading, and the next step starts a new streak.
///
/// Unit: steps. Changes at: after-tools. Options: `identity`, `exempt_tools`, `only_tools`, `any_order` (of parallel
/// calls). Not evaluable when: tools were called and no result is recorded.
///
/// ## Fires too early when
/// The agent waits for several steps and nothing changes.
/// ## Never fires when
/// Results contain a timestamp or a process id.
#[derive(Debug)]
pub struct CallResultStreak(StepStreak);

impl Registered for CallResultStreak {
    const ID: &'static str = "call_result.streak";
    const SUMMARY: &'static str = "steps in a row with the same calls and the same results";
    const UNIT: &'static str = "steps";
    const SOURCE: &'static str = "OpenHands SDK 1.58 action_observation";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["identity", "exempt_tools", "only_tools", "any_order"];

    const NEED: Option<Need> = Some(Need::Results);
    const CONTENTS: &'static [Need] = &[Need::CallArguments, Need::ResultTexts];

    fn start(options: &Options) -> Self {
        Self(StepStreak::start(options))
    }
}

impl Signal for CallResultStreak {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.observe(view, asked_and_got)
    }
}
