//! What a round is called on the page: project, day and the first words of its prompt.

use std::path::Path;

use super::spend::{SpendGrouping, group_of};
use crate::diagnostic::one_line;
use crate::transcript::{Event, Instant, Run, messages};
use crate::words::cut;

/// The most characters of a prompt, and of a project.
const WORDS: usize = 40;
const PROJECT: usize = 24;

/// A name of a round that a person knows it by: `web-shop 2026-11-23 fix the login page (51b2c0de#3)`. What stands in
/// brackets tells it from others and finds it: the end of the session's id, and the round.
pub(super) fn round_name(round: &Run, home: &Path) -> String {
    let (session, nth) = round.header.run_id.rsplit_once('#').unwrap_or((&round.header.run_id, "1"));
    let project = group_of(round.header.file.as_deref(), home, SpendGrouping::Project);
    let began = round.events().iter().filter_map(Event::ts).min();
    let prompt = messages(round.events()).find(|message| message.is_prompt());
    let words = prompt.map(|message| message.text().split_whitespace().collect::<Vec<_>>().join(" "));
    let mut parts = vec![end_of(&project, PROJECT)];
    parts.extend(began.map(day).filter(|day| !day.is_empty()));
    parts.extend(words.map(|words| cut(&words, WORDS)).filter(|words| !words.is_empty()));
    one_line(&format!("{} ({}#{nth})", parts.join(" "), end_of(session, 8))).into_owned()
}

fn end_of(text: &str, most: usize) -> String {
    text.chars().skip(text.chars().count().saturating_sub(most)).collect::<String>().trim_start_matches('-').to_owned()
}

/// The day of a time, in UTC: `2026-11-23`. Empty for a time outside the calendar.
fn day(time: Instant) -> String {
    let mut text = time.to_rfc3339();
    text.truncate(text.find('T').unwrap_or(0));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (ms, told) in
            [(0, "1970-01-01"), (951_782_400_000, "2000-02-29"), (1_795_737_600_000, "2026-11-27"), (-1, "1969-12-31")]
        {
            assert_eq!(day(Instant(ms)), told);
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(cut("fix it", 40), "fix it");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(end_of("-home-me-web-shop", 8), "web-shop");
    }
}
