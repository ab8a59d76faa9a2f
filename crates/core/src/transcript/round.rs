//! Rounds: a prompt and everything the agent does until the next one.

use super::{EndCause, Event, Lane, Message, Millis, Note, Role, Run, ToolCall, messages, named};

named! {
    /// Who wrote a message of the user role.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Origin {
        /// Whoever prompts the agent: a person, a program or a simulated user. It has no name.
        #[default]
        Prompt = "",
        /// The host: a reminder, a hook's output, a local command, a notification, a resumption.
        Host = "host",
        /// The host's, about something that happened meanwhile (a background task ended). If nobody has prompted the agent
        /// yet, it begins a round.
        Notification = "notification",
        /// Typed while the agent works: it steers the agent and does not begin a round.
        Steering = "steering",
        /// The host's marker that the agent was interrupted.
        Interruption = "interruption",
    }
}

named! {
    /// Who prompts the agent in recordings of a given format.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum PromptedBy {
        /// Not known: it has no name.
        #[default]
        Unknown = "",
        /// A person at the keyboard.
        Person = "person",
        /// A script, a benchmark, a scheduler.
        Program = "program",
        /// A model in the place of a person.
        SimulatedUser = "simulated_user",
        /// The framework itself, which continues without a prompt.
        Framework = "framework",
    }
}

named! {
    /// How a round ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum RoundEnd {
        /// The agent replied and handed control back.
        Reply = "reply" => EndCause::SelfFinish,
        /// The recording has the host's marker of an interruption.
        Interrupted = "interrupted" => EndCause::Killed,
        /// The file ends or the next prompt comes before the agent has finished.
        Cut = "cut" => EndCause::Unknown,
    }

    /// Why a run ends that ends with the round.
    pub(super) fn cause() -> EndCause;
}

/// The kind of a note that marks an interruption in recordings where no message does.
pub const INTERRUPTED: &str = "round.interrupted";

/// The kind of a note that records that earlier work was rolled back.
pub(super) const TAKEN_BACK: &str = "round.taken_back";

/// One round, as index ranges into the run's events and steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Index of its first event: the prompt, or the run's first event if the prompt is not recorded.
    pub begins: usize,
    /// One past the index of its last event.
    pub ends: usize,
    /// Whether the recording contains the prompt.
    pub has_prompt: bool,
    /// Whether a notification of the host began it, and nobody prompted.
    pub is_notified: bool,
    /// Index of its first step.
    pub first_step: usize,
    /// One past the index of its last step. A round has at least one step.
    pub end_step: usize,
    /// How it ended.
    pub end: RoundEnd,
    /// Time from the prompt to the agent's last reply or tool result; `None` if either has no timestamp.
    pub active: Option<Millis>,
}

impl Round {
    /// The rounds of a run, in order. A prompt that is never answered begins no round. A run whose first prompt is not
    /// recorded still begins with a round. A sub-agent's run has no rounds: it works within a round of its parent.
    pub(super) fn all(run: &Run) -> Vec<Self> {
        if run.header.parent.is_some() {
            return Vec::new();
        }
        let events = run.events();
        let mut begins: Vec<(usize, Beginning, usize)> = Vec::new();
        let mut from = 0;
        for (index, step) in run.steps().iter().enumerate() {
            let since = &events[from..step.reply];
            match since.iter().rposition(Event::is_prompt) {
                Some(at) => begins.push((from + at, Beginning::Prompt, index)),
                None if begins.is_empty() && !is_hosts(&events[step.reply]) => {
                    let notified =
                        since.iter().rposition(is_notification).map(|at| (from + at, Beginning::Notification));
                    let (at, beginning) = notified.unwrap_or((0, Beginning::Unrecorded));
                    begins.push((at, beginning, index));
                }
                None => {}
            }
            from = step.reply + 1;
        }
        let n_steps = run.steps().len();
        let ends = begins.iter().skip(1).map(|next| (next.0, next.2)).chain([(events.len(), n_steps)]);
        let rounds = begins.iter().zip(ends);
        rounds
            .map(|(&(begins, beginning, first_step), (ends, end_step))| {
                let (has_prompt, is_notified) = (beginning == Beginning::Prompt, beginning == Beginning::Notification);
                let last = run.steps()[end_step - 1];
                // An unanswered prompt, and a note that it was rolled back, belong to no round.
                let unanswered = events[last.reply + 1..ends].iter().position(Event::is_prompt);
                let ends = unanswered.map_or(ends, |at| last.reply + 1 + at);
                let within = &events[begins..ends];
                let interrupted = within.iter().any(Event::is_interruption);
                // A reply that hands back ends the round, including by calling a tool for that purpose.
                let handed_back = matches!(&events[last.reply], Event::Message(reply) if reply.hands_back());
                let end = match (interrupted, handed_back) {
                    (true, _) => RoundEnd::Interrupted,
                    (false, true) => RoundEnd::Reply,
                    (false, false) => RoundEnd::Cut,
                };
                let start =
                    if has_prompt || is_notified { events[begins].ts() } else { within.iter().find_map(Event::ts) };
                let of_agent = messages(within).filter(|message| message.is_step() || message.is_result());
                let last_time = of_agent.filter_map(|message| message.ts).max();
                let active = last_time.zip(start).map(|(end, start)| Millis(end.since(start).0.max(0)));
                Self { begins, ends, has_prompt, is_notified, first_step, end_step, end, active }
            })
            .collect()
    }

    /// Who prompted it, in a run that is prompted by `usual`.
    pub fn prompted_by(&self, usual: PromptedBy) -> PromptedBy {
        if self.is_notified { PromptedBy::Program } else { usual }
    }

    /// The number of steps in the round; at least 1.
    pub fn n_steps(&self) -> usize {
        self.end_step - self.first_step
    }
}

/// What a round begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    Prompt,
    Notification,
    /// The recording begins later.
    Unrecorded,
}

/// True for the host's notification in the main conversation.
fn is_notification(event: &Event) -> bool {
    let Event::Message(message) = event else { return false };
    message.origin == Origin::Notification && message.lane == Lane::Main
}

/// True if the host wrote this reply itself.
fn is_hosts(reply: &Event) -> bool {
    matches!(reply, Event::Message(reply) if reply.origin == Origin::Host)
}

impl Event {
    /// True for a prompt of the main conversation: it begins a round if it is answered.
    pub fn is_prompt(&self) -> bool {
        matches!(self, Self::Message(message) if message.is_prompt() && message.lane == Lane::Main)
    }

    /// True for the host's marker that the agent was interrupted: a message or a note.
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::Message(message) => message.origin == Origin::Interruption && message.lane == Lane::Main,
            Self::Note(note) => note.kind == INTERRUPTED,
            _ => false,
        }
    }

    /// True for the host's note that earlier work was rolled back: a rewind, a restored checkpoint.
    pub fn is_taking_back(&self) -> bool {
        matches!(self, Self::Note(note) if note.kind == TAKEN_BACK)
    }

    /// The note that [`Self::is_taking_back`] recognises.
    pub fn taking_back() -> Self {
        let body = serde_json::value::RawValue::NULL.to_owned();
        Self::Note(Note { kind: TAKEN_BACK.into(), body })
    }

    /// The note that marks an interruption in recordings where no message does.
    pub fn interruption() -> Self {
        let body = serde_json::value::RawValue::NULL.to_owned();
        Self::Note(Note { kind: INTERRUPTED.into(), body })
    }
}

/// Tools by which an agent hands control back, with its result or with a question. If the question is answered, the
/// round goes on: the answer is recorded as the tool's result.
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

/// What begins the names of calls that a host makes of a reply's text: aider applies its edits and commits them.
const BY_HOST: &str = "aider.";

impl Message {
    /// True for a user message written by whoever prompts; false for the host's messages, steering and interruption
    /// markers.
    pub fn is_prompt(&self) -> bool {
        self.role == Role::User && self.origin == Origin::Prompt
    }

    /// True for a reply after which the agent waits for the next prompt: it calls no tool, or a tool that hands control
    /// back, or says what its host then does.
    pub fn hands_back(&self) -> bool {
        let by_host = |call: &ToolCall| call.name.starts_with(BY_HOST);
        self.tool_calls.iter().all(by_host) || self.submits()
    }

    /// True for a reply with a call that hands control back.
    pub fn submits(&self) -> bool {
        self.tool_calls.iter().any(|call| HAND_BACK.contains(&&*call.name))
    }
}
