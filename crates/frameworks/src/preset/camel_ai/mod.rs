//! CAMEL: the iterations of a step, terminators, and calls that go back to the caller.

use serde_json::Value;

use super::frame::rounds::{AgentLoop, AgentLoopMachine, Flow, answered};
use super::frame::{Action, ActionSink, Machine, Recipe, Settings, SettingsError, native, rules_on, wrong_kind};
use crate::decision::Need;
use crate::framework::params;
use crate::python;
use crate::transcript::{Message, PointView, Role};

const ITERATION: &str = "max_iteration";
const TERMINATORS: &str = "response_terminators";
const CALLER: &str = "returned_to_caller";
const TOKENS: &str = "token_limit_terminator";

params! {
    MAX_ITERATION: "max_iteration" = null, off null, "requests of one step",
        trap |n| if n <= 0.0 => "`max_iteration` of 0 or less is not off: it acts like 1";
    RESPONSE_TERMINATORS: "response_terminators" = [], off [], "words that end a step";
    EXTERNAL_TOOLS: "external_tools" = [], off [], "tools that the caller runs";
    TOKEN_LIMIT: "token_limit" = null, off null, "tokens of a TokenLimitTerminator",
        trap with |s| if s.amount(&TOKEN_LIMIT).is_finite() => "no `ChatAgent` ever asks a `TokenLimitTerminator`";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let given_tokens = settings.get(param::TOKEN_LIMIT.name);
    if !matches!(given_tokens, None | Some(Value::Null)) {
        return token_limit(settings, false);
    }
    with_program(settings, CamelProgram::default())
}

/// The token limit terminator alone, which no agent calls; with `resets`, it is reset by each user message.
#[doc(hidden)]
pub fn token_limit(settings: &Settings, resets: bool) -> Result<Recipe, SettingsError> {
    let machine =
        CamelTokenLimit { limit: settings.opt_number(&param::TOKEN_LIMIT)?, resets, fired: false, over: false };
    Ok(Recipe::new(machine, &[TOKENS]).blind(&[TOKENS]).needs(TOKENS, Need::Usage).keeps_own_state())
}

/// What the program around the agent does; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CamelProgram {
    /// It ends a step from this request on, counted over all steps.
    pub stop_event_after: Option<u64>,
    /// It resets the agent between two steps.
    pub resets: bool,
}

/// The rules of an agent in such a program.
#[doc(hidden)]
pub fn with_program(settings: &Settings, program: CamelProgram) -> Result<Recipe, SettingsError> {
    let max = settings.get(param::MAX_ITERATION.name).filter(|max| !max.is_null()).cloned();
    if max != Some(Value::Bool(true)) {
        settings.opt_number(&param::MAX_ITERATION)?;
    }
    let terminators = match settings.get(param::RESPONSE_TERMINATORS.name) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(WordsTerminator::from_value).collect::<Result<_, _>>()?,
        Some(other) => return Err(wrong_kind(TERMINATORS, "a list of tables with words", other)),
    };
    let agent = ChatAgent {
        max,
        terminators,
        external_tools: settings.texts(&param::EXTERNAL_TOOLS)?,
        program,
        requests: 0,
        requests_ever: 0,
        terminated: Vec::new(),
    };
    let has_caller = !agent.external_tools.is_empty() || program.stop_event_after.is_some();
    let rules = rules_on(&[(ITERATION, true), (TERMINATORS, !agent.terminators.is_empty()), (CALLER, has_caller)]);
    Ok(Recipe::new(AgentLoopMachine::new(agent), &rules).blind(&[ITERATION, CALLER]).keeps_own_state())
}

/// Ends a step once certain words have been said often enough.
#[derive(Clone, Debug)]
struct WordsTerminator {
    /// Word, threshold and count.
    words: Vec<(String, Value, u64)>,
    /// The words in the order in which they were first said.
    said: Vec<usize>,
    case_sensitive: bool,
    all: bool,
    /// Its message, once it has fired.
    fired: Option<String>,
    /// Set by a reset, after which it no longer works.
    broken: bool,
}

impl WordsTerminator {
    fn from_value(value: &Value) -> Result<Self, SettingsError> {
        let wrong = || wrong_kind(TERMINATORS, "a table with words = { word = threshold }", value);
        let words = value["words"].as_object().ok_or_else(wrong)?;
        if words.is_empty() {
            return Err(SettingsError::refused("ValueError", "`words_dict` cannot be empty"));
        }
        for (word, threshold) in words {
            if threshold.as_f64().ok_or_else(wrong)? <= 0.0 {
                let got = python::text(threshold);
                let words = format!("Threshold for word `{word}` should be larger than 0, got `{got}`");
                return Err(SettingsError::refused("ValueError", words));
            }
        }
        Ok(Self {
            words: words.iter().map(|(word, threshold)| (word.clone(), threshold.clone(), 0)).collect(),
            said: Vec::new(),
            case_sensitive: value["case_sensitive"] == true,
            all: value["mode"] == "all",
            fired: None,
            broken: false,
        })
    }

    /// Checks a reply; returns the message if it has fired, now or earlier.
    fn ask(&mut self, text: &str) -> Option<&str> {
        if self.fired.is_none() {
            let lower = python::lower(text);
            for (nth, (word, _, count)) in self.words.iter_mut().enumerate() {
                let is_said =
                    if self.case_sensitive { text.contains(&**word) } else { lower.contains(&python::lower(word)) };
                if is_said {
                    *count += 1;
                    if !self.said.contains(&nth) {
                        self.said.push(nth);
                    }
                }
            }
            let reached: Vec<String> = self
                .said
                .iter()
                .map(|nth| &self.words[*nth])
                .filter(|(_, threshold, count)| threshold.as_f64().is_some_and(|threshold| *count as f64 >= threshold))
                .map(|(word, threshold, count)| {
                    format!(
                        "Word `{word}` appears {count} times in the 1 message of the response which has reached \
                         termination threshold {}.",
                        python::text(threshold)
                    )
                })
                .collect();
            let enough = if self.all { reached.len() >= self.words.len() } else { !reached.is_empty() };
            self.fired = if enough { Some(reached.join("\n")) } else { None };
        }
        self.fired.as_deref()
    }
}

#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct ChatAgent {
    /// The given limit, a number.
    max: Option<Value>,
    terminators: Vec<WordsTerminator>,
    external_tools: Vec<String>,
    program: CamelProgram,
    requests: u64,
    requests_ever: u64,
    /// The `terminated` flag of each finished step's response.
    pub terminated: Vec<bool>,
}

impl ChatAgent {
    /// Ends the step; all terminators are called once more with its last reply.
    fn ends(&mut self, reply: &Message) -> Flow {
        let text = reply.text();
        let fired = self.terminators.iter_mut().map(|terminator| terminator.ask(&text).is_some());
        let fired = fired.fold(false, |any, one| any | one);
        self.terminated.push(fired);
        Flow::Over
    }

    fn limit(&self) -> Option<(f64, &Value)> {
        let max = self.max.as_ref()?;
        let limit = if *max == Value::Bool(true) { 1.0 } else { max.as_f64()? };
        if self.requests as f64 >= limit { Some((limit, max)) } else { None }
    }

    fn is_external(&self, tool: &str) -> bool {
        self.external_tools.iter().any(|external| external == tool)
    }
}

impl AgentLoop for ChatAgent {
    fn starts(&mut self, message: &Message) -> bool {
        // "Please continue." is sent by the framework itself.
        if native::word(message, "native").as_deref() == Some("continue") {
            return false;
        }
        if self.program.resets && self.requests_ever > 0 {
            self.terminators.iter_mut().for_each(|terminator| {
                terminator.fired = None;
                terminator.broken = true;
            });
        }
        self.requests = 0;
        true
    }

    fn replied(&mut self, _: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        self.requests += 1;
        self.requests_ever += 1;
        if self.program.stop_event_after.is_some_and(|after| self.requests_ever >= after) {
            acts.act(Action::Stop, CALLER).code("termination_triggered");
            self.terminated.push(true);
            return Flow::Over;
        }
        let calls = &reply.tool_calls;
        if !calls.is_empty() && calls.iter().all(|call| self.is_external(&call.name)) {
            acts.act(Action::Stop, CALLER).code("external_tool_call");
            return self.ends(reply);
        }
        Flow::GoesOn
    }

    fn tools_ran(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        if reply.tool_calls.iter().any(|call| self.is_external(&call.name)) {
            let mut own = answered(view, reply);
            own.retain(|answered| !self.is_external(&answered.call.name));
            let last = own.iter().map(|answered| answered.at).max();
            let act = acts.act(Action::Stop, CALLER).code("external_tool_call");
            act.decision.event = last.or(act.decision.event);
            return self.ends(reply);
        }
        if let Some((limit, _)) = self.limit() {
            let act = acts.act(Action::Stop, ITERATION).code(ITERATION);
            act.detail(format!("Max iteration reached: {}", self.requests)).evidence(self.requests as f64, limit);
            return self.ends(reply);
        }
        Flow::GoesOn
    }

    fn said(&mut self, _: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) -> Flow {
        if self.terminators.is_empty() {
            return self.ends(reply);
        }
        let text = reply.text();
        for terminator in &mut self.terminators {
            if terminator.broken {
                let words = "'collections.defaultdict' object has no attribute 'append'";
                acts.act(Action::Fail, TERMINATORS).code("AttributeError").detail(words);
                return Flow::Over;
            }
            if let Some(reason) = terminator.ask(&text) {
                acts.act(Action::Stop, TERMINATORS).code("ResponseWordsTerminator").detail(reason);
                return self.ends(reply);
            }
        }
        if let Some((limit, max)) = self.limit() {
            let words = format!("Max iteration {} reached without termination signal", python::text(max));
            let act = acts.act(Action::Stop, ITERATION).code(ITERATION).detail(words);
            act.evidence(self.requests as f64, limit);
            return self.ends(reply);
        }
        Flow::GoesOn
    }
}

/// The token limit terminator, which no agent calls.
#[derive(Clone, Debug)]
struct CamelTokenLimit {
    limit: Option<f64>,
    resets: bool,
    fired: bool,
    over: bool,
}

impl Machine for CamelTokenLimit {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        if message.role == Role::User {
            self.fired &= !self.resets;
        } else if message.is_step() {
            let Some(limit) = self.limit else {
                let words = "'>=' not supported between instances of 'int' and 'NoneType'";
                acts.act(Action::Fail, TOKENS).code("TypeError").detail(words);
                self.over = true;
                return;
            };
            let usage = message.usage().unwrap_or_default();
            let tokens = usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0)) as f64;
            self.fired |= tokens >= limit;
            if self.fired {
                let act = acts.act(Action::Stop, TOKENS).code("TokenLimitTerminator").detail("max_tokens_exceeded");
                act.evidence(tokens, limit);
            }
        }
    }
}
