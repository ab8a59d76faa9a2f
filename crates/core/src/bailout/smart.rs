//! The full example of the agentao page.

use super::{AtCap, Bailout, BailoutError, Params, Registered, Reply, Window, all_errors, one_tool};

/// Asks for a final answer at the first hit and stops at every later one.
///
/// From the second hit on it looks for a reason (all results failed, then one tool repeated), but stops without one
/// too. It counts its own hits, not those of a chat.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smart {
    hits: u32,
}

impl Bailout for Smart {
    fn on_cap(&mut self, at: &AtCap<'_>) -> Reply {
        self.hits = self.hits.saturating_add(1);
        if self.hits == 1 {
            return Reply::instruct("Give the final answer from what you have, without calling any more tools.");
        }
        Reply::STOP.because(if all_errors(at.history, Window(10)) {
            "all_errors"
        } else if one_tool(at.history, Window(10), 0.8) {
            "one_tool"
        } else {
            "fallback"
        })
    }
}

impl Registered for Smart {
    const ID: &'static str = "smart";
    const SUMMARY: &'static str = "asks for a final answer at the first hit, then stops";
    const SOURCE: &'static str = "agentao, max-iterations page, complete example";

    fn from_params(_params: &Params<'_>) -> Result<Self, BailoutError> {
        Ok(Self::default())
    }
}
