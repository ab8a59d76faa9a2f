//! The results of each stack before and now, and which stacks were renamed or come from another version.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Changed, Importance, Rename, Upgrade, name_before};
use crate::snapshot::{StackNumbers, StackStops, StopSnapshot};

/// How a stack changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StackChange {
    /// Its stops and numbers are unchanged.
    Same,
    /// Its stops or numbers changed.
    Changed,
    /// It is new.
    New,
    /// It no longer exists.
    Gone,
}

/// The results of one stack, before and now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackEffect {
    /// Its name; the current one if it was renamed.
    pub stack: String,
    /// How it changed.
    pub state: StackChange,
    /// Whether its rules or settings changed. `None` if that is unknown.
    pub rules_changed: Option<bool>,
    /// Its results before.
    pub before: Option<StackNumbers>,
    /// Its results now.
    pub now: Option<StackNumbers>,
    /// Number of changed stop points, on runs that both states have.
    pub changed: u64,
    /// Successes that are killed now but were not before.
    pub killed: Vec<String>,
    /// Successes that are not killed now but were before.
    pub kept: Vec<String>,
}

/// Stacks that are gone, each with the new stack that does the same: one with equal rules, or else with equal stops if
/// it stops anything at all.
pub(super) fn renames(before: &StopSnapshot, now: &StopSnapshot) -> Vec<Rename> {
    let gone: Vec<_> = before.stacks.iter().filter(|(name, _)| !now.stacks.contains_key(*name)).collect();
    let mut new: Vec<_> = now.stacks.iter().filter(|(name, _)| !before.stacks.contains_key(*name)).collect();
    let same_rules =
        |a: &StackStops, b: &StackStops| matches!((&a.rules, &b.rules), (Some(a), Some(b)) if a.print == b.print);
    let same_stops =
        |a: &StackStops, b: &StackStops| a.stops == b.stops && a.stops.values().any(|stop| stop.rule.is_some());
    let mut found: BTreeMap<&String, &String> = BTreeMap::new();
    for alike in [&same_rules as &dyn Fn(&StackStops, &StackStops) -> bool, &same_stops] {
        for (was, stops) in &gone {
            if found.contains_key(was) {
                continue;
            }
            if let Some(at) = new.iter().position(|(_, other)| alike(stops, other) && shared_stops_agree(stops, other))
            {
                found.insert(was, new.remove(at).0);
            }
        }
    }
    found.into_iter().map(|(before, now)| Rename { before: before.clone(), now: now.clone() }).collect()
}

/// Whether they stop alike on every run that both have.
fn shared_stops_agree(before: &StackStops, now: &StackStops) -> bool {
    before.stops.iter().all(|(run, stop)| now.stops.get(run).is_none_or(|other| other == stop))
}

/// Version changes: of whenstop, and of the frameworks whose rules a stack consults.
pub(super) fn upgrades(before: &StopSnapshot, now: &StopSnapshot, renames: &[Rename]) -> Vec<Upgrade> {
    let mut found = Vec::new();
    if let (Some(was), Some(is)) = (&before.whenstop, &now.whenstop)
        && was != is
    {
        let of = |version: &str| format!("whenstop {version}");
        found.push(Upgrade { before: of(was), now: of(is), stacks: Vec::new() });
    }
    let mut sources: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (name, stack) in &now.stacks {
        let Some(old) = before.stacks.get(name_before(renames, name)) else { continue };
        if let (Some(was), Some(is)) = (&old.rules, &stack.rules)
            && was.source != is.source
        {
            sources.entry((&was.source, &is.source)).or_default().insert(name);
        }
    }
    found.extend(sources.into_iter().map(|((before, now), stacks)| Upgrade {
        before: before.to_owned(),
        now: now.to_owned(),
        stacks: stacks.into_iter().map(str::to_owned).collect(),
    }));
    found
}

/// Every stack of either state, by name.
pub(super) fn effects(
    before: &StopSnapshot,
    now: &StopSnapshot,
    renames: &[Rename],
    changes: &[Changed],
) -> Vec<StackEffect> {
    let mut effects: BTreeMap<&str, StackEffect> = BTreeMap::new();
    for (name, stack) in &now.stacks {
        let was = name_before(renames, name);
        effects.insert(name, effect(name, before.stacks.get(was), Some(stack), changes));
    }
    let gone = before.stacks.iter().filter(|(name, _)| !renames.iter().any(|rename| rename.before == **name));
    for (name, stack) in gone.filter(|(name, _)| !now.stacks.contains_key(*name)) {
        effects.insert(name, effect(name, Some(stack), None, changes));
    }
    effects.into_values().collect()
}

fn effect(name: &str, before: Option<&StackStops>, now: Option<&StackStops>, changes: &[Changed]) -> StackEffect {
    let own = || changes.iter().filter(|change| change.stack == name);
    let runs = |wanted: Importance| {
        own().filter(|change| change.importance == wanted).map(|change| change.run.clone()).collect()
    };
    let print = |stack: Option<&StackStops>| Some(stack?.rules.as_ref()?.print.clone());
    let n_changed = own().count() as u64;
    let numbers = (before.map(StackStops::numbers), now.map(StackStops::numbers));
    // The numbers of a snapshot made from rows alone are incomplete: compare only what both have.
    let differ = match (before, now) {
        (Some(before), Some(now)) if before.stops.len() != now.stops.len() => true,
        (Some(before), Some(now)) => before.numbers.is_some() && before.numbers != now.numbers,
        _ => false,
    };
    let state = match (before, now) {
        (None, _) => StackChange::New,
        (_, None) => StackChange::Gone,
        _ if n_changed > 0 || differ => StackChange::Changed,
        _ => StackChange::Same,
    };
    StackEffect {
        stack: name.to_owned(),
        state,
        rules_changed: print(before).zip(print(now)).map(|(before, now)| before != now),
        before: numbers.0,
        now: numbers.1,
        changed: n_changed,
        killed: runs(Importance::Kill),
        kept: runs(Importance::Kept),
    }
}
