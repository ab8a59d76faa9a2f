use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// Current number of consecutive failed steps: steps in which every flagged tool result is an error. A step with a
/// flagged success resets it to 0; a step without a flagged result leaves it unchanged.
///
/// Unit: steps. Changes at: after-tools. Not evaluable when: the run flags no tool results.
///
/// ## Fires too early when
/// The agent probes alternatives that are expected to fail.
/// ## Never fires when
/// Failures alternate with one trivial success.
#[derive(Debug, Default)]
pub struct ErrorsStreak {
    streak: u32,
    flagged: bool,
}

impl Registered for ErrorsStreak {
    const ID: &'static str = "errors.streak";
    const SUMMARY: &'static str = "failed steps in a row";
    const UNIT: &'static str = "steps";
    const SOURCE: &'static str = "Cline @21cb8d2 consecutive mistakes; agentica 1.4 tool-stuck";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const NEED: Option<Need> = Some(Need::ErrorFlags);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for ErrorsStreak {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if view.moment() == Moment::AfterTools {
            // The step succeeded if any of its flagged results did.
            let failed = view.results().filter_map(|result| result.is_error).reduce(|all, failed| all && failed);
            self.flagged |= failed.is_some();
            match failed {
                Some(true) => self.streak += 1,
                Some(false) => self.streak = 0,
                None => {}
            }
        }
        if self.flagged { Some(f64::from(self.streak)) } else { None }
    }
}
