//! Scores the systems' text tests on labelled texts.
//!
//! A labelled table is JSON Lines, one text per line: `id`, `input.text` (or `input.observation`) and one label:
//! `label.really_asks_user`, `label.really_blocked` or `label.really_complete`.

use serde_json::Value;

use crate::text::benchmark::Confusion;
use crate::text::completion_words::completion_word;
use crate::text::failure::{failure, failure_in};
use crate::text::user_request::{user_request, user_request_in};
use crate::text::{TextPart, Wording};
use crate::transcript::named;

/// A text test with its name.
pub type NamedTest = (&'static str, fn(&str) -> bool);

named! {
    /// What a text is labelled for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Question {
        /// Does the reply really ask the user for something?
        AsksUser = "really_asks_user",
        /// Is the agent really blocked?
        Blocked = "really_blocked",
        /// Is the task really complete?
        Complete = "really_complete",
    }
}

impl Question {
    /// The labelled table bundled for this question.
    pub fn bundled(self) -> &'static str {
        match self {
            Self::AsksUser => include_str!("texts/asks_user.jsonl"),
            Self::Blocked => include_str!("texts/blocked.jsonl"),
            Self::Complete => include_str!("texts/observations.jsonl"),
        }
    }

    /// The tests that answer it, by name: those shipped first, then recombinations of their phrase lists and windows.
    pub fn tests(self) -> Vec<NamedTest> {
        match self {
            Self::AsksUser => vec![
                ("0.2 list (whole text, as shipped)", |text| user_request(text, Wording::V02).is_some()),
                ("0.3 list (closing paragraph, as shipped)", |text| user_request(text, Wording::V03).is_some()),
                ("0.2 list, closing paragraph only", |text| {
                    user_request_in(text, Wording::V02, TextPart::Closing).is_some()
                }),
                ("0.3 list, whole text", |text| user_request_in(text, Wording::V03, TextPart::Whole).is_some()),
            ],
            Self::Blocked => vec![
                ("0.2 list (whole text, as shipped)", |text| failure(text, Wording::V02).is_some()),
                ("0.3 list (hard signals anywhere, soft ones closing, as shipped)", |text| {
                    failure(text, Wording::V03).is_some()
                }),
                ("0.2 list, closing paragraph only", |text| {
                    failure_in(text, Wording::V02, TextPart::Closing).is_some()
                }),
                ("0.3 list, closing paragraph only", |text| {
                    failure(TextPart::Closing.within(text), Wording::V03).is_some()
                }),
                ("0.3 list, whole text", |text| failure_in(text, Wording::V03, TextPart::Whole).is_some()),
            ],
            Self::Complete => vec![("completion words (as documented)", |text| completion_word(text).is_some())],
        }
    }
}

/// A text and its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledText {
    /// Its id in the table.
    pub id: String,
    /// The text; empty if the table has null.
    pub text: String,
    /// The label: the true answer to the question.
    pub truth: bool,
}

/// Reads a labelled table. Lines without this question's label are skipped, so any table is accepted.
pub fn labelled(table: &str, question: Question) -> Vec<LabelledText> {
    let read = |line: &str| {
        let row: Value = serde_json::from_str(line).ok()?;
        let truth = row.get("label")?.get(question.name())?.as_bool()?;
        let input = row.get("input")?;
        let text = input.get("text").or_else(|| input.get("observation"))?.as_str().unwrap_or_default().to_owned();
        Some(LabelledText { id: row.get("id")?.as_str()?.to_owned(), text, truth })
    };
    table.lines().filter_map(read).collect()
}

/// The result of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// The question asked.
    pub question: Question,
    /// The test's name.
    pub test: &'static str,
    /// Its confusion matrix.
    pub counts: Confusion,
}

/// Scores every test on a labelled table, for each question the table has labels for.
pub fn score(table: &str) -> Vec<Score> {
    let mut scores = Vec::new();
    for question in Question::ALL {
        let texts = labelled(table, question);
        for (test, answer) in question.tests().into_iter().filter(|_| !texts.is_empty()) {
            let counts = Confusion::count(texts.iter().map(|text| (text.text.as_str(), text.truth)), answer);
            scores.push(Score { question, test, counts });
        }
    }
    scores
}

/// Scores every test on the bundled texts.
pub fn score_bundled() -> Vec<Score> {
    Question::ALL.iter().flat_map(|question| score(question.bundled())).collect()
}
