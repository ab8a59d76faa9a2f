//! What followed the stops: an answer that needs no labels, its table and its notes.

use super::note::AnswerNote;
use super::tables::{DataTable, TableCell};
use crate::aggregate::{Agreement, FollowedRow, FollowedRows, FollowedSummary, Label, agreement, followed_by_stack};
use crate::stats::Interval;
use crate::words::{digits, grouped_counts, thousands};

/// The answer on runs that nobody graded.
#[derive(Clone, Debug)]
pub struct FollowedVerdict {
    /// The plural of what counts as a run.
    pub noun: &'static str,
    /// The number of runs.
    pub runs: u64,
    /// The stacks that stop anything, those that save most where nothing followed first.
    pub stopping: Vec<FollowedSummary>,
    /// Which of them pays.
    pub pays: Pays,
}

/// Which stack pays, of those that cut less than half of their stops short.
#[derive(Clone, Debug)]
pub enum Pays {
    /// This stack.
    Best {
        /// The stack.
        stack: Label,
        /// Tokens after its stops that nothing followed, as a share of all tokens.
        saved: f64,
        /// Whether other stacks stop anything.
        of_several: bool,
    },
    /// No tokens are recorded.
    NotRecorded,
    /// These save nothing.
    SavesNothing {
        /// The stacks.
        stacks: Vec<Label>,
        /// Whether there are others that stop anything, and each cuts most of its stops short.
        others_cut_short: bool,
    },
    /// There are none: each cuts most of its stops short.
    CutsMostShort {
        /// The stacks that stop anything.
        stacks: usize,
    },
}

/// Which stacks agree with the people who interrupted runs.
#[derive(Clone, Debug)]
pub struct Agreeing {
    /// The plural of what counts as a run.
    pub noun: &'static str,
    /// The number of runs that somebody interrupted.
    pub interrupted: u64,
    /// The stacks that stop more of these than of the others, beyond chance.
    pub better: Vec<Label>,
}

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

    /// The answer: what each stack ends, and which of them pay.
    pub fn verdict(&self) -> FollowedVerdict {
        let stopping = self.stopping().into_iter().cloned().collect();
        let runs = self.summaries.first().map_or(0, |summary| summary.runs);
        FollowedVerdict { noun: self.noun, runs, stopping, pays: self.pays() }
    }

    /// Which of the stacks that stop anything pays.
    fn pays(&self) -> Pays {
        let stopping = self.stopping();
        let lets_finish: Vec<_> = stopping.iter().filter(|summary| share(summary) <= 0.5).collect();
        if lets_finish.is_empty() {
            return Pays::CutsMostShort { stacks: stopping.len() };
        }
        let mut stacks = Vec::new();
        for summary in &lets_finish {
            if let Some(saved) = summary.saved_free.filter(|saved| *saved > 0.0) {
                return Pays::Best { stack: summary.stack.clone(), saved, of_several: stopping.len() > 1 };
            }
            if summary.saved_free.is_some() {
                stacks.push(summary.stack.clone());
            }
        }
        if stacks.is_empty() {
            return Pays::NotRecorded;
        }
        Pays::SavesNothing { stacks, others_cut_short: lets_finish.len() < stopping.len() }
    }

    /// The table, one line per stack.
    pub fn table(&self) -> DataTable {
        let columns =
            ["stack", "stops", "cut short", "a task, 95 %", "nothing followed", "saved there", "saved in all"];
        let rows = self.summaries.iter().map(|summary| {
            let low = summary.cut_short_low.low();
            let high = summary.cut_short_high.high();
            let interval = low.zip(high).map(|(low, high)| format!("{}–{} %", digits(low), digits(high)));
            let free = (
                summary.stops.0.saturating_sub(summary.cut_short.1),
                summary.stops.1.saturating_sub(summary.cut_short.0),
            );
            vec![
                TableCell::Text(summary.stack.to_string()),
                TableCell::Text(grouped_counts(summary.stops)),
                TableCell::Text(grouped_counts(summary.cut_short)),
                TableCell::some_text(interval),
                TableCell::Text(grouped_counts(free)),
                TableCell::percent(summary.saved_free),
                TableCell::percent(summary.saved),
            ]
        });
        DataTable::new(columns, rows)
    }

    /// The notes below the table.
    pub fn notes(&self) -> Vec<AnswerNote> {
        let mut notes = vec![AnswerNote::CutShortMeans, AnswerNote::HowToGrade];
        if let Some(FollowedSummary { runs, runs_with_tokens: known, .. }) = self.summaries.first()
            && known < runs
        {
            notes.push(AnswerNote::TokensKnown { known: *known, runs: *runs, noun: self.noun });
        }
        let (mut idle, mut runs) = (0, 0);
        for row in self.rows.one_per_run() {
            runs += 1;
            idle += u64::from(row.last_effect_step.is_none());
        }
        notes.push(AnswerNote::PerfectStop { tail: self.tail(), idle, runs, noun: self.noun });
        notes
    }

    /// For graded runs: how many killed successes already had their final edit.
    pub fn standing(&self) -> Option<AnswerNote> {
        let killing = self.summaries.iter().filter(|summary| summary.killed.0 > 0);
        let summary = killing.max_by_key(|summary| summary.killed)?;
        if summary.killed_standing.1 == 0 {
            return None;
        }
        Some(AnswerNote::KilledStanding {
            stack: summary.stack.clone(),
            killed: summary.killed,
            standing: summary.killed_standing,
        })
    }

    /// Tokens after the last effect, as a share of the tokens of the runs that had one. It does not depend on the stack,
    /// so one stack's rows suffice. `None` if no run had one.
    fn tail(&self) -> Option<(f64, f64)> {
        let (low, high, whole) = self
            .rows
            .one_per_run()
            .filter(|row| row.last_effect_step.is_some())
            .filter_map(|row| Some((row.tail_tokens_low?, row.tail_tokens_high?, row.tokens_recorded?)))
            .fold((0, 0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1, sum.2 + row.2));
        if whole == 0 { None } else { Some((low as f64 / whole as f64, high as f64 / whole as f64)) }
    }

    /// The runs that some stack stops with work still to come, the most certain first; `None` if there are none.
    pub fn stopped(&self) -> Option<DataTable> {
        const TOLD: usize = 20;
        let columns = ["run", "stack", "stopped at step", "edits to come", "last work at step", "tokens to come"];
        let mut stopped: Vec<FollowedRow> = self.rows.iter().filter(|row| row.cut_short_high == 1).collect();
        stopped.sort_by(|a, b| {
            let certain = |row: &FollowedRow| (row.cut_short_low, row.tokens_after_stop.unwrap_or(0));
            certain(b).cmp(&certain(a)).then_with(|| (&a.run_id, &a.stack).cmp(&(&b.run_id, &b.stack)))
        });
        let step = |step: Option<u64>| TableCell::count(step.map(|step| step + 1));
        let rows = stopped.iter().take(TOLD).map(|row| {
            vec![
                TableCell::Text(row.run_id.to_string()),
                TableCell::Text(row.stack.to_string()),
                step(row.stop_point.map(|point| u64::from(point.step))),
                TableCell::Text(grouped_counts((row.edits_low, row.edits_high))),
                step(row.last_effect_step),
                TableCell::some_text(row.tokens_after_stop.map(thousands)),
            ]
        });
        DataTable::if_any(&columns, rows.collect())
    }

    /// The ten runs that took most tokens; `None` if none records any. `cost` gives the dollars of a run.
    pub fn expensive(&self, cost: impl Fn(&str) -> Option<f64>) -> Option<DataTable> {
        const TOLD: usize = 10;
        let columns = ["run", "tokens", "dollars", "last work at step", "tokens after it", "ended by"];
        let mut runs: Vec<FollowedRow> =
            self.rows.one_per_run().filter(|row| row.tokens_recorded.unwrap_or(0) > 0).collect();
        runs.sort_by(|a, b| b.tokens_recorded.cmp(&a.tokens_recorded).then_with(|| a.run_id.cmp(&b.run_id)));
        let rows = runs.iter().take(TOLD).map(|row| {
            vec![
                TableCell::Text(row.run_id.to_string()),
                TableCell::Text(thousands(row.tokens_recorded.unwrap_or(0))),
                TableCell::some_text(cost(&row.run_id).map(|dollars| format!("{dollars:.2}"))),
                match row.last_effect_step {
                    Some(step) => TableCell::Count(step + 1),
                    None => TableCell::Text("none".to_owned()),
                },
                TableCell::some_text(row.tail_tokens_high.map(thousands)),
                TableCell::Text(if row.interrupted == 1 { "a person" } else { "the agent" }.to_owned()),
            ]
        });
        DataTable::if_any(&columns, rows.collect())
    }

    /// How the stacks agree with people's own interruptions; `None` if no recording was interrupted.
    pub fn agreement(&self) -> Option<DataTable> {
        let lines = agreement(&self.rows);
        let columns =
            ["stack", "stopped before them", "steps earlier", "tokens earlier", "others stopped", "difference", "95 %"];
        let rows = lines.iter().map(|line: &Agreement| {
            let points = |value: f64| format!("{:+.1}", value * 100.0);
            let interval = interval_of(line).map(|of| format!("{} to {}", points(of.low), points(of.high)));
            vec![
                TableCell::Text(line.stack.to_string()),
                TableCell::Text(format!("{}/{}", line.interrupted.1, line.interrupted.0)),
                TableCell::count(line.steps_earlier),
                TableCell::some_text(line.tokens_earlier.map(thousands)),
                TableCell::Text(format!("{}/{}", line.others.1, line.others.0)),
                TableCell::some_text(line.difference.map(|difference| points(difference.value))),
                TableCell::some_text(interval),
            ]
        });
        DataTable::if_any(&columns, rows.collect())
    }

    /// Which stacks tell the runs that people interrupted from the others.
    pub fn agreeing(&self) -> Agreeing {
        let lines = agreement(&self.rows);
        let mut better = Vec::new();
        for line in &lines {
            if let Some(interval) = interval_of(line)
                && interval.low > 0.0
            {
                better.push(line.stack.clone());
            }
        }
        Agreeing { noun: self.noun, interrupted: lines.first().map_or(0, |line| line.interrupted.0), better }
    }
}

/// The largest share of the stops that may have cut work short.
fn share(summary: &FollowedSummary) -> f64 {
    if summary.stops.1 == 0 { 0.0 } else { summary.cut_short.1 as f64 / summary.stops.1 as f64 }
}

/// The interval of the difference between the runs that people interrupted and the others.
fn interval_of(line: &Agreement) -> Option<Interval> {
    line.difference?.interval
}
