//! One row per run and stack: the contract between replaying and reporting.

use serde::{Deserialize, Serialize};

use super::Label;
use super::columns::{record, row_columns};
use crate::decision::Evidence;
use crate::replay::{Exactness, Replay};
use crate::transcript::{EndCause, Instant, Outcome, Point, Run, named};
use crate::verdict::{Assumptions, Course, Doubts, Judged, Ledger, Spent, Verdict, judge, secured_step};

named! {
    /// How exact a row is, by the name written to `rows.csv`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ExactnessName {
        /// See [`Exactness::Exact`].
        Exact = "exact",
        /// See [`Exactness::Diverged`].
        Diverged = "diverged",
        /// See [`Exactness::Censored`].
        Censored = "censored",
    }
}

/// Declares [`Row`] from the list of columns.
macro_rules! declare {
    ({$($columns:tt)*} $run:tt $ending:tt $bit:tt) => {
        record! {
            /// What one stack did on one run: a line of `rows.csv`. An empty field is unknown, never 0.
            pub struct Row { $($columns)* }
        }
    };
}
row_columns!(declare);

/// What a recording says about a run as a whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedRun {
    run_id: Label,
    task_id: Option<Label>,
    suite: Option<Label>,
    model: Option<Label>,
    agent: Option<Label>,
    started_at: Option<Instant>,
    outcome: Outcome,
    end: EndCause,
}

/// Builds the rows of one run, one per stack, sharing what they have in common. Its serialised form omits the
/// assumptions: restore them with [`Self::assuming`].
#[derive(Clone, Serialize, Deserialize)]
pub struct RunRows {
    facts: RecordedRun,
    course: Course,
    ledger: Ledger,
    #[serde(skip)]
    assumptions: Assumptions,
    /// What most rows have as `not_evaluable`.
    #[serde(skip, default = "nothing")]
    nothing: Label,
}

fn nothing() -> Label {
    "".into()
}

impl RecordedRun {
    fn from_run(run: &Run) -> Self {
        let label = |text: &Option<String>| text.as_deref().map(Label::from);
        Self {
            run_id: run.header.run_id.as_str().into(),
            task_id: label(&run.header.task_id),
            suite: label(&run.header.suite),
            model: label(&run.header.model),
            agent: label(&run.header.agent),
            started_at: run.started_at(),
            outcome: run.grade.outcome,
            end: run.grade.end,
        }
    }

    /// The run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The model under test, if it is recorded.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The agent or harness, if it is recorded.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// When the run started, if it is recorded.
    pub fn started_at(&self) -> Option<Instant> {
        self.started_at
    }

    /// Whether the recording names the run's task.
    pub fn has_task(&self) -> bool {
        self.task_id.is_some()
    }

    /// The recorded outcome.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Why the recording ends.
    pub fn end(&self) -> EndCause {
        self.end
    }

    /// The cluster key: suite and task; a run without a task is a task of its own.
    pub fn cluster(&self) -> (&str, &str) {
        (self.suite.as_deref().unwrap_or_default(), self.task_id.as_ref().unwrap_or(&self.run_id))
    }
}

impl RunRows {
    /// Computes what all rows of this run share.
    pub fn from_run(run: &Run, assumptions: Assumptions) -> Self {
        Self {
            facts: RecordedRun::from_run(run),
            course: Course::from_run(run),
            ledger: Ledger::from_run(run),
            assumptions,
            nothing: nothing(),
        }
    }

    /// The same under other assumptions; needed after deserialising.
    #[must_use]
    pub fn assuming(self, assumptions: Assumptions) -> Self {
        Self { assumptions, ..self }
    }

    /// The same run as one of another task.
    #[must_use]
    pub fn with_task(self, task: &str) -> Self {
        Self { facts: RecordedRun { task_id: Some(task.into()), ..self.facts }, ..self }
    }

    /// What the recording says about the run as a whole.
    pub fn facts(&self) -> &RecordedRun {
        &self.facts
    }

    /// The run's course, for judging other stops of the same run.
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// The run's ledger of steps, tokens and cost.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The row of one stack on this run.
    pub fn row(&self, stack: &Label, profile: &Label, replay: &Replay) -> Row {
        let stop = replay.stop.as_ref();
        let judged = judge(&self.course, &self.ledger, replay, self.assumptions);
        let Judged { verdict, outcome, known, recorded, at_stop, after_secured } = judged;
        let Spent { low, high } = known.spent;
        let (most, unneeded) = (high.unwrap_or_default(), after_secured.unwrap_or_default());
        let evidence = match stop {
            Some(stop) => stop.evidence,
            None => Evidence::NONE,
        };
        Row {
            run_id: self.facts.run_id.clone(),
            task_id: self.facts.task_id.clone(),
            suite: self.facts.suite.clone(),
            model: self.facts.model.clone(),
            stack: stack.clone(),
            verdict,
            exactness: match replay.exactness {
                Exactness::Exact => ExactnessName::Exact,
                Exactness::Diverged { .. } => ExactnessName::Diverged,
                Exactness::Censored { .. } => ExactnessName::Censored,
            },
            outcome: self.facts.outcome,
            end: self.facts.end,
            secured_step: secured_step(self.course.secured()),
            steps_recorded: recorded.steps,
            steps_at_stop: at_stop.steps,
            stop_point: stop.map(|stop| stop.point),
            rule: stop.map(|stop| stop.rule.as_str().into()),
            observed: evidence.observed,
            limit: evidence.limit,
            tokens_recorded: recorded.tokens.map(|tokens| tokens.0),
            tokens_at_stop: at_stop.tokens.map(|tokens| tokens.0),
            cost_usd_recorded: recorded.cost.map(|cost| cost.0),
            cost_usd_at_stop: at_stop.cost.map(|cost| cost.0),
            ms_recorded: recorded.ms,
            ms_at_stop: at_stop.ms,
            outcome_low: u8::from(outcome.low),
            outcome_high: u8::from(outcome.high),
            unknown: known.doubts,
            stopped_low: u8::from(known.stopped.low),
            stopped_high: u8::from(known.stopped.high),
            killed_low: u8::from(known.killed.low),
            killed_high: u8::from(known.killed.high),
            true_stop_low: u8::from(known.true_stop.low),
            true_stop_high: u8::from(known.true_stop.high),
            steps_low: low.steps,
            steps_high: high.map(|high| high.steps),
            tokens_low: low.tokens.map(|tokens| tokens.0),
            tokens_high: most.tokens.map(|tokens| tokens.0),
            cost_usd_low: low.cost.map(|cost| cost.0),
            cost_usd_high: most.cost.map(|cost| cost.0),
            tokens_in_part: u8::from(self.ledger.tokens_in_part()),
            not_evaluable: self.not_evaluable(replay),
            profile: profile.clone(),
            action: stop.map(|stop| if stop.drops_reply { "stop_drops_reply" } else { stop.action.name() }.into()),
            diverged_at: match replay.exactness {
                Exactness::Diverged { at } => Some(at),
                _ => None,
            },
            interventions: replay.trail.iter().filter(|decision| decision.action.diverges()).count() as u64,
            steps_after_secured: after_secured.map(|amounts| amounts.steps),
            tokens_after_secured: unneeded.tokens.map(|tokens| tokens.0),
            cost_usd_after_secured: unneeded.cost.map(|cost| cost.0),
        }
    }

    fn not_evaluable(&self, replay: &Replay) -> Label {
        if replay.not_evaluable.is_empty() {
            return self.nothing.clone();
        }
        replay.not_evaluable.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ").as_str().into()
    }
}
