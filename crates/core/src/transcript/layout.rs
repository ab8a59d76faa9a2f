//! Derives steps and points from events as they arrive. Finished recordings and live runs share this code, so both get
//! the same points.

use super::{
    Event, Header, Instant, Lane, Message, Moment, Moments, Point, PointView, Role, RunNumbers, Step, messages,
};

/// A point and the number of events known at it, in few bytes: a step has up to four.
#[derive(Clone, Copy, Debug)]
struct PointSpan {
    point: Point,
    /// Events before this index have happened.
    seen: u32,
    /// The latest event with a timestamp is before this index; 0 if none has one.
    timed: u32,
}

impl PointSpan {
    fn new(point: Point, seen: usize, timed: usize) -> Self {
        let short = |n| u32::try_from(n).unwrap_or(u32::MAX);
        Self { point, seen: short(seen), timed: short(timed) }
    }

    fn seen(&self) -> usize {
        self.seen as usize
    }

    fn timed(&self) -> usize {
        self.timed as usize
    }
}

/// What the views of a run show, up to their points.
#[derive(Clone, Copy)]
pub(super) struct ViewedRun<'r> {
    pub(super) header: &'r Header,
    pub(super) events: &'r [Event],
    pub(super) numbers: Option<&'r RunNumbers>,
}

/// The steps and points derived from the events so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The finished steps.
    steps: Vec<Step>,
    points: Vec<PointSpan>,
    /// Index of the current step's reply, while that step is unfinished.
    open: Option<usize>,
    /// True once the request of the next step has its point.
    is_requested: bool,
    /// Index and time of the first event with a timestamp.
    first_time: Option<(usize, Instant)>,
    /// The latest event with a timestamp at the latest point is before this index.
    timed: usize,
}

impl Layout {
    /// The layout of a finished recording.
    pub(super) fn from_events(events: &[Event]) -> Self {
        let mut layout = Self::default();
        let is_final = |message: &&Message| message.is_step() && message.tool_calls.is_empty();
        let n_final = messages(events).filter(is_final).count();
        layout.reserve(events.iter().filter(|event| is_reply(event)).count());
        layout.points.reserve_exact(layout.points.capacity().saturating_add(n_final));
        for n in 1..=events.len() {
            layout.take(&events[..n]);
        }
        layout.end(events);
        layout
    }

    /// Makes room for this many steps.
    pub(super) fn reserve(&mut self, n_steps: usize) {
        self.steps.reserve_exact(n_steps);
        self.points.reserve_exact(n_steps.saturating_mul(3).saturating_add(1));
    }

    /// Processes the last of `events`. A reply ends the step before it.
    pub(super) fn take(&mut self, events: &[Event]) {
        let Some((event, before)) = events.split_last() else { return };
        if let Some(message) = event.message() {
            message.tell_unknown_apart(before.len());
        }
        if self.first_time.is_none() {
            self.first_time = event.ts().map(|time| (before.len(), time));
        }
        if is_reply(event) {
            self.request(before);
            self.is_requested = false;
            self.open = Some(before.len());
            self.lay(Moment::AfterResponse, events.len(), events);
        }
    }

    /// Ends the current step: all its results are in `events`.
    pub(super) fn close_step(&mut self, events: &[Event]) {
        let Some(reply) = self.open.take() else { return };
        let step = Step::at(events, reply);
        self.lay(Moment::AfterTools, step.end, events);
        if !step.has_calls {
            self.lay(Moment::EndOfRound, step.end, events);
        }
        self.steps.push(step);
    }

    /// Adds the point of a request that is about to be made.
    pub(super) fn request(&mut self, events: &[Event]) {
        self.close_step(events);
        if !std::mem::replace(&mut self.is_requested, true) {
            self.lay(Moment::BeforeRequest, events.len(), events);
        }
    }

    /// Ends the run. If anything is left to answer (tool results, a user message), one more request was about to be
    /// made, and its point is added.
    pub(super) fn end(&mut self, events: &[Event]) {
        self.close_step(events);
        let settled = self.steps.last().map_or(0, |step| step.end);
        let speaks = |message: &Message| message.role == Role::User && message.lane == Lane::Main;
        if self.steps.last().is_some_and(Step::calls_for_a_request) || messages(&events[settled..]).any(speaks) {
            self.request(events);
        }
    }

    /// Adds a point, at which `seen` events are known, for the step after the finished ones.
    fn lay(&mut self, moment: Moment, seen: usize, events: &[Event]) {
        // Visits each event once: searching all events at every point would be slow for a recording without timestamps.
        let from = self.points.last().map_or(0, PointSpan::seen);
        if let Some(last) = events[from..seen].iter().rposition(|event| event.ts().is_some()) {
            self.timed = from + last + 1;
        }
        self.points.push(PointSpan::new(Point::new(self.steps.len(), moment), seen, self.timed));
    }

    /// The finished steps.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The points so far.
    pub(super) fn points(&self) -> impl ExactSizeIterator<Item = Point> + '_ {
        self.points.iter().map(|span| span.point)
    }

    /// The time of the first timed event.
    pub(super) fn first_time(&self) -> Option<Instant> {
        self.first_time.map(|(_, time)| time)
    }

    /// The views at the points from index `from` on, in order.
    pub(super) fn views<'r>(
        &'r self,
        run: ViewedRun<'r>,
        from: usize,
    ) -> impl ExactSizeIterator<Item = PointView<'r>> + use<'r> {
        let mut before = from.checked_sub(1).map(|before| &self.points[before]);
        self.points[from..].iter().map(move |span| self.view(run, span, before.replace(span)))
    }

    /// The views at points of these moments. The news of each is what came since the one before it.
    pub(super) fn views_at<'r>(
        &'r self,
        run: ViewedRun<'r>,
        moments: Moments,
    ) -> impl Iterator<Item = PointView<'r>> + use<'r> {
        let mut before = None;
        let spans = self.points.iter().filter(move |span| moments.contains(span.point.moment));
        spans.map(move |span| self.view(run, span, before.replace(span)))
    }

    /// The view at one more request after everything recorded, where the last point shown is of these moments; `None` if
    /// that point already exists.
    pub(super) fn one_more_request<'r>(&'r self, run: ViewedRun<'r>, moments: Moments) -> Option<PointView<'r>> {
        let point = Point::new(self.steps.len(), Moment::BeforeRequest);
        if self.points.last().is_some_and(|last| last.point == point) {
            return None;
        }
        let shown = self.points.iter().rfind(|span| moments.contains(span.point.moment));
        let timed = run.events.iter().rposition(|event| event.ts().is_some()).map_or(0, |last| last + 1);
        let span = PointSpan::new(point, run.events.len(), timed);
        Some(PointView { is_after_end: true, ..self.view(run, &span, shown) })
    }

    fn view<'r>(&'r self, run: ViewedRun<'r>, span: &PointSpan, before: Option<&PointSpan>) -> PointView<'r> {
        let (point, seen) = (span.point, span.seen());
        let nth = point.step as usize;
        let (n_over, reply) = match point.moment {
            Moment::BeforeRequest => (nth, None),
            Moment::AfterResponse => (nth, seen.checked_sub(1)),
            Moment::AfterTools | Moment::EndOfRound => (nth + 1, self.steps.get(nth).map(|step| step.reply)),
        };
        let (news_from, timed_before) = before.map_or((0, 0), |before| (before.seen(), before.timed()));
        PointView {
            header: run.header,
            events: &run.events[..seen],
            steps: &self.steps[..n_over.min(self.steps.len())],
            reply,
            point,
            news_from,
            timed: span.timed(),
            timed_before,
            first_time: self.first_time.filter(|(index, _)| *index < seen).map(|(_, time)| time),
            is_after_end: false,
            numbers: run.numbers,
        }
    }
}

fn is_reply(event: &Event) -> bool {
    matches!(event, Event::Message(message) if message.is_step())
}
