//! Kilo Code: the doom-loop question, the agent's steps, malformed calls, compactions, and the cost alert.

use std::collections::VecDeque;

use serde_json::Value;

use super::frame::identity::{KeyOrder, arguments, js_text};
use super::frame::{
    Action, ActionSink, Machine, Recipe, Settings, SettingsError, cost_in_dollars, native, rules_on, starts_run,
    wrong_kind,
};
use super::opencode::{OpenCodeAnswer, OpenCodePermission};
use crate::decision::Need;
use crate::framework::params;
use crate::transcript::{Message, Moment, Name, PointView, Tokens, ToolCall};

const DOOM_LOOP: &str = "doom_loop";
const STEPS: &str = "agent_steps";
const MALFORMED: &str = "malformed_tool_calls";
const COMPACTIONS: &str = "compaction_exhausted";
const COST: &str = "cost_alert";
/// Three constants: identical calls at the end of one message that raise the question; malformed calls in a row that
/// end the run; compactions in one prompt.
const IDENTICAL: usize = 3;
const IN_A_ROW: usize = 3;
const COMPACTED: u32 = 3;
/// The most tokens that are reserved for a reply.
const RESERVE: u64 = 20_000;

params! {
    PERMISSION: "permission" = {}, off { doom_loop = "allow" },
        "what a doom loop does: doom_loop (or *) = ask, allow or deny";
    STEPS: "steps" = null, off null, "requests for one user message",
        trap |n| if n < 1.0 || n.fract() != 0.0 =>
            "`steps` of 0, below 0 or with a fraction: the whole configuration file is skipped, its permissions too",
        trap |n| if n >= 1.0 => "`steps` only adds a reminder: nothing enforces it";
    MAX_STEPS: "maxSteps" = null, off null, "the old name of steps";
    EXPERIMENTAL: "experimental" = {}, "continue_loop_on_deny: does not help, the question is raised outside the tool";
    CONTEXT: "limit.context" = null, off null, "tokens of the model's context";
    OUTPUT: "limit.output" = 8000, "tokens of the model's reply";
    COST_ALERT: "cost_alert" = null, off 0, "dollars, rounded up, at which a person is asked";
}

/// What a person says when asked; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct KiloUser {
    /// About a doom loop.
    pub doom_loop: OpenCodeAnswer,
    /// About the cost, one answer each time: `continue`, `stop`, or no answer.
    pub cost: VecDeque<String>,
}

#[derive(Clone, Debug, Default)]
struct Kilo {
    permission: OpenCodePermission,
    answer: OpenCodeAnswer,
    max_steps: Option<f64>,
    /// The number of tokens in a reply that triggers a compaction.
    usable: Option<u64>,
    silenced: Vec<Name>,
    requests: u32,
    malformed: usize,
    compactions: u32,
    /// Calls of the current reply: id, name, and whether the tool rejects the arguments.
    calls: Vec<(Option<Name>, Name, bool)>,
    reply_at: Option<usize>,
    cost: CostAlert,
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    answered_by(settings, KiloUser::default())
}

/// The rules with such a person.
#[doc(hidden)]
pub fn answered_by(settings: &Settings, person: KiloUser) -> Result<Recipe, SettingsError> {
    let given = settings
        .get(param::STEPS.name)
        .or_else(|| settings.get(param::MAX_STEPS.name))
        .filter(|steps| !steps.is_null());
    let number =
        |value: &Value| value.as_f64().ok_or_else(|| wrong_kind(param::STEPS.name, "a whole number above 0", value));
    let steps = given.map(number).transpose()?;
    // One invalid number makes the framework ignore the whole file.
    let file_counts = !matches!(steps, Some(steps) if steps <= 0.0 || steps.fract() != 0.0);
    let permission = settings.get(param::PERMISSION.name).filter(|_| file_counts);
    let context = settings.opt_int(&param::CONTEXT)?.and_then(|context| u64::try_from(context).ok());
    let output = u64::try_from(settings.int(&param::OUTPUT)?).unwrap_or(0);
    let alert = settings.opt_number(&param::COST_ALERT)?;
    let mut cost = CostAlert { replies: person.cost, ..CostAlert::default() };
    cost.set(alert);
    let machine = Kilo {
        permission: permission.map(permission_of).transpose()?.unwrap_or(OpenCodePermission::Ask),
        answer: person.doom_loop,
        max_steps: steps.filter(|_| file_counts),
        usable: context.map(|context| context.saturating_sub(output.min(RESERVE))),
        cost,
        ..Kilo::default()
    };
    let rules = rules_on(&[
        (DOOM_LOOP, true),
        (MALFORMED, true),
        (STEPS, machine.max_steps.is_some()),
        (COMPACTIONS, context.is_some()),
        (COST, alert.is_some()),
    ]);
    Ok(Recipe::new(machine, &rules)
        .requests_before_prompts()
        .blind(&[STEPS, COMPACTIONS, COST])
        .reads_calls(&[DOOM_LOOP])
        .needs(MALFORMED, Need::ErrorFlags)
        .needs(COMPACTIONS, Need::Usage)
        .needs(COST, Need::Cost)
        .resumes_at_user())
}

/// The permission for doom loops, which is set by the last key that applies to them.
fn permission_of(value: &Value) -> Result<OpenCodePermission, SettingsError> {
    let wrong = |value: &Value| wrong_kind("permission.doom_loop", "ask, allow or deny", value);
    let word = |value: &Value| value.as_str().unwrap_or_default().parse().map_err(|()| wrong(value));
    match value {
        Value::Object(map) => {
            let mut told =
                map.iter().filter(|(key, _)| matches!(key.as_str(), "*" | "doom_loop")).map(|(_, value)| value);
            word(told.next_back().unwrap_or(&Value::from("ask")))
        }
        Value::Null => Ok(OpenCodePermission::Ask),
        plain => word(plain),
    }
}

/// The question about cost; there is one limit per session.
#[derive(Clone, Debug, Default)]
struct CostAlert {
    limit: Option<f64>,
    spent: f64,
    /// Limits about which it has asked since the session last began to work.
    asked: Vec<f64>,
    /// Limits about which the user does not want to be asked again.
    silent: Vec<f64>,
    replies: VecDeque<String>,
    /// Whether the session was idle: the last event is a reply without tools after it.
    is_idle: bool,
}

impl CostAlert {
    fn set(&mut self, limit: Option<f64>) {
        self.limit = limit.filter(|limit| *limit > 0.0).map(f64::ceil);
    }

    fn spoken_to(&mut self) {
        if self.is_idle {
            self.asked.clear();
        }
    }

    fn check(&mut self, acts: &mut ActionSink<'_, '_>) {
        let is_due =
            |limit: &f64| self.spent >= *limit && ![&self.asked, &self.silent].iter().any(|told| told.contains(limit));
        let Some(limit) = self.limit.filter(is_due) else { return };
        self.asked.push(limit);
        let act = acts.act(Action::Ask, COST).code(COST).detail(format!("${} ${}", cents(limit), cents(self.spent)));
        act.evidence(self.spent, limit);
        match self.replies.pop_front().as_deref() {
            Some("continue") => self.silent.push(limit),
            Some("stop") => {
                self.silent.push(limit);
                acts.act(Action::Stop, COST).code("cost_alert stop").evidence(self.spent, limit);
            }
            _ => {}
        }
    }
}

/// Two decimals, rounded as in JavaScript: by the exact value, and a tie rounds up. Only odd eighths are ties.
#[expect(clippy::float_cmp, reason = "eighths are exact")]
fn cents(dollars: f64) -> String {
    let is_tie = (dollars * 8.0).abs() % 2.0 == 1.0;
    format!("{:.2}", if is_tie { dollars + 0.005 } else { dollars })
}

/// Kilo's tools and the string arguments that each requires.
const TOOLS: &[(&str, &[&str])] = &[
    ("bash", &["command", "description"]),
    ("codesearch", &["query"]),
    ("edit", &["filePath", "oldString", "newString"]),
    ("glob", &["pattern"]),
    ("grep", &["pattern"]),
    ("read", &["filePath"]),
    ("skill", &["name"]),
    ("task", &["description", "prompt", "subagent_type"]),
    ("webfetch", &["url"]),
    ("websearch", &["query"]),
    ("write", &["content", "filePath"]),
];

/// Whether the arguments fail the tool's own validation, as far as the recording shows.
fn is_malformed(call: &ToolCall) -> bool {
    let Some((_, required)) = TOOLS.iter().find(|(tool, _)| *tool == &*call.name) else { return false };
    let given = arguments(call);
    required.iter().any(|name| !given[*name].is_string())
}

impl Kilo {
    fn new_prompt(&mut self) {
        self.requests = 0;
        self.malformed = 0;
        self.compactions = 0;
        self.calls.clear();
        self.cost.spoken_to();
    }

    fn reply(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        self.calls =
            reply.tool_calls.iter().map(|call| (call.id.clone(), call.name.clone(), is_malformed(call))).collect();
        self.reply_at = acts.event();
        if self.doom_loop(reply, acts) {
            return;
        }
        if let (Some(Tokens(tokens)), Some(usable)) = (reply.total_tokens(), self.usable)
            && tokens >= usable
        {
            if self.compactions >= COMPACTED {
                acts.act(Action::Stop, COMPACTIONS).code(COMPACTIONS).evidence(tokens as f64, usable as f64);
                return;
            }
            self.compactions += 1;
            self.requests += 1;
        }
        if let Some(limit) = native::own(reply, COST) {
            self.cost.set(limit.as_f64());
        }
        self.cost.check(acts);
        self.cost.spent += cost_in_dollars(reply);
        self.cost.check(acts);
    }

    /// Asks about a doom loop. True if the run is over.
    fn doom_loop(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) -> bool {
        if self.permission == OpenCodePermission::Allow || reply.tool_calls.len() < IDENTICAL {
            return false;
        }
        let inputs: Vec<(&Name, String)> =
            reply.tool_calls.iter().map(|call| (&call.name, js_text(&arguments(call), KeyOrder::Given))).collect();
        for (last, window) in reply.tool_calls[IDENTICAL - 1..].iter().zip(inputs.windows(IDENTICAL)) {
            if window.iter().any(|input| *input != window[0]) || self.silenced.contains(&last.name) {
                continue;
            }
            if self.permission == OpenCodePermission::Deny {
                acts.act(Action::Stop, DOOM_LOOP)
                    .code("permission denied")
                    .evidence(IDENTICAL as f64, IDENTICAL as f64);
                return true;
            }
            let act = acts.act(Action::Ask, DOOM_LOOP).code(DOOM_LOOP).call(last.id.as_deref());
            act.evidence(IDENTICAL as f64, IDENTICAL as f64);
            match self.answer {
                OpenCodeAnswer::Once => {}
                OpenCodeAnswer::Always => self.silenced.push(last.name.clone()),
                OpenCodeAnswer::Reject => {
                    acts.act(Action::Stop, DOOM_LOOP).code("permission rejected");
                    return true;
                }
            }
        }
        false
    }

    fn result(&mut self, result: &Message, acts: &mut ActionSink<'_, '_>) {
        let is_it = |(id, name, _): &(Option<Name>, Name, bool)| match (id, &result.tool_call_id) {
            (Some(call), Some(result)) => call == result,
            _ => result.name.as_ref().is_none_or(|result| result == name),
        };
        let Some(nth) = self.calls.iter().position(is_it) else { return };
        let (_, _, fails_check) = self.calls.remove(nth);
        let says_so = || result.text().contains("called with invalid arguments");
        let is_malformed = result.is_error == Some(true) && (fails_check || says_so());
        self.malformed = if is_malformed { self.malformed + 1 } else { 0 };
        if self.malformed >= IN_A_ROW {
            let act = acts.act(Action::Stop, MALFORMED).code(MALFORMED).about_event(self.reply_at);
            act.evidence(self.malformed as f64, IN_A_ROW as f64);
        }
    }
}

impl Machine for Kilo {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if starts_run(message) {
            self.new_prompt();
        } else if message.is_step() {
            self.reply(message, acts);
        } else if message.is_result() {
            self.result(message, acts);
        }
        self.cost.is_idle = message.is_step();
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if view.moment() != Moment::BeforeRequest {
            return;
        }
        self.requests += 1;
        let requests = f64::from(self.requests);
        if let Some(max) = self.max_steps.filter(|max| requests >= *max) {
            acts.act(Action::Inject, STEPS).code("max_steps_prompt").evidence(requests, max);
        }
    }
}
