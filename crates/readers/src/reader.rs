//! Turns recorded files into runs: one module per format, detection by content, streaming over whole corpora.
//!
//! [`Corpus::open`] lists the files; [`Corpus::process`] splits them into records in path order, parses the records on
//! all threads, and delivers the results in path order. Memory is bounded by the runs being processed. A problem in a
//! line, run or file is reported as a [`Finding`], and only that line, run or file is lost; only a [`ReadError`] stops
//! the reading.

pub use crate::corpus::Corpus;
pub use crate::find::file_name::FileName;
pub use crate::find::places::{PLACES, Place, SessionStorage};
pub use crate::find::read_error::ReadError;
pub use crate::find::skipped::{Skipped, Twin};
pub use crate::label::label_files::{LabelColumns, LabelDraw};
pub use crate::label::report_files::{FolderGrades, Graded, LARGEST_REPORT, REPORTS_ABOVE, REPORTS_WITHIN};
pub use crate::open::decompress::unpacked_text;
pub use crate::open::finding::Finding;
pub use crate::open::inputs::{FileIdentity, add_input, file_identity, forget_inputs, is_input};
pub use crate::open::layout::RecordLayout;
pub use crate::open::probe::{Probe, Shape, Sketch};
pub use crate::open::temp_folder::{TemporaryFolder, clean_up};
pub use crate::open::whole_file::{LARGEST_WHOLE, open_regular, read_whole, read_whole_text};
pub use crate::price::{
    NotPriced, Price, PriceTable, PricedModel, Pricing, PricingReport, RecordedCosts, Unpriced, ZeroCosts,
};
pub use crate::read::format::{FORMATS, Format, by_id};
pub use crate::read::in_memory::{ReadText, read_text};
pub use crate::read::parquet_tables::{ParquetCell, ParquetKind, ParquetRows, ParquetWriter};
pub use crate::read::session_stores::refused as database_refused;
pub use crate::read::wrappings::detect_format as detect;
pub use crate::record::field_map::FieldMap;
pub use crate::record::named_by::NamedBy;
pub use crate::record::options::{Detail, ReadOptions, SubAgents};
pub use crate::record::reading::{LastPosition, Reading, Record};
pub use crate::survey::call_counts::CallCounts;
pub use crate::survey::corpus_report::{CorpusReport, FileRead, FormatCounts, RunRead, tokens};
pub use crate::survey::hygiene::{Check, Oddity};
pub use crate::survey::map_hint::OWN_FORMAT;
pub use crate::survey::told_limits::{ToldCounts, ToldSign};
pub use crate::survey::unused_fields::UnusedField;
pub use crate::value::json::Written;

/// Our own trace format. It is read like any other format; its writer and schema are exported here.
pub mod trace {
    pub use crate::read::format::{write_trace as write, write_trace_event as write_event};
    pub use crate::read::in_memory::read_trace_text as read_text;
}

/// The JSON Schema of one line of a `whenstop trace v1` file.
pub fn trace_schema() -> &'static str {
    include_str!("read/format/trace.schema.json")
}
