//! Turns recorded files into runs: one module per format, detection by content, streaming over whole corpora.
//!
//! [`Corpus::open`] lists the files; [`Corpus::process`] splits them into records in path order, parses the records on
//! all threads, and delivers the results in path order. Memory is bounded by the runs being processed. A problem in a
//! line, run or file is reported as a [`Finding`], and only that line, run or file is lost; only a [`ReadError`] stops
//! the reading.

mod claude;
mod copies;
mod corpus;
mod decode;
mod dialect;
mod eval_log;
mod family;
mod field_map;
mod format;
mod forms;
mod google;
mod grades;
mod grown;
mod held;
mod hidden;
mod hygiene;
mod in_memory;
mod json;
mod labels;
mod layout;
mod models;
mod naming;
mod node;
mod openai;
mod outcomes;
mod own_log;
mod parquet;
mod price;
mod probe;
mod producers;
mod reading;
mod records;
mod report;
mod run_ids;
mod scan;
mod source;
mod spans;
mod subagents;
mod table_lines;
mod tasks;
mod text_calls;
mod time;
mod tokens;
mod turns;
mod twins;
mod unknown;
mod unpack;
mod unread;
mod unreadable;
mod unused;
mod whole;

use std::path::PathBuf;
use std::sync::Arc;

pub use corpus::Corpus;
pub use decode::unpacked_text;
pub use field_map::FieldMap;
pub use format::{FORMATS, Format, by_id, detect};
pub use grades::{FolderGrades, Graded, LARGEST_REPORT, REPORTS_ABOVE, REPORTS_WITHIN};
pub use held::{Held, clean_up};
pub use hygiene::{Check, Oddity};
pub use in_memory::{ReadText, read_text};
pub use json::Written;
pub use labels::{LabelColumns, LabelDraw};
pub use layout::Layout;
pub use naming::NamedBy;
pub use own_log::OWN_FORMAT;
pub use parquet::{ParquetCell, ParquetKind, ParquetRows, ParquetWriter};
pub use price::{NotPriced, Price, PriceTable, PricedModel, Pricing, PricingReport, Unpriced, ZeroCosts};
pub use probe::{Probe, Shape, Sketch};
pub use reading::{FileName, Places, Reading, Record};
pub use report::{CorpusReport, FileRead, Finding, FormatCounts, RunRead, Skipped, tokens};
pub use subagents::SubAgents;
pub use unused::UnusedField;
pub use whole::{LARGEST_WHOLE, open_regular, read_whole, read_whole_text};

use crate::diagnostic::Diagnostic;

/// Our own trace format. It is read like any other format; its writer and schema are exported here.
pub mod trace {
    pub use super::format::read_trace_text as read_text;
    pub use super::format::{write_trace as write, write_trace_event as write_event};
    pub use super::time::rfc3339;
}

/// The JSON Schema of one line of a `whenstop trace v1` file.
pub fn trace_schema() -> &'static str {
    include_str!("trace.schema.json")
}

/// How closely runs are examined for the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Runs are only counted.
    Counts,
    /// Runs are also checked for suspicious content ([`CorpusReport::hygiene`]).
    Hygiene,
    /// Every run is listed as well, so the report grows with the number of runs.
    Runs,
}

/// How recorded costs are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedCosts {
    /// Recorded costs are used as they are, except that 0 for a run with tokens means unknown, unless its models are
    /// free.
    #[default]
    Trusted,
    /// Prices take precedence over recorded costs for the runs they cover.
    Overridden,
    /// Like `Trusted`, but a recorded 0 is kept. For copies, whose readers decide what a 0 means.
    Copied,
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

/// Why a corpus could not be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A path given by the user cannot be opened.
    #[error("cannot open `{path}`")]
    Unreadable {
        /// The path.
        path: String,
        /// The system's error.
        #[source]
        cause: std::io::Error,
    },
    /// There is no format with this name.
    #[error("there is no format `{name}`")]
    UnknownFormat {
        /// The name given.
        name: String,
        /// The known format with the most similar name.
        nearest: Option<&'static str>,
    },
    /// Something was lost, and the options ask to stop there.
    #[error("{0}")]
    Strict(Diagnostic),
    /// The labels given leave no run labelled: their file cannot be read, or none of them matches a run.
    #[error("{0}")]
    Labels(Diagnostic),
}

impl ReadError {
    /// How to fix it.
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } => "check the path and its permissions".to_owned(),
            Self::UnknownFormat { nearest, .. } => nearest.map_or_else(
                || format!("there are: {}", FORMATS.iter().map(|f| f.id()).collect::<Vec<_>>().join(", ")),
                |nearest| format!("did you mean `{nearest}`?"),
            ),
            Self::Strict(diagnostic) | Self::Labels(diagnostic) => diagnostic.help.clone(),
        }
    }
}
