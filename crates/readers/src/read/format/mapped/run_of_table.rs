//! A run of which only numbers are known: its steps, its tokens, its cost, its outcome. That is enough for limits on them.
//! Tokens and costs are spread evenly over the steps, which is said; all other rules are not evaluable.

use crate::record::field_map::FieldMap;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Header, Message, Requests, Role, Usage, Usd};
use crate::value::json;

/// Steps of the longest run that is read.
const MOST_STEPS: u64 = 100_000;

/// Reads a run from one row.
pub(super) fn push(row: &Node<'_>, map: &FieldMap, record: &Record<'_>, out: &mut Reading<'_>) {
    let steps = map.find(row, "steps", []);
    let Some(n @ 1..=MOST_STEPS) = steps.as_ref().and_then(json::count) else {
        let what = "a run without a number of steps from 1 to 100,000";
        return out.error_at(row.place(), what, "it is left out");
    };
    let word = |name: &str| map.named_word(row, name);
    let usage = super::usage(row, map, out).unwrap_or_default();
    let cost = super::cost(row, map);
    let mut turns = super::Turns::default();
    for step in 0..n {
        let mut reply = Message::new(Role::Assistant);
        let part = |total: Option<u64>| total.map(|total| share(total, step, n));
        let Usage { input, cache_read, cache_write, output, reasoning } = usage;
        let of_step = Usage {
            input: part(input),
            cache_read: part(cache_read),
            cache_write: part(cache_write),
            output: part(output),
            reasoning: part(reasoning),
        };
        reply.set_usage(Some(of_step).filter(|usage| !usage.is_empty()));
        #[expect(clippy::cast_precision_loss, reason = "at most 100,000 steps")]
        let each = cost.map(|Usd(cost)| Usd(cost / n as f64));
        reply.set_cost(each);
        turns.push(reply);
    }
    if !usage.is_empty() || cost.is_some() {
        let what = "a run of which only sums are known: its tokens and its cost are spread evenly over its steps";
        out.warn_at(row.place(), what, "limits on steps, tokens and cost are evaluated, and no other rules");
    }
    let id = map.find_word(row, "run", ["run_id", "session_id", "id"]);
    let header = Header {
        run_id: super::run_id(id, record),
        task_id: word("task"),
        trial: word("trial"),
        model: word("model"),
        agent: word("agent"),
        ..Header::default()
    };
    let mut draft = turns.into_draft(header, super::grade(map.named(row, "outcome").as_ref()));
    draft.header.requests = Requests::OnlySums;
    out.run(draft);
}

/// The part of the total that falls on a step: whole numbers that add up to it.
fn share(total: u64, step: u64, n: u64) -> u64 {
    let until = |step: u64| u128::from(total) * u128::from(step) / u128::from(n);
    u64::try_from(until(step + 1) - until(step)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_add_up_to_the_total() {
        for (total, n, expected) in [(10, 3, vec![3, 3, 4]), (2, 3, vec![0, 1, 1]), (9, 1, vec![9])] {
            assert_eq!((0..n).map(|step| share(total, step, n)).collect::<Vec<_>>(), expected);
        }
    }
}
