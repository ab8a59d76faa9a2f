//! Replays one run under one strategy: its decisions, where it stopped, and how exact the result is.

mod evaluable;
mod following;
mod live;
mod terms;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::decision::{Action, Decision, Evidence, FirstFiring, Need, Requirement, RuleName, Strategy, Watch, ask};
use crate::transcript::{Moments, Point, PointView, Run};

pub use evaluable::Unread;
#[doc(hidden)]
pub use evaluable::{Holding, has, not_evaluable, unread};
#[doc(hidden)]
pub use following::Following;
pub use live::Live;
pub use terms::Terms;

/// How much of the result is known to be what would have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Everything up to the stop, or to the end, happened as recorded.
    Exact,
    /// Something was injected, denied or asked at `at`; what follows is known only within bounds.
    Diverged {
        /// The first point at which a decision departs from the recording.
        at: Point,
    },
    /// The strategy would have continued, but the recording was cut off by a limit of its own.
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

/// Where a strategy ended a run, by which rule, and on what evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Where it stopped.
    pub point: Point,
    /// How it stopped: stop, fail, or a forced final answer.
    pub action: Action,
    /// The rule that stopped it.
    pub rule: RuleName,
    /// Reading and limit.
    pub evidence: Evidence,
    /// True if the framework discards the reply on which it stopped, so that a final answer is lost.
    pub drops_reply: bool,
}

/// The result of replaying one run under one strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// All its decisions, in order, up to the stop.
    pub trail: Vec<Decision>,
    /// Where it ended the run early; `None` if it did not. A stop at or after the point by which everything recorded
    /// had happened saves nothing and is not an early stop, unless the framework discards the last reply.
    pub stop: Option<Stop>,
    /// How exact the result is.
    pub exactness: Exactness,
    /// Where each rule alone would first have acted; `None` if the rules interact.
    pub first_firings: Option<Vec<FirstFiring>>,
    /// Rules that could not be evaluated on this recording, or only at some steps.
    pub not_evaluable: Vec<Unread>,
    /// True if nothing is known of the path, because a rule that could not be evaluated might have warned earlier, or
    /// because the stop itself came from such a rule.
    pub path_in_doubt: bool,
    /// Model calls of the strategy itself that the recording does not contain
    /// ([`Watch::extra_calls`](crate::decision::Watch)).
    pub extra_calls: u64,
    /// The most model calls that the run can make, whatever follows a warning
    /// ([`Strategy::step_limit`]).
    pub step_limit: Option<u32>,
}

/// The decisions of a strategy on a run, however they were obtained.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decisions {
    /// All decisions in order, up to the first terminal one.
    pub trail: Vec<Decision>,
    /// Where each rule alone first acted; `None` if the rules interact.
    pub first_firings: Option<Vec<FirstFiring>>,
    /// True if the recording was cut off and the strategy would have ended the run before one more request.
    pub ends_next: bool,
    /// See [`Replay::extra_calls`].
    pub extra_calls: u64,
    /// Rules whose program failed on this run ([`Watch::conclude`]).
    pub failed: Vec<RuleName>,
}

/// Where a recording ends, and whether it was cut off there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedEnd {
    /// See [`Run::last_point`].
    pub last_point: Option<Point>,
    /// True if a cap, a time limit or a person cut it off
    /// ([`EndCause::is_censoring`](crate::transcript::EndCause::is_censoring)).
    pub is_cut_off: bool,
}

impl RecordedEnd {
    /// The end of `run`.
    pub fn from_run(run: &Run) -> Self {
        Self { last_point: run.last_point(), is_cut_off: run.grade.end.is_censoring() }
    }
}

impl Replay {
    /// The result of `strategy` having said this on `run`. `requirements` are those of the strategy.
    pub fn new<S: Strategy + ?Sized>(run: &Run, said: Decisions, requirements: &[Requirement], strategy: &S) -> Self {
        let (end, not_evaluable) = (RecordedEnd::from_run(run), not_evaluable(run, requirements));
        let concluded = Self::concluded(end, said, not_evaluable, strategy.may_leave_path());
        Self { step_limit: strategy.step_limit(), ..concluded }
    }

    /// The same when the recording itself is no longer available, without a limit on steps; `not_evaluable` is what it
    /// lacked.
    pub fn concluded(recorded: RecordedEnd, said: Decisions, not_evaluable: Vec<Unread>, may_leave_path: bool) -> Self {
        let Decisions { trail, first_firings, ends_next, extra_calls, failed } = said;
        let mut not_evaluable = not_evaluable;
        not_evaluable.extend(failed.into_iter().map(|rule| Unread { rule, need: Need::Answers, partly: false }));
        let end = recorded.last_point;
        let ending = trail.iter().find(|decision| decision.action.ends_path());
        let counts = |it: &&Decision| matches!(end, Some(end) if it.point < end || it.drops_reply);
        let stop = ending.filter(counts).map(|decision| Stop {
            point: decision.point,
            action: decision.action,
            rule: decision.rule.clone(),
            evidence: decision.evidence,
            drops_reply: decision.drops_reply,
        });
        // If the strategy ends the run exactly where the recording's own cap did, both are the same policy there.
        let ends_there = ending.is_some() || ends_next;
        let exactness = exactness(recorded, &trail, stop.as_ref(), ends_there);
        let path_in_doubt = path_in_doubt(&not_evaluable, stop.as_ref(), may_leave_path);
        Self { trail, stop, exactness, first_firings, not_evaluable, path_in_doubt, extra_calls, step_limit: None }
    }
}

/// Replays `run` under `strategy`.
///
/// Only a terminal decision ends the replay. After a warning, an injected instruction or a denied call, the replay
/// continues along the recorded path and the result is marked as diverged.
pub fn replay<S: Strategy + ?Sized>(run: &Run, strategy: &Arc<S>) -> Replay {
    replayed(run, strategy, None)
}

/// Like [`replay`], and calls `seen` with each point up to the stop and with the strategy as it is after that point
/// ([`Watch::readings`]).
pub fn replay_seen<S: Strategy + ?Sized>(
    run: &Run,
    strategy: &Arc<S>,
    mut seen: impl FnMut(&PointView<'_>, &dyn Watch),
) -> Replay {
    replayed(run, strategy, Some(&mut seen))
}

/// Called with each point shown, and with the strategy as it is after it.
type Seen<'s> = &'s mut dyn FnMut(&PointView<'_>, &dyn Watch);

fn replayed<S: Strategy + ?Sized>(run: &Run, strategy: &Arc<S>, seen: Option<Seen<'_>>) -> Replay {
    ask(run, &**strategy);
    let requirements = strategy.requirements();
    let watch = Terms::from_run(run, &requirements).start(strategy, &run.header);
    let said = follow(run, watch, true, seen);
    Replay::new(run, said, &requirements, &**strategy)
}

/// The decisions of `strategy` on `run`, in order, up to the first terminal one.
pub fn trail<S: Strategy + ?Sized>(run: &Run, strategy: &Arc<S>) -> Vec<Decision> {
    trailed(run, strategy, None)
}

/// Like [`trail`], and calls `seen` as [`replay_seen`] does.
#[doc(hidden)]
pub fn trail_seen<S: Strategy + ?Sized>(
    run: &Run,
    strategy: &Arc<S>,
    mut seen: impl FnMut(&PointView<'_>, &dyn Watch),
) -> Vec<Decision> {
    trailed(run, strategy, Some(&mut seen))
}

fn trailed<S: Strategy + ?Sized>(run: &Run, strategy: &Arc<S>, seen: Option<Seen<'_>>) -> Vec<Decision> {
    ask(run, &**strategy);
    let watch = Terms::from_run(run, &strategy.requirements()).start(strategy, &run.header);
    follow(run, watch, false, seen).trail
}

/// Shows a run to a running strategy: all of its points if somebody looks on, else those that the strategy needs. With
/// `each_rule`, continues after its stop until each of its rules has acted.
fn follow(run: &Run, watch: Box<dyn Watch>, each_rule: bool, mut seen: Option<Seen<'_>>) -> Decisions {
    let moments = if seen.is_some() { Moments::ALL } else { watch.moments() };
    let mut following = Following::new(watch);
    let mut trail = Vec::new();
    for view in run.views_at(moments) {
        let goes_on = !following.has_ended();
        following.show(&view, &mut trail);
        if let Some(seen) = seen.as_mut().filter(|_| goes_on) {
            seen(&view, &*following.watch);
        }
        if following.has_ended() && !(each_rule && awaits_firings(&*following.watch)) {
            break;
        }
    }
    // A strategy that asks a judge is shown no points after its stop, so this counts only calls up to it.
    let extra_calls = following.watch.extra_calls();
    let first_firings = following.watch.first_firings().map(<[_]>::to_vec);
    let is_cut_off = !following.has_ended() && run.grade.end.is_censoring();
    let ends_next = is_cut_off && run.one_more_request_after(moments).is_some_and(|view| following.would_end(&view));
    let failed = following.watch.conclude();
    if !failed.is_empty() {
        return Decisions { failed, ..Decisions::default() };
    }
    Decisions { trail, first_firings, ends_next, extra_calls, failed }
}

/// See [`Replay::path_in_doubt`]. A sum with gaps is too small: if it reached the limit all the same, the full sum had
/// reached it by then, so such a stop is not in doubt.
fn path_in_doubt(unread: &[Unread], stop: Option<&Stop>, may_leave_path: bool) -> bool {
    !unread.is_empty() && (may_leave_path || stop.is_some_and(|stop| rests_on_unread(stop, unread)))
}

fn rests_on_unread(stop: &Stop, unread: &[Unread]) -> bool {
    let Evidence { observed, limit } = stop.evidence;
    let reached = matches!((observed, limit), (Some(observed), Some(limit)) if observed >= limit);
    unread.iter().any(|unread| unread.rule == stop.rule && !(unread.partly && reached))
}

/// True if the rules are independent and one of them has not acted yet.
fn awaits_firings(watch: &dyn Watch) -> bool {
    matches!(watch.first_firings(), Some(firings) if firings.contains(&None))
}

/// Decisions at or after the last point change nothing that was recorded.
fn exactness(recorded: RecordedEnd, trail: &[Decision], stop: Option<&Stop>, ends_there: bool) -> Exactness {
    let end = recorded.last_point;
    let divergence = trail.iter().find(|decision| {
        decision.diverges()
            && end.is_none_or(|end| decision.point < end)
            && stop.is_none_or(|stop| decision.point < stop.point || decision.action == Action::ForceFinal)
    });
    if let Some(decision) = divergence {
        return Exactness::Diverged { at: decision.point };
    }
    match end {
        Some(at) if stop.is_none() && !ends_there && recorded.is_cut_off => Exactness::Censored { at },
        _ => Exactness::Exact,
    }
}
