use super::calls::asked;
use super::streak::StepStreak;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// How many consecutive steps, up to this one, had the same ordered list of calls. A step without calls resets it to 0;
/// a step that called only exempt tools is skipped.
///
/// Unit: steps. Changes at: after-tools. Options: `identity`, `exempt_tools`, `only_tools`, `any_order` (of parallel
/// calls). Always evaluable.
///
/// ## Fires too early when
/// The agent polls, or re-runs its reproduction script.
/// ## Never fires when
/// Two calls alternate (see `call.cycle`), or an argument contains a counter.
#[derive(Debug)]
pub struct CallStreak(StepStreak);

impl Registered for CallStreak {
    const ID: &'static str = "call.streak";
    const SUMMARY: &'static str = "steps in a row that asked for the same calls";
    const UNIT: &'static str = "steps";
    const SOURCE: &'static str = "Roo Code 3.52 and Cline @21cb8d2 repetition detectors; Goose max_repetitions";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["identity", "exempt_tools", "only_tools", "any_order"];
    const CONTENTS: &'static [Need] = &[Need::CallArguments];

    fn start(options: &Options) -> Self {
        Self(StepStreak::start(options))
    }
}

impl Signal for CallStreak {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.observe(view, |_, reply, options| Some(asked(reply, options)))
    }
}
