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
pub(super) fn read(value: &Spanned<DeValue<'_>>) -> Result<LimitList, Wrong> {
    match value.get_ref() {
        DeValue::Array(list) if list.is_empty() => Err(Wrong::new(value.span(), "an empty list of limits", FORMS)),
        DeValue::Array(list) if list.len() > MOST => {
            let what = format!("{} limits; the most are {MOST}", list.len());
            Err(Wrong::new(value.span(), what, "leave some out"))
        }
        DeValue::Array(list) => {
            let mut limits: Vec<f64> = list.iter().map(number).collect::<Result<_, _>>()?;
            let mut seen = Vec::new();
            limits.retain(|limit| {
                let is_new = !seen.contains(&limit.to_bits());
                seen.push(limit.to_bits());
                is_new
            });
            Ok(LimitList::Given(limits))
        }
        DeValue::Table(table) => read_form(table, value.span()),
        _ => Ok(LimitList::Given(vec![number(value)?])),
    }
}

/// Parses the form that is written among a rule's own keys.
pub(super) fn read_loose(table: &DeTable<'_>, place: Range<usize>) -> Result<LimitList, Wrong> {
    let comparator = Comparator::ALL.into_iter().find(|comparator| table.contains_key(comparator.name()));
    if let Some(comparator) = comparator {
        let what = format!("a rule with `{}` and a second list of limits", comparator.name());
        return Err(Wrong::new(place, what, format!("put the list there: `{} = {{ … }}`", comparator.name())));
    }
    form(table, place)
}

fn read_form(table: &DeTable<'_>, place: Range<usize>) -> Result<LimitList, Wrong> {
    const KEYS: [&str; 5] = ["range", "step", "log_range", "count", "quantiles"];
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        return Err(Wrong::new(key.span(), format!("a list of limits has no key `{}`", key.get_ref()), FORMS));
    }
    form(table, place)
}

fn form(table: &DeTable<'_>, place: Range<usize>) -> Result<LimitList, Wrong> {
    let of = |key: &str| table.get(key);
    match (of("range"), of("log_range"), of("quantiles")) {
        (Some(range), None, None) => {
            let (from, to) = ends(range)?;
            let step = match of("step") {
                Some(step) => number(step)?,
                None => 1.0,
            };
            if step <= 0.0 {
                let place = of("step").map_or(place, Spanned::span);
                return Err(Wrong::new(place, "a step that leads nowhere", "give a step above 0"));
            }
            counted(((to - from) / step + 1e-9).floor(), range.span(), |at| from + at * step)
        }
        (None, Some(range), None) => {
            let (from, to) = ends(range)?;
            let count = match of("count") {
                Some(count) => number(count)?,
                None => 10.0,
            };
            if from <= 0.0 || count < 2.0 || count.fract() != 0.0 {
                let what = "a `log_range` begins above 0 and has two limits or more";
                return Err(Wrong::new(range.span(), what, "write `{ log_range = [1000, 100_000], count = 10 }`"));
            }
            let ratio = (to / from).ln() / (count - 1.0);
            counted(count - 1.0, range.span(), |at| {
                if at < 0.5 {
                    from
                } else if at > count - 1.5 {
                    to
                } else {
                    three_digits(from * (ratio * at).exp())
                }
            })
        }
        (None, None, Some(quantiles)) => {
            let n = number(quantiles)?;
            if !(1.0..=MOST as f64).contains(&n) || n.fract() != 0.0 {
                let what = format!("`quantiles = {n}` is no number of limits");
                return Err(Wrong::new(quantiles.span(), what, format!("give a whole number from 1 to {MOST}")));
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in range")]
            Ok(LimitList::Quantiles(n as usize))
        }
        (None, None, None) => Err(Wrong::new(place, "a table without limits", FORMS)),
        _ => {
            let help = "keep one of `range`, `log_range` and `quantiles`";
            Err(Wrong::new(place, "two lists of limits for one rule", help))
        }
    }
}

fn ends(range: &Spanned<DeValue<'_>>) -> Result<(f64, f64), Wrong> {
    let ends: Vec<f64> = match range.get_ref() {
        DeValue::Array(ends) => ends.iter().map(number).collect::<Result<_, _>>()?,
        _ => Vec::new(),
    };
    match ends[..] {
        [from, to] if from <= to => Ok((from, to)),
        [from, to] => {
            let what = format!("an empty range: {from} is above {to}");
            Err(Wrong::new(range.span(), what, "write the smaller end first"))
        }
        _ => Err(Wrong::new(range.span(), "a range has two ends", "write `[2, 20]`")),
    }
}

fn counted(last: f64, place: Range<usize>, limit: impl Fn(f64) -> f64) -> Result<LimitList, Wrong> {
    if !(0.0..MOST as f64).contains(&last) {
        return Err(Wrong::new(place, format!("{} limits; the most are {MOST}", last + 1.0), "take larger steps"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range above")]
    let last = last as u32;
    // Twelve digits are enough for a limit, and hide the floating-point noise of sums.
    let rounded = |value: f64| format!("{value:.12}").parse().unwrap_or(value);
    let mut limits: Vec<f64> = (0..=last).map(|at| rounded(limit(f64::from(at)))).collect();
    limits.dedup();
    Ok(LimitList::Given(limits))
}

fn number(value: &Spanned<DeValue<'_>>) -> Result<f64, Wrong> {
    let number = match value.get_ref() {
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number as f64)
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
        _ => None,
    };
    match number {
        Some(number) if number.is_finite() => Ok(number),
        _ => Err(Wrong::new(value.span(), "not a number", FORMS)),
    }
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
