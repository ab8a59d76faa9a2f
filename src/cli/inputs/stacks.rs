//! Which stacks to use, and the files they are read from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::{GuardArgs, RecordedRuns, starter};
use crate::aggregate::{ChainPlace, Tried, chain_places};
use crate::catalog::{self, StartGuard, Strategies};
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::compare::TunedStack;
use crate::decision::{NumberOf, Strategy};
use crate::diagnostic::{Diagnostic, Diagnostics, Location, did_you_mean, nearest};
use crate::effects::EffectTable;
use crate::framework::{ConfigText, FrameworkKind};
use crate::reader::{LARGEST_WHOLE, add_input, read_whole_text};
use crate::stack::{Entry, GuardCommand, Guards, Stack, StackFile, ToldLimit, Use};

/// The stacks to use.
#[derive(Clone, Debug, Default, Args)]
pub(in crate::cli) struct StackArgs {
    /// A stack file, or `preset:NAME`, `preset:all`, `system:NAME`, `system:all`. Repeatable.
    #[arg(long, value_name = "FILE|preset:NAME|system:NAME")]
    pub(in crate::cli) stacks: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) guards: GuardArgs,
}

impl StackArgs {
    /// The stacks of these names, without further guards.
    pub(in crate::cli) fn named(stacks: Vec<String>) -> Self {
        Self { stacks, guards: GuardArgs::default() }
    }

    /// Takes the starter stacks if none is named.
    pub(in crate::cli) fn or_starter(
        &mut self,
        runs: &RecordedRuns<'_>,
        output: &Output,
    ) -> Result<(), CommandFailure> {
        if self.stacks.is_empty() && self.guards.is_empty() {
            self.stacks.push(starter(runs)?);
            output.note(
                "no `--stacks`: these are the starter stacks, with budgets that a tenth of these runs went beyond; \
                 `whenstop ci init PATH` writes them to a file",
            );
        }
        Ok(())
    }

    /// The `[effects]` of the stack files among `paths`; earlier files win.
    pub(in crate::cli) fn effects_of(paths: &[PathBuf]) -> Result<EffectTable, CommandFailure> {
        let mut all = EffectTable::default();
        for path in paths {
            let (name, text) = stack_text(path, "give a stack file with `[effects]`").map_err(CommandFailure::usage)?;
            all.extend(&StackFile::parse(&name, &text).map_err(CommandFailure::usage)?.effects);
        }
        Ok(all)
    }

    /// Loads the stacks, in the order named; there must be one.
    pub(in crate::cli) fn load_some(&self) -> Result<LoadedStacks, CommandFailure> {
        let all = self.load()?;
        if all.strategies.is_empty() {
            let help = "name one with `--stacks`, or a program of your own with `--guard`";
            return Err(CommandFailure::arguments("no stack is named", help));
        }
        Ok(all)
    }

    /// Loads the stacks, in the order named. Guards are started.
    pub(in crate::cli) fn load(&self) -> Result<LoadedStacks, CommandFailure> {
        let mut all = LoadedStacks::default();
        let given = self.guards.load().map_err(CommandFailure::usage)?;
        for guard in &given {
            all.guards.add(guard);
        }
        for (source, named) in self.stacks.iter().enumerate() {
            let loaded = self.load_one(named, &mut all).map_err(CommandFailure::usage)?;
            for (strategy, definition) in loaded {
                if strategy.number().is_some() {
                    all.guards.add(&strategy);
                    continue;
                }
                all.add(strategy, definition, named).map_err(CommandFailure::usage)?;
            }
            all.sources.resize(all.strategies.len(), source);
        }
        for guard in given.into_iter().filter(|guard| guard.number().is_none()) {
            all.sources.push(self.stacks.len() + all.strategies.len());
            all.strategies.push(guard);
        }
        for (index, strategy) in all.strategies.iter().enumerate() {
            if all.strategies[..index].iter().any(|other| other.name() == strategy.name()) {
                let what = format!("two stacks are named `{}`", strategy.name());
                return Err(CommandFailure::arguments(what, "rename one of them"));
            }
        }
        all.refuse_unread()?;
        if all.strategies.is_empty() && !self.stacks.is_empty() {
            let what = "these files hold no stack";
            return Err(CommandFailure::arguments(what, "begin one with `[[stack]]`"));
        }
        Ok(all)
    }

    /// The strategies that one argument names. Its file, if it is one, is added to `all`.
    fn load_one(&self, named: &str, all: &mut LoadedStacks) -> Result<Vec<Defined>, Diagnostics> {
        let by_kind = |kind| {
            catalog::all(kind).into_iter().map(|strategy| {
                let definition = Entry::Use(Box::new(as_in_tables(strategy.name())));
                (strategy, definition)
            })
        };
        match named.split_once(':') {
            Some(("preset", "all")) => return Ok(by_kind(FrameworkKind::Preset).collect()),
            Some(("system", "all")) => return Ok(by_kind(FrameworkKind::System).collect()),
            Some(("preset" | "system", name)) => return shipped(name),
            _ => {}
        }
        let path = Path::new(named);
        if !path.exists() && catalog::find(&as_in_tables(named).system).is_some() {
            return shipped(named);
        }
        // A stack file given as text is in no folder: its guards are started in the current one.
        let at = if named.contains('\n') { Path::new(TEXT) } else { path };
        let start = |guard: &GuardCommand| self.guards.start(guard, at).map(Some);
        let (file, strategies) = load_with(path, &start, all.guards.clone())?;
        let definitions = file.parsed.entries.clone();
        all.files.push(file);
        Ok(strategies.into_iter().zip(definitions).collect())
    }
}

/// A strategy, and where it comes from.
type Defined = (Arc<dyn Strategy>, Entry);

/// Whether two of one name are the same. Guards, and rules with a configuration of their own, cannot be compared.
fn are_same(one: &Entry, other: &Entry) -> bool {
    match (one, other) {
        (Entry::Own(one), Entry::Own(other)) => format!("{one:?}") == format!("{other:?}"),
        (Entry::Use(one), Entry::Use(other)) if one.config.is_none() && other.config.is_none() => {
            let profile = |used: &Use| match &used.profile {
                Some(profile) => Some(profile.clone()),
                None => catalog::find(&used.system)?.profile_names().first().map(ToString::to_string),
            };
            one.system == other.system && one.set == other.set && profile(one) == profile(other)
        }
        _ => false,
    }
}

/// A framework as tables name it: `langchain`, or `langchain (AgentExecutor)` with its profile.
pub(in crate::cli) fn as_in_tables(name: &str) -> Use {
    let (system, profile) = match name.strip_suffix(')').and_then(|name| name.split_once(" (")) {
        Some((system, profile)) => (system, Some(profile.to_owned())),
        None => (name, None),
    };
    Use { name: name.to_owned(), system: system.to_owned(), profile, ..Use::default() }
}

fn shipped(name: &str) -> Result<Vec<Defined>, Diagnostics> {
    let used = as_in_tables(name);
    Ok(vec![(catalog::by_name(&used)?, Entry::Use(Box::new(used)))])
}

/// Stacks that are loaded, and the files they come from, each read and parsed once.
#[derive(Default)]
pub(in crate::cli) struct LoadedStacks {
    /// The strategies, in the order named.
    pub(in crate::cli) strategies: Strategies,
    /// For each strategy, the number of the argument it comes from.
    sources: Vec<usize>,
    /// What those of arguments are.
    definitions: Vec<Entry>,
    /// The guards whose numbers the rules read.
    guards: Guards,
    /// The stack files, in the order named.
    pub(in crate::cli) files: Vec<LoadedFile>,
}

/// A stack file.
pub(in crate::cli) struct LoadedFile {
    /// Its path, or [`TEXT`].
    pub(in crate::cli) name: String,
    /// Its text.
    pub(in crate::cli) text: String,
    /// What it says.
    pub(in crate::cli) parsed: StackFile,
}

impl LoadedStacks {
    /// Adds a strategy of the argument `named`. Of two that are the same, under the same name, one is kept; others of one
    /// name are told apart by where they come from.
    fn add(&mut self, strategy: Arc<dyn Strategy>, definition: Entry, named: &str) -> Result<(), Diagnostics> {
        let name = strategy.name();
        let mut same_name = self.strategies.iter().zip(&self.definitions).filter(|(it, _)| it.name() == name);
        let (strategy, definition) = match (same_name.next(), definition) {
            (Some((_, first)), definition) if are_same(first, &definition) => return Ok(()),
            (Some(_), Entry::Use(used)) if used.config.is_none() => {
                let kind = match catalog::find(&used.system) {
                    Some(framework) => framework.kind,
                    None => FrameworkKind::Preset,
                };
                let used = Use { name: format!("{kind}:{name}"), ..*used };
                (catalog::by_name(&used)?, Entry::Use(Box::new(used)))
            }
            (Some(_), Entry::Own(stack)) => {
                let renamed = Arc::new(Stack { name: format!("{name} ({named})"), ..(*stack).clone() });
                let entries = self.files.last_mut().map(|file| &mut file.parsed.entries);
                for entry in entries.into_iter().flatten() {
                    if matches!(entry, Entry::Own(own) if own.name == stack.name) {
                        *entry = Entry::Own(Arc::clone(&renamed));
                    }
                }
                (Arc::clone(&renamed) as Arc<dyn Strategy>, Entry::Own(renamed))
            }
            (_, definition) => (strategy, definition),
        };
        self.strategies.push(strategy);
        self.definitions.push(definition);
        Ok(())
    }

    /// Refuses a guard that answers with a number that no rule reads.
    fn refuse_unread(&self) -> Result<(), CommandFailure> {
        let read: Vec<&str> =
            self.strategies.iter().flat_map(|strategy| strategy.numbers()).filter_map(|number| number.id()).collect();
        let unread = self.guards.numbers().find(|number| number.id().is_none_or(|id| !read.contains(&id)));
        let Some(guard) = unread.and_then(NumberOf::strategy) else { return Ok(()) };
        let number = guard.number().map(|number| number.name).unwrap_or_default();
        let what = format!("the guard `{}` answers with a number, and no rule reads it", guard.name());
        let help =
            format!("name it in a stack file: `{{ signal = \"guard:{}.{number}\", at_least = … }}`", guard.name());
        Err(CommandFailure::arguments(what, help))
    }

    /// Strategies that come from no file.
    pub(in crate::cli) fn without_files(strategies: Strategies) -> Self {
        Self { sources: vec![0; strategies.len()], strategies, ..Self::default() }
    }

    /// Stacks that are defined in no file.
    pub(in crate::cli) fn from_stacks(stacks: &[Arc<Stack>]) -> Self {
        let strategies: Strategies = stacks.iter().map(|stack| Arc::clone(stack) as Arc<dyn Strategy>).collect();
        let file = LoadedFile { name: TEXT.to_owned(), text: String::new(), parsed: StackFile::from_stacks(stacks) };
        Self { files: vec![file], ..Self::without_files(strategies) }
    }

    /// The place of each strategy among all that are tried, by its name.
    pub(in crate::cli) fn places(&self) -> BTreeMap<String, ChainPlace> {
        let mut tried = Vec::new();
        for (strategy, source) in self.strategies.iter().zip(&self.sources) {
            tried.push(Tried { definition: self.own_stack(strategy.name()), source: *source });
        }
        let names = self.strategies.iter().map(|strategy| strategy.name().to_owned());
        names.zip(chain_places(&tried)).collect()
    }

    /// The stack of that name that one of the files defines.
    pub(in crate::cli) fn own_stack(&self, name: &str) -> Option<&Stack> {
        self.own().find(|stack| stack.name == name).map(|stack| &**stack)
    }

    /// The stacks that the files define.
    pub(in crate::cli) fn own(&self) -> impl Iterator<Item = &Arc<Stack>> {
        self.files.iter().flat_map(|file| file.parsed.own())
    }

    /// The limit on steps of the stack of that name, if one of the files defines it.
    pub(in crate::cli) fn step_limit(&self, name: &str) -> Option<u32> {
        self.own_stack(name)?.step_limit()
    }

    /// What the stack of that name says of a limit that the agent is told of.
    pub(in crate::cli) fn told_limit(&self, name: &str) -> Option<ToldLimit> {
        self.files.iter().find_map(|file| file.parsed.told(name))
    }

    /// The limit on steps of the stack of that name, if it does not say that the agent is told of it.
    pub(in crate::cli) fn untold_limit(&self, name: &str) -> Option<u32> {
        if self.told_limit(name).is_some() { None } else { self.step_limit(name) }
    }

    /// The `[effects]` of all stack files; earlier files win.
    pub(in crate::cli) fn effects(&self) -> EffectTable {
        let mut all = EffectTable::default();
        for file in &self.files {
            all.extend(&file.parsed.effects);
        }
        all
    }

    /// The tuned stacks in the files, with the grounds of their certificates.
    pub(in crate::cli) fn grounds(&self) -> Vec<TunedStack> {
        let mut all = Vec::new();
        for file in &self.files {
            all.extend(TunedStack::from_file(&file.parsed));
        }
        all
    }
}

/// Reads a stack file and its strategies, without its guards: nothing is started.
pub(in crate::cli) fn load_stack_file(path: &Path) -> Result<(StackFile, Strategies), Diagnostics> {
    let (file, strategies) = load_with(path, &|_| Ok(None), Guards::default())?;
    Ok((file.parsed, strategies))
}

/// Reads a stack file and its strategies. If there is no such file, the error suggests the preset or system of that
/// name.
fn load_with(path: &Path, start: &StartGuard<'_>, given: Guards) -> Result<(LoadedFile, Strategies), Diagnostics> {
    let name = path.display().to_string();
    let near = catalog::near(&name).filter(|_| !path.exists());
    let help = did_you_mean(near.as_deref(), "give a stack file, `preset:NAME` or `system:NAME`");
    let (name, text) = stack_text(path, &help)?;
    let read = |config: &str| read_config(Path::new(&name), config);
    let (parsed, strategies) = catalog::load_starting(&name, &text, &read, start, given)?;
    Ok((LoadedFile { name, text, parsed }, strategies))
}

/// The path shown for a stack file that is given as text.
const TEXT: &str = "stacks";

/// Name and text of a stack file. An argument of several lines is the text itself, as given by programs that have no
/// file.
fn stack_text(path: &Path, help: &str) -> Result<(String, String), Diagnostic> {
    match path.to_str() {
        Some(text) if text.contains('\n') => Ok((TEXT.to_owned(), text.to_owned())),
        _ => Ok((path.display().to_string(), read_text(path, help)?)),
    }
}

/// Reads a native configuration named in the stack file at `path`; its own path is relative to that file.
pub(in crate::cli) fn read_config(path: &Path, config: &str) -> Result<ConfigText, Diagnostic> {
    let config = path.parent().unwrap_or(Path::new("")).join(config);
    let text = read_text(&config, &near_file(&config))?;
    Ok(ConfigText { path: config.display().to_string(), text })
}

/// Advice for a missing file: similar names in its folder.
fn near_file(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let near = nearest(&wanted, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`? "));
    format!("{}the path is relative to the stack file", near.unwrap_or_default())
}

/// Reads a text file that the command depends on.
pub(in crate::cli) fn read_text(path: &Path, help: &str) -> Result<String, Diagnostic> {
    add_input(path);
    read_whole_text(path, LARGEST_WHOLE).map_err(|error| {
        Diagnostic::new(Location::file(path.display().to_string()), format!("cannot read: {error}"), help)
    })
}
