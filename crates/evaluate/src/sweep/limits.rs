//! Signals with their limits, as they are written on a command line.

use crate::diagnostic::{Diagnostic, Location};
use crate::rule::{Comparator, Condition, Rule};
use crate::stack::{Clause, Guards, Stack, parse_rule};

/// Maximum limits on one axis.
const MOST_LIMITS: usize = 10_000;

/// A signal with its options and a comparator, and the limits to try.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The rule at the first limit; the rules at other limits differ only in the limit.
    rule: Rule,
    /// The limits, from the most conservative (fires last) to the most aggressive.
    limits: Vec<f64>,
}

impl Axis {
    /// An axis from its text and limits.
    ///
    /// `text` is the signal's name, then, both optional, a comparator sign (default `>=`; `==` is refused because its
    /// limits do not nest) and the stack file's options: `call.count >, window = 10, identity = "name"`.
    /// `guards` are those whose numbers it may name.
    pub fn parse(text: &str, mut limits: Vec<f64>, guards: &Guards) -> Result<Self, Diagnostic> {
        let at = || Location::file(format!("--signal {text}"));
        let (head, options) = text.split_once(',').unwrap_or((text, ""));
        let mut words = head.split_whitespace();
        let (id, sign) = (words.next().unwrap_or_default(), words.next());
        let comparator = match sign {
            None => Some(Comparator::AtLeast),
            Some(sign) => Comparator::ALL.into_iter().find(|comparator| comparator.sign() == sign),
        };
        let nesting = comparator.filter(|comparator| *comparator != Comparator::Equals && words.next().is_none());
        let Some(comparator) = nesting else {
            let help = "write the signal, then one of `>=`, `>`, `<=`, `<` or nothing, then a comma and its options";
            return Err(Diagnostic::new(at(), format!("`{head}` is not a signal with a comparator"), help));
        };
        let rises = matches!(comparator, Comparator::AtLeast | Comparator::MoreThan);
        limits.sort_by(|a, b| if rises { b.total_cmp(a) } else { a.total_cmp(b) });
        limits.dedup();
        let Some(first) = limits.first() else {
            return Err(Diagnostic::new(at(), "no limit to try", "name some: `--limits 2..8` or `--limits 2,4,8`"));
        };
        let mut rule = parse_rule("axis", id, comparator, *first, options).map_err(|errors| {
            let error = errors.first();
            Diagnostic::new(at(), error.what.as_str(), error.help.as_str())
        })?;
        let moment = rule.signal.at;
        guards.seat_rule(&mut rule, moment).map_err(|(what, help)| Diagnostic::new(at(), what, help))?;
        Ok(Self { rule, limits })
    }

    /// How many limits it has.
    pub fn n_limits(&self) -> usize {
        self.limits.len()
    }
}

/// A stack for each limit, axis by axis, each axis from the most conservative to the most aggressive limit: the rule alone,
/// or `base` with the rule as its last clause. It is named by its rule.
pub fn stacks_of(axes: &[Axis], base: Option<&Stack>) -> Result<Vec<Stack>, Diagnostic> {
    let mut stacks: Vec<Stack> = Vec::new();
    for axis in axes {
        for limit in &axis.limits {
            let rule = Rule { limit: *limit, ..axis.rule.clone() };
            let name = rule.to_string();
            if stacks.iter().any(|stack| stack.name == name) {
                let what = format!("two limits are named `{name}`");
                return Err(Diagnostic::new(Location::default(), what, "name each signal once, with all its limits"));
            }
            let mut stack = base.cloned().unwrap_or(Stack { name: String::new(), clauses: Vec::new(), cap: None });
            stack.name = name;
            stack.clauses.push(Clause::stop_on(Condition::Rule(Box::new(rule))));
            stacks.push(stack);
        }
    }
    Ok(stacks)
}

/// Parses limits: a list `2,4,8`, a range `2..8` or `0.5..0.95` in steps of its last digit, 1 or 0.01, or
/// `50_000..200_000 step 25_000` (both ends included), or any mix of these, separated by commas.
pub fn limits(text: &str) -> Result<Vec<f64>, Diagnostic> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        all.extend(range(part).ok_or_else(|| {
            let what = format!("`{part}` is not a limit or a range of limits");
            let help = format!("write `2,4,8`, `2..8` or `10..50 step 10`, at most {MOST_LIMITS} limits");
            Diagnostic::new(Location::file(format!("--limits {text}")), what, help)
        })?);
    }
    Ok(all)
}

fn range(part: &str) -> Option<Vec<f64>> {
    let Some((from, rest)) = part.split_once("..") else { return Some(vec![number(part)?]) };
    let (to, step) = match rest.split_once("step") {
        Some((to, step)) => (to, number(step)?),
        None => (rest, last_digit(from).min(last_digit(rest))),
    };
    let (from, to) = (number(from)?, number(to)?);
    // A small tolerance, so that 0.1..0.5 step 0.1 includes its end.
    let count = ((to - from) / step + 1e-9).floor();
    if step <= 0.0 || !(0.0..MOST_LIMITS as f64).contains(&count) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range above")]
    let count = count as usize;
    // Twelve digits are enough for a limit, and hide the floating-point noise of sums such as 0.1 + 2 * 0.1.
    let rounded = |value: f64| format!("{value:.12}").parse().unwrap_or(value);
    Some((0..=count).map(|at| rounded(from + at as f64 * step)).collect())
}

/// The value of one in the last decimal place that is written: 0.01 for `0.95`, 1 for `8`.
fn last_digit(text: &str) -> f64 {
    let decimals = text.trim().split_once('.').map_or(0, |(_, decimals)| decimals.len().min(9));
    (0..decimals).fold(1.0, |one, _| one / 10.0)
}

fn number(text: &str) -> Option<f64> {
    text.trim().replace('_', "").parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, limits: Vec<f64>) -> Result<Axis, Diagnostic> {
        Axis::parse(text, limits, &Guards::default())
    }

    #[test]
    fn limits_are_lists_ranges_and_mixes() {
        let read = |text| limits(text).unwrap();
        assert_eq!(read("2..5"), [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(read("1_000..3_000 step 1_000, 9e3"), [1e3, 2e3, 3e3, 9e3]);
        assert_eq!(read("0.1..0.3 step 0.1"), [0.1, 0.2, 0.3]);
        assert_eq!(read("2..5 step 2"), [2.0, 4.0]);
        assert_eq!(read("0.5..0.9"), [0.5, 0.6, 0.7, 0.8, 0.9]);
        let fine = read("0.5..0.95");
        assert_eq!((fine.len(), fine.first(), fine.last()), (46, Some(&0.5), Some(&0.95)));
        for wrong in ["5..2", "1..2 step 0", "1..2 step -1", "1..1e9", "two", "1..", "nan", "0..inf"] {
            assert!(limits(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_go_from_conservative_to_aggressive() {
        let axes = vec![
            parse("call.count, window = 5, identity = \"name\"", vec![2.0, 4.0, 4.0, 3.0]).unwrap(),
            parse("errors.share <", vec![0.1, 0.5]).unwrap(),
        ];
        let stacks = stacks_of(&axes, None).unwrap();
        let names: Vec<&str> = stacks.iter().map(|stack| &*stack.name).collect();
        assert!(names[0].starts_with("call.count") && names[0].ends_with(" 4"), "{names:?}");
        assert_eq!(names[3..], ["errors.share < 0.1", "errors.share < 0.5"]);
    }

    #[test]
    fn an_axis_is_one_signal_that_exists() {
        let what = |text: &str| parse(text, vec![1.0]).unwrap_err();
        assert!(what("stps").help.contains("steps"));
        assert!(what("steps, windw = 3").what.contains("windw"));
        assert!(what("steps == ").what.contains("comparator"));
        assert!(what("steps >= 3").what.contains("comparator"));
        assert!(what("steps, strikes = 2").what.contains("one signal"));
        assert!(what("steps, x = 1 }, { signal = \"rounds\"").what.contains('x'));
        assert!(parse("steps", vec![]).is_err());
        assert!(what("st\"eps\n").what.contains("signal"));
    }
}
