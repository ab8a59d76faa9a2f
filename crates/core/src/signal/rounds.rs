use super::{Options, Reads, Registered, Signal};
use crate::transcript::{Event, Moment, PointView};

/// Rounds completed: how often the agent handed control back and was prompted again. It hands back with a reply that
/// calls no tool, or that calls a tool for that purpose (`attempt_completion` and the like). A reply that the host
/// answers itself ("You did not use a tool") and an interrupted round do not count.
///
/// Unit: rounds. Changes at: before-request, which is also when a rule on it is checked unless it names another moment.
/// At end-of-round, the round that seems to be ending is already counted. Always evaluable.
///
/// ## Fires too early when
/// The agent asks a harmless question: every answer begins a new round.
/// ## Never fires when
/// The agent keeps calling tools: one round can be arbitrarily long.
#[derive(Debug, Default)]
pub struct Rounds {
    completed: u32,
    handed_back: bool,
}

impl Registered for Rounds {
    const ID: &'static str = "rounds";
    const SUMMARY: &'static str = "rounds completed";
    const UNIT: &'static str = "rounds";
    const SOURCE: &'static str = "mira 0.3 auto_round; agentica 1.4 turns_used";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = false;
    const AT: Moment = Moment::BeforeRequest;

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Rounds {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        match view.moment() {
            Moment::BeforeRequest => {
                let news = view.news();
                let prompted = news.iter().any(Event::is_prompt) && !news.iter().any(Event::is_interruption);
                self.completed += u32::from(std::mem::take(&mut self.handed_back) && prompted);
            }
            Moment::AfterTools => self.handed_back = matches!(view.reply(), Some(reply) if reply.hands_back()),
            Moment::EndOfRound => return Some(f64::from(self.completed + 1)),
            Moment::AfterResponse => {}
        }
        Some(f64::from(self.completed))
    }
}
