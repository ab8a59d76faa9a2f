//! Hidden names in a folder: those in which agents keep their recordings are read, those of version control and caches
//! are left out, and all others are counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diagnostic::count;
use crate::find::places;
use crate::find::skipped::Skipped;
use crate::text::word_list;

/// Names that hold no recordings, and are not worth a word.
const OTHERS: &[&str] = word_list!(
    ".DS_Store .Trash .bundle .bzr .cache .cargo .direnv .dockerignore .editorconfig .env .eslintcache .git",
    ".gitattributes .github .gitignore .gitkeep .gitlab .gitmodules .gradle .hg .idea .ipynb_checkpoints .jj .keep",
    ".mypy_cache .next .nox .npm .npmrc .nuxt .pnpm-store .pytest_cache .python-version .ruff_cache .rustup .svn",
    ".terraform .tox .venv .vs .vscode .whenstop-files .yarn",
);
/// Names shown for each folder.
const SHOWN: usize = 5;

/// Whether a name is hidden and none of those under which agents keep recordings.
fn is_closed(name: &str) -> bool {
    name.starts_with('.') && !places::is_an_agents(name) && !name.starts_with(".aider.")
}

/// The hidden names that were not looked into, by folder.
#[derive(Debug, Default)]
pub(crate) struct HiddenNames(BTreeMap<PathBuf, (u64, Vec<String>)>);

impl HiddenNames {
    /// Calls `take` with everything in a folder that may be a recording, in path order. Hidden folders are not opened,
    /// nor those for which `take` returns false.
    pub(crate) fn walk(&mut self, folder: &Path, mut take: impl FnMut(walkdir::Result<walkdir::DirEntry>) -> bool) {
        let mut entries = walkdir::WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            if let Ok(found) = &entry
                && found.depth() > 0
                && is_closed(&found.file_name().to_string_lossy())
            {
                self.add(found.path());
                if found.file_type().is_dir() {
                    entries.skip_current_dir();
                }
                continue;
            }
            let is_folder = matches!(&entry, Ok(entry) if entry.file_type().is_dir());
            if !take(entry) && is_folder {
                entries.skip_current_dir();
            }
        }
    }

    fn add(&mut self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if OTHERS.contains(&&*name) || name.starts_with("._") || name.starts_with(".env.") {
            return;
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let (n, shown) = self.0.entry(folder).or_default();
        *n += 1;
        if shown.len() < SHOWN {
            shown.push(format!("`{name}`"));
        }
    }

    /// One line for each folder with such names.
    pub(crate) fn skipped(self) -> impl Iterator<Item = Skipped> {
        self.0.into_iter().map(|(folder, (n, shown))| {
            let more = if n > shown.len() as u64 { ", …" } else { "" };
            let what = count(n, "hidden name");
            let reason = format!("{what} not looked into ({}{more}): name what is to be read", shown.join(", "));
            Skipped { path: folder.display().to_string(), reason, hidden: n, ..Skipped::default() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_agents_are_opened_and_other_hidden_names_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        for path in
            [".codex/sessions/a.jsonl", ".aider.chat.history.md", ".secret/b.jsonl", ".git/c", ".d.json", "e.json"]
        {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{}").unwrap();
        }
        let (mut hidden, mut found) = (HiddenNames::default(), Vec::new());
        hidden.walk(folder.path(), |entry| {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                found.push(entry.path().strip_prefix(folder.path()).unwrap().display().to_string());
            }
            true
        });
        assert_eq!(found, [".aider.chat.history.md", ".codex/sessions/a.jsonl", "e.json"]);
        let skipped: Vec<Skipped> = hidden.skipped().collect();
        assert_eq!(skipped.len(), 1);
        assert!(skipped[0].reason.starts_with("2 hidden names not looked into (`.d.json`, `.secret`)"), "{skipped:?}");
    }
}
