//! Records a live run: takes events and returns points.

use super::layout::{Layout, ViewedRun};
use super::{Draft, Event, Header, PointView};

/// Records a run event by event and returns the points that each event makes known.
///
/// The arrival of the next reply ends a step. With [`Self::push`] alone, the point after a step's tools therefore comes
/// late, just before the next reply, as when a recording is read line by line. A caller that runs the agent knows
/// earlier and should say so: call [`Self::request`] before each model call (or [`Self::close_step`] once the tools
/// have run) and [`Self::end`] at the end. The points come out the same either way, in the same order and with the same
/// contents.
///
/// All events are kept, because rules may read the whole past.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    header: Header,
    events: Vec<Event>,
    layout: Layout,
}

impl Recorder {
    /// A run in which nothing has happened yet.
    pub fn new(header: Header) -> Self {
        let header = Header { ended_at: None, totals: None, ..header };
        Self { header, events: Vec::new(), layout: Layout::default() }
    }

    /// Makes room for this many events, for a caller that knows how many there will be.
    #[doc(hidden)]
    #[must_use]
    pub fn with_room_for(mut self, n_events: usize) -> Self {
        self.events.reserve_exact(n_events);
        self.layout.reserve(n_events / 2 + 1);
        self
    }

    /// Records an event. A reply of the agent returns the open points of the step before it, `before_request` of its
    /// own step unless [`Self::request`] already returned it, and `after_response`. Any other event returns no points.
    pub fn push(&mut self, event: Event) -> impl ExactSizeIterator<Item = PointView<'_>> {
        self.events.push(event);
        self.lay(Layout::take)
    }

    /// Has `lay` lay points, and shows them.
    fn lay(&mut self, lay: fn(&mut Layout, &[Event])) -> impl ExactSizeIterator<Item = PointView<'_>> {
        let from = self.layout.points().len();
        lay(&mut self.layout, &self.events);
        self.layout.views(self.viewed(), from)
    }

    /// Ends the current step: all its tools have run and their results have been pushed. Returns `after_tools`, and
    /// `end_of_round` if the reply called no tool. Events pushed later belong to the next point.
    pub fn close_step(&mut self) -> impl ExactSizeIterator<Item = PointView<'_>> {
        self.lay(Layout::close_step)
    }

    /// Announces that a model call is about to be made. Returns the points of [`Self::close_step`], if that was not
    /// called, and `before_request`.
    pub fn request(&mut self) -> impl ExactSizeIterator<Item = PointView<'_>> {
        self.lay(Layout::request)
    }

    /// Ends the run. Returns the open points of the last step and, if anything was left to answer, the point of the
    /// request that was about to be made.
    pub fn end(&mut self) -> impl ExactSizeIterator<Item = PointView<'_>> {
        self.lay(Layout::end)
    }

    /// The view at the latest point, or at the one `before` points earlier; `None` if there are not that many points.
    pub fn latest(&self, before: usize) -> Option<PointView<'_>> {
        let from = self.layout.points().len().checked_sub(before + 1)?;
        self.layout.views(self.viewed(), from).next()
    }

    fn viewed(&self) -> ViewedRun<'_> {
        ViewedRun { header: &self.header, events: &self.events, numbers: None }
    }

    /// What is known before the run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Everything pushed so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The recording so far, without a grade, to be saved or replayed under other strategies.
    pub fn into_draft(self) -> Draft {
        Draft { header: self.header, events: self.events, ..Draft::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Message, Moment, Role, Run, ToolCall};
    use super::*;

    fn says(role: Role) -> Event {
        Event::Message(Message::saying(role, "text"))
    }

    fn calls() -> Event {
        let mut reply = Message::saying(Role::Assistant, "text");
        reply.tool_calls.push(ToolCall::new(None, "ls", "{}"));
        Event::Message(reply)
    }

    /// The moment of each point, with the number of events known and new at it.
    fn told<'r>(views: impl Iterator<Item = PointView<'r>>) -> Vec<(Moment, usize, usize)> {
        views.map(|view| (view.moment(), view.events().len(), view.news().len())).collect()
    }

    #[test]
    fn points_come_as_early_as_they_are_announced() {
        let mut run = Recorder::new(Header::default());
        assert_eq!(told(run.push(says(Role::User))), []);
        assert_eq!(told(run.request()), [(Moment::BeforeRequest, 1, 1)]);
        assert_eq!(told(run.request()), [], "announced twice, shown once");
        assert_eq!(told(run.push(calls())), [(Moment::AfterResponse, 2, 1)]);
        assert_eq!(told(run.push(says(Role::Tool))), []);
        assert_eq!(told(run.close_step()), [(Moment::AfterTools, 3, 1)]);
        assert_eq!(told(run.close_step()), []);
        let reply = [(Moment::BeforeRequest, 3, 0), (Moment::AfterResponse, 4, 1)];
        assert_eq!(told(run.push(says(Role::Assistant))), reply, "not announced, so both come with the reply");
        assert_eq!(told(run.end()), [(Moment::AfterTools, 4, 0), (Moment::EndOfRound, 4, 0)]);
        assert_eq!(told(run.end()), []);
    }

    #[test]
    fn what_comes_late_is_news_of_the_next_point() {
        let mut run = Recorder::new(Header::default());
        assert_eq!(run.push(calls()).len(), 2);
        assert_eq!(told(run.close_step()), [(Moment::AfterTools, 1, 0)]);
        assert_eq!(told(run.push(says(Role::Tool))), []);
        assert_eq!(told(run.request()), [(Moment::BeforeRequest, 2, 1)]);
        assert_eq!(told(run.push(says(Role::User))), []);
        assert_eq!(told(run.push(calls())), [(Moment::AfterResponse, 4, 2)]);
    }

    #[test]
    fn a_view_ends_at_its_point() {
        let mut run = Recorder::new(Header::default());
        for event in [calls(), says(Role::Tool), says(Role::User), says(Role::Assistant)] {
            assert!(run.push(event).len() < 5);
        }
        let run = Run::new(run.into_draft());
        let steps = |view: PointView<'_>| (view.steps().len(), view.replies().count(), view.results().count());
        let known: Vec<_> = run.views().map(steps).collect();
        assert_eq!(known, [(0, 0, 0), (0, 1, 0), (1, 1, 1), (1, 1, 0), (1, 2, 0), (2, 2, 0), (2, 2, 0)]);
    }
}
