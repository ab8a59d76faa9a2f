//! What a round is called on the page: project, day and the first words of its prompt.

use std::path::Path;

use super::spend::{By, group_of};
use crate::diagnostic::one_line;
use crate::transcript::{Event, Run};

/// The most characters of a prompt, and of a project.
const WORDS: usize = 40;
const PROJECT: usize = 24;

/// A name of a round that a person knows it by: `web-shop 2026-11-23 fix the login page (51b2c0de#3)`. What stands in
/// brackets tells it from others and finds it: the end of the session's id, and the round.
pub(super) fn of_round(round: &Run, home: &Path) -> String {
    let (session, nth) = round.header.run_id.rsplit_once('#').unwrap_or((&round.header.run_id, "1"));
    let project = group_of(round.header.file.as_deref(), home, By::Project);
    let began = round.events().iter().filter_map(Event::ts).min();
    let prompt = round.events().iter().filter_map(Event::message).find(|message| message.is_prompt());
    let words = prompt.map(|message| message.text().split_whitespace().collect::<Vec<_>>().join(" "));
    let mut parts = vec![end_of(&project, PROJECT)];
    parts.extend(began.map(|began| day(began.0)));
    parts.extend(words.map(|words| beginning_of(&words, WORDS)).filter(|words| !words.is_empty()));
    one_line(&format!("{} ({}#{nth})", parts.join(" "), end_of(session, 8))).into_owned()
}

fn beginning_of(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn end_of(text: &str, most: usize) -> String {
    text.chars().skip(text.chars().count().saturating_sub(most)).collect::<String>().trim_start_matches('-').to_owned()
}

/// The day of a time in milliseconds since 1970, in UTC: `2026-11-23`. Days count from the 1st of March, so that a leap
/// day is the last of its year.
fn day(ms: i64) -> String {
    let days = ms.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (ms, told) in
            [(0, "1970-01-01"), (951_782_400_000, "2000-02-29"), (1_795_737_600_000, "2026-11-27"), (-1, "1969-12-31")]
        {
            assert_eq!(day(ms), told);
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(beginning_of("fix it", 40), "fix it");
        assert_eq!(beginning_of("abcdef", 4), "abc…");
        assert_eq!(end_of("-home-me-web-shop", 8), "web-shop");
    }
}
