//! What followed the stops, for people: a first table that needs no labels, and its sentence.

use super::table::{Cell, Table};
use crate::aggregate::{Agreement, FollowedRows, FollowedSummary, agreement, followed_by_stack};
use crate::words::{digits, grouped, percents, thousands};

/// What followed the stops of a comparison.
#[derive(Clone, Debug)]
pub struct FollowedReport {
    rows: FollowedRows,
    summaries: Vec<FollowedSummary>,
    noun: &'static str,
}

impl FollowedReport {
    /// `noun` is the plural of what counts as a run: runs or rounds.
    pub fn new(rows: FollowedRows, noun: &'static str) -> Self {
        let summaries = followed_by_stack(&rows);
        Self { rows, summaries, noun }
    }

    /// The plural of what counts as a run.
    pub fn noun(&self) -> &'static str {
        self.noun
    }

    /// One row per run and stack.
    pub fn rows(&self) -> &FollowedRows {
        &self.rows
    }

    /// One summary per stack.
    pub fn summaries(&self) -> &[FollowedSummary] {
        &self.summaries
    }

    /// The stack that saves most where nothing followed, among those that stop at all.
    fn best(&self) -> Option<&FollowedSummary> {
        let stops = self.summaries.iter().filter(|summary| summary.stops.1 > 0);
        let worth = |summary: &FollowedSummary| (summary.saved_free.unwrap_or(0.0), -share(summary));
        stops.max_by(|a, b| worth(a).0.total_cmp(&worth(b).0).then(worth(a).1.total_cmp(&worth(b).1)))
    }

    /// Formats `n` with the noun for what counts as a run.
    fn of(&self, n: u64) -> String {
        if n == 1 { format!("1 {}", self.noun.trim_end_matches('s')) } else { format!("{} {}", grouped(n), self.noun) }
    }

    /// The answer in one or two sentences.
    pub fn verdict(&self) -> String {
        let runs = self.summaries.first().map_or(0, |summary| summary.runs);
        let Some(best) = self.best() else {
            return format!("On {} nobody graded, none of these stacks stopped anything.", self.of(runs));
        };
        let stops = range(best.stops);
        let cut = range(best.cut_short);
        let saved = best.saved_free.map_or_else(
            || "what it saves is not known: no tokens are recorded".to_owned(),
            |share| format!("saves {} % of the tokens where nothing followed", digits(share)),
        );
        let go_on =
            if self.noun == "rounds" { format!(" (you would have said \"go on\" {cut} times)") } else { String::new() };
        let mut text = format!(
            "On {} nobody graded, `{}` would have cut {cut} of its {stops} stops short{go_on}, and {saved}.",
            self.of(runs),
            best.stack,
        );
        if self.summaries.len() > 1 && share(best) > 0.5 {
            text += " No stack of these saves more for free, and most of its stops cut work short: on this work none of \
                     them pays.";
        }
        text
    }

    /// The table, one line per stack.
    pub fn table(&self) -> Table {
        let columns =
            ["stack", "stops", "cut short", "of all, 95 %", "nothing followed", "saved there", "saved in all"];
        let rows = self.summaries.iter().map(|summary| {
            let low = summary.cut_short_low.interval.map(|interval| interval.low);
            let high = summary.cut_short_high.interval.map(|interval| interval.high);
            let interval = low.zip(high).map(|(low, high)| format!("{}–{} %", digits(low), digits(high)));
            let free = (
                summary.stops.0.saturating_sub(summary.cut_short.1),
                summary.stops.1.saturating_sub(summary.cut_short.0),
            );
            vec![
                Cell::Text(summary.stack.to_string()),
                Cell::Text(range(summary.stops)),
                Cell::Text(range(summary.cut_short)),
                interval.map_or(Cell::Missing, Cell::Text),
                Cell::Text(range(free)),
                Cell::percent(summary.saved_free),
                Cell::percent(summary.saved),
            ]
        });
        Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }
    }

    /// The lines below the table.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "cut short: an edit, a hand-over or a check that turned green was still to come; low–high, since not every call \
             tells what it does (`whenstop corpus --effects`). saved there: tokens after stops that only reading, planning and \
             replies followed, of all tokens."
                .to_owned(),
            "`whenstop labels PATH --template labels.csv` lists the runs to grade, those that matter most first: with \
             outcomes the table says which successes a stop kills."
                .to_owned(),
        ];
        let runs = self.summaries.first().map_or(0, |summary| summary.runs);
        let known = self.summaries.first().map_or(0, |summary| summary.runs_with_tokens);
        if known < runs {
            notes.push(format!("tokens are known of {known} of {runs} {}", self.noun));
        }
        if let Some(tail) = self.tail() {
            notes.push(format!(
                "{} of all tokens come after the last edit, hand-over or green check of their {}: what a perfect stop could \
                 save, in hindsight; a check that stayed green was worth running before anyone knew",
                percents(tail),
                self.noun.trim_end_matches('s'),
            ));
        }
        notes
    }

    /// For graded runs: how many killed successes already had their final edit.
    pub fn standing(&self) -> Option<String> {
        let summary =
            self.summaries.iter().filter(|summary| summary.killed.0 > 0).max_by_key(|summary| summary.killed)?;
        let (sure, most) = summary.killed;
        let unknown = if most > sure { format!(" ({} more could not be judged)", most - sure) } else { String::new() };
        (summary.killed_standing.1 > 0).then(|| {
            format!(
                "in {} of the {sure} successes that `{}` stops early{unknown} the final edit was already made; `--keeps work` \
                 counts them as kept",
                range(summary.killed_standing),
                summary.stack
            )
        })
    }

    /// Tokens after the last effect, as a share of all tokens. It does not depend on the stack, so one stack's rows
    /// suffice.
    fn tail(&self) -> Option<(f64, f64)> {
        let (low, high, whole) = self
            .rows
            .of_runs()
            .filter_map(|row| Some((row.tail_tokens_low?, row.tail_tokens_high?, row.tokens_recorded?)))
            .fold((0, 0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1, sum.2 + row.2));
        (whole > 0).then(|| (low as f64 / whole as f64, high as f64 / whole as f64))
    }

    /// How the stacks agree with people's own interruptions; `None` if no recording was interrupted.
    pub fn agreement(&self) -> Option<Table> {
        let lines = agreement(&self.rows);
        let columns =
            ["stack", "stopped before them", "steps earlier", "tokens earlier", "others stopped", "difference", "95 %"];
        let rows = lines.iter().map(|line: &Agreement| {
            let interval = line.difference.and_then(|difference| difference.interval);
            let points = |value: f64| format!("{:+.1}", value * 100.0);
            vec![
                Cell::Text(line.stack.to_string()),
                Cell::Text(format!("{}/{}", line.interrupted.1, line.interrupted.0)),
                line.steps_earlier.map_or(Cell::Missing, Cell::Count),
                line.tokens_earlier.map_or(Cell::Missing, |tokens| Cell::Text(thousands(tokens))),
                Cell::Text(format!("{}/{}", line.others.1, line.others.0)),
                line.difference.map_or(Cell::Missing, |difference| Cell::Text(points(difference.value))),
                interval.map_or(Cell::Missing, |interval| {
                    Cell::Text(format!("{} to {}", points(interval.low), points(interval.high)))
                }),
            ]
        });
        (!lines.is_empty()).then(|| Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() })
    }

    /// The sentence above the table of agreement.
    pub fn agreement_words(&self) -> String {
        let lines = agreement(&self.rows);
        let better = |line: &&Agreement| {
            line.difference.and_then(|difference| difference.interval).is_some_and(|interval| interval.low > 0.0)
        };
        let told: Vec<String> = lines.iter().filter(better).map(|line| format!("`{}`", line.stack)).collect();
        let n = lines.first().map_or(0, |line| line.interrupted.0);
        let answer = if told.is_empty() {
            "no stack tells them from the others better than chance".to_owned()
        } else {
            format!("told from the others by {}", told.join(", "))
        };
        format!(
            "People stopped {n} of these {} themselves: {answer}. How often each stack stops, how much earlier than they did \
             (median), and the difference in percentage points, clustered by session:",
            self.noun
        )
    }
}

/// The largest share of the stops that may have cut work short.
fn share(summary: &FollowedSummary) -> f64 {
    if summary.stops.1 == 0 { 0.0 } else { summary.cut_short.1 as f64 / summary.stops.1 as f64 }
}

fn range((low, high): (u64, u64)) -> String {
    if low == high { grouped(low) } else { format!("{}–{}", grouped(low), grouped(high)) }
}
