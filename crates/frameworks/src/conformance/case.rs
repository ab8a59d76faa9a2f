//! A golden case, and how it can fail to be one.

use serde_json::Value;

/// A case of a golden table.
#[derive(Clone, Copy, Debug)]
pub struct GoldenCase<'c> {
    /// The table: one of the system's own.
    pub table: &'c str,
    /// The case's `input`. Where it names a recording (`input.file`), the text stands in `input.recording`.
    pub input: &'c Value,
    /// The release that answered (`original_version`), where the case says.
    pub version: Option<&'c str>,
    /// The fields that are asked for.
    pub asked: &'c [String],
}

impl GoldenCase<'_> {
    /// Does the input have all these fields?
    pub(super) fn has(&self, fields: &[&str]) -> bool {
        fields.iter().all(|field| self.input.get(field).is_some())
    }

    /// Is this field asked for?
    pub(super) fn asks(&self, field: &str) -> bool {
        self.asked.iter().any(|asked| asked == field)
    }
}

/// Why a golden case could not be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// No such table.
    #[error("unknown table")]
    UnknownTable,
    /// The input is not what the table's description says.
    #[error("bad case: {0}")]
    BadCase(String),
    /// The case rests on something that is not the framework's own doing; the reason.
    #[error("not applicable: {0}")]
    NotApplicable(String),
}
