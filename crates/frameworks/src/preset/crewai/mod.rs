//! CrewAI: iterations of a task, repeated inputs and calls, and usage limits of tools.

mod task;

use std::collections::BTreeMap;

use serde_json::Value;

use super::frame::{
    Action, ActionSink, CallIdIndex, Machine, Recipe, RuleReading, Settings, SettingsError, native, reading, rules_on,
    wrong_kind,
};
use crate::decision::Need;
use crate::framework::params;
use crate::transcript::{Message, Moment, PointView, Role};

use task::{CallRefusal, CrewTask, TaskCall, sanitized};

const MAX_ITER: &str = "max_iter";
const SAME_INPUT: &str = "task_repeated_usage";
const REPEATED: &str = "check_repeated_tool_call";
const USES: &str = "max_usage_count";

/// How many equal calls with equal results make a task fail.
const MAX_REPEATED: u32 = 5;

params! {
    MAX_ITER: "max_iter" = 25, "replies with calls of one task; 0 and below fail at once",
        trap |n| if n <= 0.0 => "`max_iter` of 0 or less is not off: the run fails at once";
    MAX_USAGE_COUNT: "max_usage_count" = {}, off null, "by tool: uses in one task; at least 1";
    CACHE: "cache" = false, off false, "repeats of a call return its first result";
    MAX_RETRY_LIMIT: "max_retry_limit" = 2, "retries of other errors; plays no part here";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    named(settings, "agent", "BaseTool")
}

/// The rules of an agent with this role and tools of this class, which the framework's messages name.
#[doc(hidden)]
pub fn named(settings: &Settings, role: &str, tool_class: &str) -> Result<Recipe, SettingsError> {
    if settings.get(param::MAX_ITER.name) == Some(&Value::Null) {
        return Err(SettingsError::refused("ValidationError", "1 validation error for Agent"));
    }
    let mut limits = BTreeMap::new();
    let uses = settings.in_force(&param::MAX_USAGE_COUNT);
    let table = uses.as_object().ok_or_else(|| wrong_kind(USES, "a table of tools", &uses))?;
    for (tool, limit) in table.iter().filter(|(_, limit)| !limit.is_null()) {
        let limit = limit.as_i64().ok_or_else(|| wrong_kind(USES, "a whole number for each tool", limit))?;
        if limit <= 0 {
            let words = format!("1 validation error for {tool_class}");
            return Err(SettingsError::refused("ValidationError", words));
        }
        limits.insert(sanitized(tool), limit);
    }
    let react = settings.is_profile("react");
    let rules = rules_on(&[(SAME_INPUT, react), (USES, !limits.is_empty()), (REPEATED, true), (MAX_ITER, true)]);
    let crew = Crew {
        react,
        max_iter: settings.int(&param::MAX_ITER)?,
        limits,
        cache: if settings.flag(&param::CACHE)? { Some(BTreeMap::new()) } else { None },
        role: role.to_owned(),
        stage: CrewState::Before,
        ..Crew::default()
    };
    let recipe = Recipe::new(crew, &rules).reads_calls(&[SAME_INPUT, REPEATED, USES]);
    let recipe = recipe.keeps_own_state().requests_before_prompts();
    Ok(if react { recipe.needs(SAME_INPUT, Need::ErrorFlags) } else { recipe })
}

/// The state of the crew.
#[derive(Clone, Debug, Default)]
enum CrewState {
    /// No task has started.
    #[default]
    Before,
    Working(CrewTask),
    /// The task is done or was cut short; the next one starts with the next user message.
    Between,
    /// The whole run failed.
    Failed,
}

#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Crew {
    react: bool,
    max_iter: i64,
    limits: BTreeMap<String, i64>,
    /// Results by tool and arguments, if the tool cache is on.
    cache: Option<BTreeMap<(String, String), String>>,
    role: String,
    stage: CrewState,
    reply: Option<usize>,
    calls: Vec<TaskCall>,
    places: CallIdIndex,
    results: usize,
    /// The last event before the task ended, or of the task so far.
    pub ended_at: Option<usize>,
    /// How often the tools' own code ran, retries included.
    pub tool_runs: u64,
}

impl Crew {
    fn reply(&mut self, message: &Message, at: Option<usize>) {
        if matches!(self.stage, CrewState::Before) {
            self.stage = CrewState::Working(CrewTask::default());
        }
        let CrewState::Working(task) = &mut self.stage else { return };
        self.reply = at;
        self.ended_at = at;
        self.results = 0;
        self.calls =
            message.tool_calls.iter().take(if self.react { 1 } else { usize::MAX }).map(TaskCall::new).collect();
        self.places = CallIdIndex::from_ids(self.calls.iter().map(|call| call.id.as_deref()));
        if message.tool_calls.is_empty() && !(self.react && is_action(message)) {
            self.stage = CrewState::Between;
        } else {
            task.iterations += 1;
        }
    }

    fn before_request(&mut self, acts: &mut ActionSink<'_, '_>) {
        if matches!(self.stage, CrewState::Before) && acts.event().is_none() {
            self.stage = CrewState::Working(CrewTask::default());
        }
        let CrewState::Working(task) = &self.stage else { return };
        let (seen, max) = (task.iterations as f64, self.max_iter as f64);
        if self.max_iter <= 0 {
            let words = format!(
                "Method 'check_todos_available' has been called {} times in this flow execution, which indicates an \
                 infinite loop. This commonly happens when a @listen label matches the method's own name.",
                self.max_iter.saturating_mul(10)
            );
            acts.act(Action::Fail, MAX_ITER).code("RecursionError").detail(words).evidence(seen, max);
            self.stage = CrewState::Failed;
        } else if task.iterations >= self.max_iter {
            let act = acts.act(Action::ForceFinal, MAX_ITER).code("force_final_answer").ends_run();
            act.detail("one extra request without tools").evidence(seen, max);
            self.stage = CrewState::Between;
        }
    }

    /// Refuses the calls that can be refused before anything runs.
    fn before_tools(&mut self, acts: &mut ActionSink<'_, '_>) {
        let CrewState::Working(task) = &mut self.stage else { return };
        for call in &mut self.calls {
            let limit = self.limits.get(&call.name).copied();
            let uses = task.uses.entry(call.name.clone()).or_insert(0);
            if self.react && task.last.as_ref() == Some(&call.input()) {
                acts.act(Action::Deny, SAME_INPUT).code(SAME_INPUT);
                call.refusal = Some(CallRefusal::SameInput);
            } else if let Some(limit) = limit.filter(|limit| *uses >= *limit) {
                let id = call.id.clone().filter(|_| !self.react);
                let act = acts.act(Action::Deny, USES).code(USES).detail(limit_words(&call.name, limit));
                act.call(id.as_deref()).evidence(*uses as f64, limit as f64);
                call.refusal = Some(CallRefusal::Uses);
            } else if !self.react {
                let cached = matches!(&self.cache, Some(cache) if cache.contains_key(&call.cache_key()));
                *uses += i64::from(!cached);
            }
        }
    }

    fn result(&mut self, message: &Message) {
        let place = self.places.answered_call(message).unwrap_or(self.results);
        self.results += 1;
        if let Some(call) = self.calls.get_mut(place) {
            call.content = Some(message.text().into_owned());
            call.failed = message.is_error == Some(true);
            call.unknown = native::flag(message, "invalid_call");
        }
    }

    fn after_tools(&mut self, acts: &mut ActionSink<'_, '_>) {
        let CrewState::Working(task) = &mut self.stage else { return };
        let mut repeated: Option<String> = None;
        for call in &mut self.calls {
            let Some(content) = call.content.take() else { continue };
            let limit = self.limits.get(&call.name).copied();
            let outcome = task.run(call, &content, self.react, limit, self.cache.as_mut());
            if outcome.refused_midway
                && let Some(limit) = limit
            {
                let act = acts.act(Action::Deny, USES).code(USES).detail(limit_words(&call.name, limit));
                act.evidence(limit as f64, limit as f64).about_event(self.reply);
            }
            self.tool_runs += outcome.runs;
            if task.count(call, self.react, outcome.text) >= MAX_REPEATED && repeated.is_none() {
                repeated = Some(if self.react { call.written_name.clone() } else { call.name.clone() });
            }
        }
        if let Some(tool) = repeated {
            let (role, text) = (&self.role, &task.text);
            let words = format!(
                "Tool '{tool}' failed during '{text}': Agent '{role}' called '{tool}' with the same arguments \
                 {MAX_REPEATED} times and got the same result each time. Stopped because it is not making progress."
            );
            let limit = f64::from(MAX_REPEATED);
            acts.act(Action::Fail, REPEATED).code("ToolExecutionFailedError").detail(words).evidence(limit, limit);
            self.stage = CrewState::Failed;
        }
    }
}

fn limit_words(tool: &str, limit: i64) -> String {
    format!("Tool '{tool}' has reached its usage limit of {limit} times and cannot be used anymore.")
}

/// Whether the text protocol reads a raw reply as a call, with an action and its input.
fn is_action(message: &Message) -> bool {
    let text = message.text();
    native::word(message, "native").as_deref() == Some("raw_text")
        && matches!(text.split_once("Action:"), Some((_, rest)) if rest.contains("Action Input:"))
}

impl Machine for Crew {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if message.role == Role::User && !matches!(self.stage, CrewState::Failed) {
            self.stage = CrewState::Working(CrewTask::new(message.text().into_owned()));
        } else if message.is_step() {
            self.reply(message, acts.event());
        } else if message.is_result() && matches!(self.stage, CrewState::Working(_)) {
            self.ended_at = acts.event();
            self.result(message);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        match view.moment() {
            Moment::BeforeRequest => self.before_request(acts),
            Moment::AfterResponse => self.before_tools(acts),
            Moment::AfterTools => self.after_tools(acts),
            Moment::EndOfRound => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let CrewState::Working(task) = &self.stage else { return Vec::new() };
        vec![reading(MAX_ITER, "iterations", task.iterations as f64, self.max_iter as f64)]
    }
}
