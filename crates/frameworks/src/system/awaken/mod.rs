//! awaken: an ordered list of stop policies, checked after every model reply and before its tools run.

mod counters;
mod hooks;
mod policy;
mod spec;
mod traps;

use std::borrow::Cow;
use std::sync::Arc;

pub use counters::{Boundary, Counters, RunStatistics};
pub use hooks::Hooks;
pub use policy::{PolicyStop, StopPolicy};
pub use spec::{AgentStops, StopConditionSpec};

use super::profile_of;
use crate::decision::{Action, Decision, FirstFiring, Requirement, RuleName, RuleReading, Strategy, Watch};
use crate::diagnostic::Location;
use crate::framework::{Build, FrameworkCode, Settings, SettingsError, params};
use crate::transcript::{Event, Header, Instant, Message, Millis, Moment, PointView, named};

params! {
    MAX_ROUNDS: "max_rounds" = 16, off 0, "model replies of the agent's own round guard; goes before the configuration's";
    SHARED_COUNTERS: "shared_counters" = false, off false,
        "the guard is a second hook on the counters of the stop conditions: each step counts twice";
}

/// What of the system is code.
pub(super) const CODE: FrameworkCode = FrameworkCode {
    parameters: param::ALL,
    traps: traps::traps,
    build: Build::Strategy(|settings| Ok(Arc::new(AwakenStrategy::build(settings)?))),
};

named! {
    /// Which source this profile follows: the documentation or the released code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AwakenProfile {
        /// The documentation page on stop policies, taken literally.
        Documented = "documented",
        /// The released package awaken-runtime 0.6.0.
        Published06 = "published-0.6",
    }
}

/// awaken as a strategy over recorded runs.
#[derive(Debug)]
pub struct AwakenStrategy {
    name: String,
    profile: AwakenProfile,
    hooks: Hooks,
    /// Whether any policy searches texts; if not, they need not be decoded.
    reads_text: bool,
}

impl AwakenStrategy {
    /// Builds the strategy from a list of stop conditions, or from an agent's configuration that contains one.
    pub fn build(settings: &Settings) -> Result<Self, SettingsError> {
        let profile = profile_of(settings, AwakenProfile::Published06);
        let mut stops = match &settings.config {
            None => AgentStops::default(),
            Some(config) => AgentStops::read(&config.text).map_err(|error| {
                let help = "awaken reads a JSON list such as [{\"type\":\"max_rounds\",\"rounds\":10}]";
                config.json_error(&error, "awaken refuses it", help)
            })?,
        };
        if let Some(value) = settings.get(param::MAX_ROUNDS.name) {
            let Some(Ok(rounds)) = value.as_u64().map(usize::try_from) else {
                let help = "a number of model replies; 0 switches the guard off";
                return Err(SettingsError::value(&param::MAX_ROUNDS, value, help));
            };
            stops.max_rounds = rounds;
        }
        let shared = settings.flag(&param::SHARED_COUNTERS)?;
        if shared && profile == AwakenProfile::Documented {
            let what = "StateError::KeyAlreadyRegistered: StopConditionPlugin and MaxRoundsPlugin are both registered";
            let help = "the page: choose one of the two (drop `shared_counters`); 0.6.0 takes both, in `published-0.6`";
            return Err(SettingsError::new(Location::default(), what, help));
        }
        Ok(Self::new(settings.name.clone(), profile, stops, shared))
    }

    /// An agent that stops by `stops`. With `shared_counters`, its guard is a second hook on the same counters as the
    /// first, so that every step counts twice.
    pub fn new(name: String, profile: AwakenProfile, stops: AgentStops, shared_counters: bool) -> Self {
        let guard = StopPolicy::new(StopConditionSpec::MaxRounds { rounds: stops.max_rounds });
        let conditions = stops.conditions.into_iter().map(StopPolicy::new);
        let hooks = if shared_counters {
            Hooks::new(profile, conditions.collect(), Some(guard))
        } else {
            Hooks::new(profile, std::iter::once(guard).chain(conditions).collect(), None)
        };
        let reads_text = hooks.policies().any(StopPolicy::reads_text);
        Self { name, profile, hooks, reads_text }
    }

    fn rule(&self, index: usize) -> RuleName {
        RuleName::new(self.hooks.policies().nth(index).map(|policy| policy.rule(self.profile)).unwrap_or_default())
    }

    /// The result of the model call at an after-response point.
    fn boundary<'r>(&self, reply: &'r Message) -> Boundary<'r> {
        if reply.finish_reason() == Some("error") {
            return Boundary::Failed;
        }
        let usage = reply.usage().unwrap_or_default();
        Boundary::Reply {
            text: if self.reads_text { reply.text() } else { Cow::Borrowed("") },
            print: if reply.has_text() { Some(reply.content_print()) } else { None },
            tools: reply.tool_calls.iter().map(|call| Cow::Borrowed(&*call.name)).collect(),
            input: usage.input.unwrap_or(0),
            output: usage.output.unwrap_or(0),
        }
    }
}

impl Strategy for AwakenStrategy {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> &'static str {
        self.profile.name()
    }

    fn rules(&self) -> Vec<RuleName> {
        self.hooks.policies().map(|policy| RuleName::new(policy.rule(self.profile))).collect()
    }

    fn requirements(&self) -> Vec<Requirement> {
        self.hooks
            .policies()
            .flat_map(|policy| {
                let rule = RuleName::new(policy.rule(self.profile));
                policy.needs().iter().map(move |need| Requirement { rule: rule.clone(), need: *need })
            })
            .collect()
    }

    fn may_leave_path(&self) -> bool {
        false
    }

    fn start(self: Arc<Self>, _header: &Header) -> Box<dyn Watch> {
        let first_firings = vec![None; self.hooks.policies().count()];
        Box::new(AwakenWatch {
            system: self,
            counters: Counters::default(),
            is_over: true,
            started_at: None,
            last: (None, false),
            first_firings,
        })
    }
}

/// The rule name under which the statistics shared by all policies are listed.
const STATISTICS: RuleName = RuleName::fixed("statistics");

struct AwakenWatch {
    system: Arc<AwakenStrategy>,
    counters: Counters,
    /// Whether the next request begins an agent run: each message of the user has its own, with its own counters.
    is_over: bool,
    /// When the policies' clock started: with the agent run, or, as documented, at its first reply.
    started_at: Option<Instant>,
    /// Milliseconds into the run at the last reply, and whether that call failed.
    last: (Option<u64>, bool),
    first_firings: Vec<FirstFiring>,
}

impl Watch for AwakenWatch {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        match view.moment() {
            Moment::BeforeRequest if self.is_over => return self.begin(view),
            Moment::EndOfRound => return self.is_over = true,
            Moment::BeforeRequest | Moment::AfterTools => return,
            Moment::AfterResponse => {}
        }
        let Some(reply) = view.reply() else { return };
        self.started_at = self.started_at.or(reply.ts);
        let boundary = self.system.boundary(reply);
        let elapsed_ms = self.started_at.zip(view.now()).map(|(start, now)| {
            let Millis(elapsed) = now.since(start);
            u64::try_from(elapsed).unwrap_or(0)
        });
        self.last = (elapsed_ms, matches!(boundary, Boundary::Failed));
        let said = self.system.hooks.each(&mut self.counters, &boundary, elapsed_ms);
        for (first, stop) in self.first_firings.iter_mut().zip(&said) {
            *first = first.or(stop.as_ref().map(|stop| (view.point(), stop.evidence)));
        }
        let Some((index, stop)) = self.system.hooks.verdict(said) else { return };
        let decision = Decision::at(view, Action::Stop, self.system.rule(index), stop.evidence)
            .code(format!("stopped:{}", stop.code));
        // The published loop returns before it appends the reply, so a final answer is lost.
        let loses_answer = self.system.profile == AwakenProfile::Published06 && view.ends_round();
        trail.push(if loses_answer {
            decision
                .detail(format!("{} (this reply was the final answer; it is dropped)", stop.detail))
                .dropping_reply()
        } else {
            decision.detail(stop.detail)
        });
    }

    /// awaken's statistics for the step: each under the policy that uses it, then those that no policy uses.
    fn readings(&self) -> Vec<RuleReading> {
        let (elapsed_ms, failed) = self.last;
        let boundary = if failed { Boundary::Failed } else { Boundary::Nothing };
        let seen = self.counters.snapshot(&boundary, elapsed_ms);
        let profile = self.system.profile;
        let held = self.system.hooks.policies().filter_map(|policy| {
            let (what, observed, limit) = policy.reading(&seen)?;
            let passes = policy.evaluate(profile, &seen).is_some();
            Some(RuleReading::new(RuleName::new(policy.rule(profile)), what, observed).against(limit, passes))
        });
        let statistics = [
            ("step_count", Some(f64::from(seen.counters.step_count))),
            ("total_input_tokens", Some(seen.counters.input as f64)),
            ("total_output_tokens", Some(seen.counters.output as f64)),
            ("elapsed_ms", elapsed_ms.map(|ms| ms as f64)),
            ("consecutive_errors", Some(f64::from(seen.errors))),
        ];
        let statistics = statistics.into_iter().map(|(what, observed)| RuleReading::new(STATISTICS, what, observed));
        held.chain(statistics).collect()
    }

    fn first_firings(&self) -> Option<&[FirstFiring]> {
        Some(&self.first_firings)
    }
}

impl AwakenWatch {
    /// Begins an agent run.
    fn begin(&mut self, view: &PointView<'_>) {
        let is_first = view.replies().next().is_none();
        let told = if is_first { view.started_at() } else { view.news().iter().find_map(Event::ts) };
        self.started_at = told.filter(|_| self.system.profile == AwakenProfile::Published06);
        self.counters = Counters::default();
        self.is_over = false;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::framework::ConfigText;
    use crate::transcript::{Draft, Role, Run, ToolCall, Usage};

    fn reply(text: &str, tool: Option<&str>) -> Event {
        let mut message = Message::saying(Role::Assistant, text);
        message.tool_calls.extend(tool.map(|tool| ToolCall::new(None, tool, "{}")));
        message.set_usage(Some(Usage::new(100, 10)));
        Event::Message(message)
    }

    /// Six tool steps and a final answer.
    fn run() -> Run {
        let mut events: Vec<Event> = (0..6).map(|step| reply(&format!("step {step}"), Some("ls"))).collect();
        events.push(reply("all DONE", None));
        Run::new(Draft { events, ..Draft::default() })
    }

    fn check(config: &str, profile: &str, set: &Value, expected: &str) {
        let settings = Settings {
            profile: Some(profile.to_owned()),
            config: Some(ConfigText { path: "stops.json".to_owned(), text: config.to_owned() }),
            set: set.as_object().cloned().unwrap_or_default(),
            ..Settings::named("t")
        };
        let system = Arc::new(AwakenStrategy::build(&settings).unwrap());
        let run = run();
        let mut watch = system.start(&run.header);
        let mut trail = Vec::new();
        for view in run.views() {
            watch.at(&view, &mut trail);
            if !trail.is_empty() {
                break;
            }
        }
        let said = trail.first().map_or("ran to the end".to_owned(), |d| {
            let lost = if d.drops_reply { " (reply lost)" } else { "" };
            format!("{} {}{lost}", d.point, d.code.as_deref().unwrap_or_default())
        });
        assert_eq!(said, expected, "{config} {profile}");
    }

    #[test]
    fn policies_stop_before_the_tools_of_the_reply() {
        let rounds = r#"[{"type":"max_rounds","rounds":3}]"#;
        check(rounds, "published-0.6", &json!({}), "2:after_response stopped:max_rounds");
        check(rounds, "documented", &json!({}), "3:after_response stopped:max_rounds");
        check(rounds, "published-0.6", &json!({"shared_counters": true}), "1:after_response stopped:max_rounds");
        check("[]", "published-0.6", &json!({}), "ran to the end");
        check("[]", "published-0.6", &json!({"max_rounds": 2}), "1:after_response stopped:max_rounds");
        let tokens = r#"[{"type":"token_budget","max_total":330}]"#;
        check(tokens, "published-0.6", &json!({}), "3:after_response stopped:token_budget");
    }

    #[test]
    fn a_stop_on_the_final_answer_loses_it() {
        let done = r#"[{"type":"content_match","pattern":"DONE$"}]"#;
        check(done, "published-0.6", &json!({}), "6:after_response stopped:content_match (reply lost)");
        check(done, "documented", &json!({}), "6:after_response stopped:content_match");
    }

    #[test]
    fn first_firings_are_where_each_rule_alone_would_stop() {
        let config = r#"[{"type":"token_budget","max_total":330},{"type":"max_rounds","rounds":2}]"#;
        let settings = Settings {
            config: Some(ConfigText { path: String::new(), text: config.to_owned() }),
            ..Settings::named("t")
        };
        let firings =
            crate::replay::replay(&run(), &Arc::new(AwakenStrategy::build(&settings).unwrap())).first_firings.unwrap();
        let points: Vec<_> = firings.iter().map(|first| first.map(|(point, _)| point.step)).collect();
        assert_eq!(points, [None, Some(3), Some(1)]);
    }
}
