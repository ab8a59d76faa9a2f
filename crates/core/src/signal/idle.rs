use super::{Options, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Event, Instant, PointView};

/// Seconds between the last two timed events known at the point: how long nothing was recorded.
///
/// Unit: seconds. Changes at: every point. Not evaluable when: the recording has no times.
///
/// ## Fires too early when
/// A tool is slow by nature (a build, a test suite).
/// ## Never fires when
/// Events arrive steadily though nothing gets done.
#[derive(Debug, Default)]
pub struct Idle {
    latest: Option<Instant>,
    gap_ms: Option<i64>,
}

impl Registered for Idle {
    const ID: &'static str = "idle";
    const SUMMARY: &'static str = "seconds between the last two timed events";
    const UNIT: &'static str = "s";
    const SOURCE: &'static str = "agentao 0.5 replay logs: gaps between events";
    const NEED: Option<Need> = Some(Need::Times);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Idle {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        for now in view.news().iter().filter_map(Event::ts) {
            self.gap_ms = self.latest.map(|latest| now.since(latest).0.max(0)).or(self.gap_ms);
            self.latest = Some(now);
        }
        self.gap_ms.map(|gap| gap as f64 / 1000.0)
    }
}
