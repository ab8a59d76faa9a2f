use super::{Options, Reads, Registered, Signal};
use crate::transcript::{Lane, PointView, messages};

/// Messages of the conversation so far: system, user, agent and tool results. The simulated user's tool calls and
/// results, and sub-agents' messages, do not count.
///
/// Unit: messages. Changes at: every point. Always evaluable.
///
/// ## Fires too early when
/// One reply asks for many tools at once: each result is a message.
/// ## Never fires when
/// The agent works in few, long replies.
#[derive(Debug, Default)]
pub struct Messages(u32);

impl Registered for Messages {
    const ID: &'static str = "messages";
    const SUMMARY: &'static str = "messages of the agent's conversation so far";
    const UNIT: &'static str = "messages";
    const SOURCE: &'static str = "AutoGen 0.7 MaxMessageTermination; tau2-bench max_steps";
    const READS: Reads = Reads::Messages;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Messages {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        let counted = messages(view.news()).filter(|message| matches!(message.lane, Lane::Main | Lane::Canned)).count();
        self.0 = self.0.saturating_add(u32::try_from(counted).unwrap_or(u32::MAX));
        Some(f64::from(self.0))
    }
}
