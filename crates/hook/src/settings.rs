//! Where the hook keeps its files, and what it was told to do: `settings.toml` and `stacks.toml` in
//! `$XDG_CONFIG_HOME/whenstop/hook/HOST`. The command line in the host's configuration never changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::files;
use super::host::HostAgent;
use super::round::HookStrategy;
use crate::catalog;
use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::framework::ConfigText;
use crate::stack::{Entry, Scope, Stack};
use crate::transcript::named;

named! {
    /// What a decision to stop leads to.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum HookMode {
        /// A line in the log, and nothing else.
        #[default]
        Observe = "observe",
        /// A sentence to the model, once a round.
        Nudge = "nudge",
        /// A question to the person before the next call; going on doubles the limit for this round.
        Ask = "ask",
        /// The agent ends its turn.
        Stop = "stop",
    }
}

/// The contents of `settings.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HookSettings {
    /// What a decision leads to.
    pub mode: HookMode,
    /// Where counts start: `round` or `session`.
    pub unit: String,
}

impl HookSettings {
    /// Where counts start.
    pub fn unit(&self) -> Scope {
        if self.unit == "session" { Scope::Run } else { Scope::Round }
    }
}

/// The folders of one host.
#[derive(Clone, Debug)]
pub struct Folders {
    /// Settings and stack file.
    pub config: PathBuf,
    /// Sessions and log.
    pub state: PathBuf,
}

impl Folders {
    /// Those of this machine; `None` if no home folder is known.
    pub fn from_host(host: HostAgent) -> Option<Self> {
        let place = |variable: &str, base: &str| {
            let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
            let home = ["HOME", "USERPROFILE"].into_iter().find_map(std::env::var_os).filter(|home| !home.is_empty());
            let folder = named.or_else(|| Some(PathBuf::from(home?).join(base)))?;
            Some(folder.join("whenstop").join("hook").join(host.id()))
        };
        Some(Self { config: place("XDG_CONFIG_HOME", ".config")?, state: place("XDG_STATE_HOME", ".local/state")? })
    }

    /// The settings file.
    pub fn settings(&self) -> PathBuf {
        self.config.join("settings.toml")
    }

    /// The stack file.
    pub fn stacks(&self) -> PathBuf {
        self.config.join("stacks.toml")
    }

    /// The log of decisions.
    pub fn log(&self) -> PathBuf {
        self.state.join("log.jsonl")
    }
}

/// What the hook was told to do.
#[derive(Debug)]
pub struct Setup {
    /// The settings.
    pub settings: HookSettings,
    /// The rules.
    pub rules: Vec<HookStrategy>,
    /// The fingerprint of the stack file.
    pub print: u64,
}

impl Setup {
    /// Reads settings and stack file.
    pub fn load(folders: &Folders) -> Result<Self, Diagnostics> {
        let anew = "`whenstop hook install` writes this file anew";
        let settings = match files::read_text(&folders.settings()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            text => text.map_err(|error| unreadable(&folders.settings(), &error, anew))?,
        };
        let settings = toml::from_str(&settings).map_err(|error| {
            let at = Location::file(folders.settings().display().to_string());
            Diagnostic::new(at, error.message().to_owned(), anew)
        })?;
        let path = folders.stacks();
        let help = "`whenstop hook install --stacks FILE` puts a stack file there";
        let text = files::read_text(&path).map_err(|error| unreadable(&path, &error, help))?;
        Self::from_settings(settings, &path, &text)
    }

    /// The rules of a stack file.
    pub fn from_settings(settings: HookSettings, path: &Path, text: &str) -> Result<Self, Diagnostics> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let read_config = |config: &str| {
            let path = folder.join(config);
            let text = files::read_text(&path)
                .map_err(|error| unreadable(&path, &error, "the path is relative to the stack file"))?;
            Ok(ConfigText { path: path.display().to_string(), text })
        };
        let (file, strategies) = catalog::load_with(&path.display().to_string(), text, &read_config)?;
        let unit = settings.unit();
        let mut rules = Vec::new();
        for (entry, strategy) in file.entries.iter().zip(strategies) {
            rules.push(match entry {
                Entry::Own(stack) => {
                    let own = shown_alone(Arc::clone(stack), unit);
                    HookStrategy { strategy: Arc::clone(&own) as Arc<dyn Strategy>, own: Some(own) }
                }
                Entry::Use(_) | Entry::Guard(_) => HookStrategy { strategy, own: None },
            });
        }
        Ok(Self { settings, rules, print: super::record::id_of(text) })
    }
}

/// A stack whose rules are shown nothing but a round: what counts by round then counts by all that it is shown, and need
/// not look for the round itself.
fn shown_alone(mut stack: Arc<Stack>, unit: Scope) -> Arc<Stack> {
    if unit == Scope::Round && stack.counts_by_round() {
        let stack = Arc::make_mut(&mut stack);
        stack.clauses.iter_mut().for_each(|clause| clause.scope = Scope::Run);
        stack.cap.iter_mut().for_each(|cap| cap.scope = Scope::Run);
    }
    stack
}

fn unreadable(path: &Path, error: &std::io::Error, help: &str) -> Diagnostic {
    Diagnostic::new(Location::file(path.display().to_string()), format!("cannot read: {error}"), help)
}
