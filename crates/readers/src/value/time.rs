//! Parses times in the spellings that recordings use.

use crate::transcript::Instant;
use crate::value::json::{self, Written};

/// A time: ISO 8601 with a zone, with an offset, or without a zone (read as UTC); or a number since
/// 1970 in seconds, milliseconds, microseconds or nanoseconds, told apart by its size.
pub(crate) fn instant<'a>(raw: impl Written<'a>) -> Option<Instant> {
    let found = instant_in(raw.written());
    raw.tried("a time, as in `2026-01-05T10:00:00Z`", found.is_some());
    found
}

fn instant_in(raw: &str) -> Option<Instant> {
    if let Some(text) = json::body(raw)
        && let Some(instant) = utc(text)
    {
        return Some(instant);
    }
    match json::number(raw) {
        Some(number) => since_1970(number),
        None => Instant::from_iso(json::string(raw)?.trim()),
    }
}

/// Fast path for `2026-01-05T10:00:00.123Z`, also with a space, with `+00:00` and without a zone, which nearly every recorder
/// writes: the general parser takes longer than reading the rest of a short line. `None` for any other spelling.
fn utc(text: &str) -> Option<Instant> {
    let [y0, y1, y2, y3, b'-', mo0, mo1, b'-', d0, d1, b'T' | b' ', h0, h1, b':', mi0, mi1, b':', s0, s1, rest @ ..] =
        text.as_bytes()
    else {
        return None;
    };
    let mut all_digits = true;
    let mut number = |tens: u8, ones: u8| {
        let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
        all_digits &= tens < 10 && ones < 10;
        i64::from(tens) * 10 + i64::from(ones)
    };
    let (year, month, day) = (number(*y0, *y1) * 100 + number(*y2, *y3), number(*mo0, *mo1), number(*d0, *d1));
    let (hour, minute, second) = (number(*h0, *h1), number(*mi0, *mi1), number(*s0, *s1));
    let fraction = rest.strip_suffix(b"Z").or_else(|| rest.strip_suffix(b"+00:00")).unwrap_or(rest);
    let millis = match fraction {
        [] => 0,
        [b'.', f0, f1, f2] => number(*f0, *f1) * 10 + number(b'0', *f2),
        [b'.', fraction @ ..] if (1..=9).contains(&fraction.len()) => {
            if !fraction.iter().all(u8::is_ascii_digit) {
                return None;
            }
            // Milliseconds; finer digits are dropped.
            fraction.iter().take(3).zip([100, 10, 1]).map(|(digit, unit)| i64::from(digit - b'0') * unit).sum()
        }
        _ => return None,
    };
    let plain = all_digits
        && (1970..=9998).contains(&year)
        && (1..=12).contains(&month)
        && day >= 1
        && day <= days_of(year, month)
        && hour < 24
        && minute < 60
        && second < 60;
    let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    if plain { Some(Instant(seconds * 1000 + millis)) } else { None }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let years = year - 1970;
    // Leap days before this year: 1968 was the last leap year before 1970, and 1900 was not a leap year.
    let leap_days = (years + 1) / 4 - (years + 69) / 100 + (years + 369) / 400;
    let before = [0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334].get(usize::try_from(month).unwrap_or(0));
    let leap_day = i64::from(month > 2 && is_leap(year));
    years * 365 + leap_days + before.unwrap_or(&0) + leap_day + day - 1
}

/// A number since 1970. Seconds reach 1e11 in the year 5138, so larger numbers are in a finer unit.
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

#[cfg(test)]
mod tests {
    use chrono::Datelike as _;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    proptest! {
        #[test]
        fn the_plain_spelling_is_read_as_the_parser_reads_it(
            text in "(1969|1970|19[0-9]{2}|2[0-9]{3}|9999)-(0[1-9]|1[0-3])-([0-2][0-9]|3[0-2])[T ]([01][0-9]|2[0-5]):[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?(Z|\\+00:00|\\+02:00)?"
        ) {
            if let Some(read) = utc(&text) {
                prop_assert_eq!(Instant::from_iso(&text), Some(read));
            }
        }
    }

    #[test]
    fn every_day_of_the_calendar_is_read() {
        let first = chrono::NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
        for day in first.iter_days().take_while(|day| day.year() < 2411) {
            let text = format!("{day}T23:59:59.9999Z");
            assert_eq!(utc(&text), Instant::from_iso(&text), "{text}");
            assert!(utc(&text).is_some());
        }
    }

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
        for wrong in ["\"yesterday\"", "true", "1e300"] {
            let raw: &RawValue = serde_json::from_str(wrong).unwrap();
            assert_eq!(instant(raw), None, "{wrong}");
        }
    }
}
