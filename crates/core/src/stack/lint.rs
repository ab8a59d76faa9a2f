//! What looks wrong in a stack before any run is seen: unit traps and limits that cannot be met.

use super::{Clause, Stack};
use crate::rule::{Comparator, Rule};
use crate::transcript::Moment;

/// Warnings about a stack, in clause order.
pub fn lint(stack: &Stack) -> Vec<String> {
    let mut warnings = Vec::new();
    for clause in &stack.clauses {
        for rule in clause.condition.rules() {
            warnings.extend(rule_traps(rule).into_iter().map(|trap| format!("{}: `{rule}`: {trap}", stack.name)));
        }
        warnings
            .extend(clause_traps(clause).into_iter().map(|trap| format!("{}: `{}`: {trap}", stack.name, clause.name)));
    }
    for (index, clause) in stack.clauses.iter().enumerate() {
        if stack.clauses[..index]
            .iter()
            .any(|earlier| earlier.condition.to_string() == clause.condition.to_string() && earlier.at == clause.at)
        {
            warnings
                .push(format!("{}: `{}` stands here twice: the later one can never be first", stack.name, clause.name));
        }
    }
    warnings
}

fn rule_traps(rule: &Rule) -> Vec<&'static str> {
    let Rule { signal, comparator, limit, .. } = rule;
    let rising = matches!(comparator, Comparator::AtLeast | Comparator::MoreThan | Comparator::Equals);
    let mut traps = Vec::new();
    if signal.unit == "share" && rising && *limit > 1.0 {
        traps.push("a share is between 0 and 1; is the limit a percentage?");
    }
    if signal.unit == "0/1" && rising && *limit > 1.0 {
        traps.push("this signal is 0 or 1: the limit is never reached");
    }
    if signal.unit == "s" && rising && *limit >= 100_000.0 {
        traps.push("more than a day in seconds; is the limit in milliseconds?");
    }
    if signal.unit == "tokens" && rising && *limit < 1000.0 {
        traps.push("fewer tokens than one call usually costs; is the limit in thousands?");
    }
    if rising && *limit <= 0.0 {
        traps.push("0 is not \"off\" here: the rule fires at the first reading; leave it out instead");
    }
    if *comparator == Comparator::Equals && matches!(signal.unit, "tokens" | "usd" | "s" | "ratio") {
        traps.push("equality can be jumped over; use at_least");
    }
    let window = rule.options.window.map(|window| window as f64);
    if matches!(signal.id, "call.count" | "call_result.count" | "errors.count")
        && rising
        && window.is_some_and(|w| w < *limit)
    {
        traps.push("the window is shorter than the limit: it can never be reached");
    }
    traps
}

fn clause_traps(clause: &Clause) -> Vec<&'static str> {
    let results = |rule: &&Rule| rule.signal.id.starts_with("errors.") || rule.signal.id.starts_with("call_result.");
    let mut traps = Vec::new();
    if clause.at == Moment::AfterResponse && clause.condition.rules().iter().any(results) {
        traps.push("results are not known after the response: it sees those of the step before");
    }
    if clause.cooldown > 0 && clause.then.is_terminal() {
        traps.push("a cooldown has no effect on a clause that stops");
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
        lint(stack)
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
            "{ signal = \"steps\", at_least = 0 }",
            "{ signal = \"errors.streak\", at_least = 3, at = \"after_response\" }",
            "{ signal = \"steps\", at_least = 5, cooldown = 2 }",
        ] {
            assert_eq!(traps(clause).len(), 1, "{clause}: {:?}", traps(clause));
        }
        assert_eq!(
            traps("{ signal = \"steps\", at_least = 5 }, { signal = \"steps\", at_least = 5, name = \"again\" }").len(),
            1
        );
    }
}
