//! Which runs a guard failed on, and how: each kind of failure once, with a count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use whenstop_core::decision::Trouble;
use whenstop_core::diagnostic::{count, one_line};
use whenstop_core::transcript::Point;

use super::Failure;

/// A failure: where it happened first, in the order of run ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct First {
    run: String,
    point: Option<Point>,
    failure: Failure,
}

/// The failures of a guard. A run that is replayed twice counts once.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    kinds: BTreeMap<&'static str, (BTreeSet<u64>, First)>,
}

impl Ledger {
    /// Adds a failure. Returns false if the same was known of this run: it was replayed once more.
    pub(super) fn put(&mut self, run: &str, point: Option<Point>, failure: Failure) -> bool {
        let first = First { run: run.to_owned(), point, failure };
        let fingerprint = whenstop_core::transcript::fingerprint::of_text(run).0;
        let (runs, known) = self.kinds.entry(first.failure.kind()).or_insert_with(|| (BTreeSet::new(), first.clone()));
        if first < *known {
            *known = first;
        }
        runs.insert(fingerprint)
    }

    /// One line for each kind of failure.
    pub(super) fn troubles(&self, guard: &str) -> Vec<Trouble> {
        let not_asked = self.kinds.get(Failure::GIVEN_UP).map_or(0, |(runs, _)| runs.len() as u64);
        let failures = self.kinds.iter().filter(|(kind, _)| **kind != Failure::GIVEN_UP);
        let of_kind = |(_, (runs, first)): (&&str, &(BTreeSet<u64>, First))| {
            let at = first.point.map_or_else(String::new, |point| format!(" at {point}"));
            let n = count(runs.len() as u64, "run");
            let mut what = format!(
                "guard `{}` {}; unknown on {n}, such as `{}`{at}",
                one_line(guard),
                first.failure,
                one_line(&first.run)
            );
            if not_asked > 0 {
                let _ = write!(what, ", and on {} after too many failures in a row", count(not_asked, "more run"));
            }
            Trouble { what, help: first.failure.help().to_owned() }
        };
        failures.map(of_kind).collect()
    }
}
