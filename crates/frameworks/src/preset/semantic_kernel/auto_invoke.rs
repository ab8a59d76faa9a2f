//! Automatic function calls, limited in number.

use super::super::frame::{
    Action, ActionSink, Machine, RuleReading, Settings, SettingsError, reading, starts_run, wrong_kind,
};
use super::{AUTO_INVOKE, param};
use crate::transcript::{Message, Moment, PointView};

#[derive(Clone, Debug)]
pub(super) struct AutoInvoke {
    max: i64,
    /// Rounds of calls in the current request.
    attempts: i64,
    /// Whether the functions have been withdrawn.
    forced: bool,
}

impl AutoInvoke {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        settings.flag(&param::AUTO_INVOKE)?;
        let behavior = settings.text(&param::FUNCTION_CHOICE_BEHAVIOR)?.unwrap_or_default();
        if !["Auto", "Required", "None"].contains(&behavior) {
            let parameter = param::FUNCTION_CHOICE_BEHAVIOR.name;
            return Err(wrong_kind(parameter, "Auto, Required or None", &behavior.into()));
        }
        let max = settings.int(&param::MAXIMUM_AUTO_INVOKE_ATTEMPTS)?;
        Ok(Self { max, attempts: 0, forced: false })
    }
}

impl Machine for AutoInvoke {
    fn message(&mut self, message: &Message, _acts: &mut ActionSink<'_, '_>) {
        if starts_run(message) {
            self.attempts = 0;
            self.forced = false;
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        let has_calls = view.reply().is_some_and(|reply| !reply.tool_calls.is_empty());
        let (seen, limit) = (self.attempts as f64, self.max as f64);
        match view.moment() {
            Moment::BeforeRequest if self.max > 0 && self.attempts >= self.max && !self.forced => {
                self.forced = true;
                acts.act(Action::ForceFinal, AUTO_INVOKE).code("maximum_auto_invoke_attempts").evidence(seen, limit);
            }
            Moment::AfterResponse if has_calls && (self.forced || self.max <= 0) => {
                acts.act(Action::Stop, AUTO_INVOKE).code("calls returned unexecuted").evidence(seen, limit);
            }
            Moment::AfterTools if has_calls => self.attempts += 1,
            Moment::AfterTools => {
                self.attempts = 0;
                self.forced = false;
            }
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        vec![reading(AUTO_INVOKE, "attempts", self.attempts as f64, self.max as f64)]
    }
}
