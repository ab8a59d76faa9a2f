use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// Consecutive replies without text (only calls, or nothing at all). A reply with any non-blank text resets it to 0.
///
/// Unit: replies. Changes at: after-response. Always evaluable.
///
/// ## Fires too early when
/// The model writes little text by nature: its healthy tool-heavy runs also read high.
/// ## Never fires when
/// The model narrates each call of its loop.
#[derive(Debug, Default)]
pub struct NoTextStreak(u32);

impl Registered for NoTextStreak {
    const ID: &'static str = "no_text.streak";
    const SUMMARY: &'static str = "replies in a row without text";
    const UNIT: &'static str = "replies";
    const SOURCE: &'static str = "agentao 0.5 no_text_progress (window 30)";
    const READS: Reads = Reads::Replies;
    const TAKES_STEPS: bool = true;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterResponse);
    const CONTENTS: &'static [Need] = &[Need::ReplyTexts];

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for NoTextStreak {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterResponse, Some(reply)) = (view.moment(), view.reply()) {
            let has_text = matches!(&reply.content, Some(text) if !text.is_blank());
            self.0 = if has_text { 0 } else { self.0 + 1 };
        }
        Some(f64::from(self.0))
    }
}
