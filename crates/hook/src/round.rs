//! Feeds the records of a round to the rules and collects their decisions.
//!
//! Rules are started anew at each call and shown everything again: what a rule remembers never has to be written down,
//! and what came late (a call's tokens, that it failed) is where it belongs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::record::{Flag, Kind, Record, id_of};
use super::tail::{largest, usage_of};
use crate::decision::{Action, Decision, Need, Strategy};
use crate::replay::{Live, Terms, Unread};
use crate::rule::{Comparator, Condition};
use crate::stack::Stack;
use crate::transcript::{Event, Fingerprint, Header, Instant, Lane, Message, Name, Origin, Role, ToolCall, Usage};

/// A strategy of the stack file, and the stack it is, if it is the user's own.
#[derive(Clone)]
pub struct Rules {
    /// The strategy.
    pub strategy: Arc<dyn Strategy>,
    /// The stack, unless it is a system or a preset.
    pub own: Option<Arc<Stack>>,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rules({})", self.strategy.name())
    }
}

/// What rules cannot read where only fingerprints are kept.
fn is_text(need: Need) -> bool {
    matches!(need, Need::Texts | Need::Arguments | Need::PlainArguments)
}

/// True if one of them reads texts or arguments, so that fingerprints do not suffice. What a system or a preset reads
/// is known to itself alone.
pub fn reads_texts(rules: &[Rules]) -> bool {
    let needs = |rules: &Rules| rules.strategy.requirements().iter().any(|requirement| is_text(requirement.need));
    rules.iter().any(|rules| rules.own.is_none() || needs(rules))
}

/// What counts start from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// The latest prompt.
    #[default]
    Round,
    /// The beginning of the session.
    Session,
}

/// The records of the current round or session.
pub fn current(records: &[Record], unit: Unit) -> &[Record] {
    let begins = |record: &Record| match unit {
        Unit::Round => matches!(record.kind, Kind::Prompt | Kind::Reset),
        Unit::Session => record.kind == Kind::Reset,
    };
    &records[records.iter().rposition(begins).unwrap_or(0)..]
}

/// Each round of a session, in order.
pub fn rounds(records: &[Record]) -> Vec<&[Record]> {
    let starts: Vec<usize> =
        records.iter().enumerate().filter(|(_, record)| record.kind == Kind::Prompt).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([records.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &records[start..end]).collect()
}

/// Something shown to the rules.
#[derive(Debug)]
pub enum Shown {
    /// An event.
    Event(Box<Event>),
    /// The next request is about to be made.
    Request,
    /// The agent has handed back.
    Close,
}

/// What records say about model calls and results, wherever it stands among them.
#[derive(Default)]
struct Known {
    usage: HashMap<u64, Usage>,
    message_of: HashMap<u64, u64>,
    /// Messages that have a call; their other lines (a thought, a text) have none.
    calling: HashSet<u64>,
    failed: HashSet<u64>,
}

impl Known {
    fn of(records: &[Record]) -> Self {
        let mut known = Self::default();
        for record in records {
            match record.kind {
                Kind::Usage => {
                    let usage = known.usage.entry(record.id).or_default();
                    *usage = largest(*usage, usage_of(record));
                    if record.b != 0 {
                        known.message_of.insert(record.b, record.id);
                        known.calling.insert(record.id);
                    }
                }
                Kind::Failure => {
                    known.failed.insert(record.id);
                }
                _ => {}
            }
        }
        known
    }

    fn usage_of_call(&self, call: u64) -> Option<Usage> {
        self.usage.get(self.message_of.get(&call)?).copied().filter(|usage| !usage.is_empty())
    }
}

/// The events that records stand for, with the requests between them, and whether the tokens of the latest reply are
/// still missing.
pub fn shown(records: &[Record]) -> (Vec<Shown>, bool) {
    let known = Known::of(records);
    let mut out = Vec::with_capacity(records.len());
    let mut reply: Option<Message> = None;
    let mut results: Vec<Message> = Vec::new();
    let mut sides = HashSet::new();
    let mut unbooked = None;
    let mut missing = false;
    let event = |message| Shown::Event(Box::new(Event::Message(message)));
    for record in records {
        let ts = Some(Instant(record.time));
        match record.kind {
            Kind::Prompt | Kind::Steering => {
                let mut prompt = text_message(Role::User, record);
                prompt.ts = ts;
                let is_steering = record.kind == Kind::Steering;
                prompt.origin = if is_steering { Origin::Steering } else { Origin::Prompt };
                out.push(event(prompt));
            }
            Kind::Usage if record.flags.has(Flag::SIDE) && sides.insert(record.id) => {
                let mut side = Message::new(Role::Assistant);
                side.lane = Lane::Side(hex(record.id));
                side.usage = known.usage.get(&record.id).copied();
                side.ts = ts;
                out.push(event(side));
            }
            Kind::Usage if record.b == 0 && !record.flags.has(Flag::SIDE) && !known.calling.contains(&record.id) => {
                unbooked = Some(record.id);
            }
            Kind::Reply => {
                let mut message = Message::new(Role::Assistant);
                message.ts = ts;
                reply = Some(message);
                results.clear();
            }
            Kind::Call => {
                let Some(reply) = &mut reply else { continue };
                reply.tool_calls.push(call(record));
                reply.usage = reply.usage.or_else(|| known.usage_of_call(record.id));
            }
            Kind::Result => results.push(result(record, &known)),
            Kind::Batch => {
                let Some(reply) = reply.take() else { continue };
                missing = reply.usage.is_none();
                unbooked = None;
                out.push(event(reply));
                out.extend(results.drain(..).map(event));
                out.push(Shown::Request);
            }
            Kind::Close => {
                let mut message = Message::new(Role::Assistant);
                message.ts = ts;
                message.usage = unbooked.take().and_then(|id| known.usage.get(&id).copied());
                missing = message.usage.is_none();
                out.push(event(message));
                out.push(Shown::Close);
            }
            _ => {}
        }
    }
    (out, missing)
}

fn text_message(role: Role, record: &Record) -> Message {
    if record.flags.has(Flag::TEXT) {
        Message::saying(role, String::from_utf8_lossy(&record.text).into_owned())
    } else {
        Message::with_print(role, Fingerprint(record.a))
    }
}

fn call(record: &Record) -> ToolCall {
    let id = hex(record.id);
    if record.flags.has(Flag::TEXT) {
        ToolCall::new(Some(&id), &record.name, String::from_utf8_lossy(&record.text).into_owned())
    } else {
        ToolCall::with_print(Some(&id), &record.name, Fingerprint(record.a))
    }
}

fn result(record: &Record, known: &Known) -> Message {
    let mut message = text_message(Role::Tool, record);
    message.tool_call_id = Some(hex(record.id));
    message.ts = Some(Instant(record.time));
    let said = record.flags.has(Flag::FLAGGED).then_some(record.flags.has(Flag::FAILED));
    message.is_error = if known.failed.contains(&record.id) { Some(true) } else { said };
    message
}

/// An id as text.
pub fn hex(id: u64) -> Name {
    format!("{id:016x}").into()
}

/// What the rules of one stack say about a round.
#[derive(Debug)]
pub struct Verdict {
    /// Its index among the rules.
    pub nth: usize,
    /// The stack's name.
    pub stack: String,
    /// All decisions so far, in order.
    pub decisions: Vec<Decision>,
    /// The rules that cannot be evaluated on what has come.
    pub unread: Vec<Unread>,
    /// The steps of the round so far.
    pub n_steps: u32,
    /// True if the tokens of the latest reply are not known yet.
    pub is_late: bool,
}

/// Shows a round to all rules. `texts` says whether its records hold texts.
pub fn judge(records: &[Record], rules: &[Rules], unit: Unit, texts: bool) -> Vec<Verdict> {
    let (shown, missing) = shown(records);
    let went_on = went_on(records);
    let is_reply =
        |shown: &&Shown| matches!(shown, Shown::Event(event) if event.message().is_some_and(Message::is_step));
    let n_steps = u32::try_from(shown.iter().filter(is_reply).count()).unwrap_or(u32::MAX);
    let of = |(nth, rules): (usize, &Rules)| {
        let name = rules.strategy.name().to_owned();
        let times = went_on.get(&id_of(&name)).copied().unwrap_or(0);
        let strategy = match (&rules.own, times) {
            (_, 0) => Arc::clone(&rules.strategy),
            (Some(stack), times) => raised(stack, times) as Arc<dyn Strategy>,
            // The limits of others are not known by number: the person has said to go on, and they are silent.
            (None, _) => {
                return Verdict {
                    nth,
                    stack: name,
                    decisions: Vec::new(),
                    unread: Vec::new(),
                    n_steps,
                    is_late: missing,
                };
            }
        };
        let terms = Terms::lacking(&strategy.requirements(), |need| !texts && is_text(need));
        let mut live =
            Live::start_on(terms, &strategy, Header { of_session: unit == Unit::Round, ..Header::default() });
        let mut decisions = Vec::new();
        for shown in &shown {
            decisions.extend(match shown {
                Shown::Event(event) => live.push((**event).clone()),
                Shown::Request => live.request(),
                Shown::Close => live.close_step(),
            });
            if live.has_ended() {
                break;
            }
        }
        Verdict { nth, stack: name, decisions, unread: live.unread(), n_steps, is_late: missing }
    };
    rules.iter().enumerate().map(of).collect()
}

/// How often the person let the agent go on, by stack.
fn went_on(records: &[Record]) -> BTreeMap<u64, u32> {
    let mut times = BTreeMap::new();
    for record in records.iter().filter(|record| record.kind == Kind::WentOn) {
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
    if decision.action.is_terminal() || decision.action == Action::ForceFinal {
        id_of(&format!("{stack}\nend"))
    } else {
        id_of(&format!("{stack}\n{}\n{}", decision.rule, decision.point))
    }
}
