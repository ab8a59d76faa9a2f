//! What is said below an answer, as data. Its words are in [`words`](super::words).

use super::choice::SplitChoice;
use super::first::FirstTable;
use super::told::UnderToldLimits;
use crate::aggregate::{
    ChosenElsewhere, Count, Group, Label, OracleShare, Rows, ShipTerms, Summary, Unit, WorseStratum, WorstStratum,
    by_stack, chosen_elsewhere, oracle_share, saved_at, stopped_by, worst_stratum,
};
use crate::stats::{Estimate, Interval, Warning};
use crate::transcript::Outcome;

/// One note.
#[derive(Clone, Debug)]
pub enum AnswerNote {
    /// A certificate that does not hold, or what a stack was tuned on; kept in the manifest as it is said.
    Remark(String),
    /// What plain limits on steps may kill where agents are told of their limit.
    ToldLimits(UnderToldLimits),
    /// What the letters of the column `unknown` mean, of those in the table.
    Letters {
        /// A rule could not be read.
        unread: bool,
        /// The stack left the recorded path.
        diverged: bool,
        /// Nobody graded the run.
        ungraded: bool,
    },
    /// A stack does far worse in one suite or model than overall.
    Pooled(Box<WorseStratum>),
    /// Stacks left out to keep the table short.
    Folded(Vec<Label>),
    /// Stacks that did nothing on the runs that could be judged, and on how many of all runs that was.
    NeverActed(Vec<JudgedRuns>),
    /// A stack that could not be judged on any run, or on so few that nothing is known.
    NotJudged {
        /// The stack, and the runs that it could be judged on.
        stack: JudgedRuns,
        /// What its rules could not read, most frequent first.
        lacks: Vec<String>,
        /// The share of successes that it kills, if it is limited.
        kills: Option<Interval>,
    },
    /// More such stacks.
    NotJudgedEither(Vec<Label>),
    /// What was chosen on one part of the tasks.
    Chosen(SplitChoice),
    /// Which marks of the recordings stand in for outcomes.
    Proxies(String),
    /// The share saved is rough, and why.
    SavedRough(Warning),
    /// How the correction for label errors turned out.
    LabelErrors(&'static str),
    /// What the killed share would be if the stated specificity were wrong.
    Misstated {
        /// The stack.
        stack: Label,
        /// Other specificities, each with the share.
        at: Vec<(f64, Estimate)>,
    },
    /// Runs that name no task.
    WithoutTasks {
        /// Their number.
        without: usize,
        /// The number of runs.
        runs: usize,
    },
    /// What would be saved at another failure rate.
    AtFailureRate {
        /// The failure rate.
        rate: f64,
        /// What is saved.
        unit: Unit,
        /// The number of runs.
        runs: u64,
        /// The share saved, by stack; never empty.
        saved: Vec<(Label, Estimate)>,
    },
    /// The best of many stacks on the same runs looks better than it is.
    Luck {
        /// How many were tried.
        stacks: usize,
        /// What is chosen on one half of the tasks, and what it is worth on the other.
        chosen: ChosenElsewhere,
    },
    /// The suite and model that set the bound for all of them at once.
    WorstStratum {
        /// The stack.
        stack: Label,
        /// The stratum.
        worst: WorstStratum,
    },
    /// A stack compared with stopping in hindsight.
    Oracle {
        /// The stack.
        stack: Label,
        /// What is saved.
        unit: Unit,
        /// The share of it that the stack reaches.
        oracle: OracleShare,
        /// The failures stopped within a quarter, a half, three quarters of what they spent, and at all.
        stopped_by: Option<[f64; 4]>,
    },
    /// Tokens after the last effect of the runs, by outcome and model.
    Tail {
        /// The largest groups of runs.
        groups: Vec<TailOfGroup>,
        /// The number of other groups.
        more: usize,
    },
    /// How many of the successes that a stack stops early had their final edit.
    KilledStanding {
        /// The stack.
        stack: Label,
        /// The successes it stops early, certainly and at most.
        killed: (u64, u64),
        /// Those with their final edit, at least and at most.
        standing: (u64, u64),
    },
    /// What "cut short" means.
    CutShortMeans,
    /// How to grade runs.
    HowToGrade,
    /// Tokens are known of a part of the runs.
    TokensKnown {
        /// Runs with tokens.
        known: u64,
        /// All runs.
        runs: u64,
        /// The plural of what counts as a run.
        noun: &'static str,
    },
    /// What a perfect stop could save.
    PerfectStop {
        /// The share of the tokens that come after the last effect, at least and at most; `None` if no run has one.
        tail: Option<(f64, f64)>,
        /// Runs without an effect.
        idle: u64,
        /// All runs.
        runs: u64,
        /// The plural of what counts as a run.
        noun: &'static str,
    },
}

/// Tokens after the last effect in the runs of one outcome and model.
#[derive(Clone, Debug)]
pub struct TailOfGroup {
    /// The outcome.
    pub outcome: Outcome,
    /// The model, if it is named.
    pub model: Option<String>,
    /// The share of the tokens, at least and at most.
    pub share: (f64, f64),
    /// The number of runs.
    pub runs: u64,
}

/// Maximum stacks that are listed one by one because they could not be judged.
const LISTED: usize = 6;
/// With fewer stacks than this, luck is not mentioned.
const MANY: usize = 6;

/// On how many runs a stack could be judged by all of its rules.
#[derive(Clone, Debug)]
pub struct JudgedRuns {
    /// The stack.
    pub stack: Label,
    /// The runs on which it could be judged.
    pub judged: u64,
    /// All runs.
    pub runs: u64,
}

impl JudgedRuns {
    fn new(summary: &Summary) -> Self {
        Self { stack: summary.stack.clone(), judged: summary.read_runs(), runs: summary.runs }
    }
}

impl FirstTable<'_> {
    /// The notes on the table alone: the letters of the unknown column, and the stacks that are not in the table.
    pub fn notes(&self) -> Vec<AnswerNote> {
        let mut notes = Vec::new();
        let any = |count: Count| self.shown.iter().any(|summary| summary.counted(count) > 0);
        let unread = any(Count::NotEvaluableRuns);
        let diverged = any(Count::Diverged);
        let ungraded = any(Count::UnlabelledRuns);
        if (unread || diverged || ungraded) && !self.is_ungraded() {
            notes.push(AnswerNote::Letters { unread, diverged, ungraded });
        }
        if let Some(worse) = self.pooling()
            && self.ship().map(|ship| &ship.stack) != Some(&worse.stack)
        {
            notes.push(AnswerNote::Pooled(Box::new(worse)));
        }
        if !self.folded.is_empty() {
            notes.push(AnswerNote::Folded(labels(&self.folded)));
        }
        if !self.idle.is_empty() {
            notes.push(AnswerNote::NeverActed(self.idle.iter().map(|summary| JudgedRuns::new(summary)).collect()));
        }
        for summary in self.unread.iter().take(LISTED) {
            notes.push(not_judged(summary, self.rows));
        }
        if self.unread.len() > LISTED {
            notes.push(AnswerNote::NotJudgedEither(labels(&self.unread[LISTED..])));
        }
        notes
    }
}

fn labels(summaries: &[&Summary]) -> Vec<Label> {
    summaries.iter().map(|summary| summary.stack.clone()).collect()
}

/// What a stack lacks on every run, and what is known about it anyway.
fn not_judged(summary: &Summary, rows: &Rows) -> AnswerNote {
    let any_success = rows.for_stack(&summary.stack).any(|row| row.outcome() == Outcome::Success);
    let bounds = summary.estimates.fes_rate.bounds();
    let kills = bounds.filter(|bounds| any_success && bounds.width() < 1.0);
    AnswerNote::NotJudged { stack: JudgedRuns::new(summary), lacks: super::lacks(summary, rows), kills }
}

/// The notes that go beyond the first table: luck among many stacks, other suites, other failure rates. `chosen_apart`:
/// the choice was made on other tasks, so it includes no luck.
pub fn further(
    rows: &Rows,
    ship: Option<usize>,
    unit: Unit,
    terms: ShipTerms,
    failure_rate: Option<f64>,
    chosen_apart: bool,
) -> Vec<AnswerNote> {
    let groups = by_stack(rows);
    let mut notes = Vec::new();
    if let Some(chosen) = chosen_elsewhere(&groups, ship, unit, terms) {
        let group = groups.iter().find(|group| group.stack == chosen.stack);
        if groups.len() >= MANY && !chosen_apart {
            notes.push(AnswerNote::Luck { stacks: groups.len(), chosen });
        }
        if let Some(group) = group {
            notes.extend(shipped_notes(group, unit));
        }
    }
    if let Some(rate) = failure_rate {
        let mut saved = Vec::new();
        for group in &groups {
            let estimate = saved_at(group, unit, rate);
            if estimate.value.is_some() {
                saved.push((group.stack.clone(), estimate));
            }
        }
        if !saved.is_empty() {
            let runs = groups.first().map_or(0, |group| group.len() as u64);
            notes.push(AnswerNote::AtFailureRate { rate, unit, runs, saved });
        }
    }
    notes
}

/// For the stack to ship: the worst suite, the comparison with the oracle, and how early it stops failures.
fn shipped_notes(group: &Group<'_>, unit: Unit) -> Vec<AnswerNote> {
    let mut notes = Vec::new();
    if let Some(worst) = worst_stratum(group) {
        notes.push(AnswerNote::WorstStratum { stack: group.stack.clone(), worst });
    }
    let oracle = oracle_share(group, unit);
    if oracle.reached.value.is_some() && oracle.oracle.is_some() {
        notes.push(AnswerNote::Oracle {
            stack: group.stack.clone(),
            unit,
            oracle,
            stopped_by: stopped_by(group, unit),
        });
    }
    notes
}

/// A note on runs that name no task; `None` if all do.
pub fn without_tasks(groups: &[Group<'_>]) -> Option<AnswerNote> {
    let group = groups.first()?;
    let without = group.rows().filter(|row| row.task_id().is_none()).count();
    if without == 0 { None } else { Some(AnswerNote::WithoutTasks { without, runs: group.len() }) }
}
