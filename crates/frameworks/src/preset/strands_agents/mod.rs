//! Strands: limits of one agent invocation, and the limits of a swarm or graph of agents.

use serde_json::Value;

use super::frame::{
    Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading, rules_on, seconds_between,
};
use crate::decision::Need;
use crate::framework::{Parameter, params};
use crate::python;
use crate::transcript::{Instant, Message, Moment, PointView};

const LIMITS: &str = "limits";
const SWARM: &str = "swarm";
const GRAPH: &str = "graph";

/// The caps of an invocation, in the order they are checked.
const CAPS: [(&str, &str); 3] =
    [("turns", "limit_turns"), ("total_tokens", "limit_total_tokens"), ("output_tokens", "limit_output_tokens")];

params! {
    LIMITS: "limits" = null, off null,
        "caps of one invocation: turns, total_tokens, output_tokens; each a positive whole number";
    MAX_HANDOFFS: "max_handoffs" = 20, "agents of a swarm that may run",
        trap with |s| if s.amount(&MAX_HANDOFFS) <= 0.0 || s.amount(&MAX_ITERATIONS) <= 0.0 =>
            "0 is not off: the swarm stops before its first agent";
    MAX_ITERATIONS: "max_iterations" = 20, "agents of a swarm that may run: the same count";
    EXECUTION_TIMEOUT: "execution_timeout" = 900.0,
        "seconds of a swarm (a graph has none by default), looked at before the next agent",
        trap |n| if n >= crate::framework::LONG_SECONDS => "`execution_timeout` is more than a day: it counts seconds, not milliseconds";
    REPETITIVE_HANDOFF_DETECTION_WINDOW: "repetitive_handoff_detection_window" = 0, off 0,
        "how many of the latest agents of a swarm are looked at";
    REPETITIVE_HANDOFF_MIN_UNIQUE_AGENTS: "repetitive_handoff_min_unique_agents" = 0, off 0,
        "how many of them must differ";
    MAX_NODE_EXECUTIONS: "max_node_executions" = null, off null, "nodes of a graph that may run";
}

/// Parameters of a swarm or a graph; without any of them, `limits` apply to a single agent.
const OF_TEAMS: [&Parameter; 6] = [
    &param::MAX_HANDOFFS,
    &param::MAX_ITERATIONS,
    &param::EXECUTION_TIMEOUT,
    &param::REPETITIVE_HANDOFF_DETECTION_WINDOW,
    &param::REPETITIVE_HANDOFF_MIN_UNIQUE_AGENTS,
    &param::MAX_NODE_EXECUTIONS,
];

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    let alone = settings.gives(&[&param::LIMITS]) && !settings.gives(&OF_TEAMS);
    parts(settings, if alone { &[LIMITS] } else { &[LIMITS, SWARM, GRAPH] })
}

/// Some of the rules.
#[doc(hidden)]
pub fn parts(settings: &Settings, rules: &[&str]) -> Result<Recipe, SettingsError> {
    let wants = |rule: &str| rules.contains(&rule);
    let timeout = &param::EXECUTION_TIMEOUT;
    let is_timed = wants(SWARM) || !matches!(settings.get(timeout.name), None | Some(Value::Null));
    let swarm = SwarmLimits {
        max_handoffs: settings.int(&param::MAX_HANDOFFS)?,
        max_iterations: settings.int(&param::MAX_ITERATIONS)?,
        window: settings.int(&param::REPETITIVE_HANDOFF_DETECTION_WINDOW)?,
        min_unique: settings.int(&param::REPETITIVE_HANDOFF_MIN_UNIQUE_AGENTS)?,
    };
    let team = StrandsTeam {
        swarm: if wants(SWARM) { Some(swarm) } else { None },
        max_nodes: if wants(GRAPH) { settings.opt_int(&param::MAX_NODE_EXECUTIONS)? } else { None },
        timeout: if is_timed {
            Some((settings.number(timeout)?, settings.in_force(timeout).to_string()))
        } else {
            None
        },
        started_at: None,
        history: Vec::new(),
        turn: TeamPhase::Idle,
    };
    let caps = if wants(LIMITS) { caps(settings.get(param::LIMITS.name))? } else { [None; 3] };
    let has_graph = wants(GRAPH) && (team.max_nodes.is_some() || team.swarm.is_none());
    let is_capped = caps.iter().any(Option::is_some);
    let rules = rules_on(&[(LIMITS, is_capped), (SWARM, team.swarm.is_some()), (GRAPH, has_graph)]);
    let counts_tokens = caps.iter().skip(1).any(Option::is_some);
    let recipe = Recipe::new(Strands { caps, used: [0; 3], team, failed: false }, &rules)
        .blind(&rules)
        .needs(SWARM, Need::AgentNames)
        .needs(GRAPH, Need::AgentNames)
        .requests_before_prompts();
    Ok(if counts_tokens { recipe.needs(LIMITS, Need::Usage) } else { recipe })
}

/// The caps in order, or the framework's rejection.
fn caps(limits: Option<&Value>) -> Result<[Option<u64>; 3], SettingsError> {
    let Some(limits) = limits.filter(|limits| python::is_true(limits)) else { return Ok([None; 3]) };
    let Some(limits) = limits.as_object() else {
        return Err(SettingsError::refused("TypeError", "limits must be a mapping"));
    };
    let mut unknown: Vec<Value> = Vec::new();
    unknown.extend(limits.keys().filter(|key| CAPS.iter().all(|(cap, _)| cap != key)).map(|key| key.as_str().into()));
    unknown.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    if !unknown.is_empty() {
        let known = "'turns', 'output_tokens', 'total_tokens'";
        let unknown = python::repr(&Value::Array(unknown));
        let words = format!("limits keys {unknown} are not recognized caps, expected one of {known}");
        return Err(SettingsError::refused("TypeError", words));
    }
    let mut caps = [None; 3];
    for (key, value) in limits {
        let Some(cap) = value.as_u64().filter(|cap| *cap > 0) else {
            let words = format!("limits['{key}'] must be a positive int, got {}", python::repr(value));
            return Err(SettingsError::refused("TypeError", words));
        };
        if let Some(place) = CAPS.iter().position(|(name, _)| name == key) {
            caps[place] = Some(cap);
        }
    }
    Ok(caps)
}

#[derive(Clone, Debug)]
struct SwarmLimits {
    max_handoffs: i64,
    max_iterations: i64,
    window: i64,
    min_unique: i64,
}

/// The state of a team of agents.
#[derive(Clone, Debug, PartialEq)]
enum TeamPhase {
    /// No agent has been called, or the last one is done.
    Idle,
    /// An agent is working; `handover` says whether it has asked to hand over.
    Working { handover: bool },
    /// An agent has handed over, and the next one has not been called.
    HandedOver,
    /// The last agent answered: a swarm is complete, but a graph may have more nodes.
    Answered,
}

#[derive(Clone, Debug)]
struct StrandsTeam {
    swarm: Option<SwarmLimits>,
    max_nodes: Option<i64>,
    /// Seconds, and how the framework prints them.
    timeout: Option<(f64, String)>,
    started_at: Option<Instant>,
    /// Agents that have finished a turn.
    history: Vec<String>,
    turn: TeamPhase,
}

#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Strands {
    caps: [Option<u64>; 3],
    /// Turns, total tokens and output tokens of this invocation.
    used: [u64; 3],
    team: StrandsTeam,
    /// Whether a team failed.
    pub failed: bool,
}

impl StrandsTeam {
    fn new_invocation(&mut self, now: Option<Instant>) {
        self.history.clear();
        self.turn = TeamPhase::Idle;
        self.started_at = now;
    }

    fn reply(&mut self, message: &Message) {
        let asked = matches!(self.turn, TeamPhase::Working { handover: true });
        if message.tool_calls.is_empty() {
            self.history.push(message.name.as_deref().unwrap_or("assistant").to_owned());
            self.turn = if asked { TeamPhase::HandedOver } else { TeamPhase::Answered };
            return;
        }
        let asks = message.tool_calls.iter().any(|call| &*call.name == "handoff_to_agent");
        self.turn = TeamPhase::Working { handover: asked || asks };
    }

    fn seconds(&self, now: Option<Instant>) -> Option<f64> {
        let unmeasured = if self.history.is_empty() { Some(0.0) } else { None };
        seconds_between(self.started_at, now).or(unmeasured)
    }

    /// Why the next agent is not called: rule, reason, observed value and limit.
    fn refusal(&self, now: Option<Instant>) -> Option<(&'static str, String, f64, f64)> {
        let count = i64::try_from(self.history.len()).unwrap_or(i64::MAX);
        if let Some(swarm) = &self.swarm {
            for (name, max) in [("handoffs", swarm.max_handoffs), ("iterations", swarm.max_iterations)] {
                if count >= max {
                    return Some((SWARM, format!("Max {name} reached: {max}"), count as f64, max as f64));
                }
            }
        }
        if let Some(max) = self.max_nodes.filter(|max| count >= *max) {
            return Some((GRAPH, format!("Max node executions reached: {max}"), count as f64, max as f64));
        }
        let rule = if self.swarm.is_some() { SWARM } else { GRAPH };
        if let (Some((limit, written)), Some(elapsed)) = (&self.timeout, self.seconds(now))
            && elapsed > *limit
        {
            return Some((rule, format!("Execution timed out: {written}s"), elapsed, *limit));
        }
        self.repetition()
    }

    fn repetition(&self) -> Option<(&'static str, String, f64, f64)> {
        let swarm = self.swarm.as_ref()?;
        let window = usize::try_from(swarm.window).ok().filter(|window| *window > 0)?;
        let recent = self.history.get(self.history.len().checked_sub(window)?..)?;
        let unique = recent.iter().collect::<std::collections::BTreeSet<_>>().len();
        if i64::try_from(unique).unwrap_or(i64::MAX) >= swarm.min_unique {
            return None;
        }
        let words = format!("Repetitive handoff: {unique} unique nodes out of {window} recent iterations");
        Some((SWARM, words, unique as f64, swarm.min_unique as f64))
    }
}

impl Strands {
    fn over_cap(&self, acts: &mut ActionSink<'_, '_>) {
        for ((cap, used), (_, code)) in self.caps.iter().zip(self.used).zip(CAPS) {
            if let Some(cap) = cap.filter(|cap| used >= *cap) {
                acts.act(Action::Stop, LIMITS).code(code).evidence(used as f64, cap as f64);
                return;
            }
        }
    }

    /// Called before each agent of the team: the first one, the one after a hand-off, or in a graph after any agent.
    fn before_agent(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        let asks = match self.team.turn {
            TeamPhase::Idle | TeamPhase::HandedOver => true,
            TeamPhase::Answered => self.team.swarm.is_none() && !view.is_after_end(),
            TeamPhase::Working { .. } => false,
        };
        if asks && let Some((rule, reason, seen, limit)) = self.team.refusal(view.now()) {
            self.failed = true;
            acts.act(Action::Stop, rule).code(reason).evidence(seen, limit);
        }
    }
}

impl Machine for Strands {
    fn message(&mut self, message: &Message, _acts: &mut ActionSink<'_, '_>) {
        if message.is_prompt() {
            self.used = [0; 3];
            self.team.new_invocation(message.ts);
        } else if message.is_step() {
            let usage = message.usage().unwrap_or_default();
            let total = message.total_tokens().unwrap_or_default().0;
            let output = usage.output.unwrap_or(0);
            for (used, more) in self.used.iter_mut().zip([1, total, output]) {
                *used = used.saturating_add(more);
            }
            self.team.reply(message);
            if message.tool_calls.is_empty() {
                self.used = [0; 3];
            }
        } else if message.is_result() && message.is_error == Some(true) {
            let failed = message.name.as_deref() == Some("handoff_to_agent");
            if failed && let TeamPhase::Working { handover } = &mut self.team.turn {
                *handover = false;
            }
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if view.moment() != Moment::BeforeRequest {
            return;
        }
        if self.used[0] > 0 {
            self.over_cap(acts);
        }
        if self.team.swarm.is_some() || self.team.max_nodes.is_some() || self.team.timeout.is_some() {
            self.before_agent(view, acts);
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let caps = self.caps.iter().zip(["turns", "tokens", "output tokens"]).zip(self.used);
        let limits = caps.filter_map(|((cap, what), used)| Some(reading(LIMITS, what, used as f64, (*cap)? as f64)));
        let agents = self.team.history.len() as f64;
        let swarm =
            self.team.swarm.iter().map(|swarm| reading(SWARM, "agents that ran", agents, swarm.max_handoffs as f64));
        let nodes = self.team.max_nodes.map(|max| reading(GRAPH, "nodes that ran", agents, max as f64));
        limits.chain(swarm).chain(nodes).collect()
    }
}
