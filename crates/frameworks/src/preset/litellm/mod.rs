//! LiteLLM: limits on iterations and cost per session, per key and for the whole proxy, and on rounds of code
//! execution.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::frame::{
    Action, ActionSink, Machine, Recipe, Settings, SettingsError, cost_in_dollars, native, rules_on, starts_run,
};
use crate::decision::Need;
use crate::framework::{Parameter, params};
use crate::python;
use crate::transcript::{Instant, Message, Moment, PointView};

const ITERATIONS: &str = "max_iterations";
const SESSION: &str = "max_budget_per_session";
const KEY: &str = "key_budget";
const PROXY: &str = "global_budget";
const SDK: &str = "sdk_max_budget";
const CODE: &str = "code_execution";
/// The most keys that the proxy's memory holds, over all hooks.
const MEMORY: usize = 200;

params! {
    LITELLM_PARAMS_MAX_ITERATIONS: "litellm_params.max_iterations" = null, off null,
        "requests of a session, of the agent",
        trap |n| if n <= 0.0 => "`max_iterations` of 0 or less is not off: the first request is refused";
    MAX_BUDGET_PER_SESSION: "litellm_params.max_budget_per_session" = null, off null,
        "dollars of a session, of the agent";
    KEY_METADATA_MAX_ITERATIONS: "key_metadata.max_iterations" = null, off null,
        "requests of a session, where the agent has no limit";
    KEY_MAX_BUDGET: "key.max_budget" = null, off null, "dollars of a key";
    LITELLM_SETTINGS_MAX_BUDGET: "litellm_settings.max_budget" = 0, off 0, "dollars of the whole proxy";
    LITELLM_MAX_BUDGET: "litellm.max_budget" = 0, off 0, "dollars of the SDK: never acts",
        trap |n| if n > 0.0 => "the SDK's `max_budget` never acts: the running cost never grows";
    LITELLM_MAX_ITERATIONS_TTL: "LITELLM_MAX_ITERATIONS_TTL" = 3600, "seconds that requests are counted";
    LITELLM_MAX_BUDGET_PER_SESSION_TTL: "LITELLM_MAX_BUDGET_PER_SESSION_TTL" = 3600,
        "seconds that dollars are counted";
    CODE_EXECUTION_MAX_ITERATIONS: "code_execution.max_iterations" = null, off null,
        "rounds of code execution; 0 means 10";
}

/// The configuration that a stack file's settings describe, in the form used by cases.
fn assembled(settings: &Settings) -> Value {
    let value = |parameter: &Parameter| settings.value(parameter).into_owned();
    let agent = json!({
        ITERATIONS: value(&param::LITELLM_PARAMS_MAX_ITERATIONS),
        SESSION: value(&param::MAX_BUDGET_PER_SESSION),
    });
    json!({
        "agent": "agent",
        "agents": { "agent": agent },
        "key_metadata": { ITERATIONS: value(&param::KEY_METADATA_MAX_ITERATIONS) },
        "max_budget": value(&param::KEY_MAX_BUDGET),
        "global_max_budget": value(&param::LITELLM_SETTINGS_MAX_BUDGET),
        "iterations_ttl": value(&param::LITELLM_MAX_ITERATIONS_TTL),
        "budget_ttl": value(&param::LITELLM_MAX_BUDGET_PER_SESSION_TTL),
    })
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    for budget in [&param::KEY_MAX_BUDGET, &param::LITELLM_SETTINGS_MAX_BUDGET, &param::LITELLM_MAX_BUDGET] {
        settings.opt_number(budget)?;
    }
    let rounds = settings.opt_int(&param::CODE_EXECUTION_MAX_ITERATIONS)?;
    if rounds.is_some() {
        return Ok(code_execution(rounds));
    }
    proxy(settings, ProxySetup { config: assembled(settings), by_sdk: false, session: None })
}

/// The loop that executes code, with at most so many rounds; 0 and `None` mean 10.
#[doc(hidden)]
pub fn code_execution(rounds: Option<i64>) -> Recipe {
    let limit = rounds.filter(|limit| *limit != 0).unwrap_or(10);
    Recipe::new(CodeExecution { limit, rounds: 0, over: false }, &[CODE]).blind(&[CODE])
}

/// What is known of a proxy's requests.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ProxySetup {
    /// The proxy's configuration, with its agents and the key.
    pub config: Value,
    /// Whether the SDK is called without a proxy.
    pub by_sdk: bool,
    /// The session of requests that name none; by default, that of the recording.
    pub session: Option<String>,
}

/// The rules of a proxy, or of the SDK.
#[doc(hidden)]
pub fn proxy(settings: &Settings, requests: ProxySetup) -> Result<Recipe, SettingsError> {
    let ProxySetup { config, by_sdk: is_sdk, session } = requests;
    let has = |agents: &str, rule: &str| match &config[agents] {
        Value::Object(agents) => agents.values().any(|agent| !agent[rule].is_null()),
        _ => false,
    };
    let has_global_budget = matches!(config["global_max_budget"].as_f64(), Some(dollars) if dollars > 0.0);
    let rules = rules_on(&[
        (ITERATIONS, has("agents", ITERATIONS) || !config["key_metadata"][ITERATIONS].is_null()),
        (SESSION, has("agents", SESSION)),
        (PROXY, has_global_budget),
        (KEY, !is_sdk && !config["max_budget"].is_null()),
        (SDK, is_sdk || settings.amount(&param::LITELLM_MAX_BUDGET) > 0.0),
    ]);
    let seconds = |name: &str, parameter: &Parameter| {
        let seconds = match config[name].as_i64() {
            Some(seconds) => seconds,
            None => settings.default_of(parameter).as_i64().unwrap_or_default(),
        };
        seconds.saturating_mul(1000)
    };
    let machine = Proxy {
        ttl: [
            seconds("iterations_ttl", &param::LITELLM_MAX_ITERATIONS_TTL),
            seconds("budget_ttl", &param::LITELLM_MAX_BUDGET_PER_SESSION_TTL),
        ],
        key_spend: config["spend"].as_f64().unwrap_or(0.0),
        sdk: if is_sdk { config.clone() } else { Value::Null },
        config,
        memory: Memory::default(),
        session: session.unwrap_or_default(),
    };
    Ok(Recipe::new(machine, &rules)
        .blind(&rules)
        .needs(ITERATIONS, Need::Times)
        .needs(SESSION, Need::Times)
        .needs(SESSION, Need::Cost)
        .needs(ITERATIONS, Need::WholeSession)
        .needs(SESSION, Need::WholeSession)
        .needs(KEY, Need::WholeSession)
        .needs(PROXY, Need::WholeSession)
        .needs(KEY, Need::Cost)
        .needs(PROXY, Need::Cost))
}

/// The proxy's memory: numbers by key, each with an expiry time.
#[derive(Clone, Debug, Default)]
struct Memory {
    values: BTreeMap<String, (f64, i64)>,
    /// The same keys, ordered by expiry time.
    expiring: BTreeSet<(i64, String)>,
}

impl Memory {
    fn get(&mut self, key: &str, now: i64) -> Option<f64> {
        let (value, expires) = *self.values.get(key)?;
        if now > expires {
            self.forget(key);
            return None;
        }
        Some(value)
    }

    fn forget(&mut self, key: &str) {
        if let Some((_, expires)) = self.values.remove(key) {
            self.expiring.remove(&(expires, key.to_owned()));
        }
    }

    /// Sets a value. Updating an existing one does not extend its expiry time.
    fn set(&mut self, key: &str, value: f64, now: i64, ttl: i64) {
        while let Some((expires, first)) = self.expiring.first().cloned() {
            if expires > now && self.values.len() < MEMORY {
                break;
            }
            self.forget(&first);
        }
        let expires = if let Some((_, expires)) = self.values.get(key) { *expires } else { now.saturating_add(ttl) };
        self.values.insert(key.to_owned(), (value, expires));
        self.expiring.insert((expires, key.to_owned()));
    }
}

#[derive(Clone, Debug)]
struct Proxy {
    config: Value,
    /// The SDK's own limit; null if the proxy is driven.
    sdk: Value,
    ttl: [i64; 2],
    key_spend: f64,
    memory: Memory,
    /// The session of requests that name none; the recording's run id by default.
    session: String,
}

/// The properties of a request, as known from its reply.
struct ProxyRequest {
    session: Option<String>,
    agent: Option<String>,
    /// Whether its cost is added to the session: the session's id is where successful calls are logged.
    is_booked: bool,
    failed: bool,
}

/// A refusal: rule, code, message, observed value and limit.
type Refusal = (&'static str, String, String, f64, f64);

impl Proxy {
    fn request(&self, reply: &Message) -> ProxyRequest {
        let native = native::field(reply, "native").unwrap_or_default();
        let field = |name: &str| native.get(name).or_else(|| self.config.get(name)).cloned();
        let session = field("session_id").unwrap_or_else(|| Value::from(self.session.as_str()));
        let agent = field("agent").filter(|agent| !agent.is_null());
        ProxyRequest {
            session: if session.is_null() { None } else { Some(python::text(&session)) },
            agent: agent.map(|agent| python::text(&agent)),
            is_booked: field("where") != Some(Value::from("both")),
            failed: native["failed"] == true,
        }
    }

    fn agent_setting(&self, request: &ProxyRequest, rule: &str) -> Option<&Value> {
        let agent = self.config["agents"].get(request.agent.as_deref()?)?;
        agent.get(rule).filter(|value| !value.is_null())
    }

    fn refusal(&mut self, request: &ProxyRequest, now: i64) -> Option<Refusal> {
        if !self.sdk.is_null() {
            return self.sdk_refusal();
        }
        if let Some(refusal) = self.money_refusal() {
            return Some(refusal);
        }
        if let Some(refusal) = self.iterations_refusal(request, now) {
            return Some(refusal);
        }
        self.session_refusal(request, now)
    }

    /// Whether a hook is active; hooks that a case does not drive are not.
    fn is_hooked(&self, rule: &str) -> bool {
        if let Some(hooks) = self.config["hooks"].as_array() { hooks.iter().any(|hook| hook == rule) } else { true }
    }

    fn iterations_refusal(&mut self, request: &ProxyRequest, now: i64) -> Option<Refusal> {
        let session = request.session.as_deref().filter(|_| self.is_hooked(ITERATIONS))?;
        let key = &self.config["key_metadata"][ITERATIONS];
        let limit = self.agent_setting(request, ITERATIONS).or(Some(key).filter(|limit| !limit.is_null()))?.clone();
        let Some(limit) = python::small_int(&limit) else {
            let words = format!("invalid literal for int() with base 10: {}", python::repr(&limit));
            return Some((ITERATIONS, "ValueError".to_owned(), words, f64::NAN, f64::NAN));
        };
        let key = format!("{{session_iterations:{session}}}:count");
        let count = self.memory.get(&key, now).unwrap_or(0.0) + 1.0;
        self.memory.set(&key, count, now, self.ttl[0]);
        if count <= limit as f64 {
            return None;
        }
        let words = format!(
            "Max iterations exceeded for session {session}. Current count: {count:.0}, max_iterations: {limit}."
        );
        Some((ITERATIONS, "ProxyRateLimitError:max_iterations".to_owned(), words, count, limit as f64))
    }

    fn session_refusal(&mut self, request: &ProxyRequest, now: i64) -> Option<Refusal> {
        let limit = self.agent_setting(request, SESSION).filter(|_| self.is_hooked(SESSION))?.clone();
        let Ok(Some(limit)) = python::float(&limit) else {
            let words = format!("could not convert string to float: {}", python::repr(&limit));
            return Some((SESSION, "ValueError".to_owned(), words, f64::NAN, f64::NAN));
        };
        let session = request.session.as_deref()?;
        let spent = self.memory.get(&format!("{{session_budget:{session}}}:spend"), now).unwrap_or(0.0);
        let is_spent = spent >= limit;
        if !is_spent {
            return None;
        }
        let words = format!(
            "Session budget exceeded for session {session}. Current spend: ${spent:.4}, max_budget_per_session: \
             ${limit:.2}."
        );
        Some((SESSION, "ProxyRateLimitError:budget".to_owned(), words, spent, limit))
    }

    fn money_refusal(&self) -> Option<Refusal> {
        let exceeded = |rule, key: &str, limit: f64| {
            let [spend, most] = [self.key_spend, limit].map(python::repr_float);
            let words = format!("Budget has been exceeded! {key}Current cost: {spend}, Max budget: {most}");
            Some((rule, "BudgetExceededError".to_owned(), words, self.key_spend, limit))
        };
        let number = |name: &str| python::float(&self.config[name]).ok().flatten();
        // Only requests to a model are checked, not those for the model list or the proxy's health.
        let to_a_model = !matches!(self.config["route"].as_str(), Some("/models" | "/health"));
        if let Some(limit) = number("global_max_budget").filter(|limit| *limit > 0.0 && to_a_model)
            && self.key_spend > limit
        {
            return exceeded(PROXY, "", limit);
        }
        let limit = number("max_budget").filter(|limit| limit.is_finite() && self.key_spend >= *limit)?;
        exceeded(KEY, "Key=k ", limit)
    }

    /// The SDK's check, which uses the cost set beforehand.
    fn sdk_refusal(&self) -> Option<Refusal> {
        let cost = self.sdk["current_cost"].as_f64().unwrap_or(0.0);
        let limit = self.sdk["max_budget"].as_f64().filter(|limit| *limit != 0.0 && cost > *limit)?;
        let most = python::repr(&self.sdk["max_budget"]);
        let words = format!("Budget has been exceeded! Current cost: {}, Max budget: {most}", python::repr_float(cost));
        Some((SDK, "BudgetExceededError".to_owned(), words, cost, limit))
    }

    /// Adds the cost of a successful call.
    fn book(&mut self, request: &ProxyRequest, reply: &Message, now: i64) {
        let cost = cost_in_dollars(reply);
        self.key_spend += cost;
        let is_limited = self.agent_setting(request, SESSION).is_some() && self.is_hooked(SESSION);
        let Some(session) = request.session.as_deref().filter(|_| is_limited && request.is_booked && cost > 0.0) else {
            return;
        };
        let key = format!("{{session_budget:{session}}}:spend");
        let spent = self.memory.get(&key, now).unwrap_or(0.0) + cost;
        self.memory.set(&key, spent, now, self.ttl[1]);
    }
}

impl Machine for Proxy {
    /// The session of a request is recorded with its reply, but the decision is made before the request.
    fn message(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        if !reply.is_step() {
            return;
        }
        if self.session.is_empty() {
            self.session.clone_from(&acts.view().header().run_id);
        }
        let request = self.request(reply);
        let Instant(now) = reply.ts.or(acts.view().now()).unwrap_or(Instant(0));
        let Some((rule, code, words, seen, limit)) = self.refusal(&request, now) else {
            if !request.failed {
                self.book(&request, reply, now);
            }
            return;
        };
        let before = acts.event_before();
        acts.act(Action::Fail, rule).code(code).detail(words).evidence(seen, limit).before_request(before);
    }
}

/// The loop that executes code for the model.
#[derive(Clone, Debug)]
struct CodeExecution {
    limit: i64,
    rounds: i64,
    over: bool,
}

impl Machine for CodeExecution {
    fn message(&mut self, message: &Message, _: &mut ActionSink<'_, '_>) {
        if starts_run(message) {
            self.rounds = 0;
            self.over = false;
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        let reached = match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.limit < 0,
            (Moment::AfterTools, Some(reply)) => {
                let goes_on = matches!(reply.finish_reason(), None | Some("tool_calls"));
                if reply.tool_calls.is_empty() || !goes_on {
                    self.over = true;
                    return;
                }
                self.rounds += 1;
                self.rounds >= self.limit
            }
            _ => false,
        };
        if reached {
            self.over = true;
            let act = acts.act(Action::Stop, CODE).code("max_iterations_reached");
            act.evidence(self.rounds as f64, self.limit as f64);
        }
    }
}
