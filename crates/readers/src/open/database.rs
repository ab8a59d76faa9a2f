//! SQLite databases, read through `rusqlite`, which contains SQLite itself. Nothing is written beside the database, no
//! lock is taken, and a program that uses it is not disturbed.
//!
//! Without the feature `sqlite` the library is left out, and every database is refused with the same error.

#[cfg(not(feature = "sqlite"))]
mod absent;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(not(feature = "sqlite"))]
pub(crate) use absent::AbsentDatabase as Database;
#[cfg(feature = "sqlite")]
pub(crate) use sqlite::Database;

/// The columns of a row: text as it is, numbers as digits, and `None` for null.
pub(crate) type Row = Vec<Option<String>>;
