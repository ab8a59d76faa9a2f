//! Strategy 2 of the agentao page.

use super::{AtCap, Bailout, BailoutError, Params, RegisteredBailout, Reply};

/// Always asks for a final answer from what is known.
///
/// It has no memory: a model that keeps calling tools is asked again at every hit, indefinitely.
#[derive(Clone, Debug)]
pub struct Summarise {
    message: String,
}

impl Bailout for Summarise {
    fn on_cap(&mut self, _at: &AtCap<'_>) -> Reply {
        Reply::instruct(&self.message)
    }
}

impl RegisteredBailout for Summarise {
    const ID: &'static str = "summarise";
    const SUMMARY: &'static str = "asks for a final answer at every hit";
    const SOURCE: &'static str = "agentao, max-iterations page, strategy 2";
    const PARAMS: &'static [&'static str] = &["message"];

    fn from_params(params: &Params<'_>) -> Result<Self, BailoutError> {
        let default = "Do not call any more tools; give the final answer from what you have.";
        Ok(Self { message: params.text("message", default)? })
    }
}
