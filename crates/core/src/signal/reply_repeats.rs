use super::grams::most_frequent;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// Characters read of a reply.
const READ: usize = 100_000;

/// How often the most frequent sequence of `window` words (default 10) occurs in the latest reply's text, one place
/// overlapping no other. A word is a sequence of letters, digits and `_`, or any other single non-blank character; the
/// first 100,000 characters are read. A shorter text reads 1, a reply without text 0.
///
/// Unit: times. Changes at: after-response. Options: `window`. Not evaluable when: the recording is redacted.
///
/// ## Fires too early when
/// The reply is a table, a list or code whose lines are alike.
/// ## Never fires when
/// The model repeats itself from reply to reply (`reply.streak`), or with a counter in each sentence.
#[derive(Debug)]
pub struct ReplyRepeats {
    window: usize,
    reading: usize,
}

impl Registered for ReplyRepeats {
    const ID: &'static str = "reply.repeats";
    const SUMMARY: &'static str = "how often one sequence of words occurs in the latest reply";
    const UNIT: &'static str = "times";
    const SOURCE: &'static str = "Gemini CLI 0.61 content loop: 10 equal chunks of 50 characters in one reply";
    const READS: Reads = Reads::Replies;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterResponse);
    const OPTIONS: &'static [&'static str] = &["window"];
    const NEED: Option<Need> = Some(Need::Texts);
    const CONTENTS: &'static [Need] = &[Need::ReplyTexts];

    fn start(options: &Options) -> Self {
        Self { window: options.window.unwrap_or(10).max(1), reading: 0 }
    }
}

impl Signal for ReplyRepeats {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterResponse, Some(reply)) = (view.moment(), view.reply()) {
            self.reading = most_frequent(&reply.text(), self.window, READ);
        }
        Some(self.reading as f64)
    }
}
