//! How a file is divided into records.

/// What one record of a file is.
#[derive(Clone, Copy, Debug)]
pub enum RecordLayout {
    /// The whole file.
    Whole,
    /// One line; blank lines are skipped.
    Lines,
    /// One of several concatenated values, each on any number of lines.
    Values,
    /// A group of lines; a line for which the function is true begins a new group.
    Groups(fn(&[u8]) -> bool),
    /// The elements of an array, or the values of an object.
    Elements {
        /// The top-level key of the array or object; `None` if it is the document itself.
        at: Option<&'static str>,
        /// Other top-level keys that each record needs; they may come before or after the elements.
        envelope: &'static [&'static str],
    },
}
