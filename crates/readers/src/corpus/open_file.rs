//! A file of a corpus that is being read.

use super::one_session::Told;
use crate::find::file_name::{FileName, OtherFile};
use crate::label::report_files::FolderGrades;
use crate::open::layout::RecordLayout;
use crate::read::format::Format;
use crate::read::wrappings::Reshape;

/// A file being read.
pub(super) struct OpenFile {
    pub(super) name: FileName,
    pub(super) format: &'static Format,
    pub(super) reshape: Reshape,
    pub(super) as_files: bool,
    pub(super) within: Option<RecordLayout>,
    pub(super) envelope: String,
    pub(super) grades: FolderGrades,
    /// Files of sub-agents that are read with this one.
    pub(super) children: Vec<OtherFile>,
    /// What other recordings say of the session in this one.
    pub(super) told: Told,
}

impl OpenFile {
    /// A file whose records are already in the shape their format expects.
    pub(super) fn plain(name: &FileName, format: &'static Format, envelope: String) -> Self {
        Self {
            name: name.clone(),
            format,
            reshape: Reshape::None,
            as_files: false,
            within: None,
            envelope,
            grades: FolderGrades::default(),
            children: Vec::new(),
            told: Told::default(),
        }
    }
}
