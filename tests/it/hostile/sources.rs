//! Rows about sources.
