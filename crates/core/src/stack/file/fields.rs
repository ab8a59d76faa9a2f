//! Typed access to a TOML table. It knows the position of each value and which keys were never read.
//!
//! An error is added to a list and reading continues, so that all errors in a file are found at once. The failed value
//! is [`Reported`]: the caller need not report anything more, and no follow-up error arises.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::hints::{self, Level};
use crate::diagnostic::{Diagnostic, did_you_mean, nearest};
use crate::signal::{self, SignalInfo};

/// An error that is already in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reported;

/// A value, or an error that is already in the list.
pub(super) type Read<T> = Result<T, Reported>;

/// All values, if each could be read. Reads the rest of them after an error, too.
pub(super) fn all<T>(values: impl Iterator<Item = Read<T>>) -> Read<Vec<T>> {
    values.collect::<Vec<_>>().into_iter().collect()
}

/// The text of a stack file, its path, and the errors found so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'t> {
    pub(super) path: &'t str,
    pub(super) text: &'t str,
    pub(super) told: &'t RefCell<Vec<Diagnostic>>,
    /// Where the limits stand of the rules read so far; for a rule without a limit, its signal.
    pub(super) limits: &'t RefCell<Vec<Range<usize>>>,
    /// Signals of the caller that may be named in addition to the built-in ones.
    pub(super) own: &'static [SignalInfo],
}

impl Source<'_> {
    /// Adds an error about the bytes `span` of the text.
    pub(super) fn error(&self, span: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> Reported {
        self.told.borrow_mut().push(Diagnostic::in_text(self.path, self.text, span, what, help));
        Reported
    }
}

/// A value and its byte range.
pub(super) type Placed<'t> = (&'t DeValue<'t>, Range<usize>);

/// The fields of one table.
pub(super) struct Fields<'t> {
    source: Source<'t>,
    table: &'t DeTable<'t>,
    span: Range<usize>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'t> Fields<'t> {
    /// The fields of `table`, whose byte range is `span`.
    pub(super) fn new(source: Source<'t>, table: &'t DeTable<'t>, span: Range<usize>) -> Self {
        Self { source, table, span, asked: RefCell::default() }
    }

    /// The fields of a nested table. `example` shows how to write it, for the error message.
    pub(super) fn nested(&self, (value, span): Placed<'t>, what: &str, example: &str) -> Read<Self> {
        match value {
            DeValue::Table(table) => Ok(Self::new(self.source, table, span)),
            other => {
                let what = format!("{what} is {} and should be a table", described(other));
                Err(self.error_at(span, what, format!("write it as `{example}`")))
            }
        }
    }

    /// The signal of that name: one of the caller's, or a built-in one.
    pub(super) fn signal(&self, id: &str) -> Option<&'static SignalInfo> {
        self.source.own.iter().find(|signal| signal.id == id).or_else(|| signal::find(id))
    }

    /// Notes that the limit of a rule is the value of `key`.
    pub(super) fn put_limit(&self, key: &str) {
        self.source.limits.borrow_mut().push(self.value_span(key));
    }

    /// Where the limits stand of the rules read since this was asked before, in the order of
    /// [`Condition::rules`](crate::rule::Condition::rules).
    pub(super) fn take_limits(&self) -> Vec<Range<usize>> {
        self.source.limits.take()
    }

    /// The byte range of the table.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Reports an error at the table itself.
    pub(super) fn error_here(&self, what: impl Into<String>, help: impl Into<String>) -> Reported {
        self.error_at(self.span(), what, help)
    }

    /// Reports an error at the name of `key`, or at the table if it has no such key.
    pub(super) fn error_at_key(&self, key: &str, what: impl Into<String>, help: impl Into<String>) -> Reported {
        self.error_at(self.key_span(key).unwrap_or_else(|| self.span()), what, help)
    }

    /// Reports an error at the value of `key`, or at the table if it has no such key.
    pub(super) fn error_at_value(&self, key: &str, what: impl Into<String>, help: impl Into<String>) -> Reported {
        self.error_at(self.value_span(key), what, help)
    }

    /// The byte range of the value of `key`, or of the table if it has no such key.
    fn value_span(&self, key: &str) -> Range<usize> {
        self.find(key).map_or_else(|| self.span(), |(_, value)| value.span())
    }

    /// Reports an error at a byte range of the file.
    pub(super) fn error_at(&self, span: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> Reported {
        self.source.error(span, what, help)
    }

    /// The byte range of the name of `key`.
    pub(super) fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.find(key).map(|(name, _)| name.span())
    }

    fn find(&self, key: &str) -> Option<(&'t Spanned<Cow<'t, str>>, &'t Spanned<DeValue<'t>>)> {
        self.table.iter().find(|(name, _)| name.get_ref() == key)
    }

    /// The value of `key` with its byte range.
    pub(super) fn value(&self, key: &'static str) -> Option<Placed<'t>> {
        self.asked.borrow_mut().push(key);
        self.find(key).map(|(_, value)| (value.get_ref(), value.span()))
    }

    /// The fields of the table under `key`; the caller has checked that the key exists.
    pub(super) fn table(&self, key: &'static str, example: &str) -> Read<Self> {
        match self.value(key) {
            Some(placed) => self.nested(placed, &format!("`{key}`"), &format!("{key} = {example}")),
            None => Err(self.error_here(format!("no `{key}`"), format!("add `{key} = {example}`"))),
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

    /// True when `key` exists. The key then counts as known.
    pub(super) fn has(&self, key: &'static str) -> bool {
        self.value(key).is_some()
    }

    /// Reports a value of the wrong type.
    pub(super) fn wrong(&self, key: &str, (value, span): Placed<'_>, wanted: &str) -> Reported {
        let help = hints::rewritten(key, value, wanted).unwrap_or_else(|| format!("give `{key}` {wanted}"));
        self.error_at(span, format!("`{key}` is {} and should be {wanted}", described(value)), help)
    }

    /// Reads a value that is `wanted`.
    pub(super) fn read<T>(
        &self,
        key: &'static str,
        wanted: &str,
        read: impl FnOnce(&'t DeValue<'t>) -> Option<T>,
    ) -> Read<Option<T>> {
        let Some((value, span)) = self.value(key) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.wrong(key, (value, span), wanted))
    }

    /// Reads a string.
    pub(super) fn string(&self, key: &'static str) -> Read<Option<String>> {
        self.read(key, "a string", |value| value.as_str().map(str::to_owned))
    }

    /// Reads a list of strings.
    pub(super) fn strings(&self, key: &'static str) -> Read<Option<Vec<String>>> {
        let Some(items) = self.read(key, "a list of strings", DeValue::as_array)? else { return Ok(None) };
        let text = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(self.wrong(key, (other, item.span()), "a list of strings")),
        };
        all(items.iter().map(text)).map(Some)
    }

    /// Reads a boolean.
    pub(super) fn boolean(&self, key: &'static str) -> Read<Option<bool>> {
        self.read(key, "true or false", DeValue::as_bool)
    }

    /// Reads a whole number from 1 to 4294967295.
    pub(super) fn count(&self, key: &'static str) -> Read<Option<u32>> {
        let Some((value, span)) = self.value(key) else { return Ok(None) };
        let DeValue::Integer(integer) = value else {
            return Err(self.wrong(key, (value, span), "a whole number from 1"));
        };
        let written = integer.as_str();
        match i128::from_str_radix(written, integer.radix()) {
            Ok(..1) => {
                let what = format!("`{key}` is {written} and should be a whole number from 1");
                Err(self.error_at(span, what, "0 does not mean \"off\": leave it out, or write 1 or more"))
            }
            number => match number.ok().and_then(|number| u32::try_from(number).ok()) {
                Some(count) => Ok(Some(count)),
                None => Err(self.too_large(key, written, span, u32::MAX)),
            },
        }
    }

    /// Reports a number larger than `max`.
    pub(super) fn too_large(
        &self,
        key: &str,
        written: &str,
        span: Range<usize>,
        max: impl std::fmt::Display,
    ) -> Reported {
        self.error_at(span, format!("`{key}` is too large: {written}"), format!("write at most {max}"))
    }

    /// Reads a list, with the byte range of each item.
    pub(super) fn list(&self, key: &'static str) -> Read<Option<Vec<Placed<'t>>>> {
        self.read(key, "a list", |value| {
            Some(value.as_array()?.iter().map(|item| (item.get_ref(), item.span())).collect())
        })
    }

    /// The keys that were never read, with their values, in order of position.
    pub(super) fn unknown(&self) -> Vec<(&'t str, Range<usize>, &'t DeValue<'t>)> {
        let asked = self.asked.borrow();
        let mut unknown: Vec<_> = self
            .table
            .iter()
            .filter(|(key, _)| !asked.iter().any(|known| *known == key.get_ref()))
            .map(|(key, value)| (key.get_ref().as_ref(), key.span(), value.get_ref()))
            .collect();
        unknown.sort_by_key(|(_, span, _)| span.start);
        unknown
    }

    /// Reports every key that was never read.
    pub(super) fn finish(&self, level: Level<'_>) -> Read<()> {
        let mut result = Ok(());
        for (key, span, value) in self.unknown() {
            let asked = self.asked.borrow();
            let (what, help) = hints::unknown_key(level, key, value).unwrap_or_else(|| {
                let help = did_you_mean(nearest(key, asked.iter().copied()), &known(&asked));
                (format!("unknown key `{key}`"), help)
            });
            drop(asked);
            result = Err(self.error_at(span, what, help));
        }
        result
    }
}

/// The keys that were read, each once; if there are many, where to look them up.
fn known(asked: &[&str]) -> String {
    let mut keys: Vec<&str> = Vec::new();
    for key in asked {
        if !keys.contains(key) {
            keys.push(key);
        }
    }
    if keys.len() > 8 {
        return "`whenstop rules --help` shows a stack file with the keys there are".to_owned();
    }
    format!("known here: {}", keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "))
}

/// Describes a value by its type, and by the value itself if it is short.
fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.len() <= 24 => format!("the text `{text}`"),
        DeValue::String(_) => "a text".to_owned(),
        DeValue::Integer(integer) => format!("the number {}", integer.as_str()),
        DeValue::Float(float) => format!("the number {}", float.as_str()),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Converts a TOML value to JSON; a date becomes a string. A number that JSON cannot represent is reported.
fn to_json(source: Source<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Read<serde_json::Value> {
    use serde_json::Value;
    let span = value.span();
    match value.get_ref() {
        DeValue::String(text) => Ok(Value::String(text.to_string())),
        DeValue::Boolean(value) => Ok(Value::Bool(*value)),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).map(Value::from).map_err(|_| {
                let help = format!("write at most {}", i64::MAX);
                source.error(span, format!("`{key}` is too large: {}", integer.as_str()), help)
            })
        }
        DeValue::Float(float) => {
            let number = float.as_str().parse::<f64>().ok().and_then(serde_json::Number::from_f64);
            number.map(Value::Number).ok_or_else(|| {
                source.error(
                    span,
                    format!("`{key}` is {}, which is no finite number", float.as_str()),
                    "write a number",
                )
            })
        }
        DeValue::Datetime(date) => Ok(Value::String(date.to_string())),
        DeValue::Array(items) => all(items.iter().map(|item| to_json(source, key, item))).map(Value::Array),
        DeValue::Table(table) => json_fields(source, table).map(Value::Object),
    }
}

/// The fields of a table as JSON.
fn json_fields(source: Source<'_>, table: &DeTable<'_>) -> Read<serde_json::Map<String, serde_json::Value>> {
    let field = |(key, value): (&Spanned<Cow<'_, str>>, _)| {
        let key = key.get_ref();
        Ok((key.to_string(), to_json(source, key, value)?))
    };
    Ok(all(table.iter().map(field))?.into_iter().collect())
}

impl Fields<'_> {
    /// Every key with its value as JSON. All of them count as known.
    pub(super) fn json(&self) -> Read<serde_json::Map<String, serde_json::Value>> {
        json_fields(self.source, self.table)
    }
}
