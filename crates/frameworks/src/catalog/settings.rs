//! Builds a framework from the settings in a stack file. A rejected setting is reported and removed, and the rest is
//! checked again, so that all errors are found at once.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::ReadConfig;
use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::framework::{ConfigText, ErrorSubject, Framework, Settings, SettingsError};
use crate::stack::Use;

fn settings(used: &Use, config: Option<ConfigText>) -> Settings {
    Settings { profile: used.profile.clone(), config, set: used.set.clone(), ..Settings::named(&used.name) }
}

/// Builds the framework with the given profile, parameters and configuration.
pub(super) fn build(
    framework: &Framework,
    used: &Use,
    read_config: &ReadConfig<'_>,
) -> Result<Arc<dyn Strategy>, Diagnostics> {
    let mut errors = Vec::new();
    let config = native(framework, used, read_config).unwrap_or_else(|error| {
        errors.push(error);
        None
    });
    let mut settings = settings(used, config);
    loop {
        let refused = match framework.strategy(&settings) {
            Ok(strategy) => return super::unless_refused(strategy, errors),
            Err(refused) => refused,
        };
        let about = refused.about.clone();
        errors.push(placed(refused, used, &format!("`whenstop rules explain {}` lists what it takes", framework.id)));
        let removed = match &about {
            ErrorSubject::Profile => settings.profile.take().is_some(),
            ErrorSubject::Name(name) | ErrorSubject::Value(name) => remove(&mut settings.set, name),
            ErrorSubject::Config => settings.config.take().is_some(),
            ErrorSubject::Refused(_) => false,
        };
        if !removed {
            let nothing = || used.places.at_name("use", format!("cannot build `{}`", used.system), "").into();
            return Err(Diagnostics::from_list(errors).unwrap_or_else(nothing));
        }
    }
}

/// The traps that the settings fall into. A configuration that cannot be read gives no warnings here.
pub(super) fn warnings(framework: &Framework, used: &Use, read_config: &ReadConfig<'_>) -> Vec<Diagnostic> {
    let config = native(framework, used, read_config).ok().flatten();
    let help = format!("`whenstop rules explain {}` says what each value does", framework.id);
    framework.traps(&settings(used, config)).into_iter().map(|trap| placed(trap, used, &help)).collect()
}

/// Reads the native configuration that the stack file names.
fn native(framework: &Framework, used: &Use, read_config: &ReadConfig<'_>) -> Result<Option<ConfigText>, Diagnostic> {
    let Some(path) = &used.config else { return Ok(None) };
    if framework.config.is_empty() {
        let what = format!("{} `{}` reads no configuration file (`{path}`)", framework.kind, framework.id);
        return Err(used.places.at_name("config", what, "give its parameters with `set = { name = value }`"));
    }
    read_config(path).map(Some).map_err(|error| {
        let why = error.what.trim_start_matches("cannot read: ");
        let what = format!("cannot read `{}`: {why}", error.at.path);
        used.places.at_value("config", what, error.help.clone())
    })
}

/// Locates an error in the stack file if it has no place yet, and adds `otherwise` if it has no help.
fn placed(SettingsError { error, about }: SettingsError, used: &Use, otherwise: &str) -> Diagnostic {
    if !error.at.path.is_empty() {
        return error;
    }
    let help = if error.help.is_empty() { otherwise } else { &error.help };
    let (what, places) = (&error.what, &used.places);
    match about {
        ErrorSubject::Config => places.at_value("config", what, help),
        ErrorSubject::Profile => places.at_value("profile", what, help),
        ErrorSubject::Name(name) => places.at_name(&format!("set.{name}"), what, help),
        ErrorSubject::Value(name) => places.at_value(&format!("set.{name}"), what, help),
        ErrorSubject::Refused(_) => places.at_name("set", what, help),
    }
}

/// Removes the value with a dotted name, where dots may also stand for nested tables.
fn remove(set: &mut Map<String, Value>, name: &str) -> bool {
    if set.shift_remove(name).is_some() {
        return true;
    }
    name.match_indices('.').any(|(dot, _)| {
        set.get_mut(&name[..dot]).and_then(Value::as_object_mut).is_some_and(|inner| remove(inner, &name[dot + 1..]))
    })
}
