//! Applies a stack to one run, point by point.

use std::sync::Arc;

use smallvec::SmallVec;

use super::cap::WatchedCap;
use super::scope::{RoundRecorder, Scope};
use super::{Clause, Stack, Watching};
use crate::decision::{Decision, Evidence, FirstFiring, RuleReading, Watch};
use crate::transcript::{Header, Moments, PointView};

/// The state of a clause for one run.
struct WatchedClause {
    watching: Watching,
    strikes: u32,
    rests_until: u32,
}

impl WatchedClause {
    fn start(clause: &Clause) -> Self {
        Self { watching: Watching::start(&clause.condition), strikes: 0, rests_until: 0 }
    }

    /// Takes the next point; returns the evidence if the clause acts there. `clause` must be the one it was started with.
    fn at(&mut self, clause: &Clause, view: &PointView<'_>) -> Option<Evidence> {
        self.watching.observe(view);
        if view.moment() != clause.at {
            return None;
        }
        let reading = self.watching.read();
        if reading.holds != Some(true) || view.point().step < self.rests_until {
            return None;
        }
        self.strikes += 1;
        if self.strikes < clause.strikes {
            return None;
        }
        self.strikes = 0;
        self.rests_until = view.point().step.saturating_add(clause.cooldown).saturating_add(1);
        Some(reading.evidence)
    }
}

/// The state of a stack for one run.
pub(super) struct WatchedStack {
    stack: Arc<Stack>,
    /// In the same order as the stack's clauses.
    clauses: SmallVec<[WatchedClause; 1]>,
    cap: Option<WatchedCap>,
    /// The current round, if a clause or the cap counts per round.
    round: Option<Box<RoundRecorder>>,
    /// First firings of the clauses and then the cap, if the rules are independent.
    first_firings: Option<Vec<FirstFiring>>,
}

impl WatchedStack {
    pub(super) fn start(stack: Arc<Stack>, header: &Header) -> Self {
        let n_rules = stack.clauses.len() + usize::from(stack.cap.is_some());
        Self {
            clauses: stack.clauses.iter().map(WatchedClause::start).collect(),
            cap: stack.cap.as_ref().map(|cap| WatchedCap::start(cap, header)),
            round: if stack.counts_by_round() { Some(Box::new(RoundRecorder::start(header))) } else { None },
            first_firings: if stack.stands_alone() { Some(vec![None; n_rules]) } else { None },
            stack,
        }
    }

    /// Asks the rules at `view`: those that count per run and those that count per round, as far as they have a point
    /// there.
    fn consult(
        &mut self,
        view: &PointView<'_>,
        in_run: Option<&PointView<'_>>,
        in_round: Option<&PointView<'_>>,
        trail: &mut Vec<Decision>,
    ) {
        let seen = |scope: Scope| match scope {
            Scope::Run => in_run,
            Scope::Round => in_round,
        };
        for (nth, (clause, watched)) in self.stack.clauses.iter().zip(&mut self.clauses).enumerate() {
            // Every clause sees every point and reports its decision; the replay picks the one that counts.
            let Some(seen) = seen(clause.scope) else { continue };
            let Some(evidence) = watched.at(clause, seen) else { continue };
            trail.push(Decision::at(view, clause.then, clause.name.clone(), evidence));
            note(&mut self.first_firings, nth, view, evidence);
        }
        if let (Some(watched), Some(cap)) = (&mut self.cap, &self.stack.cap)
            && let Some(seen) = seen(cap.scope)
            && let Some(mut hit) = watched.at(cap, seen)
        {
            hit.point = view.point();
            note(&mut self.first_firings, self.clauses.len(), view, hit.evidence);
            trail.push(hit);
        }
    }

    /// Restarts everything that counts per round.
    fn begin_round(&mut self, header: &Header) {
        for (watched, clause) in self.clauses.iter_mut().zip(&self.stack.clauses) {
            if clause.scope == Scope::Round {
                *watched = WatchedClause::start(clause);
            }
        }
        let cap = self.stack.cap.as_ref().filter(|cap| cap.scope == Scope::Round);
        if let Some(cap) = cap {
            self.cap = Some(WatchedCap::start(cap, header));
        }
    }
}

/// Records where a rule acted, unless it acted before.
fn note(firings: &mut Option<Vec<FirstFiring>>, nth: usize, view: &PointView<'_>, evidence: Evidence) {
    if let Some(firings) = firings
        && let Some(first) = firings.get_mut(nth)
    {
        first.get_or_insert((view.point(), evidence));
    }
}

impl Watch for WatchedStack {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        let mut round = self.round.take();
        // A limit that is reached before a request counts although a prompt came in place of that request.
        if let Some(round) = &mut round
            && let Some(last) = round.end(view)
        {
            self.consult(view, None, Some(&last), trail);
        }
        if let Some(round) = &mut round
            && round.take(view)
        {
            self.begin_round(round.header());
        }
        self.consult(view, Some(view), round.as_ref().and_then(|round| round.view(view)).as_ref(), trail);
        self.round = round;
    }

    fn moments(&self) -> Moments {
        let sees_all = self.round.is_some() || self.cap.is_some();
        let moments = self.stack.clauses.iter().map(|clause| clause.condition.moments().and(Moments::only(clause.at)));
        if sees_all { Moments::ALL } else { moments.fold(Moments::NONE, Moments::and) }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let mut readings = Vec::new();
        for (clause, watched) in self.stack.clauses.iter().zip(&self.clauses) {
            watched.watching.tell(&clause.name, &mut readings);
        }
        readings.extend(self.cap.iter().zip(&self.stack.cap).map(|(watched, cap)| watched.reading(cap)));
        readings
    }

    fn first_firings(&self) -> Option<&[FirstFiring]> {
        self.first_firings.as_deref()
    }
}
