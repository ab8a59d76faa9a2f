//! A run while it is going on: events in, points out.

use super::layout::Layout;
use super::{Draft, Event, Header, PointView};

/// Records a run event by event, and says which points became known with each.
///
/// A step is over when the next reply arrives, so with [`Self::push`] alone the point after its tools comes late: just
/// before the next reply, as in a recording that is read line by line. Whoever runs the agent knows earlier and says so:
/// [`Self::request`] before each model call (or [`Self::close_step`] once the tools have run), [`Self::end`] at the end.
/// The points are the same, in the same order and with the same contents.
///
/// All events are kept: rules may look at the whole past.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    header: Header,
    events: Vec<Event>,
    layout: Layout,
}

impl Recorder {
    /// A run of which nothing has happened yet.
    pub fn new(header: Header) -> Self {
        let header = Header { ended_at: None, totals: None, ..header };
        Self { header, events: Vec::new(), layout: Layout::default() }
    }

    /// Something happened. A reply of the agent brings the points of the step before that are still open, the request of
    /// its own step if that was not announced, and `after_response`; anything else brings none.
    pub fn push(&mut self, event: Event) -> impl ExactSizeIterator<Item = PointView<'_>> {
        let from = self.layout.n_points();
        self.events.push(event);
        self.layout.take(&self.events);
        self.layout.views(&self.header, &self.events, from)
    }

    /// The current step is over: all its tools have run, and what was recorded of them has been pushed. Brings
    /// `after_tools`, and `end_of_round` where the reply asked for no tool. What is pushed later is news of the next point.
    pub fn close_step(&mut self) -> impl ExactSizeIterator<Item = PointView<'_>> {
        let from = self.layout.n_points();
        self.layout.close_step(&self.events);
        self.layout.views(&self.header, &self.events, from)
    }

    /// A model call is about to be made. Brings what [`Self::close_step`] does if that was not called, and
    /// `before_request`.
    pub fn request(&mut self) -> impl ExactSizeIterator<Item = PointView<'_>> {
        let from = self.layout.n_points();
        self.layout.request(&self.events);
        self.layout.views(&self.header, &self.events, from)
    }

    /// The run is over. Brings the points of the last step that are still open; where something was left to answer, also
    /// the request that was about to be made.
    pub fn end(&mut self) -> impl ExactSizeIterator<Item = PointView<'_>> {
        let from = self.layout.n_points();
        self.layout.end(&self.events);
        self.layout.views(&self.header, &self.events, from)
    }

    /// The latest of the points so far; `None` before the first. With `before`, the one that many points earlier.
    pub fn latest(&self, before: usize) -> Option<PointView<'_>> {
        let from = self.layout.n_points().checked_sub(before + 1)?;
        self.layout.views(&self.header, &self.events, from).next()
    }

    /// Who and what.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Everything pushed so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The recording so far, not graded: to be kept, and replayed under other strategies.
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

    /// The moments of the points and how much was known and new at each.
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
