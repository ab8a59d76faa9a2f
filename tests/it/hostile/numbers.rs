//! Rows about numbers.
