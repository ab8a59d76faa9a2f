use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Event, Instant, PointView};

/// Seconds since the run began, by the recording's clock. A clock that goes backwards does not lower the reading.
///
/// Unit: seconds. Changes at: every point. Not evaluable when: the recording has no timestamps.
///
/// ## Fires too early when
/// The machine slept, or the agent waited for a person.
/// ## Never fires when
/// A call hangs: the time is read only after the call has returned.
#[derive(Debug, Default)]
pub struct Elapsed {
    start: Option<Instant>,
    longest_ms: i64,
}

impl Registered for Elapsed {
    const ID: &'static str = "elapsed";
    const SUMMARY: &'static str = "seconds since the run began";
    const UNIT: &'static str = "s";
    const SOURCE: &'static str = "awaken 0.6 Timeout; Strands 1.62 execution_timeout";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;
    const NEED: Option<Need> = Some(Need::Times);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Elapsed {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.start = self.start.or(view.header().started_at);
        for now in view.news().iter().filter_map(Event::ts) {
            let start = *self.start.get_or_insert(now);
            self.longest_ms = self.longest_ms.max(now.since(start).0);
        }
        self.start.map(|_| self.longest_ms as f64 / 1000.0)
    }
}
