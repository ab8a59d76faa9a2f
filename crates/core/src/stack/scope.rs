//! What the counts of a rule begin with: the run, or each round of it.

use crate::transcript::{Event, Header, Moment, PointView, Recorder};

/// With what the counts of a clause or a cap begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// With the run.
    #[default]
    Run,
    /// Anew with each round: with every prompt that is answered.
    Round,
}

impl Scope {
    /// The scopes by the names of stack files.
    pub(super) const NAMED: [(&'static str, Self); 2] = [("run", Self::Run), ("round", Self::Round)];
}

/// The round that is going on, recorded as a run of its own, so that a rule sees of it what it would see in a file that
/// holds that round alone.
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

    /// Takes in a point of the run; true where a new round begins with it.
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

    /// The point last taken in, as one of the round.
    pub(super) fn view(&self, of: &PointView<'_>) -> Option<PointView<'_>> {
        // The end of a round is laid out together with the point after its tools.
        let both = of.moment() == Moment::AfterTools && of.ends_round();
        self.recorder.latest(usize::from(both))
    }
}
