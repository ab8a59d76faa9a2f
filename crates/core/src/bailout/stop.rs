//! Strategy 1 of the agentao page.

use super::{AtCap, Bailout, BailoutError, Params, RegisteredBailout, Reply};

/// Always stops. It is also what happens when no bailout is named.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysStop;

impl Bailout for AlwaysStop {
    fn on_cap(&mut self, _at: &AtCap<'_>) -> Reply {
        Reply::STOP
    }
}

impl RegisteredBailout for AlwaysStop {
    const ID: &'static str = "stop";
    const SUMMARY: &'static str = "stops at every hit";
    const SOURCE: &'static str = "agentao, max-iterations page, strategy 1";

    fn from_params(_params: &Params<'_>) -> Result<Self, BailoutError> {
        Ok(Self)
    }
}
