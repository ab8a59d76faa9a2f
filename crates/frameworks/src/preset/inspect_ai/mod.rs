//! Inspect AI: limits on messages, tokens, turns, cost and time, with the agents `react`, `basic_agent` and `generate`.

mod tokens;

use serde_json::Value;

use self::tokens::SampleTokenLimit;
use super::frame::rounds::answered;
use super::frame::{
    Action, ActionSink, Machine, MachineAction, Recipe, Settings, SettingsError, cost_in_dollars, native, rules_on,
    seconds_between, wrong_kind,
};
use crate::decision::Need;
use crate::framework::{Parameter, params};
use crate::python::{self, grouped};
use crate::transcript::{Instant, Message, Moment, PointView, Role, Usage};

const MESSAGE: &str = "message_limit";
const TOKEN: &str = "token_limit";
const TURN: &str = "turn_limit";
const COST: &str = "cost_limit";
const TIME: &str = "time_limit";
const WORKING: &str = "working_limit";
const ATTEMPTS: &str = "attempts";
const ON_CONTINUE: &str = "on_continue";
const LENGTH: &str = "model_length";
const FILTER: &str = "content_filter";
/// Refusals in a row that end a run of `react`.
const REFUSALS: u32 = 3;

params! {
    MESSAGE_LIMIT: "message_limit" = null, off null, "messages of the conversation";
    TOKEN_LIMIT: "token_limit" = null, off null, "tokens: a number, output:1m, or tokens and type";
    TURN_LIMIT: "turn_limit" = null, off null, "replies; one more is paid for",
        trap |n| if n.is_finite() => "`turn_limit` pays for one reply more than the limit and throws it away";
    COST_LIMIT: "cost_limit" = null, off null, "dollars";
    TIME_LIMIT: "time_limit" = null, off null, "seconds of clock time";
    WORKING_LIMIT: "working_limit" = null, off null, "seconds of working time";
    SOLVER: "solver" = "react", "react, basic_agent or generate";
    ATTEMPTS: "agent.attempts" = 1, "submissions of react";
    MAX_ATTEMPTS: "agent.max_attempts" = 1, "submissions of basic_agent";
    SUBMIT: "agent.submit" = true, off false, "is there a tool to submit with?";
    SUBMIT_NAME: "agent.submit_name" = "submit", "its name";
    ON_CONTINUE: "agent.on_continue" = null, off null, "a text, or a function: stop_without_calls, stop_after, say";
    TRUNCATION: "agent.truncation" = "disabled", off "disabled", "auto: go on when full";
    PROMPT: "agent.prompt" = false, "a system prompt is put in front";
    AGENT_MESSAGE_LIMIT: "agent.message_limit" = null, off 0, "basic_agent's own message limit";
    AGENT_TOKEN_LIMIT: "agent.token_limit" = null, off 0, "basic_agent's own token limit";
    AGENT_LIMITS_MESSAGE: "agent_limits.message" = null, "messages, of the agent in the sample";
    AGENT_LIMITS_TOKEN: "agent_limits.token" = null, off null, "tokens, of the agent";
    AGENT_LIMITS_TURN: "agent_limits.turn" = null, off null, "replies, of the agent";
    AGENT_LIMITS_COST: "agent_limits.cost" = null, off null, "dollars, of the agent";
    AGENT_LIMITS_TIME: "agent_limits.time" = null, off null, "seconds, of the agent";
    AGENT_LIMITS_WORKING: "agent_limits.working" = null, off null, "watched by nobody",
        trap |n| if n.is_finite() => "a working limit of the agent is watched by nobody";
    MODEL_COST: "model_cost" = null,
        "dollars per million tokens: input, output, input_cache_write, input_cache_read; else the recorded costs";
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Solver {
    #[default]
    React,
    BasicAgent,
    Generate,
}

/// What the `on_continue` function returns after each reply.
#[derive(Clone, Debug, Default)]
struct OnContinue {
    given: bool,
    stop_without_calls: bool,
    stop_after: Option<u64>,
}

impl OnContinue {
    fn from_value(given: &Value) -> Self {
        Self {
            given: given.is_object(),
            stop_without_calls: given["stop_without_calls"] == true,
            stop_after: given["stop_after"].as_u64(),
        }
    }
}

/// The framework's message about a negative limit.
fn must_not_be_negative(what: &str, kind: &str, value: &str) -> String {
    format!("{what} limit value must be a non-negative {kind} or None: {value}")
}

/// An optional number; a negative one is rejected with the framework's message.
fn limit(settings: &Settings, parameter: &Parameter, what: &str, kind: &str) -> Result<Option<f64>, SettingsError> {
    let limit = settings.opt_number(parameter)?;
    if limit.is_some_and(|number| number < 0.0) {
        return Err(SettingsError::refused(
            "ValueError",
            must_not_be_negative(what, kind, &given(settings, parameter)),
        ));
    }
    Ok(limit)
}

/// The given value as the framework prints it.
fn given(settings: &Settings, parameter: &Parameter) -> String {
    settings.get(parameter.name).map(python::text).unwrap_or_default()
}

/// Settings that the framework rejects only when the sample starts.
fn late_refusal(settings: &Settings) -> Result<Option<(&'static str, String)>, SettingsError> {
    for (parameter, rule, what, kind) in [
        (&param::AGENT_MESSAGE_LIMIT, MESSAGE, "Message", "integer"),
        (&param::TIME_LIMIT, TIME, "Time", "float"),
        (&param::WORKING_LIMIT, WORKING, "Working time", "float"),
        (&param::TURN_LIMIT, TURN, "Turn", "integer"),
    ] {
        let Some(limit) = settings.opt_number(parameter)?.filter(|limit| *limit < 0.0) else { continue };
        // The message about time contains the time that would be left for scoring.
        let value = if rule == TIME { python::repr_float(limit / 2.0) } else { given(settings, parameter) };
        return Ok(Some((rule, must_not_be_negative(what, kind, &value))));
    }
    Ok(None)
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    with_target(settings, None)
}

/// The rules of a task whose answers are correct if they contain `target`; a recording does not say which are.
#[doc(hidden)]
pub fn with_target(settings: &Settings, target: Option<String>) -> Result<Recipe, SettingsError> {
    let solver = match settings.text(&param::SOLVER)?.unwrap_or_default() {
        "react" => Solver::React,
        "basic_agent" => Solver::BasicAgent,
        "generate" => Solver::Generate,
        other => return Err(wrong_kind(param::SOLVER.name, "react, basic_agent or generate", &Value::from(other))),
    };
    let of_sample = limit(settings, &param::MESSAGE_LIMIT, "Message", "integer")?;
    let of_agent = settings.gives(&[&param::AGENT_LIMITS_MESSAGE]);
    let own = settings.opt_number(&param::AGENT_MESSAGE_LIMIT)?.filter(|limit| *limit != 0.0);
    let own_tokens = settings.get(param::AGENT_TOKEN_LIMIT.name);
    let message = match solver {
        _ if of_agent => limit(settings, &param::AGENT_LIMITS_MESSAGE, "Message", "integer")?,
        Solver::BasicAgent => {
            let has_tokens = !matches!(own_tokens, None | Some(Value::Null));
            own.or(of_sample).or(if has_tokens { None } else { Some(50.0) })
        }
        _ => of_sample,
    };
    let tokens = [
        SampleTokenLimit::from_parameter(&param::TOKEN_LIMIT, settings.get(param::TOKEN_LIMIT.name))?,
        SampleTokenLimit::from_parameter(&param::AGENT_LIMITS_TOKEN, settings.get(param::AGENT_LIMITS_TOKEN.name))?,
        SampleTokenLimit::from_parameter(
            &param::AGENT_TOKEN_LIMIT,
            own_tokens.filter(|own| solver == Solver::BasicAgent && **own != 0),
        )?,
    ];
    let costs = [
        limit(settings, &param::COST_LIMIT, "Cost", "float")?,
        limit(settings, &param::AGENT_LIMITS_COST, "Cost", "float")?,
    ];
    let turns =
        [settings.opt_number(&param::TURN_LIMIT)?, limit(settings, &param::AGENT_LIMITS_TURN, "Turn", "integer")?];
    let times =
        [settings.opt_number(&param::TIME_LIMIT)?, limit(settings, &param::AGENT_LIMITS_TIME, "Time", "float")?];
    let attempts = match solver {
        Solver::BasicAgent => settings.number(&param::MAX_ATTEMPTS)?,
        _ => settings.number(&param::ATTEMPTS)?,
    };
    let has_submit = solver != Solver::Generate && settings.flag(&param::SUBMIT)?;
    let on_continue = settings.get(param::ON_CONTINUE.name).filter(|given| !given.is_null());
    if solver == Solver::React && !has_submit && matches!(on_continue, Some(Value::String(_))) {
        let words = "Passing a string to on_continue with no submit tool is not permitted, because in this case the \
                     agent will always terminate when no tool calls are made.";
        return Err(SettingsError::refused("ValueError", words));
    }
    let on_continue = on_continue.map(OnContinue::from_value).unwrap_or_default();
    let sample = InspectSample {
        solver,
        late_refusal: late_refusal(settings)?,
        message,
        outer_message: of_sample.filter(|_| of_agent),
        tokens: tokens.into_iter().flatten().collect(),
        costs: costs.into_iter().flatten().collect(),
        prices: settings.get(param::MODEL_COST.name).cloned(),
        turns: turns.into_iter().flatten().collect(),
        times: times.into_iter().flatten().map(|time| (time, seconds_of(settings, time))).collect(),
        working: settings.opt_number(&param::WORKING_LIMIT)?.map(|time| (time, seconds_of(settings, time))),
        attempts: attempts.max(1.0),
        submit: settings.text(&param::SUBMIT_NAME)?.filter(|_| has_submit).map(str::to_owned),
        target,
        on_continue,
        truncates: !matches!(settings.text(&param::TRUNCATION)?, None | Some("disabled")),
        ..InspectSample::default()
    };
    Ok(recipe(sample))
}

/// The limit as written in the settings, for the framework's message.
fn seconds_of(settings: &Settings, time: f64) -> String {
    let limits = [&param::TIME_LIMIT, &param::AGENT_LIMITS_TIME, &param::WORKING_LIMIT];
    for limit in limits {
        if let Some(given) = settings.get(limit.name)
            && given.as_f64() == Some(time)
        {
            return python::text(given);
        }
    }
    time.to_string()
}

fn recipe(sample: InspectSample) -> Recipe {
    let rules = rules_on(&[
        (MESSAGE, sample.message.is_some() || sample.outer_message.is_some()),
        (TOKEN, !sample.tokens.is_empty()),
        (COST, !sample.costs.is_empty()),
        (TURN, !sample.turns.is_empty()),
        (TIME, !sample.times.is_empty()),
        (WORKING, sample.working.is_some()),
        (ATTEMPTS, sample.submit.is_some()),
        (LENGTH, sample.solver != Solver::Generate && !sample.truncates),
        (FILTER, sample.solver == Solver::React),
        (ON_CONTINUE, sample.on_continue.given),
    ]);
    let scores = sample.attempts > 1.0 && sample.target.is_none();
    let prices = sample.prices.is_some();
    let recipe = Recipe::new(sample, &rules)
        .blind(&[MESSAGE, TOKEN, COST, TURN, TIME, WORKING, LENGTH, FILTER, ON_CONTINUE])
        .needs(TOKEN, Need::Usage)
        .needs(COST, if prices { Need::Usage } else { Need::Cost })
        .needs(TIME, Need::Times)
        .needs(WORKING, Need::Times)
        .needs(LENGTH, Need::FinishReasons)
        .needs(FILTER, Need::FinishReasons);
    if scores { recipe.needs(ATTEMPTS, Need::Unrecorded("scores of submissions")) } else { recipe }
}

#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct InspectSample {
    solver: Solver,
    late_refusal: Option<(&'static str, String)>,
    /// The innermost message limit.
    message: Option<f64>,
    /// The sample's message limit, if an agent's own limit hides it.
    outer_message: Option<f64>,
    /// Ordered from outermost to innermost, like the next two.
    tokens: Vec<SampleTokenLimit>,
    costs: Vec<f64>,
    turns: Vec<f64>,
    /// Dollars per million tokens; `None` to use the recorded costs.
    prices: Option<Value>,
    /// Limits in seconds, and how they are written.
    times: Vec<(f64, String)>,
    working: Option<(f64, String)>,
    attempts: f64,
    submit: Option<String>,
    /// An answer that contains this text is correct.
    target: Option<String>,
    on_continue: OnContinue,
    truncates: bool,
    n_messages: u64,
    /// Replies so far.
    pub replies: u64,
    input: u64,
    output: u64,
    cost: f64,
    submissions: u64,
    refusals: u32,
    started_at: Option<Instant>,
    over: bool,
}

impl InspectSample {
    fn stop<'a>(
        &mut self,
        rule: &'static str,
        code: &'static str,
        words: Option<String>,
        acts: &'a mut ActionSink<'_, '_>,
    ) -> &'a mut MachineAction {
        self.over = true;
        let act = acts.act(Action::Stop, rule).code(code);
        act.decision.detail = words;
        act
    }

    /// Stops at `count` messages, which reaches or exceeds the limit.
    fn messages<'a>(&mut self, count: u64, limit: f64, acts: &'a mut ActionSink<'_, '_>) -> &'a mut MachineAction {
        let status = if count as f64 <= limit { "reached" } else { "exceeded" };
        let [seen, most] = [count as f64, limit].map(whole);
        let words = format!("Message limit {status}. count: {seen}; limit: {most}");
        self.stop(MESSAGE, "message", Some(words), acts).evidence(count as f64, limit)
    }

    /// Checks tokens and cost. Before a request, `equal` is true: a limit that is just reached also stops.
    fn sums(&mut self, equal: bool, acts: &mut ActionSink<'_, '_>) {
        let status = |is_equal: bool| if is_equal { "reached" } else { "exceeded" };
        for limit in &self.tokens {
            let Some(value) = limit.value(self.input, self.output) else { continue };
            let most = i64::try_from(limit.most).unwrap_or(i64::MAX);
            if value > most || (equal && value == most) {
                let exceeded = limit.words(status(value == most));
                let words = format!("{exceeded}. value: {}; limit: {}", grouped(value.into()), grouped(most.into()));
                self.stop(TOKEN, "token", Some(words), acts).evidence(value as f64, most as f64);
                return;
            }
        }
        let cost = self.cost;
        let over = self.costs.iter().copied().find(|limit| if equal { cost >= *limit } else { cost > *limit });
        if let Some(limit) = over {
            let [value, most] = [cost, limit].map(dollars);
            let words = format!("Cost limit {}. value: ${value}; limit: ${most}", status(cost <= limit));
            self.stop(COST, "cost", Some(words), acts).evidence(self.cost, limit);
        }
    }

    fn price(&self, reply: &Message) -> f64 {
        let Some(prices) = &self.prices else { return cost_in_dollars(reply) };
        let Some(usage) = reply.usage() else { return 0.0 };
        let price = |name: &str| prices[name].as_f64().unwrap_or(0.0);
        let cached = usage.cache_read.unwrap_or(0).saturating_add(usage.cache_write.unwrap_or(0));
        let plain = usage.input.unwrap_or(0).saturating_sub(cached);
        let mut cost = plain as f64 * price("input") / 1e6;
        cost += usage.output.unwrap_or(0) as f64 * price("output") / 1e6;
        cost += usage.cache_write.unwrap_or(0) as f64 * price("input_cache_write") / 1e6;
        cost + usage.cache_read.unwrap_or(0) as f64 * price("input_cache_read") / 1e6
    }

    /// Checks the clock. Whatever is in progress when a deadline passes is cut off.
    fn clock(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if self.late_refusal.is_some() {
            return;
        }
        self.started_at = self.started_at.or(acts.view().started_at());
        let Some(elapsed) = seconds_between(self.started_at, message.ts) else { return };
        let time = self.times.iter().filter(|(limit, _)| elapsed > *limit).min_by(|a, b| a.0.total_cmp(&b.0));
        let working = self.working.iter().find(|(limit, _)| elapsed > *limit);
        let (rule, code, words) = match (time, working) {
            (Some((time, _)), Some((working, written))) if working < time => {
                (WORKING, "working", working_words(written))
            }
            (Some((_, written)), _) => (TIME, "time", format!("Time limit exceeded. limit: {written} seconds")),
            (None, Some((_, written))) => (WORKING, "working", working_words(written)),
            (None, None) => return,
        };
        let before = acts.event_before();
        let message_before = before.and_then(|event| acts.view().events()[event].message());
        let follows_reply = message_before.is_some_and(Message::is_step);
        self.over = true;
        let act = acts.act(Action::Stop, rule).code(code).detail(words);
        act.decision.event = before;
        if message.is_step() {
            act.before_request(before);
        } else if message.is_result() && follows_reply {
            act.decision.point.moment = Moment::AfterResponse;
        }
    }

    fn before_request(&mut self, acts: &mut ActionSink<'_, '_>) {
        if self.replies == 0 {
            if let Some((rule, words)) = &self.late_refusal {
                self.over = true;
                acts.act(Action::Fail, rule).code("ValueError").detail(words.as_str());
                return;
            }
            if let Some((_, written)) = self.times.iter().find(|(limit, _)| *limit <= 0.0) {
                let words = format!("Time limit exceeded. limit: {written} seconds");
                self.stop(TIME, "time", Some(words), acts);
                return;
            }
        }
        if let Some(limit) = self.message.filter(|limit| self.n_messages as f64 >= *limit) {
            self.messages(self.n_messages, limit, acts);
            return;
        }
        self.sums(true, acts);
    }

    fn replied(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        self.replies += 1;
        self.n_messages += 1;
        let usage: Usage = reply.usage().unwrap_or_default();
        self.input = self.input.saturating_add(usage.input.unwrap_or(0));
        self.output = self.output.saturating_add(usage.output.unwrap_or(0));
        self.cost += self.price(reply);
        self.sums(false, acts);
        if self.over {
            return;
        }
        if let Some(limit) = self.turns.iter().copied().find(|limit| self.replies as f64 > *limit) {
            let [value, most] = [self.replies as f64, limit].map(whole);
            let words = format!("Turn limit exceeded. value: {value}; limit: {most}");
            self.stop(TURN, "turn", Some(words), acts).evidence(self.replies as f64, limit);
            return;
        }
        let reason = reply.finish_reason();
        if reason == Some(LENGTH) && self.solver != Solver::Generate && !self.truncates {
            self.stop(LENGTH, LENGTH, None, acts);
            return;
        }
        self.refusals = if reason == Some(FILTER) { self.refusals + 1 } else { 0 };
        if self.solver == Solver::React && self.refusals >= REFUSALS {
            self.stop(FILTER, FILTER, None, acts);
        }
    }

    fn tools_ran(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        let results: Vec<&Message> = answered(view, reply).iter().map(|answered| answered.result).collect();
        let count = self.n_messages + results.len() as u64;
        if let Some(limit) = self.message.filter(|limit| count as f64 > *limit) {
            self.messages(count, limit, acts);
            return;
        }
        self.n_messages = count;
        let counts_failed = self.solver == Solver::BasicAgent;
        let is_submission = |result: &&&Message| {
            let is_named = self.submit.is_some() && result.name.as_deref() == self.submit.as_deref();
            is_named && (counts_failed || !native::has_failed(result))
        };
        let submitted: Vec<&&Message> = results.iter().filter(is_submission).collect();
        if let Some(first) = submitted.first() {
            let is_right = matches!(&self.target, Some(target) if first.text().contains(target.as_str()));
            self.submissions += 1;
            if self.submissions as f64 >= self.attempts || is_right {
                self.done(submitted.len() as u64, Some((ATTEMPTS, "submit")), acts);
                return;
            }
        }
        self.asked_to_continue(true, acts);
    }

    fn said(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        match self.solver {
            Solver::Generate => self.done(0, None, acts),
            _ if reply.finish_reason() == Some(LENGTH) => {}
            Solver::React if self.submit.is_none() && !self.on_continue.given => self.done(0, None, acts),
            _ => self.asked_to_continue(false, acts),
        }
    }

    fn asked_to_continue(&mut self, has_calls: bool, acts: &mut ActionSink<'_, '_>) {
        let OnContinue { stop_without_calls, stop_after, .. } = self.on_continue;
        if (stop_without_calls && !has_calls) || matches!(stop_after, Some(after) if self.replies >= after) {
            self.done(0, Some((ON_CONTINUE, ON_CONTINUE)), acts);
        }
    }

    /// The agent is done. If it had its own message limit, its messages must also fit into the sample's.
    fn done(&mut self, dropped: u64, end: Option<(&'static str, &'static str)>, acts: &mut ActionSink<'_, '_>) {
        self.over = true;
        let count = self.n_messages.saturating_sub(dropped);
        if let Some(limit) = self.outer_message.filter(|limit| count as f64 > *limit) {
            self.messages(count, limit, acts);
        } else if let Some((rule, code)) = end {
            self.stop(rule, code, None, acts);
        }
    }
}

fn working_words(written: &str) -> String {
    format!("Working time limit exceeded. limit: {written} seconds")
}

/// A whole number with thousands separators; other numbers as they are.
fn whole(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "whole, checked before")]
    if number.fract() == 0.0 && number.abs() < 9e15 { grouped(number as i128) } else { number.to_string() }
}

/// Dollars with four decimals and thousands separators.
fn dollars(amount: f64) -> String {
    let text = format!("{amount:.4}");
    if let Some((whole, cents)) = text.split_once('.')
        && let Ok(whole) = whole.parse::<i64>()
    {
        return format!("{}.{cents}", grouped(whole.into()));
    }
    text
}

impl Machine for InspectSample {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        self.clock(message, acts);
        if self.over || !matches!(message.role, Role::User | Role::System) {
            return;
        }
        let count = self.n_messages + 1;
        if let Some(limit) = self.message.filter(|limit| self.replies > 0 && count as f64 > *limit) {
            let before = acts.event_before();
            self.messages(count, limit, acts).decision.event = before;
            return;
        }
        self.n_messages = count;
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.before_request(acts),
            (Moment::AfterResponse, Some(reply)) => self.replied(reply, acts),
            (Moment::AfterTools, Some(reply)) if !reply.tool_calls.is_empty() && view.results().next().is_some() => {
                self.tools_ran(view, reply, acts);
            }
            (Moment::EndOfRound, Some(reply)) => self.said(reply, acts),
            _ => {}
        }
    }
}
