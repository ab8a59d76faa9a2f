//! Classes of runs, which limits, forecasts and scores are given for: the runs of one suite, of one model, or of one
//! value of a field the user names.

use crate::aggregate::{Label, Row};
use crate::transcript::{Outcome, Run, Tokens, Usd};
use crate::verdict::{Amounts, Ledger};

/// What divides runs into classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// All runs are of one class.
    #[default]
    Nothing,
    /// The suite.
    Suite,
    /// The model under test.
    Model,
    /// The field that the user named, which a reader keeps in the run's header.
    Field,
}

impl By {
    /// The class of a run; `None` if the recording does not say.
    pub fn label(self, run: &Run) -> Option<Label> {
        let header = &run.header;
        let named = match self {
            Self::Nothing => return Some("all runs".into()),
            Self::Suite => &header.suite,
            Self::Model => &header.model,
            Self::Field => &header.class,
        };
        named.as_deref().map(Label::from)
    }
}

/// How well it is known what a stack did to a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// It is known.
    #[default]
    Certain,
    /// Whether it stopped the run, or killed it, is not known.
    Doubtful,
    /// A rule of it could not be read on the run.
    Unread,
}

/// What one stack did to one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stopped {
    /// Whether it ended the run early, or may have.
    pub early: bool,
    /// Whether it lost a recorded success. What cannot be told counts as lost; a run that nobody graded has none to lose.
    pub killed: bool,
    /// Whether the two above are known.
    pub certainty: Certainty,
    /// Spent by the stop; everything if there was none.
    pub spent: Amounts,
}

impl Stopped {
    /// Reads it from the row of a stack.
    pub fn from_row(row: &Row) -> Self {
        Self {
            early: row.stopped_high == 1,
            killed: row.killed_high == 1 && row.outcome == Outcome::Success,
            certainty: if row.unknown.unread {
                Certainty::Unread
            } else if row.stopped_low != row.stopped_high || row.killed_low != row.killed_high {
                Certainty::Doubtful
            } else {
                Certainty::Certain
            },
            spent: Amounts {
                steps: row.steps_at_stop,
                tokens: row.tokens_at_stop.map(Tokens),
                cost: row.cost_usd_at_stop.map(Usd),
                ms: row.ms_at_stop,
            },
        }
    }
}

/// One recorded run as a trial of its task: what it is, what became of it, and what each stack did to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The run.
    pub run_id: Label,
    /// Suite and task; a run without a task is a task of its own.
    pub task: (Label, Label),
    /// Its class; `None` if the recording does not say.
    pub class: Option<Label>,
    /// The model under test; empty if it is not recorded.
    pub model: Label,
    /// Whether it did its task.
    pub outcome: Outcome,
    /// What the whole recording spent.
    pub whole: Amounts,
    /// What each stack did, in the order of the stacks.
    pub under: Vec<Stopped>,
}

impl Trial {
    /// Reads a run and its rows, one per stack.
    pub fn from_run(run: &Run, rows: &[Row], by: By) -> Self {
        let (suite, task) = run.cluster();
        Self {
            run_id: run.header.run_id.as_str().into(),
            task: (suite.as_str().into(), task.as_str().into()),
            class: by.label(run),
            model: run.header.model.as_deref().unwrap_or_default().into(),
            outcome: run.grade.outcome,
            whole: match rows.first() {
                Some(row) => recorded(row),
                None => Ledger::from_run(run).whole(),
            },
            under: rows.iter().map(Stopped::from_row).collect(),
        }
    }

    /// Whether it succeeded; `None` if nobody graded it.
    pub fn success(&self) -> Option<bool> {
        self.outcome.grade()
    }
}

fn recorded(row: &Row) -> Amounts {
    Amounts {
        steps: row.steps_recorded,
        tokens: row.tokens_recorded.map(Tokens),
        cost: row.cost_usd_recorded.map(Usd),
        ms: row.ms_recorded,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A graded trial of `steps` steps, stopped by one stack as said.
    pub(crate) fn trial(task: &str, model: &str, nth: usize, success: bool, steps: u64, stop: Option<u64>) -> Trial {
        let amounts = |steps| Amounts { steps, ..Amounts::default() };
        let under = Stopped {
            early: stop.is_some(),
            killed: stop.is_some() && success,
            spent: amounts(stop.unwrap_or(steps)),
            ..Stopped::default()
        };
        Trial {
            run_id: format!("{task}-{model}-{nth}").as_str().into(),
            task: ("".into(), task.into()),
            class: Some("all runs".into()),
            model: model.into(),
            outcome: if success { Outcome::Success } else { Outcome::Failure },
            whole: amounts(steps),
            under: vec![under],
        }
    }
}
