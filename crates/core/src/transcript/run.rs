//! One recorded run: its events in file order, and the steps and points derived from them.

use std::collections::BTreeMap;

use super::layout::{Layout, ViewedRun};
use super::{
    Checkpoint, EndCause, Event, Instant, Message, Moment, Moments, Outcome, OutcomeSource, Point, PointView,
    PromptedBy, RoundEnd, RunNumbers, Secured, Step, ToolCall, Totals, named,
};

/// What is known about a run before it is replayed.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// The run's id, unique within a corpus.
    pub run_id: String,
    /// For a sub-agent's run: the id of the run that started it.
    pub parent: Option<String>,
    /// The task it attempted. Runs of the same task are trials and are clustered together.
    pub task_id: Option<String>,
    /// Which trial of the task this is, as recorded.
    pub trial: Option<String>,
    /// The group of tasks it belongs to: a benchmark's domain, a data set.
    pub suite: Option<String>,
    /// The class of tasks it is answered for, if the user named a place where the recordings say it.
    pub class: Option<String>,
    /// The model under test.
    pub model: Option<String>,
    /// The agent or harness.
    pub agent: Option<String>,
    /// When the run began, if the recording states it.
    pub started_at: Option<Instant>,
    /// When the run ended, if the recording states it separately from its messages. Set by a reader; [`Run::new`] moves
    /// it to [`Run::ended_at`], so that no rule sees it.
    pub ended_at: Option<Instant>,
    /// What the whole run spent, if the recording states only a total and not the spend of each call. Set by a reader;
    /// [`Run::new`] moves it to [`Run::totals`], so that no rule sees it.
    pub totals: Option<Totals>,
    /// Framework-specific configuration worth keeping (limits, seeds), as a JSON object.
    pub meta: Option<super::Json>,
    /// The files in the patch the run submitted, if the recording contains it.
    pub delivered: Option<Vec<String>>,
    /// Who prompts the agent.
    pub prompted_by: PromptedBy,
    /// True if this run is one of several rounds of a session.
    pub of_session: bool,
    /// What the recording says about the calls that its replies ask for.
    pub requests: Requests,
    /// The path of the file it was read from, as the user gave it.
    pub file: Option<String>,
    /// True if the texts were redacted: placeholders preserve only which texts were equal, how long each was, and which
    /// published phrases it contained.
    pub redacted: bool,
}

impl Header {
    /// A header with only the run's id set.
    pub fn named(run_id: impl Into<String>) -> Self {
        Self { run_id: run_id.into(), ..Self::default() }
    }
}

named! {
    /// What a recording says about the calls that its replies ask for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Requests {
        /// Each call of a reply is one that it asks for. A run without calls made none.
        #[default]
        Recorded = "recorded",
        /// Tools are recorded as they ran, and replies do not say what they ask for: each call stands with the reply before
        /// it, and some may be the host's.
        OnlyRuns = "only_runs",
        /// No run of its source has a tool call: it has none because none is recorded, not because none was made.
        NoCalls = "no_calls",
        /// Only sums of the run are known: its steps and what they took. Its replies stand for the steps.
        OnlySums = "only_sums",
    }
}

/// The grade of a run and where it came from.
#[derive(Clone, Debug, Default)]
pub struct Grade {
    /// Whether the run did its task.
    pub outcome: Outcome,
    /// The graded score, if there is one.
    pub score: Option<f64>,
    /// Where the outcome came from.
    pub source: OutcomeSource,
    /// Why the recording ends.
    pub end: EndCause,
    /// The index of the step by whose end the success was secured, if a label gives it.
    pub secured_step: Option<usize>,
}

/// A run as a reader produces it. [`Run::new`] derives steps and points from it and establishes the invariants.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// What is known before the run.
    pub header: Header,
    /// Everything recorded, in file order.
    pub events: Vec<Event>,
    /// The run's grade.
    pub grade: Grade,
    /// What the reader had to repair or skip, worded for a report.
    pub warnings: Vec<String>,
}

/// One recorded attempt at a task.
///
/// Invariants: `steps` lists every main-lane assistant message, in order; each step's ranges lie
/// within `events` and do not overlap; points are strictly increasing.
#[derive(Clone, Debug)]
pub struct Run {
    /// What is known before the run.
    pub header: Header,
    /// When the run ended, if the recording states it separately from its messages.
    pub ended_at: Option<Instant>,
    /// What the whole run spent, if the recording states only a total and not the spend of each call.
    pub totals: Option<Totals>,
    /// The run's grade.
    pub grade: Grade,
    /// What the reader had to repair or skip.
    pub warnings: Vec<String>,
    /// Grades of single rounds, if labels give them. Keys count rounds from 1.
    pub round_grades: BTreeMap<usize, Grade>,
    events: Vec<Event>,
    layout: Layout,
    numbers: RunNumbers,
}

impl Run {
    /// Builds the run: derives steps and points exactly as a [`Recorder`](super::Recorder) does event by event. A person's
    /// session whose end the recording does not state ended by itself if its last event belongs to a round that the agent
    /// ended with a reply.
    pub fn new(draft: Draft) -> Self {
        let Draft { mut header, mut events, grade, warnings } = draft;
        for event in &mut events {
            if let Event::Message(message) = event {
                message.forget_unrecorded_text();
            }
        }
        let (ended_at, totals) = (header.ended_at.take(), header.totals.take());
        let layout = Layout::from_events(&events);
        let mut run = Self {
            header,
            ended_at,
            totals,
            grade,
            warnings,
            round_grades: BTreeMap::new(),
            events,
            layout,
            numbers: RunNumbers::default(),
        };
        // A person's session says how it ended only by how its latest round did.
        if run.grade.end == EndCause::Unknown
            && run.header.prompted_by == PromptedBy::Person
            && let Some(latest) = run.rounds().last()
            && latest.end == RoundEnd::Reply
            && latest.ends == run.events.len()
        {
            run.grade.end = latest.end.cause();
        }
        run
    }

    /// A draft with the same content, to be modified and passed to [`Self::new`] again.
    pub fn to_draft(&self) -> Draft {
        Draft {
            header: Header { ended_at: self.ended_at, totals: self.totals, ..self.header.clone() },
            events: self.events.clone(),
            grade: self.grade.clone(),
            warnings: self.warnings.clone(),
        }
    }

    /// Everything recorded, in file order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        self.layout.steps()
    }

    /// The rounds, in order: each prompt with what the agent did in answer to it.
    pub fn rounds(&self) -> Vec<super::Round> {
        super::Round::all(self)
    }

    /// Splits the run into one run per round, named `RUN#1` and so on. Each is what a file containing only that round
    /// would hold. The rounds share the run's task (or the run's id, if it has no task), so that rounds of one session
    /// are never treated as independent. A round is graded only by a label of its own, or by the run's grade if it is
    /// the only round. A sub-agent's run is returned unchanged.
    pub fn into_rounds(self) -> Vec<Self> {
        if self.header.parent.is_some() {
            return vec![self];
        }
        let rounds = self.rounds();
        let single = rounds.len() == 1;
        let session = self.header.run_id.clone();
        let task_id = Some(self.header.task_id.clone().unwrap_or_else(|| session.clone()));
        let last = rounds.len();
        let cut = |(nth, round): (usize, &super::Round)| {
            let end = if round.end == RoundEnd::Cut && nth + 1 == last { self.grade.end } else { round.end.cause() };
            let grade = match self.round_grades.get(&(nth + 1)) {
                Some(labelled) if labelled.end == EndCause::Unknown => Grade { end, ..labelled.clone() },
                Some(labelled) => labelled.clone(),
                None if single => self.grade.clone(),
                None => Grade { end, ..Grade::default() },
            };
            Self::new(Draft {
                header: Header {
                    run_id: format!("{session}#{}", nth + 1),
                    task_id: task_id.clone(),
                    started_at: None,
                    ended_at: None,
                    totals: if single { self.header.totals } else { None },
                    of_session: !single,
                    prompted_by: round.prompted_by(self.header.prompted_by),
                    ..self.header.clone()
                },
                events: self.events[round.begins..round.ends].to_vec(),
                grade,
                warnings: Vec::new(),
            })
        };
        rounds.iter().enumerate().map(cut).collect()
    }

    /// The points, in order. If the recording ends with something to answer (tool results, a user message), it has a
    /// final `before_request` point for the call that was about to be made.
    pub fn points(&self) -> impl ExactSizeIterator<Item = Point> + '_ {
        self.layout.points()
    }

    /// The run as it stood at each of its points, in order.
    pub fn views(&self) -> impl ExactSizeIterator<Item = PointView<'_>> {
        self.layout.views(self.viewed(), 0)
    }

    /// The same at points of these moments only. What is new at each came since the one before it.
    #[doc(hidden)]
    pub fn views_at(&self, moments: Moments) -> impl Iterator<Item = PointView<'_>> {
        self.layout.views_at(self.viewed(), moments)
    }

    /// The state at one more request after everything recorded; `None` if the recording itself has that point.
    pub fn one_more_request(&self) -> Option<PointView<'_>> {
        self.one_more_request_after(Moments::ALL)
    }

    /// The same where the points before it were those of [`Self::views_at`].
    #[doc(hidden)]
    pub fn one_more_request_after(&self, moments: Moments) -> Option<PointView<'_>> {
        self.layout.one_more_request(self.viewed(), moments)
    }

    fn viewed(&self) -> ViewedRun<'_> {
        ViewedRun { header: &self.header, events: &self.events, numbers: Some(&self.numbers) }
    }

    /// What other programs were asked about it.
    #[doc(hidden)]
    pub fn numbers(&self) -> &RunNumbers {
        &self.numbers
    }

    /// The reply of step `index`; `None` if there is no such step.
    pub fn reply(&self, index: usize) -> Option<&Message> {
        let step = self.steps().get(index)?;
        self.events[step.reply].message()
    }

    /// The calls that the reply of step `index` asks for; none if there is no such step.
    #[doc(hidden)]
    pub fn calls(&self, index: usize) -> &[ToolCall] {
        if let Some(reply) = self.reply(index) { &reply.tool_calls } else { &[] }
    }

    /// The point by which everything recorded had happened. A stop at or after it is not an early stop. `None` for a
    /// run without steps.
    pub fn last_point(&self) -> Option<Point> {
        Some(self.last_point_of(self.steps().len().checked_sub(1)?))
    }

    /// The graded checkpoints in order, each with its point.
    pub fn checkpoints(&self) -> Vec<(Point, Checkpoint)> {
        let mut checkpoints = Vec::new();
        for (index, event) in self.events.iter().enumerate() {
            if let Event::Checkpoint(checkpoint) = event
                && let Some(point) = self.point_of_event(index)
            {
                checkpoints.push((point, *checkpoint));
            }
        }
        checkpoints
    }

    /// The last point at or before event `index`: after the tools of its step, or after the reply if the step called
    /// none.
    fn point_of_event(&self, index: usize) -> Option<Point> {
        let step = self.steps().partition_point(|step| step.reply < index).checked_sub(1)?;
        Some(self.last_point_of(step))
    }

    /// The point at which a step is over: after its tools, or after the response if it called none.
    fn last_point_of(&self, step: usize) -> Point {
        let has_calls = matches!(self.steps().get(step), Some(step) if step.has_calls);
        Point::new(step, if has_calls { Moment::AfterTools } else { Moment::AfterResponse })
    }

    /// The first point from which on a stop would have kept the success. It comes from checkpoints if there are any,
    /// else from a label. A success graded before a later failure was lost again and does not count.
    pub fn secured(&self) -> Secured {
        let checkpoints = self.checkpoints();
        if !checkpoints.is_empty() && self.grade.outcome == Outcome::Success {
            let held = checkpoints.iter().rev().take_while(|(_, checkpoint)| checkpoint.success);
            return match held.last() {
                Some((point, _)) => Secured::At(*point),
                None => Secured::Unverified,
            };
        }
        if let Some(step) = self.grade.secured_step.filter(|_| self.grade.outcome != Outcome::Unknown) {
            return Secured::At(self.last_point_of(step));
        }
        match self.grade.outcome {
            Outcome::Success => Secured::Unverified,
            Outcome::Failure => Secured::Never,
            Outcome::Unknown => Secured::Unknown,
        }
    }

    /// The suite and task to cluster by. A run without a task forms a cluster of its own.
    pub fn cluster(&self) -> (String, String) {
        let suite = self.header.suite.clone().unwrap_or_default();
        let task = self.header.task_id.clone().unwrap_or_else(|| format!("run {}", self.header.run_id));
        (suite, task)
    }

    /// True if the agent called a tool in any step.
    pub fn has_calls(&self) -> bool {
        self.replies().any(|reply| !reply.tool_calls.is_empty())
    }

    /// The reply of each step, in order.
    pub fn replies(&self) -> impl Iterator<Item = &Message> {
        self.steps().iter().filter_map(|step| self.events[step.reply].message())
    }

    /// When the run began: from the header, else the time of the first event that has one.
    pub fn started_at(&self) -> Option<Instant> {
        self.header.started_at.or(self.layout.first_time())
    }
}
