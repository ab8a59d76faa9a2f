//! Which stacks are nested by their definitions: one stops wherever the other does, whatever the run.

use super::{Cap, Clause, OnHit, Stack};
use crate::decision::Action;
use crate::rule::Comparator::{AtLeast, AtMost, Equals, LessThan, MoreThan};
use crate::rule::{Condition, Rule};

/// All that stops under a stack, for asking which stacks are nested. A cap is a clause on `steps`.
pub struct StopClauses(Vec<Clause>);

impl StopClauses {
    /// What stops under `stack`; `None` if it does more than stop, or nothing.
    pub fn from_stack(stack: &Stack) -> Option<Self> {
        if !stack.clauses.iter().all(|clause| clause.then == Action::Stop) {
            return None;
        }
        let mut all = stack.clauses.clone();
        if let Some(cap) = &stack.cap {
            all.push(clause_of_cap(cap)?);
        }
        if all.is_empty() { None } else { Some(Self(all)) }
    }

    /// True if `bolder` stops wherever this does, or before, on any run: every clause implies one of the other's. This is
    /// told from the definitions alone, so it can be false of stacks that happen to be nested.
    pub fn is_within(&self, bolder: &Self) -> bool {
        self.0.iter().all(|own| bolder.0.iter().any(|other| clause_implies(own, other)))
    }
}

/// A cap is met before the request after its last step: the same stop as after the tools of that step.
fn clause_of_cap(cap: &Cap) -> Option<Clause> {
    if !matches!(cap.on_hit, OnHit::Stop) {
        return None;
    }
    Some(Clause { scope: cap.scope, ..Clause::stop_on(Rule::steps_at_least(f64::from(cap.steps))?) })
}

fn clause_implies(clause: &Clause, bolder: &Clause) -> bool {
    let alike = clause.at == bolder.at && clause.strikes == bolder.strikes && clause.scope == bolder.scope;
    alike && implies(&clause.condition, &bolder.condition)
}

/// True if `bolder` holds at every point at which `condition` holds.
fn implies(condition: &Condition, bolder: &Condition) -> bool {
    match (condition, bolder) {
        (Condition::Rule(rule), Condition::Rule(other)) => rule_implies(rule, other),
        (Condition::Any(parts), _) => parts.iter().all(|part| implies(part, bolder)),
        (_, Condition::All { parts, latched: false }) => parts.iter().all(|part| implies(condition, part)),
        (Condition::All { parts, latched: true }, Condition::All { parts: others, latched: true }) => {
            others.iter().all(|other| parts.iter().any(|part| implies(part, other)))
        }
        (Condition::Some { least, parts }, Condition::Some { least: fewer, parts: others }) => {
            let mut pairs = parts.iter().zip(others);
            fewer <= least && parts.len() == others.len() && pairs.all(|(part, other)| implies(part, other))
        }
        (Condition::Not(part), Condition::Not(other)) => implies(other, part),
        (Condition::Lately { within, part }, Condition::Lately { within: longer, part: other }) => {
            within <= longer && implies(part, other)
        }
        (_, Condition::Any(others)) => others.iter().any(|other| implies(condition, other)),
        (Condition::All { parts, latched: false }, _) => parts.iter().any(|part| implies(part, bolder)),
        _ => false,
    }
}

fn rule_implies(rule: &Rule, other: &Rule) -> bool {
    if rule.signal.id != other.signal.id || rule.options_label != other.options_label {
        return false;
    }
    let (limit, bolder) = (rule.limit, other.limit);
    match (rule.comparator, other.comparator) {
        (AtLeast | MoreThan | Equals, AtLeast) | (MoreThan, MoreThan) => bolder <= limit,
        (AtLeast | Equals, MoreThan) => bolder < limit,
        (AtMost | LessThan | Equals, AtMost) | (LessThan, LessThan) => bolder >= limit,
        (AtMost | Equals, LessThan) => bolder > limit,
        #[expect(clippy::float_cmp, reason = "the same limit as written")]
        (Equals, Equals) => bolder == limit,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::StopClauses;
    use crate::stack::StackFile;

    /// Whether a stack with one rule is within one with another; the rules as in a stack file.
    fn is_within(one: &str, other: &str) -> bool {
        let text = format!("[[stack]]\nname = \"one\"\n{one}\n[[stack]]\nname = \"other\"\n{other}\n");
        let file = StackFile::parse("stacks.toml", &text).expect("the stacks are well-formed");
        let [one, other] = ["one", "other"].map(|name| file.stack(name).expect("it is there"));
        let [one, other] = [one, other].map(|stack| StopClauses::from_stack(&stack).expect("they only stop"));
        one.is_within(&other)
    }

    fn steps(limit: u32) -> String {
        format!("any = [{{ signal = \"steps\", at_least = {limit} }}]")
    }

    #[test]
    fn a_looser_limit_of_one_signal_is_within_a_tighter_one() {
        assert!(is_within(&steps(90), &steps(75)) && !is_within(&steps(75), &steps(90)));
        assert!(is_within("cap = { steps = 90 }", &steps(75)) && is_within(&steps(90), "cap = { steps = 75 }"));
        assert!(!is_within(&steps(90), "any = [{ signal = \"tokens.total\", at_least = 75 }]"));
        let low = "any = [{ signal = \"novelty\", at_most = 0.1 }]";
        assert!(is_within(low, "any = [{ signal = \"novelty\", at_most = 0.2 }]"));
        assert!(!is_within(low, "any = [{ signal = \"novelty\", less_than = 0.1 }]"));
    }

    #[test]
    fn parts_count_by_what_combines_them() {
        let both = "any = [{ signal = \"steps\", at_least = 30 }, { signal = \"call.count\", at_least = 5 }]";
        assert!(is_within(&steps(30), both) && !is_within(both, &steps(30)));
        let all = "all = [{ signal = \"steps\", at_least = 30 }, { signal = \"call.count\", at_least = 5 }]";
        assert!(is_within(all, &steps(30)) && !is_within(&steps(30), all) && is_within(all, both));
    }
}
