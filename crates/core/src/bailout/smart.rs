//! The full example of the agentao page.

use super::{AtCap, Bailout, BailoutError, Params, RegisteredBailout, Reply, Window, all_errors, one_tool};

/// Asks for a final answer at the first hit and stops at every later one.
///
/// From the second hit on it looks for a reason (all results failed, then one tool repeated), but stops without one
/// too. It counts its own hits, not those of a chat.
#[derive(Clone, Copy, Debug)]
pub struct Smart {
    hits: u32,
    /// How many of the latest messages are looked at.
    window: Window,
    /// The share of the calls that one tool has to have.
    threshold: f64,
}

impl Bailout for Smart {
    fn on_cap(&mut self, at: &AtCap<'_>) -> Reply {
        self.hits = self.hits.saturating_add(1);
        if self.hits == 1 {
            return Reply::instruct("Give the final answer from what you have, without calling any more tools.");
        }
        Reply::STOP.because(if all_errors(at.history, self.window) {
            "all_errors"
        } else if one_tool(at.history, self.window, self.threshold) {
            "one_tool"
        } else {
            "fallback"
        })
    }
}

impl RegisteredBailout for Smart {
    const ID: &'static str = "smart";
    const SUMMARY: &'static str = "asks for a final answer at the first hit, then stops";
    const SOURCE: &'static str = "agentao, max-iterations page, complete example";

    const PARAMS: &'static [&'static str] = &["window", "threshold"];

    fn from_params(params: &Params<'_>) -> Result<Self, BailoutError> {
        let window = Window(i64::try_from(params.count("window", Some(10))?).unwrap_or(i64::MAX));
        Ok(Self { hits: 0, window, threshold: params.share("threshold", 0.8)? })
    }
}
