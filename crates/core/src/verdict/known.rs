//! What is known of a run under a strategy, and why not more: everything that is counted is known, or an interval.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Amounts, Bounds, Course, Ledger, Verdict};
use crate::decision::Action;
use crate::replay::{Exactness, Replay, Stop};
use crate::transcript::Outcome;

/// Why something is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Doubts {
    /// A rule could not be read on this recording, and might have acted.
    pub unread: bool,
    /// The strategy warned, asked or refused: what the agent then does is not recorded.
    pub diverged: bool,
    /// Nobody graded the run.
    pub unlabelled: bool,
}

/// A doubt by its name in tables.
type Named = (&'static str, fn(&mut Doubts) -> &mut bool);

impl Doubts {
    /// The names used in tables, each with the doubt.
    const NAMES: [Named; 3] = [
        ("unread", |doubts| &mut doubts.unread),
        ("diverged", |doubts| &mut doubts.diverged),
        ("unlabelled", |doubts| &mut doubts.unlabelled),
    ];

    /// Nothing is in doubt.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// A doubt of the recording: the run is left out of rates, whatever the strategy did. The strategy's own doubts are
    /// not among them: those runs stay in as intervals.
    pub fn of_recording(self) -> bool {
        self.unread || self.unlabelled
    }
}

/// Written as names joined by `+`; nothing when nothing is in doubt.
impl Serialize for Doubts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut doubts = *self;
        let names: Vec<&str> =
            Self::NAMES.into_iter().filter_map(|(name, doubt)| (*doubt(&mut doubts)).then_some(name)).collect();
        serializer.serialize_str(&names.join("+"))
    }
}

impl<'de> Deserialize<'de> for Doubts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut doubts = Self::default();
        for part in text.split('+').filter(|part| !part.is_empty()) {
            let Some((_, doubt)) = Self::NAMES.iter().find(|(name, _)| *name == part) else {
                return Err(serde::de::Error::custom(format!("`{part}` is no cause of doubt")));
            };
            *doubt(&mut doubts) = true;
        }
        Ok(doubts)
    }
}

/// What a strategy spends on a run: at least and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// At least this. An amount is `None` where the recording does not tell it.
    pub low: Amounts,
    /// At most this; `None` when there is no limit: after a warning the agent may go on for as long as it likes.
    pub high: Option<Amounts>,
}

/// What is known of everything that is counted, 0 or 1 each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Was the run ended early?
    pub stopped: Bounds,
    /// Was a recorded success lost?
    pub killed: Bounds,
    /// Was a recorded failure ended early?
    pub true_stop: Bounds,
    /// What was spent.
    pub spent: Spent,
    /// Why not more is known.
    pub doubts: Doubts,
}

/// What is known of one replayed run.
///
/// Where a rule could not be read it might have acted before the stop that was found, or at all: a run that was stopped
/// stays stopped, at that point or sooner; without a stop everything is open. Where that rule might have warned, and after
/// a divergence, everything is open.
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
            // An earlier stop loses the success too, unless it was graded one before.
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
            // Stopped sooner than found, it might have been rescued.
            let open = doubts.unread && stop.is_some_and(|stop| course.ever_graded_success(stop.point));
            let ends = verdict == Verdict::TrueStop || !stopped.low;
            Bounds { low: stopped.low && !open && ends, high: ends || open }
        }
    };
    Known { stopped, killed, true_stop, spent: spent(ledger, replay), doubts }
}

/// The point at which the strategy itself ended the recorded path before anything else that the recording does not show.
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

/// What was spent on the path, and on calls of the strategy's own: each costs between the cheapest and the dearest call of
/// the run.
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
        (None, Exactness::Diverged { at }) => Spent { low: from(at), high: None },
        (None, _) if unread => Spent { low: whole.nothing(), high: Some(whole) },
        (None, _) => Spent { low: whole, high: Some(whole) },
    }
}
