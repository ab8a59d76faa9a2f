//! One run under one strategy: the trail of decisions, where it stopped, and how exact that is.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::decision::{Action, Decision, Evidence, FirstFiring, Need, Requirement, RuleName, Strategy, Watch};
use crate::text::conclusion_tag::has_conclusion;
use crate::text::experiment_tag::experiment_code;
use crate::transcript::{
    Event, JUDGE_TAKEN_OUT, Lane, Message, PLAN_TAKEN_OUT, Point, PointView, Role, Run, Secured, TOLD_COMMAND, ToolCall,
};

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
    pub first_firings: Option<Vec<FirstFiring>>,
    /// What could not be evaluated on this recording, or not in full.
    pub not_evaluable: Vec<Unread>,
    /// Nothing is known of the path: a rule that could not be read might have warned before anything else, or the stop
    /// itself rests on one.
    pub path_in_doubt: bool,
    /// Model calls of the strategy's own that the recording does not contain ([`Watch::extra_calls`](crate::decision::Watch)).
    pub extra_calls: u64,
}

/// A rule that a recording does not let be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    /// The rule.
    pub rule: RuleName,
    /// What it needs.
    pub need: Need,
    /// The recording has it for some steps and not for others: what the rule read is too little.
    pub partly: bool,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, need, partly } = self;
        write!(f, "{rule}: {}no {}", if *partly { "at some steps " } else { "" }, need.name())
    }
}

/// Replays `run` under `strategy`.
///
/// Only a terminal decision ends the replay. After a warning, an injected instruction or a denied call
/// the recorded path is followed on, and the answer is marked as diverged.
pub fn replay(run: &Run, strategy: &dyn Strategy) -> Replay {
    let Watched { trail, first_firings, ends_next, extra_calls } = watched(run, strategy, true);
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
    // Where the strategy ends the run just where the recording's own cap did, it is the same policy.
    let ends_there = ending.is_some() || ends_next;
    let exactness = exactness(run, &trail, stop.as_ref(), ends_there);
    let not_evaluable = not_evaluable(run, &strategy.requirements());
    let path_in_doubt = path_in_doubt(&not_evaluable, stop.as_ref(), strategy.may_leave_path());
    Replay { trail, stop, exactness, first_firings, not_evaluable, path_in_doubt, extra_calls }
}

/// See [`Replay::path_in_doubt`]. A sum with a hole in it is too small: where it reached a limit all the same, the whole sum
/// had reached it by then, so that stop is no doubt.
pub fn path_in_doubt(unread: &[Unread], stop: Option<&Stop>, may_leave_path: bool) -> bool {
    let rests_on_unread = stop.is_some_and(|stop| {
        let Evidence { observed, limit } = stop.evidence;
        let reached = observed.zip(limit).is_some_and(|(observed, limit)| observed >= limit);
        unread.iter().any(|unread| unread.rule == stop.rule && !(unread.partly && reached))
    });
    !unread.is_empty() && (may_leave_path || rests_on_unread)
}

/// Every decision of `strategy` on `run`, in order, up to the first terminal one.
pub fn trail(run: &Run, strategy: &dyn Strategy) -> Vec<Decision> {
    watched(run, strategy, false).trail
}

/// What a strategy said on a run.
struct Watched {
    /// Every decision up to the first terminal one.
    trail: Vec<Decision>,
    /// Where each rule by itself first acted, if that was asked for and they stand alone.
    first_firings: Option<Vec<FirstFiring>>,
    /// Would it end a run that was cut off before one more request?
    ends_next: bool,
    /// See [`Replay::extra_calls`].
    extra_calls: u64,
}

fn watched(run: &Run, strategy: &dyn Strategy, each_rule: bool) -> Watched {
    let mut watch = strategy.start(&run.header);
    let misread = misread(run, strategy);
    let (mut trail, mut said) = (Vec::new(), Vec::new());
    let mut has_ended = false;
    for view in PointView::all(run) {
        watch.at(&view, &mut said);
        if !said.is_empty() {
            said.retain(|decision| !misread.contains(&decision.rule));
            if !has_ended {
                // The first that stops has the last word.
                let end = said.iter().position(|decision: &Decision| decision.action.is_terminal());
                has_ended = end.is_some();
                said.truncate(end.map_or(said.len(), |end| end + 1));
                trail.append(&mut said);
            }
            said.clear();
        }
        if has_ended && !(each_rule && watch.first_firings().is_some_and(|firings| firings.contains(&None))) {
            break;
        }
    }
    // A strategy that asks a judge is shown nothing after its stop, so these are the calls up to there.
    let extra_calls = watch.extra_calls();
    let mut firings = watch.first_firings().map(<[_]>::to_vec);
    if !misread.is_empty() {
        for (rule, firing) in strategy.rules().iter().zip(firings.iter_mut().flatten()) {
            *firing = firing.take().filter(|_| !misread.contains(rule));
        }
    }
    let ends_next = !has_ended && run.grade.end.is_censoring() && ends_before_next(run, &mut *watch, &misread);
    Watched { trail, first_firings: firings, ends_next, extra_calls }
}

fn ends_before_next(run: &Run, watch: &mut dyn Watch, misread: &[RuleName]) -> bool {
    let Some(view) = PointView::one_more_request(run) else { return false };
    let mut said = Vec::new();
    watch.at(&view, &mut said);
    said.iter().any(|decision| decision.action.is_terminal() && !misread.contains(&decision.rule))
}

/// Rules that would read a placeholder for what a redacted recording no longer has: their decisions are discarded.
fn misread(run: &Run, strategy: &dyn Strategy) -> Vec<RuleName> {
    if !run.header.redacted {
        return Vec::new();
    }
    let requirements = strategy.requirements().into_iter();
    requirements.filter(|requirement| is_taken_out(run, requirement.need)).map(|requirement| requirement.rule).collect()
}

/// Does the recorded path end here? A forced final answer ends it too: one call follows, and no more.
fn ends_path(action: Action) -> bool {
    action.is_terminal() || action == Action::ForceFinal
}

/// What is said at or after the last point changes nothing that was recorded.
fn exactness(run: &Run, trail: &[Decision], stop: Option<&Stop>, ends_there: bool) -> Exactness {
    let end = run.last_point();
    let divergence = trail.iter().find(|decision| {
        decision.diverges()
            && end.is_none_or(|end| decision.point < end)
            && stop.is_none_or(|stop| decision.point < stop.point || decision.action == Action::ForceFinal)
    });
    if let Some(decision) = divergence {
        return Exactness::Diverged { at: decision.point };
    }
    match end {
        Some(at) if stop.is_none() && !ends_there && run.grade.end.is_censoring() => Exactness::Censored { at },
        _ => Exactness::Exact,
    }
}

/// The requirements that `run` does not meet, or not at every step.
pub fn not_evaluable(run: &Run, requirements: &[Requirement]) -> Vec<Unread> {
    let gap = |requirement: &Requirement| {
        let partly = has(run, requirement.need);
        let unread = || Unread { rule: requirement.rule.clone(), need: requirement.need, partly };
        (!partly || !has_throughout(run, requirement.need)).then(unread)
    };
    requirements.iter().filter_map(gap).collect()
}

/// Does every step carry what `need` adds up over steps? A sum with a hole in it is too small, so a rule that reads it
/// acts too late. True for what is not added up.
fn has_throughout(run: &Run, need: Need) -> bool {
    match need {
        Need::Usage => run.replies().all(Message::has_usage),
        Need::Cost => run.replies().all(|reply| reply.cost.is_some()),
        Need::Times => run.replies().all(|reply| reply.ts.is_some()),
        _ => true,
    }
}

/// Does a message carry what only one framework records: a field of its own, or the agent's name?
fn has_native(message: &Message, kind: &str) -> bool {
    if kind == "agent names" {
        return message.is_step() && message.name.is_some();
    }
    let Some(extra) = &message.extra else { return false };
    if kind == "result details" {
        let native = serde_json::from_str::<serde_json::Value>(extra.get()).unwrap_or_default();
        return message.is_result() && native.pointer("/native/details").is_some();
    }
    serde_json::from_str::<BTreeMap<&str, &RawValue>>(extra.get()).is_ok_and(|fields| fields.contains_key(kind))
}

/// Is this what a redacted recording no longer has? Without its plan it tells too few experiments or too many, and
/// a judge's verdicts that are left are not all of them.
fn is_taken_out(run: &Run, need: Need) -> bool {
    let stands =
        |kind: &str| run.events().iter().any(|event| matches!(event, Event::Note(note) if &*note.kind == kind));
    run.header.redacted
        && match need {
            Need::Texts => true,
            Need::Metrics | Need::Plan => stands(PLAN_TAKEN_OUT),
            Need::Judge => stands(JUDGE_TAKEN_OUT),
            Need::PlainArguments => {
                calls(run).any(|call| serde_json::from_str::<IgnoredAny>(&call.arguments.as_str()).is_err())
            }
            Need::ToolNames => calls(run).any(|call| is_told_command(&call.name)),
            _ => false,
        }
}

fn calls(run: &Run) -> impl Iterator<Item = &ToolCall> {
    run.events().iter().filter_map(Event::message).flat_map(|message| &message.tool_calls)
}

/// Does the name stand for a word of a text: `command-3`?
fn is_told_command(name: &str) -> bool {
    let nth = name.strip_prefix(TOLD_COMMAND).and_then(|rest| rest.strip_prefix('-'));
    nth.is_some_and(|nth| !nth.is_empty() && nth.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Does the recording hold what `need` names, anywhere?
pub fn has(run: &Run, need: Need) -> bool {
    if is_taken_out(run, need) {
        return false;
    }
    let mut messages = run.events().iter().filter_map(Event::message);
    let is_call =
        |message: &Message| message.role == Role::Assistant && matches!(message.lane, Lane::Main | Lane::Side(_));
    match need {
        Need::Usage => messages.any(|message| is_call(message) && message.has_usage()),
        Need::Cost => messages.any(|message| is_call(message) && message.cost.is_some()),
        Need::Times => messages.any(|message| message.ts.is_some()),
        // A run that calls no tool lacks no result.
        Need::Results => {
            let mut called = false;
            messages.any(|message| {
                called |= message.is_step() && !message.tool_calls.is_empty();
                message.is_result()
            }) || !called
        }
        Need::ErrorFlags => messages.any(|message| message.is_result() && message.is_error.is_some()),
        Need::Metrics => run.events().iter().any(|event| matches!(event, Event::Metrics(_))),
        Need::Plan => {
            run.events().iter().any(|event| matches!(event, Event::Metrics(metrics) if metrics.plan.is_some()))
        }
        // Taken out, or there.
        Need::Texts | Need::PlainArguments | Need::ToolNames => true,
        // agentica's log keeps the verdict of each turn in its goal rows, without the reply.
        Need::Judge => run.events().iter().any(|event| match event {
            Event::Judge(_) => true,
            Event::Note(note) => &*note.kind == "agentica.goal",
            _ => false,
        }),
        Need::FinishReasons => messages.any(|message| is_call(message) && message.finish_reason.is_some()),
        Need::Outcome => run.secured() != Secured::Unknown,
        Need::ExperimentTags => messages.filter(|message| message.is_step()).any(|reply| {
            let text = reply.text();
            has_conclusion(&text) || experiment_code(&text).is_some()
        }),
        Need::Native(kind) => run.events().iter().any(|event| match event {
            Event::Note(note) => &*note.kind == kind,
            Event::Message(message) => has_native(message, kind),
            _ => false,
        }),
    }
}
