//! A database that is open for reading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::Row;
use crate::open::temp_folder::TemporaryFolder;

/// An SQLite database. The file is opened as one that never changes, so that no lock and no file beside it is made; if
/// changes stand in files beside it, all of them are copied to a temporary folder and read there.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    _held: Option<TemporaryFolder>,
}

/// Files beside a database with changes that are not yet in it, or that have to be taken back.
const BESIDE: [&str; 2] = ["-wal", "-journal"];

impl Database {
    /// Opens the database at `path`; the error says why it cannot be read. A value longer than `limit` bytes is refused.
    pub(crate) fn open(path: &Path, limit: u64) -> Result<Self, String> {
        let is_changing = BESIDE.iter().any(|ending| size(&beside(path, ending)) > 0);
        let (held, connection) = if is_changing {
            let held = copied(path).map_err(|error| format!("cannot be copied: {error}"))?;
            let connection = Connection::open_with_flags(held.path().join(NAME), OpenFlags::SQLITE_OPEN_READ_WRITE);
            (Some(held), connection)
        } else {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            (None, Connection::open_with_flags(uri(path), flags))
        };
        let connection = connection.map_err(|error| in_words(&error))?;
        // A database may come from anywhere: its schema runs no functions, and its pages are checked.
        connection
            .execute_batch("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;")
            .map_err(|error| in_words(&error))?;
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, limit).map_err(|error| in_words(&error))?;
        Ok(Self { connection, _held: held })
    }

    /// The columns of each table; views and virtual tables are none.
    pub(crate) fn tables(&self) -> Result<BTreeMap<String, Vec<String>>, String> {
        let mut names = Vec::new();
        let query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'";
        self.rows(query, None, &mut |row| {
            names.extend(row.into_iter().flatten());
            true
        })?;
        let mut tables = BTreeMap::new();
        for name in names {
            let columns: &mut Vec<String> = tables.entry(name.clone()).or_default();
            self.rows("SELECT name FROM pragma_table_info(?1)", Some(&name), &mut |row| {
                columns.extend(row.into_iter().flatten());
                true
            })?;
        }
        Ok(tables)
    }

    /// The condition of a query for those rows of `table` whose `column` is the parameter. Where the database has no index
    /// for it, it gets one in a temporary table: otherwise each such query would read the whole table. It still does
    /// where there can be none, as without a place for temporary files.
    pub(crate) fn condition(&self, table: &str, column: &str) -> Result<String, String> {
        let mut has_index = false;
        let plan = format!("EXPLAIN QUERY PLAN SELECT 1 FROM {table} WHERE {column} = ?1");
        self.rows(&plan, Some(""), &mut |row| {
            has_index |= row.into_iter().flatten().any(|words| words.starts_with("SEARCH"));
            true
        })?;
        let index = format!(
            "CREATE TEMP TABLE {table}_places AS SELECT {column}, rowid AS place FROM {table};
             CREATE INDEX temp.{table}_by_{column} ON {table}_places ({column});"
        );
        if has_index || self.connection.execute_batch(&index).is_err() {
            return Ok(format!("{column} = ?1"));
        }
        Ok(format!("rowid IN (SELECT place FROM temp.{table}_places WHERE {column} = ?1)"))
    }

    /// Hands the rows of a query to `take` until it returns false.
    pub(crate) fn rows(
        &self,
        query: &str,
        parameter: Option<&str>,
        take: &mut dyn FnMut(Row) -> bool,
    ) -> Result<(), String> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(query)?;
            let n = statement.column_count();
            let mut rows = statement.query(rusqlite::params_from_iter(parameter))?;
            while let Some(row) = rows.next()? {
                let columns = (0..n).map(|at| row.get_ref(at).map(text)).collect::<rusqlite::Result<Row>>()?;
                if !take(columns) {
                    break;
                }
            }
            Ok(())
        };
        read().map_err(|error| in_words(&error))
    }
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}

fn in_words(error: &rusqlite::Error) -> String {
    let why = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => "it is damaged, or encrypted",
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => "it is damaged, or was changed while it was read",
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => "another program holds it",
        _ => "it cannot be read",
    };
    format!("{why} ({error})")
}

/// The name of a copy.
const NAME: &str = "copy.db";

/// Copies the database and what stands beside it.
fn copied(path: &Path) -> std::io::Result<TemporaryFolder> {
    let held = TemporaryFolder::new()?;
    let copy = held.path().join(NAME);
    // The changes first: what is added to the database in between is then in both, and not in neither.
    for ending in BESIDE {
        if size(&beside(path, ending)) > 0 {
            std::fs::copy(beside(path, ending), beside(&copy, ending))?;
        }
    }
    std::fs::copy(path, &copy)?;
    Ok(held)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |data| data.len())
}

/// The path as SQLite wants it, with the word that nothing changes it.
fn uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.to_string_lossy().replace('\\', "/").bytes() {
        match byte {
            b'?' | b'#' | b'%' => uri.extend(format!("%{byte:02X}").chars()),
            _ => uri.push(char::from(byte)),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts that `query` gives for the session `one`.
    fn asked(database: &Database, query: &str) -> Vec<String> {
        let mut texts = Vec::new();
        let mut take = |row: Row| {
            texts.extend(row.into_iter().flatten());
            true
        };
        database.rows(query, Some("one"), &mut take).unwrap();
        texts
    }

    #[test]
    fn no_query_for_one_session_reads_all_rows_of_a_table_that_can_have_an_index() {
        let folder = tempfile::tempdir().unwrap();
        for (name, schema, can_have_one) in [
            ("with.db", "CREATE TABLE part (session_id TEXT, data TEXT); CREATE INDEX own ON part (session_id);", true),
            ("without.db", "CREATE TABLE part (session_id TEXT, data TEXT);", true),
            ("never.db", "CREATE TABLE part (session_id TEXT, data TEXT PRIMARY KEY) WITHOUT ROWID;", false),
        ] {
            let path = folder.path().join(name);
            let rows = "INSERT INTO part VALUES ('one', 'a'), ('other', 'b'), (NULL, 'c'), ('one', 'd');";
            // Of a kind that this SQLite does not have, as agents add for their search.
            let words = "PRAGMA writable_schema=ON; INSERT INTO sqlite_master
                VALUES ('table', 'words', 'words', 0, 'CREATE VIRTUAL TABLE words USING fts5(data)');";
            Connection::open(&path).unwrap().execute_batch(&[schema, rows, words].concat()).unwrap();
            let database = Database::open(&path, 1 << 20).unwrap();
            assert_eq!(database.tables().unwrap().into_keys().collect::<Vec<_>>(), ["part"], "{name}");
            let query = format!("SELECT data FROM part WHERE {}", database.condition("part", "session_id").unwrap());
            assert_eq!(asked(&database, &query), ["a", "d"], "{name}");
            let plan = asked(&database, &format!("EXPLAIN QUERY PLAN {query}"));
            assert_eq!(plan.iter().all(|step| !step.starts_with("SCAN")), can_have_one, "{name}: {plan:?}");
        }
    }
}
