use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Instant, Lane, Origin, PointView, Role, messages};

/// Seconds the agent worked: the time from the prompt to the agent's latest event, summed over rounds. Time spent
/// waiting for the next prompt does not count.
///
/// Unit: seconds. Changes at: every point. Not evaluable when: the recording has no timestamps.
///
/// ## Fires too early when
/// A call waits for a person within a round: for a permission, or for an answer (`permission_awaited.jsonl`).
/// ## Never fires when
/// A call hangs: the time is read only after the call has returned.
#[derive(Debug, Default)]
pub struct Active {
    /// Total of the finished rounds.
    before_ms: i64,
    start: Option<Instant>,
    longest_ms: i64,
}

impl Registered for Active {
    const ID: &'static str = "active";
    const SUMMARY: &'static str = "seconds the agent worked, without the time it waited for prompts";
    const UNIT: &'static str = "s";
    const SOURCE: &'static str = "Claude Code 2.1 turn_duration; Codex task_started to task_complete";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;
    const NEED: Option<Need> = Some(Need::Times);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Active {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        for message in messages(view.news()) {
            let Some(now) = message.ts else { continue };
            if message.role == Role::User && message.lane == Lane::Main && message.origin == Origin::Prompt {
                self.before_ms = self.before_ms.saturating_add(std::mem::take(&mut self.longest_ms));
                self.start = Some(now);
            } else if message.is_step() || message.is_result() {
                let start = *self.start.get_or_insert(now);
                self.longest_ms = self.longest_ms.max(now.since(start).0);
            }
        }
        self.start.map(|_| self.before_ms.saturating_add(self.longest_ms) as f64 / 1000.0)
    }
}
