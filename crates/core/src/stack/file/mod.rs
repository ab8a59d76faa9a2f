//! Stack files: TOML into stacks, with errors that name line, column and the nearest known key.

mod cap;
mod clause;
mod fields;

use toml::de::DeTable;

use super::Stack;
use crate::diagnostic::{Diagnostic, Location};
use fields::{Fields, Source};

/// What a stack file holds, in file order.
#[derive(Clone, Debug)]
pub struct StackFile {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// One `[[stack]]`.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Rules of one's own.
    Own(Stack),
    /// A system or preset by name.
    Use(Use),
}

impl Entry {
    /// The stack's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(stack) => &stack.name,
            Self::Use(used) => &used.name,
        }
    }
}

/// A system or preset by name, to be looked up.
#[derive(Clone, Debug)]
pub struct Use {
    /// The stack's name in tables; by default the system's, with its profile.
    pub name: String,
    /// The system or preset.
    pub system: String,
    /// The profile.
    pub profile: Option<String>,
    /// Path of its native configuration, relative to the stack file.
    pub config: Option<String>,
    /// Settings under the system's own names.
    pub set: serde_json::Map<String, serde_json::Value>,
    /// Where `use` stands, for errors of the system.
    pub at: Location,
}

impl StackFile {
    /// Reads the text of a stack file; `path` is for messages.
    ///
    /// The first thing that is wrong is the error: what, line and column, and how to fix it.
    pub fn parse(path: &str, text: &str) -> Result<Self, Diagnostic> {
        let source = Source { path, text };
        let document = DeTable::parse(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            let what = error.message().lines().next().unwrap_or("not TOML").to_owned();
            source.error(offset, what, "a stack file is TOML; see `whenstop rules --help` for an example")
        })?;
        let fields = Fields::new(source, document.get_ref(), 0);
        let mut entries = Vec::new();
        for (table, offset) in fields.required_tables("stack", "a stack file is a list of `[[stack]]` tables")? {
            let entry = read_entry(&Fields::new(source, table, offset))?;
            if entries.iter().any(|other: &Entry| other.name() == entry.name()) {
                let what = format!("two stacks are named `{}`", entry.name());
                return Err(source.error(offset, what, "give each stack a name of its own"));
            }
            entries.push(entry);
        }
        fields.finish()?;
        Ok(Self { entries })
    }
}

fn read_entry(fields: &Fields<'_>) -> Result<Entry, Diagnostic> {
    let name = fields.string("name")?;
    if let Some(system) = fields.string("use")? {
        return read_use(fields, name, system);
    }
    let Some(name) = name else {
        return Err(fields.error_here("a stack without a `name`", "add `name = \"…\"`: tables are keyed by it"));
    };
    let mut clauses = Vec::new();
    for (value, offset) in fields.list("any")?.unwrap_or_default() {
        clauses.push(clause::read(&fields.nested(value, offset, "a clause")?)?);
    }
    let cap = if fields.has("cap") { Some(cap::read(&fields.table("cap")?)?) } else { None };
    if clauses.is_empty() && cap.is_none() {
        return Err(fields.error_here(
            format!("stack `{name}` has no rule"),
            "add `any = [{ signal = \"steps\", at_least = 50 }]`, a `cap`, or `use = \"…\"`",
        ));
    }
    fields.finish()?;
    Ok(Entry::Own(Stack { name, clauses, cap }))
}

fn read_use(fields: &Fields<'_>, name: Option<String>, system: String) -> Result<Entry, Diagnostic> {
    let at = fields.location_of("use");
    let profile = fields.string("profile")?;
    let config = fields.string("config")?;
    let set = match fields.value("set") {
        None => serde_json::Map::new(),
        Some((value, offset)) => match fields::to_json(value) {
            serde_json::Value::Object(map) => map,
            _ => return Err(fields.error_at(offset, "`set` is not a table", "write `set = { name = value }`")),
        },
    };
    fields.finish()?;
    let name = name.unwrap_or_else(|| match &profile {
        Some(profile) => format!("{system} ({profile})"),
        None => system.clone(),
    });
    Ok(Entry::Use(Use { name, system, profile, config, set, at }))
}
