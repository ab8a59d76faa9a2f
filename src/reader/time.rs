//! Times as recordings write them.

use super::json::{self, Written};
use crate::transcript::Instant;

/// A time: ISO 8601 with a zone, with an offset, or without a zone (read as UTC); or a number since
/// 1970 in seconds, milliseconds, microseconds or nanoseconds, told apart by its size.
pub(super) fn instant<'a>(raw: impl Written<'a>) -> Option<Instant> {
    match json::number(raw) {
        Some(number) => since_1970(number),
        None => iso(json::string(raw)?.trim()),
    }
}

/// As [`instant`], of a value that was parsed.
pub(super) fn of_value(value: &serde_json::Value) -> Option<Instant> {
    instant(&*serde_json::value::to_raw_value(value).ok()?)
}

/// ISO 8601.
pub(super) fn iso(text: &str) -> Option<Instant> {
    if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
        return Some(Instant(stamp.as_millisecond()));
    }
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    let stamp = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Instant(stamp.timestamp().as_millisecond()))
}

/// A number since 1970. Seconds reach 1e11 in the year 5138, so anything larger is a finer unit.
fn since_1970(number: f64) -> Option<Instant> {
    let scale = match number.abs() {
        size if size < 1e11 => 1e3,
        size if size < 1e14 => 1.0,
        size if size < 1e17 => 1e-3,
        size if size < 1e20 => 1e-6,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "below 1e14 by the arms above")]
    Some(Instant((number * scale).round() as i64))
}

/// RFC 3339 in UTC with milliseconds; empty for a time no calendar has.
pub(super) fn rfc3339(instant: Instant) -> String {
    jiff::Timestamp::from_millisecond(instant.0).map(|stamp| format!("{stamp:.3}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn every_spelling_of_one_instant_is_the_same_instant() {
        for spelling in [
            "\"2026-01-05T10:00:00Z\"",
            "\"2026-01-05T12:00:00+02:00\"",
            "\"2026-01-05T10:00:00.000000000Z\"",
            "\"2026-01-05T10:00:00\"",
            "\"2026-01-05 10:00:00\"",
            "1767607200",
            "1767607200.0",
            "1767607200000",
            "\"1767607200000000000\"",
        ] {
            let raw: &RawValue = serde_json::from_str(spelling).unwrap();
            assert_eq!(instant(raw), Some(Instant(1_767_607_200_000)), "{spelling}");
        }
        assert_eq!(rfc3339(Instant(1_767_607_200_123)), "2026-01-05T10:00:00.123Z");
        for wrong in ["\"yesterday\"", "true", "1e300"] {
            let raw: &RawValue = serde_json::from_str(wrong).unwrap();
            assert_eq!(instant(raw), None, "{wrong}");
        }
    }
}
