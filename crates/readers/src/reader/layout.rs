//! What one record of a file is.

/// What one record of a file is.
#[derive(Clone, Copy, Debug)]
pub enum Layout {
    /// The whole file.
    Whole,
    /// One line; empty lines are none.
    Lines,
    /// One of several values that follow each other, over any number of lines.
    Values,
    /// Lines that stand together; a line for which this is true begins a new group.
    Groups(fn(&[u8]) -> bool),
    /// The elements of an array, or the values of an object.
    Elements {
        /// The top-level key it stands under; `None` when it is the document itself.
        at: Option<&'static str>,
        /// Other top-level keys each record needs; they may come before or after.
        envelope: &'static [&'static str],
    },
}
