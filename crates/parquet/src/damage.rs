//! What is wrong with a table, and what is lost by it.

/// Why a row could not be assembled.
#[derive(Debug)]
pub struct TornColumn {
    /// The column; empty if the row as a whole cannot be read.
    pub column: String,
    /// What is wrong with it.
    pub why: String,
}

/// The last rows of a row group, which could not be read.
#[derive(Debug)]
pub struct LostRows {
    /// The number of the first of them, from 0.
    pub first: u64,
    /// What is wrong and how many are lost, worded for a message.
    pub what: String,
}
