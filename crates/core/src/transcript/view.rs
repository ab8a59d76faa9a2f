//! What a rule may see: the past. Looking ahead is not forbidden, it is impossible.

use super::{Event, Header, Instant, Message, Moment, Point, Role, Run, Secured, Step};

/// A run as it stood at one point.
#[derive(Clone, Copy, Debug)]
pub struct PointView<'r> {
    run: &'r Run,
    point: Point,
    seen: usize,
    news_from: usize,
    now: Option<Instant>,
}

impl<'r> PointView<'r> {
    /// The views of a run's points, in order.
    pub fn all(run: &'r Run) -> impl Iterator<Item = Self> + 'r {
        let mut news_from = 0;
        run.point_spans().iter().map(move |span| {
            let view = Self { run, point: span.point, seen: span.seen, news_from, now: span.now };
            news_from = span.seen;
            view
        })
    }

    /// The point at which one more request would be made after everything recorded; `None` when the
    /// recording has that point itself.
    pub fn one_more_request(run: &'r Run) -> Option<Self> {
        let point = Point::new(run.steps().len(), Moment::BeforeRequest);
        let (seen, last) = (run.events().len(), run.points().last());
        let now = run.events().iter().rev().find_map(Event::ts);
        (last != Some(point)).then_some(Self { run, point, seen, news_from: run.known_events(), now })
    }

    /// True for a point that the recording itself does not have ([`Self::one_more_request`]).
    pub fn is_after_end(&self) -> bool {
        self.run.points().last().is_none_or(|last| self.point > last)
    }

    /// The point.
    pub fn point(&self) -> Point {
        self.point
    }

    /// The moment of the point.
    pub fn moment(&self) -> Moment {
        self.point.moment
    }

    /// Who and what, as known before the run.
    pub fn header(&self) -> &'r Header {
        &self.run.header
    }

    /// Everything that has happened.
    pub fn events(&self) -> &'r [Event] {
        &self.run.events()[..self.seen]
    }

    /// What has happened since the point before.
    pub fn news(&self) -> &'r [Event] {
        &self.run.events()[self.news_from..self.seen]
    }

    /// Index of the first event of [`Self::news`].
    pub fn news_from(&self) -> usize {
        self.news_from
    }

    /// Steps whose reply is known, the current one included from its reply on.
    pub fn steps(&self) -> &'r [Step] {
        &self.run.steps()[..self.point.steps_paid().min(self.run.steps().len())]
    }

    /// The current step; `None` before its request, when nothing of it is known.
    fn step(&self) -> Option<&'r Step> {
        (self.point.moment > Moment::BeforeRequest).then(|| &self.run.steps()[self.point.step as usize])
    }

    /// The reply of the current step; `None` before its request.
    pub fn reply(&self) -> Option<&'r Message> {
        self.step().and_then(|step| self.run.events()[step.reply].message())
    }

    /// Index of the current reply among the events; `None` before its request.
    pub fn reply_index(&self) -> Option<usize> {
        self.step().map(|step| step.reply)
    }

    /// Results of the current step that are known, in order.
    pub fn results(&self) -> impl Iterator<Item = &'r Message> {
        let from = self.step().map_or(self.seen, |step| step.reply + 1);
        self.run.events()[from.min(self.seen)..self.seen].iter().filter_map(Event::message).filter(|m| m.is_result())
    }

    /// Messages so far, in order.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &'r Message> {
        self.events().iter().filter_map(Event::message)
    }

    /// True when the current step's reply asked for no tool: the round ends with it.
    pub fn ends_round(&self) -> bool {
        self.step().is_some_and(|step| !step.has_calls)
    }

    /// True when a user spoke since the point before.
    pub fn user_spoke(&self) -> bool {
        self.news().iter().filter_map(Event::message).any(|message| message.role == Role::User)
    }

    /// The time at this point: the latest timed event that has happened.
    pub fn now(&self) -> Option<Instant> {
        self.now
    }

    /// Would a stop here keep a success? For simulated judges only: their errors are drawn around the
    /// truth, which no rule may read. The latest graded checkpoint tells, else what is known of the
    /// whole run; `None` where nobody knows.
    pub fn holds_success(&self) -> Option<bool> {
        let graded = self.events().iter().rev().find_map(|event| match event {
            Event::Checkpoint(checkpoint) => Some(checkpoint.success),
            _ => None,
        });
        graded.or_else(|| match self.run.secured() {
            Secured::At(point) => Some(self.point >= point),
            Secured::Never => Some(false),
            // The success is known to stand at the end, and nothing tells since when.
            Secured::Unverified => self.run.last_point().filter(|end| self.point >= *end).map(|_| true),
            Secured::Unknown => None,
        })
    }

    /// When the run began, as far as is known by now.
    pub fn started_at(&self) -> Option<Instant> {
        self.run.header.started_at.or_else(|| self.run.first_time_within(self.seen))
    }
}
