//! smolagents: the step limit and the forced last answer.

use serde_json::Value;

use super::frame::{
    Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading, starts_run, wrong_kind,
};
use crate::framework::{Parameter, params};
use crate::transcript::{Message, Moment, PointView};

const RULE: &str = "max_steps";
const ANSWER_TOOL: &str = "final_answer";

params! {
    MAX_STEPS: "max_steps" = 20, "steps of one run, as the agent has it",
        trap |n| if n <= 0.0 => "`max_steps` of 0 or less is not off: the run fails";
    RUN_MAX_STEPS: "run_max_steps" = null, "the argument max_steps of run()";
    FINAL_ANSWER_CHECKS: "final_answer_checks" = null, off null, "never_accept: one check that always says no";
    RESET: "reset" = true, "false keeps the memory; the counter starts anew";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let agent = number(settings, &param::MAX_STEPS)?;
    let run = number(settings, &param::RUN_MAX_STEPS)?.filter(|steps| *steps != 0.0);
    let never_accepts = settings.text(&param::FINAL_ANSWER_CHECKS)? == Some("never_accept");
    settings.flag(&param::RESET)?;
    let machine = SmolagentsRun { max_steps: run.or(agent), never_accepts, ..SmolagentsRun::default() };
    Ok(Recipe::new(machine, &[RULE]).blind(&[RULE]).resumes_at_user())
}

/// An optional number.
fn number(settings: &Settings, parameter: &Parameter) -> Result<Option<f64>, SettingsError> {
    match &*settings.value(parameter) {
        Value::Null => Ok(None),
        value if value.as_str() == Some("none") => Ok(None),
        value => value.as_f64().map(Some).ok_or_else(|| wrong_kind(parameter.name, "a number, or none", value)),
    }
}

/// One call of `run()`.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct SmolagentsRun {
    /// The limit; `None` is Python's None, with which the framework cannot compare.
    max_steps: Option<f64>,
    never_accepts: bool,
    /// Whether an answer of this run was refused.
    refused_answer: bool,
    /// Steps taken.
    steps: u32,
    over: bool,
    /// The states of the finished runs, in order.
    pub states: Vec<&'static str>,
}

impl SmolagentsRun {
    /// Starts another step, unless the limit has been reached.
    fn step_due(&mut self, acts: &mut ActionSink<'_, '_>) {
        let steps = f64::from(self.steps);
        let Some(limit) = self.max_steps else { return self.fail("TypeError", acts) };
        if steps + 1.0 <= limit {
            return;
        }
        #[expect(
            clippy::float_cmp,
            reason = "the framework asks `number == limit + 1`: no fraction and no negative meets it"
        )]
        let used_up = steps == limit;
        if !used_up && self.refused_answer {
            // The run ends with the last answer that its checks refused.
            self.over = true;
            self.states.push("success");
            return;
        }
        if !used_up {
            return self.fail("UnboundLocalError", acts);
        }
        self.over = true;
        self.states.push("max_steps_error");
        let act = acts.act(Action::ForceFinal, RULE).code("max_steps_error").ends_run();
        act.detail("one extra request without tools").evidence(steps + 1.0, limit).at_next_request();
        if self.steps == 0 {
            self.fail("UnboundLocalError", acts);
        }
    }

    fn fail(&mut self, code: &'static str, acts: &mut ActionSink<'_, '_>) {
        self.over = true;
        acts.act(Action::Fail, RULE).code(code);
    }

    /// Whether the reply is nothing but a final answer, which was accepted.
    fn answers(&mut self, reply: &Message, view: &PointView<'_>) -> bool {
        let answers = matches!(&reply.tool_calls[..], [call] if *call.name == *ANSWER_TOOL)
            && !view.results().any(|result| result.is_error == Some(true));
        self.refused_answer |= answers && self.never_accepts;
        answers && !self.never_accepts
    }
}

impl Machine for SmolagentsRun {
    fn message(&mut self, message: &Message, _: &mut ActionSink<'_, '_>) {
        if starts_run(message) {
            self.steps = 0;
            self.refused_answer = false;
            self.over = false;
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.step_due(acts),
            (Moment::AfterResponse, _) => self.steps += 1,
            (Moment::AfterTools, Some(reply)) => {
                if self.answers(reply, view) {
                    self.over = true;
                    self.states.push("success");
                } else if reply.tool_calls.is_empty() || view.results().next().is_some() {
                    self.step_due(acts);
                }
            }
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        self.max_steps.iter().map(|max| reading(RULE, "steps", f64::from(self.steps), *max)).collect()
    }
}
