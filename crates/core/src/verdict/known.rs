//! What is known about a run under a strategy, and why not more. Every quantity is either known or an interval.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Amounts, Bounds, Course, Ledger, Verdict};
use crate::decision::Action;
use crate::replay::{Exactness, Replay, Stop};
use crate::transcript::{Outcome, Point};

/// Reasons why something is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Doubts {
    /// A rule could not be evaluated on this recording and might have acted.
    pub unread: bool,
    /// The strategy warned, asked or refused, and the recording does not show what the agent does then.
    pub diverged: bool,
    /// The run was not graded.
    pub unlabelled: bool,
}

impl Doubts {
    /// The names in files and tables, joined by `+`; empty when nothing is in doubt.
    pub fn names(self) -> &'static str {
        match (self.unread, self.diverged, self.unlabelled) {
            (false, false, false) => "",
            (false, false, true) => "unlabelled",
            (false, true, false) => "diverged",
            (false, true, true) => "diverged+unlabelled",
            (true, false, false) => "unread",
            (true, false, true) => "unread+unlabelled",
            (true, true, false) => "unread+diverged",
            (true, true, true) => "unread+diverged+unlabelled",
        }
    }

    /// True when nothing is in doubt.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// True for a doubt of the recording rather than the strategy: such a run is left out of rates whatever the
    /// strategy did. Runs with only doubts of the strategy stay in as intervals.
    pub fn come_from_recording(self) -> bool {
        self.unread || self.unlabelled
    }
}

/// Serialised as [`Doubts::names`].
impl Serialize for Doubts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.names())
    }
}

/// Names in any order.
impl<'de> Deserialize<'de> for Doubts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut doubts = Self::default();
        for part in text.split('+').filter(|part| !part.is_empty()) {
            match part {
                "unread" => doubts.unread = true,
                "diverged" => doubts.diverged = true,
                "unlabelled" => doubts.unlabelled = true,
                _ => return Err(serde::de::Error::custom(format!("`{part}` is no cause of doubt"))),
            }
        }
        Ok(doubts)
    }
}

/// What a run costs under a strategy: lower and upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// The lower bound. An amount is `None` if the recording does not give it.
    pub low: Amounts,
    /// The upper bound; `None` if there is none, because after a warning the agent may continue for any number of
    /// steps and nothing limits them.
    pub high: Option<Amounts>,
}

/// What is known of every quantity that is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Whether the run was ended early.
    pub stopped: Bounds,
    /// Whether a recorded success was lost.
    pub killed: Bounds,
    /// Whether a recorded failure was ended early.
    pub true_stop: Bounds,
    /// What was spent.
    pub spent: Spent,
    /// Why no more is known.
    pub doubts: Doubts,
}

/// Derives what is known of one replayed run.
///
/// A rule that could not be evaluated might have acted before the stop that was found, or although none was found. A
/// stopped run therefore remains stopped, at that point or earlier; without a stop, everything is open. Everything is
/// also open if that rule might have warned, and after a divergence; but a limit on steps still limits what is spent.
pub fn known(course: &Course, ledger: &Ledger, replay: &Replay) -> Known {
    let doubts = Doubts {
        unread: !replay.not_evaluable.is_empty(),
        diverged: matches!(replay.exactness, Exactness::Diverged { .. }),
        unlabelled: course.outcome == Outcome::Unknown,
    };
    let stop = replay.stop.as_ref();
    let verdict = course.verdict(stop.map(|stop| stop.point));
    let stopped = stopped(replay);
    let killed = match course.outcome {
        Outcome::Failure => Bounds::exactly(false),
        Outcome::Unknown => Bounds { low: false, high: stopped.high },
        Outcome::Success if doubts.diverged || replay.path_in_doubt => Bounds { low: false, high: true },
        Outcome::Success if doubts.unread => {
            // An earlier stop loses the success too, unless a success was graded before this stop.
            let sooner = stop.is_some_and(|stop| verdict.is_fes() && !course.ever_graded_success(stop.point));
            Bounds { low: sooner, high: true }
        }
        Outcome::Success => Bounds::exactly(verdict.is_fes()),
    };
    let true_stop = match course.outcome {
        Outcome::Success => Bounds::exactly(false),
        Outcome::Unknown => Bounds { low: false, high: stopped.high },
        Outcome::Failure if stopped.is_exact() && !stopped.low => Bounds::exactly(false),
        Outcome::Failure => {
            // An earlier stop might have rescued it.
            let open = doubts.unread && stop.is_some_and(|stop| course.ever_graded_success(stop.point));
            let ends = verdict == Verdict::TrueStop || !stopped.low;
            Bounds { low: stopped.low && !open && ends, high: ends || open }
        }
    };
    Known { stopped, killed, true_stop, spent: spent(ledger, replay), doubts }
}

/// The point at which the strategy ended the recorded path, if nothing before it departs from the recording.
fn own_stop(replay: &Replay) -> Option<&Stop> {
    let stop = replay.stop.as_ref().filter(|_| !replay.path_in_doubt);
    stop.filter(|stop| match replay.exactness {
        Exactness::Diverged { at } => stop.action == Action::ForceFinal && at >= stop.point,
        _ => true,
    })
}

fn stopped(replay: &Replay) -> Bounds {
    match (own_stop(replay), replay.exactness) {
        (Some(_), _) => Bounds::exactly(true),
        (None, Exactness::Diverged { .. }) => Bounds::OPEN,
        (None, _) if !replay.not_evaluable.is_empty() => Bounds::OPEN,
        (None, _) => Bounds::exactly(false),
    }
}

/// What was spent on the path and on calls of the strategy itself. Each of those costs between the cheapest and the
/// most expensive call of the run.
fn spent(ledger: &Ledger, replay: &Replay) -> Spent {
    let spent = spent_on_path(ledger, replay);
    if replay.extra_calls == 0 {
        return spent;
    }
    let Some((cheapest, dearest)) = ledger.calls() else { return Spent { high: None, ..spent } };
    Spent {
        low: spent.low.plus(cheapest.times(replay.extra_calls)),
        high: spent.high.map(|high| high.plus(dearest.times(replay.extra_calls))),
    }
}

fn spent_on_path(ledger: &Ledger, replay: &Replay) -> Spent {
    let whole = ledger.whole();
    let unread = !replay.not_evaluable.is_empty();
    let from = |point| if unread { whole.nothing() } else { ledger.until(point) };
    match (own_stop(replay), replay.exactness) {
        (Some(stop), _) => {
            let until = ledger.until(stop.point);
            let (low, high) = match (stop.action, ledger.calls()) {
                (Action::ForceFinal, Some((cheapest, dearest))) => {
                    (from(stop.point).plus(cheapest), until.plus(dearest))
                }
                (Action::ForceFinal, None) => return Spent { low: from(stop.point), high: None },
                _ => (from(stop.point), until),
            };
            Spent { low, high: Some(high) }
        }
        _ if replay.path_in_doubt => Spent { low: whole.nothing(), high: None },
        (None, Exactness::Diverged { at }) => Spent { low: from(at), high: spent_by_limit(ledger, replay, at) },
        (None, _) if unread => Spent { low: whole.nothing(), high: Some(whole) },
        (None, _) => Spent { low: whole, high: Some(whole) },
    }
}

/// The most that is spent after a divergence, if the strategy limits steps: each step that is left costs as much as the
/// dearest call of the run. What was recorded up to the limit is no bound: the agent knows more now, and need not do the
/// same.
fn spent_by_limit(ledger: &Ledger, replay: &Replay, at: Point) -> Option<Amounts> {
    let (limit, (_, dearest)) = (replay.step_limit?, ledger.calls()?);
    let spent = ledger.until(at);
    Some(spent.plus(dearest.times(u64::from(limit).saturating_sub(spent.steps))))
}
