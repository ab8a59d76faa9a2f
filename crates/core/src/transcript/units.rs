//! Newtypes for tokens, milliseconds, instants and dollars, so that different units cannot be added by mistake.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, RangeInclusive, Sub};

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// A number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tokens(pub u64);

/// A duration in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub i64);

/// A time in milliseconds since the Unix epoch (UTC). Timestamps without a time zone are read as UTC, so only
/// differences within one run are meaningful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instant(pub i64);

/// An amount of money in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Usd(pub f64);

/// Rare spellings of ISO 8601: an offset in hours, as PostgreSQL writes it, and the basic format.
const WITH_OFFSET: [&str; 2] = ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y%m%dT%H%M%S%.f%#z"];
/// The same without a zone: minutes, and the basic format.
const WITHOUT_ZONE: [&str; 2] = ["%Y-%m-%dT%H:%M", "%Y%m%dT%H%M%S%.f"];
/// The years that RFC 3339 can write.
const YEARS: RangeInclusive<i32> = 0..=9999;

impl Instant {
    /// The time that `text` states in ISO 8601, with a zone, with an offset, or without a zone (read as UTC); a day is its
    /// beginning. Digits finer than milliseconds are dropped. `None` for other texts, and beyond the years of RFC 3339.
    pub fn from_iso(text: &str) -> Option<Self> {
        // Many write a space in place of the T, and a comma before the fraction; the name of the zone may follow its offset.
        let text = match text.split_once('[') {
            Some((time, zone)) if zone.ends_with(']') => time,
            _ => text,
        };
        let text = &*text.replacen(' ', "T", 1).replacen(',', ".", 1);
        let with_offset = |spelling: &&str| DateTime::parse_from_str(text, spelling).ok();
        let without_zone = |spelling: &&str| NaiveDateTime::parse_from_str(text, spelling).ok();
        let stamp = if let Ok(stamp) = text.parse::<DateTime<Utc>>() {
            stamp
        } else if let Ok(civil) = text.parse::<NaiveDateTime>() {
            civil.and_utc()
        } else if let Some(stamp) = WITH_OFFSET.iter().find_map(with_offset) {
            stamp.to_utc()
        } else if let Some(civil) = WITHOUT_ZONE.iter().find_map(without_zone) {
            civil.and_utc()
        } else {
            text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?.and_utc()
        };
        if YEARS.contains(&stamp.year()) { Some(Self(stamp.timestamp_millis())) } else { None }
    }

    /// RFC 3339 in UTC with milliseconds; empty for a time beyond the years that it can write.
    pub fn to_rfc3339(self) -> String {
        let stamp = DateTime::from_timestamp_millis(self.0).filter(|stamp| YEARS.contains(&stamp.year()));
        stamp.map(|stamp| stamp.to_rfc3339_opts(SecondsFormat::Millis, true)).unwrap_or_default()
    }

    /// Time passed since `earlier`; negative if the recording's clock went backwards.
    pub fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

macro_rules! additive {
    ($type:ident, $zero:expr, $add:expr) => {
        impl Add for $type {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self($add(self.0, other.0))
            }
        }
        impl AddAssign for $type {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl Sum for $type {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(Self($zero), Add::add)
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

additive!(Tokens, 0, u64::saturating_add);
additive!(Millis, 0, i64::saturating_add);
additive!(Usd, 0.0, |a: f64, b: f64| a + b);

impl Sub for Tokens {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Tokens of one model call. A field that is not recorded is `None`, never 0.
///
/// Three conventions are in use (FORMATS): OpenAI counts cached tokens within the input, Anthropic separately, and some
/// producers leave them out. Readers normalise them so that `input` **includes** cached tokens, both read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All input tokens, cached ones included.
    pub input: Option<u64>,
    /// The part of `input` read from a cache.
    pub cache_read: Option<u64>,
    /// The part of `input` written to a cache.
    pub cache_write: Option<u64>,
    /// Output tokens, reasoning included.
    pub output: Option<u64>,
    /// The part of `output` spent on reasoning.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Usage with input and output only.
    pub fn new(input: u64, output: u64) -> Self {
        Self { input: Some(input), output: Some(output), ..Self::default() }
    }

    /// True when neither input nor output is known.
    pub fn is_empty(&self) -> bool {
        self.input.is_none() && self.output.is_none()
    }

    /// Input (cached included) plus output; `None` when neither is known.
    pub fn total(&self) -> Option<Tokens> {
        match (self.input, self.output) {
            (None, None) => None,
            (input, output) => Some(Tokens(input.unwrap_or(0).saturating_add(output.unwrap_or(0)))),
        }
    }

    /// Each count of both, combined by `by`.
    #[doc(hidden)]
    #[must_use]
    pub fn combined(self, other: Self, by: impl Fn(Option<u64>, Option<u64>) -> Option<u64>) -> Self {
        Self {
            input: by(self.input, other.input),
            cache_read: by(self.cache_read, other.cache_read),
            cache_write: by(self.cache_write, other.cache_write),
            output: by(self.output, other.output),
            reasoning: by(self.reasoning, other.reasoning),
        }
    }

    /// Input that was not read from a cache; `None` when the input is unknown.
    pub fn uncached_input(&self) -> Option<Tokens> {
        self.input.map(|input| Tokens(input.saturating_sub(self.cache_read.unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_spellings_of_iso_8601() {
        for spelling in [
            "2026-01-05T10:00:00Z",
            "2026-01-05t10:00:00z",
            "2026-01-05T10:00:00.000000000Z",
            "2026-01-05 12:00:00+02:00",
            "2026-01-05T12:00:00+0200",
            "2026-01-05T12:00:00.0+02",
            "2026-01-05 10:00:00 UTC",
            "2026-01-05T10:00:00.000",
            "2026-01-05 10:00",
            "2026-01-05 10:00:00,000",
            "2026-01-05T11:00:00+01:00[Europe/Berlin]",
            "20260105T100000Z",
            "20260105T100000.000",
        ] {
            assert_eq!(Instant::from_iso(spelling), Some(Instant(1_767_607_200_000)), "{spelling}");
        }
        assert_eq!(Instant::from_iso("2026-01-05"), Some(Instant(1_767_571_200_000)));
        for other in [
            "",
            "yesterday",
            "2026",
            "2026-13-05",
            "2026-01-05T10:00:00+",
            "10:00:00",
            "2026-01-05T10:00:00Zz",
            "2026-01-05T10:00:00Z[UTC",
            "+12345-01-05T10:00:00Z",
        ] {
            assert_eq!(Instant::from_iso(other), None, "{other}");
        }
    }

    #[test]
    fn times_are_written_as_rfc_3339() {
        assert_eq!(Instant(1_767_607_200_120).to_rfc3339(), "2026-01-05T10:00:00.120Z");
        assert_eq!([i64::MAX, 253_402_300_800_000].map(|time| Instant(time).to_rfc3339()), ["", ""]);
    }
}
