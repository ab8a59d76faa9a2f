//! Days, ISO weeks and months, in UTC.

use chrono::{DateTime, Datelike as _, Days, NaiveDate};

use crate::transcript::{Instant, named};

named! {
    /// How long a period is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PeriodLength {
        /// A day.
        Day = "day",
        /// An ISO week, from Monday on.
        Week = "week",
        /// A month.
        Month = "month",
    }
}

/// A day, week or month; ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period {
    first: NaiveDate,
    length: PeriodLength,
}

impl Period {
    /// The period that holds a time; `None` for a time beyond the years that a calendar has.
    pub fn holding(time: Instant, length: PeriodLength) -> Option<Self> {
        let day = DateTime::from_timestamp_millis(time.0)?.date_naive();
        let first = match length {
            PeriodLength::Day => day,
            PeriodLength::Week => day.checked_sub_days(Days::new(day.weekday().num_days_from_monday().into()))?,
            PeriodLength::Month => day.with_day(1)?,
        };
        Some(Self { first, length })
    }

    /// Its name: `2026-07-30`, `2026-W31` or `2026-07`.
    pub fn name(&self) -> String {
        match self.length {
            PeriodLength::Day => self.first_day(),
            PeriodLength::Week => {
                let week = self.first.iso_week();
                format!("{:04}-W{:02}", week.year(), week.week())
            }
            PeriodLength::Month => format!("{:04}-{:02}", self.first.year(), self.first.month()),
        }
    }

    /// Its first day: `2026-07-27`.
    pub fn first_day(&self) -> String {
        self.first.to_string()
    }

    /// The number of days from 1970-01-01 to its first day.
    pub fn days_since_1970(&self) -> i64 {
        i64::from(self.first.to_epoch_days())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Instant {
        Instant::from_iso(time).unwrap()
    }

    #[test]
    fn weeks_are_those_of_the_iso_calendar_in_utc() {
        let week = |time: &str| Period::holding(at(time), PeriodLength::Week).unwrap();
        // 2020 has 53 weeks, and the first days of 2021 belong to the last of them.
        assert_eq!(week("2021-01-03T23:59:59Z").name(), "2020-W53");
        assert_eq!(week("2021-01-04T00:00:00Z").name(), "2021-W01");
        assert_eq!(week("2018-12-31T12:00:00Z").name(), "2019-W01");
        // Sunday evening in New York is Monday in UTC.
        assert_eq!(week("2026-08-02T22:00:00-04:00").name(), "2026-W32");
        assert_eq!(week("2026-08-02T22:00:00-04:00").first_day(), "2026-08-03");
        assert_eq!(week("1970-01-01T00:00:00Z").days_since_1970(), -3);
        assert!(week("2020-12-31T00:00:00Z") < week("2021-01-05T00:00:00Z"));
    }

    #[test]
    fn days_and_months_are_named_as_iso_writes_them() {
        let name = |length| Period::holding(at("2024-02-29T23:00:00Z"), length).unwrap().name();
        assert_eq!([PeriodLength::Day, PeriodLength::Month].map(name), ["2024-02-29", "2024-02"]);
        assert_eq!(Period::holding(Instant(i64::MAX), PeriodLength::Week), None);
    }
}
