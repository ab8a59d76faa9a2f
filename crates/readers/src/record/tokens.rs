//! Token counts that cannot be read. If any part of a usage is not a count, no sum over the run is known, whichever
//! format it is: a part left out would make the rest look like the whole.
//!
//! Such a part is [`UNREADABLE`] until its run is complete. Sums saturate, so it stays recognisable whatever a format
//! adds to it, and a file that holds many runs loses the tokens of only the one.

use crate::transcript::{Draft, Event, Totals, Usage};
use crate::value::json::{self, Written};

/// Stands for a count that was recorded but cannot be read.
pub(crate) const UNREADABLE: u64 = u64::MAX;
/// The largest plausible count: JSON's numbers are exact up to here.
const MOST: u64 = 1 << 53;

/// A plausible token count.
pub(crate) fn count<'a>(raw: impl Written<'a>) -> Option<u64> {
    json::count(raw).filter(|count| *count <= MOST)
}

/// The usage, unreadable if one of the `others` is: counts that decide how its parts are read but are not among them.
pub(crate) fn with_others(usage: Usage, others: &[Option<u64>]) -> Usage {
    let is_unreadable = others.contains(&Some(UNREADABLE));
    if is_unreadable { Usage { input: Some(UNREADABLE), ..usage } } else { usage }
}

/// The usage, if its input or its output is recorded.
pub(crate) fn recorded(usage: Usage) -> Option<Usage> {
    if usage.is_empty() { None } else { Some(usage) }
}

/// The usage, where tokens that were read from a cache or written to it are counted beside the input.
pub(crate) fn with_cached_beside(usage: Usage) -> Usage {
    let cached = usage.cache_read.unwrap_or(0).saturating_add(usage.cache_write.unwrap_or(0));
    Usage { input: usage.input.map(|input| input.saturating_add(cached)), ..usage }
}

/// The totals of a run whose cost is not recorded, if its tokens are.
pub(crate) fn totals(usage: Usage) -> Option<Totals> {
    Some(Totals { usage: recorded(usage)?, cost: None })
}

/// Whether any tokens were spent. Zeros mean that nothing was counted.
pub(crate) fn is_spent(usage: &Usage) -> bool {
    matches!(usage.total(), Some(total) if total.0 > 0)
}

/// A usage none of whose parts can be read.
pub(crate) fn unreadable() -> Usage {
    Usage { input: Some(UNREADABLE), ..Usage::default() }
}

fn is_unreadable(usage: &Usage) -> bool {
    let Usage { input, cache_read, cache_write, output, reasoning } = *usage;
    [input, cache_read, cache_write, output, reasoning].into_iter().flatten().any(|count| count > MOST)
}

/// Makes the tokens of each run with an unreadable count unknown. If `broken` counts were found and are in no run's
/// usage, they may belong to any of them.
pub(crate) fn settle(drafts: &mut [Draft], broken: u64) {
    if broken == 0 {
        return;
    }
    let is_hit: Vec<bool> = drafts.iter_mut().map(|draft| usages(draft).any(|usage| is_unreadable(usage))).collect();
    let any = is_hit.contains(&true);
    for (draft, is_hit) in drafts.iter_mut().zip(is_hit) {
        if is_hit || !any {
            usages(draft).for_each(|usage| *usage = Usage::default());
            for event in &mut draft.events {
                match event {
                    Event::Message(message) => message.set_usage(None),
                    Event::Judge(judge) => judge.usage = None,
                    _ => {}
                }
            }
        }
    }
}

/// All usages of a run: of its calls, its judges, and the whole.
fn usages(draft: &mut Draft) -> impl Iterator<Item = &mut Usage> {
    let of_events = draft.events.iter_mut().filter_map(|event| match event {
        Event::Message(message) => message.usage_mut(),
        Event::Judge(judge) => judge.usage.as_mut(),
        _ => None,
    });
    of_events.chain(draft.header.totals.iter_mut().map(|totals| &mut totals.usage))
}
