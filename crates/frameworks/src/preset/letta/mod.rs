//! Letta: the step limit, and the tool rules that end, prolong and constrain a run.

use serde_json::Value;

use super::frame::{
    Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, native, reading, starts_run, wrong_kind,
};
use crate::framework::params;
use crate::transcript::{Message, Moment, Name, PointView};

const STEPS: &str = "max_steps";
const RULES: &str = "tool_rules";
const LENGTH: &str = "finish_reason";

params! {
    MAX_STEPS: "max_steps" = 50, "model steps of one run";
    TOOL_RULES: "tool_rules" = [], off [], "rules, each with type, tool_name and its own max_count_limit or children";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let max_steps = settings.int(&param::MAX_STEPS)?;
    let tool_rules = match &*settings.in_force(&param::TOOL_RULES) {
        Value::Array(rules) => rules.iter().map(tool_rule).collect::<Result<Vec<_>, _>>()?,
        other => return Err(wrong_kind(RULES, "a list of rules", other)),
    };
    let rules = [RULES, LENGTH, STEPS];
    Ok(Recipe::new(
        LettaRun {
            max_steps,
            tool_rules,
            notes_a_call: if settings.is_profile("documented") { 1 } else { 2 },
            ..LettaRun::default()
        },
        &rules,
    )
    .blind(&rules))
}

#[derive(Clone, Debug)]
enum Constraint {
    Terminal,
    RequiredBeforeExit,
    MaxCount(i64),
    Init,
    Child(Vec<String>),
    Parent(Vec<String>),
    Continue,
}

#[derive(Clone, Debug)]
struct ToolRule {
    tool: String,
    constraint: Constraint,
}

fn tool_rule(value: &Value) -> Result<ToolRule, SettingsError> {
    let wrong = || wrong_kind(RULES, "a rule with type, tool_name and what the type needs", value);
    let text = |key: &str| value[key].as_str();
    let children = || {
        let names = value.get("children")?.as_array()?;
        names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    };
    let constraint = match text("type").ok_or_else(wrong)? {
        "terminal" | "exit_loop" => Constraint::Terminal,
        "required_before_exit" => Constraint::RequiredBeforeExit,
        "max_count_per_step" => Constraint::MaxCount(value["max_count_limit"].as_i64().ok_or_else(wrong)?),
        "init" | "run_first" => Constraint::Init,
        "child" | "constrain_child_tools" => Constraint::Child(children().ok_or_else(wrong)?),
        "parent" | "parent_last_tool" => Constraint::Parent(children().ok_or_else(wrong)?),
        "continue" | "continue_loop" => Constraint::Continue,
        _ => return Err(wrong()),
    };
    Ok(ToolRule { tool: text("tool_name").ok_or_else(wrong)?.to_owned(), constraint })
}

/// One run, from a user message to its end.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct LettaRun {
    max_steps: i64,
    tool_rules: Vec<ToolRule>,
    /// Tools called in this run, except refused calls.
    history: Vec<Name>,
    /// Indices of the refused calls of the current step.
    refused: Vec<usize>,
    /// As shipped, a call is noted where it has run, and again where it is decided whether to go on.
    notes_a_call: i64,
    /// The event of the latest reply.
    reply: Option<usize>,
    steps: i64,
    /// Whether a reply was sent back and no other has arrived.
    sent_back: bool,
    pub over: bool,
}

impl LettaRun {
    fn allows(&self, tool: &str) -> bool {
        let mut inits = self.tool_rules.iter().filter(|rule| matches!(rule.constraint, Constraint::Init)).peekable();
        if self.history.is_empty() && inits.peek().is_some() {
            return inits.any(|rule| rule.tool == tool);
        }
        if self.permits(tool) {
            return true;
        }
        // If no tool would be allowed, the framework offers every tool again.
        self.only_allowed().is_some_and(|tools| !tools.iter().any(|tool| self.permits(tool)))
    }

    /// Whether every rule allows the tool to be called next.
    fn permits(&self, tool: &str) -> bool {
        let last = self.history.last().map(|name| &**name);
        self.tool_rules.iter().all(|rule| {
            let follows = last == Some(rule.tool.as_str());
            match &rule.constraint {
                Constraint::MaxCount(limit) if rule.tool == tool => {
                    let count = self.history.iter().filter(|name| ***name == *tool).count();
                    i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(self.notes_a_call) < *limit
                }
                Constraint::Child(children) => !follows || children.iter().any(|child| child == tool),
                Constraint::Parent(children) => children.iter().any(|child| child == tool) == follows,
                _ => true,
            }
        })
    }

    /// The tools to which the last call restricts the next one; `None` if it does not.
    fn only_allowed(&self) -> Option<&[String]> {
        let last = self.history.last()?;
        for rule in self.tool_rules.iter().filter(|rule| *rule.tool == **last) {
            if let Constraint::Child(children) | Constraint::Parent(children) = &rule.constraint {
                return Some(children);
            }
        }
        None
    }

    /// Whether a tool that is required before the run may end has not been called.
    fn lacks_required(&self) -> bool {
        self.tool_rules.iter().any(|rule| {
            matches!(rule.constraint, Constraint::RequiredBeforeExit)
                && !self.history.iter().any(|name| **name == *rule.tool)
        })
    }

    fn is_terminal(&self, tool: &str) -> bool {
        self.tool_rules.iter().any(|rule| matches!(rule.constraint, Constraint::Terminal) && rule.tool == tool)
    }

    fn stop(&mut self, rule: &'static str, code: &'static str, acts: &mut ActionSink<'_, '_>) {
        self.over = true;
        let act = acts.act(Action::Stop, rule).code(code);
        if rule == STEPS {
            act.evidence(self.steps as f64, self.max_steps as f64);
        }
    }

    fn replied(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        self.steps += 1;
        self.sent_back = false;
        self.refused.clear();
        self.reply = acts.event();
        for (nth, call) in reply.tool_calls.iter().enumerate() {
            if !self.allows(&call.name) {
                self.refused.push(nth);
                acts.act(Action::Deny, RULES).code("tool rule violation").call(call.id.as_deref());
            }
        }
    }

    /// Refuses the calls of tools that the agent does not have; that it does not is known from their results.
    fn unknown(&mut self, reply: &Message, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        for result in view.results().filter(|result| native::flag(result, "invalid_call")) {
            let id = result.tool_call_id.as_deref();
            let Some(nth) = reply.tool_calls.iter().position(|call| call.id.as_deref() == id) else { continue };
            if !self.refused.contains(&nth) {
                self.refused.push(nth);
                acts.act(Action::Deny, RULES).code("tool rule violation").call(id).about_event(self.reply);
            }
        }
    }

    fn tools_ran(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        let mut goes_on = false;
        for (nth, call) in reply.tool_calls.iter().enumerate() {
            let refused = self.refused.contains(&nth);
            if !refused {
                self.history.push(call.name.clone());
            }
            goes_on |= refused || !self.is_terminal(&call.name) || self.lacks_required();
        }
        if !goes_on {
            self.stop(RULES, "tool_rule", acts);
        } else if self.steps >= self.max_steps {
            self.stop(STEPS, "max_steps", acts);
        }
    }

    fn said(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        if self.lacks_required() {
            self.sent_back = true;
            acts.act(Action::Inject, RULES).code("required_before_exit");
            if self.steps >= self.max_steps {
                self.stop(STEPS, "max_steps", acts);
            }
        } else if reply.finish_reason() == Some("length") && !reply.text().is_empty() {
            self.stop(LENGTH, "max_tokens_exceeded", acts);
        } else {
            self.over = true;
        }
    }
}

impl Machine for LettaRun {
    fn message(&mut self, message: &Message, _: &mut ActionSink<'_, '_>) {
        if starts_run(message) {
            // After a reply that was sent back, the run would have continued, but in the recording the user speaks
            // instead. What would have happened is unknown from here on.
            self.over = self.sent_back;
            self.steps = 0;
            self.history.clear();
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) if self.max_steps <= 0 => self.stop(STEPS, "end_turn", acts),
            (Moment::AfterResponse, Some(reply)) => self.replied(reply, acts),
            (Moment::AfterTools, Some(reply)) if !reply.tool_calls.is_empty() && view.results().next().is_some() => {
                self.unknown(reply, view, acts);
                self.tools_ran(reply, acts);
            }
            (Moment::EndOfRound, Some(reply)) => self.said(reply, acts),
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        vec![reading(STEPS, "steps", self.steps as f64, self.max_steps as f64)]
    }
}
