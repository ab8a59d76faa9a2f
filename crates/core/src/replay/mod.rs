//! One run under one strategy: the trail of decisions, where it stopped, and how exact that is.

mod evaluable;
mod following;
mod live;
mod terms;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::decision::{Action, Decision, Evidence, FirstFiring, Requirement, RuleName, Strategy, Watch};
use crate::transcript::{Point, PointView, Run};
use following::Following;

#[doc(hidden)]
pub use evaluable::{Holding, Unread, has, not_evaluable, unread};
pub use live::Live;
pub use terms::Terms;

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

/// What a strategy said on a run, by whichever way it was asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// Every decision in order, up to the first terminal one.
    pub trail: Vec<Decision>,
    /// Where each rule by itself first acted; `None` when they are entangled.
    pub first_firings: Option<Vec<FirstFiring>>,
    /// Would it end a run that was cut off before one more request?
    pub ends_next: bool,
    /// See [`Replay::extra_calls`].
    pub extra_calls: u64,
}

/// Where a recording ends, and whether the agent would have gone on there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedEnd {
    /// See [`Run::last_point`].
    pub last_point: Option<Point>,
    /// It ends at a cap, a time limit or by force ([`EndCause::is_censoring`](crate::transcript::EndCause::is_censoring)).
    pub is_cut_off: bool,
}

impl RecordedEnd {
    /// Where `run` ends.
    pub fn of(run: &Run) -> Self {
        Self { last_point: run.last_point(), is_cut_off: run.grade.end.is_censoring() }
    }
}

impl Replay {
    /// What it comes to that a strategy said this on `run`. `requirements` and `may_leave_path` are the strategy's.
    pub fn new(run: &Run, said: Said, requirements: &[Requirement], may_leave_path: bool) -> Self {
        Self::concluded(RecordedEnd::of(run), said, not_evaluable(run, requirements), may_leave_path)
    }

    /// The same where the recording itself is no longer at hand: `not_evaluable` is what it did not let be read.
    pub fn concluded(recorded: RecordedEnd, said: Said, not_evaluable: Vec<Unread>, may_leave_path: bool) -> Self {
        let Said { trail, first_firings, ends_next, extra_calls } = said;
        let end = recorded.last_point;
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
        let exactness = exactness(recorded, &trail, stop.as_ref(), ends_there);
        let path_in_doubt = path_in_doubt(&not_evaluable, stop.as_ref(), may_leave_path);
        Self { trail, stop, exactness, first_firings, not_evaluable, path_in_doubt, extra_calls }
    }
}

/// Replays `run` under `strategy`.
///
/// Only a terminal decision ends the replay. After a warning, an injected instruction or a denied call
/// the recorded path is followed on, and the answer is marked as diverged.
pub fn replay<S: Strategy + ?Sized>(run: &Run, strategy: &Arc<S>) -> Replay {
    replay_seen(run, strategy, |_, _| {})
}

/// Replays `run` under `strategy`, and hands each point up to the stop to `seen`, with the strategy as it stands after it
/// ([`Watch::readings`]).
pub fn replay_seen<S: Strategy + ?Sized>(
    run: &Run,
    strategy: &Arc<S>,
    mut seen: impl FnMut(&PointView<'_>, &dyn Watch),
) -> Replay {
    let requirements = strategy.requirements();
    let watch = Terms::of(run, &requirements).start(strategy, &run.header);
    let said = follow(run, watch, true, &mut seen);
    Replay::new(run, said, &requirements, strategy.may_leave_path())
}

/// Every decision of `strategy` on `run`, in order, up to the first terminal one.
pub fn trail<S: Strategy + ?Sized>(run: &Run, strategy: &Arc<S>) -> Vec<Decision> {
    let watch = Terms::of(run, &strategy.requirements()).start(strategy, &run.header);
    follow(run, watch, false, &mut |_, _| {}).trail
}

/// Shows a run to a strategy at work. With `each_rule`, on past its stop until each of its rules has acted.
fn follow(run: &Run, watch: Box<dyn Watch>, each_rule: bool, seen: &mut dyn FnMut(&PointView<'_>, &dyn Watch)) -> Said {
    let mut following = Following::new(watch);
    let mut trail = Vec::new();
    for view in run.views() {
        let goes_on = !following.has_ended;
        following.show(&view, &mut trail);
        if goes_on {
            seen(&view, &*following.watch);
        }
        if following.has_ended && !(each_rule && awaits_firings(&*following.watch)) {
            break;
        }
    }
    // A strategy that asks a judge is shown nothing after its stop, so these are the calls up to there.
    let extra_calls = following.watch.extra_calls();
    let first_firings = following.watch.first_firings().map(<[_]>::to_vec);
    let is_cut_off = !following.has_ended && run.grade.end.is_censoring();
    let ends_next = is_cut_off && run.one_more_request().is_some_and(|view| following.would_end(&view));
    Said { trail, first_firings, ends_next, extra_calls }
}

/// See [`Replay::path_in_doubt`]. A sum with a hole in it is too small: where it reached a limit all the same, the whole sum
/// had reached it by then, so that stop is no doubt.
fn path_in_doubt(unread: &[Unread], stop: Option<&Stop>, may_leave_path: bool) -> bool {
    let rests_on_unread = stop.is_some_and(|stop| {
        let Evidence { observed, limit } = stop.evidence;
        let reached = observed.zip(limit).is_some_and(|(observed, limit)| observed >= limit);
        unread.iter().any(|unread| unread.rule == stop.rule && !(unread.partly && reached))
    });
    !unread.is_empty() && (may_leave_path || rests_on_unread)
}

/// Is there a rule of those that stand alone that has not acted yet?
fn awaits_firings(watch: &dyn Watch) -> bool {
    watch.first_firings().is_some_and(|firings| firings.contains(&None))
}

/// Does the recorded path end here? A forced final answer ends it too: one call follows, and no more.
fn ends_path(action: Action) -> bool {
    action.is_terminal() || action == Action::ForceFinal
}

/// What is said at or after the last point changes nothing that was recorded.
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
