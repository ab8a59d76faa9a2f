use super::calls::got;
use super::streak::StepStreak;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// How many consecutive steps, up to this one, had the same ordered list of result texts, whatever was called. A step
/// without calls resets it to 0; a step that called only exempt tools is skipped. A step whose calls have no recorded
/// result has no reading, and the next step starts a new streak.
///
/// Unit: steps. Changes at: after-tools. Options: `exempt_tools`, `only_tools`, `any_order` (of parallel calls). Not
/// evaluable when: tools were called and no result is recorded.
///
/// ## Fires too early when
/// Several consecutive edits or deletions succeed with the same word.
/// ## Never fires when
/// Results contain a timestamp, or a single different step comes between the equal ones.
#[derive(Debug)]
pub struct ResultStreak(StepStreak);

impl Registered for ResultStreak {
    const ID: &'static str = "result.streak";
    const SUMMARY: &'static str = "steps in a row with the same results, whatever was called";
    const UNIT: &'static str = "steps";
    const SOURCE: &'static str = "browser-use 0.13 page_stagnation (equal states in a row)";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["exempt_tools", "only_tools", "any_order"];
    const NEED: Option<Need> = Some(Need::Results);
    const CONTENTS: &'static [Need] = &[Need::ResultTexts];

    fn start(options: &Options) -> Self {
        Self(StepStreak::start(options))
    }
}

impl Signal for ResultStreak {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.observe(view, got)
    }
}
