//! Reads a text that is not in a file: golden cases, generated runs, and modified recordings in tests.

use crate::find::file_name::FileName;
use crate::label::report_files::FolderGrades;
use crate::open::finding::Finding;
use crate::read::format::{Format, TRACE};
use crate::record::options::ReadOptions;
use crate::record::reading::{LastPosition, Reading, Record};
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
pub fn read_text(format: &Format, text: &str) -> ReadText {
    within(format.id(), text, |reading| {
        let record = reading.record;
        (format.read)(&record, reading);
        reading.settle();
        let runs = std::mem::take(&mut reading.drafts).into_iter().map(Run::new).collect();
        ReadText { runs, findings: std::mem::take(&mut reading.findings.kept) }
    })
}

/// Calls `read` with the reading of a text as one record of a file called `name`.
pub(crate) fn within<T>(name: &str, text: &str, read: impl FnOnce(&mut Reading<'_>) -> T) -> T {
    with_options(name, "1", text, &ReadOptions::default(), read)
}

/// The same for the record that the file calls `key`, read with these options.
pub(crate) fn with_options<T>(
    name: &str,
    key: &str,
    text: &str,
    options: &ReadOptions,
    read: impl FnOnce(&mut Reading<'_>) -> T,
) -> T {
    let file =
        FileName { path: name.to_owned(), stem: name.to_owned(), in_corpus: name.to_owned(), ..FileName::default() };
    let (grades, places) = (FolderGrades::default(), LastPosition::default());
    let record = Record {
        text,
        original: text,
        inserted: &[],
        file: &file,
        key,
        envelope: "",
        grades: &grades,
        places: &places,
        children: &[],
        options,
        line: 1,
        column: 1,
    };
    read(&mut Reading::from_record(record))
}

/// Reads a text that is not a file, such as a golden case or a generated run.
pub fn read_trace_text(text: &str) -> ReadText {
    read_text(TRACE, text)
}
