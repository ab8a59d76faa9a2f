//! Haystack: the agent's step cap, tools that end its run, and tools that fail.

use serde_json::Value;

use super::frame::identity::arguments;
use super::frame::rounds::{AgentLoop, AgentLoopMachine, AnsweredCall, Flow, answered};
use super::frame::{Action, ActionSink, Recipe, Settings, SettingsError, native, rules_on, wrong_kind};
use crate::decision::Need;
use crate::framework::params;
use crate::python;
use crate::transcript::{Message, PointView};

const STEPS: &str = "max_agent_steps";
const EXIT: &str = "exit_conditions";
const FAILURE: &str = "raise_on_tool_invocation_failure";
const HOOKS: &str = "hooks";

params! {
    MAX_AGENT_STEPS: "max_agent_steps" = 100, "replies of one run",
        trap |n| if n <= 0.0 => "`max_agent_steps` of 0 or less is not off: no request is made";
    EXIT_CONDITIONS: "exit_conditions" = ["text"], off ["text"], "tools after which the run ends";
    RAISE_ON_TOOL_INVOCATION_FAILURE: "raise_on_tool_invocation_failure" = false, off false, "a failing tool raises";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    with_program(settings, HaystackProgram::default())
}

/// What the program around the agent does; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct HaystackProgram {
    /// From this many steps on, a hook before the request asks to stop.
    pub stop_after: Option<i64>,
    /// How many times a hook at the exit asks to continue.
    pub stays: i64,
    /// The names of its tools.
    pub tools: Vec<String>,
}

/// The rules in such a program.
#[doc(hidden)]
pub fn with_program(settings: &Settings, program: HaystackProgram) -> Result<Recipe, SettingsError> {
    let max = match &*settings.value(&param::MAX_AGENT_STEPS) {
        Value::Null => None,
        given => Some(python::as_number(given).ok_or_else(|| wrong_kind(STEPS, "a number", given))?),
    };
    let agent = Haystack {
        max,
        exits: settings.texts(&param::EXIT_CONDITIONS)?,
        raises: settings.flag(&param::RAISE_ON_TOOL_INVOCATION_FAILURE)?,
        program,
        ..Haystack::default()
    };
    let listed = agent.exits.iter().any(|exit| exit != "text");
    let is_hooked = agent.program.stop_after.is_some();
    let rules = rules_on(&[(STEPS, true), (EXIT, true), (FAILURE, agent.raises), (HOOKS, is_hooked)]);
    let recipe = Recipe::new(AgentLoopMachine::new(agent), &rules).blind(&[STEPS, EXIT, HOOKS]).keeps_own_state();
    let recipe = recipe.requests_before_prompts().needs(FAILURE, Need::ErrorFlags);
    Ok(if listed { recipe.needs(EXIT, Need::ErrorFlags) } else { recipe })
}

#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Haystack {
    max: Option<f64>,
    exits: Vec<String>,
    raises: bool,
    program: HaystackProgram,
    done: i64,
    stayed: i64,
    /// Why each run ended, as the framework reports it.
    pub reasons: Vec<String>,
}

impl Haystack {
    fn ends(&mut self, reason: &str) -> Flow {
        self.reasons.push(reason.to_owned());
        Flow::Over
    }

    /// Calls the hook at the exit: true if the run continues.
    fn stays(&mut self) -> bool {
        let stays = self.stayed < self.program.stays;
        self.stayed += i64::from(stays);
        stays
    }

    /// Checks whether another step is allowed.
    fn due(&mut self, acts: &mut ActionSink<'_, '_>) -> Flow {
        let done = self.done as f64;
        let Some(max) = self.max else {
            let words = "'<' not supported between instances of 'int' and 'NoneType'";
            acts.act(Action::Fail, STEPS).code("TypeError").detail(words);
            return self.ends("TypeError");
        };
        if done >= max {
            acts.act(Action::Stop, STEPS).code(STEPS).evidence(done, max);
            return self.ends(STEPS);
        }
        if let Some(after) = self.program.stop_after.filter(|after| self.done >= *after) {
            acts.act(Action::Stop, HOOKS).code("hook").evidence(done, after as f64);
            return self.ends("hook");
        }
        Flow::GoesOn
    }
}

impl AgentLoop for Haystack {
    fn starts(&mut self, _: &Message) -> bool {
        self.done = 0;
        self.stayed = 0;
        true
    }

    fn before_request(&mut self, _: &PointView<'_>, acts: &mut ActionSink<'_, '_>) -> Flow {
        self.due(acts)
    }

    fn replied(&mut self, _: &PointView<'_>, _: &Message, _: &mut ActionSink<'_, '_>) -> Flow {
        self.done += 1;
        Flow::GoesOn
    }

    fn tools_ran(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        let answered = answered(view, reply);
        if self.raises {
            let missing = answered.iter().find(|answered| native::flag(answered.result, "invalid_call"));
            if let Some(AnsweredCall { call, .. }) = missing {
                let tools = self.program.tools.join(", ");
                let words = format!("Tool '{}' not found. Available tools: {tools}", call.name);
                let act = acts.act(Action::Fail, FAILURE).code("ToolNotFoundException").detail(words);
                // The framework finds it before any call runs, although the recording shows it only in the result.
                act.call(call.id.as_deref()).at_reply(view);
                return self.ends("ToolNotFoundException");
            }
            let failing = answered.iter().find(|answered| answered.result.is_error == Some(true));
            if let Some(AnsweredCall { call, result, .. }) = failing {
                let given = python::repr(&arguments(call));
                let words =
                    format!("Failed to invoke Tool `{}` with parameters {given}. Error: {}", call.name, result.text());
                acts.act(Action::Fail, FAILURE).code("ToolInvocationError").detail(words).call(call.id.as_deref());
                return self.ends("ToolInvocationError");
            }
        }
        let is_exit = |name: &str| self.exits.iter().any(|exit| exit == name);
        let failed =
            answered.iter().any(|answered| is_exit(&answered.call.name) && native::has_failed(answered.result));
        let exit = reply.tool_calls.iter().find(|call| is_exit(&call.name)).filter(|_| !failed);
        match exit.map(|call| call.name.clone()) {
            Some(tool) if !self.stays() => {
                acts.act(Action::Stop, EXIT).code(tool.to_string());
                self.ends(&tool)
            }
            _ => Flow::GoesOn,
        }
    }

    fn said(&mut self, _: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        let reason = match reply.finish_reason() {
            Some(reason @ ("length" | "content_filter")) => Some(reason),
            _ if !reply.text().is_empty() => Some("text"),
            _ => None,
        };
        match reason {
            Some(reason) if !self.stays() => {
                if reason != "text" {
                    acts.act(Action::Stop, EXIT).code(reason.to_owned());
                }
                self.ends(reason)
            }
            _ => self.due(acts),
        }
    }
}
