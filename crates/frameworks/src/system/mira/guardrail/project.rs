//! The parts of a project folder that the guardrail reads: the plan, the settings, other files.

use std::collections::BTreeMap;

use serde_json::Value;

use super::AgentProfile;
use crate::python::{self, Int, Strictness};
use crate::system::mira::plan::Plan;

/// The content of the plan's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PlanFile {
    /// There is no file.
    #[default]
    Absent,
    /// The file is not JSON.
    Unparsable,
    /// The parsed content.
    Parsed(Value),
}

impl PlanFile {
    /// Parses the file's text.
    pub fn read(text: &str) -> Self {
        if let Some(plan) = python::loads(text, Strictness::Strict) { Self::Parsed(plan) } else { Self::Unparsable }
    }
}

/// A project folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectFolder {
    /// `task_plan.json`.
    pub plan: PlanFile,
    /// `.mira/project.json`.
    pub settings: Option<Value>,
    /// Every other file's text by its path; `None` if the recording does not contain files, in which case no file
    /// counts as missing.
    pub files: Option<BTreeMap<String, String>>,
}

impl ProjectFolder {
    /// The plan as the loop loads it: an object or `None`.
    pub fn plan(&self) -> Plan<'_> {
        match &self.plan {
            PlanFile::Parsed(plan) => python::dict(plan),
            PlanFile::Absent | PlanFile::Unparsable => None,
        }
    }

    /// The agent profile of the project's settings.
    pub fn profile(&self) -> AgentProfile {
        self.setting("agent_profile").and_then(AgentProfile::from_value).unwrap_or_default()
    }

    /// Whether the project's settings set contract version 2.
    pub fn is_strict(&self) -> bool {
        let version = self.setting("contract_version").and_then(Int::from_value);
        matches!(version, Some(version) if version.value() == 2)
    }

    fn setting(&self, key: &str) -> Option<&Value> {
        python::dict(self.settings.as_ref()?)?.get(key)
    }

    /// All paths, including those of the plan and the settings.
    fn paths(&self) -> impl Iterator<Item = &str> {
        let plan = if self.plan == PlanFile::Absent { None } else { Some("task_plan.json") };
        let settings = self.settings.as_ref().map(|_| ".mira/project.json");
        self.files.iter().flatten().map(|(path, _)| path.as_str()).chain(plan).chain(settings)
    }

    /// Whether there is a file at `path`, relative to the project.
    pub(super) fn has_file(&self, path: &str) -> bool {
        let is_folder = |prefix: &str| self.paths().any(|known| known.starts_with(&format!("{prefix}/")));
        let mut at: Vec<&str> = Vec::new();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                if at.is_empty() || !is_folder(&at.join("/")) {
                    return false;
                }
                at.pop();
            } else {
                at.push(part);
            }
        }
        let resolved = at.join("/");
        self.files.is_none() || (!path.starts_with('/') && self.paths().any(|known| known == resolved))
    }

    /// Whether a file matches the pattern, by the rules of `Path.glob`.
    pub(super) fn has_match(&self, pattern: &str) -> bool {
        let wanted: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let is_readable = !pattern.starts_with('/') && wanted.iter().all(|part| *part == "**" || !part.contains("**"));
        let fits = |path: &str| glob(&wanted, &path.split('/').collect::<Vec<_>>());
        self.files.is_none() || (is_readable && self.paths().any(fits))
    }

    /// Paths of the files below `folder` at any depth, in Python's path order.
    pub(super) fn below(&self, folder: &str) -> Vec<&str> {
        let prefix = format!("{folder}/");
        sorted(self.paths().filter(|path| path.starts_with(&prefix)))
    }

    /// Paths of all JSON files in Python's path order, except those in tool folders.
    pub(super) fn json_files(&self) -> Vec<&str> {
        const IGNORED: [&str; 6] = [".git", ".mira", "__pycache__", "node_modules", ".venv", "venv"];
        let is_ignored = |path: &str| path.rsplit('/').skip(1).any(|folder| IGNORED.contains(&folder));
        let is_json = |path: &str| python::lower(path).strip_suffix(".json").is_some();
        sorted(self.paths().filter(|path| is_json(path) && !is_ignored(path)))
    }

    /// The text of a file; `None` if there is no such file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.as_ref()?.get(path).map(String::as_str)
    }

    /// A file parsed as JSON; `None` if it is missing or not JSON.
    pub(super) fn json(&self, path: &str) -> Option<Value> {
        match (path, &self.plan) {
            ("task_plan.json", PlanFile::Parsed(plan)) => Some(plan.clone()),
            _ => python::loads(self.text(path)?, Strictness::Strict),
        }
    }
}

/// Whether the parts of a path match those of a pattern. `**` matches any number of folders.
fn glob(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) => {
            // A pattern that ends in `**` matches folders only.
            !rest.is_empty() && (0..path.len()).any(|skipped| glob(rest, &path[skipped..]))
        }
        ([part, pattern @ ..], [name, path @ ..]) => part_fits(part, name) && glob(pattern, path),
        _ => false,
    }
}

/// `fnmatch`: `*`, `?`, `[abc]`, `[a-z]`, `[!abc]`.
fn part_fits(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    let Some(first) = rest.next() else { return name.is_empty() };
    let after = rest.as_str();
    let mut letters = name.chars();
    match first {
        '*' => name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| part_fits(after, &name[at..])),
        '?' => letters.next().is_some() && part_fits(after, letters.as_str()),
        '[' if after.char_indices().skip(1).any(|(_, c)| c == ']') => {
            let negated = after.starts_with('!');
            let set = after.strip_prefix('!').unwrap_or(after);
            let end = set.char_indices().skip(1).find(|(_, c)| *c == ']').map_or(set.len(), |(at, _)| at);
            let members: Vec<char> = set[..end].chars().collect();
            let Some(letter) = letters.next() else { return false };
            let is_range = |at: usize| members.get(at + 1) == Some(&'-') && members.get(at + 2).is_some();
            let mut at = 0;
            let mut found = false;
            while let Some(low) = members.get(at) {
                let high = if is_range(at) { members.get(at + 2).unwrap_or(low) } else { low };
                found |= (*low..=*high).contains(&letter);
                at += if is_range(at) { 3 } else { 1 };
            }
            found != negated && part_fits(set.get(end + 1..).unwrap_or_default(), letters.as_str())
        }
        letter => letters.next() == Some(letter) && part_fits(after, letters.as_str()),
    }
}

/// Sorted part by part, as Python compares paths.
fn sorted<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    let mut paths: Vec<&str> = paths.collect();
    paths.sort_by(|left, right| left.split('/').cmp(right.split('/')));
    paths.dedup();
    paths
}
