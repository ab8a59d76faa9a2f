use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, PointView};

/// Consecutive rounds in which every flagged tool result was an error. A round with a flagged success resets it to 0; a
/// round without a flagged result leaves it unchanged.
///
/// Unit: rounds. Changes at: end-of-round; a rule on it is checked before the next request unless it names another
/// moment. Not evaluable when: the run flags no tool results.
///
/// ## Fires too early when
/// The tests are meant to fail at first, for three rounds.
/// ## Never fires when
/// Each round contains one trivial success.
#[derive(Debug, Default)]
pub struct ErrorsRounds {
    streak: u32,
    failed: bool,
    succeeded: bool,
    flagged: bool,
}

impl Registered for ErrorsRounds {
    const ID: &'static str = "errors.rounds";
    const SUMMARY: &'static str = "rounds in a row in which every tool failed";
    const UNIT: &'static str = "rounds";
    const SOURCE: &'static str = "agentica 1.4 consecutive_tool_failures";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = false;
    const NEED: Option<Need> = Some(Need::ErrorFlags);
    const AT: Moment = Moment::BeforeRequest;

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for ErrorsRounds {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if view.moment() == Moment::AfterTools {
            for is_error in view.results().filter_map(|result| result.is_error) {
                self.failed |= is_error;
                self.succeeded |= !is_error;
                self.flagged = true;
            }
        }
        if view.moment() == Moment::EndOfRound {
            if self.succeeded {
                self.streak = 0;
            } else if self.failed {
                self.streak += 1;
            }
            (self.failed, self.succeeded) = (false, false);
        }
        if self.flagged { Some(f64::from(self.streak)) } else { None }
    }
}
