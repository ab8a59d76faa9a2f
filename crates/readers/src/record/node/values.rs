//! The values in a record that holds many: the elements of an array, one per line, or concatenated.

use serde_json::value::RawValue;

use crate::record::reading::{Reading, Record};
use crate::value::json;

/// The values in a record: the elements of an array, a single object, one value per line, or concatenated values.
/// Invalid values are reported and left out.
pub(super) fn values<'r>(record: &Record<'r>, out: &mut Reading<'_>) -> Vec<&'r str> {
    match serde_json::from_str::<&RawValue>(record.text) {
        Ok(whole) => json::elements(whole).unwrap_or_else(|| vec![whole.get()]),
        Err(error) => {
            let stands_alone = |line: &str| serde_json::from_str::<&RawValue>(line).is_ok();
            let mut lines = record.text.lines().map(str::trim).filter(|line| !line.is_empty());
            if lines.by_ref().take(3).any(stands_alone) {
                return lines_of(record, out);
            }
            let mut values = Vec::new();
            for value in serde_json::Deserializer::from_str(record.text).into_iter::<&RawValue>() {
                match value {
                    Ok(value) => values.push(value.get()),
                    Err(_) if values.is_empty() => out.error(record.broken(record.text, &error)),
                    Err(error) => out.error(record.broken(record.text, &error)),
                }
            }
            values
        }
    }
}

fn lines_of<'r>(record: &Record<'r>, out: &mut Reading<'_>) -> Vec<&'r str> {
    let mut values = Vec::new();
    for line in record.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match serde_json::from_str::<&RawValue>(line) {
            Ok(value) => values.push(value.get()),
            Err(error) => out.broken_line(line, &error),
        }
    }
    values
}
