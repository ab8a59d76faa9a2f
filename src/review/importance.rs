//! Classifies changed stop points, ranks them by importance, and groups those that changed in the same way.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use serde::Serialize;

use super::Changed;
use crate::snapshot::StopLine;
use crate::transcript::{Point, named};
use crate::verdict::Verdict;

named! {
    /// What a change means, most important first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Importance {
        /// A success is now killed that was left alone before.
        Kill = "kill",
        /// A failure now runs on that was stopped before.
        Missed = "missed",
        /// A success is now left alone that was killed before.
        Kept = "kept",
        /// A failure is now stopped that ran on before.
        Caught = "caught",
        /// The verdict changed in some other way.
        Verdict = "verdict",
        /// The same verdict at another point.
        Moved = "moved",
        /// The same verdict at the same point, by another rule.
        Rule = "rule",
    }
}

impl Importance {
    /// The importance of a change from `before` to `now`.
    pub(super) fn between(before: &StopLine, now: &StopLine) -> Self {
        let is = |line: &StopLine, verdicts: &[Verdict]| verdicts.iter().any(|verdict| verdict.name() == line.verdict);
        let kills = |line: &StopLine| is(line, &[Verdict::FalseEarlyStop, Verdict::UnverifiedFalseEarlyStop]);
        let catches = |line: &StopLine| is(line, &[Verdict::TrueStop, Verdict::Rescued]);
        match (kills(before), kills(now), catches(before), catches(now)) {
            (false, true, ..) => Self::Kill,
            (true, false, ..) => Self::Kept,
            (_, _, true, false) => Self::Missed,
            (_, _, false, true) => Self::Caught,
            _ if before.verdict != now.verdict => Self::Verdict,
            _ if before.stop != now.stop => Self::Moved,
            _ => Self::Rule,
        }
    }

    /// Whether such changes are shown in full. Stops at the same point with the same verdict are only counted.
    pub(super) fn matters(self) -> bool {
        self != Self::Rule
    }
}

/// The step a run was stopped at; `None` if it ran to its end.
fn step(line: &StopLine) -> Option<u32> {
    line.stop.parse::<Point>().ok().map(|point| point.step)
}

/// Most important first: by what the change means, then by how far the stop moved, then the earliest stop, then by
/// name.
pub(super) fn order(a: &Changed, b: &Changed) -> Ordering {
    let key = |change: &Changed| {
        let (before, now) = (step(&change.before), step(&change.now));
        // A stop that appeared or disappeared counts as the farthest move.
        let moved = match (before, now) {
            (Some(before), Some(now)) => before.abs_diff(now),
            _ => u32::MAX,
        };
        (change.importance, Reverse(moved), before.into_iter().chain(now).min())
    };
    key(a).cmp(&key(b)).then_with(|| (&a.stack, &a.run).cmp(&(&b.stack, &b.run)))
}

/// Changed runs of one stack that changed in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeGroup {
    /// What the change means.
    pub importance: Importance,
    /// The stack.
    pub stack: String,
    /// The rule before; `None` if the runs went on to their end.
    pub rule_before: Option<String>,
    /// The rule now.
    pub rule_now: Option<String>,
    /// The verdict before; `None` if it did not change.
    pub verdict_before: Option<String>,
    /// The verdict now.
    pub verdict_now: Option<String>,
    /// How the stop moved.
    pub point: Shift,
    /// The runs, most important first.
    pub runs: Vec<String>,
}

/// How a stop moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    /// To an earlier step.
    Earlier,
    /// To a later one.
    Later,
    /// To another moment of the same step, or not at all.
    SameStep,
    /// There was no stop before.
    New,
    /// There is no stop any more.
    Gone,
}

impl Shift {
    fn between(before: &StopLine, now: &StopLine) -> Self {
        match (step(before), step(now)) {
            (None, Some(_)) => Self::New,
            (Some(_), None) => Self::Gone,
            (Some(before), Some(now)) if now < before => Self::Earlier,
            (Some(before), Some(now)) if now > before => Self::Later,
            _ => Self::SameStep,
        }
    }
}

impl ChangeGroup {
    /// The group in one sentence: how many runs, what the change means, by which rule.
    pub fn sentence(&self) -> String {
        let n = self.runs.len();
        let meaning = if n == 1 { self.meaning_for_one().to_owned() } else { self.meaning_for_several(n) };
        let colon = if n == 1 { "" } else { ":" };
        let verdict = match (&self.verdict_before, &self.verdict_now) {
            (Some(before), Some(now)) if self.importance == Importance::Verdict => {
                format!(": {} now, {} before", in_words(now), in_words(before))
            }
            _ => String::new(),
        };
        let rule = match (&self.rule_before, &self.rule_now) {
            (Some(before), Some(now)) if before != now => format!(", by `{now}` (was `{before}`)"),
            (_, Some(now)) => format!(", by `{now}`"),
            (Some(before), None) => format!(", not by `{before}` any more"),
            (None, None) => String::new(),
        };
        let unverified = self.verdict_now.as_deref() == Some(Verdict::UnverifiedFalseEarlyStop.name());
        let doubt = if unverified { " (nothing tells when it was secured)" } else { "" };
        format!("`{}`{colon} {meaning}{doubt}{verdict}{rule}: {}", self.stack, super::listed(&self.runs))
    }

    /// What the stack does with one run, to follow its name in a sentence.
    fn meaning_for_one(&self) -> &'static str {
        match (self.importance, self.point) {
            (Importance::Kill, _) => "kills a success that it left alone",
            (Importance::Missed, _) => "lets a failure run on that it stopped",
            (Importance::Kept, _) => "leaves a success alone that it killed",
            (Importance::Caught, _) => "stops a failure that it let run on",
            (Importance::Verdict, _) => "has another verdict on a run",
            (Importance::Moved, Shift::Earlier) => "stops a run earlier, with the same verdict",
            (Importance::Moved, Shift::Later) => "stops a run later, with the same verdict",
            (Importance::Moved, Shift::New) => "stops a run that went on to its end, with the same verdict",
            (Importance::Moved, Shift::Gone) => "lets a run go on to its end, with the same verdict",
            (Importance::Moved, Shift::SameStep) => "stops a run elsewhere in the same step",
            (Importance::Rule, _) => "stops a run where it did, by another rule",
        }
    }

    /// The same for several runs.
    fn meaning_for_several(&self, n: usize) -> String {
        match (self.importance, self.point) {
            (Importance::Kill, _) => format!("{n} successes are killed that were left alone"),
            (Importance::Missed, _) => format!("{n} failures run on that were stopped"),
            (Importance::Kept, _) => format!("{n} successes are left alone that were killed"),
            (Importance::Caught, _) => format!("{n} failures are stopped that ran on"),
            (Importance::Verdict, _) => format!("{n} runs have another verdict"),
            (Importance::Moved, Shift::Earlier) => format!("{n} runs stop earlier, with the same verdict"),
            (Importance::Moved, Shift::Later) => format!("{n} runs stop later, with the same verdict"),
            (Importance::Moved, Shift::New) => {
                format!("{n} runs stop that went on to their end, with the same verdict")
            }
            (Importance::Moved, Shift::Gone) => format!("{n} runs go on to their end, with the same verdict"),
            (Importance::Moved, Shift::SameStep) => format!("{n} runs stop elsewhere in the same step"),
            (Importance::Rule, _) => format!("{n} runs stop where they did, by another rule"),
        }
    }
}

/// A verdict in words, to follow "the runs are".
fn in_words(verdict: &str) -> &str {
    match verdict.parse() {
        Ok(Verdict::FalseEarlyStop | Verdict::UnverifiedFalseEarlyStop) => "killed",
        Ok(Verdict::GoodTrim) => "stopped after the success",
        Ok(Verdict::TrueStop) => "stopped failures",
        Ok(Verdict::Rescued) => "stopped before the success was lost",
        Ok(Verdict::MissedStop) => "failures that ran on",
        Ok(Verdict::LostSuccess) => "successes lost later on",
        Ok(Verdict::CleanPass) => "left alone",
        Ok(Verdict::Unlabelled) => "of unknown outcome",
        Err(()) => verdict,
    }
}

/// Groups changes of the same kind; the most important groups first, then those with the most runs.
pub(super) fn groups(changes: &[Changed]) -> Vec<ChangeGroup> {
    let mut groups: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for change in changes {
        let (before, now) = (&change.before, &change.now);
        let key = (
            change.importance,
            &change.stack,
            (&before.rule, &now.rule),
            // Runs whose verdict did not change may have any verdict.
            if before.verdict == now.verdict { None } else { Some((&before.verdict, &now.verdict)) },
            Shift::between(before, now),
        );
        groups.entry(key).or_default().push(change.run.clone());
    }
    let mut groups: Vec<ChangeGroup> = groups
        .into_iter()
        .map(|((importance, stack, (rule_before, rule_now), verdicts, point), runs)| ChangeGroup {
            importance,
            stack: stack.clone(),
            rule_before: rule_before.clone(),
            rule_now: rule_now.clone(),
            verdict_before: verdicts.map(|(before, _)| before.clone()),
            verdict_now: verdicts.map(|(_, now)| now.clone()),
            point,
            runs,
        })
        .collect();
    groups.sort_by_key(|group| (group.importance, Reverse(group.runs.len())));
    groups
}
