//! Sessions in SQLite databases, as OpenCode and goose keep them.

#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;
use whenstop_core::transcript::{Run, Spend};
use whenstop_readers::reader::{Corpus, CorpusReport, ReadOptions, SubAgents};

const OPEN_CODE: &str = r#"
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, version TEXT NOT NULL, title TEXT, time_created INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT NOT NULL);
INSERT INTO session VALUES ('ses_1', NULL, '1.18.33', 'fix', 1790000000000), ('ses_2', 'ses_1', '1.18.33', 'look', 1790000002000);
INSERT INTO message VALUES
 ('msg_1', 'ses_1', 1790000000000, '{"role":"user","time":{"created":1790000000000}}'),
 ('msg_2', 'ses_1', 1790000001000, '{"role":"assistant","modelID":"m","time":{"created":1790000001000}}'),
 ('msg_3', 'ses_2', 1790000002000, '{"role":"assistant","modelID":"m","time":{"created":1790000002000}}');
INSERT INTO part VALUES
 ('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"fix it"}'),
 ('prt_2', 'msg_2', 'ses_1', '{"type":"step-start"}'),
 ('prt_3', 'msg_2', 'ses_1', '{"type":"text","text":"done"}'),
 ('prt_4', 'msg_2', 'ses_1', '{"type":"step-finish","reason":"stop","tokens":{"input":100,"output":10,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0}'),
 ('prt_5', 'msg_3', 'ses_2', '{"type":"step-start"}'),
 ('prt_6', 'msg_3', 'ses_2', '{"type":"step-finish","reason":"stop","tokens":{"input":50,"output":5,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0}');
"#;

const GOOSE: &str = r#"
CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT, working_dir TEXT NOT NULL, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL);
INSERT INTO sessions VALUES ('20260901_1', 'fix', '/w', 900, 60);
INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES
 ('20260901_1', 'user', '[{"type":"text","text":"fix it"}]', 1790000000),
 ('20260901_1', 'assistant', '[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"shell","arguments":{"command":"ls"}}}}]', 1790000001),
 ('20260901_1', 'user', '[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"text","text":"a"}]}}]', 1790000002);
"#;

fn read(path: &Path, sub_agents: SubAgents) -> (Vec<Run>, CorpusReport) {
    let options = ReadOptions { sub_agents, ..ReadOptions::default() };
    Corpus::open(&[path.to_path_buf()], options).unwrap().runs().unwrap()
}

fn made(folder: &Path, name: &str, schema: &str) -> Connection {
    let connection = Connection::open(folder.join(name)).unwrap();
    connection.execute_batch(schema).unwrap();
    connection
}

fn counts(runs: &[Run]) -> Vec<(&str, usize, Option<u64>)> {
    let of = |run: &Run| Spend::from_run(run).total.map(|tokens| tokens.0);
    runs.iter().map(|run| (run.header.run_id.as_str(), run.steps().len(), of(run))).collect()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn sessions_of_opencode_and_goose_are_read_from_their_databases() {
    let folder = tempfile::tempdir().unwrap();
    drop(made(folder.path(), "opencode.db", OPEN_CODE));
    drop(made(folder.path(), "sessions.db", GOOSE));
    let (runs, report) = read(folder.path(), SubAgents::Parent);
    assert_eq!(report.errors, 0, "{:?}", report.findings);
    assert_eq!(counts(&runs), [("ses_1", 1, Some(165)), ("20260901_1", 1, Some(960))]);
    let (runs, _) = read(&folder.path().join("opencode.db"), SubAgents::Own);
    assert_eq!(counts(&runs), [("ses_1", 1, Some(110)), ("ses_2", 1, Some(55))]);
    assert_eq!(runs[1].header.parent.as_deref(), Some("ses_1"));
}

#[test]
fn a_database_in_use_is_read_to_its_last_change_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let connection = made(folder.path(), "sessions.db", "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;");
    connection.execute_batch(GOOSE).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE; DELETE FROM messages").unwrap();
    let before = names(folder.path());
    let (runs, report) = read(&folder.path().join("sessions.db"), SubAgents::Parent);
    assert_eq!(counts(&runs), [("20260901_1", 1, Some(960))], "{:?}", report.findings);
    assert_eq!(names(folder.path()), before);
}

#[test]
fn damaged_and_other_databases_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    drop(made(folder.path(), "opencode.db", OPEN_CODE));
    let mut bytes = std::fs::read(folder.path().join("opencode.db")).unwrap();
    bytes.truncate(5000);
    std::fs::write(folder.path().join("opencode.db"), &bytes).unwrap();
    drop(made(folder.path(), "notes.db", "CREATE TABLE notes (id TEXT)"));
    let (runs, report) = read(folder.path(), SubAgents::Parent);
    assert!(runs.is_empty());
    let reason = |name: &str| {
        let skipped = report.skipped.iter().find(|skipped| skipped.path.ends_with(name));
        skipped.map(|skipped| (skipped.unreadable, skipped.reason.clone())).unwrap_or_default()
    };
    let (is_lost, why) = reason("opencode.db");
    assert!(is_lost && why.contains("damaged"), "{why}");
    let (is_lost, why) = reason("notes.db");
    assert!(!is_lost && why.contains("it has notes"), "{why}");
}

#[test]
fn a_broken_session_is_reported_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let connection = made(folder.path(), "opencode.db", OPEN_CODE);
    connection.execute_batch("UPDATE part SET data = '{broken' WHERE session_id = 'ses_2'").unwrap();
    drop(connection);
    let (runs, report) = read(folder.path(), SubAgents::Own);
    assert_eq!(counts(&runs), [("ses_1", 1, Some(110))]);
    assert_eq!(report.errors, 1);
    assert!(report.findings[0].diagnostic.what.starts_with("session `ses_2` is left out"));
}
