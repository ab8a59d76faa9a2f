//! What every framework is: its names, its parameters, its profiles, and how its rules are built from settings.
//!
//! A framework's rules are a [`machine::Machine`] over events and points, or a strategy with an order of checks of its own. It knows
//! no file and no recorded format: texts come in as [`ConfigText`], recordings as [`crate::transcript::Run`]s.

mod config;
mod error;
pub mod machine;
mod params;
mod settings;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Location};
use crate::host::Host;

pub use config::ConfigText;
pub use error::{About, SettingsError};
pub use machine::{MachineStrategy, Recipe};
pub(crate) use params::params;
pub use params::{Case, Holds, Parameter, Trap};
pub(crate) use settings::wrong_kind;
pub use settings::{COMBINED, Settings};

/// From this many seconds on, milliseconds are suspected: more than a day.
pub(crate) const LONG_SECONDS: f64 = 100_000.0;

/// A framework's shipped stop rules.
#[derive(Clone)]
pub struct Framework {
    /// What it is called on the command line: `system:NAME` or `preset:NAME`.
    pub kind: Kind,
    /// Its name in stack files, for example `roo-code`.
    pub id: &'static str,
    /// The version whose behaviour this is.
    pub version: &'static str,
    /// Where the rules live in that version.
    pub source: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Rule, comparator, counter, window, identity, reset, off-value and failure modes, in Markdown.
    pub manual: &'static str,
    /// What can be set, under the framework's own names.
    pub parameters: &'static [Parameter],
    /// Its profiles, the default first; empty where there is only one.
    pub profiles: &'static [Profile],
    /// Its native configuration, in one line; empty where it reads none.
    pub config: &'static str,
    /// What looks wrong in the native configuration, and in settings beside it that no parameter's own trap tells.
    pub traps: fn(&Settings) -> Vec<SettingsError>,
    /// What its own configuration can hold of a stack.
    pub host: Host,
    /// The rules its golden tables drive, by the tables' names.
    pub tables: &'static [&'static str],
    /// Makes its rules.
    pub build: Build,
    /// Reads a golden case's input (`config` and the driver's devices) for the rule it drives, or for all
    /// of them at once ([`COMBINED`]); an error says why the case does not apply.
    pub case: fn(rule: &str, input: &Map<String, Value>) -> Result<Settings, String>,
}

/// Where a framework stands in the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of the five seed systems.
    System,
    /// One of the others.
    Preset,
}

/// One version of the same rules, where documented and shipped behaviour differ, or releases do.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// What is different about it.
    pub doc: &'static str,
    /// Other names: releases that decide as it does, and names of before.
    pub also: &'static [&'static str],
}

/// How rules are made of settings whose names and profile are checked.
#[derive(Clone, Copy)]
pub enum Build {
    /// A machine over events and points.
    Machine(fn(&Settings) -> Result<Recipe, SettingsError>),
    /// A strategy with an order of checks of its own.
    Strategy(fn(&Settings) -> Result<Arc<dyn Strategy>, SettingsError>),
}

impl std::fmt::Debug for Framework {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Framework({})", self.id)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Self::System { "system" } else { "preset" })
    }
}

impl Profile {
    /// A profile with one name.
    pub const fn new(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, also: &[] }
    }
}

/// The usual reading of a golden case: its configuration, and only the rule it drives.
#[expect(clippy::unnecessary_wraps, reason = "the shape of `Framework::case`, where others can refuse")]
fn plain_case(rule: &str, input: &Map<String, Value>) -> Result<Settings, String> {
    Ok(Settings::of_case(rule, input))
}

impl Framework {
    /// A preset in which nothing is said yet: one profile, no native configuration, golden cases read as they are.
    pub(crate) const PRESET: Self = Self {
        kind: Kind::Preset,
        id: "",
        version: "",
        source: "",
        summary: "",
        manual: "",
        parameters: &[],
        profiles: &[],
        config: "",
        traps: |_| Vec::new(),
        host: Host::none(&[]),
        tables: &[],
        build: Build::Strategy(|_| Err(SettingsError::refused("unimplemented", "no rules are built here"))),
        case: plain_case,
    };
    /// A system in which nothing is said yet.
    pub(crate) const SYSTEM: Self = Self { kind: Kind::System, ..Self::PRESET };

    /// Its profiles' names.
    pub fn profile_names(&self) -> Vec<&'static str> {
        self.profiles.iter().map(|profile| profile.name).collect()
    }

    /// The strategy of these settings.
    pub fn strategy(&self, settings: &Settings) -> Result<Arc<dyn Strategy>, SettingsError> {
        match self.build {
            Build::Machine(build) => Ok(Arc::new(self.started(build, settings)?)),
            Build::Strategy(build) => build(&self.checked(settings)?),
        }
    }

    /// The same, where it is a machine; its recipe can be replayed past its own stops.
    pub fn machine(&self, settings: &Settings) -> Option<Result<MachineStrategy, SettingsError>> {
        match self.build {
            Build::Machine(build) => Some(self.started(build, settings)),
            Build::Strategy(_) => None,
        }
    }

    fn started(
        &self,
        build: fn(&Settings) -> Result<Recipe, SettingsError>,
        settings: &Settings,
    ) -> Result<MachineStrategy, SettingsError> {
        let settings = self.checked(settings)?;
        let profile = self.profile(&settings)?;
        Ok(MachineStrategy { recipe: build(&settings)?, name: settings.name, profile })
    }

    /// The settings with the profile by its own name, once profile and parameters are known to be this framework's.
    fn checked(&self, settings: &Settings) -> Result<Settings, SettingsError> {
        let profile = Some(self.profile(settings)?).filter(|profile| !profile.is_empty()).map(str::to_owned);
        settings.check_names(self.parameters)?;
        Ok(Settings { profile, ..settings.clone() })
    }

    /// The profile asked for, the first one when none is.
    fn profile(&self, settings: &Settings) -> Result<&'static str, SettingsError> {
        let Some(asked) = settings.profile.as_deref() else {
            return Ok(self.profiles.first().map_or("", |profile| profile.name));
        };
        let found = self.profiles.iter().find(|profile| profile.name == asked || profile.also.contains(&asked));
        found.map(|profile| profile.name).ok_or_else(|| SettingsError::profile(asked, &self.profile_names()))
    }

    /// What looks wrong in settings that are taken: first the traps of the parameters, in their order, then those of the
    /// native configuration.
    pub fn traps(&self, settings: &Settings) -> Vec<SettingsError> {
        let Ok(settings) = self.checked(settings) else { return Vec::new() };
        let of_parameter = |trap: Trap| SettingsError {
            error: Diagnostic::new(Location::default(), trap.words, ""),
            about: About::Value(trap.about.into()),
        };
        let parameters = params::traps(self.parameters, &settings).into_iter().map(of_parameter);
        parameters.chain((self.traps)(&settings)).collect()
    }
}
