//! Rounds: a prompt that the agent answers, and all it does until the next one.

use super::{Event, Lane, Message, Millis, Role, Run};

/// Whose words a message in the user's name holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// with a round all the same.
    pub(super) fn all(run: &Run) -> Vec<Self> {
        let events = run.events();
        let mut begins: Vec<(usize, bool, usize)> = Vec::new();
        let mut from = 0;
        for (index, step) in run.steps().iter().enumerate() {
            let prompt = events[from..step.reply].iter().rposition(is_prompt).map(|at| from + at);
            match prompt {
                Some(at) => begins.push((at, true, index)),
                None if index == 0 => begins.push((0, false, 0)),
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
                let unanswered = events[last.reply + 1..ends].iter().position(is_prompt);
                let ends = unanswered.map_or(ends, |at| last.reply + 1 + at);
                let within = &events[begins..ends];
                let interrupted = within.iter().any(is_interruption);
                // A reply that hands back ends it, also where that is a call of the tool for it.
                let handed_back = !last.has_calls || events[last.reply].message().is_some_and(hands_back);
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

/// Do these words begin a round if they are answered?
fn is_prompt(event: &Event) -> bool {
    event.message().is_some_and(|message| {
        message.role == Role::User && message.lane == Lane::Main && message.origin == Origin::Prompt
    })
}

fn is_interruption(event: &Event) -> bool {
    match event {
        Event::Message(message) => message.origin == Origin::Interruption && message.lane == Lane::Main,
        Event::Note(note) => note.kind == INTERRUPTED,
        _ => false,
    }
}

/// Tools by which an agent hands back.
fn hands_back(reply: &Message) -> bool {
    reply.tool_calls.iter().any(|call| {
        matches!(
            &*call.name,
            "attempt_completion"
                | "completion_result"
                | "finish"
                | "final_answer"
                | "complete_task"
                | "task_complete"
                | "submit"
        )
    })
}
