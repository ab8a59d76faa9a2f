//! LlamaIndex: the iterations of an agent's run, how it stops early, and tools whose result is the answer.

use serde_json::Value;

use super::frame::rounds::{AgentLoop, AgentLoopMachine, AnsweredCall, Flow, answered};
use super::frame::{Action, ActionSink, Recipe, Settings, SettingsError, native, wrong_kind};
use crate::decision::Need;
use crate::framework::params;
use crate::python;
use crate::transcript::{Message, PointView};

const ITERATIONS: &str = "max_iterations";
const DIRECT: &str = "return_direct";

params! {
    MAX_ITERATIONS: "max_iterations" = 20, "replies of one run",
        trap |n| if n == 0.0 => "`max_iterations` of 0 is not off: it means 20",
        trap |n| if (1.0..=1.0).contains(&n) =>
            "`max_iterations` of 1 never returns an answer: the last reply is always lost";
    EARLY_STOPPING_METHOD: "early_stopping_method" = "force", "force (an exception) or generate";
    RETURN_DIRECT: "return_direct" = [], off [], "tools whose result is the answer";
    AGENT: "agent" = "FunctionAgent", "FunctionAgent, ReActAgent or AgentWorkflow";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    with_program(settings, &LlamaIndexProgram::default())
}

/// What the program around the agent does; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct LlamaIndexProgram {
    /// The early stopping method of the agent, if it differs from that of the workflow.
    pub agent_method: Option<String>,
    /// That of the run.
    pub run_method: Option<String>,
    /// The limits of the runs, in order.
    pub max_iterations_by_run: Vec<Value>,
    /// Whether all runs share a context.
    pub shares_context: bool,
}

/// The rules in such a program.
#[doc(hidden)]
pub fn with_program(settings: &Settings, program: &LlamaIndexProgram) -> Result<Recipe, SettingsError> {
    let agent = settings.text(&param::AGENT)?.unwrap_or_default();
    if !["FunctionAgent", "ReActAgent", "AgentWorkflow"].contains(&agent) {
        let expected = "FunctionAgent, ReActAgent or AgentWorkflow";
        return Err(wrong_kind(param::AGENT.name, expected, &Value::from(agent)));
    }
    let method = settings.text(&param::EARLY_STOPPING_METHOD)?.unwrap_or_default();
    let of_agent = program.agent_method.as_deref().unwrap_or(method);
    if [method, of_agent].iter().any(|method| !["force", "generate"].contains(method)) {
        return Err(SettingsError::refused("ValidationError", format!("1 validation error for {agent}")));
    }
    let of_run = program.run_method.as_deref();
    settings.number(&param::MAX_ITERATIONS)?;
    let max = settings.in_force(&param::MAX_ITERATIONS).into_owned();
    let direct = settings.texts(&param::RETURN_DIRECT)?;
    let rules: &[&str] = if direct.is_empty() { &[ITERATIONS] } else { &[ITERATIONS, DIRECT] };
    let agent = LlamaIndexWorkflow {
        max,
        default: settings.default_of(&param::MAX_ITERATIONS),
        by_run: program.max_iterations_by_run.clone(),
        shares: program.shares_context,
        generates: of_run.unwrap_or(method) == "generate",
        retries: agent == "ReActAgent",
        direct,
        runs: 0,
        limit: Value::Null,
        replies: 0,
    };
    let recipe = Recipe::new(AgentLoopMachine::new(agent), rules).blind(rules).needs(DIRECT, Need::ErrorFlags);
    Ok(recipe.keeps_own_state())
}

#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct LlamaIndexWorkflow {
    max: Value,
    /// The limit that 0 and null stand for.
    default: Value,
    by_run: Vec<Value>,
    shares: bool,
    generates: bool,
    /// Whether a reply that is empty or cannot be parsed is requested again, as a ReActAgent does.
    retries: bool,
    direct: Vec<String>,
    runs: usize,
    /// This run's limit, as given.
    limit: Value,
    replies: u32,
}

impl LlamaIndexWorkflow {
    fn limit_of_run(&mut self) {
        if self.shares && self.runs > 0 {
            return;
        }
        let given = self.by_run.get(self.runs).unwrap_or(&self.max);
        self.limit = if python::is_true(given) { given.clone() } else { self.default.clone() };
    }
}

impl AgentLoop for LlamaIndexWorkflow {
    fn starts(&mut self, _: &Message) -> bool {
        self.limit_of_run();
        self.runs += 1;
        self.replies = 0;
        true
    }

    fn replied(&mut self, _: &PointView<'_>, _: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        if self.runs == 0 {
            self.limit_of_run();
        }
        self.replies += 1;
        let (replies, limit) =
            (f64::from(self.replies), self.limit.as_f64().or(self.default.as_f64()).unwrap_or(f64::NAN));
        if replies < limit {
            return Flow::GoesOn;
        }
        if self.generates {
            acts.act(Action::ForceFinal, ITERATIONS).code("generate").evidence(replies, limit).ends_run();
        } else {
            let words = format!(
                "Max iterations of {} reached! Either something went wrong, or you can increase the max iterations with \
                 `.run(.., max_iterations=...)` or use `early_stopping_method='generate'` to generate a final response \
                 instead.",
                python::text(&self.limit)
            );
            let act = acts.act(Action::Fail, ITERATIONS).code("WorkflowRuntimeError").detail(words);
            act.evidence(replies, limit);
        }
        Flow::Over
    }

    fn tools_ran(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        for AnsweredCall { call, result, .. } in answered(view, reply) {
            if !native::has_failed(result) && self.direct.iter().any(|tool| *tool == *call.name) {
                acts.act(Action::Stop, DIRECT).code(DIRECT).call(call.id.as_deref());
                return Flow::Over;
            }
        }
        Flow::GoesOn
    }

    fn said(&mut self, _: &PointView<'_>, reply: &Message, _: &mut ActionSink<'_, '_>) -> Flow {
        let text = reply.text();
        if self.retries && (text.trim().is_empty() || text.strip_prefix("RAW:").is_some_and(|raw| !is_answer(raw))) {
            Flow::GoesOn
        } else {
            Flow::Over
        }
    }
}

/// Whether ReAct's parser takes a text reply as an answer: it has no `Thought:`, or an `Answer:` and no `Action:`.
fn is_answer(text: &str) -> bool {
    !text.contains("Thought:") || (!text.contains("Action:") && text.contains("Answer:"))
}
