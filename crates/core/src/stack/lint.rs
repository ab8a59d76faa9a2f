//! Checks a stack for mistakes that are visible without any run: wrong units and limits that cannot be reached.

use std::collections::BTreeSet;

use super::{Clause, Places, Stack};
use crate::decision::Need;
use crate::diagnostic::Diagnostic;
use crate::rule::{Comparator, Condition, Rule};
use crate::transcript::Moment;

/// What is wrong, and how to fix it.
type Trap = (&'static str, &'static str);

/// Warnings about a stack, in the order of its clauses. `places` gives the positions in its file; empty for a stack not
/// read from a file.
pub fn lint(stack: &Stack, places: &Places) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let mut earlier = BTreeSet::new();
    for (index, clause) in stack.clauses.iter().enumerate().filter(|(_, clause)| !clause.is_notice()) {
        for (nth, rule) in clause.condition.rules().into_iter().enumerate() {
            let warning = |(what, help): Trap| {
                places.at_value(&format!("any.{index}.{nth}"), format!("{}: `{rule}`: {what}", stack.name), help)
            };
            warnings.extend(rule_traps(rule).into_iter().map(warning));
        }
        let warning = |(what, help): Trap| {
            places.at_name(&format!("any.{index}"), format!("{}: `{}`: {what}", stack.name, clause.name), help)
        };
        warnings.extend(clause_traps(clause).into_iter().map(warning));
        if !earlier.insert((clause.condition.to_string(), clause.at)) {
            let what = format!("{}: `{}` stands here twice", stack.name, clause.name);
            let help = "the later one can never be first: leave it out";
            warnings.push(places.at_name(&format!("any.{index}"), what, help));
        }
    }
    warnings
}

fn rule_traps(rule: &Rule) -> Vec<Trap> {
    let Rule { signal, comparator, limit, .. } = rule;
    let rising = matches!(comparator, Comparator::AtLeast | Comparator::MoreThan | Comparator::Equals);
    let mut traps: Vec<Trap> = Vec::new();
    let mut trap = |what, help| traps.push((what, help));
    if signal.unit == "share" && rising && *limit > 1.0 {
        trap("a share is between 0 and 1", "is the limit a percentage? 80 % is 0.8");
    }
    if signal.unit == "0/1" && rising && *limit > 1.0 {
        trap("this signal is 0 or 1: the limit is never reached", "leave the limit out");
    }
    if signal.unit == "s" && rising && *limit >= 100_000.0 {
        trap("more than a day", "the limit is in seconds; is it in milliseconds?");
    }
    if signal.unit == "tokens" && rising && *limit < 1000.0 {
        trap("fewer tokens than one call usually costs", "is the limit in thousands? write 200_000 for 200k");
    }
    if matches!(comparator, Comparator::AtLeast | Comparator::Equals) && *limit <= 0.0 {
        trap("the rule fires at the first reading", "0 is not \"off\": leave the rule out");
    }
    if *comparator == Comparator::Equals && matches!(signal.unit, "tokens" | "usd" | "s" | "ratio") {
        trap("equality can be jumped over", "use `at_least`");
    }
    if signal.accumulates && rising && rule.options.window.is_some_and(|window| (window as f64) < *limit) {
        trap("the window is shorter than the limit", "the limit can never be reached: widen the `window`");
    }
    traps
}

fn clause_traps(clause: &Clause) -> Vec<Trap> {
    let results = |rule: &&Rule| matches!(rule.signal.need, Some(Need::Results | Need::ErrorFlags));
    let mut traps: Vec<Trap> = Vec::new();
    if clause.at == Moment::AfterResponse && clause.condition.rules().iter().any(results) {
        traps.push(("results are not known after the response", "it sees those of the step before: leave `at` out"));
    }
    if let Condition::Rule(rule) = &clause.condition
        && matches!(rule.comparator, Comparator::AtMost | Comparator::LessThan)
        && !matches!(rule.signal.unit, "as reported" | "share" | "ratio")
    {
        let what = "it fires while the reading is still low: at the first one";
        traps.push((what, "a limit that ends a run is `at_least`"));
    }
    if clause.cooldown > 0 && clause.then.is_terminal() {
        traps.push(("a cooldown has no effect on a clause that stops", "leave `cooldown` out"));
    }
    traps
}

#[cfg(test)]
mod tests {
    use super::super::{Entry, StackFile};
    use super::*;

    fn traps(clause: &str) -> Vec<String> {
        let file = StackFile::parse("t", &format!("[[stack]]\nname = \"s\"\nany = [{clause}]")).unwrap();
        let [Entry::Own(stack)] = &file.entries[..] else { panic!() };
        lint(stack, file.places(0)).into_iter().map(|warning| format!("{}: {}", warning.at, warning.what)).collect()
    }

    #[test]
    fn sensible_rules_are_silent_and_traps_are_not() {
        assert_eq!(traps("{ signal = \"steps\", at_least = 50 }"), Vec::<String>::new());
        for clause in [
            "{ signal = \"errors.share\", at_least = 80 }",
            "{ signal = \"elapsed\", at_least = 300000 }",
            "{ signal = \"tokens.total\", at_least = 200 }",
            "{ signal = \"tokens.total\", equals = 20000 }",
            "{ signal = \"call.count\", at_least = 5, window = 3 }",
            "{ signal = \"result.count\", at_least = 5, window = 3 }",
            "{ signal = \"result.streak\", at_least = 3, at = \"after_response\" }",
            "{ signal = \"steps\", equals = 0 }",
            "{ signal = \"steps\", at_most = 50 }",
            "{ signal = \"errors.streak\", at_least = 3, at = \"after_response\" }",
            "{ signal = \"steps\", at_least = 5, cooldown = 2 }",
        ] {
            assert_eq!(traps(clause).len(), 1, "{clause}: {:?}", traps(clause));
        }
        assert_eq!(
            traps("{ all = [{ signal = \"steps\", at_least = 5 }, { signal = \"elapsed\", at_least = 300000 }] }"),
            ["t:3:86: s: `elapsed >= 300000`: more than a day"]
        );
        assert_eq!(
            traps("{ signal = \"steps\", at_least = 5 }, { signal = \"steps\", at_least = 5, name = \"again\" }").len(),
            1
        );
    }
}
