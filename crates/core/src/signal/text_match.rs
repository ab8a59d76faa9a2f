use super::{Options, Reads, Registered, Signal, TextOf};
use crate::decision::Need;
use crate::transcript::{Moment, PointView};

/// 1 when the current reply (or, with `of = "results"`, one of its results) matches, else 0. `regex` is searched for as
/// it is; `phrases` are found as substrings of the lower-cased text. `part = "closing"` reads only the last paragraph
/// (after the last blank line, at most 600 characters).
///
/// Unit: 0 or 1. Changes at: after-response, or after-tools for results. Options: `regex` or `phrases`,
/// `of`, `part`. Not evaluable when: the recording is redacted.
///
/// ## Fires too early when
/// The phrase is quoted or negated: "not DONE yet".
/// ## Never fires when
/// The agent uses different words, or another language.
#[derive(Debug)]
pub struct TextMatch {
    options: Options,
    matched: bool,
}

impl Registered for TextMatch {
    const ID: &'static str = "text.match";
    const SUMMARY: &'static str = "1 when the text matches, else 0";
    const UNIT: &'static str = "0/1";
    const SOURCE: &'static str = "awaken 0.6 ContentMatch; mira 0.3 closing-paragraph phrases; AutoGen 0.7 TextMention";
    const READS: Reads = Reads::RepliesOrResults;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const OPTIONS: &'static [&'static str] = &["regex", "phrases", "of", "part"];
    const NEED: Option<Need> = Some(Need::Texts);
    const CONTENTS: &'static [Need] = &[Need::ReplyTexts];

    fn start(options: &Options) -> Self {
        Self { options: options.clone(), matched: false }
    }
}

impl Signal for TextMatch {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        match (view.moment(), self.options.of) {
            (Moment::BeforeRequest, _) => self.matched = false,
            (Moment::AfterResponse, TextOf::Reply) => {
                self.matched = view.reply().is_some_and(|reply| self.matches(&reply.text()));
            }
            (Moment::AfterTools, TextOf::Results) => {
                self.matched = view.results().any(|result| self.matches(&result.text()));
            }
            _ => {}
        }
        Some(f64::from(u8::from(self.matched)))
    }
}

impl TextMatch {
    fn matches(&self, text: &str) -> bool {
        let text = self.options.part.within(text);
        if matches!(&self.options.regex, Some(regex) if regex.is_match(text)) {
            return true;
        }
        let lower = text.to_lowercase();
        self.options.phrases.iter().any(|phrase| lower.contains(phrase.as_str()))
    }
}
