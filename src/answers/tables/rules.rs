//! `rules.csv`: what each rule contributes to its stack.

use super::FileColumns;
use crate::aggregate::RuleShare;

/// The columns of `rules.csv`: the shares of every rule.
pub fn rule_columns() -> FileColumns<'static, RuleShare> {
    FileColumns::new()
        .text("stack", "The stack.", |share: &RuleShare| share.stack.to_string())
        .text("rule", "The rule.", |share| share.rule.to_string())
        .count("stops", "Stops of the stack by this rule.", |share| share.stops)
        .estimate("first_fire_share", "stops of the stack", "The share of the stack's stops by this rule.", |share| {
            &share.first_fire_share
        })
        .count("killed", "Successes killed by its stops.", |share| share.killed)
        .some_count("fires", "Runs on which it would act by itself.", |share| share.fires)
        .some_count("shadowed", "Runs on which it would act, but another rule acts first.", |share| share.shadowed)
        .some_count("killed_alone", "Successes killed if it were the only rule.", |share| share.killed_alone)
        .some_count("stops_lost_without", "Stops that the stack would lose without it.", |share| {
            share.stops_lost_without
        })
        .some_count("killed_less_without", "Killed successes that the stack would spare without it.", |share| {
            share.killed_less_without
        })
        .some_count("steps_added_without", "Steps that the stack would spend in addition without it.", |share| {
            share.steps_added_without
        })
}
