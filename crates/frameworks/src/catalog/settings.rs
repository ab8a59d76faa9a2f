//! Systems and presets from what a stack file sets. A setting that is refused is told and left out, and the rest is
//! looked at again, so that one look finds all of them.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{ReadConfig, placed};
use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::preset::{self, Preset, SettingsError};
use crate::stack::Use;
use crate::system::{self, About, ConfigText, SystemInfo};

type Built = Result<Arc<dyn Strategy>, Diagnostics>;

/// A system's settings, with its native configuration if it was read.
pub(super) fn of_system(used: &Use, config: Option<ConfigText>) -> system::Settings {
    system::Settings { name: used.name.clone(), profile: used.profile.clone(), config, set: used.set.clone() }
}

/// A preset's settings.
pub(super) fn of_preset(used: &Use) -> preset::Settings {
    preset::Settings { variant: used.profile.clone(), set: used.set.clone(), ..preset::Settings::default() }
}

/// A system in the profile and with the options and configuration asked for.
pub(super) fn build_system(info: &SystemInfo, used: &Use, read_config: &ReadConfig<'_>) -> Built {
    let mut errors = Vec::new();
    let config = match used.config.as_deref().map(read_config).transpose() {
        Ok(config) => config,
        Err(error) => {
            errors.push(unreadable(&error, used));
            None
        }
    };
    let mut settings = of_system(used, config);
    loop {
        let (error, about) = match (info.build)(&settings) {
            Ok(strategy) => return Diagnostics::of(errors).map_or(Ok(strategy), Err),
            Err(system::ConfigError(error, about)) => (error, about),
        };
        errors.push(placed(error, &about, &used.places));
        let removed = match &about {
            About::Profile => settings.profile.take().is_some(),
            About::Option(key) | About::Value(key) => settings.set.shift_remove(&**key).is_some(),
            About::Config => settings.config.take().is_some(),
        };
        if !removed {
            return Err(all(errors, used));
        }
    }
}

/// The error of a configuration file, at the place that names the file.
fn unreadable(error: &Diagnostic, used: &Use) -> Diagnostic {
    let why = error.what.trim_start_matches("cannot read: ");
    let what = format!("cannot read `{}`: {why}", error.at.path);
    used.places.at_value("config", what, error.help.clone())
}

/// A preset in the variant and with the parameters asked for.
pub(super) fn build_preset(preset: &'static Preset, used: &Use) -> Built {
    let mut errors = Vec::new();
    if let Some(config) = &used.config {
        let what = format!("preset `{}` reads no configuration file (`{config}`)", preset.id);
        errors.push(used.places.at_name("config", what, "give its parameters with `set = { name = value }`"));
    }
    let mut settings = of_preset(used);
    loop {
        let error = match preset.strategy(&used.name, &settings) {
            Ok(strategy) => return Diagnostics::of(errors).map_or(Ok(Arc::new(strategy)), Err),
            Err(error) => error,
        };
        errors.push(of_preset_error(preset, &error, used));
        let removed = match &error {
            SettingsError::Variant { .. } => settings.variant.take().is_some(),
            SettingsError::Unknown { name, .. } | SettingsError::Kind { name, .. } => remove(&mut settings.set, name),
            SettingsError::Refused { .. } => false,
        };
        if !removed {
            return Err(all(errors, used));
        }
    }
}

fn of_preset_error(preset: &Preset, error: &SettingsError, used: &Use) -> Diagnostic {
    let explain = || format!("`whenstop rules explain {}` lists what it takes", preset.id);
    let (what, near) = (error.to_string(), error.near().map(|near| format!("did you mean `{near}`?")));
    match error {
        SettingsError::Unknown { name, .. } => {
            used.places.at_name(&format!("set.{name}"), what, near.unwrap_or_else(explain))
        }
        SettingsError::Variant { .. } => {
            let variants: Vec<&str> = preset.variants.iter().map(|variant| variant.name).collect();
            let known = || match &variants[..] {
                [] => format!("`{}` has no profiles: leave it out", preset.id),
                some => format!("known: {}", some.join(", ")),
            };
            used.places.at_value("profile", what, near.unwrap_or_else(known))
        }
        SettingsError::Kind { name, .. } => used.places.at_value(&format!("set.{name}"), what, explain()),
        SettingsError::Refused { .. } => used.places.at_name("set", what, explain()),
    }
}

fn all(errors: Vec<Diagnostic>, used: &Use) -> Diagnostics {
    Diagnostics::of(errors)
        .unwrap_or_else(|| used.places.at_name("use", format!("cannot build `{}`", used.system), "").into())
}

/// Removes the value under a dotted name, wherever the dots are keys of nested tables.
fn remove(set: &mut Map<String, Value>, name: &str) -> bool {
    if set.shift_remove(name).is_some() {
        return true;
    }
    name.match_indices('.').any(|(dot, _)| {
        set.get_mut(&name[..dot]).and_then(Value::as_object_mut).is_some_and(|inner| remove(inner, &name[dot + 1..]))
    })
}
