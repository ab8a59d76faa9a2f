//! Reads the limit of a rule and checks that the signal's readings can reach it.

use toml::de::DeValue;

use super::fields::{Fields, Placed, Read, Reported};
use super::hints;
use crate::rule::Comparator;
use crate::signal::SignalInfo;

/// The largest integer that a double distinguishes from its neighbours; readings are doubles.
const LARGEST: i64 = (1 << 53) - 1;

/// Reads the limit under the comparator's key. `info` is `None` if the signal is unknown.
pub(super) fn read(fields: &Fields<'_>, comparator: Comparator, info: Option<&SignalInfo>) -> Read<Option<f64>> {
    let key = comparator.name();
    let Some(placed) = fields.value(key) else { return Ok(None) };
    let limit = number(fields, key, placed, info)?;
    let Some(info) = info else { return Ok(Some(limit)) };
    match never(comparator, limit, info) {
        None => Ok(Some(limit)),
        Some(why) => {
            let what = format!("`{key} = {limit}`: {why}");
            Err(fields.error_at_value(key, what, advice(comparator, limit, info)))
        }
    }
}

fn number(fields: &Fields<'_>, key: &'static str, (value, span): Placed<'_>, info: Option<&SignalInfo>) -> Read<f64> {
    match value {
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) if number.abs() <= LARGEST => Ok(number as f64),
            _ => Err(fields.too_large(key, integer.as_str(), span, LARGEST)),
        },
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(number) if number.is_infinite() && !float.as_str().contains("inf") => {
                Err(fields.too_large(key, float.as_str(), span, LARGEST))
            }
            _ => {
                let what = format!("`{key}` is {}, which no reading passes or fails", float.as_str());
                Err(fields.error_at(span, what, "write a number, or leave the rule out"))
            }
        },
        DeValue::String(text) => Err(text_limit(fields, key, text, span, info)),
        _ => Err(fields.wrong(key, (value, span), "a number")),
    }
}

/// Reads a limit written as text: `"5m"`, `"300"`, `"200k"`.
fn text_limit(
    fields: &Fields<'_>,
    key: &str,
    text: &str,
    span: std::ops::Range<usize>,
    info: Option<&SignalInfo>,
) -> Reported {
    let unit = info.map_or("", |info| info.unit);
    let seconds = hints::duration(text).filter(|_| unit == "s");
    let help = match seconds.or_else(|| hints::plain_number(text)) {
        Some(number) if unit == "s" => format!("write `{key} = {number}`, in seconds"),
        Some(number) => format!("write `{key} = {number}`"),
        None => format!("write a number without quotes and without a unit: `{key} = …`"),
    };
    let what = match info {
        Some(info) if unit == "s" => format!("`{key}` is the text `{text}`, and `{}` is a number of seconds", info.id),
        Some(info) => format!("`{key}` is the text `{text}`, and `{}` is a number ({unit})", info.id),
        None => format!("`{key}` is the text `{text}` and should be a number"),
    };
    fields.error_at(span, what, help)
}

/// Why a rule with this limit would never or always hold. All signals except metrics count upwards from 0.
fn never(comparator: Comparator, limit: f64, info: &SignalInfo) -> Option<String> {
    if info.unit == "as reported" {
        return None;
    }
    let is_never_below = format!("`{}` is never below 0", info.id);
    match comparator {
        Comparator::AtLeast if limit <= 0.0 => Some(format!("{is_never_below}, so the rule fires at once")),
        Comparator::MoreThan if limit < 0.0 => Some(format!("{is_never_below}, so the rule fires at once")),
        Comparator::Equals | Comparator::AtMost if limit < 0.0 => Some(format!("{is_never_below} and never fires")),
        Comparator::LessThan if limit <= 0.0 => Some(format!("{is_never_below}, so the rule never fires")),
        _ => None,
    }
}

fn advice(comparator: Comparator, limit: f64, info: &SignalInfo) -> String {
    let unit = match info.unit {
        "s" => "seconds",
        "share" => return "give a share above 0, up to 1".to_owned(),
        "usd" => "dollars",
        "0/1" => return "this signal is 0 or 1: leave the limit out".to_owned(),
        unit => unit,
    };
    match comparator {
        Comparator::AtLeast | Comparator::MoreThan if limit == 0.0 => {
            format!("0 does not mean \"off\": leave the rule out, or give a limit in {unit}")
        }
        _ => format!("give a limit above 0, in {unit}"),
    }
}
