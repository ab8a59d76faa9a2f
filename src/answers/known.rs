//! On how many of the runs a number is known, and what the other runs lack: the same for a decision and for a gate.

use crate::aggregate::{Count, Summary, Unit};

/// What a run can lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// What a rule reads.
    Reading,
    /// What follows a warning, a question or a refused call.
    Sequel,
    /// An outcome.
    Outcome,
    /// Token counts.
    Tokens,
    /// A cost.
    Cost,
}

impl Lack {
    /// What a number on kills and savings needs of a run, beside the unit of the savings.
    pub const OF_A_KILL: [Self; 3] = [Self::Reading, Self::Sequel, Self::Outcome];
    /// What a number on stops needs of a run.
    pub const OF_A_STOP: [Self; 2] = [Self::Reading, Self::Sequel];

    /// The number of runs of a stack that lack it.
    fn count(self, summary: &Summary) -> u64 {
        match self {
            Self::Reading => summary.counted(Count::NotEvaluableRuns),
            Self::Sequel => summary.counted(Count::Diverged),
            Self::Outcome => summary.counted(Count::UnlabelledRuns),
            Self::Tokens => summary.runs.saturating_sub(summary.counted(Count::RunsWithTokens)),
            Self::Cost => summary.runs.saturating_sub(summary.counted(Count::RunsWithCosts)),
        }
    }
}

/// On how many runs of a stack something is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingRecord {
    /// What is missing.
    pub lack: Lack,
    /// The number of runs that lack it, at least 1.
    pub lacking: u64,
    /// The number of runs.
    pub runs: u64,
}

/// Which of `lacks`, and of the records of `unit`, are missing on some of a stack's runs. Empty if nothing is.
pub fn missing(summary: &Summary, lacks: &[Lack], unit: Option<Unit>) -> Vec<MissingRecord> {
    let mut lacks = lacks.to_vec();
    match unit {
        Some(Unit::Tokens) => lacks.push(Lack::Tokens),
        Some(Unit::CostUsd) => lacks.push(Lack::Cost),
        Some(Unit::Steps) | None => {}
    }
    let mut all = Vec::new();
    for lack in lacks {
        let lacking = lack.count(summary);
        if lacking > 0 {
            all.push(MissingRecord { lack, lacking, runs: summary.runs });
        }
    }
    all
}
