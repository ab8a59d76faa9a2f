use super::grams::Grams;
use super::latest::Latest;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, Moments, PointView};

/// Characters read of each of a step's two texts.
const READ: usize = 20_000;

/// Share of what the latest `window` (default 3) steps wrote and read that was new: of their sequences of eight words,
/// the share that no earlier step of the run had. A step's reply and calls form one text, and all its results another;
/// the first 20,000 characters of each are read. A word is a sequence of letters, digits and `_`, or any other single
/// non-blank character. A text of fewer than eight words counts as one sequence. A step with no text at all counts as
/// new.
///
/// Unit: share, 0 to 1. It falls as the agent goes in circles, so use `at_most` for the limit. Changes at: after-tools.
/// Options: `window`. Not evaluable when: the recording is redacted.
///
/// ## Fires too early when
/// The agent has good reason to read one long file again and again, or works through a list with the same words.
/// ## Never fires when
/// Every result contains a timestamp or a counter among its words, or the agent wanders through ever new files.
#[derive(Debug)]
pub struct Novelty {
    grams: Grams,
    /// For each of the latest steps: the number of its word sequences, and how many of them were new.
    latest: Latest<(u64, u64)>,
}

impl Registered for Novelty {
    const ID: &'static str = "novelty";
    const SUMMARY: &'static str = "share of the latest steps' words that no earlier step of the run had";
    const UNIT: &'static str = "share";
    const SOURCE: &'static str =
        "whenstop; n-gram novelty as in Broder (1997), On the resemblance and containment of documents";
    const READS: Reads = Reads::Replies;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["window"];
    const NEED: Option<Need> = Some(Need::Texts);
    const CONTENTS: &'static [Need] = &[Need::CallArguments, Need::ResultTexts, Need::ReplyTexts];

    fn start(options: &Options) -> Self {
        Self { grams: Grams::default(), latest: Latest::over(options.window.unwrap_or(3)) }
    }
}

impl Signal for Novelty {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterTools, Some(reply)) = (view.moment(), view.reply()) {
            let mut own = Vec::with_capacity(1 + 2 * reply.tool_calls.len());
            own.push(reply.text());
            for call in &reply.tool_calls {
                own.push(call.name.as_str().into());
                own.push(call.arguments.as_str());
            }
            self.grams.read(own.iter().map(AsRef::as_ref), READ);
            let results: Vec<_> = view.results().map(crate::transcript::Message::text).collect();
            self.grams.read(results.iter().map(AsRef::as_ref), READ);
            self.latest.push(self.grams.end_step());
        }
        let (all, new) = self.latest.items.iter().fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
        Some(if all == 0 { 1.0 } else { new as f64 / all as f64 })
    }
}
