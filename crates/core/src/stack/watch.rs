//! A stack at work on one run.

use super::cap::WatchedCap;
use super::{Clause, Stack, Watching};
use crate::decision::{Decision, Evidence, FirstFiring, Watch};
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
    /// Each with its place in the stack.
    clauses: Vec<(usize, WatchedClause<'s>)>,
    cap: Option<WatchedCap<'s>>,
    /// Of the clauses and the cap, if they stand alone.
    first_firings: Option<Vec<FirstFiring>>,
}

impl<'s> WatchedStack<'s> {
    pub(super) fn start(stack: &'s Stack, header: &Header) -> Self {
        // A clause that would read placeholders must not stand in the way of the others.
        let clauses = stack.clauses.iter().enumerate().filter(|(_, clause)| !header.redacted || clause.is_blind());
        let n_rules = stack.clauses.len() + usize::from(stack.cap.is_some());
        Self {
            clauses: clauses.map(|(nth, clause)| (nth, WatchedClause::start(clause))).collect(),
            cap: stack.cap.as_ref().map(|cap| WatchedCap::start(cap, header)),
            first_firings: stack.stands_alone().then(|| vec![None; n_rules]),
        }
    }

    /// Notes where a rule acted, if it is the first time.
    fn note(&mut self, nth: usize, view: &PointView<'_>, evidence: Evidence) {
        if let Some(first) = self.first_firings.as_mut().and_then(|firings| firings.get_mut(nth)) {
            first.get_or_insert((view.point(), evidence));
        }
    }
}

impl Watch for WatchedStack<'_> {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        for at in 0..self.clauses.len() {
            // Every clause sees every point and says what it does: which of them counts is for the replay to decide.
            let (nth, watched) = &mut self.clauses[at];
            let Some(evidence) = watched.at(view) else { continue };
            let clause = watched.clause;
            trail.push(Decision::at(view, clause.then, clause.name.clone(), evidence));
            let nth = *nth;
            self.note(nth, view, evidence);
        }
        if let Some(hit) = self.cap.as_mut().and_then(|cap| cap.at(view)) {
            let last = self.first_firings.as_ref().map_or(0, |firings| firings.len() - 1);
            self.note(last, view, hit.evidence);
            trail.push(hit);
        }
    }

    fn first_firings(&self) -> Option<&[FirstFiring]> {
        self.first_firings.as_deref()
    }
}
