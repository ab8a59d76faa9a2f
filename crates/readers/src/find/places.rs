//! Where agents keep their sessions, with the version that was looked at and when: one list for `whenstop local`, for the
//! hidden folders that a walk opens, and for the book.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::text::word_list;

/// Where an agent keeps its sessions.
#[derive(Debug)]
pub struct Place {
    /// The agent.
    pub agent: &'static str,
    /// The version that keeps them there; empty if that is not known.
    pub version: &'static str,
    /// The day on which sessions of that version were seen there on a machine; empty if that rests on documents alone.
    pub seen: &'static str,
    /// An environment variable that overrides `base`.
    pub variable: Option<&'static str>,
    /// Relative to the home folder.
    pub base: &'static str,
    /// Relative to `base`.
    pub folder: &'static str,
    /// What is there.
    pub kept: SessionStorage,
}

/// How sessions are kept.
#[derive(Debug)]
pub enum SessionStorage {
    /// In files whose names end so.
    Files(&'static [&'static str]),
    /// In SQLite databases of these names.
    Databases(&'static [&'static str]),
    /// In files with such endings, which are not read, and why.
    Unread(&'static [&'static str], &'static str),
}

macro_rules! places {
    ($($agent:literal $version:literal $seen:literal, $variable:expr, $base:literal $folder:literal, $kept:expr;)*) => {
        /// All places.
        pub const PLACES: &[Place] = &[$(Place {
            agent: $agent,
            version: $version,
            seen: $seen,
            variable: $variable,
            base: $base,
            folder: $folder,
            kept: $kept,
        }),*];
    };
}

const JSONL: SessionStorage = SessionStorage::Files(&[".jsonl"]);
const DATA: Option<&str> = Some("XDG_DATA_HOME");
const CONFIG: Option<&str> = Some("XDG_CONFIG_HOME");
const TASKS: SessionStorage = SessionStorage::Files(&["api_conversation_history.json"]);

places! {
    "Claude Code" "2.1.332" "2026-11-26", Some("CLAUDE_CONFIG_DIR"), ".claude" "projects", JSONL;
    "Claude Code" "" "", CONFIG, ".config" "claude/projects", JSONL;
    "Codex" "0.171.0" "2026-11-26", Some("CODEX_HOME"), ".codex" "sessions", SessionStorage::Files(&[".jsonl", ".jsonl.zst"]);
    "Codex" "" "", Some("CODEX_HOME"), ".codex" "archived_sessions", SessionStorage::Files(&[".jsonl", ".jsonl.zst"]);
    "Gemini CLI" "0.61.0" "2026-11-26", None, ".gemini" "tmp", SessionStorage::Files(&[".json", ".jsonl"]);
    "Copilot CLI" "" "", None, ".copilot" "session-state", SessionStorage::Files(&["events.jsonl", ".jsonl"]);
    "OpenCode" "before 1.2" "", DATA, ".local/share" "opencode/storage", SessionStorage::Files(&[".json"]);
    "OpenCode" "1.18.33" "2026-11-26", DATA, ".local/share" "opencode", SessionStorage::Databases(&["opencode.db"]);
    "goose" "before 1.10" "", DATA, ".local/share" "goose/sessions", JSONL;
    "goose" "1.10" "", DATA, ".local/share" "goose/sessions", SessionStorage::Databases(&["sessions.db"]);
    "Cline" "" "", CONFIG, ".config" "Code/User/globalStorage/saoudrizwan.claude-dev/tasks", TASKS;
    "Cline" "" "", None, "Library/Application Support" "Code/User/globalStorage/saoudrizwan.claude-dev/tasks", TASKS;
    "Cline" "CLI 3.0.65" "2026-11-26", None, ".cline" "data/sessions", SessionStorage::Files(&[".json", ".jsonl"]);
    "Roo Code" "" "", CONFIG, ".config" "Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks", TASKS;
    "Kilo Code" "" "", CONFIG, ".config" "Code/User/globalStorage/kilocode.kilo-code/tasks", TASKS;
    "VS Code chat" "" "", CONFIG, ".config" "Code/User/workspaceStorage", SessionStorage::Files(&["chatSessions"]);
    "pi" "" "", None, ".pi" "agent/sessions", JSONL;
    "Qwen Code" "0.24.4" "2026-11-26", Some("QWEN_HOME"), ".qwen" "projects", JSONL;
    "OpenHands" "" "", None, ".openhands" "sessions", SessionStorage::Files(&[".json", ".jsonl"]);
    "OpenHands" "CLI 1" "", None, ".openhands" "conversations", SessionStorage::Files(&[".json", ".jsonl"]);
    "Droid" "" "", None, ".factory" "sessions", JSONL;
    "Kimi CLI" "" "", None, ".kimi" "sessions", SessionStorage::Files(&["context.jsonl"]);
    "Amp" "" "", DATA, ".local/share" "amp/threads", SessionStorage::Files(&[".json"]);
    "Cursor" "" "", None, ".cursor" "projects", JSONL;
    "Cursor" "" "", CONFIG, ".config" "Cursor/User/globalStorage", SessionStorage::Unread(&["state.vscdb"],
        "chats in an SQLite database, which is not read: export a chat as Markdown with SpecStory");
    "OpenClaw" "" "", None, ".openclaw" "agents", JSONL;
    "Amazon Q" "" "", DATA, ".local/share" "amazon-q", SessionStorage::Unread(&["data.sqlite3"],
        "conversations in an SQLite database, which is not read: `/save FILE` in a chat writes one as JSON");
    "Windsurf" "" "", None, ".codeium" "windsurf/cascade", SessionStorage::Unread(&[".pb"],
        "conversations are encrypted: nothing but Windsurf reads them");
}

/// Names under which other agents keep recordings in a project or a home folder.
const OTHER_NAMES: &[&str] = word_list!(
    ".agents .aider .amp .augment .continue .crush .goose .hermes .junie .kilocode .kiro .letta .opencode .roo",
    ".specstory .whenstop .windsurf",
);

/// Whether agents keep recordings in hidden folders of this name. What many programs share, such as `.config`, is none.
pub(crate) fn is_an_agents(name: &str) -> bool {
    let shared = |place: &Place| place.base.contains('/') || place.base == ".config" || place.base == ".codeium";
    OTHER_NAMES.contains(&name) || PLACES.iter().any(|place| place.base == name && !shared(place))
}

impl Place {
    /// The endings of the names of its files.
    pub fn endings(&self) -> &'static [&'static str] {
        match self.kept {
            SessionStorage::Files(endings)
            | SessionStorage::Databases(endings)
            | SessionStorage::Unread(endings, _) => endings,
        }
    }

    /// Its folder in this home, if there is one. `variables` are the environment's.
    pub fn path(&self, home: &Path, variables: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        let named = self.variable.and_then(variables).filter(|path| !path.as_os_str().is_empty());
        let path = named.unwrap_or_else(|| home.join(self.base)).join(self.folder);
        if path.is_dir() { Some(path) } else { None }
    }

    /// Its files in that folder, ordered by path, and whether each was changed since `since`.
    pub fn files(&self, folder: &Path, since: Option<SystemTime>) -> Vec<(PathBuf, bool)> {
        let endings = self.endings();
        let mut files = Vec::new();
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy();
            let is_in = |folder: &str| entry.path().parent().is_some_and(|parent| parent.ends_with(folder));
            if !entry.file_type().is_file() || !endings.iter().any(|ending| name.ends_with(ending) || is_in(ending)) {
                continue;
            }
            let is_new = match (since, last_change(&entry)) {
                (Some(since), Some(changed)) => changed >= since,
                _ => true,
            };
            files.push((entry.into_path(), is_new));
        }
        files
    }
}

fn last_change(entry: &walkdir::DirEntry) -> Option<SystemTime> {
    entry.metadata().ok()?.modified().ok()
}
