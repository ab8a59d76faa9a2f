//! Records a synthetic run: keeps the clock, the context size and the cost. It knows nothing of plots.

use super::dice::Dice;
use crate::transcript::{
    Checkpoint, Draft, EndCause, Event, Grade, Header, Instant, JudgeReply, Lane, Message, Metrics, Outcome,
    OutcomeSource, Role, Run, Text, ToolCall, Usage, Usd,
};

/// A model's prices in nano-dollars per token.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenPrice {
    pub(super) input: u64,
    pub(super) cached: u64,
    pub(super) output: u64,
}

/// What the recording omits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    pub(super) usage: bool,
    pub(super) times: bool,
    pub(super) words: bool,
}

/// A call with its result, not yet played.
#[derive(Clone, Debug)]
pub(super) struct Beat {
    /// What the agent says with the call; empty for nothing.
    pub(super) say: String,
    pub(super) tool: String,
    /// The arguments as JSON.
    pub(super) arguments: String,
    pub(super) result: String,
    pub(super) failed: bool,
    /// Tokens of the full result, before it was abridged for the recording.
    pub(super) result_tokens: u64,
    /// How long the tool takes, in milliseconds.
    pub(super) tool_ms: u64,
}

/// How a run's success is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownBy {
    /// From a label on the outcome.
    Label,
    /// From checkpoints after some steps.
    Checkpoints,
    /// Not at all.
    Nothing,
}

/// How a run ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunEnding {
    pub(super) outcome: Outcome,
    pub(super) end: EndCause,
    /// The step after which the success held, and how that is known.
    pub(super) secured: Option<(usize, KnownBy)>,
}

/// 2026-01-05T09:00:00Z in milliseconds: the start of a suite's first run.
const FIRST_MORNING: i64 = 1_767_603_600_000;
/// The cached part of the prompt is a multiple of this many tokens.
const CACHE_BLOCK: u64 = 128;

/// A run being recorded.
#[derive(Debug)]
pub(super) struct RunRecorder {
    events: Vec<Event>,
    /// For each step, the number of events after it.
    step_ends: Vec<usize>,
    /// Grades of the state after single steps, to be written as checkpoints.
    grades: Vec<(usize, bool)>,
    price: TokenPrice,
    gaps: Gaps,
    clock_ms: i64,
    context: u64,
    cached: u64,
    n_calls: usize,
}

impl RunRecorder {
    /// A run that starts `minute` minutes after the first one, with `context` tokens of instructions and tools.
    pub(super) fn new(price: TokenPrice, gaps: Gaps, minute: u64, context: u64) -> Self {
        let clock_ms = FIRST_MORNING + i64::try_from(minute).unwrap_or(0) * 60_000;
        let (events, step_ends, grades) = Default::default();
        Self { events, step_ends, grades, price, gaps, clock_ms, context, cached: 0, n_calls: 0 }
    }

    /// When the run started; `None` for a run without timestamps. Call it before the first message.
    pub(super) fn now(&self) -> Option<Instant> {
        if self.gaps.times { None } else { Some(Instant(self.clock_ms)) }
    }

    pub(super) fn n_steps(&self) -> usize {
        self.step_ends.len()
    }

    /// The index of the latest step; 0 before the first.
    pub(super) fn last_step(&self) -> usize {
        self.step_ends.len().saturating_sub(1)
    }

    /// Lets time pass in which nothing is recorded.
    pub(super) fn wait(&mut self, ms: u64) {
        self.clock_ms = self.clock_ms.saturating_add(i64::try_from(ms).unwrap_or(0));
    }

    /// Adds a message that no model call produced: instructions, a user's words, a canned greeting.
    pub(super) fn say(&mut self, role: Role, lane: Lane, text: &str) {
        let mut message = Message::saying(role, text);
        message.lane = lane;
        self.context += length_in_tokens(text);
        if role != Role::System {
            message.ts = self.now();
        }
        self.push(message);
    }

    /// Adds a step: the agent speaks, makes the beats' calls in one reply, and gets their results.
    pub(super) fn step(&mut self, beats: &[Beat], dice: &mut Dice) {
        let say = beats.first().map(|beat| beat.say.as_str()).unwrap_or_default();
        let mut reply = Message::new(Role::Assistant);
        if !say.is_empty() && !self.gaps.words {
            reply.content = Some(Text::plain(say));
        }
        let mut results = Vec::new();
        let mut output = 30 + length_in_tokens(say) + dice.between(10, 180);
        for beat in beats {
            self.n_calls += 1;
            let id = format!("c{}", self.n_calls);
            output += length_in_tokens(&beat.arguments);
            reply.tool_calls.push(ToolCall::new(Some(&id), &beat.tool, beat.arguments.clone()));
            let mut result = Message::saying(Role::Tool, beat.result.as_str());
            result.tool_call_id = Some(id.into());
            result.name = Some(beat.tool.as_str().into());
            result.is_error = Some(beat.failed);
            results.push((result, beat));
        }
        self.bill(&mut reply, output, dice);
        self.push(reply);
        for (mut result, beat) in results {
            self.wait(beat.tool_ms);
            result.ts = self.now();
            self.context += beat.result_tokens;
            self.push(result);
        }
        self.step_ends.push(self.events.len());
    }

    /// Adds a step without calls: the agent hands back.
    pub(super) fn reply(&mut self, text: &str, dice: &mut Dice) {
        let mut reply = Message::saying(Role::Assistant, text);
        let output = 20 + length_in_tokens(text) + dice.between(10, 120);
        self.bill(&mut reply, output, dice);
        self.push(reply);
        self.step_ends.push(self.events.len());
    }

    /// Adds a sub-agent's message: it costs tokens and is not a step.
    pub(super) fn side(&mut self, id: &str, text: &str, dice: &mut Dice) {
        let mut reply = Message::saying(Role::Assistant, text);
        reply.lane = Lane::Side(id.into());
        let (input, output) = (dice.between(1_200, 4_800), length_in_tokens(text) + dice.between(40, 400));
        if !self.gaps.usage {
            reply.set_usage(Some(Usage::new(input, output)));
            reply.set_cost(Some(dollars(input * self.price.input + output * self.price.output)));
        }
        self.wait(dice.between(2_000, 9_000));
        reply.ts = self.now();
        self.push(reply);
    }

    /// Adds a report of an experiment.
    pub(super) fn metrics(&mut self, experiment: &str, status: &str, values: &[(&str, f64)]) {
        let values = values.iter().map(|(name, value)| ((*name).into(), *value)).collect();
        let (experiment, status) = (Some(experiment.into()), Some(status.into()));
        self.record(Event::Metrics(Metrics { experiment, status, values, plan: None }));
    }

    /// Adds a judge's reply.
    pub(super) fn judge(&mut self, reply: &str, dice: &mut Dice) {
        let usage = Usage::new(dice.between(600, 1_800), length_in_tokens(reply) + 12);
        let usage = if self.gaps.usage { None } else { Some(usage) };
        self.record(Event::Judge(JudgeReply { reply: Some(Text::plain(reply)), error: None, usage }));
    }

    /// Grades the state after the latest step.
    pub(super) fn grade(&mut self, success: bool) {
        self.grades.push((self.last_step(), success));
    }

    /// The finished run.
    pub(super) fn finish(mut self, header: Header, ending: RunEnding) -> Run {
        let RunEnding { outcome, end, secured } = ending;
        if let Some((step, KnownBy::Checkpoints)) = secured {
            self.grades.retain(|(graded, _)| *graded != step);
            self.grades.push((step, true));
            if let Some(earlier) = step.checked_sub(2) {
                self.grades.push((earlier, false));
            }
            self.grades.sort_unstable();
        }
        self.write_grades();
        let secured_step = secured.filter(|(_, told)| *told == KnownBy::Label).map(|(step, _)| step);
        let source = if outcome == Outcome::Unknown { OutcomeSource::None } else { OutcomeSource::Native("outcome") };
        let grade = Grade { outcome, score: None, source, end, secured_step };
        Run::new(Draft { header, events: self.events, grade, warnings: Vec::new() })
    }

    fn write_grades(&mut self) {
        let grades = std::mem::take(&mut self.grades);
        // Insert from the last to the first, so that the indices of earlier ones stay valid.
        for (step, success) in grades.into_iter().rev() {
            let at = self.step_ends.get(step).copied().unwrap_or(self.events.len());
            self.events.insert(at, Event::Checkpoint(Checkpoint { success, score: None }));
        }
    }

    /// Charges a model call of the agent and moves the clock to its end.
    fn bill(&mut self, reply: &mut Message, output: u64, dice: &mut Dice) {
        let cached = self.cached / CACHE_BLOCK * CACHE_BLOCK;
        let input = self.context;
        if !self.gaps.usage {
            reply.set_usage(Some(Usage { cache_read: Some(cached), ..Usage::new(input, output) }));
            let TokenPrice { input: full, cached: cheap, output: out } = self.price;
            reply.set_cost(Some(dollars((input - cached) * full + cached * cheap + output * out)));
        }
        self.cached = input;
        self.context += output;
        self.wait(900 + output * dice.between(12, 24));
        reply.ts = self.now();
    }

    fn push(&mut self, message: Message) {
        self.events.push(Event::Message(message));
    }

    /// Records an event that belongs to the step, after its results.
    fn record(&mut self, event: Event) {
        self.events.push(event);
        if let Some(end) = self.step_ends.last_mut() {
            *end = self.events.len();
        }
    }
}

/// An estimate: four Latin letters or one and a half Chinese characters per token.
fn length_in_tokens(text: &str) -> u64 {
    let (wide, narrow) = text
        .chars()
        .fold((0, 0), |(wide, narrow), letter| if letter.is_ascii() { (wide, narrow + 1) } else { (wide + 1, narrow) });
    1 + wide * 2 / 3 + narrow / 4
}

/// Converts nano-dollars to dollars, rounded down to whole micro-dollars.
fn dollars(nano: u64) -> Usd {
    Usd((nano / 1_000) as f64 / 1e6)
}
