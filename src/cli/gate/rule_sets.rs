//! Fingerprints of the rules a stack consults. They cover the stack file's content, without the stack's name, comments
//! and key order, and the version of the framework.

use std::collections::BTreeMap;
use std::path::Path;

use crate::catalog;
use crate::cli::inputs::{LoadedFile, LoadedStacks, read_config};
use crate::compare::StackInfo;
use crate::diagnostic::Location;
use crate::framework::FrameworkKind;
use crate::review::Places;
use crate::snapshot::RuleSet;
use crate::stack::{Entry, StackFile};
use crate::transcript::Fingerprint;

/// The rule sets of the stacks by name, with the location of each stack.
#[derive(Debug, Default)]
pub(super) struct RuleSets {
    pub(super) by_stack: BTreeMap<String, RuleSet>,
    pub(super) places: Places,
}

impl RuleSets {
    /// The rule sets of the stacks; `infos` describes each of them.
    pub(super) fn new(stacks: &LoadedStacks, infos: &[StackInfo]) -> Self {
        let mut sets = Self::default();
        for file in &stacks.files {
            sets.put_file(file, infos);
        }
        // The other stacks, named on the command line, use their defaults.
        for info in infos {
            if sets.by_stack.contains_key(&*info.name) {
                continue;
            }
            if info.program.is_some() {
                sets.put(&info.name, "guard".to_owned(), &program(info));
            } else {
                let of = info.name.split(" (").next().unwrap_or_default();
                sets.put(&info.name, source(of, &info.profile), "");
            }
        }
        sets
    }

    fn put(&mut self, name: &str, source: String, settings: &str) {
        let print = format!("{:016x}", Fingerprint::from_text(&format!("{source}\n{settings}")).0);
        self.by_stack.insert(name.to_owned(), RuleSet { source, print });
    }

    fn put_file(&mut self, file: &LoadedFile, infos: &[StackInfo]) {
        let LoadedFile { name, text, parsed: file } = file;
        let path = Path::new(name);
        let document: toml::Table = toml::from_str(text).unwrap_or_default();
        let tables = document.get("stack").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        for (index, entry) in file.entries.iter().enumerate() {
            let mut table = tables.get(index).and_then(toml::Value::as_table).cloned().unwrap_or_default();
            table.remove("name");
            let mut settings = toml::to_string(&table).unwrap_or_default();
            let name = entry.name();
            let info = infos.iter().find(|info| *info.name == *name);
            let source = match entry {
                Entry::Own(_) => "own rules".to_owned(),
                Entry::Guard(_) => {
                    settings += &info.map(program).unwrap_or_default();
                    "guard".to_owned()
                }
                Entry::Use(used) => {
                    if let Some(config) = &used.config
                        && let Ok(config) = read_config(path, config)
                    {
                        settings += &config.text;
                    }
                    source(&used.system, info.map(|info| &*info.profile).unwrap_or_default())
                }
            };
            self.put(name, source, &settings);
            self.put_places(path, file, index);
        }
    }

    /// Records the location of the stack and of each of its own rules.
    fn put_places(&mut self, path: &Path, file: &StackFile, index: usize) {
        let (entry, places) = (&file.entries[index], file.places(index));
        let name = entry.name().to_owned();
        let at = |key: &str| {
            let at = places.at_name(key, "", "").at;
            if at.path.is_empty() { Location::file(path.display().to_string()) } else { at }
        };
        if let Entry::Own(stack) = entry {
            for (nth, clause) in stack.clauses.iter().enumerate() {
                let rule = Some(clause.name.as_str().to_owned());
                self.places.entry((name.clone(), rule)).or_insert_with(|| at(&format!("any.{nth}")));
            }
        }
        self.places.insert((name, None), at(""));
    }
}

/// The program that decides: its command, its version, and the contents of its files.
fn program(info: &StackInfo) -> String {
    info.program.as_ref().map(|program| format!("{program:?}")).unwrap_or_default()
}

/// The origin of the rules, with the version.
fn source(name: &str, profile: &str) -> String {
    match catalog::find(name).filter(|framework| framework.kind == FrameworkKind::Preset) {
        Some(preset) => preset.version.to_owned(),
        None if profile.is_empty() => name.to_owned(),
        None => format!("{name} {profile}"),
    }
}
