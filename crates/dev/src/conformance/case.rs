//! A golden case, and why it may have no answer.

use serde_json::Value;

/// A case of a golden table.
#[derive(Clone, Copy, Debug)]
pub struct GoldenCase<'c> {
    /// The name of its file; a table is found by it.
    pub table: &'c str,
    /// The case's `input`. If it names a recording (`input.file`), the text is in `input.recording`.
    pub input: &'c Value,
    /// The release that gave the expected answer (`original_version`), if the case says so.
    pub version: Option<&'c str>,
    /// The fields of `expected`, which the answer must have.
    pub asked: &'c [String],
}

impl GoldenCase<'_> {
    /// True if the input has all these fields.
    pub(super) fn has(&self, fields: &[&str]) -> bool {
        fields.iter().all(|field| self.input.get(field).is_some())
    }

    /// True if `expected` has this field.
    pub(super) fn asks(&self, field: &str) -> bool {
        self.asked.iter().any(|asked| asked == field)
    }
}

/// Why a golden case could not be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// There is no such table.
    #[error("unknown table")]
    UnknownTable,
    /// The input does not match the table's description.
    #[error("bad case: {0}")]
    BadCase(String),
    /// The case depends on something outside the framework; the reason.
    #[error("not applicable: {0}")]
    NotApplicable(String),
}
