//! Google ADK: the loop agent's iterations and escalation, and the limit on model calls.

use super::frame::{
    Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading, rules_on, starts_run,
};
use crate::framework::params;
use crate::transcript::{Message, Moment, PointView};

const ITERATIONS: &str = "max_iterations";
const ESCALATE: &str = "escalate";
const CALLS: &str = "max_llm_calls";

/// The shipped tool that escalates and skips the model call after its result.
const EXIT_TOOL: &str = "exit_loop";
/// A tool that only sets `escalate` on its event.
const ESCALATING_TOOL: &str = "escalate";

params! {
    MAX_LLM_CALLS: "max_llm_calls" = 500, off 0 and negatives, "model calls of one invocation";
    MAX_ITERATIONS: "max_iterations" = null, off null, "passes of a LoopAgent; sets one up",
        trap |n| if n <= 0.0 => "`max_iterations` of 0 or less is not off, unlike `max_llm_calls`: nothing runs";
    LOOP_AGENT: "loop_agent" = false, off false, "a LoopAgent without max_iterations";
    SUB_AGENTS: "sub_agents" = 1, "sub-agents of the LoopAgent";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let max_llm_calls = settings.int(&param::MAX_LLM_CALLS)?;
    let sub_agents = u64::try_from(settings.int(&param::SUB_AGENTS)?).unwrap_or(1).max(1);
    let passes = match settings.get(param::MAX_ITERATIONS.name) {
        Some(_) => Some(Passes::new(settings.opt_int(&param::MAX_ITERATIONS)?, sub_agents)),
        None if settings.flag(&param::LOOP_AGENT)? => Some(Passes::new(None, sub_agents)),
        None => None,
    };
    let is_limited = matches!(passes, Some(Passes { limit: Some(_), .. }));
    let rules = rules_on(&[(ITERATIONS, is_limited), (ESCALATE, passes.is_some()), (CALLS, max_llm_calls > 0)]);
    let machine = Invocation { max_llm_calls, passes, calls: 0, over: false };
    Ok(Recipe::new(machine, &rules).blind(&rules))
}

/// The loop agent of an invocation.
#[derive(Clone, Copy, Debug)]
struct Passes {
    limit: Option<i64>,
    sub_agents: u64,
    /// Completed passes.
    done: i64,
    /// Sub-agents that have finished in the current pass.
    agents_done: u64,
    escalated: bool,
}

impl Passes {
    fn new(limit: Option<i64>, sub_agents: u64) -> Self {
        Self { limit, sub_agents, done: 0, agents_done: 0, escalated: false }
    }

    fn used_up(&self) -> bool {
        self.limit.is_some_and(|limit| self.done >= limit)
    }

    /// Records that the current sub-agent has finished.
    fn agent_done(&mut self) {
        self.agents_done += 1;
        if self.agents_done == self.sub_agents {
            self.agents_done = 0;
            self.done += 1;
        }
    }
}

#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Invocation {
    max_llm_calls: i64,
    passes: Option<Passes>,
    calls: i64,
    pub over: bool,
}

impl Invocation {
    fn stop(&mut self, code: &'static str, acts: &mut ActionSink<'_, '_>) {
        self.over = true;
        let act = acts.act(Action::Stop, code).code(code);
        if let Some(Passes { done, limit: Some(limit), .. }) = self.passes
            && code == ITERATIONS
        {
            act.evidence(done as f64, limit as f64);
        }
    }

    /// A request is due: at this point, or at the next one after what is known so far.
    fn request_due(&mut self, acts: &mut ActionSink<'_, '_>) {
        if self.passes.is_some_and(|passes| passes.used_up()) {
            return self.stop(ITERATIONS, acts);
        }
        if self.max_llm_calls > 0 && self.calls >= self.max_llm_calls {
            self.over = true;
            let limit = self.max_llm_calls;
            let detail = format!("Max number of llm calls limit of `{limit}` exceeded");
            let act = acts.act(Action::Fail, CALLS).code("LlmCallsLimitExceededError").detail(detail);
            act.evidence((self.calls + 1) as f64, limit as f64).at_next_request();
        }
    }

    /// Handles a reply without calls: a sub-agent, or the single agent, has finished.
    fn agent_ended(&mut self, acts: &mut ActionSink<'_, '_>) {
        let Some(passes) = &mut self.passes else {
            self.over = true;
            return;
        };
        passes.agent_done();
        match (passes.escalated, passes.used_up()) {
            (true, _) => self.stop(ESCALATE, acts),
            (false, true) => self.stop(ITERATIONS, acts),
            (false, false) => self.request_due(acts),
        }
    }

    fn tools_ran(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        let called = |tool: &str| reply.tool_calls.iter().any(|call| *call.name == *tool);
        if called(EXIT_TOOL) {
            match self.passes {
                Some(_) => self.stop(ESCALATE, acts),
                None => self.over = true,
            }
            return;
        }
        if let Some(passes) = &mut self.passes {
            passes.escalated |= called(ESCALATING_TOOL);
        }
        self.request_due(acts);
    }
}

impl Machine for Invocation {
    fn message(&mut self, message: &Message, _: &mut ActionSink<'_, '_>) {
        if starts_run(message) {
            self.over = false;
            self.calls = 0;
            self.passes = self.passes.map(|passes| Passes::new(passes.limit, passes.sub_agents));
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.request_due(acts),
            (Moment::AfterResponse, _) => self.calls += 1,
            (Moment::AfterTools, Some(reply)) if view.results().next().is_some() && !reply.tool_calls.is_empty() => {
                self.tools_ran(reply, acts);
            }
            (Moment::EndOfRound, _) => self.agent_ended(acts),
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let mut readings = Vec::new();
        if self.max_llm_calls > 0 {
            readings.push(reading(CALLS, "model calls", self.calls as f64, self.max_llm_calls as f64));
        }
        if let Some(Passes { done, limit: Some(limit), .. }) = self.passes {
            readings.push(reading(ITERATIONS, "passes", done as f64, limit as f64));
        }
        readings
    }
}
