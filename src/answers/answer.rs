//! The answer of a comparison, for a terminal, a notebook or any other view.

use super::tables::DataTable;
use super::{Agreeing, AnswerNote, CompareVerdict, Conclusion, FollowedReport, Headline};
use crate::aggregate::Label;

/// What is answered first: the verdict, the first table, and what is said below it.
#[derive(Clone, Debug)]
pub struct CompareAnswer {
    /// What to ship, or why nothing.
    pub verdict: CompareVerdict,
    /// The stack to ship, if there is one.
    pub ship: Option<Label>,
    /// What was compared; `None` if there is no run.
    pub headline: Option<Headline>,
    /// The first table; `None` if it would have no rows.
    pub table: Option<DataTable>,
    /// The notes below the table, the most important first.
    pub notes: Vec<AnswerNote>,
    /// If nobody graded the runs and people interrupted some: how the stacks agree with those people.
    pub agreement: Option<(Agreeing, DataTable)>,
}

impl FollowedReport {
    /// The answer on runs that nobody graded; `headline` says what was compared.
    pub fn answer(&self, headline: Option<Headline>) -> CompareAnswer {
        CompareAnswer {
            verdict: CompareVerdict {
                conclusion: Conclusion::Followed(self.verdict()),
                picked: None,
                passed_over: None,
            },
            ship: None,
            headline,
            table: Some(self.table()),
            notes: self.notes(),
            agreement: self.agreement().map(|table| (self.agreeing(), table)),
        }
    }
}
