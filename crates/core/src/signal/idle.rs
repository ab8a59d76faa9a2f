use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Instant, PointView};

/// Seconds between the last two events with a timestamp known at the point: how long nothing was recorded while the
/// agent was at work. Time before a prompt is the user's and does not count, unless `between_rounds = true`.
///
/// Unit: seconds. Changes at: every point. Not evaluable when: the recording has no timestamps.
///
/// ## Fires too early when
/// A tool is slow by nature (a build, a test suite).
/// ## Never fires when
/// Events arrive steadily although the agent makes no progress.
#[derive(Debug, Default)]
pub struct Idle {
    between_rounds: bool,
    latest: Option<Instant>,
    gap_ms: Option<i64>,
}

impl Registered for Idle {
    const ID: &'static str = "idle";
    const SUMMARY: &'static str = "seconds between the last two timed events";
    const UNIT: &'static str = "s";
    const SOURCE: &'static str = "agentao 0.5 replay logs: gaps between events";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const OPTIONS: &'static [&'static str] = &["between_rounds"];
    const NEED: Option<Need> = Some(Need::Times);

    fn start(options: &Options) -> Self {
        Self { between_rounds: options.between_rounds, ..Self::default() }
    }
}

impl Signal for Idle {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        for event in view.news() {
            let Some(now) = event.ts() else { continue };
            let counts = self.between_rounds || !event.is_prompt();
            self.gap_ms = self.latest.filter(|_| counts).map(|latest| now.since(latest).0.max(0)).or(self.gap_ms);
            self.latest = Some(now);
        }
        self.gap_ms.map(|gap| gap as f64 / 1000.0)
    }
}
