//! Exports a stack as a host's own configuration: finds settings that make our model of the host act as the stack does,
//! and writes them in the host's file format.
//!
//! Each clause is held exactly, held with a stated difference, or refused with a reason. An export is verified by
//! reading it back: running the host's rules with its settings ([`ExportedStack::strategy`]) must give the same rows if the
//! export is called exact. This applies to recordings as the host itself would make them, in which a reply without a
//! call ends a prompt's run.

mod agents;
mod fit;
mod own;
mod readback;
mod snippet;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::catalog;
use crate::decision::{RuleName, Strategy};
use crate::diagnostic::nearest;
use crate::framework::{Framework, FrameworkKind, Parameter, setting};
use crate::host::{ClauseSlot, ExportTarget};
use crate::stack::{Stack, Use};

pub use agents::agents;
pub use fit::{DifferenceGrade, ExportDifference};
pub use own::stack_file;
pub use snippet::comment;

/// A framework a stack can be exported to.
#[derive(Clone, Copy, Debug)]
pub struct HostInfo {
    /// Its name in stack files.
    pub id: &'static str,
    /// The version these settings apply to; for a system, its profile.
    pub version: &'static str,
    /// What it can hold.
    pub host: &'static ExportTarget,
    /// Its parameters; empty for an agent whose own rules are not replayed here.
    pub parameters: &'static [Parameter],
}

impl HostInfo {
    /// A parameter's description and default, as written; `None` if it is not declared.
    fn default_of(&self, name: &str) -> Option<(&'static str, &'static str)> {
        let parameter = self.parameters.iter().find(|parameter| parameter.name == name)?;
        Some((parameter.doc, parameter.default_in(self.host.profile.as_deref().unwrap_or_default())))
    }
}

/// Every host, in the order in which frameworks are listed.
pub fn hosts() -> Vec<HostInfo> {
    let host = |framework: &'static Framework| {
        let profile = || framework.host.profile.as_deref().or(framework.profiles.first().map(|profile| profile.name));
        let version = match framework.kind {
            FrameworkKind::System => profile().unwrap_or(""),
            FrameworkKind::Preset => framework.version,
        };
        HostInfo { id: framework.id, version, host: &framework.host, parameters: framework.parameters }
    };
    catalog::frameworks().map(host).collect()
}

/// Names by which hosts are known, too.
const OTHER_NAMES: &[(&str, &str)] =
    &[("langgraph", "langchain"), ("claude", "claude-code"), ("copilot", "copilot-cli")];

/// The host with this name; else the name that was probably meant, if any is close.
pub fn find(name: &str) -> Result<HostInfo, Option<&'static str>> {
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
    let name = if let Some((_, id)) = other { id } else { name };
    let mut all = hosts();
    all.extend(agents());
    all.iter().find(|info| info.id == name).copied().ok_or_else(|| nearest(name, all.iter().map(|info| info.id)))
}

/// The result for one clause.
#[derive(Clone, Debug, PartialEq)]
pub enum ClauseOutcome {
    /// A parameter holds it.
    Held {
        /// The parameter's name.
        parameter: &'static str,
        /// Its value, as JSON.
        value: Value,
        /// The error with which it fails when it fires; empty if it raises none.
        raises: &'static str,
        /// How it differs from the clause; empty if it is exact.
        differences: Vec<ExportDifference>,
    },
    /// No parameter holds it.
    Refused {
        /// Why.
        why: String,
    },
}

/// A clause or the cap, with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// Its name in tables.
    pub rule: RuleName,
    /// Whether and how it is held.
    pub outcome: ClauseOutcome,
}

/// A stack expressed in a host's settings.
#[derive(Clone, Debug)]
pub struct ExportedStack {
    /// The host.
    pub to: HostInfo,
    /// The stack's name.
    pub stack: String,
    /// Its clauses in order, the cap last.
    pub clauses: Vec<Exported>,
    /// The settings, as nested tables.
    pub set: Map<String, Value>,
    /// The host's own rules that still act beside it, by the parameter that would switch each off.
    pub untouched: Vec<&'static str>,
    /// The parameters set to switch off the host's own rules, each with what it is.
    pub turned_off: Vec<(&'static str, String)>,
    /// The items added to lists, as the list's name and the item's text in the snippet.
    items: Vec<(&'static str, String)>,
    /// Whether the stack has a limit on steps, of which a host may tell its agent.
    limits_steps: bool,
}

impl ExportedStack {
    /// Expresses `stack` in the settings of `to`, and sets nothing else: the host's own rules stay as they are. With
    /// `nearest`, also accepts settings with which the host would act differently from the clause.
    pub fn new(stack: &Stack, to: HostInfo, nearest: bool) -> Self {
        let mut export = Self::empty(&stack.name, to);
        export.limits_steps = stack.step_limit().is_some();
        let mut taken: Vec<(&'static ClauseSlot, Value)> = Vec::new();
        for (rule, wish) in fit::wishes(stack) {
            let held = wish.and_then(|wish| fit::hold(&wish, to, nearest));
            let outcome = held.and_then(|held| {
                add(&mut taken, held.slot, &held.value)?;
                Ok(ClauseOutcome::Held {
                    parameter: &held.slot.parameter,
                    value: held.value,
                    raises: &held.slot.error,
                    differences: held.differences,
                })
            });
            export
                .clauses
                .push(Exported { rule, outcome: outcome.unwrap_or_else(|why| ClauseOutcome::Refused { why }) });
        }
        for (slot, value) in taken {
            export.put(slot, value);
        }
        for (name, value) in &to.host.quiet {
            let default = to.default_of(name);
            let is_off = matches!(default, Some((_, default)) if Parameter::value_of(default) == json(value));
            if setting(&export.set, name).is_none() && !is_off {
                export.untouched.push(name);
            }
        }
        export
    }

    /// Settings of the host itself, as a stack file has them. One for which its own file has no place is refused.
    pub fn from_settings(used: &Use, to: HostInfo) -> Self {
        let mut export = Self::empty(&used.name, to);
        for (name, value) in &used.set {
            // TOML cannot say none.
            let value = if value == "none" { Value::Null } else { value.clone() };
            let has_place = to.host.template.is_empty() || to.host.template.contains(&format!("{name}>>"));
            let parameter = to.parameters.iter().find(|parameter| parameter.name == *name).filter(|_| has_place);
            let outcome = match parameter {
                Some(parameter) => {
                    put(&mut export.set, name, value.clone());
                    ClauseOutcome::Held { parameter: parameter.name, value, raises: "", differences: Vec::new() }
                }
                None => ClauseOutcome::Refused { why: format!("this has no place for it: set it to {value} by hand") },
            };
            export.clauses.push(Exported { rule: RuleName::new(name), outcome });
        }
        let limits_steps =
            |slot: &ClauseSlot| slot.signal == "steps" && setting(&export.set, &slot.parameter).is_some();
        export.limits_steps = to.host.slots.iter().any(limits_steps);
        export
    }

    fn empty(stack: &str, to: HostInfo) -> Self {
        Self {
            to,
            stack: stack.to_owned(),
            clauses: Vec::new(),
            set: Map::new(),
            untouched: Vec::new(),
            turned_off: Vec::new(),
            items: Vec::new(),
            limits_steps: false,
        }
    }

    /// Switches off the host's own rules, as far as it has settings for that: then nothing but the stack acts, as in a
    /// replay.
    #[must_use]
    pub fn only_this(mut self) -> Self {
        let quiet = self.to.host.quiet.iter().filter(|(name, _)| self.untouched.contains(&name.as_str()));
        for (name, value) in quiet {
            let what = match self.to.default_of(name) {
                None => "a rule of its own".to_owned(),
                Some((doc, "null")) => doc.to_owned(),
                Some((doc, default)) => format!("{doc} (default {default})"),
            };
            self.turned_off.push((name, what));
            put(&mut self.set, name, json(value));
        }
        self.untouched.clear();
        self
    }

    /// Whether the host does by default what it is set to here.
    pub fn is_default(&self) -> bool {
        let is_default = |clause: &Exported| match &clause.outcome {
            ClauseOutcome::Held { parameter, value, .. } => self.is_default_of(parameter, value),
            ClauseOutcome::Refused { .. } => true,
        };
        self.n_held() > 0 && self.turned_off.is_empty() && self.clauses.iter().all(is_default)
    }

    fn is_default_of(&self, parameter: &str, value: &Value) -> bool {
        let Some((_, default)) = self.to.default_of(parameter) else { return false };
        let default = Parameter::value_of(default).as_f64();
        default.is_some() && default == value.as_f64()
    }

    /// Sets a parameter.
    fn put(&mut self, slot: &'static ClauseSlot, value: Value) {
        for (name, value) in &slot.with {
            put(&mut self.set, name, json(value));
        }
        match &slot.item {
            None => put(&mut self.set, &slot.parameter, value),
            Some((item, written)) => {
                let text = value.to_string();
                let native = snippet::string(value.as_str().unwrap_or_default(), self.to.host.syntax);
                // A text is put in without its quotation marks.
                let (text, native) = match value {
                    Value::String(_) => (&text[1..text.len() - 1], &native[1..native.len() - 1]),
                    _ => (text.as_str(), text.as_str()),
                };
                push(&mut self.set, &slot.parameter, json(&item.replace('$', text)));
                self.items.push((&slot.parameter, written.replace('$', native)));
            }
        }
    }

    /// The number of clauses held.
    pub fn n_held(&self) -> usize {
        self.clauses.iter().filter(|clause| matches!(clause.outcome, ClauseOutcome::Held { .. })).count()
    }

    /// Whether every clause is held.
    pub fn holds_all(&self) -> bool {
        self.n_held() == self.clauses.len()
    }

    /// All differences of the clauses held, without duplicates, the most serious first.
    pub fn differences(&self) -> Vec<&ExportDifference> {
        let mut all: Vec<&ExportDifference> = Vec::new();
        for clause in &self.clauses {
            if let ClauseOutcome::Held { differences, .. } = &clause.outcome {
                for difference in differences {
                    if !all.contains(&difference) {
                        all.push(difference);
                    }
                }
            }
        }
        all.sort_by_key(|difference| std::cmp::Reverse(difference.grade));
        all
    }

    /// The result in a few words.
    pub fn verdict(&self) -> String {
        let (held, all) = (self.n_held(), self.clauses.len());
        if held == 0 {
            return "cannot hold it".to_owned();
        }
        let how = match self.differences().first().map(|difference| difference.grade) {
            None => "exactly",
            Some(DifferenceGrade::Moment) => "at the next request",
            Some(DifferenceGrade::Condition) => "on runs of its own kind",
            Some(DifferenceGrade::Other) => "with differences",
        };
        if held == all { format!("holds it {how}") } else { format!("holds {held} of {all} clauses, {how}") }
    }
}

/// Adds a parameter. If one parameter holds two clauses, it takes the tighter limit.
fn add(taken: &mut Vec<(&'static ClauseSlot, Value)>, slot: &'static ClauseSlot, value: &Value) -> Result<(), String> {
    let kind = |slot: &ClauseSlot| match &slot.item {
        None => Value::Null,
        Some((item, _)) => json(&item.replace('$', "0"))["type"].clone(),
    };
    let is_same = |other: &ClauseSlot| other.parameter == slot.parameter && other.item == slot.item;
    if let Some((_, other)) = taken.iter_mut().find(|(other, _)| is_same(other) && value.is_number()) {
        if value.as_f64() < other.as_f64() {
            *other = value.clone();
        }
        return Ok(());
    }
    let same = |other: &&'static ClauseSlot| other.parameter == slot.parameter && kind(other) == kind(slot);
    if kind(slot).is_string() && taken.iter().any(|(other, _)| same(other)) {
        return Err(format!(
            "it takes one {} only, and another clause has it",
            kind(slot).as_str().unwrap_or_default()
        ));
    }
    taken.push((slot, value.clone()));
    Ok(())
}

/// Parses a value that is written as JSON in the source code.
fn json(text: &str) -> Value {
    // A test parses all of them.
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// Sets the value at `path`, whose dots separate nested tables.
fn put(set: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            set.insert(path.to_owned(), value);
        }
        Some((table, rest)) => {
            let inner = set.entry(table.to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// Adds an item to the list at `path`.
fn push(set: &mut Map<String, Value>, path: &str, item: Value) {
    let mut list = match setting(set, path) {
        Some(Value::Array(list)) => list.clone(),
        _ => Vec::new(),
    };
    list.push(item);
    put(set, path, Value::Array(list));
}
