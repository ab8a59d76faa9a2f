//! Why a corpus cannot be read at all.

use crate::diagnostic::Diagnostic;

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
        /// The names of all formats.
        known: Vec<&'static str>,
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
            Self::UnknownFormat { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::UnknownFormat { nearest: None, known, .. } => format!("there are: {}", known.join(", ")),
            Self::Strict(diagnostic) | Self::Labels(diagnostic) => diagnostic.help.clone(),
        }
    }
}
