//! A snapshot of which only some changes are accepted.

use std::collections::BTreeSet;

use super::{ChangeReview, name_before};
use crate::snapshot::{StackStops, StopSnapshot};

/// What `before` becomes where only the changes `accepted` (stack and run) of `now` are taken over, and with `rest` also
/// what is new, missing or called otherwise.
pub fn settled(
    before: &StopSnapshot,
    now: &StopSnapshot,
    review: &ChangeReview,
    accepted: &BTreeSet<(&str, &str)>,
    rest: bool,
) -> StopSnapshot {
    if rest && accepted.len() == review.changes.len() {
        return now.clone();
    }
    let mut next = before.clone();
    for (stack, stops) in &now.stacks {
        let was = name_before(&review.renames, stack);
        let Some(old) = before.stacks.get(was) else {
            if rest {
                next.stacks.insert(stack.clone(), stops.clone());
            }
            continue;
        };
        let mut kept = old.stops.clone();
        for (run, line) in &stops.stops {
            let is_taken = if kept.contains_key(run) { accepted.contains(&(&**stack, &**run)) } else { rest };
            if is_taken {
                kept.insert(run.clone(), line.clone());
            }
        }
        if rest {
            kept.retain(|run, _| stops.stops.contains_key(run));
            next.stacks.remove(was);
        }
        // Numbers are those of all stops or of none.
        let of_stack = if kept == stops.stops {
            stops.clone()
        } else if kept == old.stops {
            old.clone()
        } else {
            StackStops { rules: old.rules.clone(), numbers: None, stops: kept }
        };
        next.stacks.insert(if rest { stack.clone() } else { was.to_owned() }, of_stack);
    }
    if rest {
        let is_there = |stack: &String| now.stacks.contains_key(stack);
        next.stacks.retain(|stack, _| is_there(stack));
        next.corpus.clone_from(&now.corpus);
    }
    next
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::snapshot::StopLine;
    use crate::transcript::{Moment, Point};
    use crate::verdict::Verdict;

    /// A snapshot of stacks whose runs stop at these steps.
    fn snapshot(stacks: &[(&str, &[(&str, usize)])]) -> StopSnapshot {
        let mut all = StopSnapshot::default();
        for (stack, stops) in stacks {
            let of_stack = all.stacks.entry((*stack).to_owned()).or_default();
            for (run, step) in *stops {
                let at = Point::new(*step, Moment::AfterTools);
                of_stack.stops.insert((*run).to_owned(), StopLine::new(Some("r"), Some(at), Verdict::TrueStop));
            }
        }
        all
    }

    #[test]
    fn only_what_is_accepted_is_taken_over() {
        let before = snapshot(&[("a", &[("x", 1), ("y", 2), ("old", 3)]), ("gone", &[("x", 1)])]);
        let now = snapshot(&[("a", &[("x", 5), ("y", 6), ("new", 7)]), ("b", &[("x", 1)])]);
        let review = ChangeReview::between(&before, &now, BTreeMap::new());
        assert_eq!(review.changes.len(), 2);
        let of = |accepted: &[(&str, &str)], rest| {
            settled(&before, &now, &review, &accepted.iter().copied().collect(), rest)
        };
        assert_eq!(of(&[], false), before);
        assert_eq!(of(&[("a", "x"), ("a", "y")], true), now);
        let one = snapshot(&[("a", &[("x", 5), ("y", 2), ("old", 3)]), ("gone", &[("x", 1)])]);
        assert_eq!(of(&[("a", "x")], false), one);
        let rest = snapshot(&[("a", &[("x", 1), ("y", 2), ("new", 7)]), ("b", &[("x", 1)])]);
        assert_eq!(of(&[], true), rest);
    }
}
