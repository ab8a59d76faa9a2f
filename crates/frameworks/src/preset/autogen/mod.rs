//! AutoGen AgentChat: termination conditions, single or combined, and the turns of a team.

#[doc(hidden)]
pub mod condition;
#[doc(hidden)]
pub mod message;

use serde_json::Value;

use super::frame::{Action, Acts, Machine, Recipe, RuleReading, Settings, SettingsError, reading};
use crate::decision::Need;
use crate::framework::{Build, Framework, params};
use crate::host::{Host, Place, Slot, Syntax};
use crate::transcript::{Event, Instant, Moment, PointView, Role};

use condition::{Condition, Stopped};
use message::{Message, Turn};

#[doc(hidden)]
pub const CONDITION: &str = "termination_condition";
const MAX_TURNS: &str = "max_turns";

params! {
    CONDITION: "condition" = null, off null,
        "a table with `type` and the arguments of that condition, or { or = [..] }, { and = [..] }";
    MAX_TURNS: "max_turns" = null, off null, "agent responses of a team; at least 1";
    STARTED_AT: "started_at" = null,
        "when the conditions were made, for TimeoutTermination; by default when the run began";
}

const MANUAL: &str = "\
## Rules
`termination_condition`: called once for each delta (new messages only), keeps state. In a team a delta is the task, then \
each turn: thought (text beside calls), tool request, tool execution, one summary message.
- MaxMessageTermination: chat messages so far (user and empty ones too; tool events, thoughts and chunks only with include_agent_event).
- TextMentionTermination: case-sensitive substring in **every** message: the task, requests and results too, those in \
their printed list form (names, arguments and field names match; quotes and newlines are escaped).
- TokenUsageTermination: sums of usage; any given limit. TimeoutTermination: seconds since the condition was made.
- SourceMatchTermination: any message or event of a source. TextMessageTermination: a plain text message.
- FunctionCallTermination: a result of exactly that tool, failed or not; the request alone does not count.
- HandoffTermination: a hand-off message with that target. StopMessageTermination. ExternalTermination. \
FunctionalTermination: must return True itself.
- or: every part is called, any fires. and: **latched**; a part that has fired is not called again.
`max_turns` (team): agent responses, asked after the condition.
## Comparator
`>=` for counts, tokens, seconds and turns.
## Window
Whole run; texts are not matched across messages.
## Reset
`reset` clears counts and latches; a team resets when it stops.
## Off value
None but leaving the condition out; `sources` [] matches nobody and is not off; max_turns null is off, below 1 is refused.
## Traps
- There is no default: without a condition and max_turns nothing stops a team.
- A limit of 0 or below does not stop but **raises** (a team stops before the task is read). Called again after firing, a \
condition raises TerminatedException, an `or` RuntimeError.
- A delta of several messages jumps over a limit. Text in the task itself fires TextMention.
- `sources` of TextMention is lost when a condition is saved to a configuration and loaded again.
";

const HOST: Host = Host::new(
    "where the team is made",
    Syntax::Python,
    r"from autogen_agentchat.conditions import TextMentionTermination, TimeoutTermination, TokenUsageTermination

termination_condition = <<*condition.or* | >>
max_turns = <<max_turns>>
# RoundRobinGroupChat([agent], termination_condition=termination_condition, max_turns=max_turns)
",
    &[
        Slot::new("steps", Moment::AfterTools, Place::Is("max_turns")).session(),
        Slot::new(
            "tokens.total",
            Moment::AfterTools,
            Place::Item(
                "condition.or",
                r#"{"type": "TokenUsageTermination", "max_total_token": $}"#,
                "TokenUsageTermination(max_total_token=$)",
            ),
        )
        .session(),
        Slot::new(
            "tokens.input",
            Moment::AfterTools,
            Place::Item(
                "condition.or",
                r#"{"type": "TokenUsageTermination", "max_prompt_token": $}"#,
                "TokenUsageTermination(max_prompt_token=$)",
            ),
        )
        .session(),
        Slot::new(
            "tokens.output",
            Moment::AfterTools,
            Place::Item(
                "condition.or",
                r#"{"type": "TokenUsageTermination", "max_completion_token": $}"#,
                "TokenUsageTermination(max_completion_token=$)",
            ),
        )
        .session(),
    ],
)
.cannot(&[
    ("cost", "no condition counts money: write a FunctionalTermination"),
    ("call", "no condition counts repetitions: write a FunctionalTermination"),
    ("messages", "MaxMessageTermination counts chat messages of the team, a summary for each tool turn"),
    ("elapsed", "TimeoutTermination counts from when the condition was made"),
    ("", "no condition of its counts this: write a FunctionalTermination"),
])
.note("the limit is looked at after an agent's turn; a team forgets its counts once it has stopped");

pub(super) fn framework() -> Framework {
    Framework {
        id: "autogen",
        version: "autogen-agentchat 0.7.5",
        source: "autogen_agentchat/conditions/_terminations.py, base/_termination.py, teams/_group_chat",
        summary: "conditions composed by the user; no default",
        manual: MANUAL,
        parameters: param::ALL,
        rules: &[
            "MaxMessageTermination",
            "TextMentionTermination",
            "TokenUsageTermination",
            "TimeoutTermination",
            "StopMessageTermination",
            "HandoffTermination",
            "SourceMatchTermination",
            "TextMessageTermination",
            "FunctionCallTermination",
            "ExternalTermination",
            "FunctionalTermination",
            "composition",
            "team",
        ],
        host: HOST,
        build: Build::Machine(composed),
        ..Framework::PRESET
    }
}

/// The rules of a team.
#[doc(hidden)]
pub fn composed(settings: &Settings) -> Result<Recipe, SettingsError> {
    let max_turns = settings.opt_int(&param::MAX_TURNS)?;
    if max_turns.is_some_and(|max| max <= 0) {
        return Err(SettingsError::refused("ValueError", "The maximum number of turns must be greater than 0."));
    }
    let condition = match settings.get(param::CONDITION.name) {
        None | Some(Value::Null) => None,
        Some(value) => Some(Condition::read(value)?),
    };
    let needs = condition.as_ref().map(Condition::needs).unwrap_or_default();
    let started_at = started_at(settings)?;
    let mut rules = Vec::new();
    rules.extend(condition.is_some().then_some(CONDITION));
    rules.extend(max_turns.is_some().then_some(MAX_TURNS));
    let recipe = Recipe::new(Team::new(condition, max_turns, started_at), &rules).keeps_own_state();
    Ok(needs.into_iter().fold(recipe, |recipe: Recipe, need: Need| recipe.needs(CONDITION, need)))
}

/// When the team started, if the settings say so.
#[doc(hidden)]
pub fn started_at(settings: &Settings) -> Result<Option<Instant>, SettingsError> {
    let started_at = settings.text(&param::STARTED_AT)?.and_then(|text| text.parse::<jiff::Timestamp>().ok());
    Ok(started_at.map(|at| Instant(at.as_millisecond())))
}

/// Reports the result of calling a condition as an act.
#[doc(hidden)]
pub fn report(stopped: Stopped, code: Option<&'static str>, at: Option<usize>, acts: &mut Acts<'_, '_>) {
    let (action, own_code, detail, evidence) = match stopped {
        Stopped::Fired(words) => (Action::Stop, words.source, words.content, words.evidence),
        Stopped::Raised { class, words } => (Action::Fail, class.to_owned(), words.to_owned(), None),
    };
    let act = acts.act(action, CONDITION).detail(detail);
    match code {
        Some(code) => act.code(code),
        None => act.code(own_code),
    };
    if let Some((observed, limit)) = evidence {
        act.evidence(observed, limit);
    }
    if let Some(at) = at {
        act.about_event(at);
    }
}

/// A team of agents that take turns.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Team {
    condition: Option<Condition>,
    max_turns: Option<i64>,
    turns: i64,
    started: bool,
    task: Vec<Message>,
    turn: Turn,
    /// Type names of all messages, in order.
    pub messages: Vec<String>,
    over: bool,
}

impl Team {
    fn new(mut condition: Option<Condition>, max_turns: Option<i64>, started_at: Option<Instant>) -> Self {
        if let (Some(condition), Some(at)) = (&mut condition, started_at) {
            condition.start(Some(at));
        }
        Self {
            condition,
            max_turns,
            turns: 0,
            started: started_at.is_some(),
            task: Vec::new(),
            turn: Turn::default(),
            messages: Vec::new(),
            over: false,
        }
    }

    fn start(&mut self, acts: &mut Acts<'_, '_>) {
        if self.condition.as_ref().is_some_and(Condition::is_terminated) {
            let words = "The group chat has already terminated.";
            acts.act(Action::Stop, CONDITION).code("GroupChatTermination").detail(words);
            self.over = true;
            return;
        }
        let task = std::mem::take(&mut self.task);
        self.take(&task, acts);
    }

    fn take(&mut self, delta: &[Message], acts: &mut Acts<'_, '_>) {
        self.messages.extend(delta.iter().map(|message| message.kind().to_owned()));
        if let Some(stopped) = self.condition.as_mut().and_then(|condition| condition.call(delta)) {
            report(stopped, Some("GroupChatTermination"), None, acts);
            self.over = true;
        }
    }

    fn after_turn(&mut self, acts: &mut Acts<'_, '_>) {
        let delta = std::mem::take(&mut self.turn).into_delta();
        if delta.is_empty() {
            return;
        }
        self.take(&delta, acts);
        self.turns += 1;
        if let Some(max) = self.max_turns.filter(|max| !self.over && self.turns >= *max) {
            let words = format!("Maximum number of turns {max} reached.");
            let act = acts.act(Action::Stop, MAX_TURNS).code("GroupChatTermination").detail(words);
            act.evidence(self.turns as f64, max as f64);
            self.over = true;
        }
    }
}

impl Machine for Team {
    fn event(&mut self, event: &Event, _acts: &mut Acts<'_, '_>) {
        let is_idle = self.over || (self.condition.is_none() && self.max_turns.is_none());
        let Some(message) = event.message().filter(|_| !is_idle) else { return };
        if let Some(condition) = &mut self.condition {
            if !self.started {
                condition.start(message.ts);
            }
            if message.ts.is_some() {
                condition.tick(message.ts);
            }
        }
        self.started = true;
        if message.role == Role::User {
            self.task.push(Message::of(message));
        } else if message.is_step() || message.is_result() {
            self.turn.push(message);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut Acts<'_, '_>) {
        match view.moment() {
            _ if self.over => {}
            Moment::BeforeRequest if !self.task.is_empty() => self.start(acts),
            Moment::AfterTools => self.after_turn(acts),
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        self.max_turns.iter().map(|max| reading(MAX_TURNS, "turns", self.turns as f64, *max as f64)).collect()
    }
}
