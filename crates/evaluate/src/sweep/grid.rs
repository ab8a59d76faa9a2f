//! Grids of settings: one or more axes, each a signal with its limits.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Location};
use crate::rule::{Comparator, Condition, Rule};
use crate::stack::{Clause, Stack, parse_rule};

/// Maximum limits on one axis.
const MOST_LIMITS: usize = 10_000;

/// A signal with its options and a comparator, and the limits to try.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The rule at the first limit; the rules at other limits differ only in the limit.
    rule: Rule,
    /// The limits, from the most conservative (fires last) to the most aggressive.
    limits: Vec<f64>,
    /// The options, as in a stack file; empty without any.
    options: String,
}

impl Axis {
    /// An axis from its text and limits.
    ///
    /// `text` is the signal's name, then, both optional, a comparator sign (default `>=`; `==` is refused because its
    /// limits do not nest) and the stack file's options: `call.count >, window = 10, identity = "name"`.
    pub fn parse(text: &str, mut limits: Vec<f64>) -> Result<Self, Diagnostic> {
        let at = || Location::file(format!("--signal {text}"));
        let (head, options) = text.split_once(',').map_or((text, ""), |(head, options)| (head, options));
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
        let rule = parse_rule("axis", id, comparator, *first, options).map_err(|errors| {
            let error = errors.first();
            Diagnostic::new(at(), error.what.as_str(), error.help.as_str())
        })?;
        Ok(Self { rule, limits, options: options.trim().to_owned() })
    }

    /// The rule at the most conservative limit.
    pub fn first_rule(&self) -> &Rule {
        &self.rule
    }

    /// The rule at `limit`.
    pub fn rule(&self, limit: f64) -> Rule {
        Rule { limit, ..self.rule.clone() }
    }

    /// The rule at `limit`, as in a stack file.
    pub fn written(&self, limit: f64) -> String {
        let options = if self.options.is_empty() { String::new() } else { format!(", {}", self.options) };
        format!("{{ signal = \"{}\", {} = {limit}{options} }}", self.rule.signal.id, self.rule.comparator.key())
    }

    /// The signal with its options and comparator, without a limit: `call_result.count >=`.
    pub fn name(&self) -> String {
        let full = self.rule.to_string();
        full.strip_suffix(&format!(" {}", self.rule.limit)).unwrap_or(&full).to_owned()
    }

    /// The unit of its limits.
    pub fn unit(&self) -> &'static str {
        self.rule.signal.unit
    }

    /// The limits, from the most conservative to the most aggressive.
    pub fn limits(&self) -> &[f64] {
        &self.limits
    }
}

/// One setting of a grid: one limit on one axis, ready to be replayed.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Index of its axis.
    pub axis: usize,
    /// The limit.
    pub limit: f64,
    /// The stack: the rule alone, or an existing stack with the rule added. It has the setting's name.
    pub stack: Arc<Stack>,
}

impl Setting {
    /// The setting's name: `call_result.count >= 3`.
    pub fn name(&self) -> &str {
        &self.stack.name
    }
}

/// All settings of a sweep.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The axes, in the order given.
    pub axes: Vec<Axis>,
    /// The settings: axis by axis, each from the most conservative to the most aggressive limit.
    pub settings: Vec<Setting>,
    /// The stack every setting's rule is added to, if any.
    pub base: Option<Stack>,
}

impl Grid {
    /// The settings of `axes`. With a `base`, each setting is that stack with the rule as its last clause.
    pub fn new(axes: Vec<Axis>, base: Option<Stack>) -> Result<Self, Diagnostic> {
        let mut settings: Vec<Setting> = Vec::new();
        for (axis, of) in axes.iter().enumerate() {
            for &limit in &of.limits {
                let rule = of.rule(limit);
                let name = rule.to_string();
                if settings.iter().any(|setting| setting.name() == name) {
                    let what = format!("two settings are named `{name}`");
                    return Err(Diagnostic::new(
                        Location::default(),
                        what,
                        "name each signal once, with all its limits",
                    ));
                }
                let clause = Clause::stop_on(Condition::Rule(Box::new(rule)));
                let mut stack = base.clone().unwrap_or(Stack { name: String::new(), clauses: Vec::new(), cap: None });
                stack.name = name;
                stack.clauses.push(clause);
                settings.push(Setting { axis, limit, stack: Arc::new(stack) });
            }
        }
        Ok(Self { axes, settings, base })
    }

    /// The stacks, in the order of the settings.
    pub fn stacks(&self) -> impl Iterator<Item = Arc<Stack>> + '_ {
        self.settings.iter().map(|setting| Arc::clone(&setting.stack))
    }

    /// Index of the setting with that name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.settings.iter().position(|setting| setting.name() == name)
    }
}

/// Parses limits: a list `2,4,8`, a range `2..8` in steps of 1 or `50_000..200_000 step 25_000` (both ends included),
/// or any mix of these, separated by commas.
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
    let (to, step) = rest.split_once("step").map_or((rest, "1"), |(to, step)| (to, step));
    let (from, to, step) = (number(from)?, number(to)?, number(step)?);
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

fn number(text: &str) -> Option<f64> {
    text.trim().replace('_', "").parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_lists_ranges_and_mixes() {
        let read = |text| limits(text).unwrap();
        assert_eq!(read("2..5"), [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(read("1_000..3_000 step 1_000, 9e3"), [1e3, 2e3, 3e3, 9e3]);
        assert_eq!(read("0.1..0.3 step 0.1"), [0.1, 0.2, 0.3]);
        assert_eq!(read("2..5 step 2"), [2.0, 4.0]);
        for wrong in ["5..2", "1..2 step 0", "1..2 step -1", "1..1e9", "two", "1..", "nan", "0..inf"] {
            assert!(limits(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_go_from_conservative_to_aggressive() {
        let axes = vec![
            Axis::parse("call.count, window = 5, identity = \"name\"", vec![2.0, 4.0, 4.0, 3.0]).unwrap(),
            Axis::parse("errors.share <", vec![0.1, 0.5]).unwrap(),
        ];
        let grid = Grid::new(axes, None).unwrap();
        let names: Vec<&str> = grid.settings.iter().map(Setting::name).collect();
        let label = grid.axes[0].name();
        assert_eq!(names[0], format!("{label} 4"));
        assert_eq!(names[3..], ["errors.share < 0.1", "errors.share < 0.5"]);
        assert_eq!(grid.axes[1].name(), "errors.share <");
    }

    #[test]
    fn an_axis_is_one_signal_that_exists() {
        let what = |text: &str| Axis::parse(text, vec![1.0]).unwrap_err();
        assert!(what("stps").help.contains("steps"));
        assert!(what("steps, windw = 3").what.contains("windw"));
        assert!(what("steps == ").what.contains("comparator"));
        assert!(what("steps >= 3").what.contains("comparator"));
        assert!(what("steps, strikes = 2").what.contains("one signal"));
        assert!(what("steps, x = 1 }, { signal = \"rounds\"").what.contains('x'));
        assert!(Axis::parse("steps", vec![]).is_err());
        assert!(what("st\"eps\n").what.contains("signal"));
    }
}
