//! The agent executor of langchain-classic: limits on iterations and seconds.

use super::super::frame::{
    Action, ActionSink, Machine, RuleReading, Settings, SettingsError, reading, seconds_between,
};
use super::{EXECUTOR, param};
use crate::python;
use crate::transcript::{Instant, Message, Moment, PointView};

#[derive(Clone, Debug, Default)]
pub(super) struct Executor {
    max_iterations: Option<i64>,
    max_seconds: Option<f64>,
    method: String,
    legacy: bool,
    handles_parsing_errors: bool,
    iterations: i64,
    started_at: Option<Instant>,
    finished: bool,
}

impl Executor {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        Ok(Self {
            max_iterations: settings.opt_int(&param::MAX_ITERATIONS)?,
            max_seconds: settings.opt_number(&param::MAX_EXECUTION_TIME)?,
            method: settings.text(&param::EARLY_STOPPING_METHOD)?.unwrap_or_default().to_owned(),
            legacy: settings.text(&param::AGENT)? == Some("ZeroShotAgent"),
            handles_parsing_errors: python::is_true(&settings.value(&param::HANDLE_PARSING_ERRORS)),
            ..Self::default()
        })
    }

    pub(super) fn is_timed(&self) -> bool {
        self.max_seconds.is_some()
    }

    /// The limit that is reached: observed value and limit.
    fn reached(&self, now: Option<Instant>) -> Option<(f64, f64)> {
        if let Some(max) = self.max_iterations.filter(|max| self.iterations >= *max) {
            return Some((self.iterations as f64, max as f64));
        }
        let max = self.max_seconds?;
        let elapsed = if self.iterations == 0 { 0.0 } else { seconds_between(self.started_at, now)? };
        if elapsed >= max { Some((elapsed, max)) } else { None }
    }

    fn stop(&self, (seen, limit): (f64, f64), acts: &mut ActionSink<'_, '_>) {
        let act = match (self.method.as_str(), self.legacy) {
            ("force", true) => acts
                .act(Action::Stop, EXECUTOR)
                .code("force")
                .detail("Agent stopped due to iteration limit or time limit."),
            ("force", false) => {
                acts.act(Action::Stop, EXECUTOR).code("force").detail("Agent stopped due to max iterations.")
            }
            ("generate", true) => acts.act(Action::ForceFinal, EXECUTOR).code("generate").ends_run(),
            (method, true) => {
                let words = format!("early_stopping_method should be one of `force` or `generate`, got {method}");
                acts.act(Action::Fail, EXECUTOR).code("ValueError").detail(words)
            }
            (method, false) => {
                let words = format!("Got unsupported early_stopping_method `{method}`");
                acts.act(Action::Fail, EXECUTOR).code("ValueError").detail(words)
            }
        };
        act.evidence(seen, limit);
    }

    fn reply(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        let unreadable = self.legacy && message.tool_calls.is_empty() && is_unreadable(&message.text());
        if unreadable && !self.handles_parsing_errors {
            acts.act(Action::Fail, EXECUTOR).code("ValueError");
            return;
        }
        self.finished = message.tool_calls.is_empty() && !unreadable;
        self.iterations += i64::from(!self.finished);
    }
}

/// Whether the text protocol cannot parse a raw reply, as neither an answer nor an action.
fn is_unreadable(text: &str) -> bool {
    text.strip_prefix("RAW:").is_some_and(|raw| !raw.contains("Final Answer:"))
}

impl Machine for Executor {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if message.is_prompt() {
            self.iterations = 0;
            self.finished = false;
            self.started_at = message.ts;
        } else if message.is_step() && !self.finished {
            self.reply(message, acts);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if view.moment() == Moment::BeforeRequest
            && !self.finished
            && let Some(evidence) = self.reached(view.now())
        {
            self.stop(evidence, acts);
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let limit = self.max_iterations.iter();
        limit.map(|max| reading(EXECUTOR, "iterations", self.iterations as f64, *max as f64)).collect()
    }
}
