//! An axis of a framework's own settings: `use = "openhands"`, with lists where values stand in its `set`.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Wrong;
use super::limits;
use crate::stack::Use;

/// Maximum combinations of settings: each is replayed by itself.
const MOST_SETTINGS: usize = 10_000;

/// The settings of a framework to try: every combination of these values.
#[derive(Clone, Debug)]
pub struct SettingsAxis {
    /// The framework, with the settings that stay.
    pub used: Use,
    /// Each parameter with its values.
    lists: Vec<(Vec<String>, Vec<Value>)>,
    pub(super) place: Range<usize>,
}

impl SettingsAxis {
    /// Reads the axis; errors are added to `wrong`.
    pub(super) fn from_table(table: &DeTable<'_>, place: Range<usize>, wrong: &mut Vec<Wrong>) -> Option<Self> {
        let before = wrong.len();
        let mut axis = Self { used: Use::default(), lists: Vec::new(), place };
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("use", DeValue::String(name)) => axis.used.system = name.to_string(),
                ("profile", DeValue::String(name)) => axis.used.profile = Some(name.to_string()),
                ("set", DeValue::Table(set)) => axis.read_set(&[], set, wrong),
                ("use" | "profile", _) => {
                    wrong.push(Wrong::new(
                        value.span(),
                        format!("`{}` is a text", key.get_ref()),
                        "write it in quotes",
                    ));
                }
                ("set", _) => {
                    let help = "write `set = { max_iterations = [60, 250, 500] }`";
                    wrong.push(Wrong::new(value.span(), "`set` is a table of parameters", help));
                }
                (other, _) => {
                    let help = "an axis of a framework has `use`, `profile` and `set`";
                    wrong.push(Wrong::new(key.span(), format!("`{other}` beside `use`"), help));
                }
            }
        }
        if axis.lists.is_empty() && wrong.len() == before {
            let help = "give a list for a parameter: `set = { max_iterations = [60, 250, 500] }`";
            wrong.push(Wrong::new(axis.place.clone(), "a framework without a list of values", help));
        }
        let n = axis.lists.iter().try_fold(1_usize, |n, (_, values)| n.checked_mul(values.len()));
        if n.is_none_or(|n| n > MOST_SETTINGS) {
            let what = format!("more than {MOST_SETTINGS} combinations of settings: each is replayed by itself");
            wrong.push(Wrong::new(axis.place.clone(), what, "shorten the lists"));
        }
        if wrong.len() == before { Some(axis) } else { None }
    }

    /// Reads the parameters in the tables `above`.
    fn read_set(&mut self, above: &[String], set: &DeTable<'_>, wrong: &mut Vec<Wrong>) {
        for (key, value) in set {
            let path = [above, &[key.get_ref().to_string()]].concat();
            match value.get_ref() {
                DeValue::Table(form) if form.contains_key("range") || form.contains_key("log_range") => {
                    match limits::read(value) {
                        Ok(limits) => self.lists.push((path, limits.given().into_iter().map(number).collect())),
                        Err(error) => wrong.push(error),
                    }
                }
                DeValue::Table(inner) => self.read_set(&path, inner, wrong),
                DeValue::Array(list) if list.is_empty() => {
                    let what = format!("no value of `{}`", path.join("."));
                    wrong.push(Wrong::new(value.span(), what, "list the values to try"));
                }
                DeValue::Array(list) => {
                    let mut values: Vec<Value> = Vec::new();
                    for value in list.iter().filter_map(json) {
                        if !values.contains(&value) {
                            values.push(value);
                        }
                    }
                    self.lists.push((path, values));
                }
                _ => {
                    if let Some(value) = json(value) {
                        put(&mut self.used.set, &path, value);
                    }
                }
            }
        }
    }

    /// Every combination, named by the values that differ; the last parameter changes fastest.
    pub fn combinations(&self) -> Vec<Use> {
        let mut all = vec![(Vec::new(), self.used.clone())];
        for (path, values) in &self.lists {
            let mut longer = Vec::with_capacity(all.len() * values.len());
            for (words, used) in &all {
                for value in values {
                    let (mut words, mut used): (Vec<String>, Use) = (words.clone(), used.clone());
                    words.push(format!("{} = {}", path.join("."), shown(value)));
                    put(&mut used.set, path, value.clone());
                    longer.push((words, used));
                }
            }
            all = longer;
        }
        let framework = match &self.used.profile {
            Some(profile) => format!("{} ({profile})", self.used.system),
            None => self.used.system.clone(),
        };
        let named =
            |(words, used): (Vec<String>, Use)| Use { name: format!("{framework}: {}", words.join(", ")), ..used };
        all.into_iter().map(named).collect()
    }
}

/// Sets the value at a path of tables.
fn put(set: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((name, below)) = path.split_first() else { return };
    if below.is_empty() {
        set.insert(name.clone(), value);
        return;
    }
    let inner = set.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(inner) = inner {
        put(inner, below, value);
    }
}

/// A value in the name of a stack.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

/// A number as settings have it: whole if it is.
fn number(limit: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole and small, as checked")]
    if limit.fract() == 0.0 && limit.abs() < 1e15 { Value::from(limit as i64) } else { Value::from(limit) }
}

/// A value of the file as JSON, which the file's own parser has accepted.
fn json(value: &Spanned<DeValue<'_>>) -> Option<Value> {
    Some(match value.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(whole) => Value::from(i64::from_str_radix(whole.as_str(), whole.radix()).ok()?),
        DeValue::Float(real) => Value::from(real.as_str().replace('_', "").parse::<f64>().ok()?),
        DeValue::Boolean(is) => Value::from(*is),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(list) => Value::Array(list.iter().map(json).collect::<Option<_>>()?),
        DeValue::Table(table) => {
            let entries = table.iter().map(|(key, value)| Some((key.get_ref().to_string(), json(value)?)));
            Value::Object(entries.collect::<Option<Map<_, _>>>()?)
        }
    })
}
