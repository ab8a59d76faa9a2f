//! Recorded files into runs: one file per format, detection by content, streaming corpora.
//!
//! [`Corpus::open`] lists the files; [`Corpus::process`] cuts them into records in path order, parses
//! the records on all threads, and hands the results over in path order again. Memory is bounded by
//! the runs in flight. What is wrong with a line, a run or a file is a [`Finding`] and costs that line,
//! run or file; only [`ReadError`] ends the reading.

mod claude;
mod copies;
mod corpus;
mod decode;
mod dialect;
mod eval_log;
mod format;
mod forms;
mod google;
mod grades;
mod grown;
mod held;
mod hygiene;
mod in_memory;
mod json;
mod labels;
mod layout;
mod naming;
mod node;
mod openai;
mod parquet;
mod price;
mod probe;
mod producers;
mod reading;
mod records;
mod report;
mod scan;
mod source;
mod spans;
mod subagents;
mod time;
mod turns;
mod unpack;
mod unreadable;

use std::path::PathBuf;
use std::sync::Arc;

pub use corpus::Corpus;
pub use decode::unpacked_text;
pub use format::{FORMATS, Format, by_id, detect};
pub use grades::{FolderGrades, Graded, LARGEST_REPORT, REPORTS_ABOVE, REPORTS_WITHIN};
pub use held::{Held, clean_up};
pub use hygiene::{Check, Oddity};
pub use in_memory::{ReadText, read_text};
pub use json::Written;
pub use layout::Layout;
pub use naming::NamedBy;
pub use parquet::{ColumnMap, ParquetCell, ParquetKind, ParquetRows, ParquetWriter};
pub use price::{NotPriced, Price, PriceTable, PricedModel, Pricing, PricingReport, Unpriced, ZeroCosts};
pub use probe::{Probe, Shape, Sketch};
pub use reading::{FileName, Places, Reading, Record};
pub use report::{CorpusReport, FileRead, Finding, FormatCounts, RunRead, Skipped, tokens};
pub use subagents::SubAgents;

use crate::diagnostic::Diagnostic;

/// Our own trace format: reading lives with the other formats, writing and its schema are here.
pub mod trace {
    pub use super::format::read_trace_text as read_text;
    pub use super::format::write_trace as write;
}

/// The JSON Schema of one line of a `whenstop trace v1` file.
pub fn trace_schema() -> &'static str {
    include_str!("trace.schema.json")
}

/// How closely runs are looked at for the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Runs are counted.
    Counts,
    /// What is odd in runs that are read well is looked for ([`CorpusReport::hygiene`]).
    Hygiene,
    /// Every run is listed besides: the report then grows with their number.
    Runs,
}

/// What a recorded cost counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedCosts {
    /// It is the cost. Only a 0 for a run with tokens is unknown, unless its models are free.
    #[default]
    Trusted,
    /// Prices go before it, where there are some for the run.
    Overridden,
    /// As trusted, but a 0 stays where it is: for copies, whose readers decide what to make of it.
    Copied,
}

/// How to read a corpus.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Read every file as this format instead of looking at it.
    pub format: Option<String>,
    /// End at the first thing that is lost, instead of going on without it.
    pub strict: bool,
    /// Longest line or run, in bytes.
    pub limit: u64,
    /// Label files, apart from those that lie with the recordings.
    pub labels: Vec<PathBuf>,
    /// Accept labels that match no run.
    pub allow_unmatched_labels: bool,
    /// The score from which a graded run is a success; by default what the format says.
    pub success_at: Option<f64>,
    /// Where the outcome stands: a field, `path:N` or a pattern, as [`NamedBy`] reads it.
    pub outcome_key: Option<String>,
    /// Where the task stands; by default where the format says.
    pub task: Option<NamedBy>,
    /// Where the model stands.
    pub model: Option<NamedBy>,
    /// Where the run's id stands.
    pub run: Option<NamedBy>,
    /// What becomes of sub-agents.
    pub sub_agents: SubAgents,
    /// Prices to compute costs from where only tokens are recorded.
    pub prices: Option<Arc<PriceTable>>,
    /// What a recorded cost counts for.
    pub recorded_costs: RecordedCosts,
    /// Models whose recorded cost of 0 is true. Of others, a cost of 0 for a run with tokens is unknown.
    pub free_models: Vec<String>,
    /// Which column of a table is what, where its layout is not a known one.
    pub columns: Option<ColumnMap>,
    /// Open nothing but the files named: no outcomes or labels that lie beside them or in folders above.
    pub sealed: bool,
    /// How closely the runs are looked at for the report.
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
            sub_agents: SubAgents::default(),
            prices: None,
            recorded_costs: RecordedCosts::default(),
            free_models: Vec::new(),
            columns: None,
            detail: Detail::Hygiene,
        }
    }
}

/// Why a corpus could not be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A path the user named cannot be opened.
    #[error("cannot open `{path}`")]
    Unreadable {
        /// The path.
        path: String,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// There is no format of this name.
    #[error("there is no format `{name}`")]
    UnknownFormat {
        /// The name given.
        name: String,
        /// The nearest format there is.
        nearest: Option<&'static str>,
    },
    /// Something was lost, and the user asked to end there.
    #[error("{0}")]
    Strict(Diagnostic),
    /// Labels that were meant and leave no run labelled: the file cannot be read, or none of them matches a run.
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
