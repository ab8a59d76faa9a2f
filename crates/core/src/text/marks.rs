//! Finds published phrases in a text, which can be reported without revealing what the text says.
//!
//! A redacted recording keeps them, so that the tests of this module and the frameworks' end markers give the same
//! results as on the original text. All phrases come from frameworks' own sources. A test with phrases of your own
//! cannot work on a redacted recording.

use super::closing_paragraph;
use super::failure::{HARD_SIGNAL_LATER, HARD_SIGNALS, LINE_START_V02, SIGNALS_V02, SOFT_SIGNALS};
use super::provider_error::{MARKERS_LATER, MARKERS_V03};
use super::user_request::{PHRASES_V02, PHRASES_V03};

/// Case-sensitive words by which a framework recognises that its run is over: mini-swe-agent's at the start of a
/// command or of its output …
const LEADING: [&str; 2] = ["echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"];

/// … and tau2's anywhere in what the simulated user says; also the word by which a bailout recognises a failed result.
const AS_WRITTEN: [&str; 4] = ["###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###", "Error"];

/// The command that starts a new session in MIRA.
const COMMANDS: [&str; 1] = ["/new"];

/// The published phrases found in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The phrase it begins with.
    pub leading: Option<&'static str>,
    /// Phrases found anywhere in it.
    pub anywhere: Vec<&'static str>,
    /// Phrases found in its closing paragraph, of those searched for there.
    pub closing: Vec<&'static str>,
}

/// Finds the published phrases in a text.
pub fn marks_in(text: &str) -> Marks {
    let leading = LEADING.into_iter().find(|mark| text.trim_start().starts_with(mark));
    let lowered = text.to_lowercase();
    let lists: [&[&'static str]; 7] =
        [&SIGNALS_V02, &HARD_SIGNALS, &SOFT_SIGNALS, &[HARD_SIGNAL_LATER], &MARKERS_V03, &MARKERS_LATER, &PHRASES_V02];
    let phrases = lists.into_iter().flatten().chain(&PHRASES_V03).copied().filter(|phrase| lowered.contains(phrase));
    let begins_line = lowered.split('\n').any(|line| line.starts_with(LINE_START_V02)).then_some(LINE_START_V02);
    let mut anywhere: Vec<&'static str> = Vec::new();
    for mark in AS_WRITTEN.into_iter().filter(|mark| text.contains(mark)).chain(phrases).chain(begins_line) {
        if !anywhere.contains(&mark) {
            anywhere.push(mark);
        }
    }
    let closing = closing_paragraph(text).to_lowercase();
    let closing = closing_phrases().filter(|phrase| closing.contains(*phrase)).collect();
    Marks { leading, anywhere, closing }
}

/// Phrases that are searched for in the closing paragraph.
fn closing_phrases() -> impl Iterator<Item = &'static str> {
    SOFT_SIGNALS.into_iter().chain(PHRASES_V03)
}

/// True if the text is a published command and nothing else.
pub fn is_command(text: &str) -> bool {
    COMMANDS.contains(&text.trim().to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::closing_paragraph::CLOSING_CHARS;

    #[test]
    fn all_closing_phrases_fit_into_a_closing_paragraph() {
        let all: usize = closing_phrases().map(|phrase| phrase.chars().count() + 1).sum();
        assert!(all + "[closing]\n[end]".len() <= CLOSING_CHARS, "{all}");
    }

    #[test]
    fn the_closing_paragraph_is_told_apart() {
        let marks = marks_in("Please confirm this.\nERROR: no\n\nI am blocked by the Error in it.");
        assert_eq!(marks.anywhere, ["Error", "blocked by", "blocked by ", "please confirm", "error:"]);
        assert_eq!(marks.closing, ["blocked by "]);
        assert_eq!(marks_in(" COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\nall").leading, Some(LEADING[1]));
        assert!(is_command(" /NEW\n") && !is_command("/new plan"));
    }
}
