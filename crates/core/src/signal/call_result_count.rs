use super::calls::{Asked, asked_and_got};
use super::tally::Tally;
use super::{Options, Registered, Signal};
use crate::transcript::{Moment, PointView};

/// How often this step's list of calls with these result texts has occurred in the run so far, this time included, in a row or
/// not; with `window`, among that many latest steps with calls. A step without calls reads 0.
///
/// Unit: times. Changes at: after-tools. Options: `identity`, `exempt_tools`, `window` (default: the whole
/// run). Always evaluable.
///
/// ## Fires too early when
/// Looking at an unchanged file twice for good reason.
/// ## Never fires when
/// Results carry a time stamp or a process id.
#[derive(Debug)]
pub struct CallResultCount {
    options: Options,
    tally: Tally,
    reading: usize,
}

impl Registered for CallResultCount {
    const ID: &'static str = "call_result.count";
    const SUMMARY: &'static str = "how often this step's calls with these results have occurred in the run";
    const UNIT: &'static str = "times";
    const SOURCE: &'static str = "CrewAI 1.15 (5th equal tool, arguments, result); Hermes 0.19 read-only same result";
    const OPTIONS: &'static [&'static str] = &["identity", "exempt_tools", "window"];

    fn start(options: &Options) -> Self {
        Self { options: options.clone(), tally: Tally::over(options.window), reading: 0 }
    }
}

impl Signal for CallResultCount {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterTools, Some(reply)) = (view.moment(), view.reply()) {
            match asked_and_got(view, reply, &self.options) {
                Asked::Nothing => self.reading = 0,
                Asked::OnlyExempt => {}
                Asked::Calls(print) => self.reading = self.tally.take(print),
            }
        }
        Some(self.reading as f64)
    }
}
