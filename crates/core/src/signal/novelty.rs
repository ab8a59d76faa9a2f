use std::collections::VecDeque;

use super::grams::Grams;
use super::{Options, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moment, PointView};

/// Characters of each of the two texts of a step that are read.
const READ: usize = 20_000;

/// Share of what the latest `window` (default 3) steps said and saw that no earlier step of the run had: of their runs of
/// eight words, the new ones. A step's reply with its calls is one text, all its results are another; of each the first
/// 20,000 characters are read. A word is letters, digits and `_`, or any one other sign that is not blank; a text of fewer
/// than eight words is one run of words. A step that says and sees nothing counts as new.
///
/// Unit: share, 0 to 1; it falls as the agent goes in circles, so a limit is an `at_most`. Changes at: after-tools. Options:
/// `window`. Not evaluable when: the recording is redacted.
///
/// ## Fires too early when
/// The agent reads one long file again and again for good reason, or works down a list with the same words.
/// ## Never fires when
/// Every result carries a time or a counter among its words, or the agent wanders through ever new files.
#[derive(Debug)]
pub struct Novelty {
    window: usize,
    grams: Grams,
    /// Of the latest steps: how many runs of words, and how many of them were new.
    latest: VecDeque<(u64, u64)>,
}

impl Registered for Novelty {
    const ID: &'static str = "novelty";
    const SUMMARY: &'static str = "share of the latest steps' words that no earlier step of the run had";
    const UNIT: &'static str = "share";
    const SOURCE: &'static str =
        "whenstop; n-gram novelty as in Broder (1997), On the resemblance and containment of documents";
    const OPTIONS: &'static [&'static str] = &["window"];
    const NEED: Option<Need> = Some(Need::Texts);

    fn start(options: &Options) -> Self {
        Self { window: options.window.unwrap_or(3).max(1), grams: Grams::default(), latest: VecDeque::new() }
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
            self.latest.push_back(self.grams.end_step());
            if self.latest.len() > self.window {
                self.latest.pop_front();
            }
        }
        let (all, new) = self.latest.iter().fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
        Some(if all == 0 { 1.0 } else { new as f64 / all as f64 })
    }
}
