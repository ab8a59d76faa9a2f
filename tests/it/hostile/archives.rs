//! Rows about archives.
