//! The net effect as a table: one line for each stack that changed, with `before→now` where a number changed.

use super::{ChangeReview, StackChange, StackEffect};
use crate::answers::tables::{DataTable, TableCell};
use crate::snapshot::{BoundedNumber, StackNumbers, known_or};
use crate::words::tenths;

/// The stacks that changed; those with equal numbers and stops are left out, and named by [`ChangeReview::unchanged`].
pub fn net_effect(review: &ChangeReview) -> DataTable {
    let mut numbers = review.stacks.iter().filter_map(|stack| stack.now.as_ref().or(stack.before.as_ref()));
    let unit = match numbers.next() {
        Some(numbers) => &*numbers.unit,
        None => "cost",
    };
    let saved = format!("{unit} saved");
    let columns = ["stack", "stops", "successes killed", "failures stopped", &saved, "cost per success", "unknown"];
    let shown = review.stacks.iter().filter(|stack| stack.state != StackChange::Same);
    DataTable::new(columns, shown.map(line))
}

impl ChangeReview {
    /// The stacks that did not change.
    pub fn unchanged(&self) -> Vec<String> {
        let same = self.stacks.iter().filter(|stack| stack.state == StackChange::Same);
        same.map(|stack| stack.stack.clone()).collect()
    }
}

fn line(effect: &StackEffect) -> Vec<TableCell> {
    let name = match effect.state {
        StackChange::New => format!("{} (new)", effect.stack),
        StackChange::Gone => format!("{} (gone)", effect.stack),
        StackChange::Same | StackChange::Changed => effect.stack.clone(),
    };
    // A stack that is new or gone has only one side.
    let side = |of: &dyn Fn(&StackNumbers) -> String| -> TableCell {
        let told = [effect.before.as_ref(), effect.now.as_ref()].map(|numbers| numbers.map(of));
        TableCell::Text(match told {
            // The unit stands once, so that the table fits a terminal.
            [Some(before), Some(now)] if before != now => {
                format!("{}→{now}", before.strip_suffix(" %").unwrap_or(&before))
            }
            [Some(one), _] | [None, Some(one)] => one,
            [None, None] => "-".to_owned(),
        })
    };
    vec![
        TableCell::Text(name),
        side(&|numbers| count(numbers.stops)),
        side(&|numbers| format!("{}/{}", count(numbers.kills), numbers.successes)),
        side(&|numbers| format!("{}/{}", count(numbers.true_stops), numbers.failures)),
        side(&|numbers| share(numbers.saved)),
        side(&|numbers| match numbers.cost_per_success {
            Some(cost) => change(cost),
            None => "-".to_owned(),
        }),
        side(&unknown),
    ]
}

/// Formats `12`, `12–15`.
pub(super) fn count(span: BoundedNumber) -> String {
    let end = |value: Option<f64>| known_or("?", value);
    if span.low == span.high { end(span.low) } else { format!("{}–{}", end(span.low), end(span.high)) }
}

/// Formats percents: `26 %`, `12–26 %`, `≤26 %`.
pub(super) fn share(span: BoundedNumber) -> String {
    match (span.low.map(tenths), span.high.map(tenths)) {
        (Some(low), Some(high)) if low == high => format!("{low} %"),
        (Some(low), Some(high)) => format!("{low}–{high} %"),
        (None, Some(high)) => format!("≤{high} %"),
        (Some(low), None) => format!("≥{low} %"),
        (None, None) => "-".to_owned(),
    }
}

/// Formats `-26.2 %` for a ratio of 0.738.
fn change(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

fn unknown(numbers: &StackNumbers) -> String {
    match numbers.unknown {
        None => "-".to_owned(),
        Some(unknown) => format!("{unknown}/{}", numbers.runs),
    }
}
