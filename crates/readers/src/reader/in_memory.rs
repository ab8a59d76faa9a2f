//! Reads a text that is not in a file: golden cases, generated runs, and modified recordings in tests.

use super::grades::FolderGrades;
use super::reading::{FileName, Places, Reading, Record};
use super::{Finding, Format, ReadOptions};
use crate::transcript::Run;

/// The runs read from a text and the findings about it.
#[derive(Debug)]
pub struct ReadText {
    /// The runs.
    pub runs: Vec<Run>,
    /// What was wrong with the text.
    pub findings: Vec<Finding>,
}

/// Reads a text as one record of `format`, without detection. Nothing outside the text is used: no labels, no grades,
/// no neighbouring files.
pub fn read_text(format: &dyn Format, text: &str) -> ReadText {
    let name = format.id().to_owned();
    let file = FileName { path: name.clone(), stem: name, ..FileName::default() };
    let (grades, options, places) = (FolderGrades::default(), ReadOptions::default(), Places::default());
    let record = Record {
        text,
        original: text,
        inserted: &[],
        file: &file,
        key: "1",
        envelope: "",
        grades: &grades,
        places: &places,
        children: &[],
        options: &options,
        line: 1,
        column: 1,
    };
    let mut reading = Reading::of(record);
    format.read(&record, &mut reading);
    let Reading { drafts, findings, .. } = reading;
    ReadText { runs: drafts.into_iter().map(Run::new).collect(), findings: findings.kept }
}
