//! Which runs a guard failed on, and how: each kind of failure once, with a count.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use whenstop_core::decision::Trouble;
use whenstop_core::diagnostic::{count, one_line};
use whenstop_core::transcript::Point;

use super::GuardFailure;
use super::failure::MOST_WAITED;

/// A failure: where it happened first, in the order of run ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FirstFailure {
    run: String,
    point: Option<Point>,
    failure: GuardFailure,
}

/// After so many runs without an answer in time, a guard is given up: each took the whole time limit.
const MOST_SILENT: usize = 10;
/// After so many failed runs of any kind, too.
const MOST_FAILED: usize = 1000;
/// An answer that takes as long as this is late, though in time.
const LATE: Duration = Duration::from_secs(1);

/// The failures of a guard. A run that is replayed twice counts once.
#[derive(Debug, Default)]
pub(super) struct FailureLedger {
    kinds: BTreeMap<&'static str, (BTreeSet<u64>, FirstFailure)>,
    /// How long the late answers took.
    waited: Duration,
}

impl FailureLedger {
    /// Adds a failure.
    pub(super) fn put(&mut self, run: &str, point: Option<Point>, failure: GuardFailure) {
        let first = FirstFailure { run: run.to_owned(), point, failure };
        let fingerprint = whenstop_core::transcript::Fingerprint::from_text(run).0;
        let (runs, known) = self.kinds.entry(first.failure.kind()).or_insert_with(|| (BTreeSet::new(), first.clone()));
        if first < *known {
            *known = first;
        }
        runs.insert(fingerprint);
    }

    /// Adds the time that an answer took. Whether too much time is lost by now.
    pub(super) fn is_too_late(&mut self, took: Duration) -> bool {
        if took >= LATE {
            self.waited = self.waited.saturating_add(took);
        }
        self.waited >= MOST_WAITED
    }

    /// Whether the guard is given up, for its whole stack: the number of failed runs does not depend on their order, and
    /// so not on the number of threads. Which run gets which process does, so their handshakes must not differ.
    pub(super) fn is_given_up(&self) -> bool {
        let silent = if let Some((runs, _)) = self.kinds.get(GuardFailure::SILENT) { runs.len() } else { 0 };
        self.waited >= MOST_WAITED
            || silent >= MOST_SILENT
            || self.kinds.contains_key(GuardFailure::DIFFERS)
            || self.own().map(|(runs, _)| runs.len()).sum::<usize>() >= MOST_FAILED
    }

    /// The failures that are the guard's own: not being asked any more is none.
    fn own(&self) -> impl Iterator<Item = &(BTreeSet<u64>, FirstFailure)> {
        self.kinds.iter().filter(|(kind, _)| **kind != GuardFailure::GIVEN_UP).map(|(_, failures)| failures)
    }

    /// One line for each kind of failure.
    pub(super) fn troubles(&self, guard: &str) -> Vec<Trouble> {
        let gave_up = self.is_given_up();
        let of_kind = |(runs, first): &(BTreeSet<u64>, FirstFailure)| {
            let at = first.point.map(|point| format!(" at {point}")).unwrap_or_default();
            let n = count(runs.len() as u64, "run");
            let end = if gave_up { "given up after" } else { "unknown on" };
            let (guard, run, failure) = (one_line(guard), one_line(&first.run), &first.failure);
            let what = format!("guard `{guard}` {failure}; {end} {n}, such as `{run}`{at}");
            Trouble { what, help: first.failure.help().to_owned(), gave_up }
        };
        self.own().map(of_kind).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_that_always_answers_late_is_given_up() {
        let mut ledger = FailureLedger::default();
        // Any number of answers at once, and 66 that take nine seconds.
        let is_late = |ledger: &mut FailureLedger, n: usize, millis| {
            (0..n).any(|_| ledger.is_too_late(Duration::from_millis(millis)))
        };
        assert!(!is_late(&mut ledger, 1_000_000, 999));
        assert!(!is_late(&mut ledger, 66, 9000) && !ledger.is_given_up());
        assert!(is_late(&mut ledger, 1, 9000) && ledger.is_given_up());
        ledger.put("r", None, GuardFailure::Late);
        assert_eq!(
            ledger.troubles("g")[0].what,
            "guard `g` took 10 minutes for late answers; given up after 1 run, such as `r`"
        );
    }
}
