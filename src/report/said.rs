//! What a comparison says first, for a terminal, a notebook or whatever else shows it.

use super::followed::FollowedReport;
use super::publication::Publication;
use super::table::Table;
use crate::aggregate::Summary;

/// The answer, the first table, and what to know about it.
#[derive(Clone, Debug)]
pub struct Said {
    /// The answer in a sentence or two.
    pub verdict: String,
    /// The stack to ship, if there is one.
    pub ship: Option<String>,
    /// What was compared, in one line.
    pub headline: String,
    /// The first table; `None` where no stack has a line in it.
    pub table: Option<Table>,
    /// What to know about the table.
    pub notes: Vec<String>,
    /// How the stacks agree with people's own stops, where nobody graded the runs and people stopped some: a sentence, and a
    /// table below it.
    pub agreement: Option<(String, Table)>,
}

impl Publication {
    /// What it says first. Where nobody graded the runs that is what followed the stops, if it is known.
    pub fn said(&self, summaries: &[Summary]) -> Said {
        if let Some(followed) = self.ungraded(summaries) {
            return followed.said(self.headline());
        }
        let first = self.first(summaries);
        let standing = self.followed().and_then(FollowedReport::standing);
        Said {
            verdict: first.verdict(),
            ship: first.ship().map(|summary| summary.stack.to_string()),
            headline: self.headline(),
            table: (!first.shown.is_empty()).then(|| self.overview(summaries)),
            notes: first.below().into_iter().chain(self.notes(summaries)).chain(standing).collect(),
            agreement: None,
        }
    }
}

impl FollowedReport {
    /// What it says where nobody graded the runs; `headline`: what was compared.
    pub fn said(&self, headline: String) -> Said {
        Said {
            verdict: self.verdict(),
            ship: None,
            headline,
            table: Some(self.table()),
            notes: self.notes(),
            agreement: self.agreement().map(|table| (self.agreement_words(), table)),
        }
    }
}
