//! What is in the cells of a table that is written.

/// The type of a column. Integers are signed, because Spark has no unsigned ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParquetKind {
    /// UTF-8 text.
    Text,
    /// 64-bit signed integer.
    Whole,
    /// 64-bit floating point.
    Real,
    /// Boolean.
    Truth,
}

/// One value. Every column may have missing values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParquetCell<'c> {
    /// Missing.
    None,
    /// Text.
    Text(&'c str),
    /// An integer.
    Whole(i64),
    /// A floating-point number.
    Real(f64),
    /// A boolean.
    Truth(bool),
}
