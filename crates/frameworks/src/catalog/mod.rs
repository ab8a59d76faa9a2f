//! Names to strategies: a stack file's own rules, the seed systems, the presets.

use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::preset;
use crate::stack::{Entry, StackFile, Use};
use crate::system::{self, ConfigText};

/// Strategies in the order they were named.
pub type Strategies = Vec<Box<dyn Strategy>>;

/// The strategies of a stack file. `read_config` reads a native configuration named in it.
pub fn strategies(
    file: StackFile,
    read_config: &dyn Fn(&str) -> Result<ConfigText, Diagnostic>,
) -> Result<Strategies, Diagnostic> {
    file.entries
        .into_iter()
        .map(|entry| match entry {
            Entry::Own(stack) => Ok(Box::new(stack) as Box<dyn Strategy>),
            Entry::Use(used) => look_up(used, read_config),
        })
        .collect()
}

/// Every system in every profile, at its default configuration.
pub fn all_systems() -> Result<Strategies, Diagnostic> {
    let mut all = Strategies::new();
    for info in system::SYSTEMS {
        for profile in info.profiles {
            all.push(system_by_name(info.id, Some(profile))?);
        }
    }
    Ok(all)
}

/// One system at its default configuration.
fn system_by_name(id: &str, profile: Option<&str>) -> Result<Box<dyn Strategy>, Diagnostic> {
    let name = profile.map_or_else(|| id.to_owned(), |profile| format!("{id} ({profile})"));
    by_name(Use {
        name,
        system: id.to_owned(),
        profile: profile.map(str::to_owned),
        config: None,
        set: serde_json::Map::new(),
        at: Location::default(),
    })
}

/// One system or preset at its defaults, as named on the command line.
pub fn by_name(used: Use) -> Result<Box<dyn Strategy>, Diagnostic> {
    look_up(used, &|path| Err(Diagnostic::new(Location::file(path), "no configuration here", "use a stack file")))
}

fn look_up(
    used: Use,
    read_config: &dyn Fn(&str) -> Result<ConfigText, Diagnostic>,
) -> Result<Box<dyn Strategy>, Diagnostic> {
    if let Some(info) = system::find(&used.system) {
        let config = used.config.as_deref().map(read_config).transpose()?;
        let settings = system::Settings { name: used.name, profile: used.profile, config, set: used.set };
        return (info.build)(&settings).map_err(|error| placed(error.0, &used.at));
    }
    if let Some(preset) = preset::find(&used.system) {
        if let Some(config) = used.config {
            let what = format!("preset `{}` reads no configuration file (`{config}`)", preset.id);
            return Err(Diagnostic::new(used.at, what, "give its parameters with `set = { name = value }`"));
        }
        let settings = preset::Settings { variant: used.profile, set: used.set, ..preset::Settings::default() };
        return match preset.strategy(&used.name, &settings) {
            Ok(strategy) => Ok(Box::new(strategy)),
            Err(error) => {
                let help = format!("`whenstop rules explain {}` lists its parameters and variants", preset.id);
                Err(Diagnostic::new(used.at, error.to_string(), help))
            }
        };
    }
    let known = system::SYSTEMS.iter().map(|info| info.id).chain(preset::ALL.iter().map(|preset| preset.id));
    let help = match nearest(&used.system, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`whenstop rules list` names the systems and presets".to_owned(),
    };
    Err(Diagnostic::new(used.at, format!("no system or preset is called `{}`", used.system), help))
}

/// An error without a place is about the place it was asked for.
fn placed(mut error: Diagnostic, at: &Location) -> Diagnostic {
    if error.at.path.is_empty() {
        error.at = at.clone();
    }
    error
}
