//! Strategy 3 of the agentao page, with scripted answers.

use super::{AtCap, Bailout, BailoutError, Params, RegisteredBailout, Reply};

/// Asks the user, whose answers are scripted: one per hit, with the last one repeating.
///
/// Only the first letter counts, in either case: c continues, s stops, anything else asks for a final answer. So
/// "summarize" stops, "cancel" continues, and a leading space asks for a final answer.
#[derive(Clone, Debug)]
pub struct AskUser {
    answers: Vec<String>,
    asked: usize,
    message: String,
}

impl Bailout for AskUser {
    fn on_cap(&mut self, _at: &AtCap<'_>) -> Reply {
        let answer = self.answers.get(self.asked).or(self.answers.last()).map_or("", String::as_str).to_lowercase();
        self.asked += 1;
        match answer.chars().next() {
            Some('c') => Reply::CONTINUE,
            Some('s') => Reply::STOP,
            _ => Reply::instruct(&self.message),
        }
    }
}

impl RegisteredBailout for AskUser {
    const ID: &'static str = "ask_user";
    const SUMMARY: &'static str = "does what the user says, by the first letter of scripted answers";
    const SOURCE: &'static str = "agentao, max-iterations page, strategy 3";
    const PARAMS: &'static [&'static str] = &["answers", "message"];

    fn from_params(params: &Params<'_>) -> Result<Self, BailoutError> {
        let default = "Give the final answer from what you have, without calling tools.";
        Ok(Self { answers: params.texts("answers")?, asked: 0, message: params.text("message", default)? })
    }
}
