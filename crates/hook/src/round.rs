//! Feeds the records of a round to the rules and collects their decisions.
//!
//! Rules are started anew at each call and shown everything again: what a rule remembers never has to be written down,
//! and what came late (a call's tokens, that it failed) is where it belongs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::record::{Flag, RecordKind, SessionRecord, id_of};
use super::tail::usage_of;
use crate::decision::{Action, Decision, Need, Strategy};
use crate::replay::{Following, Terms};
use crate::rule::{Comparator, Condition};
use crate::stack::{Scope, Stack};
use crate::transcript::{
    Event, Fingerprint, Header, Instant, Lane, Message, Name, Origin, PointView, Recorder, Role, ToolCall, Usage,
};

/// A strategy of the stack file, and the stack it is, if it is the user's own.
#[derive(Clone)]
pub struct HookStrategy {
    /// The strategy.
    pub strategy: Arc<dyn Strategy>,
    /// The stack, unless it is a system or a preset.
    pub own: Option<Arc<Stack>>,
}

impl std::fmt::Debug for HookStrategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HookStrategy({})", self.strategy.name())
    }
}

/// What rules cannot read where only fingerprints are kept.
fn is_text(need: Need) -> bool {
    matches!(need, Need::Texts | Need::Arguments | Need::PlainArguments)
}

/// True if one of them reads texts or arguments, so that fingerprints do not suffice. What a system or a preset reads
/// is known to itself alone.
pub fn reads_texts(rules: &[HookStrategy]) -> bool {
    let needs =
        |rules: &HookStrategy| rules.strategy.requirements().iter().any(|requirement| is_text(requirement.need));
    rules.iter().any(|rules| rules.own.is_none() || needs(rules))
}

/// The records of the current round, or of the session, which is a run.
pub fn current(records: &[SessionRecord], unit: Scope) -> &[SessionRecord] {
    let begins = |record: &SessionRecord| match unit {
        Scope::Round => matches!(record.kind, RecordKind::Prompt | RecordKind::Reset),
        Scope::Run => record.kind == RecordKind::Reset,
    };
    &records[records.iter().rposition(begins).unwrap_or(0)..]
}

/// Each round of a session, in order.
pub fn rounds(records: &[SessionRecord]) -> Vec<&[SessionRecord]> {
    let is_prompt = |record: &SessionRecord| record.kind == RecordKind::Prompt;
    let first = records.iter().position(is_prompt).unwrap_or(records.len());
    records[first..].chunk_by(|_, next| !is_prompt(next)).collect()
}

/// Something shown to the rules.
#[derive(Debug)]
pub enum RuleInput {
    /// An event.
    Event(Event),
    /// The next request is about to be made.
    Request,
    /// The agent has handed back.
    Close,
}

/// Ids are fingerprints: there is nothing left to hash.
#[derive(Default)]
struct Id(u64);

impl Hasher for Id {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }
}

type ById<V> = HashMap<u64, V, BuildHasherDefault<Id>>;
type Ids = HashSet<u64, BuildHasherDefault<Id>>;

/// What records say about model calls and results, wherever it stands among them.
#[derive(Default)]
struct RecordFacts {
    usage: ById<Usage>,
    message_of: ById<u64>,
    /// Messages that have a call; their other lines (a thought, a text) have none.
    calling: Ids,
    failed: Ids,
    /// The batches, by their place, after which the next one has further calls of the same reply: Qwen Code under `-p`
    /// announces each call of a reply by itself.
    unfinished: HashSet<usize>,
}

impl RecordFacts {
    fn from_records(records: &[SessionRecord]) -> Self {
        let n = records.iter().filter(|record| record.kind == RecordKind::Usage).count();
        let mut known = Self::default();
        known.usage.reserve(n);
        known.message_of.reserve(n);
        known.calling.reserve(n);
        for record in records {
            match record.kind {
                RecordKind::Usage => {
                    let usage = known.usage.entry(record.id).or_default();
                    *usage = usage.combined(usage_of(record), Ord::max);
                    if record.b != 0 {
                        known.message_of.insert(record.b, record.id);
                        known.calling.insert(record.id);
                    }
                }
                RecordKind::Failure => {
                    known.failed.insert(record.id);
                }
                _ => {}
            }
        }
        known.unfinished = known.unfinished_batches(records);
        known
    }

    fn unfinished_batches(&self, records: &[SessionRecord]) -> HashSet<usize> {
        let mut unfinished = HashSet::new();
        let (mut message, mut last_batch) = (None, None);
        for (at, record) in records.iter().enumerate() {
            match record.kind {
                RecordKind::Prompt | RecordKind::Steering | RecordKind::Notification | RecordKind::Close => {
                    last_batch = None;
                }
                RecordKind::Batch => last_batch = Some((at, message)),
                RecordKind::Call => {
                    message = self.message_of.get(&record.id).copied();
                    if let Some((batch, before)) = last_batch.take()
                        && before.is_some()
                        && before == message
                    {
                        unfinished.insert(batch);
                    }
                }
                _ => {}
            }
        }
        unfinished
    }

    fn usage_of_call(&self, call: u64) -> Option<Usage> {
        self.usage.get(self.message_of.get(&call)?).copied().filter(|usage| !usage.is_empty())
    }
}

/// True if the last batch has further calls of the reply that the batch before it is of.
pub fn is_of_earlier_reply(records: &[SessionRecord]) -> bool {
    let batches = records.iter().enumerate().rev().filter(|(_, record)| record.kind == RecordKind::Batch);
    let before = batches.map(|(at, _)| at).nth(1);
    let Some(before) = before else { return false };
    RecordFacts::from_records(records).unfinished.contains(&before)
}

/// Hands over the events that records stand for, with the requests between them. Nothing is collected on the way: at
/// each call of the hook, what takes the time is memory that is touched for the first time.
pub fn show(records: &[SessionRecord], mut to: impl FnMut(RuleInput)) {
    let known = RecordFacts::from_records(records);
    let mut reply: Option<Message> = None;
    let mut results: Vec<Message> = Vec::new();
    let mut sides = Ids::default();
    let mut unbooked = None;
    let event = |message| RuleInput::Event(Event::Message(message));
    for (at, record) in records.iter().enumerate() {
        let ts = Some(Instant(record.time));
        match record.kind {
            RecordKind::Prompt | RecordKind::Steering | RecordKind::Notification => {
                let mut prompt = text_message(Role::User, record);
                prompt.ts = ts;
                prompt.origin = match record.kind {
                    RecordKind::Steering => Origin::Steering,
                    RecordKind::Notification => Origin::Notification,
                    _ => Origin::Prompt,
                };
                to(event(prompt));
            }
            RecordKind::Usage if record.flags.has(Flag::SIDE) && sides.insert(record.id) => {
                let mut side = Message::new(Role::Assistant);
                side.lane = Lane::Side(hex(record.id));
                side.set_usage(known.usage.get(&record.id).copied());
                side.ts = ts;
                to(event(side));
            }
            RecordKind::Usage
                if record.b == 0 && !record.flags.has(Flag::SIDE) && !known.calling.contains(&record.id) =>
            {
                unbooked = Some(record.id);
            }
            // Of the same reply as the batch before it.
            RecordKind::Reply if reply.is_some() => {}
            RecordKind::Reply => {
                let mut message = Message::new(Role::Assistant);
                message.ts = ts;
                reply = Some(message);
                results.clear();
            }
            RecordKind::Call => {
                let Some(reply) = &mut reply else { continue };
                // Most replies have one call; a vector that grows by itself begins with room for four.
                reply.tool_calls.reserve_exact(1);
                reply.tool_calls.push(call(record));
                reply.set_usage(reply.usage().or_else(|| known.usage_of_call(record.id)));
            }
            RecordKind::Result => results.push(result(record, &known)),
            RecordKind::Batch if known.unfinished.contains(&at) => {}
            RecordKind::Batch => {
                let Some(reply) = reply.take() else { continue };
                unbooked = None;
                to(event(reply));
                results.drain(..).for_each(|result| to(event(result)));
                to(RuleInput::Request);
            }
            RecordKind::Close => {
                let mut message = Message::new(Role::Assistant);
                message.ts = ts;
                message.set_usage(unbooked.take().and_then(|id| known.usage.get(&id).copied()));
                to(event(message));
                to(RuleInput::Close);
            }
            _ => {}
        }
    }
}

fn text_message(role: Role, record: &SessionRecord) -> Message {
    if record.flags.has(Flag::TEXT) {
        Message::saying(role, record.words())
    } else {
        Message::with_print(role, Fingerprint(record.a))
    }
}

fn call(record: &SessionRecord) -> ToolCall {
    let id = hex(record.id);
    if record.flags.has(Flag::TEXT) {
        ToolCall::new(Some(&id), &record.name, record.words())
    } else {
        ToolCall::with_print(Some(&id), &record.name, Fingerprint(record.a))
    }
}

fn result(record: &SessionRecord, known: &RecordFacts) -> Message {
    let mut message = text_message(Role::Tool, record);
    message.tool_call_id = Some(hex(record.id));
    message.ts = Some(Instant(record.time));
    let said = if record.flags.has(Flag::FLAGGED) { Some(record.flags.has(Flag::FAILED)) } else { None };
    message.is_error = if known.failed.contains(&record.id) { Some(true) } else { said };
    message
}

/// An id as text.
pub fn hex(id: u64) -> Name {
    let digits: [u8; 16] = std::array::from_fn(|at| b"0123456789abcdef"[((id >> (60 - 4 * at)) & 15) as usize]);
    Name::new_inline(std::str::from_utf8(&digits).unwrap_or_default())
}

/// What the rules of one stack say about a round.
#[derive(Debug)]
pub struct StackDecisions {
    /// Its index among the rules.
    pub nth: usize,
    /// The stack's name.
    pub stack: String,
    /// All decisions so far, in order.
    pub decisions: Vec<Decision>,
    /// The steps of the round so far.
    pub n_steps: u32,
}

/// The rules of one stack while they are shown a round.
struct RunningRules {
    /// `None` for rules that are silent in this round.
    following: Option<Following>,
    decisions: Vec<Decision>,
}

impl RunningRules {
    fn start(rules: &HookStrategy, went_on: u32, header: &Header, texts: bool) -> Self {
        let strategy = match (&rules.own, went_on) {
            (_, 0) => Some(Arc::clone(&rules.strategy)),
            (Some(stack), times) => Some(raised(stack, times) as Arc<dyn Strategy>),
            // The limits of others are not known by number: the person has said to go on, and they are silent.
            (None, _) => None,
        };
        let start = |strategy: Arc<dyn Strategy>| {
            let terms = Terms::lacking(&strategy.requirements(), |need| !texts && is_text(need));
            Following::new(terms.start(&strategy, header))
        };
        Self { following: strategy.map(start), decisions: Vec::new() }
    }

    /// Shows it the next point, unless it has ended the round, after which it says nothing.
    fn see(&mut self, view: &PointView<'_>) {
        if let Some(following) = self.following.as_mut().filter(|following| !following.has_ended()) {
            following.show(view, &mut self.decisions);
        }
    }
}

/// Shows a round to all rules. `texts` says whether its records hold texts.
pub fn judge(records: &[SessionRecord], rules: &[HookStrategy], unit: Scope, texts: bool) -> Vec<StackDecisions> {
    let went_on = went_on(records);
    let header = Header { of_session: unit == Scope::Round, ..Header::default() };
    let times = |rules: &HookStrategy| went_on.get(&id_of(rules.strategy.name())).copied().unwrap_or(0);
    let mut watched: Vec<RunningRules> =
        rules.iter().map(|rules| RunningRules::start(rules, times(rules), &header, texts)).collect();
    let is_event = |record: &&SessionRecord| {
        use RecordKind::{Close, Notification, Prompt, Reply, Result, Steering};
        matches!(record.kind, Prompt | Steering | Notification | Reply | Result | Close)
    };
    let mut recorder = Recorder::new(header).with_room_for(records.iter().filter(is_event).count());
    let mut n_steps = 0;
    show(records, |shown| {
        let see = |view: PointView<'_>| watched.iter_mut().for_each(|watched| watched.see(&view));
        match shown {
            RuleInput::Event(event) => {
                n_steps += u32::from(event.message().is_some_and(Message::is_step));
                recorder.push(event).for_each(see);
            }
            RuleInput::Request => recorder.request().for_each(see),
            RuleInput::Close => recorder.close_step().for_each(see),
        }
    });
    let of = |((nth, rules), watched): ((usize, &HookStrategy), RunningRules)| StackDecisions {
        nth,
        stack: rules.strategy.name().to_owned(),
        decisions: watched.decisions,
        n_steps,
    };
    rules.iter().enumerate().zip(watched).map(of).collect()
}

/// How often the person let the agent go on, by stack.
fn went_on(records: &[SessionRecord]) -> BTreeMap<u64, u32> {
    let mut times = BTreeMap::new();
    for record in records.iter().filter(|record| record.kind == RecordKind::WentOn) {
        *times.entry(record.a).or_insert(0) += 1;
    }
    times
}

/// The stack with its limits doubled so many times. A limit that is reached from above or exactly cannot be raised: its
/// clause is dropped.
fn raised(stack: &Arc<Stack>, times: u32) -> Arc<Stack> {
    let mut stack = Stack::clone(stack);
    let factor = 2.0_f64.powi(i32::try_from(times.min(60)).unwrap_or(60));
    stack.clauses.retain_mut(|clause| {
        !clause.then.is_terminal() && clause.then != Action::Ask || raise(&mut clause.condition, factor)
    });
    if let Some(cap) = &mut stack.cap {
        cap.steps = cap.steps.saturating_mul(1 << times.min(20));
    }
    Arc::new(stack)
}

fn raise(condition: &mut Condition, factor: f64) -> bool {
    match condition {
        Condition::Rule(rule) => {
            rule.limit *= factor;
            matches!(rule.comparator, Comparator::AtLeast | Comparator::MoreThan)
        }
        Condition::Any(parts) | Condition::All { parts, .. } | Condition::Some { parts, .. } => {
            // Not `any`: every part is raised.
            parts.iter_mut().map(|part| raise(part, factor)).fold(false, |one, other| one | other)
        }
        Condition::Lately { part, .. } => raise(part, factor),
        Condition::Not(_) => false,
    }
}

/// The number that stands for a decision: once a round for one that ends it, once a step for any other.
pub fn id_of_decision(stack: &str, decision: &Decision) -> u64 {
    if decision.action.ends_path() {
        id_of(&format!("{stack}\nend"))
    } else {
        id_of(&format!("{stack}\n{}\n{}", decision.rule, decision.point))
    }
}
