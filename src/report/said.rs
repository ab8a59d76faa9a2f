//! The first answer of a comparison, for a terminal, a notebook or any other display.

use super::publication::Publication;
use crate::aggregate::Summary;
use crate::answers::tables::Table;
use crate::answers::{FollowedReport, words};

/// The answer, the first table, and its notes.
#[derive(Clone, Debug)]
pub struct FirstAnswer {
    /// The answer in a sentence or two.
    pub verdict: String,
    /// The stack to ship, if there is one.
    pub ship: Option<String>,
    /// What was compared, in one line.
    pub headline: String,
    /// The first table; `None` if it would have no rows.
    pub table: Option<Table>,
    /// Notes on the table.
    pub notes: Vec<String>,
    /// If nobody graded the runs and people interrupted some: how the stacks agree with those people, as a sentence
    /// and the table below it.
    pub agreement: Option<(String, Table)>,
}

impl Publication {
    /// The first answer. If nobody graded the runs it is based on what followed the stops, if that is known.
    pub fn said(&self, summaries: &[Summary]) -> FirstAnswer {
        if let Some(followed) = self.ungraded(summaries) {
            return followed.said(self.headline_words());
        }
        let first = self.first(summaries);
        let mut notes = self.remarks();
        notes.extend(first.notes());
        notes.extend(self.notes(summaries));
        notes.extend(self.followed().and_then(FollowedReport::standing));
        FirstAnswer {
            verdict: words::verdict(&first.verdict()),
            ship: first.ship().map(|summary| summary.stack.to_string()),
            headline: self.headline_words(),
            table: (!first.shown.is_empty()).then(|| self.overview(summaries)),
            notes: words::notes(&notes),
            agreement: None,
        }
    }
}

impl FollowedReport {
    /// The first answer for runs nobody graded; `headline` says what was compared.
    pub fn said(&self, headline: String) -> FirstAnswer {
        FirstAnswer {
            verdict: words::followed_verdict(&self.verdict()),
            ship: None,
            headline,
            table: Some(self.table()),
            notes: words::notes(&self.notes()),
            agreement: self.agreement().map(|table| (words::agreement(&self.agreeing()), table)),
        }
    }
}
