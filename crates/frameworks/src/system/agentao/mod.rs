//! agentao: an iteration cap per chat, checked before each model call, and a handler that is asked when the cap is
//! reached.

mod config;
mod guard;
mod traps;

use std::sync::Arc;

pub use config::{DEFAULT_MAX_ITERATIONS, IterationCap};
pub use guard::{ChatGuard, Tripped, WrittenCall, is_cut, why_unreadable};

use super::profile_of;
use crate::bailout::{AfterCap, AtCap, Bailout, History, HistoryEntry, Reply, RunHistory, Speaker, rough_tokens};
use crate::decision::{Action, Decision, Evidence, Need, Requirement, RuleName, RuleReading, Strategy, Watch};
use crate::framework::{Build, FrameworkCode, Settings, SettingsError, params};
use crate::transcript::{Header, Message, Moment, PointView, named};

params! {
    MAX_ITERATIONS: "max_iterations" = 100, "model calls of one chat",
        trap |n| if n < 1.0 => "`max_iterations` below 1 is not off: the strategy is asked before the first model call";
    STRATEGY: "strategy" = "stop", "who is asked at the cap: a bailout";
    PARAMS: "params" = {}, "the strategy's own parameters: `window` and `threshold` of `smart`";
    SECOND_ARGUMENT: "second_argument" = "last_calls", in "documented" = "history",
        "what the strategy is handed beside the count: history (all messages) or last_calls (the last reply's)";
    READ_ONLY: "read_only" = ["read_file", "glob", "search_file_content"],
        "tools that change nothing: a new call of any other clears the guard against repeated calls";
    APPROACHING_LIMIT: "approaching_limit" = false, off false,
        "the page's warning to the interface: true for 20 model calls before the cap, or another number";
}

/// What of the system is code.
pub(super) const CODE: FrameworkCode = FrameworkCode {
    parameters: param::ALL,
    traps: traps::traps,
    build: Build::Strategy(|settings| Ok(Arc::new(AgentaoStrategy::build(settings)?))),
};

named! {
    /// Which source this profile follows: the documentation or the released code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum AgentaoProfile {
        /// The documentation page on the iteration cap.
        Documented = "documented",
        /// The released package, 0.5.17.
        Published05 = "published-0.5",
    }
}

/// agentao as a strategy over recorded runs.
pub struct AgentaoStrategy {
    name: String,
    profile: AgentaoProfile,
    cap: IterationCap,
    /// Whether the handler is handed the whole history, as documented, beside the count. In the package it is handed the
    /// last reply's calls, which have no roles, so that no stuck check can fire.
    hands_history: bool,
    /// Tools that change nothing. Any other may change something, like a tool in the package that does not say.
    read_only: Vec<String>,
    /// How many model calls before the cap the user interface is warned; `None` for no warning.
    warns_before: Option<i64>,
}

impl AgentaoStrategy {
    /// Builds the strategy from settings.
    pub fn build(settings: &Settings) -> Result<Self, SettingsError> {
        let profile = profile_of(settings, AgentaoProfile::Published05);
        let hands_history = settings.word(&param::SECOND_ARGUMENT, &["history", "last_calls"])? == "history";
        let read_only = settings.texts(&param::READ_ONLY)?;
        let warns_before = match &*settings.in_force(&param::APPROACHING_LIMIT) {
            serde_json::Value::Bool(false) => None,
            serde_json::Value::Bool(true) => Some(WARNS_BEFORE),
            value => {
                let help = "`true`, or a number of model calls";
                let refused = || SettingsError::value(&param::APPROACHING_LIMIT, value, help);
                Some(value.as_i64().filter(|calls| *calls >= 0).ok_or_else(refused)?)
            }
        };
        Ok(Self {
            name: settings.name.clone(),
            profile,
            cap: IterationCap::read(settings)?,
            hands_history,
            read_only,
            warns_before,
        })
    }

    /// The guards that end a chat before its cap.
    fn guards(&self) -> &'static [Tripped] {
        match self.profile {
            AgentaoProfile::Documented => &[],
            AgentaoProfile::Published05 => &Tripped::ALL,
        }
    }

    fn cap_rule(&self) -> RuleName {
        RuleName::new(format!("max_iterations {} ({})", self.cap.max_iterations, self.cap.strategy))
    }
}

/// The rule of the documented warning, which goes to the user interface and not to the model.
const APPROACHING: RuleName = RuleName::fixed("approaching limit");
/// How many model calls before the cap the documented example warns.
const WARNS_BEFORE: i64 = 20;

impl Strategy for AgentaoStrategy {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> &'static str {
        self.profile.name()
    }

    fn rules(&self) -> Vec<RuleName> {
        let warning = self.warns_before.map(|_| APPROACHING);
        std::iter::once(self.cap_rule()).chain(warning).chain(self.guards().iter().map(|guard| guard.rule())).collect()
    }

    fn requirements(&self) -> Vec<Requirement> {
        // An unreadable call neither counts for one guard nor clears the counts of the other.
        let needs = [
            (Tripped::BadArguments, Need::PlainArguments),
            (Tripped::SameCall, Need::PlainArguments),
            (Tripped::CutReplies, Need::FinishReasons),
            (Tripped::SameCall, Need::Calls),
            (Tripped::EmptyName, Need::Calls),
            (Tripped::BadArguments, Need::Calls),
            (Tripped::SameCall, Need::CallArguments),
        ];
        let needs = needs.into_iter().filter(|(guard, _)| self.guards().contains(guard));
        needs.map(|(guard, need)| Requirement { rule: guard.rule(), need }).collect()
    }

    fn start(self: Arc<Self>, header: &Header) -> Box<dyn Watch> {
        Box::new(AgentaoWatch {
            session: header.run_id.clone(),
            handler: (self.cap.handler)(),
            system: self,
            hits: 0,
            chat_over: true,
            turns: 0,
            iteration: 0,
            guard: ChatGuard::default(),
        })
    }
}

struct AgentaoWatch {
    system: Arc<AgentaoStrategy>,
    session: String,
    handler: Box<dyn Bailout>,
    hits: u32,
    /// Whether the next request begins a new chat.
    chat_over: bool,
    /// Model calls begun in all chats: the documented counter is never reset.
    turns: i64,
    /// Model calls of this chat since the cap was last granted.
    iteration: i64,
    guard: ChatGuard,
}

impl Watch for AgentaoWatch {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        self.handler.observe(view);
        match view.moment() {
            Moment::BeforeRequest => self.before_request(view, trail),
            Moment::AfterResponse => self.after_response(view, trail),
            Moment::AfterTools => {}
            Moment::EndOfRound => self.chat_over = true,
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let (iteration, cap) = (self.iteration as f64, self.system.cap.max_iterations as f64);
        let iterations = RuleReading::new(self.system.cap_rule(), "iterations", Some(iteration));
        let guards = self.system.guards().iter().map(|guard| {
            let count = self.guard.count(*guard);
            RuleReading::new(guard.rule(), guard.counts(), Some(f64::from(count)))
                .against(f64::from(guard::LIMIT), count >= guard::LIMIT)
        });
        std::iter::once(iterations.against(cap, iteration >= cap)).chain(guards).collect()
    }
}

impl AgentaoWatch {
    fn before_request(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        if self.chat_over {
            self.chat_over = false;
            self.iteration = 0;
            self.guard = ChatGuard::default();
        }
        if self.iteration >= self.system.cap.max_iterations {
            self.hits = self.hits.saturating_add(1);
            let reply = self.ask(view);
            trail.push(self.decide(view, reply));
            self.iteration = 0;
        }
        self.iteration += 1;
        self.turns += 1;
        let cap = self.system.cap.max_iterations;
        if matches!(self.system.warns_before, Some(before) if self.turns == cap - before) {
            let evidence = Evidence::new(self.turns as f64, cap as f64);
            let warning = Decision::at(view, Action::Observe, APPROACHING, evidence).code("approaching_limit");
            trail.push(warning.detail("Approaching iteration limit..."));
        }
    }

    fn ask(&mut self, view: &PointView<'_>) -> Reply {
        let own_history;
        let last_calls;
        let history: &dyn History = if self.system.hands_history {
            own_history = RunHistory::at(view);
            &own_history
        } else {
            last_calls = view.replies().next_back().map(call_entries).unwrap_or_default();
            &last_calls
        };
        let tokens = rough_tokens(view);
        let cap = self.system.cap.max_iterations;
        self.handler.on_cap(&AtCap { history, hit: self.hits, cap, session: &self.session, tokens })
    }

    fn decide(&self, view: &PointView<'_>, reply: Reply) -> Decision {
        let action = match &reply.verdict {
            AfterCap::Continue => Action::Extend,
            AfterCap::Stop => Action::Stop,
            AfterCap::NewInstruction(_) => Action::Inject,
        };
        let evidence = Evidence::new(self.iteration as f64, self.system.cap.max_iterations as f64);
        let decision = Decision::at(view, action, self.system.cap_rule(), evidence);
        match (reply.verdict, reply.why) {
            (AfterCap::NewInstruction(text), _) => decision.code("new_instruction").detail(text),
            (AfterCap::Continue, _) => decision.code("continue"),
            (AfterCap::Stop, None) => decision.code("max_iterations"),
            (AfterCap::Stop, Some(why)) => decision.code("max_iterations").detail(why),
        }
    }

    fn after_response(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        let Some(reply) = view.reply().filter(|_| self.system.profile == AgentaoProfile::Published05) else { return };
        let arguments: Vec<_> = reply.tool_calls.iter().map(|call| call.arguments.as_str()).collect();
        let calls = reply.tool_calls.iter().zip(&arguments).map(|(call, arguments)| WrittenCall {
            name: &call.name,
            arguments,
            // Text that does not start like an object is a text protocol's command, not broken JSON.
            is_json: arguments.trim_start().starts_with('{'),
            writes: !self.system.read_only.iter().any(|name| **name == *call.name),
        });
        if let Some(tripped) = self.guard.take_in(is_cut(reply.finish_reason()), calls) {
            let decision =
                Decision::at(view, Action::Stop, tripped.rule(), Evidence::new(3.0, 3.0)).code(tripped.reason());
            trail.push(decision.detail(tripped.notice()));
        }
    }
}

/// The package's second argument: names and arguments of the last reply's calls, without a role.
fn call_entries(reply: &Message) -> Vec<HistoryEntry<'_>> {
    let entry =
        |name| HistoryEntry { speaker: Speaker::Other, name: Some(name), has_content: false, mentions_error: false };
    reply.tool_calls.iter().map(|call| entry((&*call.name).into())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::framework::ConfigText;
    use crate::transcript::{Draft, Event, Role, Run, ToolCall};

    /// Steps that call `ls`, with different arguments unless `same`, then an answer.
    fn run(steps: usize, same: bool) -> Run {
        let mut events = Vec::new();
        for step in 0..steps {
            let arguments = if same { "{}".to_owned() } else { format!("{{\"n\":{step}}}") };
            let mut reply = Message::new(Role::Assistant);
            reply.tool_calls.push(ToolCall::new(Some("c"), "ls", arguments));
            let mut result = Message::saying(Role::Tool, "Error: no such file");
            result.name = Some("ls".into());
            events.extend([reply, result].map(Event::Message));
        }
        events.push(Event::Message(Message::saying(Role::Assistant, "done")));
        Run::new(Draft { events, ..Draft::default() })
    }

    fn check(config: &str, profile: &str, run: &Run, expected: &str) {
        let settings = Settings {
            profile: Some(profile.to_owned()),
            config: Some(ConfigText { path: "agentao.toml".to_owned(), text: config.to_owned() }),
            ..Settings::named("t")
        };
        let system = Arc::new(AgentaoStrategy::build(&settings).unwrap());
        let mut watch = system.start(&run.header);
        let mut trail = Vec::new();
        for view in run.views() {
            watch.at(&view, &mut trail);
            if trail.iter().any(|decision| decision.action.is_terminal()) {
                break;
            }
        }
        let said = trail.iter().map(|decision| {
            let detail = decision.detail.as_deref().filter(|_| decision.action == Action::Stop).unwrap_or_default();
            format!("{} {} {detail}", decision.point, decision.code.as_deref().unwrap_or_default()).trim().to_owned()
        });
        assert_eq!(said.collect::<Vec<_>>().join("; "), expected, "{config} {profile}");
    }

    #[test]
    fn the_cap_is_asked_before_the_next_call_and_granted_in_full() {
        check("max_iterations = 3", "documented", &run(5, false), "3:before_request max_iterations");
        check("max_iterations = 3", "documented", &run(2, false), "");
        let granting = "max_iterations = 2\nstrategy = \"conditional_continue\"";
        check(
            granting,
            "documented",
            &run(9, false),
            "2:before_request continue; 4:before_request continue; \
            6:before_request new_instruction; 8:before_request new_instruction",
        );
    }

    #[test]
    fn only_the_documented_handler_sees_the_history() {
        let smart = "max_iterations = 6\nstrategy = \"smart\"";
        check(
            smart,
            "documented",
            &run(13, false),
            "6:before_request new_instruction; 12:before_request max_iterations all_errors",
        );
        check(
            smart,
            "published-0.5",
            &run(13, false),
            "6:before_request new_instruction; 12:before_request max_iterations fallback",
        );
    }

    #[test]
    fn the_cap_and_its_strategy_can_be_set() {
        let set = |set: serde_json::Value| {
            let set = set.as_object().cloned().unwrap_or_default();
            let settings = Settings { profile: Some("documented".to_owned()), set, ..Settings::named("t") };
            let system = Arc::new(AgentaoStrategy::build(&settings).map_err(|error| error.to_string())?);
            let run = run(13, false);
            let (mut watch, mut trail) = (system.start(&run.header), Vec::new());
            run.views().for_each(|view| watch.at(&view, &mut trail));
            let stop = trail.into_iter().find(|decision| decision.action.is_terminal());
            Ok(stop.map(|stop| format!("{} {}", stop.point, stop.detail.unwrap_or_default())))
        };
        let told = |at: &str| Ok::<_, String>(Some(at.to_owned()));
        assert_eq!(set(json!({"max_iterations": 3})), told("3:before_request "));
        let smart = json!({"max_iterations": 6, "strategy": "smart"});
        assert_eq!(set(smart), told("12:before_request all_errors"));
        let params = json!({"window": 4, "threshold": 0.5});
        let tuned = json!({"max_iterations": 4, "strategy": "smart", "params": params});
        assert_eq!(set(tuned), told("8:before_request all_errors"));
        assert!(
            set(json!({"strategy": "smart", "params": {"threshold": 2}})).unwrap_err().contains("a share from 0 to 1")
        );
        assert!(set(json!({"max_iterations": "three"})).is_err());
        assert!(set(json!({"strategy": "smrt"})).unwrap_err().contains("smrt"));
        assert!(set(json!({"params": {"window": 3}})).is_err(), "`stop` has no window");
    }

    #[test]
    fn the_package_stops_at_the_third_identical_call() {
        let stop = "2:after_response doom_loop Tool execution halted by doom-loop detection.";
        check("", "published-0.5", &run(5, true), stop);
        check("", "documented", &run(5, true), "");
    }

    #[test]
    fn a_bad_configuration_says_where_and_what() {
        let refusal = |text: &str| {
            let config = Some(ConfigText { path: "a.toml".to_owned(), text: text.to_owned() });
            AgentaoStrategy::build(&Settings { config, ..Settings::named("t") }).err().map(|error| error.to_string())
        };
        assert_eq!(refusal("max_iteration = 3").unwrap(), "unknown key `max_iteration` (a.toml:1:1)");
        assert_eq!(refusal("strategy = \"smrt\"").unwrap(), "unknown bailout `smrt` (a.toml)");
        assert_eq!(refusal(&json!({"max_iterations": 7}).to_string()), None);
    }
}
