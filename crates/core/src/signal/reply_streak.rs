use super::streak::Streak;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// How many consecutive replies, up to this one, had the same text. Replies without text are skipped.
///
/// Unit: replies. Changes at: after-response. Always evaluable.
///
/// ## Fires too early when
/// The model says "Continuing." each time while its tools do real work.
/// ## Never fires when
/// The text contains a counter, or the loop is in the calls and the model writes no text.
#[derive(Debug, Default)]
pub struct ReplyStreak(Streak);

impl Registered for ReplyStreak {
    const ID: &'static str = "reply.streak";
    const SUMMARY: &'static str = "replies in a row with the same text";
    const UNIT: &'static str = "replies";
    const SOURCE: &'static str = "awaken 0.6 LoopDetection; OpenHands SDK 1.58 monologue";
    const READS: Reads = Reads::Replies;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterResponse);
    const CONTENTS: &'static [Need] = &[Need::ReplyTexts];

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for ReplyStreak {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterResponse, Some(reply)) = (view.moment(), view.reply())
            && let Some(text) = &reply.content
            && !text.is_blank()
        {
            self.0.take(reply.content_print());
        }
        Some(f64::from(self.0.length()))
    }
}
