//! Rounds: a prompt that the agent answers, and all it does until the next one.

use super::{Event, Lane, Message, Millis, Note, Role, Run};

/// Whose words a message in the user's name holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Whoever prompts: a person, a program, a simulated user.
    #[default]
    Prompt,
    /// The host's: a reminder, a hook's output, a local command, a notification, a resumption.
    Host,
    /// Typed while the agent works: it steers, and begins no round.
    Steering,
    /// The mark that the agent was interrupted.
    Interruption,
}

impl Origin {
    /// The name used in traces; `None` for a prompt.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Prompt => None,
            Self::Host => Some("host"),
            Self::Steering => Some("steering"),
            Self::Interruption => Some("interruption"),
        }
    }

    /// The origin of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Host, Self::Steering, Self::Interruption].into_iter().find(|origin| origin.name() == Some(name))
    }
}

/// Who prompts in recordings of a format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PromptedBy {
    /// Not known.
    #[default]
    Unknown,
    /// Somebody at the keyboard.
    Person,
    /// A script, a benchmark, a scheduler.
    Program,
    /// A model in a person's place.
    SimulatedUser,
    /// The framework goes on by itself.
    Framework,
}

impl PromptedBy {
    /// The one of that name; of another, not known.
    pub fn named(name: &str) -> Self {
        let all = [Self::Person, Self::Program, Self::SimulatedUser, Self::Framework];
        all.into_iter().find(|by| by.name() == name).unwrap_or_default()
    }

    /// The name used in tables; empty where it is not known.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Person => "person",
            Self::Program => "program",
            Self::SimulatedUser => "simulated_user",
            Self::Framework => "framework",
        }
    }
}

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoundEnd {
    /// With a reply.
    Reply,
    /// The recording has the host's mark of an interruption.
    Interrupted,
    /// The file ends, or the next prompt comes, with work pending.
    Cut,
}

impl RoundEnd {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reply => "reply",
            Self::Interrupted => "interrupted",
            Self::Cut => "cut",
        }
    }
}

/// The kind of a note that marks an interruption where no message does.
pub const INTERRUPTED: &str = "round.interrupted";

/// The kind of a note that says that what came before was taken back.
pub(super) const TAKEN_BACK: &str = "round.taken_back";

/// One round, as places in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Index of the event it begins with: the prompt, or the first event of the run.
    pub begins: usize,
    /// One past its last event.
    pub ends: usize,
    /// Does the recording hold the prompt?
    pub has_prompt: bool,
    /// Index of its first step.
    pub first_step: usize,
    /// One past its last step; at least one step is in it.
    pub end_step: usize,
    /// How it ended.
    pub end: RoundEnd,
    /// From the prompt to the last event of the agent, results of its tools among them; `None` where either has no time.
    pub active: Option<Millis>,
}

impl Round {
    /// The rounds of a run, in order. Words nobody answered begin none; a run that does not hold its first prompt begins
    /// with a round all the same. Nobody prompts a sub-agent: it works within a round of its parent's.
    pub(super) fn all(run: &Run) -> Vec<Self> {
        if run.header.parent.is_some() {
            return Vec::new();
        }
        let events = run.events();
        let mut begins: Vec<(usize, bool, usize)> = Vec::new();
        let mut from = 0;
        for (index, step) in run.steps().iter().enumerate() {
            let prompt = events[from..step.reply].iter().rposition(Event::is_prompt).map(|at| from + at);
            match prompt {
                Some(at) => begins.push((at, true, index)),
                None if begins.is_empty() && !is_hosts(&events[step.reply]) => begins.push((0, false, index)),
                None => {}
            }
            from = step.reply + 1;
        }
        let n_steps = run.steps().len();
        let ends = begins.iter().skip(1).map(|next| (next.0, next.2)).chain([(events.len(), n_steps)]);
        let rounds = begins.iter().zip(ends);
        rounds
            .map(|(&(begins, has_prompt, first_step), (ends, end_step))| {
                let last = run.steps()[end_step - 1];
                // Words nobody answered, and that they were taken back, are of no round.
                let unanswered = events[last.reply + 1..ends].iter().position(Event::is_prompt);
                let ends = unanswered.map_or(ends, |at| last.reply + 1 + at);
                let within = &events[begins..ends];
                let interrupted = within.iter().any(Event::is_interruption);
                // A reply that hands back ends it, also where that is a call of the tool for it.
                let handed_back = events[last.reply].message().is_some_and(Message::hands_back);
                let end = match (interrupted, handed_back) {
                    (true, _) => RoundEnd::Interrupted,
                    (false, true) => RoundEnd::Reply,
                    (false, false) => RoundEnd::Cut,
                };
                let start = if has_prompt { events[begins].ts() } else { within.iter().find_map(Event::ts) };
                let of_agent =
                    within.iter().filter_map(Event::message).filter(|message| message.is_step() || message.is_result());
                let last_time = of_agent.filter_map(|message| message.ts).max();
                let active = last_time.zip(start).map(|(end, start)| Millis(end.since(start).0.max(0)));
                Self { begins, ends, has_prompt, first_step, end_step, end, active }
            })
            .collect()
    }

    /// How many steps it has.
    pub fn n_steps(&self) -> usize {
        self.end_step - self.first_step
    }
}

/// Did the host write this reply itself?
fn is_hosts(reply: &Event) -> bool {
    reply.message().is_some_and(|reply| reply.origin == Origin::Host)
}

impl Event {
    /// Words that begin a round if they are answered.
    pub fn is_prompt(&self) -> bool {
        self.message().is_some_and(|message| message.is_prompt() && message.lane == Lane::Main)
    }

    /// The host's mark that the agent was interrupted.
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::Message(message) => message.origin == Origin::Interruption && message.lane == Lane::Main,
            Self::Note(note) => note.kind == INTERRUPTED,
            _ => false,
        }
    }

    /// The host's mark that what came before was taken back: a rewind, a checkpoint restored.
    pub fn is_taking_back(&self) -> bool {
        matches!(self, Self::Note(note) if note.kind == TAKEN_BACK)
    }

    /// That mark.
    pub fn taking_back() -> Self {
        let body = serde_json::value::RawValue::NULL.to_owned();
        Self::Note(Note { kind: TAKEN_BACK.into(), body })
    }

    /// The mark of an interruption, where no message is one.
    pub fn interruption() -> Self {
        let body = serde_json::value::RawValue::NULL.to_owned();
        Self::Note(Note { kind: INTERRUPTED.into(), body })
    }
}

/// Tools by which an agent hands back to whoever prompted: with its result, or with a question. A question that is answered
/// ends nothing: its answer is a result.
const HAND_BACK: [&str; 12] = [
    "AskUserQuestion",
    "ask_followup_question",
    "ask_user",
    "attempt_completion",
    "completion_result",
    "complete_task",
    "final_answer",
    "finish",
    "plan_mode_respond",
    "request_user_input",
    "submit",
    "task_complete",
];

impl Message {
    /// True for words of whoever prompts; not for the host's, for steering, or for the mark of an interruption.
    pub fn is_prompt(&self) -> bool {
        self.role == Role::User && self.origin == Origin::Prompt
    }

    /// True for a reply after which nothing is left to do but to wait for the next prompt: it asks for no tool, or for the
    /// one that hands back.
    pub fn hands_back(&self) -> bool {
        self.tool_calls.is_empty() || self.tool_calls.iter().any(|call| HAND_BACK.contains(&&*call.name))
    }
}
