//! Numbers of other programs: a guard that answers with a number is a signal, `guard:NAME.NUMBER`.
//!
//! A guard is asked once about each run, whatever the number of rules that read it: its readings of the whole run are
//! kept beside the run ([`ask`](crate::decision::ask)), and a signal only ever takes the one of its own point. A run in progress has no such
//! readings, and a rule that counts by round sees runs of its own: there the guard is asked point by point.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::{Manual, Options, Reads, Signal, SignalInfo};
use crate::decision::{Need, NumberOf, Strategy, Watch, number_now};
use crate::transcript::{Moment, Moments, PointView};

/// What the name of such a signal begins with.
const PREFIX: &str = "guard:";

/// The signal of that name, if it is that of a guard: `guard:mine.score`.
pub fn info(id: &str) -> Option<&'static SignalInfo> {
    /// Each name that was ever asked for, once: rules hold signals for as long as the program runs.
    static KNOWN: LazyLock<Mutex<BTreeMap<String, &'static SignalInfo>>> = LazyLock::new(Mutex::default);
    guard_of(id)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(info) = known.get(id) {
        return Some(info);
    }
    let info: &'static SignalInfo = Box::leak(Box::new(SignalInfo {
        id: Box::leak(id.to_owned().into_boxed_str()),
        summary: "the number that a guard answers with",
        unit: "as reported",
        source: "your own program",
        reads: Reads::Messages,
        takes_steps: false,
        accumulates: false,
        options: &[],
        need: None,
        contents: &[],
        at: Moment::AfterTools,
        looks_at: Moments::ALL,
        manual: Manual::Text("The latest number that the guard answered with."),
        start: |options| Box::new(Answered::start(options)),
    }));
    known.insert(id.to_owned(), info);
    Some(info)
}

/// The names of the guard and of its number in the name of a signal.
pub fn guard_of(id: &str) -> Option<(&str, &str)> {
    let (guard, number) = id.strip_prefix(PREFIX)?.rsplit_once('.')?;
    if guard.is_empty() || number.is_empty() { None } else { Some((guard, number)) }
}

/// The number of a guard, if it answers with one.
pub fn number_of(guard: &Arc<dyn Strategy>) -> Option<NumberOf> {
    let id = format!("{PREFIX}{}.{}", guard.name(), guard.number()?.name);
    Some(NumberOf::program(info(&id)?.id, Arc::clone(guard)))
}

/// Calls `each` with everything that a rule that reads the guard's number needs from a recording: what the guard needs, and
/// its answers.
pub(crate) fn each_need(info: &SignalInfo, options: &Options, each: &mut dyn FnMut(Need)) {
    if guard_of(info.id).is_none() {
        return;
    }
    if let Some(guard) = options.number.strategy() {
        for requirement in guard.requirements() {
            each(requirement.need);
        }
    }
    each(Need::Number(info.id));
}

/// The readings of a guard on one run.
struct Answered {
    number: NumberOf,
    /// The points seen so far.
    seen: usize,
    /// Not known before the first point.
    from: Option<From>,
}

/// Where its readings come from.
enum From {
    /// They were made before.
    Kept(Arc<[Option<f64>]>),
    /// The guard, which is asked at each point.
    Guard(Box<dyn Watch>),
    /// Nobody: the guard was not started.
    Nobody,
}

impl Answered {
    fn start(options: &Options) -> Self {
        Self { number: options.number.clone(), seen: 0, from: None }
    }

    fn source(&self, view: &PointView<'_>) -> From {
        match (self.number.kept(view), self.number.strategy()) {
            (Some(kept), _) => From::Kept(kept),
            (None, Some(guard)) => From::Guard(Arc::clone(guard).start(view.header())),
            (None, None) => From::Nobody,
        }
    }
}

impl Signal for Answered {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.seen += 1;
        let from = self.from.take().unwrap_or_else(|| self.source(view));
        match self.from.insert(from) {
            From::Kept(readings) => readings.get(self.seen - 1).copied().flatten(),
            From::Guard(watch) => number_now(&mut **watch, view),
            From::Nobody => None,
        }
    }
}
