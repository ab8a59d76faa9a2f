//! Runs a strategy beside a live agent: takes events and returns decisions.

use std::fmt;
use std::sync::Arc;

use super::Terms;
use super::following::Following;
use crate::decision::{Decision, RuleReading, Strategy};
use crate::transcript::{Draft, Event, Header, PointView, Recorder};

/// A strategy applied to a live run. It decides exactly as in a [`replay`](super::replay) of the same events: at the
/// same points, by the same rules, on the same evidence.
///
/// Push events as they happen. Call [`Self::request`] before each model call and [`Self::end`] when the agent is done,
/// so that every decision comes as early as possible. With [`Self::push`] alone, decisions after a step's tools come
/// only with the next reply, when that reply has already been paid for.
///
/// After a decision that ends the run ([`Action::is_terminal`](crate::decision::Action::is_terminal)), the strategy
/// makes no more decisions. Acting on any decision (stopping the agent, showing the model a warning, refusing a call)
/// is up to the caller.
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
    /// Starts the strategy on a run of which only the header is known.
    pub fn start<S: Strategy + ?Sized>(strategy: &Arc<S>, header: Header) -> Self {
        Self::start_on(Terms::default(), strategy, header)
    }

    /// Starts it on the terms of a recording whose events will be pushed.
    pub fn start_on<S: Strategy + ?Sized>(terms: Terms, strategy: &Arc<S>, header: Header) -> Self {
        Self { following: Following::new(terms.start(strategy, &header)), recorder: Recorder::new(header) }
    }

    /// Records an event and returns the strategy's decisions, in order. See [`Recorder::push`] for the points at which
    /// it can decide.
    pub fn push(&mut self, event: Event) -> Vec<Decision> {
        self.following.say(self.recorder.push(event))
    }

    /// Records that the tools of the current step have run; see [`Recorder::close_step`].
    pub fn close_step(&mut self) -> Vec<Decision> {
        self.following.say(self.recorder.close_step())
    }

    /// Announces a model call; see [`Recorder::request`]. A decision here that ends the run saves that call.
    pub fn request(&mut self) -> Vec<Decision> {
        self.following.say(self.recorder.request())
    }

    /// Ends the run; see [`Recorder::end`].
    pub fn end(&mut self) -> Vec<Decision> {
        self.following.say(self.recorder.end())
    }

    /// True once a decision has ended the run.
    pub fn has_ended(&self) -> bool {
        self.following.has_ended
    }

    /// The readings of the strategy's rules at the latest point, for display.
    pub fn readings(&self) -> Vec<RuleReading> {
        self.following.watch.readings()
    }

    /// Everything pushed so far.
    pub fn events(&self) -> &[Event] {
        self.recorder.events()
    }

    /// The recording so far; see [`Recorder::into_draft`].
    pub fn into_draft(self) -> Draft {
        self.recorder.into_draft()
    }
}

impl Following {
    /// The strategy's decisions at these points. It sees no points after the one at which it ended the run.
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
