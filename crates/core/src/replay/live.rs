//! A strategy beside the agent: events in, decisions out.

use std::fmt;
use std::sync::Arc;

use super::Terms;
use super::following::Following;
use crate::decision::{Decision, RuleReading, Strategy};
use crate::transcript::{Draft, Event, Header, PointView, Recorder};

/// A strategy at work on a run that is still going on. It decides as it would in a [`replay`](super::replay) of the same
/// events: same points, same rules, same evidence.
///
/// Push what happens as it happens. Call [`Self::request`] before each model call and [`Self::end`] when the agent is
/// done, and every decision comes as early as it can; with [`Self::push`] alone, what is decided after the tools of a
/// step comes with the next reply, when that reply has been paid for.
///
/// Once a decision ends the run ([`Action::is_terminal`](crate::decision::Action::is_terminal)) the strategy says no
/// more. What becomes of the other decisions (a warning to put before the model, a call to refuse) is the caller's to do.
pub struct Live {
    recorder: Recorder,
    following: Following,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recorder, following } = self;
        let run = &recorder.header().run_id;
        write!(f, "Live({run}, {} events, ended: {})", recorder.events().len(), following.has_ended)
    }
}

impl Live {
    /// Starts the strategy on a run of which nothing but its header is known.
    pub fn start<S: Strategy + ?Sized>(strategy: &Arc<S>, header: Header) -> Self {
        Self::start_on(Terms::default(), strategy, header)
    }

    /// Starts it on terms of a recording, whose events are then pushed.
    pub fn start_on<S: Strategy + ?Sized>(terms: Terms, strategy: &Arc<S>, header: Header) -> Self {
        Self { following: Following::new(terms.start(strategy, &header)), recorder: Recorder::new(header) }
    }

    /// Something happened: what the strategy says to it, in order. See [`Recorder::push`] for the points it may speak at.
    pub fn push(&mut self, event: Event) -> Vec<Decision> {
        self.following.say(self.recorder.push(event))
    }

    /// The tools of the current step have run: see [`Recorder::close_step`].
    pub fn close_step(&mut self) -> Vec<Decision> {
        self.following.say(self.recorder.close_step())
    }

    /// A model call is about to be made: see [`Recorder::request`]. A decision that ends the run here saves that call.
    pub fn request(&mut self) -> Vec<Decision> {
        self.following.say(self.recorder.request())
    }

    /// The run is over: see [`Recorder::end`].
    pub fn end(&mut self) -> Vec<Decision> {
        self.following.say(self.recorder.end())
    }

    /// Has a decision ended the run?
    pub fn has_ended(&self) -> bool {
        self.following.has_ended
    }

    /// What the strategy's rules read at the last point, for people.
    pub fn readings(&self) -> Vec<RuleReading> {
        self.following.watch.readings()
    }

    /// Everything pushed so far.
    pub fn events(&self) -> &[Event] {
        self.recorder.events()
    }

    /// The recording so far: see [`Recorder::into_draft`].
    pub fn into_draft(self) -> Draft {
        self.recorder.into_draft()
    }
}

impl Following {
    /// What the strategy says at these points. It is shown none after the one at which it ended the run.
    fn say<'r>(&mut self, views: impl Iterator<Item = PointView<'r>>) -> Vec<Decision> {
        let mut said = Vec::new();
        for view in views {
            if self.has_ended {
                break;
            }
            self.show(&view, &mut said);
        }
        said
    }
}
