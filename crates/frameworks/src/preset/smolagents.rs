//! smolagents: the step limit and the forced last answer.

use serde_json::Value;

use super::frame::{
    Action, Acts, Machine, Recipe, RuleReading, Settings, SettingsError, next_request, reading, starts_run, wrong_kind,
};
use crate::framework::{Build, Framework, Parameter, params};
use crate::host::{Does, Host, OUT_OF_REACH, Place, Slot, Syntax};
use crate::transcript::{Event, Message, Moment, PointView};

const RULE: &str = "max_steps";
const ANSWER_TOOL: &str = "final_answer";

params! {
    MAX_STEPS: "max_steps" = 20, "steps of one run, as the agent has it",
        trap |n| if n <= 0.0 => "`max_steps` of 0 or less is not off: the run fails";
    RUN_MAX_STEPS: "run_max_steps" = null, "the argument max_steps of run()";
    FINAL_ANSWER_CHECKS: "final_answer_checks" = null, off null, "never_accept: one check that always says no";
    RESET: "reset" = true, "false keeps the memory; the counter starts anew";
}

const MANUAL: &str = "\
- **max_steps** (20): steps are numbered from 1 with each `run()`; a step is taken while number `<=` limit. When the steps \
are used up without a final answer, exactly **one more model request, without tools**, gives the answer; the run's state \
is `max_steps_error`. A final answer in the last step is a success.
- Counter: model replies, each with all its tool calls. Failed or unknown tools, bad arguments, replies without a call, a \
`final_answer` beside another call or twice, and one refused by `final_answer_checks` are steps too. Only a single \
`final_answer` that is accepted ends the run.
- Window: the run. Identity: none, and no repetition, token or time rule. Reset: each user message (`run()`), also with \
`reset=False`, which keeps the memory only.
- **run_max_steps** is the argument of `run()` and wins; 0 and none there mean the agent's value.
- **There is no off value.** Agent value 0: the forced answer is asked for at once, then the run fails \
(`UnboundLocalError`). Negative: it fails without any request. None: `TypeError`. A fraction such as 2.5: two steps, then \
failure without a forced answer, or the last answer that was refused as a success. Two user messages in a row are two runs \
there and one prompt here, which shows with a limit of 0 or less only.
- Traps: the forced answer is not checked by `final_answer_checks`; planning steps are not modelled.";

const HOST: Host = Host::new(
    "where the agent is made",
    Syntax::Python,
    r"agent = ToolCallingAgent(
    tools=tools,
    model=model,
    max_steps=<<max_steps>>,
)
",
    &[Slot::new("steps", Moment::BeforeRequest, Place::Is("max_steps")).does(Does::LastAnswer)],
)
.quiet(&[("max_steps", OUT_OF_REACH)])
.also(&["a reply without a call is a step and ends no prompt: the same on runs of one prompt"])
.cannot(&[("", "it counts steps, nothing else")]);

pub(super) fn framework() -> Framework {
    Framework {
        id: "smolagents",
        version: "smolagents 1.26.0",
        source: "huggingface/smolagents src/smolagents/agents.py",
        summary: "20 steps a run, then one more request without tools for the answer",
        manual: MANUAL,
        parameters: param::ALL,
        rules: &["max_steps"],
        host: HOST,
        build: Build::Machine(build),
        ..Framework::PRESET
    }
}

fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let agent = number(settings, &param::MAX_STEPS)?;
    let run = number(settings, &param::RUN_MAX_STEPS)?.filter(|steps| *steps != 0.0);
    let never_accepts = settings.text(&param::FINAL_ANSWER_CHECKS)? == Some("never_accept");
    settings.flag(&param::RESET)?;
    let machine = AgentRun {
        max_steps: run.or(agent),
        never_accepts,
        refused_answer: false,
        steps: 0,
        over: false,
        states: Vec::new(),
    };
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
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct AgentRun {
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

impl AgentRun {
    /// Starts another step, unless the limit has been reached.
    fn step_due(&mut self, view: &PointView<'_>, acts: &mut Acts<'_, '_>) {
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
        act.detail("one extra request without tools").evidence(steps + 1.0, limit);
        act.decision.point = next_request(view.point());
        if self.steps == 0 {
            self.fail("UnboundLocalError", acts);
        }
    }

    fn fail(&mut self, code: &'static str, acts: &mut Acts<'_, '_>) {
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

impl Machine for AgentRun {
    fn event(&mut self, event: &Event, _: &mut Acts<'_, '_>) {
        if event.message().is_some_and(starts_run) {
            self.steps = 0;
            self.refused_answer = false;
            self.over = false;
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut Acts<'_, '_>) {
        if self.over {
            return;
        }
        match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.step_due(view, acts),
            (Moment::AfterResponse, _) => self.steps += 1,
            (Moment::AfterTools, Some(reply)) => {
                if self.answers(reply, view) {
                    self.over = true;
                    self.states.push("success");
                } else if reply.tool_calls.is_empty() || view.results().next().is_some() {
                    self.step_due(view, acts);
                }
            }
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        self.max_steps.iter().map(|max| reading(RULE, "steps", f64::from(self.steps), *max)).collect()
    }
}
