//! What a change does: compares two states of the same stacks (before and now), first in sum, then run by run, and
//! writes the result in formats for CI systems and people.
//!
//! It works on snapshots and numbers; of a recording it sees only the texts around a stop.

mod annotations;
mod checked;
mod effect;
mod findings;
mod importance;
mod json;
mod junit;
mod markdown;
mod sarif;
mod settled;
mod table;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::snapshot::{CorpusPrint, StopLine, StopSnapshot};
use crate::words::some_of;

pub use annotations::{code_quality, workflow_commands};
pub use checked::{CheckResult, CheckedGate};
pub use effect::{StackChange, StackEffect};
pub use findings::{FindingLevel, LineFinding, Places};
pub use importance::{ChangeGroup, Importance};
pub use json::{CHECK_SCHEMA, LINT_SCHEMA, check_json, lint_json};
pub use junit::junit;
pub use markdown::{lint_markdown, markdown};
pub use sarif::sarif;
pub use settled::settled;
pub use table::net_effect;
pub use words::{StopContext, TranscriptKind, TranscriptLine};

/// Maximum changed runs that are shown in full.
pub const TOLD: usize = 10;

/// A changed stop point, on a run that both states have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// The run.
    pub run: String,
    /// The stack, by its current name.
    pub stack: String,
    /// What the change means.
    pub importance: Importance,
    /// The stop before.
    pub before: StopLine,
    /// The stop now.
    pub now: StopLine,
    /// The texts around the stop, if a recording was available.
    pub words: Option<StopContext>,
}

/// A set of rules that now comes from another version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Upgrade {
    /// The version before.
    pub before: String,
    /// The version now.
    pub now: String,
    /// The stacks that use it.
    pub stacks: Vec<String>,
}

/// A renamed stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rename {
    /// The name before.
    pub before: String,
    /// The name now.
    pub now: String,
}

/// What the stack was called before.
fn name_before<'n>(renames: &'n [Rename], name: &'n str) -> &'n str {
    match renames.iter().find(|rename| rename.now == name) {
        Some(rename) => &rename.before,
        None => name,
    }
}

/// How the recordings differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CorpusChange {
    /// The recordings of the earlier state; `None` if it does not say.
    pub before: Option<CorpusPrint>,
    /// The recordings of the current state.
    pub now: Option<CorpusPrint>,
    /// Runs that are new.
    pub added: Vec<String>,
    /// Runs that are gone.
    pub gone: Vec<String>,
}

impl CorpusChange {
    /// Whether runs were added or removed, or runs of the same name differ.
    pub fn is_change(&self) -> bool {
        !self.same_runs() || matches!((&self.before, &self.now), (Some(before), Some(now)) if before.print != now.print)
    }

    /// Whether both states have runs of the same names.
    pub fn same_runs(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty()
    }
}

/// The comparison of two states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeReview {
    /// The recordings.
    pub corpus: CorpusChange,
    /// Renamed stacks that do the same as before.
    pub renames: Vec<Rename>,
    /// Rules that come from another version of a framework or of whenstop.
    pub upgrades: Vec<Upgrade>,
    /// Each stack, by name: its results before and now.
    pub stacks: Vec<StackEffect>,
    /// Changed runs grouped by what changed, most important first.
    pub groups: Vec<ChangeGroup>,
    /// Every changed stop point, most important first.
    pub changes: Vec<Changed>,
}

impl ChangeReview {
    /// Compares `now` with `before`. `words` are keyed by stack (its current name) and run.
    pub fn between(
        before: &StopSnapshot,
        now: &StopSnapshot,
        mut words: BTreeMap<(String, String), StopContext>,
    ) -> Self {
        let renames = effect::renames(before, now);
        let (runs_before, runs_now) = (before.runs(), now.runs());
        let names = |runs: Vec<&&str>| runs.into_iter().map(|run| (*run).to_owned()).collect();
        let mut changes = Vec::new();
        for (stack, stops) in &now.stacks {
            let Some(old) = before.stacks.get(name_before(&renames, stack)) else { continue };
            for (run, line) in &stops.stops {
                let Some(was) = old.stops.get(run).filter(|was| *was != line) else { continue };
                changes.push(Changed {
                    run: run.clone(),
                    stack: stack.clone(),
                    importance: Importance::between(was, line),
                    before: was.clone(),
                    now: line.clone(),
                    words: words.remove(&(stack.clone(), run.clone())),
                });
            }
        }
        changes.sort_by(importance::order);
        Self {
            corpus: CorpusChange {
                before: before.corpus.clone(),
                now: now.corpus.clone(),
                added: names(runs_now.difference(&runs_before).collect()),
                gone: names(runs_before.difference(&runs_now).collect()),
            },
            upgrades: effect::upgrades(before, now, &renames),
            stacks: effect::effects(before, now, &renames, &changes),
            groups: importance::groups(&changes),
            renames,
            changes,
        }
    }

    /// Whether any stop point changed, is on a new run, or is of a new stack. A rename alone is no change.
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
            || !self.corpus.same_runs()
            || self.stacks.iter().any(|stack| matches!(stack.state, StackChange::New | StackChange::Gone))
    }

    /// Whether nothing differs but that there are runs that were not there before, whatever became of the others.
    pub fn has_only_new_runs(&self) -> bool {
        let same_stacks = self.stacks.iter().all(|stack| !matches!(stack.state, StackChange::New | StackChange::Gone));
        self.changes.is_empty() && same_stacks && !self.corpus.added.is_empty()
    }

    /// The changes shown in full: the most important, up to [`TOLD`]. Stops at the same point with the same verdict
    /// are only counted.
    pub fn in_full(&self) -> &[Changed] {
        let mattering = self.changes.iter().take_while(|change| change.importance.matters()).count();
        &self.changes[..mattering.min(TOLD)]
    }

    /// The number of changed stop points, in words.
    pub fn sentence(&self) -> String {
        let n = match self.changes.len() {
            0 if self.corpus.is_all_new() => "no run is in both, so no stop point could change".to_owned(),
            0 => "no stop point changed".to_owned(),
            1 => "1 stop point changed".to_owned(),
            n => format!("{n} stop points changed"),
        };
        let runs: BTreeSet<&str> = self.changes.iter().map(|change| &*change.run).collect();
        let runs = match runs.len() {
            0 => String::new(),
            1 => ", on 1 run".to_owned(),
            n => format!(", on {n} runs"),
        };
        n + &runs
    }

    /// Notices that precede the numbers: other recordings, other names, other versions. One sentence each.
    pub fn notices(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.corpus.is_change() {
            lines.push(self.corpus.sentence());
            lines.extend(self.corpus.new_names());
        }
        for Rename { before, now } in &self.renames {
            lines.push(format!("`{before}` is called `{now}` now, and stops the same runs at the same points"));
        }
        for Upgrade { before, now, stacks } in &self.upgrades {
            let stacks = if stacks.is_empty() { String::new() } else { format!(" (in {})", listed(stacks)) };
            lines.push(format!("the rules were those of {before}, and are those of {now}{stacks}"));
        }
        for stack in self.stacks.iter().filter(|stack| stack.state == StackChange::New) {
            lines.push(format!("`{}` is new: nobody has accepted its stop points yet", stack.stack));
        }
        for stack in self.stacks.iter().filter(|stack| stack.state == StackChange::Gone) {
            lines.push(format!("`{}` is gone: no stack is called so now", stack.stack));
        }
        lines
    }
}

impl CorpusChange {
    /// A hint where each run that is gone may be a new one under another name: snapshots of before named the runs of
    /// files of one name by their order (`x`, `x/x`, `x/x#2`), where now all are called after their paths.
    fn new_names(&self) -> Option<String> {
        let last = |name: &str| Some(name.split('#').next()?.rsplit('/').next()?.to_owned());
        let counts = |names: &[String]| {
            let mut counts: BTreeMap<Option<String>, usize> = BTreeMap::new();
            for name in names {
                *counts.entry(last(name)).or_default() += 1;
            }
            counts
        };
        let same = !self.gone.is_empty() && counts(&self.gone) == counts(&self.added);
        if !same {
            return None;
        }
        Some(
            "these may be the same runs under new names: where files of one name stand in several folders, their runs \
            are called after their paths; nothing here is compared between the two"
                .to_owned(),
        )
    }

    /// Whether no run of before is among those of now.
    fn is_all_new(&self) -> bool {
        let holds_all = |side: &Option<CorpusPrint>, names: &[String]| {
            !names.is_empty() && matches!(side, Some(print) if print.runs == names.len() as u64)
        };
        holds_all(&self.before, &self.gone) && holds_all(&self.now, &self.added)
    }

    fn sentence(&self) -> String {
        if self.is_all_new() {
            let (before, now) = (self.gone.len(), self.added.len());
            return format!("the recordings are others: none of {before} runs is among the {now} of now");
        }
        let runs = |n: usize| if n == 1 { "1 run is".to_owned() } else { format!("{n} runs are") };
        let total = |side: &Option<CorpusPrint>| side.as_ref().map(|print| print.runs);
        let total = match (total(&self.before), total(&self.now)) {
            (Some(before), Some(now)) if before != now => format!(", {before} before and {now} now"),
            _ => String::new(),
        };
        let mut parts = Vec::new();
        if !self.added.is_empty() {
            parts.push(format!("{} new ({})", runs(self.added.len()), listed(&self.added)));
        }
        if !self.gone.is_empty() {
            parts.push(format!("{} gone ({})", runs(self.gone.len()), listed(&self.gone)));
        }
        if parts.is_empty() {
            return "the recordings changed: the runs have the same names and other contents or outcomes".to_owned();
        }
        format!("the recordings changed{total}: {}", parts.join(", "))
    }
}

/// The heading of the runs that are shown in full.
pub(crate) fn told_title(told: usize, all: usize) -> String {
    match (told, all) {
        (1, 1) => "The change in full".to_owned(),
        (1, all) => format!("The one of {all} changes that matters most"),
        (told, all) if told == all => format!("The {all} changes in full"),
        (told, all) => format!("The {told} of {all} changes that matter most"),
    }
}

/// The first names, and how many more there are.
pub(crate) fn listed(names: &[String]) -> String {
    const NAMED: usize = 5;
    some_of(names, NAMED)
}
