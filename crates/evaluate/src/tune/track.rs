//! One run as tuning sees it: the readings of the watched signals after each step, and the result of a stop there.

use crate::aggregate::Unit;
use crate::decision::{Requirement, RuleName};
use crate::replay::not_evaluable;
use crate::rule::Rule;
use crate::transcript::{EndCause, Moment, Outcome, Run, Secured};
use crate::verdict::{Amounts, Course, Ledger};

/// The signals to watch, each as a rule with any limit.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    rules: Vec<Rule>,
    requirements: Vec<Vec<Requirement>>,
}

impl Watched {
    /// Watches the signals of these rules; their limits are ignored.
    pub fn new<'r>(rules: impl IntoIterator<Item = &'r Rule>) -> Self {
        let rules: Vec<Rule> = rules.into_iter().cloned().collect();
        let of = |rule: &Rule| {
            let requirement = |need| Requirement { rule: RuleName::new(rule.to_string()), need };
            rule.needs().map(requirement).collect()
        };
        Self { requirements: rules.iter().map(of).collect(), rules }
    }
}

/// The result of a stop after the tools of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// Whether the stop loses a recorded success.
    pub kills: bool,
    /// Spent by then. Amounts that the run does not record are 0 and never read.
    steps: u64,
    tokens: u64,
    cost: f64,
}

impl End {
    /// Model calls paid for by then.
    pub fn steps_paid(&self) -> u64 {
        self.steps
    }
}

/// One run, without any of the recording's texts.
#[derive(Clone, Debug)]
pub struct Track {
    /// Its index among the runs that were read, for callers that keep more data per run; see [`Self::at`].
    pub place: usize,
    /// The run.
    pub run_id: String,
    /// Its suite; empty if it has none.
    pub suite: String,
    /// Its task; a run without a task is a task of its own.
    pub task: String,
    /// The model under test.
    pub model: Option<String>,
    /// The agent or harness.
    pub agent: Option<String>,
    /// The recorded outcome.
    pub outcome: Outcome,
    /// Whether it ended at the recording's own cap.
    pub capped: bool,
    /// Total spent: steps, tokens, dollars.
    whole: [Option<f64>; 3],
    /// Spent when the success was secured; everything after was unnecessary.
    at_secured: Option<[Option<f64>; 3]>,
    /// One entry for each step after which a stop would be early, that is, before everything recorded has happened.
    ends: Vec<End>,
    /// For each watched signal, its readings at those points, NaN if it has none there; empty if the signal cannot be
    /// read on this recording.
    readings: Vec<Vec<f64>>,
}

fn place(unit: Unit) -> usize {
    match unit {
        Unit::Steps => 0,
        Unit::Tokens => 1,
        Unit::CostUsd => 2,
    }
}

impl Track {
    /// Reads the track from a run.
    pub fn of(run: &Run, watched: &Watched) -> Self {
        let (course, ledger) = (Course::of(run), Ledger::of(run));
        let end = run.last_point();
        let mut signals: Vec<_> = watched.rules.iter().map(Rule::start).collect();
        let mut readings: Vec<Vec<f64>> = vec![Vec::new(); signals.len()];
        let mut ends = Vec::new();
        for view in run.views() {
            let counts = view.moment() == Moment::AfterTools && end.is_some_and(|end| view.point() < end);
            for (signal, readings) in signals.iter_mut().zip(&mut readings) {
                let reading = signal.observe(&view);
                if counts {
                    readings.push(reading.unwrap_or(f64::NAN));
                }
            }
            if counts {
                let spent = ledger.until(view.point());
                ends.push(End {
                    kills: course.verdict(Some(view.point())).is_fes(),
                    steps: spent.steps,
                    tokens: spent.tokens.unwrap_or_default().0,
                    cost: spent.cost.unwrap_or_default().0,
                });
            }
        }
        for (requirements, readings) in watched.requirements.iter().zip(&mut readings) {
            if !not_evaluable(run, requirements).is_empty() {
                *readings = Vec::new();
            }
        }
        let amounts = |amounts: Amounts| {
            [Some(amounts.steps as f64), amounts.tokens.map(|tokens| tokens.0 as f64), amounts.cost.map(|cost| cost.0)]
        };
        let secured = match (run.secured(), run.grade.outcome) {
            (Secured::At(point), Outcome::Success) => Some(amounts(ledger.until(point))),
            _ => None,
        };
        Self {
            place: 0,
            run_id: run.header.run_id.clone(),
            suite: run.header.suite.clone().unwrap_or_default(),
            task: run.header.task_id.clone().unwrap_or_else(|| run.header.run_id.clone()),
            model: run.header.model.clone(),
            agent: run.header.agent.clone(),
            outcome: run.grade.outcome,
            capped: run.grade.end == EndCause::Cap,
            whole: amounts(ledger.whole()),
            at_secured: secured,
            ends,
            readings,
        }
    }

    /// Sets its index among the runs that were read.
    #[must_use]
    pub fn at(self, place: usize) -> Self {
        Self { place, ..self }
    }

    /// The points at which the run may be stopped early.
    pub fn ends(&self) -> &[End] {
        &self.ends
    }

    /// Whether the watched signal with that index can be read. True for a run that nothing can stop early.
    pub fn is_readable(&self, signal: usize) -> bool {
        self.readings.get(signal).is_some_and(|readings| readings.len() == self.ends.len())
    }

    /// The readings of a watched signal at [`Self::ends`].
    pub fn readings(&self, signal: usize) -> &[f64] {
        self.readings.get(signal).map_or(&[], Vec::as_slice)
    }

    /// Total spent; `None` if the recording does not tell.
    pub fn recorded(&self, unit: Unit) -> Option<f64> {
        self.whole.get(place(unit)).copied().flatten()
    }

    /// Not spent because of a stop at that end.
    pub fn saved(&self, at: usize, unit: Unit) -> Option<f64> {
        let end = self.ends.get(at)?;
        let spent = match unit {
            Unit::Steps => end.steps as f64,
            Unit::Tokens => end.tokens as f64,
            Unit::CostUsd => end.cost,
        };
        Some((self.recorded(unit)? - spent).max(0.0))
    }

    /// What an oracle saves: all of a failure, and everything after a success was secured.
    pub fn possible(&self, unit: Unit) -> Option<f64> {
        let whole = self.recorded(unit)?;
        Some(match (self.outcome, self.at_secured) {
            (Outcome::Failure, _) => whole,
            (_, Some(spent)) => spent.get(place(unit)).copied().flatten().map_or(0.0, |spent| (whole - spent).max(0.0)),
            _ => 0.0,
        })
    }
}
