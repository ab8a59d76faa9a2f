//! What each rule of a stack contributes: first fires, shadowing, leave-one-out.

use std::collections::HashMap;

use super::estimates::share;
use super::tasks::Tasks;
use super::{Firing, Firings, Group, LEVEL, Label, RowView, Rows, by_stack};
use crate::parallel;
use crate::stats::Estimate;

/// The share one rule has in its stack's stops.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleShare {
    /// The stack.
    pub stack: Label,
    /// The rule.
    pub rule: Label,
    /// Stops attributed to it.
    pub stops: u64,
    /// The share of the stack's stops attributed to it: the mean over tasks with a stop.
    pub first_fire_share: Estimate,
    /// Successes killed by its stops.
    pub killed: u64,
    /// Runs on which it would have acted by itself; `None` if the stack's rules cannot be evaluated separately.
    pub fires: Option<u64>,
    /// Runs on which it would have acted, but another rule acted first.
    pub shadowed: Option<u64>,
    /// Successes killed if it were the only rule.
    pub killed_alone: Option<u64>,
    /// Stops the stack would lose without it.
    pub stops_lost_without: Option<u64>,
    /// Successes killed by the stack that would be spared without it.
    pub killed_less_without: Option<u64>,
    /// Steps the stack would spend in addition without it.
    pub steps_added_without: Option<u64>,
}

/// The shares of every rule of every stack; `stacks` lists each stack's rules in order.
pub fn rule_shares(stacks: &[(Label, Vec<Label>)], rows: &Rows, firings: &Firings) -> Vec<RuleShare> {
    let groups: HashMap<Label, Group<'_>> =
        by_stack(rows).into_iter().map(|group| (group.stack.clone(), group)).collect();
    let places = firings.by_stack();
    let of_stack = |(stack, rules): &(Label, Vec<Label>)| {
        let group = groups.get(stack).cloned().unwrap_or_else(|| Group::empty(rows));
        let fired = places.get(stack).map(|places| firings.joined(places, &group));
        let mut stopped = group;
        stopped.retain(RowView::is_stop);
        let tasks = Tasks::from_group(&stopped);
        let mut by_rule: HashMap<&Label, Vec<&(Firing, RowView<'_>)>> = HashMap::new();
        for pair in fired.iter().flatten() {
            by_rule.entry(&pair.0.rule).or_default().push(pair);
        }
        let of_rule = |rule| match by_rule.get(rule) {
            _ if fired.is_none() => None,
            Some(pairs) => Some(&pairs[..]),
            None => Some(&[][..]),
        };
        rules.iter().map(|rule| rule_share(stack, rule, &stopped, &tasks, of_rule(rule))).collect::<Vec<_>>()
    };
    parallel::map(stacks, of_stack).into_iter().flatten().collect()
}

/// The share of one rule in the rows that its stack stopped, and in its own firings.
fn rule_share(
    stack: &Label,
    rule: &Label,
    stopped: &Group<'_>,
    tasks: &Tasks,
    fired: Option<&[&(Firing, RowView<'_>)]>,
) -> RuleShare {
    let own = || stopped.rows().filter(|row| row.rule() == Some(rule));
    let count = |test: &dyn Fn(&Firing, RowView<'_>) -> bool| {
        Some(fired?.iter().filter(|(firing, row)| test(firing, *row)).count() as u64)
    };
    let steps_added = |(firing, row): &&(Firing, RowView<'_>)| firing.steps_without.saturating_sub(row.steps_at_stop());
    RuleShare {
        stack: stack.clone(),
        rule: rule.clone(),
        stops: own().count() as u64,
        first_fire_share: share(stopped, tasks, |_| true, |row| row.rule() == Some(rule), LEVEL),
        killed: own().filter(|row| row.verdict().is_fes()).count() as u64,
        fires: count(&|_, _| true),
        shadowed: count(&|firing, _| !firing.first),
        killed_alone: count(&|firing, _| firing.verdict_alone.is_fes()),
        stops_lost_without: count(&|firing, row| row.is_stop() && firing.steps_without >= row.steps_recorded()),
        killed_less_without: count(&|firing, row| row.verdict().is_fes() && !firing.verdict_without.is_fes()),
        steps_added_without: fired.map(|fired| fired.iter().map(steps_added).sum()),
    }
}
