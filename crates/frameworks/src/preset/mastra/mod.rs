//! Mastra: the steps of a call, conditions to stop, finish reasons, and calls that go back to the caller.

use serde_json::Value;

use super::frame::identity::{KeyOrder, js_text};
use super::frame::rounds::{AgentLoop, AgentLoopMachine, Flow, answered};
use super::frame::{Action, ActionSink, Recipe, Settings, SettingsError, rules_on, wrong_kind};
use crate::decision::Need;
use crate::framework::params;
use crate::transcript::{Message, PointView};

const STEPS: &str = "maxSteps";
const STOP_WHEN: &str = "stopWhen";
const REASON: &str = "finishReason";
const CALLER: &str = "returned_to_caller";
const HOOK: &str = "onIterationComplete";

params! {
    MAX_STEPS: "maxSteps" = 5, off -1, "steps of one call",
        trap |n| if n < 0.0 || n.fract() != 0.0 =>
            "`maxSteps` is an equality: negatives and fractions never match, so there is no cap",
        trap |n| if n == 0.0 => "`maxSteps` of 0 means 5, and no cap at all beside `stopWhen`";
    STOP_WHEN: "stopWhen" = null, off null, "a condition, or a list: any ends the run";
    DEFAULT_OPTIONS_MAX_STEPS: "defaultOptions.maxSteps" = null, off null,
        "the agent's own maxSteps, where the call has none";
    CLIENT_TOOLS: "clientTools" = [], off [], "tools without execute";
    REQUIRE_APPROVAL: "requireApproval" = [], off [], "tools that a person approves";
}

/// What a condition tests.
#[derive(Clone, Debug)]
enum MastraCondition {
    HasToolCall(String),
    StepCountIs(f64),
    StepsAtLeast(f64),
    TextContains(String),
    TokensAtLeast(f64),
}

fn condition(value: &Value) -> Result<(MastraCondition, String), SettingsError> {
    let expected = "a table with one of has_tool_call, step_count_is, steps_at_least, text_contains, tokens_at_least";
    let wrong = || wrong_kind(STOP_WHEN, expected, value);
    let fields = value.as_object().filter(|fields| fields.len() == 1).ok_or_else(wrong)?;
    let (name, given) = fields.iter().next().ok_or_else(wrong)?;
    let text = || given.as_str().map(str::to_owned).ok_or_else(wrong);
    let number = || given.as_f64().ok_or_else(wrong);
    let condition = match name.as_str() {
        "has_tool_call" => MastraCondition::HasToolCall(text()?),
        "step_count_is" => MastraCondition::StepCountIs(number()?),
        "steps_at_least" => MastraCondition::StepsAtLeast(number()?),
        "text_contains" => MastraCondition::TextContains(text()?),
        "tokens_at_least" => MastraCondition::TokensAtLeast(number()?),
        _ => return Err(wrong()),
    };
    Ok((condition, js_text(value, KeyOrder::Given)))
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    with_hook(settings, StepHook::default())
}

/// What the program's hook does after each step; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct StepHook {
    /// From this step on, it ends the run.
    pub stop_at: Option<u64>,
    /// How many times it continues a finished run.
    pub go_on: u64,
}

/// The rules with such a hook.
#[doc(hidden)]
pub fn with_hook(settings: &Settings, hook: StepHook) -> Result<Recipe, SettingsError> {
    let conditions = match settings.get(param::STOP_WHEN.name) {
        None | Some(Value::Null) => None,
        Some(Value::Array(list)) => Some(list.iter().map(condition).collect::<Result<Vec<_>, _>>()?),
        Some(one) => Some(vec![condition(one)?]),
    };
    let given = settings.get(param::MAX_STEPS.name).or_else(|| settings.get(param::DEFAULT_OPTIONS_MAX_STEPS.name));
    let number = |value: &Value| value.as_f64().ok_or_else(|| wrong_kind(STEPS, "a number", value));
    let steps = given.filter(|given| !given.is_null()).map(number).transpose()?.filter(|steps| *steps != 0.0);
    let cap = steps.or_else(|| settings.default_of(&param::MAX_STEPS).as_f64().filter(|_| conditions.is_none()));
    let reads_tokens = |condition: &(MastraCondition, String)| matches!(condition.0, MastraCondition::TokensAtLeast(_));
    let counts_tokens = conditions.iter().flatten().any(reads_tokens);
    let has_conditions = conditions.is_some();
    let agent = Mastra {
        cap,
        conditions: conditions.unwrap_or_default(),
        client_tools: settings.texts(&param::CLIENT_TOOLS)?,
        approval_tools: settings.texts(&param::REQUIRE_APPROVAL)?,
        hook,
        ..Mastra::default()
    };
    let rules = rules_on(&[
        (STEPS, true),
        (REASON, true),
        (STOP_WHEN, has_conditions),
        (CALLER, !(agent.client_tools.is_empty() && agent.approval_tools.is_empty())),
        (HOOK, hook.stop_at.is_some()),
    ]);
    let recipe =
        Recipe::new(AgentLoopMachine::new(agent), &rules).blind(&[STEPS, CALLER, HOOK, REASON]).keeps_own_state();
    Ok(if counts_tokens { recipe.needs(STOP_WHEN, Need::Usage) } else { recipe })
}

#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Mastra {
    cap: Option<f64>,
    /// Each condition with its source text in the framework's language.
    conditions: Vec<(MastraCondition, String)>,
    client_tools: Vec<String>,
    approval_tools: Vec<String>,
    hook: StepHook,
    gone_on: u64,
    steps: u64,
    tokens: f64,
    /// The finish reason of each run; `None` if it raised.
    pub reasons: Vec<Option<String>>,
}

/// The finish reason under the framework's name.
fn finish_reason(reply: &Message) -> Option<&str> {
    match reply.finish_reason() {
        Some("unknown") => Some("other"),
        reason => reason,
    }
}

impl Mastra {
    fn ends(&mut self, reason: &str) -> Flow {
        self.reasons.push(Some(reason.to_owned()));
        Flow::Over
    }

    /// The framework asks for equality: a fraction is never met.
    fn is_at_cap(&self) -> bool {
        self.cap == Some(self.steps as f64)
    }

    #[expect(clippy::float_cmp, reason = "the framework asks for equality: a fraction is never met")]
    fn holds(&self, condition: &MastraCondition, reply: &Message) -> bool {
        let steps = self.steps as f64;
        match condition {
            MastraCondition::HasToolCall(tool) => reply.tool_calls.iter().any(|call| *call.name == **tool),
            MastraCondition::StepCountIs(count) => steps == *count,
            MastraCondition::StepsAtLeast(count) => steps >= *count,
            MastraCondition::TextContains(text) => reply.text().contains(text.as_str()),
            MastraCondition::TokensAtLeast(count) => self.tokens >= *count,
        }
    }

    /// Checks whether something stops a run that would continue.
    fn is_stopped(&self, reply: &Message, acts: &mut ActionSink<'_, '_>) -> bool {
        let steps = self.steps as f64;
        if self.is_at_cap() {
            acts.act(Action::Stop, STEPS).code(STEPS).evidence(steps, steps);
        } else if let Some((_, words)) = self.conditions.iter().find(|(condition, _)| self.holds(condition, reply)) {
            acts.act(Action::Stop, STOP_WHEN).code(STOP_WHEN).detail(words.as_str());
        } else if let Some(step) = self.hook.stop_at.filter(|step| self.steps >= *step) {
            acts.act(Action::Stop, HOOK).code(HOOK).evidence(steps, step as f64);
        } else {
            return false;
        }
        true
    }

    /// Ends the run or raises because of a reply's finish reason; `None` if it does neither.
    fn by_reason(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Option<Flow> {
        let reason = finish_reason(reply)?;
        match reason {
            "length" | "content-filter" => {
                // The framework does not say why it stopped; the cap and the conditions are reported first.
                if !self.is_stopped(reply, acts) {
                    acts.act(Action::Stop, REASON).code(format!("finishReason {reason}"));
                }
                Some(self.ends(reason))
            }
            "error" => {
                let words = "Agent stream finished with finishReason \"error\" but no error payload was provided";
                Some(self.raises(words, acts))
            }
            _ => None,
        }
    }

    fn raises(&mut self, words: &str, acts: &mut ActionSink<'_, '_>) -> Flow {
        acts.act(Action::Fail, REASON).code("Error").detail(words);
        self.reasons.push(None);
        Flow::Over
    }

    fn is_of_caller(&self, tool: &str) -> bool {
        self.client_tools.iter().any(|client| client == tool)
    }
}

impl AgentLoop for Mastra {
    fn starts(&mut self, _: &Message) -> bool {
        self.steps = 0;
        self.tokens = 0.0;
        self.gone_on = 0;
        true
    }

    fn replied(&mut self, _: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        self.steps += 1;
        self.tokens += reply.total_tokens().unwrap_or_default().0 as f64;
        let needs_approval = |name: &str| self.approval_tools.iter().any(|tool| tool == name);
        if let Some(call) = reply.tool_calls.iter().find(|call| needs_approval(&call.name)) {
            acts.act(Action::Ask, CALLER).code("tool-call-approval").call(call.id.as_deref());
            return self.ends("suspended");
        }
        let n_calls = reply.tool_calls.len();
        if n_calls > 0 && reply.tool_calls.iter().all(|call| self.is_of_caller(&call.name)) {
            acts.act(Action::Stop, CALLER).code("tool calls returned to the caller");
            return self.ends("tool-calls");
        }
        Flow::GoesOn
    }

    fn tools_ran(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        if reply.tool_calls.iter().any(|call| self.is_of_caller(&call.name)) {
            let mut own = answered(view, reply);
            own.retain(|answered| !self.is_of_caller(&answered.call.name));
            let last = own.iter().map(|answered| answered.at).max();
            let act = acts.act(Action::Stop, CALLER).code("tool calls returned to the caller");
            act.decision.event = last.or(act.decision.event);
            return self.ends("tool-calls");
        }
        if let Some(flow) = self.by_reason(reply, acts) {
            return flow;
        }
        if self.is_stopped(reply, acts) {
            let reason = finish_reason(reply).filter(|reason| *reason != "stop").unwrap_or("tool-calls").to_owned();
            return self.ends(&reason);
        }
        Flow::GoesOn
    }

    fn said(&mut self, _: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        if let Some(flow) = self.by_reason(reply, acts) {
            return flow;
        }
        match finish_reason(reply) {
            None | Some("stop") => {
                let has_room = self.cap.is_none_or(|cap| (self.steps as f64) < cap);
                if has_room && self.gone_on < self.hook.go_on {
                    self.gone_on += 1;
                    return Flow::GoesOn;
                }
                self.ends("stop")
            }
            Some(reason) if reply.text().is_empty() => {
                let words =
                    format!("Agent stream finished with finishReason \"{reason}\" without producing any output");
                self.raises(&words, acts)
            }
            Some(reason) => {
                let reason = reason.to_owned();
                if self.is_stopped(reply, acts) { self.ends(&reason) } else { Flow::GoesOn }
            }
        }
    }
}
