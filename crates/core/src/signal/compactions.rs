use super::{Options, Reads, Registered, Signal};
use crate::transcript::{Event, PointView};

/// How often the host has shortened the agent's context so far, as far as the recording tells. What is recorded of it
/// more than once between two replies counts once.
///
/// Unit: compactions. Changes at: every point. Always evaluable.
///
/// ## Fires too early when
/// The host shortens the context early and often, by design.
/// ## Never fires when
/// The recorder does not write it down, or the host drops old results without a word.
#[derive(Debug, Default)]
pub struct Compactions {
    n: u32,
    /// Whether there was one since the latest reply.
    is_new: bool,
}

impl Registered for Compactions {
    const ID: &'static str = "compactions";
    const SUMMARY: &'static str = "how often the context was shortened so far";
    const UNIT: &'static str = "compactions";
    const SOURCE: &'static str = "Kilo Code 7.7 compaction_exhausted; Codex and Claude Code write each compaction";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Compactions {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        for event in view.news() {
            match event {
                Event::Note(note) if note.is_compaction() && !self.is_new => {
                    self.n = self.n.saturating_add(1);
                    self.is_new = true;
                }
                Event::Message(message) if message.is_step() => self.is_new = false,
                _ => {}
            }
        }
        Some(f64::from(self.n))
    }
}
