//! Looks up frameworks by name, builds the strategies of a stack file, and warns of settings that look wrong before any
//! run is replayed.

mod settings;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Diagnostics, Location, nearest};
use crate::framework::{ConfigText, Framework, FrameworkKind, Settings};
use crate::stack::{Entry, GuardCommand, Guards, StackFile, Use, lint};
use crate::{preset, system};

/// Strategies, in the order they were named.
pub type Strategies = Vec<Arc<dyn Strategy>>;

/// Reads a native configuration file named in a stack file.
pub type ReadConfig<'r> = dyn Fn(&str) -> Result<ConfigText, Diagnostic> + 'r;

/// Starts a guard named in a stack file, or leaves it out.
pub type StartGuard<'r> = dyn Fn(&GuardCommand) -> Result<Option<Arc<dyn Strategy>>, Diagnostic> + 'r;

/// Every framework: the seed systems in the order of their manuals, then the presets by name.
static ALL: LazyLock<Vec<&'static Framework>> = LazyLock::new(|| system::ALL.iter().chain(preset::all()).collect());

/// Every framework: the seed systems in the order of their manuals, then the presets by name.
pub fn frameworks() -> impl Iterator<Item = &'static Framework> + Clone {
    ALL.iter().copied()
}

/// The frameworks of one kind.
pub fn by_kind(kind: FrameworkKind) -> impl Iterator<Item = &'static Framework> + Clone {
    frameworks().filter(move |framework| framework.kind == kind)
}

/// The framework with this name.
pub fn find(id: &str) -> Option<&'static Framework> {
    preset::find(id).or_else(|| system::ALL.iter().find(|system| system.id == id))
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
pub fn all(kind: FrameworkKind) -> Strategies {
    by_kind(kind).flat_map(at_defaults).collect()
}

fn at_defaults(framework: &'static Framework) -> impl Iterator<Item = Arc<dyn Strategy>> {
    let mut profiles: Vec<Option<&str>> = framework.profile_names().into_iter().map(Some).collect();
    if profiles.is_empty() {
        profiles.push(None);
    }
    profiles.into_iter().enumerate().filter_map(move |(index, profile)| {
        // A preset's bare name means its first profile.
        let named = profile.filter(|_| index > 0 || framework.kind == FrameworkKind::System);
        let name = match named {
            Some(profile) => format!("{} ({profile})", framework.id),
            None => framework.id.to_owned(),
        };
        let settings = Settings { profile: profile.map(str::to_owned), ..Settings::named(name) };
        framework.strategy(&settings).ok()
    })
}

/// The strategies of a stack file, in file order; else every error in its settings and in the configurations it names.
/// A guard is an error: nothing is started here.
pub fn strategies(file: &StackFile, read_config: &ReadConfig<'_>) -> Result<Strategies, Diagnostics> {
    let mut errors = Vec::new();
    let all = built(&mut file.clone(), read_config, &start_nothing, Guards::default(), &mut errors);
    unless_refused(all, errors)
}

/// What was built, unless there were errors.
fn unless_refused<T>(built: T, errors: Vec<Diagnostic>) -> Result<T, Diagnostics> {
    if let Some(errors) = Diagnostics::from_list(errors) { Err(errors) } else { Ok(built) }
}

/// Refuses a guard, where a stack file must not start programs.
fn start_nothing(guard: &GuardCommand) -> Result<Option<Arc<dyn Strategy>>, Diagnostic> {
    let help = "compare, check, accept and explain start guards";
    Err(guard.places.at_name("command", "a guard, where no program is started", help))
}

/// Parses a stack file and builds its strategies: own stacks, systems and presets. Else returns every error in the file
/// and in its settings. `path` is for messages; a file that names native configurations is read with [`load_with`].
pub fn load(path: &str, text: &str) -> Result<(StackFile, Strategies), Diagnostics> {
    load_with(path, text, &|config| {
        let help = "give the parameters with `set = { name = value }`";
        Err(Diagnostic::new(Location::file(config), "this program reads no configuration files", help))
    })
}

/// The same, for a file that may name native configurations, which `read_config` reads.
pub fn load_with(path: &str, text: &str, read_config: &ReadConfig<'_>) -> Result<(StackFile, Strategies), Diagnostics> {
    load_starting(path, text, read_config, &start_nothing, Guards::default())
}

/// The same, for a file that may also name guards, which `start` starts, in file order, if the file has no other errors.
/// Its rules may read the numbers of these, and of the guards in `given`.
pub fn load_starting(
    path: &str,
    text: &str,
    read_config: &ReadConfig<'_>,
    start: &StartGuard<'_>,
    given: Guards,
) -> Result<(StackFile, Strategies), Diagnostics> {
    let (mut file, mut errors) = StackFile::parse_partly(path, text);
    let all = built(&mut file, read_config, start, given, &mut errors);
    unless_refused((file, all), errors)
}

/// The strategies that can be built; the errors of the others are added to `errors`.
fn built(
    file: &mut StackFile,
    read_config: &ReadConfig<'_>,
    start: &StartGuard<'_>,
    mut guards: Guards,
    errors: &mut Vec<Diagnostic>,
) -> Strategies {
    let mut shipped = Vec::new();
    for entry in &file.entries {
        let Entry::Use(used) = entry else { continue };
        match look_up(used, read_config) {
            Ok(strategy) => shipped.push(strategy),
            Err(more) => errors.extend(more),
        }
    }
    let mut started = Vec::new();
    for entry in &file.entries {
        let Entry::Guard(guard) = entry else { continue };
        if !errors.is_empty() {
            return Strategies::new();
        }
        match start(guard) {
            Ok(Some(strategy)) => {
                guards.add(&strategy);
                started.push(strategy);
            }
            Ok(None) => guards.add_unstarted(&guard.name),
            Err(error) => errors.push(error),
        }
    }
    errors.extend(file.seat(&guards));
    if !errors.is_empty() {
        return Strategies::new();
    }
    let (mut shipped, mut started) = (shipped.into_iter(), started.into_iter().peekable());
    let mut all = Strategies::new();
    for entry in &file.entries {
        match entry {
            Entry::Own(stack) => all.push(Arc::clone(stack) as Arc<dyn Strategy>),
            Entry::Use(_) => all.extend(shipped.next()),
            Entry::Guard(guard) => all.extend(started.next_if(|strategy| strategy.name() == guard.name)),
        }
    }
    all
}

/// What looks wrong in a stack file that [`load_with`] accepted: in its rules, its frameworks' settings and their
/// configurations, in file order.
pub fn warnings(file: &StackFile, read_config: &ReadConfig<'_>) -> Vec<Diagnostic> {
    let of_entry = |(index, entry): (usize, &Entry)| match entry {
        Entry::Own(stack) => lint(stack, file.places(index)),
        Entry::Use(used) => match find(&used.system) {
            Some(framework) => settings::warnings(framework, used, read_config),
            None => Vec::new(),
        },
        Entry::Guard(_) => Vec::new(),
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
