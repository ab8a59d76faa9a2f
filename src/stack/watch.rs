//! A stack at work on one run.

use super::cap::WatchedCap;
use super::{Clause, Stack, Watching};
use crate::decision::{Decision, Evidence, Watch};
use crate::transcript::{Header, PointView};

/// A clause at work on one run.
pub(super) struct WatchedClause<'s> {
    clause: &'s Clause,
    watching: Watching<'s>,
    strikes: u32,
    rests_until: u32,
}

impl<'s> WatchedClause<'s> {
    pub(super) fn start(clause: &'s Clause) -> Self {
        Self { clause, watching: Watching::start(&clause.condition), strikes: 0, rests_until: 0 }
    }

    /// Takes a point in; the evidence when the clause acts there.
    pub(super) fn at(&mut self, view: &PointView<'_>) -> Option<Evidence> {
        self.watching.observe(view);
        if view.moment() != self.clause.at {
            return None;
        }
        let reading = self.watching.read();
        if reading.holds != Some(true) || view.point().step < self.rests_until {
            return None;
        }
        self.strikes += 1;
        if self.strikes < self.clause.strikes {
            return None;
        }
        self.strikes = 0;
        self.rests_until = view.point().step.saturating_add(self.clause.cooldown).saturating_add(1);
        Some(reading.evidence)
    }
}

/// A stack at work on one run.
pub(super) struct WatchedStack<'s> {
    clauses: Vec<WatchedClause<'s>>,
    cap: Option<WatchedCap<'s>>,
}

impl<'s> WatchedStack<'s> {
    pub(super) fn start(stack: &'s Stack, header: &Header) -> Self {
        Self {
            // A clause that would read placeholders must not stand in the way of the others.
            clauses: stack
                .clauses
                .iter()
                .filter(|clause| !header.redacted || clause.is_blind())
                .map(WatchedClause::start)
                .collect(),
            cap: stack.cap.as_ref().map(|cap| WatchedCap::start(cap, header)),
        }
    }
}

impl Watch for WatchedStack<'_> {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        let mut stopped = false;
        for watched in &mut self.clauses {
            // Every clause sees every point; the first that stops has the last word.
            let Some(evidence) = watched.at(view) else { continue };
            if !stopped {
                let clause = watched.clause;
                trail.push(Decision::at(view, clause.then, clause.name.clone(), evidence));
                stopped = clause.then.is_terminal();
            }
        }
        let hit = self.cap.as_mut().and_then(|cap| cap.at(view));
        trail.extend(hit.filter(|_| !stopped));
    }
}
