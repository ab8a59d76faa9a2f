//! What a rule can see: only the past. A view consists of slices that end at its point, so later events are out of
//! reach.

use super::{Event, Header, Instant, Message, Moment, Point, RunNumbers, Step, messages, placeholder};

/// The state of a run at one point. A [`Recorder`](super::Recorder) yields views of a live run and a
/// [`Run`](super::Run) those of a finished one, in the same order and with the same contents.
#[derive(Clone, Copy, Debug)]
pub struct PointView<'r> {
    pub(super) header: &'r Header,
    /// Everything that has happened.
    pub(super) events: &'r [Event],
    /// The finished steps.
    pub(super) steps: &'r [Step],
    /// Index of the current step's reply.
    pub(super) reply: Option<usize>,
    pub(super) point: Point,
    pub(super) news_from: usize,
    /// The latest event with a timestamp is before this index; 0 if none has one.
    pub(super) timed: usize,
    /// The same at the previous point.
    pub(super) timed_before: usize,
    /// The time of the first event with a timestamp.
    pub(super) first_time: Option<Instant>,
    pub(super) is_after_end: bool,
    /// What other programs were asked about the run, of which only the answers up to this point may be looked at.
    pub(super) numbers: Option<&'r RunNumbers>,
}

impl<'r> PointView<'r> {
    /// True for a point after the end of the recording ([`Run::one_more_request`](super::Run::one_more_request)).
    pub fn is_after_end(&self) -> bool {
        self.is_after_end
    }

    /// What other programs were asked about the run.
    pub(crate) fn numbers(&self) -> Option<&'r RunNumbers> {
        self.numbers
    }

    /// The point.
    pub fn point(&self) -> Point {
        self.point
    }

    /// The moment of the point.
    pub fn moment(&self) -> Moment {
        self.point.moment
    }

    /// What is known before the run.
    pub fn header(&self) -> &'r Header {
        self.header
    }

    /// Everything that has happened.
    pub fn events(&self) -> &'r [Event] {
        self.events
    }

    /// The events since the previous point.
    pub fn news(&self) -> &'r [Event] {
        &self.events[self.news_from..]
    }

    /// Index of the first event of [`Self::news`].
    pub fn news_from(&self) -> usize {
        self.news_from
    }

    /// The request that the results of the last step called for and that was never made, because a prompt came first:
    /// the state just before that prompt. `None` unless that is what happened since the previous point. A framework
    /// that checks its limits before each request would have checked them there, since its loop goes straight from the
    /// results to the next request.
    #[doc(hidden)]
    pub fn unmade_request(&self, is_prompt: impl Fn(&Message) -> bool) -> Option<Self> {
        let calls_for_one = self.moment() == Moment::BeforeRequest && self.steps.last()?.calls_for_a_request();
        if !calls_for_one {
            return None;
        }
        let is_prompt = |event: &Event| matches!(event, Event::Message(message) if is_prompt(message));
        let before = self.news().iter().position(is_prompt)?;
        let seen = self.news_from + before;
        let timed = match self.events[self.news_from..seen].iter().rposition(|event| event.ts().is_some()) {
            Some(last) => self.news_from + last + 1,
            None => self.timed_before,
        };
        Some(Self { events: &self.events[..seen], timed, ..*self })
    }

    /// The finished steps, in order. The current step is among them from `after_tools` on.
    pub fn steps(&self) -> &'r [Step] {
        self.steps
    }

    /// The replies so far, in order, the current one included.
    pub fn replies(&self) -> impl DoubleEndedIterator<Item = &'r Message> + use<'r> {
        let events = self.events;
        let current = self.reply.filter(|reply| self.steps.last().is_none_or(|last| last.reply < *reply));
        let indices = self.steps.iter().map(|step| step.reply).chain(current);
        indices.filter_map(move |index| events[index].message())
    }

    /// The reply of the current step; `None` at `before_request`.
    pub fn reply(&self) -> Option<&'r Message> {
        self.events[self.reply?].message()
    }

    /// Index of the current reply among the events; `None` at `before_request`.
    pub fn reply_index(&self) -> Option<usize> {
        self.reply
    }

    /// The known results of the current step, in order.
    pub fn results(&self) -> impl Iterator<Item = &'r Message> + use<'r> {
        let from = self.reply.map_or(self.events.len(), |reply| reply + 1);
        messages(&self.events[from..]).filter(|message| message.is_result())
    }

    /// Messages so far, in order.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &'r Message> + use<'r> {
        messages(self.events)
    }

    /// The length of a message's text in bytes. For a redacted text, the length of the original.
    pub fn content_bytes(&self, message: &Message) -> usize {
        let Some(text) = &message.content else { return 0 };
        let text = text.as_str();
        let taken_out = if self.header.redacted { placeholder::bytes_of(&text) } else { None };
        taken_out.unwrap_or(text.len())
    }

    /// True when the current reply calls no tool, so that the round ends with it.
    pub fn ends_round(&self) -> bool {
        matches!(self.reply(), Some(reply) if reply.tool_calls.is_empty())
    }

    /// The time at this point: the latest timestamp so far. `None` if there is none yet.
    pub fn now(&self) -> Option<Instant> {
        self.events[..self.timed].last()?.ts()
    }

    /// When the run began; `None` if neither the header nor any event so far has a time.
    pub fn started_at(&self) -> Option<Instant> {
        self.header.started_at.or(self.first_time)
    }
}
