//! The definition of a framework: its names, parameters and profiles, and how its rules are built from settings.
//!
//! A framework's rules are a [`machine::Machine`] over events and points, or a strategy that orders its own checks.
//! They know nothing of files or recording formats: texts come in as [`ConfigText`], recordings as
//! [`crate::transcript::Run`]s.

mod config;
mod error;
pub mod machine;
mod params;
mod settings;

use std::sync::Arc;

use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Location};
use crate::host::ExportTarget;

pub use config::ConfigText;
pub(crate) use config::own_file;
pub(crate) use error::wrong_kind;
pub use error::{ErrorSubject, SettingsError};
pub use machine::{MachineStrategy, Recipe};
pub(crate) use params::params;
pub use params::{Case, Holds, Parameter, Trap};
pub use settings::Settings;
pub(crate) use settings::{positive, setting};

/// A number of seconds from which milliseconds were probably meant: more than a day.
pub(crate) const LONG_SECONDS: f64 = 100_000.0;

/// A framework's shipped stop rules, with everything needed to list, explain, build and test them.
#[derive(Clone)]
pub struct Framework {
    /// What it is called on the command line: `system:NAME` or `preset:NAME`.
    pub kind: FrameworkKind,
    /// Its name in stack files, for example `roo-code`.
    pub id: &'static str,
    /// The version whose behaviour is reproduced.
    pub version: &'static str,
    /// Where the rules are in that version's source.
    pub source: &'static str,
    /// A one-line summary.
    pub summary: &'static str,
    /// Rule, comparator, counter, window, identity, reset, off-value and failure modes, in Markdown.
    pub manual: &'static str,
    /// The parameters, under the framework's own names.
    pub parameters: &'static [Parameter],
    /// Its profiles, the default first; empty if there is only one.
    pub profiles: &'static [Profile],
    /// Its native configuration, in one line; empty if it reads none.
    pub config: &'static str,
    /// Finds what looks wrong in the native configuration, and in parameters combined with it where no trap of a
    /// parameter covers it.
    pub traps: fn(&Settings) -> Vec<SettingsError>,
    /// What its own configuration can express of a stack.
    pub host: ExportTarget,
    /// Its rules, as they are listed.
    pub rules: &'static [&'static str],
    /// Of a preset: how many answers of its own code, in `fixtures/golden/presets*`, its rules give; `None` if nobody
    /// recorded any. `None` for a system: `tests/it/golden.rs` counts those of all systems together.
    pub golden_cases: Option<u64>,
    /// Builds its rules.
    pub build: Build,
}

/// The list a framework belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameworkKind {
    /// One of the five seed systems.
    System,
    /// One of the other frameworks.
    Preset,
}

/// One variant of a framework's rules, where documented and shipped behaviour differ or releases do.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// What is different about it.
    pub doc: &'static str,
    /// Other accepted names: releases that decide alike.
    pub also: &'static [&'static str],
}

/// Builds a machine from settings whose names and profile have been checked.
pub type BuildMachine = dyn Fn(&Settings) -> Result<Recipe, SettingsError> + Send + Sync;

/// How rules are built from settings whose names and profile have been checked.
#[derive(Clone, Copy)]
pub enum Build {
    /// A machine over events and points.
    Machine(&'static BuildMachine),
    /// A strategy that orders its own checks.
    Strategy(fn(&Settings) -> Result<Arc<dyn Strategy>, SettingsError>),
}

/// What of a framework is code; the rest is in its files.
#[derive(Clone, Copy)]
pub(crate) struct FrameworkCode {
    pub(crate) parameters: &'static [Parameter],
    /// See [`Framework::traps`].
    pub(crate) traps: fn(&Settings) -> Vec<SettingsError>,
    pub(crate) build: Build,
}

impl FrameworkCode {
    /// A machine, without a native configuration.
    pub(crate) const fn machine(parameters: &'static [Parameter], build: &'static BuildMachine) -> Self {
        Self { parameters, traps: |_| Vec::new(), build: Build::Machine(build) }
    }
}

impl std::fmt::Debug for Framework {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Framework({})", self.id)
    }
}

impl std::fmt::Display for FrameworkKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Self::System { "system" } else { "preset" })
    }
}

impl Framework {
    /// The names of its profiles.
    pub fn profile_names(&self) -> Vec<&'static str> {
        self.profiles.iter().map(|profile| profile.name).collect()
    }

    /// Builds the strategy for these settings.
    pub fn strategy(&self, settings: &Settings) -> Result<Arc<dyn Strategy>, SettingsError> {
        match self.build {
            Build::Machine(build) => Ok(Arc::new(self.started(build, settings)?)),
            Build::Strategy(build) => build(&self.checked(settings)?),
        }
    }

    /// The same for a framework that is a machine; its recipe can be replayed past its own stops. `None` for the
    /// others.
    pub fn machine(&self, settings: &Settings) -> Option<Result<MachineStrategy, SettingsError>> {
        match self.build {
            Build::Machine(build) => Some(self.started(build, settings)),
            Build::Strategy(_) => None,
        }
    }

    fn started(&self, build: &BuildMachine, settings: &Settings) -> Result<MachineStrategy, SettingsError> {
        let settings = self.checked(settings)?;
        let profile = self.profile(&settings)?;
        let recipe = build(&settings)?;
        Ok(MachineStrategy::new(settings.name, profile, recipe))
    }

    /// The settings with the profile under its main name, after checking that profile and parameters belong to this
    /// framework.
    pub fn checked(&self, settings: &Settings) -> Result<Settings, SettingsError> {
        let profile = Some(self.profile(settings)?).filter(|profile| !profile.is_empty()).map(str::to_owned);
        settings.check_names(self.parameters)?;
        Ok(Settings { profile, ..settings.clone() })
    }

    /// The profile asked for, or the first one if none is.
    fn profile(&self, settings: &Settings) -> Result<&'static str, SettingsError> {
        let Some(asked) = settings.profile.as_deref() else {
            return Ok(self.profiles.first().map(|profile| profile.name).unwrap_or_default());
        };
        let found = self.profiles.iter().find(|profile| profile.name == asked || profile.also.contains(&asked));
        found.map(|profile| profile.name).ok_or_else(|| SettingsError::profile(asked, &self.profile_names()))
    }

    /// What looks wrong in accepted settings: first the parameters' traps in order, then those of the native
    /// configuration.
    pub fn traps(&self, settings: &Settings) -> Vec<SettingsError> {
        let Ok(settings) = self.checked(settings) else { return Vec::new() };
        let of_parameter = |trap: Trap| SettingsError {
            error: Diagnostic::new(Location::default(), trap.words, ""),
            about: ErrorSubject::Value(trap.about.into()),
        };
        let parameters = params::traps(self.parameters, &settings).into_iter().map(of_parameter);
        parameters.chain((self.traps)(&settings)).collect()
    }
}
