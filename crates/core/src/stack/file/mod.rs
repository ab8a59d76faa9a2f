//! Parses stack files (TOML). All errors in a file are reported at once, each with line, column and a suggestion.

mod cap;
mod clause;
mod fields;
mod grounds;
mod hints;
mod limit;
mod places;
mod told;

use std::cell::RefCell;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Clause, Guards, Scope, Stack, ToldLimit};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::effect::{Effect, EffectTable};
use crate::rule::{Comparator, Rule};
use crate::signal::SignalInfo;
use fields::{Fields, Read, Reported, Source, all};
pub use grounds::Grounds;
use hints::Level;
pub use places::Places;
use places::SourceText;

/// The contents of a stack file, in file order.
#[derive(Clone, Debug, Default)]
pub struct StackFile {
    /// The `[[stack]]` entries.
    pub entries: Vec<Entry>,
    /// The file's own effects of tools and commands.
    pub effects: EffectTable,
    /// The positions of the entries, in the same order.
    pub(super) places: Vec<Places>,
    /// The certificates of tuned stacks, by stack name.
    grounds: Vec<(String, Grounds)>,
    /// The limits that the agent is told of, by stack name.
    told: Vec<(String, ToldLimit)>,
}

/// One `[[stack]]` entry.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A stack with its own rules.
    Own(Arc<Stack>),
    /// A reference to a system or preset.
    Use(Box<Use>),
    /// A program of the user's own that decides.
    Guard(Box<GuardCommand>),
}

impl Entry {
    /// The stack's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(stack) => &stack.name,
            Self::Use(used) => &used.name,
            Self::Guard(guard) => &guard.name,
        }
    }
}

/// A reference to a system or preset by name; it is not resolved here.
#[derive(Clone, Debug, Default)]
pub struct Use {
    /// The stack's name in tables; by default the system's name, with its profile.
    pub name: String,
    /// The name of the system or preset.
    pub system: String,
    /// The profile, if one is named.
    pub profile: Option<String>,
    /// Path of the system's own configuration file, relative to the stack file.
    pub config: Option<String>,
    /// Settings, under the system's own names.
    pub set: serde_json::Map<String, serde_json::Value>,
    /// Positions of its keys, for errors about the system: `use`, `profile`, `config`, `set.NAME`.
    pub places: Places,
}

/// A guard: a program that is asked for a decision at every point. Nothing is started here.
#[derive(Clone, Debug, Default)]
pub struct GuardCommand {
    /// The stack's name in tables.
    pub name: String,
    /// The program and its arguments; relative paths are relative to the stack file.
    pub command: Vec<String>,
    /// Seconds that it may take for one answer; by default [`Self::TIME_LIMIT`].
    pub time_limit: Option<u32>,
    /// Positions of its keys, for errors: `command`, `time_limit`.
    pub places: Places,
}

impl GuardCommand {
    /// Seconds that a guard may take for one answer, unless it says otherwise.
    pub const TIME_LIMIT: u32 = 10;
}

impl StackFile {
    /// The file of stacks that were not read from one.
    pub fn from_stacks(stacks: &[Arc<Stack>]) -> Self {
        Self { entries: stacks.iter().map(|stack| Entry::Own(Arc::clone(stack))).collect(), ..Self::default() }
    }

    /// Parses the text of a stack file. `path` is used only in messages.
    ///
    /// On failure, returns all errors in the file, in order of position.
    pub fn parse(path: &str, text: &str) -> Result<Self, Diagnostics> {
        Self::parse_with(path, text, &[])
    }

    /// Parses the stacks that are valid and returns the errors in the others, for callers that add errors of their own,
    /// and start the guards whose numbers rules read.
    pub fn parse_partly(path: &str, text: &str) -> (Self, Vec<Diagnostic>) {
        Self::parse_partly_with(path, text, &[])
    }

    /// Parses a stack file whose rules may also name signals of your own. One with the name of a built-in signal
    /// replaces it. Your signals can use only the options that built-in signals have.
    pub fn parse_with(path: &str, text: &str, own: &'static [SignalInfo]) -> Result<Self, Diagnostics> {
        let (mut file, mut errors) = Self::parse_partly_with(path, text, own);
        errors.extend(file.seat(&Guards::default()));
        match Diagnostics::from_list(errors) {
            Some(errors) => Err(errors),
            None => Ok(file),
        }
    }

    fn parse_partly_with(path: &str, text: &str, own: &'static [SignalInfo]) -> (Self, Vec<Diagnostic>) {
        let told = RefCell::new(Vec::new());
        let mut file = Self::default();
        // All errors are in the list already.
        let _ = read(Source { path, text, told: &told, limits: &RefCell::default(), own }, &mut file);
        (file, told.into_inner())
    }

    /// The stack of that name, if it has its own rules; `None` for a system or preset, or if there is no such name.
    pub fn stack(&self, name: &str) -> Option<Arc<Stack>> {
        self.own().find(|stack| stack.name == name).cloned()
    }

    /// The stacks with their own rules.
    #[doc(hidden)]
    pub fn own(&self) -> impl Iterator<Item = &Arc<Stack>> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Own(stack) => Some(stack),
            Entry::Use(_) | Entry::Guard(_) => None,
        })
    }

    /// The certificates of tuned stacks, with the stacks' names.
    pub fn grounds(&self) -> &[(String, Grounds)] {
        &self.grounds
    }

    /// The limit of the stack of that name that the agent is told of, if there is one.
    #[doc(hidden)]
    pub fn told(&self, name: &str) -> Option<ToldLimit> {
        self.told.iter().find(|(stack, _)| stack == name).map(|(_, told)| *told)
    }

    /// Positions of the keys of entry `index`: `any.0` is its first clause, `any.0.1` the limit of that clause's second
    /// rule, `cap` its cap.
    pub fn places(&self, index: usize) -> &Places {
        static NOWHERE: Places = Places::NOWHERE;
        self.places.get(index).unwrap_or(&NOWHERE)
    }
}

/// Builds a rule from its parts: a signal name, a comparator, a limit, and the signal's options as written in a stack
/// file (`window = 10, identity = "name"`). Unlike in a stack file, a limit that makes no sense is accepted. `path` is
/// used only in messages.
pub fn parse_rule(
    path: &str,
    signal: &str,
    comparator: Comparator,
    limit: f64,
    options: &str,
) -> Result<Rule, Diagnostics> {
    let told = RefCell::new(Vec::new());
    let text = format!("options = {{{options}}}");
    let source = Source { path, text: &text, told: &told, limits: &RefCell::default(), own: &[] };
    let read = || {
        let document = parsed(source)?;
        let fields = Fields::new(source, document.get_ref(), 0..0);
        let rule = clause::rule_of(signal, comparator, limit, &fields.table("options", "{}")?);
        fields.finish(Level::Other)?;
        rule
    };
    let rule = read();
    match (Diagnostics::from_list(told.into_inner()), rule) {
        (Some(errors), _) => Err(errors),
        (None, Ok(rule)) => Ok(rule),
        (None, Err(Reported)) => Err(Diagnostic::new(Location::file(path), "not a rule", "").into()),
    }
}

/// Parses the text of a source as TOML.
fn parsed(source: Source<'_>) -> Read<Spanned<DeTable<'_>>> {
    let (document, mut errors) = DeTable::parse_recoverable(source.text);
    errors.sort_by_key(|error| error.span().map_or(0, |span| span.start));
    for error in errors.iter().take(Diagnostics::SYNTAX_ERRORS) {
        let span = error.span().unwrap_or(0..0);
        let what = error.message().lines().next().unwrap_or("not TOML").to_owned();
        let help = match source.text.get(span.start..).and_then(hints::sign_at) {
            Some(comparator) => format!("write `{} = …`", comparator.name()),
            None if what == "duplicate key" => "keep one of them".to_owned(),
            None => "`whenstop rules --help` shows a stack file".to_owned(),
        };
        source.error(span, format!("not TOML: {what}"), help);
    }
    if let Some(next) = errors.get(Diagnostics::SYNTAX_ERRORS) {
        let more = errors.len() - Diagnostics::SYNTAX_ERRORS;
        let what = format!("not TOML: {more} more, from here on");
        source.error(next.span().unwrap_or(0..0), what, "mend the first ones, and look again");
    }
    if errors.is_empty() { Ok(document) } else { Err(Reported) }
}

/// Reads the valid stacks into `file`.
fn read(source: Source<'_>, file: &mut StackFile) -> Read<()> {
    let document = parsed(source)?;
    let text = Arc::new(SourceText { path: source.path.to_owned(), text: source.text.to_owned() });
    let fields = Fields::new(source, document.get_ref(), 0..0);
    let effects = read_effects(&fields);
    let scope = clause::scope(&fields);
    let tables = tables(&fields);
    let finished = fields.finish(Level::File);
    for fields in tables? {
        let mut places = Places::new(text.clone());
        places.put("", Some(fields.span()), None);
        places.put("use", fields.key_span("use"), None);
        places.put("cap", fields.key_span("cap"), None);
        let scope = scope.as_ref().ok().copied().flatten().unwrap_or_default();
        let Ok((entry, grounds, told)) = read_entry(&fields, scope, &mut places) else { continue };
        if file.entries.iter().any(|other| other.name() == entry.name()) {
            let what = format!("two stacks are named `{}`", entry.name());
            let at = if fields.has("name") { "name" } else { "use" };
            let _ = fields.error_at_value(at, what, "give each stack a `name` of its own");
        }
        file.grounds.extend(grounds.map(|grounds| (entry.name().to_owned(), grounds)));
        file.told.extend(told.map(|told| (entry.name().to_owned(), told)));
        file.entries.push(entry);
        file.places.push(places);
    }
    scope?;
    file.effects = effects?;
    finished
}

/// Reads `[effects]`: patterns of tool names, or `$` and the first words of a command, each with its effect.
fn read_effects(file: &Fields<'_>) -> Read<EffectTable> {
    let mut effects = EffectTable::default();
    let wanted = "a table: `\"mcp__jira__*\" = \"handover\"`";
    let mut lines = Ok(());
    for (pattern, value) in file.read("effects", wanted, DeValue::as_table)?.into_iter().flatten() {
        if let Some(Ok(effect)) = value.get_ref().as_str().map(str::parse) {
            effects.add(pattern.get_ref(), effect);
        } else {
            let help = format!("effects are {}", Effect::ALL.map(Effect::name).join(", "));
            lines =
                Err(file.error_at_key("effects", format!("`{}` has no effect of the table", pattern.get_ref()), help));
        }
    }
    lines.map(|()| effects)
}

/// The `[[stack]]` tables of the file; there must be at least one.
fn tables<'t>(file: &Fields<'t>) -> Read<Vec<Fields<'t>>> {
    match file.value("stack") {
        Some((DeValue::Array(items), _)) if !items.is_empty() => {
            all(items.iter().map(|item| file.nested((item.get_ref(), item.span()), "a stack", "[[stack]]")))
        }
        Some((DeValue::Table(_), _)) => {
            let help = "begin each stack with `[[stack]]`, in two brackets";
            Err(file.error_at_key("stack", "`stack` is one table and should be a list of tables", help))
        }
        Some(placed) => Err(file.wrong("stack", placed, "a list of tables")),
        None if file.unknown().is_empty() && file.has("effects") => Ok(Vec::new()),
        None if file.unknown().is_empty() => {
            Err(file.error_here("no `[[stack]]`", "a stack file is a list of `[[stack]]` tables"))
        }
        // Whatever is there instead is reported as an unknown key.
        None => Err(Reported),
    }
}

/// An entry, with what a stack says of itself besides its rules.
type ReadEntry = (Entry, Option<Grounds>, Option<ToldLimit>);

fn read_entry(fields: &Fields<'_>, scope: Scope, places: &mut Places) -> Read<ReadEntry> {
    let name = fields.string("name");
    if fields.has("use") {
        return Ok((read_use(fields, name, places)?, None, None));
    }
    if fields.has("command") {
        return Ok((read_guard(fields, name, places)?, None, None));
    }
    let grounds = grounds::read(fields);
    let own_scope = clause::scope(fields);
    let scope = own_scope.as_ref().ok().copied().flatten().unwrap_or(scope);
    let clauses = match (fields.has("any"), fields.has("all")) {
        (true, true) => {
            let help = "put the `all` inside: `any = [{ all = […] }, …]`";
            Err(fields.error_at_key("all", "a stack with both `any` and `all`", help))
        }
        (_, false) => read_any(fields, scope, places),
        (false, true) => read_whole(fields, scope, places),
    };
    let cap = cap::read(fields, scope);
    // No message is about a limit within the cap.
    drop(fields.take_limits());
    // `told` refers to them: it is read once they are.
    let _ = (fields.has("told"), fields.has("notice"));
    let nothing_unknown = fields.unknown().is_empty();
    let finished = fields.finish(Level::Stack);
    let name = match name {
        Ok(None) if nothing_unknown => {
            Err(fields.error_here("a stack without a `name`", "add `name = \"…\"`: tables are keyed by it"))
        }
        // The misspelled key may be the name itself.
        Ok(None) => Err(Reported),
        Ok(Some(name)) => Ok(name),
        Err(told) => Err(told),
    };
    let (mut clauses, cap) = (clauses?, cap?);
    if clauses.is_empty() && cap.is_none() && nothing_unknown {
        let help = format!("add `any = [{}]`, `cap` or `use`", clause::EXAMPLE);
        return Err(if fields.has("any") {
            fields.error_at_key("any", "`any` is empty: a stack without a rule", help)
        } else {
            fields.error_here("a stack without a rule", help)
        });
    }
    let told = told::read(fields, &mut clauses, cap.as_ref());
    let name = name?;
    finished?;
    own_scope?;
    Ok((Entry::Own(Arc::new(Stack { name, clauses, cap })), grounds?, told?))
}

/// Reads `any = […]`: a list of clauses, each of which acts on its own.
fn read_any(fields: &Fields<'_>, scope: Scope, places: &mut Places) -> Read<Vec<Clause>> {
    let list = fields.list("any")?.unwrap_or_default();
    all(list.into_iter().enumerate().map(|(index, placed)| {
        let fields = fields.nested(placed, "a clause", clause::EXAMPLE)?;
        let clause = clause::read(&fields, scope);
        put_clause(&fields, index, places);
        clause
    }))
}

/// Reads `all = […]` outside a clause: one clause that stops when all parts hold.
fn read_whole(fields: &Fields<'_>, scope: Scope, places: &mut Places) -> Read<Vec<Clause>> {
    let condition = clause::read_all(fields);
    put_clause(fields, 0, places);
    places.put("any.0", fields.key_span("all"), None);
    Ok(vec![Clause { scope, ..Clause::stop_on(condition?) }])
}

/// Records the positions of a clause and its limits.
fn put_clause(fields: &Fields<'_>, index: usize, places: &mut Places) {
    places.put(format!("any.{index}"), Some(fields.span()), None);
    for (rule, limit) in fields.take_limits().into_iter().enumerate() {
        places.put(format!("any.{index}.{rule}"), None, Some(limit));
    }
}

fn read_use(fields: &Fields<'_>, name: Read<Option<String>>, places: &mut Places) -> Read<Entry> {
    let (system, profile, config) = (fields.string("use"), fields.string("profile"), fields.string("config"));
    for key in ["use", "profile", "config"] {
        let value = fields.value(key).map(|(_, span)| span);
        places.put(key, fields.key_span(key), value);
    }
    // Messages about `use` refer to the system's name.
    places.put("use", fields.value("use").map(|(_, span)| span), None);
    places.put("set", fields.key_span("set"), None);
    let set = match fields.value("set") {
        None => Ok(serde_json::Map::new()),
        Some((value @ DeValue::Table(table), span)) => {
            put_settings(table, "set", places);
            fields.nested((value, span), "`set`", "{}").and_then(|set| set.json())
        }
        Some(other) => Err(fields.wrong("set", other, "a table: `set = { name = value }`")),
    };
    let finished = fields.finish(Level::Use(system.as_ref().ok().and_then(Option::as_deref).unwrap_or("the system")));
    let (name, system, profile, config, set) = (name?, system?.unwrap_or_default(), profile?, config?, set?);
    finished?;
    let name = name.unwrap_or_else(|| match &profile {
        Some(profile) => format!("{system} ({profile})"),
        None => system.clone(),
    });
    Ok(Entry::Use(Box::new(Use { name, system, profile, config, set, places: places.clone() })))
}

fn read_guard(fields: &Fields<'_>, name: Read<Option<String>>, places: &mut Places) -> Read<Entry> {
    let (command, time_limit) = (fields.strings("command"), fields.count("time_limit"));
    for key in ["command", "time_limit"] {
        places.put(key, fields.key_span(key), fields.value(key).map(|(_, span)| span));
    }
    let finished = fields.finish(Level::Guard);
    let (name, command, time_limit) = (name?, command?.unwrap_or_default(), time_limit?);
    finished?;
    if command.is_empty() {
        let help = "name the program and its arguments: `command = [\"python3\", \"my_guard.py\"]`";
        return Err(fields.error_at_value("command", "`command` is empty", help));
    }
    let name = name
        .ok_or_else(|| fields.error_here("a guard without a `name`", "add `name = \"…\"`: tables are keyed by it"))?;
    Ok(Entry::Guard(Box::new(GuardCommand { name, command, time_limit, places: places.clone() })))
}

/// Records the positions of the settings, nested ones under dotted paths.
fn put_settings(table: &DeTable<'_>, above: &str, places: &mut Places) {
    for (key, value) in table {
        let path = format!("{above}.{}", key.get_ref());
        places.put(&*path, Some(key.span()), Some(value.span()));
        if let DeValue::Table(inner) = value.get_ref() {
            put_settings(inner, &path, places);
        }
    }
}
