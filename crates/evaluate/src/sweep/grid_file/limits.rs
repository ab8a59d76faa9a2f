//! Lists of limits: given explicitly, as a range, or as quantiles of the recordings.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Wrong;
use crate::rule::Comparator;
use crate::sweep::engine::Extract;

/// Maximum limits in one list.
const MOST: usize = 10_000;
/// Help text: how a list of limits is written.
const FORMS: &str = "write `[2, 4, 8]`, `{ range = [2, 20], step = 2 }`, `{ log_range = [1000, 100_000], count = 10 }` or `{ quantiles = 20 }`";

/// Limits to try.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LimitList {
    /// Explicit limits.
    Given(Vec<f64>),
    /// This many values, chosen so that equal shares of the recordings fire between them.
    Quantiles(usize),
}

impl LimitList {
    /// The limits known before a recording is read.
    pub(super) fn given(&self) -> Vec<f64> {
        match self {
            Self::Given(list) => list.clone(),
            Self::Quantiles(_) => Vec::new(),
        }
    }

    pub(super) fn is_measured(&self) -> bool {
        matches!(self, Self::Quantiles(_))
    }
}

/// Parses a list of limits in any of its forms.
pub(super) fn read(value: &Spanned<DeValue<'_>>, wrong: &mut Vec<Wrong>) -> Option<LimitList> {
    match value.get_ref() {
        DeValue::Array(list) if list.is_empty() => {
            wrong.push(Wrong::new(value.span(), "an empty list of limits", FORMS));
            None
        }
        DeValue::Array(list) if list.len() > MOST => {
            wrong.push(Wrong::new(
                value.span(),
                format!("{} limits; the most are {MOST}", list.len()),
                "leave some out",
            ));
            None
        }
        DeValue::Array(list) => {
            let limits: Option<Vec<f64>> = list.iter().map(|limit| number(limit, wrong)).collect();
            let mut limits = limits?;
            let mut seen = Vec::new();
            limits.retain(|limit| {
                let is_new = !seen.contains(&limit.to_bits());
                seen.push(limit.to_bits());
                is_new
            });
            Some(LimitList::Given(limits))
        }
        DeValue::Table(table) => read_form(table, value.span(), wrong),
        _ => number(value, wrong).map(|limit| LimitList::Given(vec![limit])),
    }
}

/// Parses the form that is written among a rule's own keys.
pub(super) fn read_loose(table: &DeTable<'_>, place: Range<usize>, wrong: &mut Vec<Wrong>) -> Option<LimitList> {
    let comparator = Comparator::ALL.into_iter().find(|comparator| table.contains_key(comparator.key()));
    if let Some(comparator) = comparator {
        let what = format!("a rule with `{}` and a second list of limits", comparator.key());
        wrong.push(Wrong::new(place, what, format!("put the list there: `{} = {{ … }}`", comparator.key())));
        return None;
    }
    form(table, place, wrong)
}

fn read_form(table: &DeTable<'_>, place: Range<usize>, wrong: &mut Vec<Wrong>) -> Option<LimitList> {
    const KEYS: [&str; 5] = ["range", "step", "log_range", "count", "quantiles"];
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        wrong.push(Wrong::new(key.span(), format!("a list of limits has no key `{}`", key.get_ref()), FORMS));
        return None;
    }
    form(table, place, wrong)
}

fn form(table: &DeTable<'_>, place: Range<usize>, wrong: &mut Vec<Wrong>) -> Option<LimitList> {
    let of = |key: &str| table.get(key);
    match (of("range"), of("log_range"), of("quantiles")) {
        (Some(range), None, None) => {
            let (from, to) = ends(range, wrong)?;
            let step = match of("step") {
                Some(step) => number(step, wrong)?,
                None => 1.0,
            };
            if step <= 0.0 {
                wrong.push(Wrong::new(
                    of("step").map_or(place, Spanned::span),
                    "a step that leads nowhere",
                    "give a step above 0",
                ));
                return None;
            }
            counted(((to - from) / step + 1e-9).floor(), range.span(), wrong, |at| from + at * step)
        }
        (None, Some(range), None) => {
            let (from, to) = ends(range, wrong)?;
            let count = match of("count") {
                Some(count) => number(count, wrong)?,
                None => 10.0,
            };
            if from <= 0.0 || count < 2.0 || count.fract() != 0.0 {
                let what = "a `log_range` begins above 0 and has two limits or more";
                wrong.push(Wrong::new(range.span(), what, "write `{ log_range = [1000, 100_000], count = 10 }`"));
                return None;
            }
            let ratio = (to / from).ln() / (count - 1.0);
            counted(count - 1.0, range.span(), wrong, |at| {
                let is_end = at < 0.5 || at > count - 1.5;
                if is_end { if at < 0.5 { from } else { to } } else { three_digits(from * (ratio * at).exp()) }
            })
        }
        (None, None, Some(quantiles)) => {
            let n = number(quantiles, wrong)?;
            if !(1.0..=MOST as f64).contains(&n) || n.fract() != 0.0 {
                wrong.push(Wrong::new(
                    quantiles.span(),
                    format!("`quantiles = {n}` is no number of limits"),
                    format!("give a whole number from 1 to {MOST}"),
                ));
                return None;
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in range")]
            Some(LimitList::Quantiles(n as usize))
        }
        (None, None, None) => {
            wrong.push(Wrong::new(place, "a table without limits", FORMS));
            None
        }
        _ => {
            wrong.push(Wrong::new(
                place,
                "two lists of limits for one rule",
                "keep one of `range`, `log_range` and `quantiles`",
            ));
            None
        }
    }
}

fn ends(range: &Spanned<DeValue<'_>>, wrong: &mut Vec<Wrong>) -> Option<(f64, f64)> {
    let ends: Option<Vec<f64>> = match range.get_ref() {
        DeValue::Array(ends) => ends.iter().map(|end| number(end, wrong)).collect(),
        _ => Some(Vec::new()),
    };
    match ends?[..] {
        [from, to] if from <= to => Some((from, to)),
        [from, to] => {
            let what = format!("an empty range: {from} is above {to}");
            wrong.push(Wrong::new(range.span(), what, "write the smaller end first"));
            None
        }
        _ => {
            wrong.push(Wrong::new(range.span(), "a range has two ends", "write `[2, 20]`"));
            None
        }
    }
}

fn counted(last: f64, place: Range<usize>, wrong: &mut Vec<Wrong>, limit: impl Fn(f64) -> f64) -> Option<LimitList> {
    if !(0.0..MOST as f64).contains(&last) {
        wrong.push(Wrong::new(place, format!("{} limits; the most are {MOST}", last + 1.0), "take larger steps"));
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range above")]
    let last = last as u32;
    // Twelve digits are enough for a limit, and hide the floating-point noise of sums.
    let rounded = |value: f64| format!("{value:.12}").parse().unwrap_or(value);
    let mut limits: Vec<f64> = (0..=last).map(|at| rounded(limit(f64::from(at)))).collect();
    limits.dedup();
    Some(LimitList::Given(limits))
}

fn number(value: &Spanned<DeValue<'_>>, wrong: &mut Vec<Wrong>) -> Option<f64> {
    let number = match value.get_ref() {
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number as f64)
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
        _ => None,
    };
    let number = number.filter(|number| number.is_finite());
    if number.is_none() {
        wrong.push(Wrong::new(value.span(), "not a number", FORMS));
    }
    number
}

/// Rounds to three significant digits.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// At most `n` limits between which about equal shares of the runs with a reading fire; fewer if values coincide. Uses
/// each run's greatest reading, or the smallest for comparators that fire on small values, and no outcomes. Leaves out
/// limits at which the rule would fire at once, or never.
pub(super) fn quantiles(extracts: &[&Extract], feature: usize, comparator: Comparator, n: usize) -> Vec<f64> {
    let rises = matches!(comparator, Comparator::AtLeast | Comparator::MoreThan | Comparator::Equals);
    let extreme = |on: &&Extract| {
        let readings = on.readings(feature).flatten().filter(|reading| reading.is_finite());
        readings.reduce(if rises { f64::max } else { f64::min })
    };
    let mut extremes: Vec<f64> = extracts.iter().filter_map(extreme).filter(|value| !rises || *value > 0.0).collect();
    extremes.sort_by(f64::total_cmp);
    let Some(last) = extremes.len().checked_sub(1) else { return Vec::new() };
    let mut limits: Vec<f64> = (1..=n).map(|at| extremes[(at * last) / n.max(1)]).collect();
    limits.dedup();
    limits
}
