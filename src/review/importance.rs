//! What a changed stop point means, which of many matter most, and which changed in the same way.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use serde::Serialize;

use super::Changed;
use crate::snapshot::StopLine;
use crate::transcript::Point;
use crate::verdict::Verdict;

/// What a change means, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Importance {
    /// A success is killed that was left alone.
    Kill,
    /// A failure runs on that was stopped.
    Missed,
    /// A success is left alone that was killed.
    Kept,
    /// A failure is stopped that ran on.
    Caught,
    /// The verdict is another one in some other way.
    Verdict,
    /// The same verdict at another point.
    Moved,
    /// The same verdict at the same point, by another rule.
    Rule,
}

impl Importance {
    /// Of a change from `before` to `now`.
    pub(super) fn of(before: &StopLine, now: &StopLine) -> Self {
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

    /// What the stack does now, as a sentence goes on after its name; `many` for several runs.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Kill => "kills a success it let be",
            Self::Missed => "lets a failure run on that it stopped",
            Self::Kept => "lets a success be that it killed",
            Self::Caught => "stops a failure that it let run on",
            Self::Verdict => "has another verdict",
            Self::Moved => "stops elsewhere, with the same verdict",
            Self::Rule => "stops there by another rule",
        }
    }

    /// The same of several runs.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Kill => "successes killed that were let be",
            Self::Missed => "failures run on that were stopped",
            Self::Kept => "successes let be that were killed",
            Self::Caught => "failures stopped that ran on",
            Self::Verdict => "with another verdict",
            Self::Moved => "stopped elsewhere, with the same verdict",
            Self::Rule => "stopped there by another rule",
        }
    }
}

/// The step a run was stopped at; `None` where it ran to its end.
fn step(line: &StopLine) -> Option<u32> {
    line.stop.parse::<Point>().ok().map(|point| point.step)
}

/// The most important first: by what it means, then by how far the stop moved, then the earliest stop, then by name.
pub(super) fn order(a: &Changed, b: &Changed) -> Ordering {
    let key = |change: &Changed| {
        let (before, now) = (step(&change.before), step(&change.now));
        // Up to the end, wherever that is, is the farthest.
        let moved = before.zip(now).map_or(u32::MAX, |(before, now)| before.abs_diff(now));
        (change.importance, Reverse(moved), before.into_iter().chain(now).min())
    };
    key(a).cmp(&key(b)).then_with(|| (&a.stack, &a.run).cmp(&(&b.stack, &b.run)))
}

/// Changed runs of one stack that changed in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// What the change means.
    pub importance: Importance,
    /// The stack.
    pub stack: String,
    /// The rule before; `None` where the runs went on to their end.
    pub rule_before: Option<String>,
    /// The rule now.
    pub rule_now: Option<String>,
    /// The verdict before.
    pub verdict_before: String,
    /// The verdict now.
    pub verdict_now: String,
    /// Where the stop went.
    pub point: Shift,
    /// The runs, the most important first.
    pub runs: Vec<String>,
}

/// Where a stop went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    /// To an earlier step.
    Earlier,
    /// To a later one.
    Later,
    /// To another moment of the same step, or not at all.
    SameStep,
    /// There was none.
    New,
    /// There is none any more.
    Gone,
}

impl Shift {
    fn of(before: &StopLine, now: &StopLine) -> Self {
        match (step(before), step(now)) {
            (None, Some(_)) => Self::New,
            (Some(_), None) => Self::Gone,
            (Some(before), Some(now)) if now < before => Self::Earlier,
            (Some(before), Some(now)) if now > before => Self::Later,
            _ => Self::SameStep,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Earlier => "earlier",
            Self::Later => "later",
            Self::SameStep => "at the same step",
            Self::New => "where they ran to the end",
            Self::Gone => "now to the end",
        }
    }
}

impl Group {
    /// The group in one sentence: how many, what it means, by which rule, where.
    pub fn sentence(&self) -> String {
        let n = self.runs.len();
        let meaning = if n == 1 {
            format!("`{}` {}", self.stack, self.importance.sentence())
        } else {
            format!("`{}`: {n} {}", self.stack, self.importance.plural())
        };
        let rule = match (&self.rule_before, &self.rule_now) {
            (Some(before), Some(now)) if before == now => format!("by `{now}`"),
            (Some(before), Some(now)) => format!("by `{now}`, not `{before}`"),
            (None, Some(now)) => format!("by `{now}`"),
            (Some(before), None) => format!("not by `{before}`"),
            (None, None) => String::new(),
        };
        let place = match (self.point, self.importance) {
            (Shift::New, Importance::Kill | Importance::Caught) => String::new(),
            (Shift::Gone, Importance::Missed | Importance::Kept) => String::new(),
            (shift, _) => format!(", {}", shift.name()),
        };
        let verdict = if self.importance == Importance::Verdict {
            format!(": {}, was {}", self.verdict_now, self.verdict_before)
        } else {
            String::new()
        };
        format!("{meaning} {rule}{place}{verdict} ({})", super::listed(&self.runs))
    }
}

/// What changed in the same way; those that matter most first, then those of the most runs.
pub(super) fn groups(changes: &[Changed]) -> Vec<Group> {
    let mut groups: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for change in changes {
        let (before, now) = (&change.before, &change.now);
        let key = (
            change.importance,
            &change.stack,
            (&before.rule, &now.rule),
            (&before.verdict, &now.verdict),
            Shift::of(before, now),
        );
        groups.entry(key).or_default().push(change.run.clone());
    }
    let mut groups: Vec<Group> = groups
        .into_iter()
        .map(|((importance, stack, (rule_before, rule_now), (verdict_before, verdict_now), point), runs)| Group {
            importance,
            stack: stack.clone(),
            rule_before: rule_before.clone(),
            rule_now: rule_now.clone(),
            verdict_before: verdict_before.clone(),
            verdict_now: verdict_now.clone(),
            point,
            runs,
        })
        .collect();
    groups.sort_by_key(|group| (group.importance, Reverse(group.runs.len())));
    groups
}
