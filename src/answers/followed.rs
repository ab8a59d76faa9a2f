//! What followed the stops, for people: a first table that needs no labels, and its sentence.

use super::tables::{Cell, Table};
use crate::aggregate::{Agreement, FollowedRow, FollowedRows, FollowedSummary, agreement, followed_by_stack};
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

    /// The stacks that stop at all, those that save most where nothing followed first.
    fn stopping(&self) -> Vec<&FollowedSummary> {
        let mut stops: Vec<&FollowedSummary> = self.summaries.iter().filter(|summary| summary.stops.1 > 0).collect();
        let saved = |summary: &FollowedSummary| summary.saved_free.unwrap_or(0.0);
        stops.sort_by(|a, b| saved(b).total_cmp(&saved(a)).then(share(a).total_cmp(&share(b))));
        stops
    }

    /// Formats `n` with the noun for what counts as a run.
    fn of(&self, n: u64) -> String {
        if n == 1 { format!("1 {}", self.noun.trim_end_matches('s')) } else { format!("{} {}", grouped(n), self.noun) }
    }

    /// The answer in a few sentences: what each stack ends, and which of them pay.
    pub fn verdict(&self) -> String {
        /// Maximum stacks to tell of.
        const TOLD: usize = 4;
        let runs = self.summaries.first().map_or(0, |summary| summary.runs);
        let stopping = self.stopping();
        if stopping.is_empty() {
            return format!("On {} nobody graded, none of these stacks stopped anything.", self.of(runs));
        }
        let ends = |(nth, summary): (usize, &&FollowedSummary)| {
            let of = if nth == 0 { format!(" of {}", self.of(runs)) } else { String::new() };
            format!(
                "`{}` ends {}{of}, {} with work still to come",
                summary.stack,
                range(summary.stops),
                if summary.cut_short.1 == 0 {
                    "none of them".to_owned()
                } else {
                    format!("{} of them", range(summary.cut_short))
                },
            )
        };
        let told: Vec<String> = stopping.iter().take(TOLD).enumerate().map(ends).collect();
        let more = if stopping.len() > TOLD {
            format!("; {} more stacks below", stopping.len() - TOLD)
        } else {
            String::new()
        };
        let pays = stopping.iter().find(|summary| share(summary) <= 0.5 && summary.saved_free.unwrap_or(0.0) > 0.0);
        let conclusion = match pays {
            Some(best) => format!(
                "`{}` saves {} % of the tokens where nothing followed{}.",
                best.stack,
                digits(best.saved_free.unwrap_or(0.0)),
                if stopping.len() > 1 { ", most of those that cut less than half of their stops short" } else { "" },
            ),
            None if stopping.iter().any(|summary| share(summary) <= 0.5) => {
                if stopping.iter().all(|summary| summary.saved_free.is_none()) {
                    "What they save is not known: no tokens are recorded.".to_owned()
                } else {
                    "Those that let most work finish save nothing: on this work none of them pays.".to_owned()
                }
            }
            None if stopping.len() == 1 => "Most of its stops cut work short: on this work it does not pay.".to_owned(),
            None => "Most stops of each cut work short: on this work none of them pays.".to_owned(),
        };
        format!("Nobody graded these {}: {}{more}. {conclusion}", self.noun, told.join("; "))
    }

    /// The table, one line per stack.
    pub fn table(&self) -> Table {
        let columns =
            ["stack", "stops", "cut short", "of all, 95 %", "nothing followed", "saved there", "saved in all"];
        let rows = self.summaries.iter().map(|summary| {
            let low = summary.cut_short_low.interval.map(|interval| interval.low);
            let high = summary.cut_short_high.interval.map(|interval| interval.high);
            let rough = summary.warning().filter(|_| low.is_some()).map_or("", |_| " rough");
            let interval = low.zip(high).map(|(low, high)| format!("{}–{} %{rough}", digits(low), digits(high)));
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
            "`whenstop labels PATH --template labels.csv` lists the runs to grade, in an order drawn at random: with \
             outcomes the table says which successes a stop kills."
                .to_owned(),
        ];
        let mut warned = self.summaries.iter().filter(|summary| summary.cut_short_high.interval.is_some());
        if let Some(warning) = warned.find_map(FollowedSummary::warning) {
            let session = if self.noun == "rounds" { "; a session that names no task counts as one" } else { "" };
            notes.push(format!("of all: {warning}{session}"));
        }
        let runs = self.summaries.first().map_or(0, |summary| summary.runs);
        let known = self.summaries.first().map_or(0, |summary| summary.runs_with_tokens);
        if known < runs {
            notes.push(format!("tokens are known of {known} of {runs} {}", self.noun));
        }
        notes.push(self.tail_words());
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

    /// What a perfect stop could save, and of which runs nothing can be said.
    fn tail_words(&self) -> String {
        let one = self.noun.trim_end_matches('s');
        let (idle, all) = self
            .rows
            .of_runs()
            .fold((0_u64, 0_u64), |(idle, all), row| (idle + u64::from(row.last_effect_step.is_none()), all + 1));
        let Some(tail) = self.tail() else {
            return format!(
                "what a perfect stop could save is not known: no edit, hand-over or check was recognised in any {one} with tokens"
            );
        };
        let left_out = if idle == 0 {
            String::new()
        } else {
            format!(
                " ({} of {} changed nothing that is recognised, and {} left out)",
                grouped(idle),
                self.of(all),
                if idle == 1 { "is" } else { "are" }
            )
        };
        format!(
            "{} of the tokens come after the last edit, hand-over or green check of their {one}{left_out}: what a perfect stop could \
             save, in hindsight; a check that stayed green was worth running before anyone knew",
            percents(tail),
        )
    }

    /// Tokens after the last effect, as a share of the tokens of the runs that had one. It does not depend on the stack,
    /// so one stack's rows suffice. `None` if no run had one.
    fn tail(&self) -> Option<(f64, f64)> {
        let (low, high, whole) = self
            .rows
            .of_runs()
            .filter(|row| row.last_effect_step.is_some())
            .filter_map(|row| Some((row.tail_tokens_low?, row.tail_tokens_high?, row.tokens_recorded?)))
            .fold((0, 0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1, sum.2 + row.2));
        (whole > 0).then(|| (low as f64 / whole as f64, high as f64 / whole as f64))
    }

    /// The runs that some stack stops with work still to come, the most certain first; `None` if there are none.
    pub fn stopped(&self) -> Option<Table> {
        const TOLD: usize = 20;
        let columns = ["run", "stack", "stopped at step", "edits to come", "last work at step", "tokens to come"];
        let mut stopped: Vec<FollowedRow> = self.rows.iter().filter(|row| row.cut_short_high == 1).collect();
        stopped.sort_by(|a, b| {
            let certain = |row: &FollowedRow| (row.cut_short_low, row.tokens_after_stop.unwrap_or(0));
            certain(b).cmp(&certain(a)).then_with(|| (&a.run_id, &a.stack).cmp(&(&b.run_id, &b.stack)))
        });
        let step = |step: Option<u64>| step.map_or(Cell::Missing, |step| Cell::Count(step + 1));
        let rows = stopped.iter().take(TOLD).map(|row| {
            vec![
                Cell::Text(row.run_id.to_string()),
                Cell::Text(row.stack.to_string()),
                step(row.stop_point.map(|point| u64::from(point.step))),
                Cell::Text(range((row.edits_low, row.edits_high))),
                step(row.last_effect_step),
                row.tokens_after_stop.map_or(Cell::Missing, |tokens| Cell::Text(thousands(tokens))),
            ]
        });
        (!stopped.is_empty()).then(|| Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() })
    }

    /// The ten runs that took most tokens; `None` if none records any. `cost` gives the dollars of a run.
    pub fn expensive(&self, cost: impl Fn(&str) -> Option<f64>) -> Option<Table> {
        const TOLD: usize = 10;
        let columns = ["run", "tokens", "dollars", "last work at step", "tokens after it", "ended by"];
        let mut runs: Vec<FollowedRow> =
            self.rows.of_runs().filter(|row| row.tokens_recorded.unwrap_or(0) > 0).collect();
        runs.sort_by(|a, b| b.tokens_recorded.cmp(&a.tokens_recorded).then_with(|| a.run_id.cmp(&b.run_id)));
        let rows = runs.iter().take(TOLD).map(|row| {
            vec![
                Cell::Text(row.run_id.to_string()),
                Cell::Text(thousands(row.tokens_recorded.unwrap_or(0))),
                cost(&row.run_id).map_or(Cell::Missing, |dollars| Cell::Text(format!("{dollars:.2}"))),
                row.last_effect_step.map_or_else(|| Cell::Text("none".to_owned()), |step| Cell::Count(step + 1)),
                row.tail_tokens_high.map_or(Cell::Missing, |tokens| Cell::Text(thousands(tokens))),
                Cell::Text(if row.interrupted == 1 { "a person" } else { "the agent" }.to_owned()),
            ]
        });
        (!runs.is_empty()).then(|| Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() })
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
