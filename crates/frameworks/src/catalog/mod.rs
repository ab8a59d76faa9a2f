//! Looks up frameworks by name, builds the strategies of a stack file, and warns of settings that look wrong before any
//! run is replayed.

mod golden;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Diagnostics, Location, nearest};
use crate::framework::{ConfigText, Framework, Kind, Settings};
use crate::stack::{Entry, StackFile, Use, lint};
use crate::{preset, system};

pub use golden::{GOLDEN_CASES, golden_cases};

/// Strategies, in the order they were named.
pub type Strategies = Vec<Arc<dyn Strategy>>;

/// Reads a native configuration file named in a stack file.
pub type ReadConfig<'r> = dyn Fn(&str) -> Result<ConfigText, Diagnostic> + 'r;

/// Every framework: the seed systems in the order of their manuals, then the presets by name.
static ALL: LazyLock<Vec<&'static Framework>> =
    LazyLock::new(|| system::ALL.iter().chain(preset::ALL.iter()).collect());

/// Every framework: the seed systems in the order of their manuals, then the presets by name.
pub fn frameworks() -> impl Iterator<Item = &'static Framework> + Clone {
    ALL.iter().copied()
}

/// The frameworks of one kind.
pub fn of_kind(kind: Kind) -> impl Iterator<Item = &'static Framework> + Clone {
    frameworks().filter(move |framework| framework.kind == kind)
}

/// The framework with this name.
pub fn find(id: &str) -> Option<&'static Framework> {
    frameworks().find(|framework| framework.id == id)
}

/// The framework with this name, or with this name followed by one of its profiles: `openclaw-2026.7`.
pub fn find_with_profile(name: &str) -> Option<(&'static Framework, Option<&'static str>)> {
    let of = |framework: &'static Framework| {
        let profile = name.strip_prefix(framework.id)?.strip_prefix('-')?;
        let known = framework.profiles.iter().find(|known| known.name == profile)?;
        Some((framework, Some(known.name)))
    };
    find(name).map(|framework| (framework, None)).or_else(|| frameworks().find_map(of))
}

/// Every framework of a kind at its shipped defaults, one strategy per profile that can be built without settings. This
/// is what `--stacks system:all` and `--stacks preset:all` mean.
pub fn all(kind: Kind) -> Strategies {
    of_kind(kind).flat_map(at_defaults).collect()
}

fn at_defaults(framework: &'static Framework) -> impl Iterator<Item = Arc<dyn Strategy>> {
    let mut profiles: Vec<Option<&str>> = framework.profile_names().into_iter().map(Some).collect();
    if profiles.is_empty() {
        profiles.push(None);
    }
    profiles.into_iter().enumerate().filter_map(move |(index, profile)| {
        // A preset's bare name means its first profile.
        let named = profile.filter(|_| index > 0 || framework.kind == Kind::System);
        let name = named.map_or_else(|| framework.id.to_owned(), |profile| format!("{} ({profile})", framework.id));
        let settings = Settings { profile: profile.map(str::to_owned), ..Settings::named(name) };
        framework.strategy(&settings).ok()
    })
}

/// The strategies of a stack file, in file order; else every error in its settings and in the configurations it names.
pub fn strategies(file: &StackFile, read_config: &ReadConfig<'_>) -> Result<Strategies, Diagnostics> {
    let mut errors = Vec::new();
    let all = built(file, read_config, &mut errors);
    Diagnostics::of(errors).map_or(Ok(all), Err)
}

/// Parses a stack file and builds its strategies; else returns every error in the file, in its settings and in the
/// configurations it names. `path` is for messages.
pub fn load(path: &str, text: &str, read_config: &ReadConfig<'_>) -> Result<(StackFile, Strategies), Diagnostics> {
    let (file, mut errors) = StackFile::parse_partly(path, text);
    let all = built(&file, read_config, &mut errors);
    Diagnostics::of(errors).map_or(Ok((file, all)), Err)
}

/// The strategies that can be built; the errors of the others are added to `errors`.
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

/// What looks wrong in a stack file that [`load`] accepted: in its rules, its frameworks' settings and their
/// configurations, in file order.
pub fn warnings(file: &StackFile, read_config: &ReadConfig<'_>) -> Vec<Diagnostic> {
    let of_entry = |(index, entry): (usize, &Entry)| match entry {
        Entry::Own(stack) => lint(stack, &file.places(index)),
        Entry::Use(used) => find(&used.system).map_or_else(Vec::new, |it| settings::warnings(it, used, read_config)),
    };
    file.entries.iter().enumerate().flat_map(of_entry).collect()
}

/// One framework at its defaults, as named on the command line.
pub fn by_name(used: &Use) -> Result<Arc<dyn Strategy>, Diagnostics> {
    if let Some(meant) = near(&used.system).filter(|_| find(&used.system).is_none()) {
        let what = format!("no system or preset is called `{}`", used.system);
        return Err(Diagnostic::new(Location::default(), what, format!("did you mean `{meant}`?")).into());
    }
    look_up(used, &|path| Err(Diagnostic::new(Location::file(path), "no configuration here", "use a stack file")))
}

/// The framework that was probably meant, as written on the command line: `preset:roo-code`.
pub fn near(name: &str) -> Option<String> {
    let near = find(near_name(name)?)?;
    Some(format!("{}:{}", near.kind, near.id))
}

fn near_name(name: &str) -> Option<&'static str> {
    nearest(name, frameworks().map(|framework| framework.id))
}

fn look_up(used: &Use, read_config: &ReadConfig<'_>) -> Result<Arc<dyn Strategy>, Diagnostics> {
    if let Some(framework) = find(&used.system) {
        return settings::build(framework, used, read_config);
    }
    let help = match near_name(&used.system) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`whenstop rules list` names the systems and presets".to_owned(),
    };
    let what = format!("no system or preset is called `{}`", used.system);
    Err(used.places.at_name("use", what, help).into())
}
