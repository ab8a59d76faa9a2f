//! Sentences on the page that go beyond the first table: luck among many stacks, other suites, other failure rates.

use std::fmt::Write as _;

use crate::aggregate::{
    Group, Rows, ShipTerms, Unit, by_stack, chosen_elsewhere, oracle_share, saved_at, stopped_by, worst_stratum,
};
use crate::stats::Estimate;
use crate::words::{chosen_percent, interval, percent};

/// With fewer stacks than this, luck is not mentioned.
const MANY: usize = 6;

/// The sentences about `rows`. `chosen_apart`: the choice was made on other tasks, so it includes no luck.
pub(super) fn notes(
    rows: &Rows,
    ship: Option<usize>,
    unit: Unit,
    terms: ShipTerms,
    failure_rate: Option<f64>,
    chosen_apart: bool,
) -> Vec<String> {
    let groups = by_stack(rows);
    let mut notes = Vec::new();
    let chosen = chosen_elsewhere(&groups, ship, unit, terms);
    if let Some(chosen) = chosen.as_ref().filter(|_| groups.len() >= MANY && !chosen_apart) {
        let seen = format!("kills {} and saves {}", percent(chosen.seen.0), percent(chosen.seen.1));
        notes.push(match chosen.elsewhere {
            Some((killed, saved)) => format!(
                "{} stacks were tried on the same runs, so the best looks better than it is: `{}` {seen} here; chosen on \
                 half of the tasks and judged on the other, the best kills {} and saves {}. `--split test` keeps them apart",
                groups.len(),
                chosen.stack,
                percent(killed),
                percent(saved)
            ),
            None => format!(
                "{} stacks were tried on the same runs, so the best looks better than it is: `{}` {seen} here; no half of \
                 the tasks is enough to choose it",
                groups.len(),
                chosen.stack
            ),
        });
    }
    let group = chosen.and_then(|chosen| groups.iter().find(|group| group.stack == chosen.stack));
    if let Some(group) = group {
        notes.extend(of_one(group, unit));
    }
    if let Some(failure_rate) = failure_rate {
        let at = |group: &Group<'_>| {
            let saved = saved_at(group, unit, failure_rate);
            // The runs it was computed from, if not all.
            let part = if saved.n < group.len() as u64 {
                format!(" of {} runs where it is known", saved.n)
            } else {
                String::new()
            };
            saved.value.map(|value| format!("`{}` {}{part}", group.stack, with_interval(value, &saved)))
        };
        let all: Vec<String> = groups.iter().filter_map(at).collect();
        if !all.is_empty() {
            let share = chosen_percent(failure_rate);
            notes.push(format!(
                "if {share} of the runs failed, the {} saved would be: {}",
                unit.noun(),
                all.join(", ")
            ));
        }
    }
    notes
}

/// For the stack to ship: the worst suite, the comparison with the oracle, and how early it stops failures.
fn of_one(group: &Group<'_>, unit: Unit) -> Vec<String> {
    let name = &group.stack;
    let mut notes = Vec::new();
    if let Some(worst) = worst_stratum(group) {
        let place = [worst.suite.as_deref(), worst.model.as_deref()];
        let place: Vec<&str> = place.into_iter().flatten().collect();
        notes.push(format!(
            "`{name}` kills at most {} of the successes in each of {} suites and models at once (95 %, mean over tasks); {} \
             sets this bound, with {} tasks",
            percent(worst.bound),
            worst.strata,
            if place.is_empty() { "the unnamed one".to_owned() } else { place.join(", ") },
            worst.tasks
        ));
    }
    let oracle = oracle_share(group, unit);
    if let (Some(reached), Some(most)) = (oracle.reached.value, oracle.oracle) {
        let mut line = format!(
            "`{name}` saves {} of what stopping with hindsight would save, which is {} of the {}",
            with_interval(reached, &oracle.reached),
            percent(most),
            unit.noun()
        );
        if let Some([quarter, half, _, ever]) = stopped_by(group, unit) {
            let _ = write!(
                line,
                "; it stops {} of the failures within a quarter of what they spent, {} within half, {} at all",
                percent(quarter),
                percent(half),
                percent(ever)
            );
        }
        notes.push(line);
    }
    notes
}

/// A note on runs that name no task; `None` if all do.
pub(super) fn without_tasks(groups: &[Group<'_>]) -> Option<String> {
    let group = groups.first()?;
    let without = group.rows().filter(|row| row.task_id().is_none()).count();
    (without > 0).then(|| {
        format!(
            "{without} of {} runs name no task and each counts as a task of its own: if some are trials of one task, the \
             intervals are too short; `--task first-message` or `--task FIELD` finds them, `--task run` says \
             that there are none",
            group.len()
        )
    })
}

fn with_interval(value: f64, estimate: &Estimate) -> String {
    percent(value) + &interval(estimate.interval.map(|interval| (interval.low, interval.high)))
}
