//! One axis: a clause with lists in place of its limits.

use std::fmt::Write as _;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::Wrong;
use super::limits::{self, LimitList};
use crate::rule::Comparator;

/// Keys that hold conditions.
const LISTS: [&str; 3] = ["all", "any", "some"];
const PARTS: [&str; 2] = ["not", "lately"];

/// Keys beside a cap: whether the agent is told of it, and when.
const TOLD: [&str; 2] = ["told", "notice"];

/// A clause with slots for limits.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pieces: Vec<TemplatePiece>,
    slots: Vec<LimitSlot>,
    is_cap: bool,
    /// Whether and when the agent is told of the cap, as a stack file has it: a line for each key.
    told: String,
    /// Number of rules written so far.
    rules: usize,
}

#[derive(Clone, Debug)]
enum TemplatePiece {
    Text(String),
    Slot(usize),
}

/// The position of a list of limits.
#[derive(Clone, Debug)]
pub(super) struct LimitSlot {
    pub(super) comparator: Comparator,
    pub(super) limits: LimitList,
    /// The index of its rule within the clause.
    pub(super) rule: usize,
    pub(super) place: Range<usize>,
}

impl Template {
    /// Reads an axis; errors in its lists are added to `wrong`.
    pub(super) fn from_table(table: &DeTable<'_>, place: Range<usize>, wrong: &mut Vec<Wrong>) -> Self {
        let mut all = Self { pieces: Vec::new(), slots: Vec::new(), is_cap: false, told: String::new(), rules: 0 };
        if let Some(cap) = table.get("cap") {
            all.is_cap = true;
            let is_other = |key: &str| !matches!(key, "cap" | "optional") && !TOLD.contains(&key);
            let others = table.iter().find(|(key, _)| is_other(key.get_ref().as_ref()));
            if let Some((key, _)) = others {
                let what = format!("an axis of caps with `{}`", key.get_ref());
                wrong.push(Wrong::new(
                    key.span(),
                    what,
                    "a cap is a number of steps: give the rule an axis of its own",
                ));
            }
            all.slot(Comparator::AtLeast, limits::read(cap), cap.span(), wrong);
            for key in TOLD {
                if let Some(value) = table.get(key) {
                    let _ = writeln!(all.told, "{key} = {}", written(value.get_ref()));
                }
            }
        } else if table.get("name").is_some() {
            wrong.push(Wrong::new(
                place,
                "an axis with a `name`",
                "its rules are named by their limits: leave `name` out",
            ));
        } else {
            all.table(table, &["optional"], wrong);
        }
        all
    }

    fn say(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(TemplatePiece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(TemplatePiece::Text(text.to_owned())),
        }
    }

    fn slot(
        &mut self,
        comparator: Comparator,
        limits: Result<LimitList, Wrong>,
        place: Range<usize>,
        wrong: &mut Vec<Wrong>,
    ) {
        match limits {
            Ok(limits) => {
                self.pieces.push(TemplatePiece::Slot(self.slots.len()));
                self.slots.push(LimitSlot { comparator, limits, rule: self.rules, place });
            }
            Err(error) => wrong.push(error),
        }
    }

    /// Writes a table that holds a condition.
    fn table(&mut self, table: &DeTable<'_>, left_out: &[&str], wrong: &mut Vec<Wrong>) {
        let is_rule = table.contains_key("signal");
        // Limits without a comparator key use "at least".
        let loose = ["range", "log_range", "quantiles"].into_iter().find_map(|key| table.get_key_value(key));
        self.say("{ ");
        let mut first = true;
        // In the order a person would write: the signal, its limit, the rest by name.
        let mut entries: Vec<_> = table.iter().collect();
        let is_limit = |name: &str| Comparator::ALL.iter().any(|comparator| comparator.name() == name);
        entries.sort_by_key(|(key, _)| match key.get_ref().as_ref() {
            "signal" => 0,
            name if is_limit(name) => 1,
            _ => 2,
        });
        for (key, value) in entries {
            let name = key.get_ref().as_ref();
            let is_loose = is_rule && matches!(name, "range" | "log_range" | "quantiles" | "step" | "count");
            if left_out.contains(&name) || is_loose {
                continue;
            }
            self.say(&format!("{}{} = ", if std::mem::take(&mut first) { "" } else { ", " }, written_key(name)));
            let comparator = Comparator::ALL.into_iter().find(|comparator| comparator.name() == name);
            match (comparator.filter(|_| is_rule), value.get_ref()) {
                (Some(comparator), DeValue::Array(_) | DeValue::Table(_)) => {
                    if comparator == Comparator::Equals && !matches!(value.get_ref(), DeValue::Array(_)) {
                        wrong.push(Wrong::new(
                            value.span(),
                            "`equals` takes a list of limits alone",
                            "write `equals = [1, 2]`",
                        ));
                    }
                    self.slot(comparator, limits::read(value), value.span(), wrong);
                }
                (None, DeValue::Array(parts)) if LISTS.contains(&name) => {
                    self.say("[");
                    for (nth, part) in parts.iter().enumerate() {
                        self.say(if nth > 0 { ", " } else { "" });
                        match part.get_ref() {
                            DeValue::Table(part) => self.table(part, &[], wrong),
                            other => self.say(&written(other)),
                        }
                    }
                    self.say("]");
                }
                (None, DeValue::Table(part)) if PARTS.contains(&name) => self.table(part, &[], wrong),
                (_, other) => self.say(&written(other)),
            }
        }
        if let Some((key, _)) = loose.filter(|_| is_rule) {
            self.say(if first { "at_least = " } else { ", at_least = " });
            self.slot(Comparator::AtLeast, limits::read_loose(table, key.span()), key.span(), wrong);
        }
        self.say(" }");
        self.rules += usize::from(is_rule);
    }

    pub(super) fn slots(&self) -> &[LimitSlot] {
        &self.slots
    }

    pub(super) fn is_cap(&self) -> bool {
        self.is_cap
    }

    /// Whether and when the agent is told of the cap, as lines of a stack file; empty if nothing says so.
    pub(super) fn told(&self) -> &str {
        &self.told
    }

    /// Whether the clause has more than a condition that stops at once, after the tools.
    pub(super) fn is_more_than_a_condition(&self, table: &DeTable<'_>) -> bool {
        !self.is_cap && ["at", "strikes", "cooldown", "then"].into_iter().any(|key| table.contains_key(key))
    }

    /// Limits for checking the rule before those of the recordings are known.
    pub(super) fn sample(&self) -> Vec<f64> {
        self.slots.iter().map(|slot| slot.limits.given().first().copied().unwrap_or(1.0)).collect()
    }

    /// The clause with these limits.
    pub(super) fn text(&self, limits: &[f64]) -> String {
        let piece = |piece: &TemplatePiece| match piece {
            TemplatePiece::Text(text) => text.clone(),
            TemplatePiece::Slot(at) => limits.get(*at).map(f64::to_string).unwrap_or_default(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// The clause with dots in place of its limits.
    pub(super) fn name(&self) -> String {
        if self.is_cap {
            return "cap".to_owned();
        }
        let piece = |piece: &TemplatePiece| match piece {
            TemplatePiece::Text(text) => text.clone(),
            TemplatePiece::Slot(_) => "…".to_owned(),
        };
        let text: String = self.pieces.iter().map(piece).collect();
        text.trim_start_matches("{ ").trim_end_matches(" }").to_owned()
    }
}

fn written_key(key: &str) -> String {
    let is_bare =
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if is_bare { key.to_owned() } else { toml::Value::String(key.to_owned()).to_string() }
}

/// A value as TOML, on one line.
fn written(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => toml::Value::String(text.to_string()).to_string(),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(n) => n.to_string(),
            Err(_) => number.as_str().to_owned(),
        },
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(is) => is.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(list) => {
            format!("[{}]", list.iter().map(|value| written(value.get_ref())).collect::<Vec<_>>().join(", "))
        }
        DeValue::Table(table) => {
            let entry = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
                format!("{} = {}", written_key(key.get_ref()), written(value.get_ref()))
            };
            format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}
