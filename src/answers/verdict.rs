//! The verdict of a comparison as data: which stack to ship and what it promises, or why none. Its words are in
//! [`words`](super::words).

use super::first::FirstTable;
use super::followed::FollowedVerdict;
use super::known::{Lack, MissingRecord, missing};
use crate::aggregate::{
    Candidate, Count, LEAST_SAVED, Label, NetBenefit, PassedOver, Picked, Refused, SavingRatios, Standing, Summary,
    TieBreak, WorseStratum,
};
use crate::stats::Estimate;
use crate::transcript::Outcome;

/// The verdict of a comparison.
#[derive(Clone, Debug)]
pub struct CompareVerdict {
    /// What to ship, or why nothing.
    pub conclusion: Conclusion,
    /// In what the graded runs differ from the others, if they do.
    pub picked: Option<Picked>,
    /// The unit in which savings are not told, and why.
    pub passed_over: Option<PassedOver>,
}

/// What to ship, or why nothing.
#[derive(Clone, Debug)]
pub enum Conclusion {
    /// Tuning chose the stack, and this is what it said.
    AsTuned(String),
    /// No run has an outcome, and nothing is known of what followed the stops.
    NothingGraded,
    /// No run has an outcome: what followed the stops.
    Followed(FollowedVerdict),
    /// No run succeeded, so no stack can be seen to kill a success.
    NothingSucceeded,
    /// A lost success has a price, and no run has a cost.
    NothingPriced,
    /// No stack both acted and could be judged.
    NothingActed {
        /// Stacks that did nothing on any run.
        idle: usize,
        /// Stacks that could not be judged on any run.
        unread: usize,
    },
    /// No stack comes near the limit.
    NothingNear {
        /// The tolerated share of killed successes.
        limit: f64,
    },
    /// A stack to ship.
    Ship(Box<Ship>),
    /// What was chosen on the dev tasks does not hold on the test tasks, or nothing was chosen.
    NotUpheld {
        /// The tolerated share of killed successes.
        limit: f64,
        /// The stack that was chosen, and why it does not hold.
        chosen: Option<(Label, WhyNot)>,
    },
    /// Some stacks are safe, but none of them is worth shipping.
    SafeOnly {
        /// The tolerated share of killed successes.
        limit: f64,
        /// Stacks that are safe.
        safe: usize,
        /// Stacks that were tried.
        tried: usize,
        /// The best of those that are safe.
        stack: Label,
        /// Why it is not worth it.
        why: WhyNot,
    },
    /// No stack can be shipped.
    Refused {
        /// The tolerated share of killed successes.
        limit: f64,
        /// Stacks that were tried.
        tried: usize,
        /// The stack that comes nearest.
        stack: Label,
        /// Why it cannot be shipped.
        why: WhyNot,
    },
}

/// A stack to ship, and what speaks for and against it.
#[derive(Clone, Debug)]
pub struct Ship {
    /// The stack.
    pub stack: Label,
    /// The most it kills.
    pub promise: KillPromise,
    /// What it saves, what each success left costs, and up to which price of a lost success it pays.
    pub savings: SavingRatios,
    /// If a lost success has a price: what the stack is worth, how many successes it kills at most, and of how many.
    pub worth: Option<(NetBenefit, u64, u64)>,
    /// Runs that could be judged, and all runs.
    pub judged: (u64, u64),
    /// The stack that was passed over although its numbers are the best.
    pub tie: Option<Tie>,
    /// A suite or model in which it does far worse than overall.
    pub pooled: Option<WorseStratum>,
    /// On which tasks it was chosen.
    pub chosen_on: ChosenOn,
}

/// On which tasks a stack was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenOn {
    /// On other tasks than those reported.
    OtherTasks,
    /// On these, from several stacks.
    TheseTasks,
    /// There was nothing to choose from.
    NoChoice,
}

/// What a stack kills at most: the share of a task's successes, in the mean over tasks.
#[derive(Clone, Copy, Debug)]
pub struct KillPromise {
    /// The confidence of the bound.
    pub confidence: f64,
    /// The end of the bound; `None` if nothing limits it.
    pub most: Option<f64>,
    /// The tolerated share.
    pub limit: f64,
    /// The number of stacks that the bound allows for, if it allows for a choice.
    pub best_of: Option<u64>,
    /// Whether runs of which something is unknown are counted at their worst.
    pub at_worst: bool,
    /// Whether it is the share of all successes of the runs that can be judged instead: where labels have errors, nothing
    /// else can be told.
    pub of_all: bool,
}

/// The stack that was passed over for one that is as good within chance.
#[derive(Clone, Debug)]
pub struct Tie {
    /// The stack that was passed over.
    pub stack: Label,
    /// What decided.
    pub by: TieBreak,
    /// What is known of the stack that was passed over.
    pub other: Candidate,
    /// The same of the stack to ship.
    pub own: Candidate,
}

/// Why a stack is not shipped.
#[derive(Clone, Debug)]
pub enum WhyNot {
    /// It certainly kills more than is tolerated: at least this share.
    KillsAtLeast(f64),
    /// It may kill more than is tolerated.
    MayKill(KillPromise, Refused),
    /// It kills more than is tolerated of all successes, this share, though not in the mean over tasks.
    KillsInFewTasks(f64),
    /// No task has a success.
    NoSuccess,
    /// Kills and savings are known on too few runs.
    Unknown {
        /// The share of runs on which they are known.
        known: f64,
        /// The share that is needed.
        needed: f64,
        /// What is missing on the others.
        missing: Vec<MissingRecord>,
    },
    /// It is safe, but makes successes dearer, or is not shown to pay.
    NotWorth(Box<NotWorth>),
}

/// What a safe stack does that is not shipped.
#[derive(Clone, Debug)]
pub struct NotWorth {
    /// Runs that it stops.
    pub stops: u64,
    /// All runs.
    pub runs: u64,
    /// What it saves.
    pub savings: SavingRatios,
    /// What it fails at.
    pub fault: Fault,
    /// How many more tasks like these would show that it pays, as far as they are enough.
    pub tasks_missing: Option<u64>,
}

/// Why a safe stack is not shipped.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// It is not shown to save more than it costs in lost successes.
    DoesNotPay(Option<NetBenefit>),
    /// Each success left costs more than without it.
    Dearer(Option<Estimate>),
    /// It is not shown to save anything worth mentioning.
    SavesNothing,
}

impl FirstTable<'_> {
    /// The verdict on graded runs.
    pub fn verdict(&self) -> CompareVerdict {
        let is_success = |outcome: Outcome| outcome == Outcome::Success;
        let conclusion = if let Some(tuned) = &self.field.tuned {
            Conclusion::AsTuned(tuned.verdict.clone())
        } else if self.is_ungraded() {
            Conclusion::NothingGraded
        } else if !self.rows.iter().any(|row| is_success(row.outcome())) {
            Conclusion::NothingSucceeded
        } else {
            let conclusion = match self.ship() {
                Some(summary) => Conclusion::Ship(Box::new(self.to_ship(summary))),
                None => self.refusal(),
            };
            return CompareVerdict {
                conclusion,
                picked: self.field.picked.clone(),
                passed_over: self.field.passed_over,
            };
        };
        CompareVerdict { conclusion, picked: None, passed_over: None }
    }

    fn candidate(&self, summary: &Summary) -> Option<&Candidate> {
        self.field.contest.candidates().get(self.place(&summary.stack)?)
    }

    /// The number of stacks that were tried: those that acted and could be judged.
    fn tried(&self) -> usize {
        self.summaries.len() - self.idle.len() - self.unread.len()
    }

    fn promise(&self, summary: &Summary) -> KillPromise {
        let tried = (self.tried() as u64).max(self.field.contest.tried());
        KillPromise {
            confidence: self.field.contest.confidence(),
            most: self.candidate(summary).and_then(|candidate| candidate.killed_at_most),
            limit: self.appetite.max_killed,
            best_of: if self.is_test() || tried < 2 { None } else { Some(tried) },
            at_worst: summary.counted(Count::Judged) < summary.runs && summary.corrected.is_none(),
            of_all: summary.corrected.is_some(),
        }
    }

    fn to_ship(&self, summary: &Summary) -> Ship {
        let killed = summary.estimates.killed.high;
        Ship {
            stack: summary.stack.clone(),
            promise: self.promise(summary),
            savings: *summary.ratios_in(self.unit),
            worth: summary.net_benefit.map(|benefit| (benefit, killed.hits, killed.of)),
            judged: (summary.counted(Count::Judged), summary.runs),
            tie: self.tie(summary),
            pooled: self.pooling().filter(|worse| worse.stack == summary.stack),
            chosen_on: match (self.is_test(), self.tried()) {
                (true, _) => ChosenOn::OtherTasks,
                (false, 0 | 1) => ChosenOn::NoChoice,
                (false, _) => ChosenOn::TheseTasks,
            },
        }
    }

    fn tie(&self, ship: &Summary) -> Option<Tie> {
        if self.is_test() {
            return None;
        }
        let (at, by) = self.decision.tie?;
        let stack = self.summaries.get(at)?.stack.clone();
        let other = *self.field.contest.candidates().get(at)?;
        Some(Tie { stack, by, other, own: *self.candidate(ship)? })
    }

    /// Why there is nothing to ship.
    fn refusal(&self) -> Conclusion {
        let limit = self.appetite.max_killed;
        if self.appetite.lost_success_costs.is_some()
            && self.summaries.iter().all(|summary| summary.counted(Count::RunsWithCosts) == 0)
        {
            return Conclusion::NothingPriced;
        }
        if self.is_test() {
            let chosen = self.tested().map(|chosen| (chosen.stack.clone(), self.why_not_upheld(chosen)));
            return Conclusion::NotUpheld { limit, chosen };
        }
        let tried = self.tried();
        if tried == 0 {
            return Conclusion::NothingActed { idle: self.idle.len(), unread: self.unread.len() };
        }
        let Some(nearest) = self.decision.nearest else { return Conclusion::NothingNear { limit } };
        let (Some(nearest), Some(&standing)) = (self.summaries.get(nearest), self.decision.standings.get(nearest))
        else {
            return Conclusion::NothingNear { limit };
        };
        let stack = nearest.stack.clone();
        if standing.is_not_worth_it() {
            let safe = self.decision.standings.iter().filter(|standing| standing.is_not_worth_it()).count();
            return Conclusion::SafeOnly { limit, safe, tried, stack, why: self.not_worth(nearest, standing) };
        }
        let why = if standing == Standing::Unknown { self.unknown(nearest) } else { self.may_kill(nearest) };
        Conclusion::Refused { limit, tried, stack, why }
    }

    /// Why a stack that was chosen on other tasks does not hold on these.
    fn why_not_upheld(&self, chosen: &Summary) -> WhyNot {
        match self.standing(&chosen.stack) {
            Some(standing) if standing.is_not_worth_it() => self.not_worth(chosen, standing),
            Some(Standing::Unknown) => self.unknown(chosen),
            _ => self.may_kill(chosen),
        }
    }

    fn not_worth(&self, summary: &Summary, standing: Standing) -> WhyNot {
        let fault = match standing {
            Standing::DoesNotPay => Fault::DoesNotPay(summary.net_benefit),
            Standing::Dearer => Fault::Dearer(self.candidate(summary).map(|candidate| candidate.cost)),
            _ => Fault::SavesNothing,
        };
        let candidate = self.candidate(summary);
        let tasks_missing = match fault {
            Fault::SavesNothing => candidate.and_then(|candidate| candidate.saved.clusters_missing(LEAST_SAVED)),
            Fault::DoesNotPay(_) => candidate.and_then(|candidate| candidate.worth?.clusters_missing(0.0)),
            Fault::Dearer(_) => None,
        };
        let (stops, runs, savings) = (summary.stops(), summary.runs, *summary.ratios_in(self.unit));
        WhyNot::NotWorth(Box::new(NotWorth { stops, runs, savings, fault, tasks_missing }))
    }

    fn unknown(&self, summary: &Summary) -> WhyNot {
        WhyNot::Unknown {
            known: self.candidate(summary).map_or(0.0, |candidate| candidate.known),
            needed: self.appetite.min_known,
            missing: missing(summary, &Lack::OF_A_KILL, Some(self.unit)),
        }
    }

    fn may_kill(&self, summary: &Summary) -> WhyNot {
        let limit = self.appetite.max_killed;
        let Some(candidate) = self.candidate(summary) else { return WhyNot::NoSuccess };
        match (candidate.killed_at_most, summary.fes_rate().lower(), candidate.killed_of_all) {
            (None, ..) => WhyNot::NoSuccess,
            (Some(_), Some(low), _) if low > limit => WhyNot::KillsAtLeast(low),
            (Some(most), _, Some(of_all)) if most <= limit => WhyNot::KillsInFewTasks(of_all),
            _ => WhyNot::MayKill(self.promise(summary), self.refused(summary)),
        }
    }

    fn refused(&self, summary: &Summary) -> Refused {
        let at = self.place(&summary.stack).unwrap_or(usize::MAX);
        self.field.contest.refused(at, self.appetite.max_killed)
    }
}
