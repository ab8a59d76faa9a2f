//! One run under one strategy: the trail of decisions, where it stopped, and how exact that is.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::decision::{Action, Decision, Evidence, Need, Requirement, RuleName, Strategy};
use crate::transcript::{Event, Lane, Message, PLAN_TAKEN_OUT, Point, PointView, Role, Run, Secured};

/// How far the answer is what would have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// All of it happened as recorded up to the stop, or to the end.
    Exact,
    /// Something was injected, denied or asked at `at`: what follows is known only within bounds.
    Diverged {
        /// The first point whose decision the recording does not contain.
        at: Point,
    },
    /// The strategy wanted to go on, but the recording ends at its own cap.
    Censored {
        /// The last recorded point.
        at: Point,
    },
}

impl Exactness {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Diverged { .. } => "diverged",
            Self::Censored { .. } => "censored",
        }
    }
}

/// Where a strategy ended a run, by which rule, on what evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Where.
    pub point: Point,
    /// How: stop, fail, or a forced final answer.
    pub action: Action,
    /// The rule that did it.
    pub rule: RuleName,
    /// Reading and limit.
    pub evidence: Evidence,
    /// The framework throws away the reply on which it stopped: a final answer is lost.
    pub drops_reply: bool,
}

/// What a strategy did on one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Everything it said, in order; up to the stop.
    pub trail: Vec<Decision>,
    /// Where it ended the run early. A stop at or after the point at which everything recorded had
    /// happened saves nothing and is no early stop: then this is `None`, unless the framework throws
    /// the last reply away.
    pub stop: Option<Stop>,
    /// How exact that is.
    pub exactness: Exactness,
    /// Where each rule, by itself, would first have acted; `None` when the rules are entangled.
    pub first_firings: Option<Vec<Option<(Point, Evidence)>>>,
    /// What could not be evaluated on this recording.
    pub not_evaluable: Vec<Requirement>,
}

/// Replays `run` under `strategy`.
///
/// Only a terminal decision ends the replay. After a warning, an injected instruction or a denied call
/// the recorded path is followed on, and the answer is marked as diverged.
pub fn replay(run: &Run, strategy: &dyn Strategy) -> Replay {
    let trail = trail(run, strategy);
    let end = run.last_point();
    let ending = trail.iter().find(|decision| ends_path(decision.action));
    let counts = |decision: &&Decision| end.is_some_and(|end| decision.point < end || decision.drops_reply);
    let stop = ending.filter(counts).map(|decision| Stop {
        point: decision.point,
        action: decision.action,
        rule: decision.rule.clone(),
        evidence: decision.evidence,
        drops_reply: decision.drops_reply,
    });
    let exactness = exactness(run, &trail, stop.as_ref());
    Replay {
        first_firings: strategy.first_firings(run),
        not_evaluable: not_evaluable(run, &strategy.requirements()),
        trail,
        stop,
        exactness,
    }
}

/// Every decision of `strategy` on `run`, in order, up to the first terminal one.
pub fn trail(run: &Run, strategy: &dyn Strategy) -> Vec<Decision> {
    let mut watch = strategy.start(&run.header);
    let mut trail = Vec::new();
    for view in PointView::all(run) {
        let before = trail.len();
        watch.at(&view, &mut trail);
        if trail[before..].iter().any(|decision| decision.action.is_terminal()) {
            break;
        }
    }
    trail
}

/// Does the recorded path end here? A forced final answer ends it too: one call follows, and no more.
fn ends_path(action: Action) -> bool {
    action.is_terminal() || action == Action::ForceFinal
}

fn exactness(run: &Run, trail: &[Decision], stop: Option<&Stop>) -> Exactness {
    let divergence = trail.iter().find(|decision| {
        decision.diverges()
            && stop.is_none_or(|stop| decision.point < stop.point || decision.action == Action::ForceFinal)
    });
    if let Some(decision) = divergence {
        return Exactness::Diverged { at: decision.point };
    }
    match run.last_point() {
        Some(at) if stop.is_none() && run.grade.end.is_censoring() => Exactness::Censored { at },
        _ => Exactness::Exact,
    }
}

/// The requirements that `run` does not meet.
fn not_evaluable(run: &Run, requirements: &[Requirement]) -> Vec<Requirement> {
    requirements.iter().filter(|requirement| !has(run, requirement.need)).cloned().collect()
}

/// Does a message carry what only one framework records: a field of its own, or the agent's name?
fn has_native(message: &Message, kind: &str) -> bool {
    if kind == "agent names" {
        return message.is_step() && message.name.is_some();
    }
    let Some(extra) = &message.extra else { return false };
    serde_json::from_str::<BTreeMap<&str, &RawValue>>(extra.get()).is_ok_and(|fields| fields.contains_key(kind))
}

fn is_plan_taken_out(event: &Event) -> bool {
    matches!(event, Event::Note(note) if &*note.kind == PLAN_TAKEN_OUT)
}

/// Does the recording hold what `need` names, anywhere?
pub fn has(run: &Run, need: Need) -> bool {
    let mut messages = run.events().iter().filter_map(Event::message);
    let is_call =
        |message: &Message| message.role == Role::Assistant && matches!(message.lane, Lane::Main | Lane::Side(_));
    match need {
        Need::Usage => messages.any(|message| is_call(message) && message.usage.is_some_and(|usage| !usage.is_empty())),
        Need::Cost => messages.any(|message| is_call(message) && message.cost.is_some()),
        Need::Times => messages.any(|message| message.ts.is_some()),
        Need::ErrorFlags => messages.any(|message| message.is_result() && message.is_error.is_some()),
        // Without its plan a recording tells too few experiments, or too many.
        Need::Metrics | Need::Plan if run.header.redacted && run.events().iter().any(is_plan_taken_out) => false,
        Need::Metrics => run.events().iter().any(|event| matches!(event, Event::Metrics(_))),
        Need::Plan => {
            run.events().iter().any(|event| matches!(event, Event::Metrics(metrics) if metrics.plan.is_some()))
        }
        Need::Texts => !run.header.redacted,
        // What a judge replied is gone from a redacted recording.
        Need::Judge if run.header.redacted && run.events().iter().any(|event| matches!(event, Event::Judge(_))) => {
            false
        }
        // agentica's log keeps the verdict of each turn in its goal rows, without the reply.
        Need::Judge => run.events().iter().any(|event| match event {
            Event::Judge(_) => true,
            Event::Note(note) => &*note.kind == "agentica.goal",
            _ => false,
        }),
        Need::FinishReasons => messages.any(|message| is_call(message) && message.finish_reason.is_some()),
        Need::Outcome => run.secured() != Secured::Unknown,
        Need::Native(kind) => run.events().iter().any(|event| match event {
            Event::Note(note) => &*note.kind == kind,
            Event::Message(message) => has_native(message, kind),
            _ => false,
        }),
    }
}
