//! AG2: turns of a two-agent chat, automatic replies, termination words, a human, and rounds of a group chat.

use std::collections::VecDeque;

use serde_json::Value;

use super::frame::{Action, ActionSink, Machine, Recipe, Settings, SettingsError, wrong_kind};
use crate::decision::Evidence;
use crate::framework::{Parameter, params};
use crate::python;
use crate::transcript::{Message, Moment, PointView};

const TURNS: &str = "max_turns";
const REPLIES: &str = "max_consecutive_auto_reply";
const WORD: &str = "is_termination_msg";
const HUMAN: &str = "human_input";
const ROUNDS: &str = "group_chat";

params! {
    MAX_TURNS: "max_turns" = null, off null, "turns of a two-agent chat",
        trap |n| if n <= 0.0 => "`max_turns` of 0 or less is not off: not even the task is sent";
    PROXY_MAX_CONSECUTIVE_AUTO_REPLY: "proxy.max_consecutive_auto_reply" = 100, "the proxy's answers",
        trap |n| if n <= 0.0 => "0 or less is not off: the first reply is not answered, its tools do not run";
    PROXY_IS_TERMINATION_MSG: "proxy.is_termination_msg" = null, "the proxy's test of a reply";
    HUMAN_INPUT_MODE: "proxy.human_input_mode" = "NEVER", off "NEVER",
        "NEVER, TERMINATE or ALWAYS: whether a person is asked";
    DEFAULT_AUTO_REPLY: "proxy.default_auto_reply" = "", "the proxy's automatic reply";
    ASSISTANT_MAX_CONSECUTIVE_AUTO_REPLY: "assistant.max_consecutive_auto_reply" = 100, "the assistant's answers";
    ASSISTANT_IS_TERMINATION_MSG: "assistant.is_termination_msg" = null, "the assistant's test";
    MAX_ROUND: "group_chat.max_round" = 10, "messages of a group chat";
    GROUP_CHAT_IS_TERMINATION_MSG: "group_chat.is_termination_msg" = null, "the manager's test";
}

/// A test of a message.
#[derive(Clone, Debug)]
enum TerminationTest {
    Exactly,
    Contains(String),
    Ends(String),
    Never,
    NoCalls,
}

impl TerminationTest {
    fn from_parameter(parameter: &Parameter, settings: &Settings) -> Result<Self, SettingsError> {
        let value = match settings.get(parameter.name) {
            None | Some(Value::Null) => return Ok(Self::Exactly),
            Some(value) => value,
        };
        let wrong = || wrong_kind(parameter.name, "a table with one of contains, ends, never, no_calls", value);
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        if let Some(text) = text("contains") {
            return Ok(Self::Contains(text));
        }
        if let Some(text) = text("ends") {
            return Ok(Self::Ends(text));
        }
        match (value["never"] == true, value["no_calls"] == true) {
            (true, _) => Ok(Self::Never),
            (_, true) => Ok(Self::NoCalls),
            _ => Err(wrong()),
        }
    }

    fn holds(&self, text: &str, has_calls: bool) -> bool {
        match self {
            Self::Exactly => text == "TERMINATE",
            Self::Contains(word) => text.contains(word.as_str()),
            Self::Ends(word) => python::strip(text).ends_with(word.as_str()),
            Self::Never => false,
            Self::NoCalls => !has_calls,
        }
    }
}

/// When a human is asked for input.
#[derive(Clone, Copy, Debug, PartialEq)]
enum HumanInputMode {
    Never,
    Terminate,
    Always,
}

/// Why a chat ends.
struct ChatEndReason {
    rule: &'static str,
    words: String,
    evidence: Evidence,
}

impl ChatEndReason {
    fn stop(self, acts: &mut ActionSink<'_, '_>) {
        acts.act(Action::Stop, self.rule).code(self.rule).detail(self.words).decision.evidence = self.evidence;
    }
}

/// One of the two agents of a chat.
#[derive(Clone, Debug)]
struct Ag2Agent {
    name: &'static str,
    other: &'static str,
    limit: f64,
    word: TerminationTest,
    mode: HumanInputMode,
    answers: f64,
}

impl Ag2Agent {
    /// The agent with the model; it asks no human.
    fn assistant(settings: &Settings) -> Result<Self, SettingsError> {
        let limit = settings.number(&param::ASSISTANT_MAX_CONSECUTIVE_AUTO_REPLY)?;
        let word = TerminationTest::from_parameter(&param::ASSISTANT_IS_TERMINATION_MSG, settings)?;
        Ok(Self { name: "assistant", other: "proxy", limit, word, mode: HumanInputMode::Never, answers: 0.0 })
    }

    /// The agent that runs the tools and sends the user's messages.
    fn proxy(settings: &Settings) -> Result<Self, SettingsError> {
        let parameter = &param::HUMAN_INPUT_MODE;
        let mode = match settings.text(parameter)?.unwrap_or_default() {
            "NEVER" => HumanInputMode::Never,
            "TERMINATE" => HumanInputMode::Terminate,
            "ALWAYS" => HumanInputMode::Always,
            other => return Err(wrong_kind(parameter.name, "NEVER, TERMINATE or ALWAYS", &Value::from(other))),
        };
        let limit = settings.number(&param::PROXY_MAX_CONSECUTIVE_AUTO_REPLY)?;
        let word = TerminationTest::from_parameter(&param::PROXY_IS_TERMINATION_MSG, settings)?;
        Ok(Self { name: "proxy", other: "assistant", limit, word, mode, answers: 0.0 })
    }

    /// Decides before the agent answers a message: why the chat ends instead, if it does.
    fn ends(
        &mut self,
        text: &str,
        has_calls: bool,
        human: &mut VecDeque<String>,
        acts: &mut ActionSink<'_, '_>,
    ) -> Option<ChatEndReason> {
        let is_word = self.word.holds(text, has_calls);
        let at_limit = self.answers >= self.limit;
        let name = self.name;
        let met = || format!("Termination message condition on agent '{name}' met");
        let unanswered = || format!("{} and no human input provided", met());
        let requested = || (HUMAN, "User requested to end the conversation".to_owned());
        let mut ask = |skips: &str| {
            let words = if self.mode == HumanInputMode::Always {
                format!(
                    "Replying as {}. Provide feedback to {}. Press enter to skip and use auto-reply, or type 'exit' to end \
                     the conversation: ",
                    self.name, self.other
                )
            } else {
                format!(
                    "Please give feedback to {}. Press enter {skips}type 'exit' to stop the conversation: ",
                    self.other
                )
            };
            acts.act(Action::Ask, HUMAN).code(HUMAN).detail(words);
            human.pop_front().unwrap_or_default()
        };
        let skips = if is_word { "or " } else { "to skip and use auto-reply, or " };
        let (reply, reason) = match (self.mode, at_limit, is_word) {
            (HumanInputMode::Always, ..) => {
                let reply = ask("");
                match reply.as_str() {
                    "" if is_word => ("exit".to_owned(), (WORD, met())),
                    _ => (reply, requested()),
                }
            }
            (HumanInputMode::Never, true, _) => {
                ("exit".to_owned(), (REPLIES, "Maximum number of consecutive auto-replies reached".to_owned()))
            }
            (HumanInputMode::Never, false, true) => ("exit".to_owned(), (WORD, met())),
            (HumanInputMode::Terminate, true, _) => {
                let reply = ask(skips);
                if reply.is_empty() && is_word {
                    ("exit".to_owned(), (WORD, unanswered()))
                } else {
                    (reply, requested())
                }
            }
            (HumanInputMode::Terminate, false, true) => {
                let reply = ask(skips);
                (if reply.is_empty() { "exit".to_owned() } else { reply }, (WORD, unanswered()))
            }
            (_, false, false) => (String::new(), requested()),
        };
        if reply == "exit" {
            let (rule, words) = reason;
            let evidence = if rule == REPLIES { Evidence::new(self.answers, self.limit) } else { Evidence::NONE };
            self.answers = 0.0;
            return Some(ChatEndReason { rule, words, evidence });
        }
        let answered = !reply.is_empty() || self.limit == 0.0;
        self.answers = if answered { 0.0 } else { self.answers + 1.0 };
        None
    }
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    answered_by(settings, VecDeque::new())
}

/// The rules with a person who gives these answers when asked, one after the other; no answer is the empty one.
#[doc(hidden)]
pub fn answered_by(settings: &Settings, human: VecDeque<String>) -> Result<Recipe, SettingsError> {
    // Only an integer is a limit: 2.0 means no limit.
    let max_turns = match settings.get(param::MAX_TURNS.name) {
        None | Some(Value::Null) => None,
        Some(value @ Value::Bool(flag)) => Some((i64::from(*flag), python::repr(value))),
        Some(value @ Value::Number(number)) => number.as_i64().map(|turns| (turns, python::repr(value))),
        Some(value) => return Err(wrong_kind(param::MAX_TURNS.name, "a whole number", value)),
    };
    let is_group = settings.gives(&[&param::MAX_ROUND, &param::GROUP_CHAT_IS_TERMINATION_MSG]);
    let group = if is_group {
        let max = settings.number(&param::MAX_ROUND)?;
        Some((max, TerminationTest::from_parameter(&param::GROUP_CHAT_IS_TERMINATION_MSG, settings)?))
    } else {
        None
    };
    let mut rules = if is_group { vec![ROUNDS, WORD] } else { vec![REPLIES, WORD] };
    rules.extend(max_turns.as_ref().filter(|_| !is_group).map(|_| TURNS));
    let chat = Ag2Chat {
        max_turns,
        proxy: Ag2Agent::proxy(settings)?,
        assistant: Ag2Agent::assistant(settings)?,
        group,
        human,
        turns: 0,
        messages: 0,
    };
    if chat.proxy.mode != HumanInputMode::Never {
        rules.push(HUMAN);
    }
    Ok(Recipe::new(chat, &rules).blind(&[TURNS, REPLIES, ROUNDS]))
}

#[derive(Clone, Debug)]
struct Ag2Chat {
    /// The limit, and how Python prints it.
    max_turns: Option<(i64, String)>,
    proxy: Ag2Agent,
    assistant: Ag2Agent,
    /// The round limit of a group chat, and its manager's termination test.
    group: Option<(f64, TerminationTest)>,
    human: VecDeque<String>,
    turns: i64,
    messages: u32,
}

/// The message that the assistant is about to answer: the task, an automatic reply, or the joined results of a reply's
/// calls.
fn news_of(view: &PointView<'_>) -> String {
    let texts = |message: &Message| message.text().into_owned();
    let mut results: Vec<String> = view.messages().rev().take_while(|message| message.is_result()).map(texts).collect();
    results.reverse();
    if results.is_empty() { view.messages().next_back().map(texts).unwrap_or_default() } else { results.join("\n") }
}

fn turns_are_over(written: &str, acts: &mut ActionSink<'_, '_>) {
    acts.act(Action::Stop, TURNS).code(TURNS).detail(format!("Maximum turns ({written}) reached"));
}

impl Ag2Chat {
    fn before_request(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        let text = news_of(view);
        if self.group.is_some() {
            self.round(&text, false, acts);
            return;
        }
        let is_first = self.turns == 0;
        if let Some((_, written)) = self.max_turns.clone().filter(|(max, _)| is_first && *max <= 0) {
            turns_are_over(&written, acts);
        } else if is_first && self.max_turns.is_some() && self.assistant.limit <= 0.0 {
            // The loop ends before the task is sent, so the summary is computed from nothing and raises.
            let act = acts.act(Action::Fail, REPLIES).code("TypeError");
            act.detail("'NoneType' object is not subscriptable");
        } else if let Some(reason) = self.assistant.ends(&text, false, &mut self.human, acts) {
            // The turn that the assistant does not answer is a turn: if it is the last, the chat names its turns.
            match self.max_turns.clone().filter(|(max, _)| self.turns + 1 >= *max) {
                Some((_, written)) => turns_are_over(&written, acts),
                None => reason.stop(acts),
            }
        }
    }

    fn replied(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        let (text, has_calls) = (reply.text(), !reply.tool_calls.is_empty());
        if self.group.is_some() {
            self.round(&text, has_calls, acts);
            return;
        }
        self.turns += 1;
        if let Some((max, written)) = self.max_turns.clone() {
            if self.turns >= max {
                turns_are_over(&written, acts);
                return;
            }
            if self.assistant.word.holds(&text, has_calls) {
                acts.act(Action::Stop, WORD).code("no reason given");
                return;
            }
        }
        if let Some(reason) = self.proxy.ends(&text, has_calls, &mut self.human, acts) {
            reason.stop(acts);
        }
    }

    /// Handles one more message of a group chat.
    fn round(&mut self, text: &str, has_calls: bool, acts: &mut ActionSink<'_, '_>) {
        let Some((max, word)) = self.group.clone() else { return };
        if self.messages == 0 && max <= 0.0 {
            acts.act(Action::Stop, ROUNDS).code("no reason given");
            return;
        }
        self.messages += 1;
        if word.holds(text, has_calls) {
            let words = "Termination message condition on the GroupChatManager 'chat_manager' met";
            acts.act(Action::Stop, WORD).code(WORD).detail(words);
        } else if f64::from(self.messages) >= max {
            acts.act(Action::Stop, ROUNDS).code("max_round").detail(format!("Maximum rounds ({max}) reached"));
        }
    }
}

impl Machine for Ag2Chat {
    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.before_request(view, acts),
            (Moment::AfterResponse, Some(reply)) => self.replied(reply, acts),
            _ => {}
        }
    }
}
