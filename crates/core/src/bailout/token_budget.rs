//! Strategy 5 of the agentao page.

use super::{AtCap, Bailout, BailoutError, Params, RegisteredBailout, Reply};

/// Grants the cap again as long as twice the history's tokens can be reserved from a budget.
///
/// The page does not define how tokens are reserved. Here a reservation succeeds if enough is left, and is deducted; a
/// refusal deducts nothing.
#[derive(Clone, Copy, Debug)]
pub struct TokenBudget {
    left: u64,
}

impl Bailout for TokenBudget {
    fn on_cap(&mut self, at: &AtCap<'_>) -> Reply {
        let wanted = at.tokens.saturating_mul(2);
        match self.left.checked_sub(wanted) {
            Some(left) => {
                self.left = left;
                Reply::CONTINUE
            }
            None => Reply::instruct("The budget is used up; give the final answer now.").because("budget"),
        }
    }
}

impl RegisteredBailout for TokenBudget {
    const ID: &'static str = "token_budget";
    const SUMMARY: &'static str = "grants the cap again while twice the history's tokens fit a budget";
    const SOURCE: &'static str = "agentao, max-iterations page, strategy 5";
    const PARAMS: &'static [&'static str] = &["budget"];

    fn from_params(params: &Params<'_>) -> Result<Self, BailoutError> {
        Ok(Self { left: params.count("budget", None)? })
    }
}
