use super::{Options, Registered, Signal};
use crate::transcript::{Moment, PointView};

/// Rounds completed: how often the agent handed back with a reply that asked for no tool.
///
/// Unit: rounds. Changes at: end-of-round. Always evaluable.
///
/// ## Fires too early when
/// The agent asks a harmless question and is answered: every answer is a new round.
/// ## Never fires when
/// The agent keeps calling tools: one round can be arbitrarily long.
#[derive(Debug, Default)]
pub struct Rounds(u32);

impl Registered for Rounds {
    const ID: &'static str = "rounds";
    const SUMMARY: &'static str = "rounds completed";
    const UNIT: &'static str = "rounds";
    const SOURCE: &'static str = "mira 0.3 auto_round; agentica 1.4 turns_used";

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Rounds {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if view.moment() == Moment::EndOfRound {
            self.0 += 1;
        }
        Some(f64::from(self.0))
    }
}
