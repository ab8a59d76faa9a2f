//! Where the user says that a task, model, run or outcome is found.

use std::fmt;

/// The placeholder in a pattern.
pub(super) const WANTED: &str = "{}";

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamedBy {
    /// `path:2`: a part of the path, counted from the end; 0 is the file's name without extensions.
    Path(usize),
    /// `runs/{}/*`: consecutive parts of the path, where `*` matches any part and `{}` is the value.
    Pattern(String),
    /// `info.model`: a field of the record, of the top-level fields around the records, or of the metadata that the
    /// reader keeps from both (`meta`).
    Field(String),
    /// `first-message`: a hash of the first user message, so that runs with the same first message are trials of one
    /// task.
    FirstMessage,
    /// `run`: the run itself, which says that the runs are independent of one another.
    EachRun,
}

impl fmt::Display for NamedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(n) => write!(f, "path:{n}"),
            Self::Pattern(text) | Self::Field(text) => f.write_str(text),
            Self::FirstMessage => f.write_str("first-message"),
            Self::EachRun => f.write_str("run"),
        }
    }
}

impl NamedBy {
    /// Parses an argument.
    ///
    /// # Errors
    /// What is wrong with it, in words for a person.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(number) = text.strip_prefix("path:") {
            return number.parse().map(Self::Path).map_err(|_| {
                format!("`{text}`: after `path:` comes a number, 0 for the file's name, 1 for its folder, and so on")
            });
        }
        if text.contains(WANTED) {
            return match text.matches(WANTED).count() {
                1 => Ok(Self::Pattern(text.to_owned())),
                n => Err(format!("`{text}` has `{WANTED}` {n} times: it stands once, for what is looked for")),
            };
        }
        if text.is_empty() || text.contains('/') {
            return Err(format!(
                "`{text}` is no field, and no pattern either: in a pattern `{WANTED}` stands for what is looked for"
            ));
        }
        Ok(Self::Field(text.to_owned()))
    }

    /// Parses an argument that names the task.
    ///
    /// # Errors
    /// What is wrong with it, in words for a person.
    pub fn parse_task(text: &str) -> Result<Self, String> {
        match text {
            "first-message" => Ok(Self::FirstMessage),
            "run" => Ok(Self::EachRun),
            _ => Self::parse(text),
        }
    }
}
