//! One row per run and stack: the contract between replaying and reporting.

use super::Label;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::replay::{Exactness, Replay};
use crate::transcript::{EndCause, Outcome, Point, Run};
use crate::verdict::{Assumptions, Course, Doubts, Judged, Ledger, Spent, Verdict, judge, secured_step};

/// How exact a row is, by the name written to `rows.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExactnessName {
    /// See [`Exactness::Exact`].
    Exact,
    /// See [`Exactness::Diverged`].
    Diverged,
    /// See [`Exactness::Censored`].
    Censored,
}

/// What one stack did on one run. Field names are the columns of `rows.csv`, in order; units are in the
/// names; an empty field is unknown, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The run.
    pub run_id: Label,
    /// Its task; empty if the recording names none.
    pub task_id: Option<Label>,
    /// Its family of tasks.
    pub suite: Option<Label>,
    /// The model under test.
    pub model: Option<Label>,
    /// The stack.
    pub stack: Label,
    /// The verdict on the recorded path.
    pub verdict: Verdict,
    /// Whether the replay is exact.
    pub exactness: ExactnessName,
    /// The recorded outcome.
    pub outcome: Outcome,
    /// Why the recording ends.
    pub end: EndCause,
    /// The step (from 0) that secured the success.
    pub secured_step: Option<u32>,
    /// Model calls recorded.
    pub steps_recorded: u64,
    /// Model calls paid for at the stop; all of them if there was none.
    pub steps_at_stop: u64,
    /// Where it stopped; empty if it did not.
    pub stop_point: Option<Point>,
    /// The rule that stopped it.
    pub rule: Option<Label>,
    /// The value the rule's signal had.
    pub observed: Option<f64>,
    /// The limit that value was compared with.
    pub limit: Option<f64>,
    /// Tokens recorded, input plus output.
    pub tokens_recorded: Option<u64>,
    /// Tokens spent by the stop.
    pub tokens_at_stop: Option<u64>,
    /// Dollars recorded.
    pub cost_usd_recorded: Option<f64>,
    /// Dollars spent by the stop.
    pub cost_usd_at_stop: Option<f64>,
    /// Milliseconds recorded.
    pub ms_recorded: Option<i64>,
    /// Milliseconds elapsed by the stop.
    pub ms_at_stop: Option<i64>,
    /// Lower bound on the outcome, 0 or 1.
    #[serde(deserialize_with = "zero_or_one")]
    pub outcome_low: u8,
    /// Upper bound on the outcome, 0 or 1.
    #[serde(deserialize_with = "zero_or_one")]
    pub outcome_high: u8,
    /// Why the bounds below may differ: `unread` (a rule could not be evaluated), `diverged`, `unlabelled`, joined by
    /// `+`.
    pub unknown: Doubts,
    /// Lower bound on "ended early", 0 or 1.
    #[serde(deserialize_with = "zero_or_one")]
    pub stopped_low: u8,
    /// Upper bound on "ended early", 0 or 1.
    #[serde(deserialize_with = "zero_or_one")]
    pub stopped_high: u8,
    /// Lower bound on "a recorded success was lost", 0 or 1.
    #[serde(deserialize_with = "zero_or_one")]
    pub killed_low: u8,
    /// Upper bound on "a recorded success was lost", 0 or 1.
    #[serde(deserialize_with = "zero_or_one")]
    pub killed_high: u8,
    /// Lower bound on "a recorded failure was ended early", 0 or 1.
    #[serde(deserialize_with = "zero_or_one")]
    pub true_stop_low: u8,
    /// Upper bound on "a recorded failure was ended early", 0 or 1.
    #[serde(deserialize_with = "zero_or_one")]
    pub true_stop_high: u8,
    /// Model calls under the stack, at least.
    pub steps_low: u64,
    /// Model calls at most; empty when nothing limits them.
    pub steps_high: Option<u64>,
    /// Tokens under the stack, at least; empty if the recording does not tell.
    pub tokens_low: Option<u64>,
    /// Tokens at most; empty if the recording does not tell or nothing limits them.
    pub tokens_high: Option<u64>,
    /// Dollars under the stack, at least.
    pub cost_usd_low: Option<f64>,
    /// Dollars at most.
    pub cost_usd_high: Option<f64>,
    /// 1 if some steps record tokens and others do not, so that the sum is unknown.
    #[serde(deserialize_with = "zero_or_one")]
    pub tokens_in_part: u8,
    /// Rules that could not be evaluated on this recording, or not at every step, with what was missing.
    pub not_evaluable: Label,
    /// The system's profile.
    pub profile: Label,
    /// How the stack ended the run: stop, fail, force_final; `stop_drops_reply` if the final answer is discarded.
    pub action: Option<Label>,
    /// Where the replay left the recorded path.
    pub diverged_at: Option<Point>,
    /// Warnings, injections, refusals and questions before the end.
    pub interventions: u64,
    /// Model calls after the success was secured.
    pub steps_after_secured: Option<u64>,
    /// Tokens after the success was secured.
    pub tokens_after_secured: Option<u64>,
    /// Dollars after the success was secured.
    pub cost_usd_after_secured: Option<f64>,
}

/// Reads 0 or 1; anything else is an error.
fn zero_or_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let bit = u8::deserialize(deserializer)?;
    if bit <= 1 { Ok(bit) } else { Err(D::Error::custom(format!("`{bit}` is neither 0 nor 1"))) }
}

/// Builds the rows of one run, one per stack, sharing what they have in common. Its serialised form omits the
/// assumptions: restore them with [`Self::assuming`].
#[derive(Clone, Serialize, Deserialize)]
pub struct RunRows {
    run_id: Label,
    task_id: Option<Label>,
    suite: Option<Label>,
    model: Option<Label>,
    agent: Option<Label>,
    outcome: Outcome,
    end: EndCause,
    course: Course,
    ledger: Ledger,
    #[serde(skip)]
    assumptions: Assumptions,
}

impl RunRows {
    /// Computes what all rows of this run share.
    pub fn of(run: &Run, assumptions: Assumptions) -> Self {
        let shared = |text: &Option<String>| text.as_deref().map(Label::from);
        Self {
            run_id: run.header.run_id.as_str().into(),
            task_id: shared(&run.header.task_id),
            suite: shared(&run.header.suite),
            model: shared(&run.header.model),
            agent: shared(&run.header.agent),
            outcome: run.grade.outcome,
            end: run.grade.end,
            course: Course::of(run),
            ledger: Ledger::of(run),
            assumptions,
        }
    }

    /// The same under other assumptions; needed after deserialising.
    #[must_use]
    pub fn assuming(self, assumptions: Assumptions) -> Self {
        Self { assumptions, ..self }
    }

    /// The same run as one of another task.
    #[must_use]
    pub fn of_task(self, task: &str) -> Self {
        Self { task_id: Some(task.into()), ..self }
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
        Row {
            run_id: self.run_id.clone(),
            task_id: self.task_id.clone(),
            suite: self.suite.clone(),
            model: self.model.clone(),
            stack: stack.clone(),
            verdict,
            exactness: match replay.exactness {
                Exactness::Exact => ExactnessName::Exact,
                Exactness::Diverged { .. } => ExactnessName::Diverged,
                Exactness::Censored { .. } => ExactnessName::Censored,
            },
            outcome: self.outcome,
            end: self.end,
            secured_step: secured_step(self.course.secured()),
            steps_recorded: recorded.steps,
            steps_at_stop: at_stop.steps,
            stop_point: stop.map(|stop| stop.point),
            rule: stop.map(|stop| stop.rule.as_str().into()),
            observed: stop.and_then(|stop| stop.evidence.observed),
            limit: stop.and_then(|stop| stop.evidence.limit),
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
            tokens_high: high.and_then(|high| high.tokens).map(|tokens| tokens.0),
            cost_usd_low: low.cost.map(|cost| cost.0),
            cost_usd_high: high.and_then(|high| high.cost).map(|cost| cost.0),
            tokens_in_part: u8::from(self.ledger.tokens_in_part()),
            not_evaluable: not_evaluable(replay),
            profile: profile.clone(),
            action: stop.map(|stop| if stop.drops_reply { "stop_drops_reply" } else { stop.action.name() }.into()),
            diverged_at: match replay.exactness {
                Exactness::Diverged { at } => Some(at),
                _ => None,
            },
            interventions: replay.trail.iter().filter(|decision| decision.action.diverges()).count() as u64,
            steps_after_secured: after_secured.map(|amounts| amounts.steps),
            tokens_after_secured: after_secured.and_then(|amounts| amounts.tokens).map(|tokens| tokens.0),
            cost_usd_after_secured: after_secured.and_then(|amounts| amounts.cost).map(|cost| cost.0),
        }
    }
}

fn not_evaluable(replay: &Replay) -> Label {
    replay.not_evaluable.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ").as_str().into()
}
