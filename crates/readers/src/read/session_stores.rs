//! Databases in which agents keep their sessions: each session becomes the document that the agent itself exports, which
//! a format then reads.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::value::RawValue;

use crate::diagnostic::{Diagnostic, Location};
use crate::open::database::Database;
use crate::open::finding::Finding;
use crate::open::records::{Cut, Item};

/// The sessions in a database, in the order of their ids.
pub(crate) struct SessionStore {
    database: Database,
    agent: DatabaseOwner,
    /// The path, as messages name it.
    name: String,
    /// The sessions that are left.
    left: std::vec::IntoIter<StoredSession>,
    /// The sessions that each started.
    children: HashMap<String, Vec<StoredSession>>,
    /// For each table asked so far, the condition for the rows of one session.
    conditions: HashMap<&'static str, String>,
    limit: u64,
}

/// Why no sessions are read from a database.
pub(crate) enum StoreRefusal {
    /// It is damaged, or another program keeps it.
    Unreadable(String),
    /// It holds something else.
    Other(String),
}

/// Why no sessions can be read from the database at `path`; `None` if they can.
pub fn refused(path: &Path) -> Option<String> {
    match SessionStore::open(path, "", u64::MAX, false) {
        Ok(_) => None,
        Err(StoreRefusal::Unreadable(why) | StoreRefusal::Other(why)) => Some(why),
    }
}

/// Whose database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatabaseOwner {
    OpenCode,
    Goose,
}

#[derive(Clone, Debug)]
struct StoredSession {
    id: String,
    parent: Option<String>,
    /// Members of its document, each `"name":value`.
    about: Vec<String>,
}

/// The columns that tell whose database it is, and without which nothing can be read.
const OPEN_CODE: [(&str, &[&str]); 3] = [
    ("session", &["id", "parent_id", "version", "time_created"]),
    ("message", &["id", "session_id", "time_created", "data"]),
    ("part", &["id", "message_id", "session_id", "data"]),
];
const GOOSE: [(&str, &[&str]); 2] = [
    ("sessions", &["id", "working_dir"]),
    ("messages", &["id", "session_id", "role", "content_json", "created_timestamp"]),
];
/// What goose adds up for a session, where its version does.
const GOOSE_COUNTS: [&str; 3] = ["accumulated_input_tokens", "accumulated_output_tokens", "accumulated_total_tokens"];

impl SessionStore {
    /// Opens a database; the error says why no sessions can be read from it. With `joined`, the sessions that others
    /// started are parts of their documents.
    pub(crate) fn open(path: &Path, name: &str, limit: u64, joined: bool) -> Result<Self, StoreRefusal> {
        let database = Database::open(path, limit).map_err(StoreRefusal::Unreadable)?;
        let tables = database.tables().map_err(StoreRefusal::Unreadable)?;
        let has = |wanted: &[(&str, &[&str])]| {
            wanted.iter().all(|(table, columns)| {
                let Some(own) = tables.get(*table) else { return false };
                columns.iter().all(|column| own.iter().any(|name| name == column))
            })
        };
        let agent = if has(&OPEN_CODE) {
            DatabaseOwner::OpenCode
        } else if has(&GOOSE) {
            DatabaseOwner::Goose
        } else {
            return Err(StoreRefusal::Other(unknown(&tables)));
        };
        let counts = tables.get("sessions").cloned().unwrap_or_default();
        let sessions = match agent {
            DatabaseOwner::OpenCode => open_code_sessions(&database),
            DatabaseOwner::Goose => goose_sessions(&database, &counts),
        };
        let sessions = sessions.map_err(StoreRefusal::Unreadable)?;
        let ids: HashSet<String> = sessions.iter().map(|session| session.id.clone()).collect();
        let (mut left, mut children) = (Vec::new(), HashMap::new());
        for session in sessions {
            match session.parent.clone().filter(|parent| joined && ids.contains(parent) && *parent != session.id) {
                Some(parent) => children.entry(parent).or_insert_with(Vec::new).push(session),
                None => left.push(session),
            }
        }
        Ok(Self {
            database,
            agent,
            name: name.to_owned(),
            left: left.into_iter(),
            children,
            conditions: HashMap::new(),
            limit,
        })
    }

    /// The format that reads the documents.
    pub(crate) fn format(&self) -> &'static str {
        match self.agent {
            DatabaseOwner::OpenCode => "opencode",
            DatabaseOwner::Goose => "goose",
        }
    }

    /// The document of the next session.
    pub(crate) fn next(&mut self) -> Option<Item> {
        let session = self.left.next()?;
        let mut text = String::new();
        Some(match self.write(&session, &mut text) {
            Ok(()) => Item::Record(Cut {
                bytes: text.into_bytes(),
                key: session.id.clone(),
                line: 1,
                column: 1,
                member: Some(session.id),
            }),
            Err(error) => {
                let what = format!("session `{}` is left out: {error}", session.id);
                let help = "the other sessions are read; close the agent and try again, or export this one";
                let diagnostic = Diagnostic::new(Location::file(self.name.as_str()), what, help);
                Item::Finding(Finding::error(diagnostic))
            }
        })
    }

    /// Writes a session's document, with those of the sessions that it started.
    fn write(&mut self, session: &StoredSession, to: &mut String) -> Result<(), String> {
        let children = self.children.remove(&session.id).unwrap_or_default();
        to.push('{');
        match self.agent {
            DatabaseOwner::OpenCode => {
                let _ = write!(to, "\"info\":{{{}}},\"messages\":[", session.about.join(","));
                self.open_code_messages(&session.id, to)?;
            }
            DatabaseOwner::Goose => {
                let _ = write!(to, "{},\"conversation\":[", session.about.join(","));
                self.goose_messages(&session.id, to)?;
            }
        }
        to.push(']');
        for (nth, child) in children.iter().enumerate() {
            to.push_str(if nth == 0 { ",\"children\":[" } else { "," });
            self.write(child, to)?;
        }
        to.push_str(if children.is_empty() { "}" } else { "]}" });
        Ok(())
    }

    fn open_code_messages(&mut self, session: &str, to: &mut String) -> Result<(), String> {
        let limit = self.limit;
        let mut parts: HashMap<String, Vec<String>> = HashMap::new();
        let mut length = to.len() as u64;
        self.each("part", ["message_id", "id", "data"], "id", session, &mut |[message, id, data]| {
            let ids = [("id", id.as_str()), ("messageID", message.as_str()), ("sessionID", session)];
            let part = with_members(&data, &ids)?;
            length += part.len() as u64;
            parts.entry(message).or_default().push(part);
            within(length, limit)
        })?;
        let mut is_first = true;
        self.each("message", ["id", "data"], "time_created, id", session, &mut |[id, data]| {
            let info = with_members(&data, &[("id", &id), ("sessionID", session)])?;
            let parts = parts.remove(&id).unwrap_or_default().join(",");
            to.push_str(if is_first { "" } else { "," });
            let _ = write!(to, "{{\"info\":{info},\"parts\":[{parts}]}}");
            is_first = false;
            within(to.len() as u64, limit)
        })
    }

    fn goose_messages(&mut self, session: &str, to: &mut String) -> Result<(), String> {
        let limit = self.limit;
        let mut is_first = true;
        let columns = ["role", "created_timestamp", "content_json"];
        self.each("messages", columns, "id", session, &mut |[role, created, content]| {
            serde_json::from_str::<&RawValue>(&content).map_err(|error| format!("a message is no JSON: {error}"))?;
            to.push_str(if is_first { "" } else { "," });
            let _ = write!(to, "{{\"role\":{},\"created\":{},\"content\":{content}}}", quoted(&role), quoted(&created));
            is_first = false;
            within(to.len() as u64, limit)
        })
    }

    /// Hands columns of a session's rows in `table` to `take`.
    fn each<const N: usize>(
        &mut self,
        table: &'static str,
        columns: [&str; N],
        order: &str,
        session: &str,
        take: &mut dyn FnMut([String; N]) -> Result<(), String>,
    ) -> Result<(), String> {
        let condition = match self.conditions.entry(table) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(self.database.condition(table, "session_id")?),
        };
        let query = format!("SELECT {} FROM {table} WHERE {condition} ORDER BY {order}", columns.join(", "));
        let mut outcome = Ok(());
        self.database.rows(&query, Some(session), &mut |row| {
            let mut columns = row.into_iter().map(Option::unwrap_or_default);
            outcome = take(std::array::from_fn(|_| columns.next().unwrap_or_default()));
            outcome.is_ok()
        })?;
        outcome
    }
}

fn open_code_sessions(database: &Database) -> Result<Vec<StoredSession>, String> {
    let mut sessions = Vec::new();
    let query = "SELECT id, parent_id, version, time_created FROM session ORDER BY id";
    database.rows(query, None, &mut |row| {
        let mut columns = row.into_iter();
        let mut next = || columns.next().flatten();
        let (Some(id), parent, version, created) = (next(), next(), next(), next()) else { return true };
        let mut about = vec![format!("\"id\":{}", quoted(&id))];
        about.extend(parent.as_deref().map(|parent| format!("\"parentID\":{}", quoted(parent))));
        about.extend(version.map(|version| format!("\"version\":{}", quoted(&version))));
        about.extend(created.map(|created| format!("\"time\":{{\"created\":{}}}", quoted(&created))));
        sessions.push(StoredSession { id, parent, about });
        true
    })?;
    Ok(sessions)
}

fn goose_sessions(database: &Database, columns: &[String]) -> Result<Vec<StoredSession>, String> {
    let counts: Vec<&str> = GOOSE_COUNTS.into_iter().filter(|name| columns.iter().any(|own| own == name)).collect();
    let mut sessions = Vec::new();
    let query = format!("SELECT {} FROM sessions ORDER BY id", [&["id"], counts.as_slice()].concat().join(", "));
    database.rows(&query, None, &mut |row| {
        let mut columns = row.into_iter();
        let Some(id) = columns.next().flatten() else { return true };
        let mut about = vec![format!("\"id\":{}", quoted(&id))];
        for (name, count) in counts.iter().zip(columns) {
            about.extend(count.map(|count| format!("\"{name}\":{}", quoted(&count))));
        }
        sessions.push(StoredSession { id, parent: None, about });
        true
    })?;
    Ok(sessions)
}

/// The object in `data` with more members before its own.
fn with_members(data: &str, members: &[(&str, &str)]) -> Result<String, String> {
    let broken = |why: &str| format!("a record of it is no JSON object ({why})");
    serde_json::from_str::<&RawValue>(data).map_err(|error| broken(&error.to_string()))?;
    let inner = data.trim().strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
    let inner = inner.ok_or_else(|| broken("it is something else"))?.trim();
    let mut all: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{}", quoted(value))).collect();
    all.extend(Some(inner.to_owned()).filter(|inner| !inner.is_empty()));
    Ok(format!("{{{}}}", all.join(",")))
}

/// A number as it is, anything else as a string.
fn quoted(value: &str) -> String {
    let is_number = !value.is_empty() && value.len() < 18 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = is_number && (value == "0" || !value.starts_with('0'));
    if is_number { value.to_owned() } else { serde_json::Value::from(value).to_string() }
}

fn within(length: u64, limit: u64) -> Result<(), String> {
    if length > limit { Err(format!("it is longer than {limit} bytes, see `--limit`")) } else { Ok(()) }
}

fn unknown(tables: &BTreeMap<String, Vec<String>>) -> String {
    let names: Vec<&str> = tables.keys().take(8).map(String::as_str).collect();
    format!(
        "an SQLite database without the tables that OpenCode (1.2 to 1.18) and goose (from 1.10) write: it has {}; export \
         the sessions as JSON and read those",
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    )
}
