//! Outcomes in the ways that recordings write them. One that is recorded and means nothing is reported, since the run
//! would otherwise look like one that nobody graded.

use crate::label::words::grade_word;
use crate::record::node::{MemberNames, Node};
use crate::record::reading::Reading;
use crate::transcript::{Grade, Outcome, OutcomeSource};
use crate::value::json::{self, Written};

/// The largest plausible score.
const MOST: f64 = 1e9;

/// Where an outcome stood: in the field that the user named.
pub(crate) const NAMED_FIELD: OutcomeSource = OutcomeSource::Native("that was named");

/// The grade that a recording holds in a field of its own.
pub(crate) fn native_grade(field: &'static str, graded: Option<bool>, score: Option<f64>) -> Grade {
    let source = if graded.is_some() { OutcomeSource::Native(field) } else { OutcomeSource::None };
    Grade { outcome: Outcome::from_grade(graded), score, source, ..Grade::default() }
}

/// Whether a run did its task by the word of its grade or, if that says nothing, by its score.
pub(crate) fn by_label_or_score(label: Option<&str>, score: Option<f64>) -> Option<bool> {
    if let Some(graded) = grade_word(label.unwrap_or_default()) {
        return Some(graded);
    }
    Some(score? >= 1.0)
}

/// Whether a run did its task, by a grade that is true or false, or a word for either.
pub(crate) fn by_flag_or_word<'a>(grade: impl Written<'a>) -> Option<bool> {
    match json::flag(grade) {
        Some(flag) => Some(flag),
        None => grade_word(&json::word(grade)?),
    }
}

/// Whether a call failed, by the word of its status: `success` or `error`.
pub(crate) fn failed_by_status(status: Option<&str>) -> Option<bool> {
    match status {
        Some("success") => Some(false),
        Some("error") => Some(true),
        _ => None,
    }
}

/// Whether the run did its task, and the score if it is one.
pub(crate) type Graded = (bool, Option<f64>);

impl Node<'_> {
    /// The outcome it is: true or false, a word for either, or a score, from 1 on a success.
    pub(crate) fn as_outcome(&self) -> Option<Graded> {
        if let Some(flag) = json::flag(self) {
            return Some((flag, None));
        }
        if let Some(score) = json::number(self).filter(|score| score.abs() <= MOST) {
            return Some((score >= 1.0, Some(score)));
        }
        let word = self.as_string()?;
        Some((grade_word(word.trim())?, None))
    }

    /// The outcome under that name; anything else that stands there is reported.
    pub(crate) fn outcome(&self, names: impl MemberNames, out: &mut Reading<'_>) -> Option<Graded> {
        let found = self.get(names)?;
        let graded = found.as_outcome();
        if graded.is_none() && found.written() != "\"\"" {
            let name = names.names().iter().find(|name| self.has(**name)).unwrap_or(&"outcome");
            out.wrong_at(found.place(), found.written(), name, "an outcome: true, false, or a score");
        }
        graded
    }

    /// The grade in the field that the user names; none if it names none, or there is none.
    pub(crate) fn named_grade(&self, wanted: Option<&str>, out: &mut Reading<'_>) -> Grade {
        let Some((graded, score)) = wanted.and_then(|key| self.outcome(key, out)) else { return Grade::default() };
        Grade { outcome: Outcome::from_grade(Some(graded)), score, source: NAMED_FIELD, ..Grade::default() }
    }
}
