//! Names to strategies: a stack file's own rules, the seed systems, the presets; and what looks wrong in their
//! settings before any run is seen.

mod settings;

use std::sync::Arc;

use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Diagnostics, Location, nearest};
use crate::framework::Trap;
use crate::preset;
use crate::stack::{Entry, Places, StackFile, Use, lint};
use crate::system::{self, About, ConfigText};

/// Strategies in the order they were named.
pub type Strategies = Vec<Arc<dyn Strategy>>;

/// Reads a native configuration that a stack file names.
pub type ReadConfig<'r> = dyn Fn(&str) -> Result<ConfigText, Diagnostic> + 'r;

/// The strategies of a stack file, in file order. The errors are those of its settings and of the configurations it
/// names, all of them.
pub fn strategies(file: &StackFile, read_config: &ReadConfig<'_>) -> Result<Strategies, Diagnostics> {
    let mut errors = Vec::new();
    let all = built(file, read_config, &mut errors);
    Diagnostics::of(errors).map_or(Ok(all), Err)
}

/// A stack file and its strategies. `path` is for messages. The errors are all there are: of the file, of its settings
/// and of the configurations it names.
pub fn load(path: &str, text: &str, read_config: &ReadConfig<'_>) -> Result<(StackFile, Strategies), Diagnostics> {
    let (file, mut errors) = StackFile::parse_partly(path, text);
    let all = built(&file, read_config, &mut errors);
    Diagnostics::of(errors).map_or(Ok((file, all)), Err)
}

/// The strategies that can be built; what is wrong with the others goes to `errors`.
fn built(file: &StackFile, read_config: &ReadConfig<'_>, errors: &mut Vec<Diagnostic>) -> Strategies {
    let mut all = Strategies::new();
    for entry in &file.entries {
        match entry {
            Entry::Own(stack) => all.push(Arc::clone(stack) as Arc<dyn Strategy>),
            Entry::Use(used) => match look_up(used, read_config) {
                Ok(strategy) => all.push(strategy),
                Err(more) => errors.extend(more),
            },
        }
    }
    all
}

/// What looks wrong in a stack file that [`load`] took: in its rules, its systems' configurations and its presets'
/// settings, in file order.
pub fn warnings(file: &StackFile, read_config: &ReadConfig<'_>) -> Vec<Diagnostic> {
    let of_entry = |(index, entry): (usize, &Entry)| match entry {
        Entry::Own(stack) => lint(stack, &file.places(index)),
        Entry::Use(used) => settings_warnings(used, read_config),
    };
    file.entries.iter().enumerate().flat_map(of_entry).collect()
}

/// The traps that the settings of a system or preset step into. A configuration that cannot be read has none here.
fn settings_warnings(used: &Use, read_config: &ReadConfig<'_>) -> Vec<Diagnostic> {
    if system::find(&used.system).is_some() {
        let config = used.config.as_deref().and_then(|path| read_config(path).ok());
        let settings = settings::of_system(used, config);
        let traps = system::traps(&used.system, &settings).into_iter();
        return traps.map(|(trap, about)| placed(trap, &about, &used.places)).collect();
    }
    let Some(preset) = preset::find(&used.system) else { return Vec::new() };
    let traps = preset.traps(&settings::of_preset(used)).into_iter();
    let warning = |trap: Trap| {
        let help = format!("`whenstop rules explain {}` says what each value does", preset.id);
        used.places.at_value(&format!("set.{}", trap.about), trap.words, help)
    };
    traps.map(warning).collect()
}

/// Every system in every profile, at its default configuration.
pub fn all_systems() -> Result<Strategies, Diagnostics> {
    let mut all = Strategies::new();
    for info in system::SYSTEMS {
        for profile in info.profiles {
            let (system, profile) = (info.id.to_owned(), Some((*profile).to_owned()));
            let name = profile.as_ref().map_or_else(String::new, |profile| format!("{system} ({profile})"));
            all.push(by_name(&Use { name, system, profile, ..Use::default() })?);
        }
    }
    Ok(all)
}

/// One system or preset at its defaults, as named on the command line.
pub fn by_name(used: &Use) -> Result<Arc<dyn Strategy>, Diagnostics> {
    let known = system::find(&used.system).is_some() || preset::find(&used.system).is_some();
    if let Some(meant) = near(&used.system).filter(|_| !known) {
        let what = format!("no system or preset is called `{}`", used.system);
        return Err(Diagnostic::new(Location::default(), what, format!("did you mean `{meant}`?")).into());
    }
    look_up(used, &|path| Err(Diagnostic::new(Location::file(path), "no configuration here", "use a stack file")))
}

/// The system or preset that was probably meant, as it is named on the command line: `preset:roo-code`.
pub fn near(name: &str) -> Option<String> {
    let near = near_name(name)?;
    Some(if system::find(near).is_some() { format!("system:{near}") } else { format!("preset:{near}") })
}

fn near_name(name: &str) -> Option<&'static str> {
    nearest(name, system::SYSTEMS.iter().map(|info| info.id).chain(preset::ALL.iter().map(|preset| preset.id)))
}

fn look_up(used: &Use, read_config: &ReadConfig<'_>) -> Result<Arc<dyn Strategy>, Diagnostics> {
    if let Some(info) = system::find(&used.system) {
        return settings::build_system(info, used, read_config);
    }
    if let Some(preset) = preset::find(&used.system) {
        return settings::build_preset(preset, used);
    }
    let help = match near_name(&used.system) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`whenstop rules list` names the systems and presets".to_owned(),
    };
    let what = format!("no system or preset is called `{}`", used.system);
    Err(used.places.at_name("use", what, help).into())
}

/// An error without a place is about what it names of the stack file.
fn placed(error: Diagnostic, about: &About, places: &Places) -> Diagnostic {
    let Diagnostic { at, what, help, .. } = &error;
    match about {
        _ if !at.path.is_empty() => error,
        About::Config => places.at_value("config", what, help),
        About::Profile => places.at_value("profile", what, help),
        About::Option(key) => places.at_name(&format!("set.{key}"), what, help),
        About::Value(key) => places.at_value(&format!("set.{key}"), what, help),
    }
}
