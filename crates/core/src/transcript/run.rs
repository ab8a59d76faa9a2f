//! One recorded run: its events in file order, and the steps and points derived from them.

use std::collections::BTreeMap;

use super::layout::Layout;
use super::{
    Checkpoint, EndCause, Event, Instant, Message, Moment, Outcome, OutcomeSource, Point, PointView, Secured, Step,
    Totals,
};

/// What is known of a run before it is replayed.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// The run's name, unique within a corpus.
    pub run_id: String,
    /// The run that started this one, where it is a sub-agent's.
    pub parent: Option<String>,
    /// The task it attempted; runs of one task are trials and are clustered together.
    pub task_id: Option<String>,
    /// Which trial of the task this is, as recorded.
    pub trial: Option<String>,
    /// The family of tasks (a benchmark's domain, a data set).
    pub suite: Option<String>,
    /// The model under test.
    pub model: Option<String>,
    /// The agent or harness.
    pub agent: Option<String>,
    /// When the run began.
    pub started_at: Option<Instant>,
    /// When it ended, if the recording says so apart from its messages. A reader's to fill in: [`Run::new`] takes it to
    /// [`Run::ended_at`], so that no rule sees it.
    pub ended_at: Option<Instant>,
    /// What the recording says the whole run spent, where its calls do not tell it. A reader's to fill in: [`Run::new`]
    /// takes it to [`Run::totals`], so that no rule sees it.
    pub totals: Option<Totals>,
    /// Native configuration worth keeping (limits, seeds), as a JSON object.
    pub meta: Option<super::Json>,
    /// The files of the patch it submitted, where the recording holds that.
    pub delivered: Option<Vec<String>>,
    /// Who prompts in it.
    pub prompted_by: super::PromptedBy,
    /// It is one of several rounds of a session.
    pub of_session: bool,
    /// The file it was read from, as the user gave it.
    pub file: Option<String>,
    /// Its texts are taken out: placeholders tell which are equal and how long they were, and no more.
    pub redacted: bool,
}

impl Header {
    /// The header of a run of which only the name is known.
    pub fn named(run_id: impl Into<String>) -> Self {
        Self { run_id: run_id.into(), ..Self::default() }
    }
}

/// The grade of a run and where it came from.
#[derive(Clone, Debug, Default)]
pub struct Grade {
    /// Did it do its task?
    pub outcome: Outcome,
    /// The graded score, when there is one.
    pub score: Option<f64>,
    /// Where the outcome came from.
    pub source: OutcomeSource,
    /// Why the recording ends.
    pub end: EndCause,
    /// The step after which the success was secured, when a label says so.
    pub secured_step: Option<usize>,
}

/// What a reader hands over: [`Run::new`] derives the rest and establishes the invariants.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Who and what.
    pub header: Header,
    /// Everything recorded, in file order.
    pub events: Vec<Event>,
    /// The run's grade.
    pub grade: Grade,
    /// Input the reader had to repair or leave out, in words fit for a report.
    pub warnings: Vec<String>,
}

/// One recorded attempt at a task.
///
/// Invariants: `steps` lists every main-lane assistant message, in order; each step's ranges lie
/// within `events` and do not overlap; points are strictly increasing.
#[derive(Clone, Debug)]
pub struct Run {
    /// Who and what.
    pub header: Header,
    /// When it ended, if the recording says so apart from its messages.
    pub ended_at: Option<Instant>,
    /// What the recording says the whole run spent, where its calls do not tell it.
    pub totals: Option<Totals>,
    /// The run's grade.
    pub grade: Grade,
    /// What the reader had to repair.
    pub warnings: Vec<String>,
    /// Grades of its rounds, counted from 1, where labels give them.
    pub round_grades: BTreeMap<usize, Grade>,
    events: Vec<Event>,
    layout: Layout,
}

impl Run {
    /// Builds the run: finds the steps and lays out the points, as a [`Recorder`](super::Recorder) does event by event.
    pub fn new(draft: Draft) -> Self {
        let Draft { mut header, events, grade, warnings } = draft;
        let (ended_at, totals) = (header.ended_at.take(), header.totals.take());
        let layout = Layout::of(&events);
        Self { header, ended_at, totals, grade, warnings, round_grades: BTreeMap::new(), events, layout }
    }

    /// What it was made from, to be changed and made again.
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

    /// The rounds, in order: what each prompt led to.
    pub fn rounds(&self) -> Vec<super::Round> {
        super::Round::all(self)
    }

    /// Each round as a run of its own, named `RUN#1` and so on: what a file would hold in which that round stands alone. The
    /// task is the run's, or the run itself, so that rounds of a session are never taken for independent. Only the round
    /// of a run with a single one has its grade. A sub-agent's run stays as it is.
    pub fn into_rounds(self) -> Vec<Self> {
        if self.header.parent.is_some() {
            return vec![self];
        }
        let rounds = self.rounds();
        let single = rounds.len() == 1;
        let session = self.header.run_id.clone();
        let task_id = self.header.task_id.clone().or_else(|| Some(session.clone()));
        let last = rounds.len();
        let cut = |(nth, round): (usize, &super::Round)| {
            let end = match round.end {
                super::RoundEnd::Interrupted => EndCause::Killed,
                super::RoundEnd::Reply => EndCause::SelfFinish,
                super::RoundEnd::Cut if nth + 1 == last => self.grade.end,
                super::RoundEnd::Cut => EndCause::Unknown,
            };
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
                    ..self.header.clone()
                },
                events: self.events[round.begins..round.ends].to_vec(),
                grade,
                warnings: Vec::new(),
            })
        };
        rounds.iter().enumerate().map(cut).collect()
    }

    /// The points, in order. A recording that ends with something to answer (tool results, a user's
    /// words) has one last `before_request`: the call that was about to be made.
    pub fn points(&self) -> impl ExactSizeIterator<Item = Point> + '_ {
        self.layout.points()
    }

    /// The run as it stood at each of its points, in order.
    pub fn views(&self) -> impl ExactSizeIterator<Item = PointView<'_>> {
        self.layout.views(&self.header, &self.events, 0)
    }

    /// The point at which one more request would be made after everything recorded; `None` when the
    /// recording has that point itself.
    pub fn one_more_request(&self) -> Option<PointView<'_>> {
        self.layout.one_more_request(&self.header, &self.events)
    }

    /// The reply of step `index`.
    pub fn reply(&self, index: usize) -> Option<&Message> {
        self.steps().get(index).and_then(|step| self.events[step.reply].message())
    }

    /// The point at which everything recorded had happened. A stop there, or later, is no early stop.
    /// `None` for a run without steps.
    pub fn last_point(&self) -> Option<Point> {
        let (index, last) = self.steps().len().checked_sub(1).map(|index| (index, &self.steps()[index]))?;
        let moment = if last.has_calls { Moment::AfterTools } else { Moment::AfterResponse };
        Some(Point::new(index, moment))
    }

    /// The graded checkpoints with the point each belongs to, in order.
    pub fn checkpoints(&self) -> Vec<(Point, Checkpoint)> {
        self.events
            .iter()
            .enumerate()
            .filter_map(|(index, event)| match event {
                Event::Checkpoint(checkpoint) => Some((self.point_of_event(index)?, *checkpoint)),
                _ => None,
            })
            .collect()
    }

    /// The last point at or before which event `index` happened: after the tools of its step, or
    /// after the reply when the step asked for none.
    fn point_of_event(&self, index: usize) -> Option<Point> {
        let step = self.steps().partition_point(|step| step.reply < index).checked_sub(1)?;
        let moment = if self.steps()[step].has_calls { Moment::AfterTools } else { Moment::AfterResponse };
        Some(Point::new(step, moment))
    }

    /// The first point from which on stopping would have kept the success: checkpoints, then a label, then
    /// nothing known (DESIGN 4). A success graded before a failure was lost again and secured nothing.
    pub fn secured(&self) -> Secured {
        let checkpoints = self.checkpoints();
        if !checkpoints.is_empty() && self.grade.outcome == Outcome::Success {
            let held = checkpoints.iter().rev().take_while(|(_, checkpoint)| checkpoint.success);
            return held.last().map_or(Secured::Unverified, |(point, _)| Secured::At(*point));
        }
        if let Some(step) = self.grade.secured_step.filter(|_| self.grade.outcome != Outcome::Unknown) {
            let has_calls = self.steps().get(step).is_some_and(|step| step.has_calls);
            let moment = if has_calls { Moment::AfterTools } else { Moment::AfterResponse };
            return Secured::At(Point::new(step, moment));
        }
        match self.grade.outcome {
            Outcome::Success => Secured::Unverified,
            Outcome::Failure => Secured::Never,
            Outcome::Unknown => Secured::Unknown,
        }
    }

    /// The task to cluster by: suite and task; a run without a task is a task of its own.
    pub fn cluster(&self) -> (String, String) {
        let suite = self.header.suite.clone().unwrap_or_default();
        let task = self.header.task_id.clone().unwrap_or_else(|| format!("run {}", self.header.run_id));
        (suite, task)
    }

    /// The reply of each step, in order.
    pub fn replies(&self) -> impl Iterator<Item = &Message> {
        self.steps().iter().filter_map(|step| self.events[step.reply].message())
    }

    /// When the run began: its header, else its first timed event.
    pub fn started_at(&self) -> Option<Instant> {
        self.header.started_at.or(self.layout.first_time())
    }
}
