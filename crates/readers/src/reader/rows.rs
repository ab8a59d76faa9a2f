//! The values of a file of many: the elements of an array, one a line, or one after the other; and an
//! object whose fields go by several names.

use serde_json::value::RawValue;

use super::format::Raw;
use super::json;
use super::reading::{Reading, Record};
use crate::diagnostic::Diagnostic;

/// An object as its fields. Formats that changed their spelling (snake and camel case, old and new
/// names) ask for a field by all its names.
#[derive(Clone, Debug, Default)]
pub(super) struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Object<'a> {
    /// The object that `raw` is; `None` when it is none.
    pub(super) fn of(raw: &'a RawValue) -> Option<Self> {
        json::fields_of(raw).map(Self)
    }

    /// The object under `raw`; reported and empty when it is something else, empty when it is absent.
    pub(super) fn part(raw: Raw<'a>, field: &str, out: &mut Reading<'_>) -> Self {
        let object = raw.and_then(Self::of);
        if let Some(raw) = raw.filter(|_| object.is_none()) {
            out.wrong(raw, field, "an object");
        }
        object.unwrap_or_default()
    }

    /// The object that `raw` is; reported and `None` when it is something else.
    pub(super) fn required(raw: &'a RawValue, field: &str, out: &mut Reading<'_>) -> Option<Self> {
        let object = Self::of(raw);
        if object.is_none() {
            out.wrong(raw, field, "an object");
        }
        object
    }

    /// The object under `raw`, or `other` when there is none.
    pub(super) fn of_or(raw: Raw<'a>, other: Self) -> Self {
        raw.and_then(Self::of).unwrap_or(other)
    }

    /// The first of `names` that the object has and that is not null.
    pub(super) fn get(&self, names: &[&str]) -> Raw<'a> {
        let value = |name: &&str| self.0.iter().rev().find(|(key, raw)| key == name && raw.get() != "null");
        names.iter().find_map(value).map(|(_, raw)| *raw)
    }

    /// The decoded short string under the first of `names` that has one; whatever else is there is passed over.
    pub(super) fn word(&self, names: &[&str]) -> Option<String> {
        self.get(names).and_then(json::word)
    }

    /// The object under the first of `names`; empty when there is none.
    pub(super) fn within(&self, names: &[&str]) -> Self {
        self.get(names).and_then(Self::of).unwrap_or_default()
    }

    /// The fields in file order.
    pub(super) fn fields(&self) -> &[(String, &'a RawValue)] {
        &self.0
    }
}

/// The values a record holds: the elements of an array, the one object, the values of its lines, or
/// those that follow each other. What cannot be read is reported and left out.
pub(super) fn values<'r>(record: &Record<'r>, out: &mut Reading<'_>) -> Vec<&'r RawValue> {
    match serde_json::from_str::<&RawValue>(record.text) {
        Ok(whole) => elements(whole).unwrap_or_else(|| vec![whole]),
        Err(error) => {
            let stands_alone = |line: &str| serde_json::from_str::<&RawValue>(line).is_ok();
            let mut lines = record.text.lines().map(str::trim).filter(|line| !line.is_empty());
            if lines.by_ref().take(3).any(stands_alone) {
                return lines_of(record, out);
            }
            let mut values = Vec::new();
            for value in serde_json::Deserializer::from_str(record.text).into_iter::<&RawValue>() {
                match value {
                    Ok(value) => values.push(value),
                    Err(_) if values.is_empty() => out.error(record.broken(record.text, &error)),
                    Err(error) => out.error(record.broken(record.text, &error)),
                }
            }
            values
        }
    }
}

/// The elements of an array; `None` when it is none.
pub(super) fn elements(raw: &RawValue) -> Option<Vec<&RawValue>> {
    if !raw.get().starts_with('[') {
        return None;
    }
    serde_json::from_str(raw.get()).ok()
}

fn lines_of<'r>(record: &Record<'r>, out: &mut Reading<'_>) -> Vec<&'r RawValue> {
    let mut values = Vec::new();
    for line in record.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match serde_json::from_str::<&RawValue>(line) {
            Ok(value) => values.push(value),
            Err(error) => {
                let broken = record.broken(line, &error);
                out.error(Diagnostic { what: format!("this line is left out: {}", broken.what), ..broken });
            }
        }
    }
    values
}
