//! How a corpus is read.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use super::field_map::FieldMap;
use super::named_by::NamedBy;
use crate::label::label_files::LabelColumns;
use crate::price::{Costs, PriceTable, RecordedCosts};

/// How closely runs are examined for the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Runs are only counted.
    Counts,
    /// Runs are also looked through for limits that their agents were told of (the corpus report's `told`).
    ToldLimits,
    /// Runs are also checked for suspicious content (the corpus report's `hygiene`).
    Hygiene,
    /// Every run is listed as well, so the report grows with the number of runs.
    Runs,
}

/// How to read a corpus.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Read every file as this format instead of detecting the format.
    pub format: Option<String>,
    /// Stop at the first loss of data instead of continuing without it.
    pub strict: bool,
    /// Maximum length of a line or run, in bytes.
    pub limit: u64,
    /// Label files, in addition to those found beside the recordings.
    pub labels: Vec<PathBuf>,
    /// Accept labels that match no run.
    pub allow_unmatched_labels: bool,
    /// The score from which a graded run counts as a success; by default, what the format defines.
    pub success_at: Option<f64>,
    /// Where to find the outcome: a field, `path:N` or a pattern, as parsed by [`NamedBy`].
    pub outcome_key: Option<String>,
    /// Where to find the task; by default, where the format defines it.
    pub task: Option<NamedBy>,
    /// Where to find the model; by default, where the format defines it.
    pub model: Option<NamedBy>,
    /// Where to find the run's id; by default, where the format defines it.
    pub run: Option<NamedBy>,
    /// Where to find the class of the run's task; by default it has none.
    pub class: Option<NamedBy>,
    /// How sub-agents are treated.
    pub sub_agents: SubAgents,
    /// Prices for computing costs where only tokens are recorded.
    pub prices: Option<Arc<PriceTable>>,
    /// How recorded costs are used.
    pub recorded_costs: RecordedCosts,
    /// Models that are free, so that a recorded cost of 0 is correct. For other models, a cost of 0 with tokens means
    /// unknown.
    pub free_models: Vec<String>,
    /// What each field of a log, or column of a table, holds, where that is not known.
    pub columns: Option<FieldMap>,
    /// Which columns of the label files are the known ones.
    pub label_columns: Option<LabelColumns>,
    /// Open only the files named: do not look for outcomes or labels beside them or in parent folders.
    pub sealed: bool,
    /// How closely the runs are examined for the report.
    pub detail: Detail,
}

impl ReadOptions {
    /// How the costs of runs are determined.
    pub(crate) fn costs(&self) -> Costs<'_> {
        Costs { prices: self.prices.as_deref(), recorded: self.recorded_costs, free_models: &self.free_models }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            strict: false,
            limit: 64 << 20,
            labels: Vec::new(),
            allow_unmatched_labels: false,
            sealed: false,
            success_at: None,
            outcome_key: None,
            task: None,
            model: None,
            run: None,
            class: None,
            sub_agents: SubAgents::default(),
            prices: None,
            recorded_costs: RecordedCosts::default(),
            free_models: Vec::new(),
            columns: None,
            label_columns: None,
            detail: Detail::Hygiene,
        }
    }
}

/// How sub-agents are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubAgents {
    /// Their tokens count in the run of the agent that started them; their messages are not steps.
    #[default]
    Parent,
    /// Each is a separate run that names its parent.
    Own,
    /// They are left out.
    Drop,
}

impl FromStr for SubAgents {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "parent" => Ok(Self::Parent),
            "own" => Ok(Self::Own),
            "drop" => Ok(Self::Drop),
            _ => Err(format!("`{word}` is none of own, parent and drop")),
        }
    }
}
