//! Replays the auto mode on recorded runs.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::decide::{AfterRun, RunKind};
use super::guardrail::{AgentProfile, PlanFile, ProjectFolder, experiment_number};
use super::message::MessageLoop;
use super::param;
use super::plan::MetricsScope;
use super::policy::AutomationPolicy;
use super::rules::{Guardrail, MiraProfile, MiraRules, Order, ProviderCheck, TokenScope};
use super::stop::{AutoStopReason, RULES};
use crate::decision::{Action, Decision, Evidence, Need, Requirement, RuleName, RuleReading, Strategy, Watch};
use crate::framework::{ConfigText, Settings, SettingsError, positive};
use crate::python::{self, Raised, Strictness};
use crate::system::{RoundClock, RoundUnit, profile_of};
use crate::transcript::{Event, Header, Lane, Message, Metrics, PointView, Role, Tokens};

/// The policy's own keys, which a stack file may also set.
const POLICY_KEYS: &[&str] = &[
    param::LOGIC.name,
    param::GOALS.name,
    param::MAX_EXPERIMENTS.name,
    param::MAX_TOKENS.name,
    param::STRICT_HEURISTICS.name,
];
const PROJECT_KEYS: &[&str] = &["automation_policy", "agent_profile", "contract_version"];
/// The rule of a run that is not in auto mode: a single run that ends without a message.
const MANUAL: RuleName = RuleName::fixed("mira.manual_mode");
/// The rule of the guardrail, to which most of the loop's output is attributed.
const GUARD: RuleName = RuleName::fixed(RULES[5]);
/// The fixed reply to `/new`, which no run wrote.
const NEW_SESSION: &str = "New session started.";
/// The kind of a note with the policy that came with the next message; null if none came.
const POLICY_NOTE: &str = "mira.policy";
/// The rule of an exception that the original does not catch.
const EXCEPTION: RuleName = RuleName::fixed("mira.exception");

/// The auto mode, configured.
struct Mira {
    name: String,
    profile: MiraProfile,
    /// The loop before the first message.
    message: MessageLoop,
    /// Whether the policy is the session's, which recorded messages replace; else it is the configured one, which the
    /// host sends with every message.
    records_policy: bool,
    prompts_restart: bool,
    round: RoundUnit,
}

/// Builds the strategy from an automation policy or a project.json that contains one.
pub(super) fn build(settings: &Settings) -> Result<Arc<dyn Strategy>, SettingsError> {
    let profile = profile_of(settings, MiraProfile::Described03);
    let project = settings.config.as_ref().map(read_config).transpose()?;
    let policy = project.as_ref().and_then(|project| project["automation_policy"].as_object());
    let mut policy = policy.cloned().unwrap_or_default();
    let inline = settings.set.iter().filter(|(key, _)| POLICY_KEYS.contains(&key.as_str()));
    policy.extend(inline.map(|(key, value)| (key.clone(), value.clone())));
    let policy = AutomationPolicy::parse(&Value::Object(policy), MiraRules::from_profile(profile).strict_switch)
        .map_err(|Raised(exception)| {
            let at = settings.config.clone().unwrap_or_default();
            at.error_at("goals", format!("MIRA fails on this policy with {exception}"), "give goals a smaller `value`")
        })?;
    let rules = switches(settings, MiraRules::from_profile(profile))?;
    let records_policy = settings.word(&param::POLICY, &["sent", "recorded"])? == "recorded";
    let agent_profile = agent_profile(settings)?;
    let is_auto = settings.word(&param::MODE, &["auto", "manual"])? == "auto";
    let project = ProjectFolder { settings: project, ..ProjectFolder::default() };
    let mut message = MessageLoop::new(rules, policy, is_auto, project);
    message.agent_profile = agent_profile;
    message.guards_export = settings.word(&param::CHANNEL, &["cli", "ui"])? == "ui";
    message.plan_may_be_unrecorded = true;
    Ok(Arc::new(Mira {
        name: settings.name.clone(),
        profile,
        message,
        records_policy,
        prompts_restart: settings.word(&param::PROMPTS, &["follow_up", "message"])? == "message",
        round: RoundUnit::from_settings(settings, &param::ROUND)?,
    }))
}

/// The file as a project.json; a bare policy is moved to where a project has it.
fn read_config(config: &ConfigText) -> Result<Value, SettingsError> {
    let value =
        if let Some(value) = python::loads(&config.text, Strictness::Strict) { value } else { config.json()? };
    if value.is_null() {
        return Ok(json!({}));
    }
    let Some(object) = python::dict(&value) else {
        return Err(config.error("neither an automation policy nor a project.json", "both are JSON objects"));
    };
    let has = |keys: &[&str]| object.is_empty() || keys.iter().any(|key| object.contains_key(*key));
    if has(PROJECT_KEYS) {
        return Ok(value);
    }
    if has(POLICY_KEYS) {
        return Ok(json!({"automation_policy": value}));
    }
    let key = object.keys().next().map(String::as_str).unwrap_or_default();
    let near = crate::diagnostic::nearest(key, POLICY_KEYS.iter().chain(PROJECT_KEYS).copied());
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let help = format!("{near}a policy has {}", POLICY_KEYS.join(", "));
    Err(config.error_at(&format!("\"{key}\""), "nothing here that MIRA reads", help))
}

fn agent_profile(settings: &Settings) -> Result<Option<AgentProfile>, SettingsError> {
    let read = |value: &Value| {
        let help = "`agent_profile` is \"default\", \"research\", \"engineer\" or \"team\"";
        AgentProfile::from_value(value).ok_or_else(|| SettingsError::value(&param::AGENT_PROFILE, value, help))
    };
    settings.get(param::AGENT_PROFILE.name).map(read).transpose()
}

/// The profile's switches, overridden by those set in the stack file.
fn switches(settings: &Settings, mut rules: MiraRules) -> Result<MiraRules, SettingsError> {
    rules.order = settings.word(&param::ORDER, &Order::ALL.map(Order::name))?.parse().unwrap_or(rules.order);
    rules.metrics =
        settings.word(&param::METRICS, &MetricsScope::ALL.map(MetricsScope::name))?.parse().unwrap_or(rules.metrics);
    rules.tokens =
        settings.word(&param::TOKEN_SCOPE, &TokenScope::ALL.map(TokenScope::name))?.parse().unwrap_or(rules.tokens);
    if let Some(value) = settings.get(param::AUTO_MAX_ROUNDS.name) {
        let help = "a number from 1, in the profile `published-0.5.0`: before 0.3.3 the cap is fixed";
        let is_fixed = rules.guardrail != Guardrail::Severe;
        let refused = || SettingsError::value(&param::AUTO_MAX_ROUNDS, value, help);
        rules.max_rounds = positive(value).filter(|_| !is_fixed).ok_or_else(refused)?;
    }
    Ok(rules)
}

impl Strategy for Mira {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> &'static str {
        self.profile.name()
    }

    fn rules(&self) -> Vec<RuleName> {
        let MessageLoop { rules, policy, is_auto, .. } = &self.message;
        let mut order: Vec<usize> = match rules.order {
            Order::Code => (0..RULES.len()).collect(),
            Order::Documented => vec![3, 4, 5, 6, 7, 8, 0, 1, 2, 9],
        };
        // A recorded policy may have any rule.
        let any = self.records_policy;
        let policy = policy.as_ref();
        let strict = any || !rules.strict_switch || policy.is_none_or(|policy| policy.strict);
        let has_limit = |limit: fn(&AutomationPolicy) -> bool| any || policy.is_some_and(limit);
        order.retain(|rule| match rule {
            0 => has_limit(|policy| !policy.goals.is_empty()),
            1 => has_limit(|policy| policy.max_experiments.is_some()),
            2 => has_limit(|policy| policy.max_tokens.is_some()),
            3 => rules.approval,
            4 => match rules.provider {
                ProviderCheck::Never => false,
                ProviderCheck::First => true,
                ProviderCheck::Heuristic => strict,
            },
            7 | 8 => strict,
            _ => true,
        });
        if !is_auto {
            return vec![MANUAL];
        }
        order.into_iter().map(|rule| RuleName::fixed(RULES[rule])).collect()
    }

    fn requirements(&self) -> Vec<Requirement> {
        let mut requirements = Vec::new();
        for rule in self.rules() {
            let need = match rule.as_str() {
                "mira.goals" | "mira.max_experiments" => Need::Metrics,
                "mira.max_tokens" => Need::Usage,
                "mira.plan_approval" | "mira.guardrail" | "mira.queue_exhausted" => Need::Plan,
                _ => continue,
            };
            requirements.push(Requirement { rule, need });
        }
        requirements
    }

    fn start(self: Arc<Self>, _: &Header) -> Box<dyn Watch> {
        Box::new(AutoRun {
            clock: RoundClock::new(self.round),
            message: self.message.clone(),
            mira: self,
            tokens: 0,
            next_policy: Value::Null,
            asks_new_session: false,
            progress: Vec::new(),
        })
    }
}

/// The auto mode running on one recording, whose own prompts stand for the loop's follow-ups.
struct AutoRun {
    mira: Arc<Mira>,
    message: MessageLoop,
    clock: RoundClock,
    /// Tokens of the current round.
    tokens: i128,
    /// The policy that comes with the next message; null if none does.
    next_policy: Value,
    /// A new session was asked for, and the answer to that has not come.
    asks_new_session: bool,
    /// What the loop printed at the last point shown.
    progress: Vec<String>,
}

impl Watch for AutoRun {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        self.progress.clear();
        for event in view.news() {
            match event {
                Event::Message(message) => {
                    if let Err(raised) = self.hear(message) {
                        trail.push(exception(view, &raised));
                    }
                }
                Event::Metrics(metrics) => self.note(metrics),
                Event::Note(note) if self.mira.records_policy && note.kind == POLICY_NOTE => {
                    self.next_policy = python::loads(note.body.get(), Strictness::Strict).unwrap_or(Value::Null);
                }
                Event::Judge(_) | Event::Checkpoint(_) | Event::Note(_) => {}
            }
        }
        if !self.clock.ends(view) {
            return;
        }
        let text = view.reply().map(Message::text).unwrap_or_default();
        let tokens = std::mem::take(&mut self.tokens);
        if std::mem::take(&mut self.asks_new_session) && python::strip(&text) == NEW_SESSION {
            return;
        }
        // The original's agent loop strips the final text before the auto mode sees it.
        match self.message.after_run(python::strip(&text), tokens) {
            Ok(turn) => {
                trail.extend(decision(view, &turn.next));
                self.progress = turn.progress;
            }
            Err(raised) => trail.push(exception(view, &raised)),
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let MessageLoop { rules, policy, auto_round, tokens, tokens_before, .. } = &self.message;
        let limit = match policy {
            Some(AutomationPolicy { max_tokens: Some(limit), .. }) => Some(limit.value() as f64),
            _ => None,
        };
        let (message, session) = (*tokens as f64, (*tokens_before + *tokens) as f64);
        let counts_session = rules.tokens == TokenScope::Session;
        let numbers = [
            Self::reading(RULES[2], "message tokens", message, limit.filter(|_| !counts_session)),
            Self::reading(RULES[2], "session tokens", session, limit.filter(|_| counts_session)),
            Self::reading(RULES[6], "follow-ups", f64::from(*auto_round), Some(f64::from(rules.max_rounds))),
        ];
        let said = self.progress.iter().map(|words| RuleReading::new(GUARD, "mira", None).saying(words));
        numbers.into_iter().chain(said).collect()
    }
}

impl AutoRun {
    /// A number, with its limit if the policy has one.
    fn reading(rule: &'static str, what: &'static str, observed: f64, limit: Option<f64>) -> RuleReading {
        let reading = RuleReading::new(RuleName::fixed(rule), what, Some(observed));
        match limit {
            Some(limit) => reading.against(limit, observed >= limit),
            None => reading,
        }
    }

    fn hear(&mut self, message: &Message) -> Result<(), Raised> {
        if message.lane != Lane::Counterpart
            && let Some(Tokens(tokens)) = message.total_tokens()
        {
            self.tokens += i128::from(tokens);
        }
        if message.role != Role::User || message.lane != Lane::Main {
            return Ok(());
        }
        // An invalid policy clears the session's.
        let policy = self.next_policy.take();
        if !policy.is_null() {
            self.message.policy = AutomationPolicy::parse(&policy, self.message.rules.strict_switch)?;
        }
        if python::lower(python::strip(&message.text())) == "/new" {
            self.message.reset_session();
            if self.mira.records_policy {
                self.message.policy = None;
            }
            self.asks_new_session = true;
        } else if self.mira.prompts_restart {
            self.message.restart();
        }
        Ok(())
    }

    /// Stores a recorded plan or experiment where the project has it.
    fn note(&mut self, metrics: &Metrics) {
        let project = &mut self.message.project;
        if let Some(plan) = &metrics.plan {
            project.plan = PlanFile::read(plan.get());
            return;
        }
        let mut plan = project.plan().cloned().unwrap_or_default();
        let experiments = plan.entry("experiments").or_insert_with(|| json!([]));
        let values: Map<String, Value> =
            metrics.values.iter().map(|(name, value)| (name.to_string(), super::policy::float_json(*value))).collect();
        let id = metrics.experiment.as_deref().unwrap_or("Exp001");
        let status = metrics.status.as_deref().unwrap_or("completed");
        // A record without a plan has no conclusion to check, so the record itself stands in for one.
        let record = json!({"id": id, "status": status, "results": {"metrics": values}, "conclusion": "recorded"});
        if let Some(experiments) = experiments.as_array_mut() {
            match experiments.iter_mut().find(|known| same_experiment(&known["id"], id)) {
                Some(known) => *known = record,
                None => experiments.push(record),
            }
        }
        project.plan = PlanFile::Parsed(Value::Object(plan));
    }
}

/// Whether `known` is the experiment `id`; the guardrail may have normalised its id since.
fn same_experiment(known: &Value, id: &str) -> bool {
    let Some(known) = known.as_str() else { return false };
    let number = experiment_number(known);
    known == id || (number.is_some() && number == experiment_number(id))
}

fn exception(view: &PointView<'_>, raised: &Raised) -> Decision {
    Decision::at(view, Action::Fail, EXCEPTION, Evidence::NONE).detail(raised.to_string())
}

/// The decision on the recording that corresponds to the loop's answer.
fn decision(view: &PointView<'_>, next: &AfterRun) -> Option<Decision> {
    match next {
        AfterRun::Run(RunKind::Continue) => None,
        AfterRun::Run(kind) => {
            let rule = RuleName::fixed(RULES[5]);
            Some(Decision::at(view, Action::Observe, rule, Evidence::NONE).code(kind.name()))
        }
        AfterRun::Stop(None) => Some(Decision::at(view, Action::Stop, MANUAL, Evidence::NONE)),
        AfterRun::Stop(Some(reason)) => Some(stop(view, reason)),
    }
}

fn stop(view: &PointView<'_>, reason: &AutoStopReason) -> Decision {
    let words = format!("{}{reason}", reason.prefix());
    let detail = if let Some(phrase) = reason.phrase() { format!("{words} (`{phrase}`)") } else { words };
    Decision::at(view, Action::Stop, reason.rule(), reason.evidence()).code(reason.to_string()).detail(detail)
}
