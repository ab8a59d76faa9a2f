//! Typed access to a TOML table that knows where each value stands and which keys were never asked for.

use std::cell::RefCell;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Location, nearest};

/// The text of a stack file and its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'t> {
    pub(super) path: &'t str,
    pub(super) text: &'t str,
}

impl Source<'_> {
    /// An error at byte `offset`.
    pub(super) fn error(&self, offset: usize, what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Location::in_text(self.path, self.text, offset), what, help)
    }
}

/// A value and the byte it stands at.
pub(super) type Placed<'t> = (&'t DeValue<'t>, usize);

/// The fields of one table.
pub(super) struct Fields<'t> {
    source: Source<'t>,
    table: &'t DeTable<'t>,
    offset: usize,
    asked: RefCell<Vec<&'static str>>,
}

impl<'t> Fields<'t> {
    /// The fields of `table`, which stands at byte `offset`.
    pub(super) fn new(source: Source<'t>, table: &'t DeTable<'t>, offset: usize) -> Self {
        Self { source, table, offset, asked: RefCell::default() }
    }

    /// The fields of a nested table.
    pub(super) fn nested(&self, value: &'t DeValue<'t>, offset: usize, what: &str) -> Result<Self, Diagnostic> {
        match value {
            DeValue::Table(table) => Ok(Self::new(self.source, table, offset)),
            other => Err(self.error_at(
                offset,
                format!("{what} is {} and should be a table", article(other)),
                "write it as `{ key = value, … }`",
            )),
        }
    }

    /// An error at the table itself.
    pub(super) fn error_here(&self, what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        self.source.error(self.offset, what, help)
    }

    /// An error at byte `offset` of the file.
    pub(super) fn error_at(&self, offset: usize, what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        self.source.error(offset, what, help)
    }

    /// Where the value of `key` stands.
    pub(super) fn location_of(&self, key: &'static str) -> Location {
        let offset = self.find(key).map_or(self.offset, |value| value.span().start);
        Location::in_text(self.source.path, self.source.text, offset)
    }

    fn find(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    /// The value of `key` and where it stands.
    pub(super) fn value(&self, key: &'static str) -> Option<(&'t DeValue<'t>, usize)> {
        self.asked.borrow_mut().push(key);
        self.find(key).map(|value| (value.get_ref(), value.span().start))
    }

    /// The fields of the table under `key`.
    pub(super) fn table(&self, key: &'static str) -> Result<Self, Diagnostic> {
        match self.value(key) {
            Some((value, offset)) => self.nested(value, offset, &format!("`{key}`")),
            None => Err(self.error_here(format!("no `{key}`"), format!("add `{key} = {{ … }}`"))),
        }
    }

    /// Every key with its value.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'t str, &'t DeValue<'t>)> {
        self.table.iter().map(|(key, value)| (key.get_ref().as_ref(), value.get_ref()))
    }

    /// True when `key` holds a table.
    pub(super) fn is_table(&self, key: &'static str) -> bool {
        matches!(self.value(key), Some((DeValue::Table(_), _)))
    }

    /// True when `key` is there; asking counts as knowing it.
    pub(super) fn has(&self, key: &'static str) -> bool {
        self.value(key).is_some()
    }

    fn wrong(&self, key: &str, offset: usize, value: &DeValue<'_>, wanted: &str) -> Diagnostic {
        self.error_at(
            offset,
            format!("`{key}` is {} and should be {wanted}", article(value)),
            format!("give `{key}` {wanted}"),
        )
    }

    /// A string.
    pub(super) fn string(&self, key: &'static str) -> Result<Option<String>, Diagnostic> {
        match self.value(key) {
            None => Ok(None),
            Some((DeValue::String(text), _)) => Ok(Some(text.to_string())),
            Some((other, offset)) => Err(self.wrong(key, offset, other, "a string")),
        }
    }

    /// A list of strings.
    pub(super) fn strings(&self, key: &'static str) -> Result<Option<Vec<String>>, Diagnostic> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let texts = list.into_iter().map(|(value, offset)| match value {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(self.wrong(key, offset, other, "a list of strings")),
        });
        texts.collect::<Result<_, _>>().map(Some)
    }

    /// A boolean.
    pub(super) fn boolean(&self, key: &'static str) -> Result<Option<bool>, Diagnostic> {
        match self.value(key) {
            None => Ok(None),
            Some((DeValue::Boolean(value), _)) => Ok(Some(*value)),
            Some((other, offset)) => Err(self.wrong(key, offset, other, "true or false")),
        }
    }

    /// A finite number.
    pub(super) fn number(&self, key: &'static str) -> Result<Option<f64>, Diagnostic> {
        let Some((value, offset)) = self.value(key) else { return Ok(None) };
        let number = match value {
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|n| n as f64),
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => None,
        };
        match number.filter(|number| number.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(key, offset, value, "a finite number")),
        }
    }

    /// A whole number from 1 to 4294967295.
    pub(super) fn count(&self, key: &'static str) -> Result<Option<u32>, Diagnostic> {
        let Some((value, offset)) = self.value(key) else { return Ok(None) };
        let count = match value {
            DeValue::Integer(integer) => u32::from_str_radix(integer.as_str(), integer.radix()).ok(),
            _ => None,
        };
        match count.filter(|&count| count > 0) {
            Some(count) => Ok(Some(count)),
            None => Err(self.wrong(key, offset, value, "a whole number of at least 1")),
        }
    }

    /// A list, each item with its place.
    pub(super) fn list(&self, key: &'static str) -> Result<Option<Vec<Placed<'t>>>, Diagnostic> {
        match self.value(key) {
            None => Ok(None),
            Some((DeValue::Array(items), _)) => {
                Ok(Some(items.iter().map(|item| (item.get_ref(), item.span().start)).collect()))
            }
            Some((other, offset)) => Err(self.wrong(key, offset, other, "a list")),
        }
    }

    /// A non-empty list of tables.
    pub(super) fn required_tables(
        &self,
        key: &'static str,
        help: &str,
    ) -> Result<Vec<(&'t DeTable<'t>, usize)>, Diagnostic> {
        let mut tables = Vec::new();
        for (value, offset) in self.list(key)?.unwrap_or_default() {
            match value {
                DeValue::Table(table) => tables.push((table, offset)),
                other => return Err(self.wrong(key, offset, other, "a list of tables")),
            }
        }
        if tables.is_empty() {
            self.finish()?;
            return Err(self.error_here(format!("no `[[{key}]]`"), help));
        }
        Ok(tables)
    }

    /// Refuses the first key nobody asked for.
    pub(super) fn finish(&self) -> Result<(), Diagnostic> {
        let asked = self.asked.borrow();
        let mut unknown: Vec<(usize, &str)> = self
            .table
            .iter()
            .filter(|(key, _)| !asked.iter().any(|known| *known == key.get_ref()))
            .map(|(key, _)| (key.span().start, key.get_ref().as_ref()))
            .collect();
        unknown.sort_unstable();
        let Some((offset, key)) = unknown.first() else { return Ok(()) };
        let help = match nearest(key, asked.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                format!("known here: {}", asked.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "))
            }
        };
        Err(self.error_at(*offset, format!("unknown key `{key}`"), help))
    }
}

/// A TOML value as JSON. Dates become strings; numbers that JSON cannot hold become null.
pub(super) fn to_json(value: &DeValue<'_>) -> serde_json::Value {
    use serde_json::Value;
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(float) => float.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| to_json(item.get_ref())).collect()),
        DeValue::Table(table) => Value::Object(
            table.iter().map(|(key, value)| (key.get_ref().to_string(), to_json(value.get_ref()))).collect(),
        ),
    }
}

fn article(value: &DeValue<'_>) -> String {
    let kind = value.type_str();
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}
