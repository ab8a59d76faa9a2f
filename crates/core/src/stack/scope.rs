//! Where the counts of a rule start: with the run, or with each round.

use crate::transcript::{Event, Header, Moment, PointView, Recorder, named};

named! {
    /// Where the counts of a clause or a cap start.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Scope {
        /// At the start of the run.
        #[default]
        Run = "run",
        /// At the start of each round: at every prompt that is answered.
        Round = "round",
    }
}

/// Records the current round as a run of its own, so that a rule sees exactly what it would see in a file that contains
/// only that round.
pub(super) struct RoundRecorder {
    header: Header,
    recorder: Recorder,
}

impl RoundRecorder {
    pub(super) fn start(header: &Header) -> Self {
        let header = Header { started_at: None, ended_at: None, ..header.clone() };
        Self { recorder: Recorder::new(header.clone()), header }
    }

    /// What is known before a round.
    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Ends the round if a prompt has come. If its results called for a request that was never made, returns the point
    /// of that request: the last one that a file containing only this round would have.
    pub(super) fn end(&mut self, view: &PointView<'_>) -> Option<PointView<'_>> {
        if view.moment() != Moment::BeforeRequest || self.recorder.latest(0).is_none() {
            return None;
        }
        let news = view.news();
        let prompt = news.iter().position(Event::is_prompt)?;
        for event in &news[..prompt] {
            let _ = self.recorder.push(event.clone());
        }
        self.recorder.end().last().filter(|last| last.moment() == Moment::BeforeRequest)
    }

    /// Takes the next point of the run; returns true if a new round begins there.
    pub(super) fn take(&mut self, view: &PointView<'_>) -> bool {
        let news = view.news();
        let prompt = match view.moment() {
            Moment::BeforeRequest => news.iter().rposition(Event::is_prompt),
            _ => None,
        };
        if prompt.is_some() {
            self.recorder = Recorder::new(self.header.clone());
        }
        for event in &news[prompt.unwrap_or(0)..] {
            let _ = self.recorder.push(event.clone());
        }
        match view.moment() {
            Moment::BeforeRequest => drop(self.recorder.request()),
            Moment::AfterTools => drop(self.recorder.close_step()),
            Moment::AfterResponse | Moment::EndOfRound => {}
        }
        prompt.is_some()
    }

    /// The latest point, as seen within the round.
    pub(super) fn view(&self, of: &PointView<'_>) -> Option<PointView<'_>> {
        // `close_step` adds the end of the round together with the point after the tools.
        let both = of.moment() == Moment::AfterTools && of.ends_round();
        self.recorder.latest(usize::from(both))
    }
}
