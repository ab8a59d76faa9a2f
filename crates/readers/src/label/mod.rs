//! Outcomes that are not in the recordings: label files, and reports beside the recordings.

pub(crate) mod label_files;
pub(crate) mod report_files;
pub(crate) mod words;
